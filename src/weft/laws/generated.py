"""Generated derivatives of laws that give only psi, or psi and its stress.

The stress is Warp's adjoint of psi, the Hessian consists of central differences of the stress, and
its clamp is numeric. The kernels with adjoints live in a module of their own that never calls psi
forward, because Warp may silently leave the adjoints of psi's helper functions empty in a module
that has both. ``own`` checks the resulting derivatives in any case.
"""

from collections.abc import Mapping

import warp as wp

from weft.kernel import Kernel, Mat32Array, Mat33Array2d, Scalar, mat32, mat33
from weft.laws.functions import LawFunctions
from weft.solve.newton.psd import Psd

# Step of F in the difference quotients, whose error is then about 1e-10 of the stiffness.
STEP = Scalar(4e-6)
PROJECTED = 1  # Hessians are clamped for Psd.PROJECTED and above

mat66 = wp.types.matrix(shape=(6, 6), dtype=Scalar)


@wp.func
def clamp6(H: mat66, n: int):
    """Return a symmetric matrix with its negative eigenvalues set to zero, by Jacobi's method.

    n must be 6. It is an argument, not a constant, so that the compiler keeps the loops rolled and
    compiles quickly.
    """
    A = mat66(H)
    V = wp.identity(n=6, dtype=Scalar)
    size = Scalar(0.0)
    for i in range(n):
        size = wp.max(size, wp.abs(A[i, i]))
        for j in range(n):
            size = wp.max(size, wp.abs(A[i, j]))
    for _sweep in range(2 * n):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if wp.abs(A[p, q]) > Scalar(1e-17) * size:
                    theta = (A[q, q] - A[p, p]) / (Scalar(2.0) * A[p, q])
                    t = Scalar(1.0) / (wp.abs(theta) + wp.sqrt(theta * theta + Scalar(1.0)))
                    if theta < Scalar(0.0):
                        t = -t
                    c = Scalar(1.0) / wp.sqrt(t * t + Scalar(1.0))
                    s = t * c
                    for k in range(n):
                        x = A[k, p]
                        y = A[k, q]
                        A[k, p] = c * x - s * y
                        A[k, q] = s * x + c * y
                    for k in range(n):
                        x = A[p, k]
                        y = A[q, k]
                        A[p, k] = c * x - s * y
                        A[q, k] = s * x + c * y
                    for k in range(n):
                        x = V[k, p]
                        y = V[k, q]
                        V[k, p] = c * x - s * y
                        V[k, q] = s * x + c * y
    out = mat66(H)
    for i in range(n):
        for j in range(n):
            sum = Scalar(0.0)
            for k in range(n):
                sum += wp.max(A[k, k], Scalar(0.0)) * V[i, k] * V[j, k]
            out[i, j] = sum
    return out


@wp.func
def set_column(H: mat66, c: int, P: mat32, scale: Scalar):
    """Return H with column c set to ``scale`` times P, a difference of stresses."""
    out = mat66(H)
    for i in range(3):
        out[i, c] = scale * P[i, 0]
        out[i + 3, c] = scale * P[i, 1]
    return out


@wp.func
def finish(H: mat66, psd: int, n: int):
    """Return H made symmetric, and clamped if psd asks for it, as (uu, uv, vv)."""
    S = Scalar(0.5) * (H + wp.transpose(H))
    if psd >= PROJECTED:
        S = clamp6(S, n)
    uu = mat33(Scalar(0.0))
    uv = mat33(Scalar(0.0))
    vv = mat33(Scalar(0.0))
    for i in range(3):
        for j in range(3):
            uu[i, j] = S[i, j]
            uv[i, j] = S[i, j + 3]
            vv[i, j] = S[i + 3, j + 3]
    return uu, uv, vv


def stress_kernel(functions: LawFunctions) -> Kernel:
    """Build the kernel of the stress as the adjoint of psi."""
    Params, psi = functions.Params, functions.psi
    module = wp.get_module(f"weft.law.{functions.name}.adjoint")

    @wp.kernel(module=module)
    def pk1(o: int, F: Mat32Array, p: wp.array(dtype=Params), add: int, out: Mat32Array):
        q = o + wp.tid()
        P, _dp = wp.grad(psi)(F[q], p[q])
        if add != 0:
            P += out[q]
        out[q] = P

    return pk1


def hessian_kernels(functions: LawFunctions, modes: Mapping[Psd, int]) -> dict[Psd, Kernel]:
    """Build Hessian kernels, one per mode, from differences of the given or generated stress."""
    return {psd: _hessian_kernel(functions, mode) for psd, mode in modes.items()}


def _hessian_kernel(functions: LawFunctions, mode: int) -> Kernel:
    """Build the Hessian kernel of one mode, from adjoints of psi or from a given stress."""
    Params, psi, given = functions.Params, functions.psi, functions.pk1

    if given is None:

        @wp.kernel(module=wp.get_module(f"weft.law.{functions.name}.adjoint"))
        def hessian(
            o: int, F: Mat32Array, p: wp.array(dtype=Params), add: int, out: Mat33Array2d, six: int
        ):
            q = o + wp.tid()
            H = mat66(Scalar(0.0))
            for c in range(six):
                d = mat32(Scalar(0.0))
                d[c % 3, c / 3] = STEP
                high, _ph = wp.grad(psi)(F[q] + d, p[q])
                low, _pl = wp.grad(psi)(F[q] - d, p[q])
                H = set_column(H, c, high - low, Scalar(0.5) / STEP)
            uu, uv, vv = finish(H, mode, six)
            if add != 0:
                uu += out[q, 0]
                uv += out[q, 1]
                vv += out[q, 2]
            out[q, 0] = uu
            out[q, 1] = uv
            out[q, 2] = vv

        return hessian

    @wp.kernel(module=wp.get_module(f"weft.law.{functions.name}.differences"))
    def hessian_of_stress(
        o: int, F: Mat32Array, p: wp.array(dtype=Params), add: int, out: Mat33Array2d, six: int
    ):
        q = o + wp.tid()
        H = mat66(Scalar(0.0))
        for c in range(six):
            d = mat32(Scalar(0.0))
            d[c % 3, c / 3] = STEP
            H = set_column(H, c, given(F[q] + d, p[q]) - given(F[q] - d, p[q]), Scalar(0.5) / STEP)
        uu, uv, vv = finish(H, mode, six)
        if add != 0:
            uu += out[q, 0]
            uv += out[q, 1]
            vv += out[q, 2]
        out[q, 0] = uu
        out[q, 1] = uv
        out[q, 2] = vv

    return hessian_of_stress
