"""What contact tells apart: pieces of the cloth and bodies, as vertices of the surface see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Bools, Floats, Ints
from weft.base.errors import SceneError, check_known
from weft.bodies.body import Body
from weft.contact.collision_groups import CollisionGroups, Friction, friction_table
from weft.discretization.mesh import TriangleMesh

if TYPE_CHECKING:
    from weft.contact.contact import SelfContact


@dataclass(frozen=True, eq=False)
class CollisionPiece:
    """A part of the cloth that contact tells from the others.

    Args:
        name: for pairs and messages.
        vertices: ids.
        thickness: [m]; None: that of the contact.
    """

    name: str
    vertices: Ints
    thickness: float | None = None


def sides_of(
    mesh: TriangleMesh, s: "SelfContact", bodies: Sequence[Body], pieces: Sequence[CollisionPiece]
) -> CollisionGroups:
    """Pieces of the cloth and bodies, as vertices of the surface see them."""
    n = mesh.n_vertices
    given = list(pieces) or [CollisionPiece("cloth", np.arange(n, dtype=np.int32))]
    names = [p.name for p in given] + [b.name for b in bodies]
    part, thickness = [np.zeros(n, dtype=np.int32)], [np.full(n, s.thickness)]
    for k, piece in enumerate(given):
        part[0][piece.vertices] = k
        if piece.thickness is not None:
            thickness[0][piece.vertices] = piece.thickness
    for k, body in enumerate(bodies, len(given)):
        part.append(np.full(len(body.vertices), k, dtype=np.int32))
        own = s.thickness if body.thickness is None else body.thickness
        thickness.append(np.full(len(body.vertices), own))
    parts = np.concatenate(part)
    apart = [
        tuple(_members(name, mesh, names, parts) for name in b.names) for b in s.pairs if b.ignore
    ]
    table = friction_of(s, names)
    return CollisionGroups(parts, tuple(names), n, np.concatenate(thickness), *table, apart)  # type: ignore[arg-type]


def friction_of(s: "SelfContact", names: Sequence[str]) -> tuple[Floats, Floats]:
    """(k,k) static and kinetic coefficients between pieces and bodies of these names.

    Raises:
        SceneError: a pair with a name that nothing has.
    """
    rubbing = [(b.names, b.friction) for b in s.pairs if b.friction is not None]
    for pair, _ in rubbing:
        for name in pair:
            check_known(name, tuple(dict.fromkeys(names)), "contact.pairs", SceneError)
    assert isinstance(s.friction, Friction)
    return friction_table(list(names), s.friction, rubbing)


def _members(name: str, mesh: TriangleMesh, names: Sequence[str], part: Ints) -> Bools:
    """(n+b,) vertices of a piece, a body or a group of the mesh."""
    if name in names:
        return np.isin(part, [k for k, known in enumerate(names) if known == name])
    known = tuple(dict.fromkeys([*names, *mesh.groups]))
    check_known(name, known, "contact.pairs", SceneError)
    found = np.zeros(len(part), dtype=bool)
    found[mesh.groups[name]] = True
    return found
