"""Layers of cloth for files whose materials have one color: wrong sides and stitches.

A wrong side lies as far behind the cloth as the cloth is thick. Stitches are strips of their own
width, a little above the cloth.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.bodies.nearest_points import NearestPoints
from weft.discretization.vertex_normals import VertexNormals
from weft.io.animation import ClothLayer, SurfaceTopology
from weft.io.part_appearance import STITCH, THIN, PartAppearance

ON_CLOTH = 1e-4  # [m] ends of stitches that are farther from their panel are left out
LIFT = 0.0005  # [m] of stitches above the cloth
STRIP = np.array([[0, 2, 1], [1, 2, 3]], dtype=np.int32)  # of both sides of the first end, then of
# the second one, counter-clockwise


def cloth_layers(cloth: SurfaceTopology, meters: float) -> Sequence[ClothLayer]:
    """Return the layers of a cloth with appearances, in a file with a unit of ``meters``."""
    if not cloth.appearances:
        return []
    normals = VertexNormals(cloth.faces, int(cloth.faces.max()) + 1)
    return [*_wrong_side(cloth, normals, meters), *_stitches(cloth, normals, meters)]


def _wrong_side(
    cloth: SurfaceTopology, normals: Callable[[Positions], Floats], meters: float
) -> Sequence[ClothLayer]:
    """Return the wrong side of the parts that have a color or a thickness of their own."""
    shown = [
        (name, faces, look)
        for look, (name, faces) in zip(cloth.appearances, cloth.regions)
        if look is not None and (look.back or look.thickness)
    ]
    if not shown:
        return []
    own = np.concatenate([faces for _, faces, _ in shown])
    ids, corners = np.unique(cloth.faces[own, ::-1], return_inverse=True)
    faces, depth = corners.reshape(-1, 3).astype(np.int32), np.zeros((len(ids), 1))
    parts = _split(len(own), [len(f) for _, f, _ in shown])
    for part, (_, _, look) in zip(parts, shown):
        np.maximum.at(depth, faces[part], (look.thickness or THIN) / meters)
    uv = [None if a is None else a[own, ::-1] for a in (cloth.corner_uv, cloth.image_uv)]
    looks = [replace(k, color=k.back, image=None) if k.back else k for _, _, k in shown]
    regions = [(f"{name} wrong side", part) for part, (name, _, _) in zip(parts, shown)]
    shape = SurfaceTopology(f"{cloth.name} wrong side", faces, uv[0], regions, looks, uv[1])
    return [ClothLayer(shape, lambda x: x[ids] - depth * normals(x)[ids])]


def _stitches(
    cloth: SurfaceTopology, normals: Callable[[Positions], Floats], meters: float
) -> Sequence[ClothLayer]:
    """Return the stitches of all parts."""
    found = locate_stitches(cloth, meters)
    corners = cloth.faces[np.concatenate([faces for faces, _ in found])]
    weights = np.concatenate([weights for _, weights in found])
    if len(weights) == 0:
        return []

    def follow(x: Positions) -> Positions:
        place, up = (np.einsum("ek,eki->ei", weights, a[corners]) for a in (x, normals(x)))
        across = np.cross(up[::2] + up[1::2], place[1::2] - place[::2])
        length = np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-30)
        side = (0.5 * STITCH / meters * across / length).repeat(2, axis=0)
        middle = place + LIFT / meters * up
        return np.stack([middle - side, middle + side], axis=1).reshape(-1, 3)

    regions, looks = [], []
    parts = _split(len(weights), [len(f) for f, _ in found])  # as many triangles as ends
    for part, look, (name, _) in zip(parts, cloth.appearances, cloth.regions):
        if look is not None and len(part):
            regions.append((f"{name} stitches", part))
            looks.append(PartAppearance(look.thread))
    first = 4 * np.arange(len(weights) // 2, dtype=np.int32)[:, None, None]
    faces = (first + STRIP).reshape(-1, 3)
    shape = SurfaceTopology(f"{cloth.name} stitches", faces, None, regions, looks)
    return [ClothLayer(shape, follow, drawn=True)]


def _split(n: int, counts: Sequence[int]) -> list[Ints]:
    """Return the numbers below n in runs of these lengths."""
    return np.split(np.arange(n, dtype=np.int32), np.cumsum(counts)[:-1])


def locate_stitches(cloth: SurfaceTopology, meters: float = 1.0) -> list[tuple[Ints, Floats]]:
    """Find the faces on which the stitches of each region begin and end.

    Args:
        cloth: with appearances, and texture coordinates in the unit of its file.
        meters: [m] this unit.

    Returns:
        For every region the face (e,) of each end, two by two, and the barycentric coordinates
        (e,3) there.
    """
    found = []
    for look, (_, faces) in zip(cloth.appearances, cloth.regions):
        assert cloth.corner_uv is not None
        ends = np.zeros((0, 2)) if look is None else look.dashes().reshape(-1, 2)
        flat = np.pad(meters * cloth.corner_uv[faces].reshape(-1, 2), ((0, 0), (0, 1)))
        soup = np.arange(len(flat), dtype=np.int32).reshape(-1, 3)
        place = NearestPoints.of(np.pad(ends, ((0, 0), (0, 1))), flat, soup)
        near = (place.distance.reshape(-1, 2) < ON_CLOTH).all(axis=1).repeat(2)
        found.append((np.asarray(faces)[place.face[near]], place.weight[near]))
    return found
