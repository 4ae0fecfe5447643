"""Regions of one cloth, each of a fabric of its own: faces that share vertices with one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import MeshError, did_you_mean, shortened
from weft.base.keyframes import Keys
from weft.discretization.mesh import TriangleMesh
from weft.fabric.fabric import Fabric

Kept: TypeAlias = "float | Keys | Literal['fabric'] | None"  # [m]


def kept_of(thickness: Kept, fabric: Fabric, t: float) -> float | None:
    """[m] that something of a fabric keeps in contact at the time t [s]."""
    if isinstance(thickness, Keys):
        return thickness.at(t)
    return fabric.at(t).thickness if thickness == "fabric" else thickness


def fabric_thickness(fabric: Fabric) -> Kept:
    """[m] a fabric's own thickness; ``fabric`` where that changes in time."""
    return "fabric" if "thickness" in (fabric.keyed or {}) else fabric.thickness


@dataclass(frozen=True)
class Region:
    """Faces of a cloth that are of one fabric.

    Args:
        name: for messages, and for pairs of the scene's contact.
        fabric: of its faces.
        faces: their numbers, ascending.
        thickness: [m] kept in contact, or keyframes; ``fabric``: its fabric's, as that changes in
            time; None: that of the scene's contact.
    """

    name: str
    fabric: Fabric
    faces: Ints
    thickness: Kept = None

    def kept(self, t: float = 0.0) -> float | None:
        """[m] kept in contact at the time t [s]; None: that of the scene's contact."""
        return kept_of(self.thickness, self.fabric, t)

    def shifted(self, first: int, name: str) -> "Region":
        """The same among more faces, from number ``first`` on, with another name."""
        return replace(self, faces=self.faces + np.int32(first), name=name)


def fabric_regions(
    mesh: TriangleMesh, fabrics: Mapping[str, Fabric], rest: Fabric | None = None
) -> tuple[Region, ...]:
    """The regions of a mesh that fabrics are given for, in their order, and what is left.

    Args:
        mesh: with ``regions``.
        fabrics: by name of a region.
        rest: of faces in none of them, a region ``rest``; None: there must be no such.

    Raises:
        MeshError: a name of no region, one of no faces, faces in two, or in none.
    """
    where, known = mesh.source, ", ".join(mesh.regions) or "none"
    owner = np.full(len(mesh.faces), -1, dtype=np.int32)
    names = list(fabrics)
    for k, name in enumerate(names):
        if name not in mesh.regions:
            raise MeshError(
                f"region {name!r}",
                got="no such region",
                where=where,
                expected=f"one of: {known}",
                hint=did_you_mean(name, list(mesh.regions)),
            )
        faces = mesh.regions[name]
        if len(faces) == 0:
            raise MeshError(f"region {name!r}", got="no faces", where=where, expected="some")
        twice = faces[owner[faces] >= 0]
        if len(twice):
            other = names[int(owner[twice[0]])]
            raise MeshError(
                f"region {name!r}",
                got=f"{len(twice)} faces of {other!r}, first {twice[0]}",
                where=where,
                expected="regions that do not overlap",
            )
        owner[faces] = k
    left = np.flatnonzero(owner < 0).astype(np.int32)
    if len(left) and rest is None:
        unnamed = [name for name in mesh.regions if name not in fabrics]
        raise MeshError(
            "fabrics",
            got=f"{len(left)} faces without one, first {left[0]}",
            where=where,
            expected="a fabric for every face",
            hint=f"name more regions ({shortened(unnamed)}), or give `fabric` for the rest"
            if unnamed
            else "give `fabric` for the rest",
        )
    found = [
        Region(name, fabrics[name], np.flatnonzero(owner == k).astype(np.int32))
        for k, name in enumerate(names)
    ]
    if len(left) and rest is not None:
        called = "rest" if "rest" not in names else "the rest"
        found.append(Region(called, rest, left))
    return tuple(found)


def numbered(arrays: Mapping[str, Any]) -> dict[str, Ints]:
    """Faces of every region of a run, by number, from the arrays of its mesh; none: it has none."""
    label = arrays.get("region", np.zeros(0))
    return {str(k): np.flatnonzero(label == k).astype(np.int32) for k in np.unique(label)}


def owners(mesh: TriangleMesh, regions: Sequence[Region], thickness: Floats) -> list[Ints]:
    """Vertices of every region as contact tells them apart: one between two regions is of the one
    that keeps more distance, then of the first.

    Args:
        mesh: of the cloth.
        regions: of the cloth.
        thickness: (k,) [m] of each.
    """
    owner = np.full(mesh.n_vertices, -1, dtype=np.int32)
    for k in np.argsort(-thickness, kind="stable"):
        ids = np.unique(mesh.faces[regions[k].faces])
        owner[ids[owner[ids] < 0]] = k
    return [np.flatnonzero(owner == k).astype(np.int32) for k in range(len(regions))]
