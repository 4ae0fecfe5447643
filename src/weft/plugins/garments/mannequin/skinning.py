"""Skinning: weights by bone heat, and vertices that follow joints by dual quaternions.

Weights are those of Baran & Popović (2007), section 4: the weight w of a bone is the temperature of
the surface if every vertex is heated by its nearest bone, (L + H) w = H p, H = c / d². They are
smooth, sum to one, and follow the surface. A linear blend of matrices loses volume in bent and
twisted joints, whereas a blend of unit dual quaternions (Kavan et al. 2007) is a rigid motion at
every vertex. Quaternions are (w, x, y, z).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.discretization.polygon import triangle_sides
from weft.plugins.garments.mannequin.joints import LIMBS, NAMES, NUMBER, parents

BLOCK = 16  # number of frames that are computed together, which bounds memory

MOST = 4  # largest number of joints of a vertex
HEAT = 1.0  # the constant c
LEAST = 1e-3  # weights below this are zero
Segments = Mapping[int, Sequence[tuple[Floats, Floats]]]


def bones(joints: Floats, ends: Mapping[str, Floats], height: float) -> Segments:
    """Return the segments [m] that every joint moves.

    Args:
        joints: (J,3) [m].
        ends: (3,) [m] ends of head, hands, toes and heels, by name.
        height: [m] of the figure.
    """
    at = {name: joints[NUMBER[name]] for name in NAMES}
    across = np.array([0.06 * height, 0.0, 0.0])
    low = at["pelvis"] - [0, 0.045 * height, 0]
    ribs = at["chest"] + [0, 0.05 * height, 0.004 * height]
    made: dict[int, list[tuple[Floats, Floats]]] = {
        NUMBER["pelvis"]: [
            (at["pelvis"], at["spine"]),
            (low - 0.5 * across, low + 0.5 * across),
            (at["pelvis"] - across, at["pelvis"] + across),
        ],
        NUMBER["spine"]: [(at["spine"], at["chest"])],
        NUMBER["chest"]: [(at["chest"], at["neck"]), (ribs - across, ribs + across)],
        NUMBER["neck"]: [(at["neck"], at["head"])],
        NUMBER["head"]: [(at["head"], ends["head"])],
    }
    for side in ("left_", "right_"):
        for k, name in enumerate(LIMBS):
            after = side + LIMBS[k + 1] if name not in ("wrist", "ball") else ""
            start = at[side + name]
            made[NUMBER[side + name]] = [(start, at[after] if after else ends[side + name])]
        made[NUMBER[side + "ankle"]].append((at[side + "ankle"], ends[side + "heel"]))
    return made


def skin_weights(x: Positions, faces: Faces, segments: Segments) -> tuple[Ints, Floats]:
    """Return the joints that move every vertex, and their weights.

    Args:
        x: (b,3) [m] vertices.
        faces: (m,3).
        segments: of every joint.

    Returns:
        Joints (b,4) in the order of decreasing weight, and weights (b,4), which sum to one.
    """
    from scipy.sparse import diags
    from scipy.sparse.linalg import splu

    distance = np.stack([_to_bone(x, segments[j]) for j in range(len(NAMES))], axis=1)
    nearest = np.argmin(distance, axis=1)
    least = np.maximum(distance[np.arange(len(x)), nearest], 1e-3)
    stiffness, area = cotangents(x, faces)
    heat = HEAT * area / least**2
    source = np.zeros((len(x), len(NAMES)))
    source[np.arange(len(x)), nearest] = heat
    system = (stiffness + diags(heat)).tocsc()
    w = splu(system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(source)
    order = np.argsort(-w, axis=1, kind="stable")[:, : MOST + 1]
    top = np.take_along_axis(w, order, axis=1)
    # Subtract the largest weight that is left out, so that weights stay continuous over the surface
    # where the order of joints changes.
    top = np.maximum(top[:, :MOST] - np.maximum(top[:, MOST:], LEAST), 0.0)
    return order[:, :MOST].astype(np.int32), top / top.sum(1, keepdims=True)


def _to_bone(x: Positions, segments: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Return the distances (b,) [m] to the nearest of a few segments."""
    best = np.full(len(x), np.inf)
    for a, b in segments:
        t = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        best = np.minimum(best, np.linalg.norm(x - a - t[:, None] * (b - a), axis=1))
    return best


def cotangents(x: Positions, faces: Faces) -> tuple[Floats, Floats]:
    """Return the cotangent Laplacian and the areas of vertices of a mesh.

    Cotangents below 0.02, as of obtuse angles, are raised to this value, so that weights stay
    positive.

    Args:
        x: (b,3) [m] vertices.
        faces: (m,3).

    Returns:
        The matrix (b,b), sparse and positive semidefinite, and the areas (b,) [m^2].
    """
    from scipy.sparse import coo_matrix

    n, f = len(x), faces
    rows, cols, values = [], [], []
    area = np.zeros(n)
    twice = np.linalg.norm(np.cross(*triangle_sides(x[f])), axis=1)
    for i in range(3):
        a, b, tip = f[:, (i + 1) % 3], f[:, (i + 2) % 3], f[:, i]
        cot = np.einsum("mi,mi->m", x[a] - x[tip], x[b] - x[tip]) / twice
        half = 0.5 * np.maximum(cot, 0.02)
        rows += [a, b, a, b]
        cols += [b, a, a, b]
        values += [-half, -half, half, half]
        area += np.bincount(tip, twice / 6, n)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(cols)))
    return coo_matrix(entries, shape=(n, n)).tocsc(), area


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
