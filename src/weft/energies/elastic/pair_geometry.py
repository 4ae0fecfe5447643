"""Pairs of vertices opposite inner edges, in the material: lengths, directions, strip factors."""

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.hinge_bending import material_corners


def material_pairs(mesh: TriangleMesh) -> tuple[Floats, Floats]:
    """Return rest lengths (m,) [m] and directions (m,3) of all pairs.

    A direction is given by cos^2, sin^2 and cos sin of the angle between pair and warp.
    """
    return unfold_pairs(material_corners(mesh))


def unfold_pairs(corners: Floats) -> tuple[Floats, Floats]:
    """Return rest lengths (m,) [m] and directions (m,3) of pairs, as ``material_pairs`` does.

    The two triangles are unfolded about their common edge. At a seam, where they lie apart in
    material coordinates, the direction is the mean of those on both sides.

    Args:
        corners: (m,2,3,2) [m] start and end of the common edge and the tip, in both faces.
    """
    tips, frames = [], []
    for side, sign in ((0, 1.0), (1, -1.0)):
        start, end, tip = np.moveaxis(corners[:, side], 1, 0)
        along = (end - start) / np.linalg.norm(end - start, axis=1, keepdims=True)
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        middle = tip - (start + end) / 2
        height = np.abs((middle * across).sum(1))
        tips.append(np.stack([(middle * along).sum(1), sign * height], axis=1))
        frames.append(np.stack([along, across], axis=1))
    pair = tips[1] - tips[0]  # in the frame of the edge
    length = np.linalg.norm(pair, axis=1)
    unit = pair / length[:, None]
    moments = []
    for frame in frames:
        c, s = np.einsum("ma,mai->im", unit, frame)
        moments.append(np.stack([c * c, s * s, c * s], axis=1))
    return length, np.asarray((moments[0] + moments[1]) / 2)


def strip_factor(along: Floats, area: Floats) -> tuple[float, float]:
    """Return k/D with which strips along warp and weft have the rigidity D, averaged over a mesh.

    A surface with curvatures (a, b, c) = (z_uu, z_uv, z_vv) bends a pair by q.(a, b, c), q =
    (cos^2, 2 cos sin, sin^2); every point is covered by three pairs, so its energy per area is k/2
    (a,b,c).Q.(a,b,c), Q = 3 <q q^T>. A strip along u is free to choose b and c, which leaves k/2
    a^2/(Q^-1)_aa.

    Args:
        along: (m,3) directions of pairs, from ``material_pairs``.
        area: (m,) [m^2] of the pairs.
    """
    q = along[:, [0, 2, 1]] * [1.0, 2.0, 1.0]
    Q = 3 * np.einsum("m,mi,mj->ij", area / area.sum(), q, q)
    # The regularization is for meshes with pairs in few directions (a strip one cell wide), where
    # some curvatures meet no resistance and Q is singular.
    inverse = np.linalg.inv(Q + 1e-9 * np.trace(Q) * np.eye(3))
    return float(inverse[0, 0]), float(inverse[2, 2])


def strip_slopes(along: Floats, area: Floats, by: Floats) -> tuple[Floats, Floats]:
    """Return the derivatives of ``strip_factor`` by directions (m,3) and areas (m,) of pairs.

    ``by`` (2,) are the derivatives by its two factors, which are contracted.
    """
    q, total = along[:, [0, 2, 1]] * [1.0, 2.0, 1.0], area.sum()
    Q = 3 * np.einsum("m,mi,mj->ij", area / total, q, q)
    inverse = np.linalg.inv(Q + 1e-9 * np.trace(Q) * np.eye(3))  # as in ``strip_factor``
    by_M = -sum(b * np.outer(inverse[i], inverse[i]) for b, i in zip(by, (0, 2)))
    by_Q: Floats = by_M + 1e-9 * np.trace(by_M) * np.eye(3)
    by_q = 6 * (area / total)[:, None] * (q @ by_Q)
    each = 3 * np.einsum("mi,ij,mj->m", q, by_Q, q) / total
    return by_q[:, [0, 2, 1]] * [1.0, 1.0, 2.0], np.asarray(each - (area * each).sum() / total)
