"""Nearest points on a surface, in single precision: accurate to 1e-6 m at the size of people."""

from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.kernel import FloatArray, IntArray, Vec3fArray

FARTHEST = 10.0  # [m] radius of the search around a point


@wp.kernel(module=wp.get_module("weft.run.quality"))
def nearest(
    o: int,
    body: wp.uint64,
    x: Vec3fArray,
    farthest: wp.float32,
    distance: FloatArray,
    face: IntArray,
    weight: wp.array(dtype=wp.vec2f),
):
    """Compute the distance of points from a surface, the nearest face and the place on it."""
    i = o + wp.tid()
    found = wp.mesh_query_point_no_sign(body, x[i], farthest)
    distance[i] = farthest
    face[i] = -1
    if found.result:
        p = wp.mesh_eval_position(body, found.face, found.u, found.v)
        distance[i] = wp.length(p - x[i])
        face[i] = found.face
        weight[i] = wp.vec2f(found.u, found.v)


@dataclass(frozen=True, eq=False)
class NearestPoints:
    """The points of a surface that are nearest to given points.

    Args:
        distance: (n,) [m] distances from the surface.
        face: (n,) indices of the nearest faces; -1 if the surface is farther than ``FARTHEST``.
        weight: (n,3) barycentric coordinates on the face.
    """

    distance: Floats
    face: Ints
    weight: Floats

    @staticmethod
    def of(x: Positions, body: Positions, faces: Faces) -> "NearestPoints":
        """Find the nearest points of a surface.

        Args:
            x: (n,3) [m] points.
            body: (b,3) [m] vertices of the surface.
            faces: (m,3) its faces.
        """
        mesh = wp.Mesh(
            kernel.array(np.asarray(body, np.float32), wp.vec3f),
            kernel.array(np.asarray(faces, np.int32).ravel(), wp.int32),
        )
        n = len(x)
        distance, face = kernel.empty(n, wp.float32), kernel.empty(n, wp.int32)
        weight = kernel.zeros(n, wp.vec2f)
        points = kernel.array(np.asarray(x, np.float32), wp.vec3f)
        kernel.launch(nearest, n, mesh.id, points, wp.float32(FARTHEST), distance, face, weight)
        u, v = kernel.numpy(weight).astype(np.float64).T
        return NearestPoints(
            np.array(kernel.numpy(distance), np.float64),
            np.array(kernel.numpy(face)),
            np.stack([u, v, 1 - u - v], axis=1),
        )

    def on(self, body: Positions, faces: Faces) -> Positions:
        """Return the same points of the surface (n,3) [m] for other vertices ``body`` (b,3) [m]."""
        corners = body[faces[np.maximum(self.face, 0)]]
        return np.asarray(np.einsum("nk,nki->ni", self.weight, corners))
