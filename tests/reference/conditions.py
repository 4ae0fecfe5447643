"""Baraff & Witkin's (1998) condition functions on one triangle, as Pritchard (2012) writes them
out.

w_u = ((x1-x0) dv2 - (x2-x0) dv1)/(du1 dv2 - du2 dv1), and the energy alpha-free: area times
1/2 k (|w| - b)^2 and 1/2 ks (w_u . w_v)^2. It never forms F or an inverse matrix.
"""

import numpy as np


def energy(x, uv, stretch, shear, rest=(1.0, 1.0)):
    """[J] of a triangle with corners x (3,3) and material coordinates uv (3,2)."""
    (du1, dv1), (du2, dv2) = uv[1] - uv[0], uv[2] - uv[0]
    determinant = du1 * dv2 - du2 * dv1
    w_u = ((x[1] - x[0]) * dv2 - (x[2] - x[0]) * dv1) / determinant
    w_v = ((x[2] - x[0]) * du1 - (x[1] - x[0]) * du2) / determinant
    c_u, c_v = np.linalg.norm(w_u) - rest[0], np.linalg.norm(w_v) - rest[1]
    density = 0.5 * (stretch[0] * c_u**2 + stretch[1] * c_v**2 + shear * (w_u @ w_v) ** 2)
    return 0.5 * abs(determinant) * density


def derivatives(x, uv, stretch, shear, rest=(1.0, 1.0)):
    """Force (3,3) [N] and Jacobian df/dx (9,9) [N/m] of a triangle with alpha = a^(1/2).

    f_m = -k C dC/dx_m and df_m/dx_n = -k (dC_m dC_n^T + C d2C_mn), from eqs. 13-18 and 19-23.
    """
    (du1, dv1), (du2, dv2) = uv[1] - uv[0], uv[2] - uv[0]
    determinant = du1 * dv2 - du2 * dv1
    alpha = np.sqrt(0.5 * abs(determinant))
    d_u = np.array([dv1 - dv2, dv2, -dv1]) / determinant  # eqs. 6-8
    d_v = np.array([du2 - du1, -du2, du1]) / determinant  # eqs. 10-12
    w_u, w_v = d_u @ x, d_v @ x
    force, jacobian = np.zeros((3, 3)), np.zeros((3, 3, 3, 3))
    for k, b, w, d in ((stretch[0], rest[0], w_u, d_u), (stretch[1], rest[1], w_v, d_v)):
        length = np.linalg.norm(w)
        n = w / length
        C = alpha * (length - b)
        dC = alpha * np.outer(d, n)  # eqs. 14, 16
        across = alpha / length * (np.eye(3) - np.outer(n, n))
        ddC = np.einsum("m,n,ij->minj", d, d, across)  # eqs. 15, 17
        force -= k * C * dC
        jacobian -= k * (np.einsum("mi,nj->minj", dC, dC) + C * ddC)
    C = alpha * (w_u @ w_v)
    dC = alpha * (np.outer(d_u, w_v) + np.outer(d_v, w_u))  # eq. 21
    both = np.outer(d_u, d_v) + np.outer(d_v, d_u)
    ddC = alpha * np.einsum("mn,ij->minj", both, np.eye(3))  # eq. 23
    force -= shear * C * dC
    jacobian -= shear * (np.einsum("mi,nj->minj", dC, dC) + C * ddC)
    return force, jacobian.reshape(9, 9)
