"""Build the collision groups of a scene from the pieces of its cloth and its bodies."""

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
    """A part of the cloth with its own name, and optionally its own thickness, in contact.

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
    """Build the collision groups of a cloth and of bodies.

    Args:
        mesh: the cloth.
        s: settings of the contact.
        bodies: bodies, in the order of their vertices after those of the cloth.
        pieces: parts of the cloth; empty: it is one piece called ``cloth``.

    Raises:
        SceneError: a pair names something that does not exist.
    """
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
    """Return the static and the kinetic coefficients between pieces and bodies of these names,
    (k,k).

    Raises:
        SceneError: a pair names something that does not exist.
    """
    rubbing = [(b.names, b.friction) for b in s.pairs if b.friction is not None]
    for pair, _ in rubbing:
        for name in pair:
            check_known(name, tuple(dict.fromkeys(names)), "contact.pairs", SceneError)
    assert isinstance(s.friction, Friction)
    return friction_table(list(names), s.friction, rubbing)


def _members(name: str, mesh: TriangleMesh, names: Sequence[str], part: Ints) -> Bools:
    """Return the vertices of a piece, a body or a group of the mesh, (n+b,) bool."""
    if name in names:
        return np.isin(part, [k for k, known in enumerate(names) if known == name])
    known = tuple(dict.fromkeys([*names, *mesh.groups]))
    check_known(name, known, "contact.pairs", SceneError)
    found = np.zeros(len(part), dtype=bool)
    found[mesh.groups[name]] = True
    return found
