"""The inside of a closed body: how deep points are in it, and the body made thinner.

Computed in single precision: accurate to 1e-6 m at the size of people.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.bodies.nearest_points import NearestPoints
from weft.discretization.mesh import half_edges
from weft.discretization.vertex_normals import VertexNormals
from weft.kernel import FloatArray, Vec3fArray, WarpArray

HOLES = 0.01  # area of holes over the surface's, up to which a surface has an inside
SAME = 1e-7  # of the size: vertices that are nearer than this are one
MOST_ROUNDS = 64  # largest number of small displacements of a vertex
PART = 0.06  # of the depth: a small displacement
FARTHEST = 10.0  # [m] radius of the search around a point
_module = wp.get_module("weft.bodies.erosion")


@wp.kernel(module=_module)
def measure_depths(o: int, body: wp.uint64, x: Vec3fArray, farthest: wp.float32, depth: FloatArray):
    """Compute the distances of points from a closed surface, which are negative outside."""
    i = o + wp.tid()
    found = wp.mesh_query_point_sign_winding_number(body, x[i], farthest)
    depth[i] = -farthest
    if found.result:
        p = wp.mesh_eval_position(body, found.face, found.u, found.v)
        depth[i] = -found.sign * wp.length(p - x[i])


@wp.kernel(module=_module)
def move_inwards(
    o: int,
    body: wp.uint64,
    depth: wp.float32,
    step: wp.float32,
    rounds: int,
    farthest: wp.float32,
    inwards: Vec3fArray,
    x: Vec3fArray,
):
    """Move points of the surface away from their nearest points until they are this deep, or in the
    middle.
    """
    i = o + wp.tid()
    p = x[i] + 0.1 * step * inwards[i]
    for _ in range(rounds):
        found = wp.mesh_query_point_no_sign(body, p, farthest)
        if found.result:
            away = p - wp.mesh_eval_position(body, found.face, found.u, found.v)
            far = wp.length(away)
            if far >= depth:
                break
            if far > 0.0:
                p += wp.min(step, depth - far) / far * away
    x[i] = p


FEWEST, LARGEST = 4, 1e5  # faces of a closed surface; [m] largest coordinate


@dataclass(frozen=True, eq=False)
class Solid:
    """The inside of a surface.

    Args:
        vertices: (b,3) [m].
        faces: (m,3).
    """

    vertices: Positions
    faces: Faces

    @cached_property
    def _welded(self) -> tuple[Positions, Ints, Faces]:
        """The places of vertices (k,3) [m], the place of each vertex (b,), faces of places."""
        x = np.asarray(self.vertices, dtype=np.float64)
        rounded = np.round(x / max(SAME * float(np.ptp(x, axis=0).max()), 1e-300))
        _, first, inverse = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        place: Ints = np.asarray(inverse, dtype=np.int32).reshape(-1)
        faces = place[self.faces]
        faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
        a, b, c = x[first][faces.T]
        inside_out = float((a * np.cross(b, c)).sum()) < 0
        return x[first], place, faces[:, ::-1] if inside_out else faces

    @cached_property
    def has_inside(self) -> bool:
        """Whether the surface is closed, but for small holes, and its faces look to one side.

        Surfaces too large for single precision, and without volume, have none.
        """
        x, _, faces = self._welded
        if len(faces) < FEWEST or not float(np.abs(x).max()) < LARGEST:
            return False
        ends, n = half_edges(faces).astype(np.int64), len(x)
        single = ~np.isin(ends[:, 0] * n + ends[:, 1], ends[:, 1] * n + ends[:, 0])
        around = float(np.linalg.norm(np.diff(x[ends[single]], axis=1), axis=2).sum())
        a, b, c = x[faces.T]
        area = float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2
        return around**2 / (4 * np.pi) <= HOLES * area

    @cached_property
    def _mesh(self) -> wp.Mesh:
        x, _, faces = self._welded
        return wp.Mesh(
            kernel.array(np.asarray(x, np.float32), wp.vec3f),
            kernel.array(np.ascontiguousarray(faces).ravel(), wp.int32),
            support_winding_number=True,
        )

    def way_out(self, points: Positions) -> Floats:
        """Return the displacements (k,3) [m] from points (k,3) [m] to the nearest points of the
        surface.
        """
        x, _, faces = self._welded
        return NearestPoints.of(points, x, faces).on(x, faces) - points

    def depth(self, points: Positions) -> Floats:
        """Return how deep points (k,3) [m] are inside, (k,) [m]; negative outside."""
        depth = kernel.empty(len(points), wp.float32)
        arrays = (_single(points), wp.float32(FARTHEST), depth)
        kernel.launch(measure_depths, len(points), self._mesh.id, *arrays)
        return np.array(kernel.numpy(depth), np.float64)

    def erode(self, depth: float) -> Positions:
        """Return the vertices (b,3) [m] of a body that is thinner by ``depth`` [m] on all sides.

        Where the body is not twice as thick, the vertices go to its middle.
        """
        x, place, faces = self._welded
        inwards = -VertexNormals(faces, len(x))(x)
        moved, size = _single(x), wp.float32(PART * depth)
        arrays = (wp.float32(FARTHEST), _single(inwards), moved)
        kernel.launch(
            move_inwards, len(x), self._mesh.id, wp.float32(depth), size, MOST_ROUNDS, *arrays
        )
        return np.array(kernel.numpy(moved), np.float64)[place]


def _single(points: Positions) -> WarpArray:
    """Return points (k,3) in single precision on the device."""
    return kernel.array(np.asarray(points, np.float32), wp.vec3f)
