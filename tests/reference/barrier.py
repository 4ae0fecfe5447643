"""The exact second derivative of the barrier, in NumPy: what ``contact.barrier.exact_hessian`` is
held against.

From the formulas of ``contact.distance.distance`` for D, and the product rule with the mollifier.
"""

from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints


def barrier_hessian(
    corners: Floats, touch: Any, points: tuple[Floats, Floats, Ints, Floats]
) -> Floats:
    """(m,4,4,3,3) [N/m].

    Args:
        corners: (m,4,3) [m].
        touch: (m,) records of ``BarrierParameters``.
        points: what ``closest_of`` says.
    """
    _, w, free, dw = points
    v = np.einsum("ma,mai->mi", w, corners)
    y = (v * v).sum(1) - touch["thickness"] ** 2
    Y = touch["gap"] * (touch["gap"] + 2 * touch["thickness"])
    inside = y < Y
    q, log = Y / y, np.log(y / Y)
    value = np.where(inside, -((y - Y) ** 2) * log, 0)
    slope = np.where(inside, (Y - y) * (2 * log - q + 1), 0)
    second = np.where(inside, (q + 2) * q - 2 * log - 3, 0)
    dD = 2 * np.einsum("ma,mi->mai", w, v).reshape(-1, 12)
    d2D = 2 * np.einsum("ma,mb,ij->maibj", w, w, np.eye(3)).reshape(-1, 12, 12)
    t = np.einsum("mka,mai->mki", dw, corners)
    for count in (1, 2):
        rows = np.flatnonzero(free == count)
        if len(rows):
            T, W = t[rows, :count], dw[rows, :count]
            c = np.einsum("mka,mi->mkai", W, v[rows]) + np.einsum("ma,mki->mkai", w[rows], T)
            c = c.reshape(len(rows), count, 12)
            inverse = np.linalg.inv(np.einsum("mki,mli->mkl", T, T))
            d2D[rows] -= 2 * np.einsum("mki,mkl,mlj->mij", c, inverse, c)
    db = slope[:, None] * dD
    d2b = second[:, None, None] * np.einsum("mi,mj->mij", dD, dD) + slope[:, None, None] * d2D
    m, dm, d2m = _mollifier(corners, touch["parallel"])
    H = m[:, None, None] * d2b + value[:, None, None] * d2m
    mixed = np.einsum("mi,mj->mij", dm, db)
    H += mixed + np.swapaxes(mixed, 1, 2)
    H *= touch["stiffness"][:, None, None]
    return np.asarray(H.reshape(-1, 4, 3, 4, 3).transpose(0, 1, 3, 2, 4))


def _mollifier(corners: Floats, threshold: Floats) -> tuple[Floats, Floats, Floats]:
    """m (n,), dm/dx (n,12) and d2m/dx2 (n,12,12)."""
    n = len(corners)
    e, f = corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 2]
    ee, ff, ef = ((p * q).sum(1) for p, q in ((e, e), (f, f), (e, f)))
    eps = np.where(threshold > 0, threshold, 1.0)
    r = (ee * ff - ef**2) / eps
    active = (threshold > 0) & (r < 1)
    m, first, second = np.ones(n), np.zeros(n), np.zeros(n)
    m[active], first[active] = (r * (2 - r))[active], ((2 - 2 * r) / eps)[active]
    second[active] = (-2 / eps**2)[active]
    dC = np.concatenate(
        [2 * (ff[:, None] * e - ef[:, None] * f), 2 * (ee[:, None] * f - ef[:, None] * e)], axis=1
    )
    I3 = np.eye(3)

    def outer(p: Floats, q: Floats) -> Floats:
        return np.asarray(np.einsum("mi,mj->mij", p, q))

    uu = 2 * (ff[:, None, None] * I3 - outer(f, f))
    vv = 2 * (ee[:, None, None] * I3 - outer(e, e))
    uv = 4 * outer(e, f) - 2 * outer(f, e) - 2 * ef[:, None, None] * I3
    d2C = np.concatenate(
        [np.concatenate([uu, uv], 2), np.concatenate([np.swapaxes(uv, 1, 2), vv], 2)], axis=1
    )
    J = np.kron(np.array([[-1, 1, 0, 0], [0, 0, -1, 1]]), I3)  # (6,12): e and f of the corners
    dm = first[:, None] * (dC @ J)
    d2 = second[:, None, None] * outer(dC, dC) + first[:, None, None] * d2C
    return m, dm, np.asarray(np.einsum("ai,mab,bj->mij", J, d2, J))
