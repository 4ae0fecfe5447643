"""Stiffness-proportional (Rayleigh) damping of membranes, with the stiffness frozen per step.

Rayleigh damping adds the force -beta K_n v, with K_n the stiffness at the start of the step. As a
potential of a step that is beta/(2h) u.K_n u with u = x - x_n. But u is not small when cloth
rotates: the chord of a rotation by angle a shortens by a^2/2, and K_n would resist that. So u is
measured by strain instead, which rigid motion does not change: beta/(2h) (e - e_n).C_n (e - e_n)
per sample, with e Green's strain and C_n the Gauss-Newton Hessian of the law at x_n in strain
space, C_n = G B H B^T G with B = de/dF and G = (B B^T)^-1. At x_n its Hessian is beta/h K_n
(Gauss-Newton). Methods of two steps measure strain from (1 + a) e_n - a e_(n-1).
"""

import warp as wp

from weft.kernel import Mat32Array, Mat33Array2d, Scalar
from weft.laws.viscous import ViscousParams, strain, strain_gradient

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
    frozen = ViscousParams()
    frozen.tangent = Scalar(0.5) * (C + wp.transpose(C))  # C is symmetric up to round-off
    frozen.start = strain(F[q])
    p[q] = frozen


@wp.kernel(module=_module)
def extrapolate_strain(o: int, F: Mat32Array, past: Scalar, p: wp.array(dtype=ViscousParams)):
    """Replace e_n by e_n + past (e_n - e_(n-1)), with F of x_(n-1)."""
    q = o + wp.tid()
    frozen = p[q]
    e = frozen.start
    frozen.start = e + past * (e - strain(F[q]))
    p[q] = frozen
