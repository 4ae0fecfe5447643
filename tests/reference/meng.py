"""Equations of Meng et al. (2025), supplement, as they are printed: an independent formulation."""


def inverse_first(xu, xv, yu, yv):
    """Eq. 3: u_x, u_y, v_x, v_y."""
    det = xu * yv - xv * yu
    return yv / det, -xv / det, -yu / det, xu / det


def inverse_second(xu, xv, yu, yv, xuu, xuv, xvv, yuu, yuv, yvv):
    """Eq. 5: u_xx, u_yy, u_xy; v's by exchanging u and v."""

    def of(ux, uy, xu, xv, yu, yv, xuu, xuv, xvv, yuu, yuv, yvv):
        det_sq = (xv * yu - xu * yv) ** 2
        xx = ux * (xuu * yv**2 - 2 * xuv * yu * yv + xvv * yu**2)
        xx += uy * (yuu * yv**2 - 2 * yuv * yu * yv + yvv * yu**2)
        xy = ux * (xu * xuv * yv - xu * xvv * yu + xv * xuv * yu - xv * xuu * yv)
        xy += uy * (xu * yuv * yv - xu * yvv * yu + xv * yu * yuv - xv * yv * yuu)
        yy = ux * (xuu * xv**2 - 2 * xuv * xu * xv + xvv * xu**2)
        yy += uy * (yvv * xu**2 - 2 * yuv * xu * xv + yuu * xv**2)
        return -xx / det_sq, -yy / det_sq, -xy / det_sq

    ux, uy, vx, vy = inverse_first(xu, xv, yu, yv)
    u = of(ux, uy, xu, xv, yu, yv, xuu, xuv, xvv, yuu, yuv, yvv)
    v = of(vx, vy, xv, xu, yv, yu, xvv, xuv, xuu, yvv, yuv, yuu)
    return u, v


def laplacian(first, second, f):
    """Eq. 17 from (u_1, u_2, v_1, v_2), ((u_11, u_22, u_12), (v_11, v_22, v_12)) and f_uu, ..."""
    u1, u2, v1, v2 = first
    (u11, u22, _), (v11, v22, _) = second
    fu, fv, fuu, fvv, fuv = f
    return (
        (u1**2 + u2**2) * fuu
        + (v1**2 + v2**2) * fvv
        + 2 * (u1 * v1 + u2 * v2) * fuv
        + (u11 + u22) * fu
        + (v11 + v22) * fv
    )
