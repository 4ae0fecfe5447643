"""Regions of one cloth: sets of faces with fabrics of their own, which share border vertices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from weft.base.arrays import Arrays, Floats, Ints
from weft.base.errors import MeshError, abbreviate, did_you_mean
from weft.discretization.connectivity import face_islands
from weft.discretization.mesh import TriangleMesh
from weft.fabric.fabric import Fabric

# [m] distance kept in contact
ContactThickness: TypeAlias = "float | Literal['fabric'] | None"


def contact_thickness(thickness: ContactThickness, fabric: Fabric) -> float | None:
    """Return the largest distance [m] that cloth of a fabric keeps in contact; None: the
    scene's.
    """
    return fabric.thickest if thickness == "fabric" else thickness


def own_thickness(fabric: Fabric) -> ContactThickness:
    """Return the thickness [m] of a fabric; ``fabric`` if it has a map of it."""
    return "fabric" if "thickness" in (fabric.maps or {}) else fabric.thickness


@dataclass(frozen=True)
class Region:
    """Faces of a cloth that have the same fabric.

    Args:
        name: name of the region in messages and in the pairs of the scene's contact.
        fabric: fabric of its faces.
        faces: indices of its faces, ascending.
        thickness: [m] distance kept in contact; ``fabric``: the thickness of its fabric; None: that
            of the scene's contact.
    """

    name: str
    fabric: Fabric
    faces: Ints
    thickness: ContactThickness = None

    def contact_distance(self) -> float | None:
        """Return the distance [m] kept in contact; None: as the scene's contact has it."""
        return contact_thickness(self.thickness, self.fabric)

    def shift(self, first: int, name: str) -> "Region":
        """Return the region as part of a joined cloth: with face indices increased and another
        name.
        """
        return replace(self, faces=self.faces + np.int32(first), name=name)


def fabric_regions(
    mesh: TriangleMesh, fabrics: Mapping[str, Fabric], rest: Fabric | None = None
) -> tuple[Region, ...]:
    """Return the regions of a mesh that have fabrics, in their order, then one of all other faces.

    Args:
        mesh: mesh with ``regions``.
        fabrics: fabric of each region by the name of the region.
        rest: fabric of the faces in no region, which become a region ``rest``; None: every face
            must be in a region.

    Raises:
        MeshError: a name is no region's, a region has no faces, or a face is in two regions or in
            none.
    """
    where, known = mesh.source, ", ".join(mesh.regions) or "none"
    owner = np.full(len(mesh.faces), -1, dtype=np.int32)
    names = list(fabrics)
    for k, name in enumerate(names):
        if name not in mesh.regions:
            raise MeshError(
                f"region {name!r}",
                got="no region with this name",
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
            hint=f"name more regions ({abbreviate(unnamed)}), or give `fabric` for all other faces"
            if unnamed
            else "give `fabric` for all other faces",
        )
    found = [
        Region(name, fabrics[name], np.flatnonzero(owner == k).astype(np.int32))
        for k, name in enumerate(names)
    ]
    if len(left) and rest is not None:
        called = "rest" if "rest" not in names else "the rest"
        found.append(Region(called, rest, left))
    return tuple(found)


def faces_by_region(arrays: Arrays) -> dict[str, Ints]:
    """Return the faces of every region of a run by region number, from the arrays of its mesh;
    empty if the run has no regions.
    """
    label = arrays.get("region", np.zeros(0))
    return {str(k): np.flatnonzero(label == k).astype(np.int32) for k in np.unique(label)}


def assign_vertices(mesh: TriangleMesh, regions: Sequence[Region], thickness: Floats) -> list[Ints]:
    """Return the vertices of every region, with each vertex in one region, as contact requires.

    A vertex between regions belongs to the region with the largest thickness, and among equal ones
    to the first.

    Args:
        mesh: mesh of the cloth.
        regions: regions of the cloth.
        thickness: (k,) [m] thickness of each region.
    """
    owner = np.full(mesh.n_vertices, -1, dtype=np.int32)
    for k in np.argsort(-thickness, kind="stable"):
        ids = np.unique(mesh.faces[regions[k].faces])
        owner[ids[owner[ids] < 0]] = k
    return [np.flatnonzero(owner == k).astype(np.int32) for k in range(len(regions))]


def material_pieces(mesh: TriangleMesh) -> Ints:
    """Return (m,) the number of each face's piece; faces that share a material edge belong
    together.
    """
    return face_islands(mesh.faces, np.round(mesh.corner_uv * 1e7))
