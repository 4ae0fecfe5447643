"""A z-buffer by tiles: triangles are sorted into tiles, and every tile fills its own pixels.

No two threads of the kernel therefore write the same pixel, and it may run on several threads
(``weft.kernel``).
"""

from typing import NamedTuple

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.kernel import DataType, FloatArray2d, IntArray, IntArray2d, Vec3fArray, WarpArray
from weft.show.picture.camera import NEAR, Camera

TILE = 32  # pixels a side
TILE_WORK = 1090.0  # matrix entries that take as long as a tile
SEAM = -1.0e-5  # tolerance of barycentric coordinates, so that rounding leaves no holes
SPREAD = 1597  # a prime: visiting every 1597th tile or row, threads get equal shares of the cloth

_module = wp.get_module("weft.rasterize")
vec3f: DataType = wp.vec3f


@wp.func
def edge(a: vec3f, b: vec3f, x: float, y: float):
    """Return twice the signed area of the triangle of a, b and the point."""
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])


@wp.kernel(module=_module)
def fill_tiles(
    o: int,
    tiles_across: int,
    tile: int,
    spread: int,
    start: IntArray,
    item: IntArray,
    faces: IntArray2d,
    point: Vec3fArray,
    nearness: FloatArray2d,
    face: IntArray2d,
):
    """Find the nearest face of every pixel of a tile; pixels without a face are not changed."""
    t = ((o + wp.tid()) * spread) % (start.shape[0] - 1)
    top = (t // tiles_across) * tile
    left = (t - (t // tiles_across) * tiles_across) * tile
    bottom = wp.min(top + tile, face.shape[0])
    right = wp.min(left + tile, face.shape[1])
    for k in range(start[t], start[t + 1]):
        f = item[k]
        p0 = point[faces[f, 0]]
        p1 = point[faces[f, 1]]
        p2 = point[faces[f, 2]]
        area = edge(p0, p1, p2[0], p2[1])
        if wp.abs(area) > 1.0e-12:
            inverse = 1.0 / area
            # Pixels whose centers (r + 1/2, c + 1/2) lie in the bounding box.
            r0 = wp.max(top, int(wp.ceil(wp.min(wp.min(p0[1], p1[1]), p2[1]) - 0.5)))
            r1 = wp.min(bottom, int(wp.floor(wp.max(wp.max(p0[1], p1[1]), p2[1]) - 0.5)) + 1)
            c0 = wp.max(left, int(wp.ceil(wp.min(wp.min(p0[0], p1[0]), p2[0]) - 0.5)))
            c1 = wp.min(right, int(wp.floor(wp.max(wp.max(p0[0], p1[0]), p2[0]) - 0.5)) + 1)
            for r in range(r0, r1):
                y = float(r) + 0.5
                for c in range(c0, c1):
                    x = float(c) + 0.5
                    b0 = edge(p1, p2, x, y) * inverse
                    b1 = edge(p2, p0, x, y) * inverse
                    b2 = 1.0 - b0 - b1
                    if b0 >= SEAM and b1 >= SEAM and b2 >= SEAM:
                        z = b0 * p0[2] + b1 * p1[2] + b2 * p2[2]
                        if z > nearness[r, c]:
                            nearness[r, c] = z
                            face[r, c] = f


class DepthBuffer(NamedTuple):
    """Depth buffer of a view: nearness (h,w), larger is nearer, and face (h,w), -1 for none."""

    nearness: WarpArray
    face: WarpArray

    @staticmethod
    def of(width: int, height: int) -> "DepthBuffer":
        """Allocate a buffer to be used again and again, because fresh memory costs as much as
        drawing.
        """
        shape = (height, width)
        return DepthBuffer(kernel.empty(shape, wp.float32), kernel.empty(shape, wp.int32))


def rasterize(points: Floats, faces: Faces, device_faces: WarpArray, into: DepthBuffer) -> None:
    """Find the face that each pixel sees.

    Args:
        points: (n,3) pixel column, pixel row, and a nearness that is linear in the picture.
        faces: (m,3); both sides are seen.
        device_faces: the same on the device.
        into: the picture's buffer; all of it is overwritten.
    """
    height, width = into.face.shape
    across, down = -(-width // TILE), -(-height // TILE)
    start, item = _bins(points.astype(np.float32), faces, across, down)
    into.nearness.fill_(-1.0e30)
    into.face.fill_(-1)
    device_points = kernel.array(points.astype(np.float32), vec3f)
    kernel.launch(
        fill_tiles,
        across * down,
        *(
            across,
            TILE,
            spread(across * down),
            kernel.array(start, wp.int32),
            kernel.array(item, wp.int32),
        ),
        *(device_faces, device_points, into.nearness, into.face),
        work=TILE_WORK,
    )


def rasterize_view(
    camera: Camera, x: Positions, faces: Faces, device_faces: WarpArray, into: DepthBuffer
) -> None:
    """Find the face that each pixel of a camera sees; the arguments are those of ``rasterize``.

    The nearness in the buffer is 1/depth [1/m]. Faces that the camera's plane cuts are seen as far
    as they are in front of it.
    """
    height, width = into.face.shape
    points = camera.project(x, width, height)
    cut = np.zeros(0, dtype=np.int64)
    if not (points[:, 2] > 0).all():
        front = (points[:, 2] > 0)[faces].sum(1)
        cut = np.flatnonzero((front == 1) | (front == 2))
    if len(cut) == 0:
        rasterize(points, faces, device_faces, into)
        return
    corners, parts = cut_faces(x[faces[cut]], camera.depths(x)[faces[cut]])
    first = len(points) + np.arange(3 * len(parts)).reshape(-1, 3)
    points = np.concatenate([points, camera.project(corners.reshape(-1, 3), width, height)])
    every = np.concatenate([faces, first]).astype(np.int32)
    rasterize(points, every, kernel.array(every, wp.int32), into)
    parent = np.concatenate([np.arange(len(faces)), cut[parts], [-1]]).astype(np.int32)
    into.face.assign(parent[kernel.numpy(into.face)])


def cut_faces(corners: Floats, depth: Floats) -> tuple[Floats, Ints]:
    """Return the parts of triangles that are in front of a camera, and the triangle of each part.

    Args:
        corners: (k,3,3) [m].
        depth: (k,3) [m] of the corners, of both signs in each triangle.

    Returns:
        (p,3,3) [m], and (p,).
    """
    front = depth > NEAR
    alone = np.where(front.sum(1) == 1, front.argmax(1), front.argmin(1))
    turn = (alone[:, None] + np.arange(3)) % 3  # the corner that is alone on its side is the first
    a, b, c = np.moveaxis(np.take_along_axis(corners, turn[..., None], 1), 1, 0)
    d = np.take_along_axis(depth, turn, 1) - NEAR
    t = d[:, :1] / (d[:, :1] - d[:, 1:])
    ab, ac = a + t[:, :1] * (b - a), a + t[:, 1:] * (c - a)
    one, two = front.sum(1) == 1, front.sum(1) == 2
    parts = [np.stack(p, 1) for p in ((a, ab, ac), (ab, b, c), (ab, c, ac))]
    ids = np.arange(len(corners))
    found = np.concatenate([parts[0][one], parts[1][two], parts[2][two]])
    return found, np.concatenate([ids[one], ids[two], ids[two]])


def spread(n: int) -> int:
    """Return a stride that visits all of 0 ... n-1: SPREAD, or 1 if SPREAD divides n."""
    return SPREAD if n % SPREAD else 1


def _bins(points: Floats, faces: Faces, across: int, down: int) -> tuple[Ints, Ints]:
    """Return the faces that may touch each tile, in compressed lists."""
    # because reductions over axis 1 are 10x slower
    p0, p1, p2 = (points[faces[:, i]] for i in range(3))
    low = np.minimum(np.minimum(p0, p1), p2)
    high = np.maximum(np.maximum(p0, p1), p2)
    seen = (high[:, 0] >= -0.5) & (high[:, 1] >= -0.5) & (low[:, 2] > 0)
    seen &= (low[:, 0] < across * TILE + 0.5) & (low[:, 1] < down * TILE + 0.5)
    ids = np.flatnonzero(seen & np.isfinite(high[:, 0] - low[:, 0] + high[:, 1] - low[:, 1]))
    low, high = low[:, :2] - np.float32(0.5), high[:, :2] + np.float32(0.5)
    limit = np.array([across - 1, down - 1])
    first = np.clip(low[ids] // TILE, 0, limit).astype(np.int64)
    last = np.clip(high[ids] // TILE, 0, limit).astype(np.int64)
    size = last - first + 1
    count = size[:, 0] * size[:, 1]
    owner = np.repeat(np.arange(len(ids)), count)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    column = first[owner, 0] + within % size[owner, 0]
    row = first[owner, 1] + within // size[owner, 0]
    tile = (row * across + column).astype(np.uint16 if across * down < 2**16 else np.int64)
    order = np.argsort(tile, kind="stable")
    start = np.zeros(across * down + 1, dtype=np.int32)
    np.cumsum(np.bincount(tile, minlength=across * down), out=start[1:])
    return start, ids[owner[order]].astype(np.int32)
