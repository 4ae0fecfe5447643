"""Regions of a cloth in a scene: bending between them, collision pieces, and laws of faces."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.cloth.cloth import Cloth, ClothPart
from weft.cloth.regions import Region, assign_vertices
from weft.contact.collision_groups import CollisionPiece
from weft.discretization.triangles import Triangles
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.fitted_bending import FittedBending
from weft.energies.elastic.quadratic_bending import QuadraticBending
from weft.energies.energy import Energy
from weft.fabric.fabric import Fabric
from weft.scene.elastic import bending_of_triangles
from weft.scene.scene import Scene

UNCREASED = dict.fromkeys(
    ("crease_yield", "crease_hardening", "crease_recovery", "crease_lasting"), None
)


def border_energies(scene: Scene, t: float = 0.0) -> tuple[Energy, ...]:
    """Build the bending energies of edges between regions, at the time t [s].

    Such an edge has a different fabric on either side. Its stiffness is the mean of those that it
    would have in the one fabric and in the other. It keeps no creases.
    """
    found = []
    for part, surface in scene.cloth.pieces:
        if part.regions:
            assert isinstance(surface, Triangles)
            found += _between(scene, part, surface, t)
    return tuple(
        dataclasses.replace(e, name="bending between regions" + (f" {k + 1}" if k else ""))  # type: ignore[type-var]
        for k, e in enumerate(found)
    )


def _between(scene: Scene, part: ClothPart, surface: Triangles, t: float) -> list[Energy]:
    """Build the energy of the edges between a part's regions; none if no two regions meet."""
    mesh, first = surface.mesh, int(part.faces[0])
    label = np.zeros(len(mesh.faces), dtype=np.int32)
    for k, region in enumerate(part.regions):
        label[region.faces - first] = k
    sides = label[mesh.hinge_faces]
    rows = np.flatnonzero(sides[:, 0] != sides[:, 1]).astype(np.int32)
    if len(rows) == 0:
        return []
    made: list[Any] = [_bending(scene, r.fabric, surface, None) for r in part.regions]
    other = None
    if isinstance(made[0], FittedBending):  # it has no edges
        other = "quadratic"
    elif len({type(e) for e in made}) > 1:  # only some laws buckle: take hinges on all borders
        other = "hinges"
    if other is not None:
        made = [_bending(scene, r.fabric, surface, other) for r in part.regions]
    left, right = sides[rows].T
    damping = max(e.damping for e in made)
    return [dataclasses.replace(_mean(made, rows, left, right), damping=damping)]


def _bending(scene: Scene, fabric: Fabric, surface: Triangles, name: str | None) -> Energy:
    """Build the bending that a part would have if all of it were of one fabric."""
    maps = {name: m for name, m in (fabric.maps or {}).items() if name not in UNCREASED}
    plain: Any = dataclasses.replace(fabric, **UNCREASED, maps=maps)  # type: ignore[arg-type]
    return bending_of_triangles(scene, plain, surface, name)


def _mean(made: Sequence[Any], rows: Ints, left: Ints, right: Ints) -> Any:
    """Select hinges of energies that differ in stiffness alone, with the mean stiffness of two.

    ``rows`` are the hinges; ``left`` and ``right`` the energies on the two sides of each.
    """

    def mean(values: Sequence[Floats]) -> Floats:
        table = np.stack(values)
        return (table[left, rows] + table[right, rows]) / 2

    one = made[0]
    if isinstance(one, QuadraticBending):
        return dataclasses.replace(
            one,
            stencil=one.stencil[rows],
            coefficient=one.coefficient[rows],
            weight=mean([e.weight for e in made]),
            frame=one.frame[rows],
        )
    if isinstance(one, BucklingBending):
        return dataclasses.replace(
            one,
            pairs=one.pairs[rows],
            length=one.length[rows],
            area=one.area[rows],
            stiffness=mean([e.stiffness for e in made]),
            compression=mean([e.compression for e in made]),
        )
    return dataclasses.replace(
        one,
        hinges=one.hinges[rows],
        rest_angle=one.rest_angle[rows],
        weight=mean([e.weight for e in made]),
    )


def pieces_of(cloth: Cloth, otherwise: float) -> list[CollisionPiece]:
    """Return the pieces of cloth that contact distinguishes: parts, or the regions of a part.

    Args:
        cloth: all cloth of a scene.
        otherwise: [m] thickness where neither region nor part gives one.
    """
    found: list[CollisionPiece] = []
    for part in cloth.parts:
        kept = [
            part.contact_distance() if k.thickness is None else k.contact_distance()
            for k in part.kinds
        ]
        if not part.regions:
            kept_here = _thickness_at(cloth, part, part.fabric, part.vertices)
            found.append(CollisionPiece(part.name, part.vertices, kept_here))
            continue
        sizes = np.array([otherwise if k is None else k for k in kept])
        ids = assign_vertices(cloth.mesh, part.regions, sizes)
        for r, own in zip(part.regions, ids):
            like = part if r.thickness is None else r
            found.append(CollisionPiece(r.name, own, _thickness_at(cloth, like, r.fabric, own)))
    return found


def _thickness_at(
    cloth: Cloth, like: ClothPart | Region, fabric: Fabric, ids: Ints
) -> float | Floats | None:
    """Return the thickness [m] of a part or region; (k,) at its vertices if the fabric has a map
    of it.
    """
    if like.thickness == "fabric" and "thickness" in (fabric.maps or {}):
        return cloth.number(fabric, "thickness")[ids]
    return like.contact_distance()
