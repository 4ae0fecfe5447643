"""Skinning: vertices that follow joints by dual quaternions (Kavan et al. 2007).

A linear blend of matrices loses volume in bent and twisted joints, whereas a blend of unit dual
quaternions is a rigid motion at every vertex. Quaternions are (w, x, y, z).
"""

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.mannequin.joints import parents

BLOCK = 16  # number of frames that are computed together, which bounds memory


def skin_vertices(
    x: Positions, joints: Ints, weights: Floats, rest: Floats, turns: Floats, places: Floats
) -> Floats:
    """Return the vertices (k,b,3) [m] in k poses.

    Args:
        x: (b,3) [m] vertices in the rest pose.
        joints: (b,4) joints that move every vertex.
        weights: (b,4) their weights, which sum to one.
        rest: (J,3) [m] joints at rest.
        turns: (k,J,3,3) rotations of the joints in space, from rest.
        places: (k,J,3) [m] positions of the joints.
    """
    from scipy.sparse import csr_matrix

    b, most = joints.shape
    shape = (b, rest.shape[0])
    matrix = csr_matrix((weights.ravel(), joints.ravel(), most * np.arange(b + 1)), shape=shape)
    dual = dual_quaternions(turns, places - np.einsum("kjab,jb->kja", turns, rest))
    out = np.empty((len(turns), b, 3))
    for first in range(0, len(turns), BLOCK):
        some = dual[first : first + BLOCK]  # (i,J,8)
        flat = some.transpose(1, 0, 2).reshape(shape[1], -1)
        mixed = (matrix @ flat).reshape(b, len(some), 8).transpose(1, 0, 2)
        out[first : first + BLOCK] = transform_points(mixed, x)
    return out


def dual_quaternions(turns: Floats, shifts: Floats) -> Floats:
    """Return the dual quaternions (k,J,8), real and dual parts, of rigid motions.

    Signs agree along the skeleton, so that neighboring joints are blended along the shorter arc.

    Args:
        turns: (k,J,3,3) rotations.
        shifts: (k,J,3) [m] translations after them.
    """
    q = quaternions(turns)
    for j, parent in enumerate(parents()):
        if parent >= 0:
            flip = np.einsum("ki,ki->k", q[:, j], q[:, parent]) < 0
            q[flip, j] *= -1
    t = np.concatenate([np.zeros((*shifts.shape[:2], 1)), shifts], axis=2)
    return np.concatenate([q, 0.5 * multiply(t, q)], axis=2)


def transform_points(dual: Floats, x: Positions) -> Floats:
    """Return points after motion by blended dual quaternions, (k,b,3) [m].

    Args:
        dual: (k,b,8) blends, not normalized.
        x: (b,3) [m].
    """
    size = np.linalg.norm(dual[..., :4], axis=-1, keepdims=True)
    real, other = dual[..., :4] / size, dual[..., 4:] / size
    w, v = real[..., :1], real[..., 1:]
    turned = x + 2 * np.cross(v, np.cross(v, x) + w * x)
    shift = 2 * (w * other[..., 1:] - other[..., :1] * v + np.cross(v, other[..., 1:]))
    return np.asarray(turned + shift)


def quaternions(turns: Floats) -> Floats:
    """Return the quaternions (...,4) of rotation matrices (...,3,3)."""
    from scipy.spatial.transform import Rotation

    q = Rotation.from_matrix(turns.reshape(-1, 3, 3)).as_quat()
    return np.asarray(np.roll(q, 1, axis=1).reshape(*turns.shape[:-2], 4))


def multiply(p: Floats, q: Floats) -> Floats:
    """Return the products (...,4) of quaternions."""
    a, u, b, v = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    real = a * b - (u * v).sum(-1, keepdims=True)
    return np.concatenate([real, a * v + b * u + np.cross(u, v)], axis=-1)
