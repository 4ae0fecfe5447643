"""Points beside a surface of triangles that follow it: the vertices of an asset on simulated cloth.

A point keeps its barycentric coordinates in the plane of the nearest triangle, and its offset from
there, which turns with the surface. Deformation gradients of triangles, with their unit normals as
third direction, are averaged at vertices, so that directions change smoothly. At rest every point
is where it was given.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions, Velocities
from weft.discretization.embedding import Embedding
from weft.discretization.polygon import normalize, triangle_sides

if TYPE_CHECKING:
    import scipy.sparse as sp

SNAP = 1e-6  # of barycentric coordinates: a point that is so near to a vertex is that vertex
INSTANT = 1e-3  # [s] of the differences of positions that give velocities


@dataclass(frozen=True, eq=False)
class SurfaceEmbedding:
    """Points that follow triangles; ``of_points`` makes it.

    Args:
        feet: the points in the planes of their triangles, as combinations of the vertices.
        offset: (n,3) [m] from there to the points, at rest.
        faces: (m,3) the triangles.
        inverse: (m,3,3) inverse of their edges and unit normals at rest, as columns.
        mean: (n,m) weights of the triangles in the deformation at each point.
    """

    feet: Embedding
    offset: Floats
    faces: Faces
    inverse: Floats
    mean: "sp.csr_matrix"

    @staticmethod
    def of_points(
        points: Positions, x: Positions, faces: Faces, nearest: Ints
    ) -> "SurfaceEmbedding":
        """Return the embedding of points.

        Args:
            points: (n,3) [m].
            x: (v,3) [m] vertices of the surface at rest.
            faces: (m,3) its triangles.
            nearest: (n,) the triangle of each point.
        """
        import scipy.sparse as sp

        frames, m = _frames(x, faces), len(faces)
        inverse = np.asarray(np.linalg.pinv(frames), dtype=np.float64)
        own = np.einsum("nij,nj->ni", inverse[nearest], points - x[faces[nearest, 0]])
        # Two coordinates in the plane, and the height above it [m].
        weight = np.column_stack([1 - own[:, 0] - own[:, 1], own[:, :2]])
        near = np.abs(weight - weight.round()).max(axis=1) < SNAP
        weight[near] = weight[near].round()
        feet = Embedding(faces[nearest], weight, len(x))
        size = np.linalg.norm(frames[nearest], axis=1).max(axis=1)
        height = np.where(np.abs(own[:, 2]) < SNAP * size, 0, own[:, 2])
        area = np.linalg.norm(np.cross(frames[..., 0], frames[..., 1]), axis=1)
        at = faces.ravel(), np.repeat(np.arange(m), 3)
        around = sp.csr_matrix((area.repeat(3), at), shape=(len(x), m))
        mean = feet.matrix @ sp.diags(1 / np.maximum(around @ np.ones(m), 1e-300)) @ around
        offset = height[:, None] * frames[nearest, :, 2]
        return SurfaceEmbedding(feet, offset, faces, inverse, mean.tocsr())

    def positions(self, x: Positions) -> Positions:
        """Return the points (n,3) [m] for vertices x (v,3) [m]."""
        feet = self.feet.of(x)
        return feet + self.turn(x, self.offset) if self.offset.any() else feet

    def velocities(self, x: Positions, v: Velocities) -> Velocities:
        """Return the velocities (n,3) [m/s] of the points for vertices x and v (v,3)."""
        ends = (self.positions(x + s * INSTANT * v) for s in (1, -1))
        return np.asarray(np.subtract(*ends) / (2 * INSTANT))

    def turn(
        self, x: Positions, directions: Floats, users: tuple[Ints, Ints] | None = None
    ) -> Floats:
        """Return directions that turn with the surface; they keep their lengths.

        Args:
            x: (v,3) [m] vertices.
            directions: (k,3) at rest.
            users: pairs (p,) of a direction and a point that has it; it turns with the mean of its
                points. None: each point has its own.
        """
        import scipy.sparse as sp

        mean = self.mean
        if users is not None:
            shape = len(directions), len(self.feet)
            mean = sp.csr_matrix((np.ones(len(users[0])), users), shape) @ mean
        F = (mean @ (_frames(x, self.faces) @ self.inverse).reshape(-1, 9)).reshape(-1, 3, 3)
        # Normals turn by the cofactors of F.
        columns = [np.cross(F[..., (i + 1) % 3], F[..., (i + 2) % 3]) for i in range(3)]
        turned = normalize(np.einsum("inj,ni->nj", columns, directions))
        return np.asarray(turned * np.linalg.norm(directions, axis=1, keepdims=True))


def _frames(x: Positions, faces: Faces) -> Floats:
    """Return two edges and the unit normal of every triangle, as columns (m,3,3)."""
    u, w = triangle_sides(x[faces])
    return np.stack([u, w, normalize(np.cross(u, w))], axis=-1)
