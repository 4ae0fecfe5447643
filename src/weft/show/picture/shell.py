"""Cloth with its thickness: a front, a back, and a round rim along every border."""

from itertools import pairwise

import numpy as np

from weft.base.arrays import CornerUv, Faces, Floats, Ints, Positions

# [rad] directions of the rim, from the front to the back
ROUND = np.radians([0.0, 45.0, 90.0, 135.0, 180.0])
RIM_TONE = 0.82  # brightness over that of the cloth, because an edge shows cut yarns


class Shell:
    """Closed shell around a mesh, for pictures of thick cloth.

    Args:
        faces: (m,3).
        uv: (m,3,2) [m] of the corners.
        n: number of vertices.

    Attributes:
        faces: (M,3): fronts, backs (wound as fronts are), then rims, wound outwards.
        uv: (M,3,2) [m].
        parent: (M,) face of the mesh.
        origin: (N,) vertex of the mesh.
        n_rims: number of faces of the rims.
    """

    def __init__(self, faces: Faces, uv: CornerUv, n: int) -> None:
        m = len(faces)
        face, side = _border_sides(faces, n)
        start, end = faces[face, side], faces[face, (side + 1) % 3]
        self._edge = start, end
        rim, local = np.unique(np.concatenate([start, end]), return_inverse=True)
        self._rim, (a, b) = rim, local.reshape(2, -1)
        k = len(rim)
        # Rings of the rim: the front's vertices, those in between, the back's.
        rings = [rim, *(2 * n + i * k + np.arange(k) for i in range(len(ROUND) - 2)), n + rim]
        quads = []
        for front, back in pairwise(rings):
            quads += [np.stack([front[a], back[a], back[b]], axis=1)]
            quads += [np.stack([front[a], back[b], front[b]], axis=1)]
        self.faces: Faces = np.concatenate([faces, faces + n, *quads]).astype(np.int32)
        self.n_rims = sum(len(q) for q in quads)
        here, there = uv[face, side], uv[face, (side + 1) % 3]
        corners = [np.stack([here, here, there], axis=1), np.stack([here, there, there], axis=1)]
        self.uv = np.concatenate([uv, uv, *(corners * (len(quads) // 2))])
        own = np.arange(m)
        self.parent: Ints = np.concatenate([own, own, np.tile(face, len(quads))])
        every = np.arange(n)
        self.origin: Ints = np.concatenate([every, every, np.tile(rim, len(ROUND) - 2)])

    def around(self, x: Positions, normal: Floats, thickness: float) -> tuple[Positions, Floats]:
        """Return positions (N,3) [m] and unit normals (N,3) of the shell around x (n,3) [m].

        Normals of backs point to the front, as their faces do.
        """
        start, end = self._edge
        out = np.zeros_like(x)
        side = np.cross(x[end] - x[start], normal[start] + normal[end])
        np.add.at(out, start, side)
        np.add.at(out, end, side)
        out, up = out[self._rim], normal[self._rim]
        out -= np.einsum("ni,ni->n", out, up)[:, None] * up
        length = np.linalg.norm(out, axis=1)[:, None]
        out /= np.where(length > 0, length, 1.0)
        half = 0.5 * thickness
        turned = [np.cos(t) * up + np.sin(t) * out for t in ROUND[1:-1]]
        edge = x[self._rim]
        positions = [x + half * normal, x - half * normal, *(edge + half * t for t in turned)]
        return np.concatenate(positions), np.concatenate([normal, normal, *turned])


def _border_sides(faces: Faces, n: int) -> tuple[Ints, Ints]:
    """Return face and side of every edge with one face.

    Side 0 is that from the face's first corner to its second.
    """
    f = faces.astype(np.int64)
    sides = np.stack([f, np.roll(f, -1, axis=1)], axis=2).reshape(-1, 2)
    key = sides.min(axis=1) * n + sides.max(axis=1)
    _, first, uses = np.unique(key, return_index=True, return_counts=True)
    only = np.sort(first[uses == 1])
    return only // 3, only % 3
