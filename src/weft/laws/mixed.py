"""Mixed derivatives of a law: of its stress, and of the Gauss-Newton Hessian that damping freezes,
by the numbers p of its ``Params``, contracted: d(P(F; p) : L)/dp and d(H(F; p) : A)/dp.

Warp's reverse mode of these contractions is exact to round-off, whatever p does in them (stiffness,
stretch at rest, knots of a curve). Where derivatives are generated (``generated``) there is nothing
to reverse: a reverse mode already, or differences. There the reverse mode of psi by p, exact as
well, is differentiated by F from six and seven points: 1e-12 of the first, 1e-9 of the second
(``tests/laws/test_mixed.py``).
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Gradients
from weft.kernel import WarpArray, mat32, mat33
from weft.laws.base import LawFunctions, SingleLaw
from weft.solve.newton.psd import Psd

FIRST, SECOND = 2e-3, 2e-2  # of F, which has no unit, between points of differences
SIX = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # odd in the place
SEVEN = {0: -49 / 18, 1: 3 / 2, 2: -3 / 20, 3: 1 / 90}  # even
GAUSS_NEWTON = int(Psd.GAUSS_NEWTON)
Contracted = Mapping[str, Floats]  # by field of Params, (q,...)


def constants_of(records: "np.ndarray[Any, Any]") -> Contracted:
    """By field, (q,...) what of ``Params`` are numbers that may change a little; 0 where one is
    infinite (knots that a curve has not).
    """
    names = records.dtype.names or ()
    kinds = {name: records.dtype[name].base.kind for name in names}
    found = {name: np.array(records[name]) for name in names if kinds[name] == "f"}
    return {name: np.where(np.isfinite(v), v, 0.0) for name, v in found.items()}


def of_stress(part: SingleLaw, F: Gradients, parameters: WarpArray, L: Gradients) -> Contracted:
    """d(P : L)/dp.

    Args:
        part: of a law.
        F: (q,3,2).
        parameters: (q,) Params on the device.
        L: (q,3,2).
    """
    if part.functions.pk1 is None:
        size = np.linalg.norm(L, axis=(1, 2))
        way = FIRST * L / np.where(size > 0, size, 1.0)[:, None, None]
        found: dict[str, Floats] = {}
        for k, weight in SIX.items():
            for sign in (1, -1):
                psi = _of_psi(part, F + sign * k * way, parameters)
                _add(found, sign * weight * size / FIRST, psi)
        return found
    out = kernel.zeros(len(F), part.functions.Params)
    arrays = (kernel.array(F, mat32), parameters, kernel.array(L, mat32), out)
    kernel.launch(_stress(part.functions), len(F), *arrays)
    return constants_of(kernel.numpy(out))


def of_tangent(part: SingleLaw, F: Gradients, parameters: WarpArray, A: Floats) -> Contracted:
    """d(uu : A_0 + uv : A_1 + vv : A_2)/dp of the Gauss-Newton Hessian; of a generated one, of the
    clamped one.

    Args:
        part: of a law.
        F: (q,3,2).
        parameters: (q,) Params on the device.
        A: (q,3,3,3).
    """
    if part.functions.hessian is None:
        return _of_generated(part, F, parameters, A)
    out = kernel.zeros(len(F), part.functions.Params)
    arrays = (kernel.array(F, mat32), parameters, kernel.array(A, mat33), out)
    kernel.launch(_tangent(part.functions), len(F), *arrays)
    return constants_of(kernel.numpy(out))


def _of_generated(part: SingleLaw, F: Gradients, parameters: WarpArray, A: Floats) -> Contracted:
    """H_+ : A, with d(H_+) : A = dH : B, B = V (G o V^T A V) V^T for H = V diag(l) V^T and G_ij =
    (l_i+ - l_j+)/(l_i - l_j) (Daleckii & Krein). With B = sum_k b_k u_k u_k^T that is the sum of
    b_k times second derivatives along u_k.
    """
    q = len(F)
    H = kernel.empty((q, 3), mat33)
    kernel.launch_each(q, *part.stages(Psd.EXACT, kernel.array(F, mat32), (parameters,), H))
    values, V = np.linalg.eigh(_six(np.array(kernel.numpy(H)), 1.0))
    B = np.swapaxes(V, 1, 2) @ _six(A, 0.5) @ V
    apart = values[:, :, None] - values[:, None]
    kept = np.maximum(values, 0.0)
    inside = np.abs(apart) < 1e-12 * np.abs(values).max(axis=1)[:, None, None]
    slope = (kept[:, :, None] - kept[:, None]) / np.where(inside, 1.0, apart)
    B = V @ (np.where(inside, values[:, :, None] > 0, slope) * B) @ np.swapaxes(V, 1, 2)
    weights, ways = np.linalg.eigh(B)
    found: dict[str, Floats] = {}
    for k in range(6):
        way = SECOND * np.swapaxes(ways[:, :, k].reshape(q, 2, 3), 1, 2)
        for place, weight in SEVEN.items():
            for sign in (1, -1) if place else (1,):
                psi = _of_psi(part, F + sign * place * way, parameters)
                _add(found, weight * weights[:, k] / SECOND**2, psi)
    return found


def _six(blocks: Floats, across: float) -> Floats:
    """(q,6,6) symmetric, of (uu, uv, vv) on vec(F) = (f0, f1); ``across`` times uv off the
    diagonal, and the symmetric part of the others.
    """
    uu, uv, vv = np.moveaxis(blocks, 1, 0)
    out = np.block([[uu, across * uv], [across * np.swapaxes(uv, 1, 2), vv]])
    return np.asarray(0.5 * (out + np.swapaxes(out, 1, 2)))


def _add(found: dict[str, Floats], weight: Floats, more: Contracted) -> None:
    for name, values in more.items():
        scaled = weight.reshape(-1, *[1] * (values.ndim - 1)) * values
        found[name] = found[name] + scaled if name in found else scaled


def _of_psi(part: SingleLaw, F: Gradients, parameters: WarpArray) -> Contracted:
    """d psi/dp."""
    out = kernel.zeros(len(F), part.functions.Params)
    kernel.launch(_energy(part.functions), len(F), kernel.array(F, mat32), parameters, out)
    return constants_of(kernel.numpy(out))


@cache
def _stress(functions: LawFunctions) -> Any:
    """Kernel (o, F, p, L, out)."""
    Params, pk1 = functions.Params, functions.pk1

    @wp.func
    def contracted(F: mat32, p: Params, L: mat32):
        return wp.ddot(pk1(F, p), L)

    @wp.kernel(module=wp.get_module(f"weft.law.{functions.name}.mixed"))
    def mixed(
        o: int,
        F: wp.array(dtype=mat32),
        p: wp.array(dtype=Params),
        L: wp.array(dtype=mat32),
        out: wp.array(dtype=Params),
    ):
        q = o + wp.tid()
        _dF, dp, _dL = wp.grad(contracted)(F[q], p[q], L[q])
        out[q] = dp

    return mixed


@cache
def _tangent(functions: LawFunctions) -> Any:
    """Kernel (o, F, p, A (q,3), out)."""
    Params, hessian = functions.Params, functions.hessian

    @wp.func
    def contracted(F: mat32, p: Params, A0: mat33, A1: mat33, A2: mat33):
        uu, uv, vv = hessian(F, p, GAUSS_NEWTON)
        return wp.ddot(uu, A0) + wp.ddot(uv, A1) + wp.ddot(vv, A2)

    @wp.kernel(module=wp.get_module(f"weft.law.{functions.name}.mixed_tangent"))
    def mixed(
        o: int,
        F: wp.array(dtype=mat32),
        p: wp.array(dtype=Params),
        A: wp.array2d(dtype=mat33),
        out: wp.array(dtype=Params),
    ):
        q = o + wp.tid()
        _dF, dp, _a, _b, _c = wp.grad(contracted)(F[q], p[q], A[q, 0], A[q, 1], A[q, 2])
        out[q] = dp

    return mixed


@cache
def _energy(functions: LawFunctions) -> Any:
    """Kernel (o, F, p, out): d psi/dp."""
    Params, psi = functions.Params, functions.psi

    @wp.kernel(module=wp.get_module(f"weft.law.{functions.name}.mixed_energy"))
    def mixed(
        o: int, F: wp.array(dtype=mat32), p: wp.array(dtype=Params), out: wp.array(dtype=Params)
    ):
        q = o + wp.tid()
        _dF, dp = wp.grad(psi)(F[q], p[q])
        out[q] = dp

    return mixed
