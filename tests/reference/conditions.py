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
