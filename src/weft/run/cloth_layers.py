"""Layers of cloth for files whose materials have one color: wrong sides and stitches.

A wrong side lies as far behind the cloth as the cloth is thick. Stitches are strips of their own
width, a little above the cloth.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.bodies.nearest_points import NearestPoints
from weft.discretization.vertex_normals import VertexNormals
from weft.io.animation import ClothLayer, SurfaceTopology
from weft.io.part_appearance import STITCH, THIN, PartAppearance

ON_CLOTH = 1e-4  # [m] ends of stitches that are farther from their panel are left out
LIFT = 0.0005  # [m] of stitches above the cloth
# of a strip, by both sides of its first end, then of the second one; counter-clockwise
STRIP = np.array([[0, 2, 1], [1, 2, 3]], dtype=np.int32)


def cloth_layers(
    cloth: SurfaceTopology, meters: float, *, stitches: bool = True
) -> Iterator[ClothLayer]:
    """Yield the layers of a cloth, in a file with a unit of ``meters``: a wrong side if a part has
    a color of its own for it, or a thickness; and stitches.
    """
    looks = [look for look in cloth.appearances if look is not None]
    normals = VertexNormals(cloth.faces, int(cloth.faces.max()) + 1)
    if any(look.back or look.thickness for look in looks):
        yield _wrong_side(cloth, normals, meters)
    if stitches and any(look.stitches for look in looks):
        yield _stitch_strips(cloth, normals, meters)


def _wrong_side(cloth: SurfaceTopology, normals: VertexNormals, meters: float) -> ClothLayer:
    """Return the wrong side of all parts; those without a color for it look as their right side."""
    depth, looks = np.zeros((int(cloth.faces.max()) + 1, 1)), list(cloth.appearances)
    for k, (look, (_, faces)) in enumerate(zip(looks, cloth.regions)):
        np.maximum.at(depth, cloth.faces[faces], ((look and look.thickness) or THIN) / meters)
        if look is not None and look.back is not None:
            looks[k] = replace(look, color=look.back, image=None)
    shape = SurfaceTopology(
        f"{cloth.name} wrong side",
        cloth.faces[:, ::-1],
        None if cloth.corner_uv is None else cloth.corner_uv[:, ::-1],
        [(f"{name} wrong side", faces) for name, faces in cloth.regions],
        looks,
        None if cloth.image_uv is None else cloth.image_uv[:, ::-1],
    )
    return shape, lambda x: x - depth * normals(x)


def _stitch_strips(cloth: SurfaceTopology, normals: VertexNormals, meters: float) -> ClothLayer:
    """Return the stitches of all parts: two triangles each."""
    region, face, weights = locate_stitches(cloth)

    def follow(x: Positions) -> Positions:
        place, up = (
            np.einsum("ek,eki->ei", weights, a[cloth.faces[face]]) for a in (x, normals(x))
        )
        across = np.cross(up[::2] + up[1::2], place[1::2] - place[::2])
        length = np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-30)
        side = (0.5 * STITCH / meters * across / length).repeat(2, axis=0)
        middle = place + LIFT / meters * up
        return np.stack([middle - side, middle + side], axis=1).reshape(-1, 3)

    regions, looks = [], []
    for k, (look, (name, _)) in enumerate(zip(cloth.appearances, cloth.regions)):
        own = np.flatnonzero(region == k).astype(np.int32)  # as many triangles as ends
        if look is not None and len(own):
            regions.append((f"{name} stitches", own))
            looks.append(PartAppearance(look.thread))
    first = 4 * np.arange(len(region) // 2, dtype=np.int32)[:, None, None]
    faces = (first + STRIP).reshape(-1, 3)
    return SurfaceTopology(f"{cloth.name} stitches", faces, None, regions, looks), follow


def locate_stitches(cloth: SurfaceTopology) -> tuple[Ints, Ints, Floats]:
    """Find the faces on which stitches begin and end.

    Args:
        cloth: with appearances.

    Returns:
        For every end, two by two, its region (e,) and face (e,), and the barycentric coordinates
        (e,3) there; region by region.
    """
    found = []
    for k, (look, (_, faces)) in enumerate(zip(cloth.appearances, cloth.regions)):
        assert cloth.corner_uv is not None
        ends = np.zeros((0, 2)) if look is None else look.dashes().reshape(-1, 2)
        flat = np.pad(cloth.corner_uv[faces].reshape(-1, 2), ((0, 0), (0, 1)))
        soup = np.arange(len(flat), dtype=np.int32).reshape(-1, 3)
        place = NearestPoints.of(np.pad(ends, ((0, 0), (0, 1))), flat, soup)
        near = (place.distance.reshape(-1, 2) < ON_CLOTH).all(axis=1).repeat(2)
        ids = np.asarray(faces)[place.face[near]]
        found.append((np.full(len(ids), k, dtype=np.int32), ids, place.weight[near]))
    region, face, weights = map(np.concatenate, zip(*found))
    return region, face, weights
