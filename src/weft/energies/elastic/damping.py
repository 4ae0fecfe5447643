"""Stiffness-proportional (Rayleigh) damping of membranes, with the stiffness frozen per step.

Rayleigh damping adds the force -beta K_n v, with K_n the stiffness at the start of the step. As a
potential of a step that is beta/(2h) u.K_n u with u = x - x_n. But u is not small when cloth
rotates: the chord of a rotation by angle a shortens by a^2/2, and K_n would resist that. So u is
measured by strain instead, which rigid motion does not change: beta/(2h) (e - e_n).C_n (e - e_n)
per sample, with e Green's strain and C_n the Gauss-Newton Hessian of the law at x_n in strain
space, C_n = G B H B^T G with B = de/dF and G = (B B^T)^-1. At x_n its Hessian is beta/h K_n
(Gauss-Newton). Methods of two steps measure strain from (1 + a) e_n - a e_(n-1).
"""

from collections.abc import Sequence

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Gradients
from weft.kernel import Mat32Array, Mat33Array2d, Scalar, WarpArray, mat32, mat33
from weft.laws.base import Law
from weft.laws.viscous import ViscousParams, strain, strain_gradient
from weft.solve.newton.psd import Psd

# Multiple of its trace that is added to B B^T, which is singular for a collapsed triangle.
REGULARIZATION = Scalar(1e-9)

_module = wp.get_module("weft.damping")


@wp.kernel(module=_module)
def freeze_tangent(
    o: int, F: Mat32Array, H: Mat33Array2d, scale: Scalar, p: wp.array(dtype=ViscousParams)
):
    """Compute C_n = scale G B H B^T G and e_n of every sample."""
    q = o + wp.tid()
    B0, B1 = strain_gradient(F[q])
    B0t = wp.transpose(B0)
    B1t = wp.transpose(B1)
    uv = H[q, 1]
    M = B0t * H[q, 0] * B0 + B0t * uv * B1 + B1t * wp.transpose(uv) * B0 + B1t * H[q, 2] * B1
    G = B0t * B0 + B1t * B1
    G = wp.inverse(
        G + (REGULARIZATION * wp.trace(G) + Scalar(1e-30)) * wp.identity(n=3, dtype=Scalar)
    )
    C = scale * (G * M * G)
    p[q].tangent = Scalar(0.5) * (C + wp.transpose(C))  # C is symmetric up to round-off
    p[q].start = strain(F[q])


@wp.kernel(module=_module)
def extrapolate_strain(o: int, F: Mat32Array, past: Scalar, p: wp.array(dtype=ViscousParams)):
    """Replace e_n by e_n + past (e_n - e_(n-1)), with F of x_(n-1)."""
    q = o + wp.tid()
    e = p[q].start
    p[q].start = e + past * (e - strain(F[q]))


def frozen_tangent(law: Law, parameters: Sequence[WarpArray], F: Gradients, scale: float) -> Floats:
    """Return C_n, (q,3,3), of a law and its parameters at F (q,3,2), times ``scale``."""
    q = len(F)
    at, H, p = kernel.array(F, mat32), kernel.empty((q, 3), mat33), kernel.zeros(q, ViscousParams)
    stages = law.stages(Psd.GAUSS_NEWTON, at, parameters, H)
    kernel.launch_each(q, *stages, (freeze_tangent, at, H, Scalar(scale), p))
    return np.array(kernel.numpy(p)["tangent"])


def green_strain(F: Gradients) -> Floats:
    """Return e(F) = (f0.f0/2, f1.f1/2, f0.f1), (q,3), in NumPy."""
    f0, f1 = F[:, :, 0], F[:, :, 1]
    e = [0.5 * (f0 * f0).sum(1), 0.5 * (f1 * f1).sum(1), (f0 * f1).sum(1)]
    return np.stack(e, axis=1)


def strain_slope(F: Gradients, L: Gradients) -> Floats:
    """Return the derivative of e(F) along L (q,3,2), (q,3)."""
    f0, f1, l0, l1 = F[:, :, 0], F[:, :, 1], L[:, :, 0], L[:, :, 1]
    e = [(f0 * l0).sum(1), (f1 * l1).sum(1), (f0 * l1).sum(1) + (f1 * l0).sum(1)]
    return np.stack(e, axis=1)
