"""The exact second derivative of the barrier, in NumPy: what ``contact.barrier.exact_hessian`` is
held against.

From the formulas of ``contact.distance.distance`` for D and the gradient of the barrier times its
mollifier, by complex steps, which have no error of a difference.
"""

import numpy as np

STEP = 1e-30


def barrier_hessian(corners, touch, points):
    """(m,4,4,3,3) [N/m].

    Args:
        corners: (m,4,3) [m].
        touch: (m,) records of ``BarrierParameters``.
        points: what ``closest_of`` says.
    """
    H = np.zeros((len(corners), 12, 12))
    for k in range(12):
        x = corners.reshape(-1, 12).astype(complex)
        x[:, k] += 1j * STEP
        g = _gradient(x.reshape(-1, 4, 3), touch, points)
        H[:, :, k] = g.reshape(-1, 12).imag / STEP
    return H.reshape(-1, 4, 3, 4, 3).transpose(0, 1, 3, 2, 4)


def _gradient(x, touch, points):
    """(m,4,3) [N] at the points of x that are closest, where ``points`` are nearly so."""
    _, w, free, dw = points
    w = w.astype(complex)
    for count in (1, 2):
        rows = np.flatnonzero(free == count)
        ways = dw[rows, :count]
        T = np.einsum("mka,mai->mki", ways, x[rows])
        off = np.einsum("mki,ma,mai->mk", T, w[rows], x[rows])
        part = np.linalg.solve(np.einsum("mki,mli->mkl", T, T), off[..., None])[..., 0]
        w[rows] -= np.einsum("mk,mka->ma", part, ways)
    v = np.einsum("ma,mai->mi", w, x)
    y = (v * v).sum(1) - touch["thickness"] ** 2
    Y = touch["gap"] * (touch["gap"] + 2 * touch["thickness"])
    inside, log = y.real < Y, np.log(y / Y)
    value = np.where(inside, -((y - Y) ** 2) * log, 0)
    slope = np.where(inside, (Y - y) * (2 * log - Y / y + 1), 0)
    m, dm = _mollifier(x, touch["parallel"])
    dD = 2 * w[:, :, None] * v[:, None]
    g = (m * slope)[:, None, None] * dD + value[:, None, None] * dm
    return touch["stiffness"][:, None, None] * g


def _mollifier(x, threshold):
    """m (n,) and dm/dx (n,4,3)."""
    e, f = x[:, 1] - x[:, 0], x[:, 3] - x[:, 2]
    ee, ff, ef = ((p * q).sum(1)[:, None] for p, q in ((e, e), (f, f), (e, f)))
    eps = np.where(threshold > 0, threshold, 1.0)
    r = (ee * ff - ef**2)[:, 0] / eps
    active = (threshold > 0) & (r.real < 1)
    first = np.where(active, (2 - 2 * r) / eps, 0)[:, None, None]
    by_e, by_f = 2 * (ff * e - ef * f), 2 * (ee * f - ef * e)
    dm = first * np.stack([-by_e, by_e, -by_f, by_f], axis=1)
    return np.where(active, r * (2 - r), 1), dm
