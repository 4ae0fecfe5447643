"""Mixed derivatives of laws: of the stress and of the Hessian, by the parameters p of the law.

The derivatives are contracted: d(P(F; p) : L)/dp for the stress P, and d(H(F; p) : A)/dp for the
Gauss-Newton Hessian H that damping freezes. Warp's reverse mode of these contractions is exact to
round-off, whatever role p plays (stiffness, stretch at rest, knots of a curve). Derivatives that
are generated (``generated``) cannot be reversed, because they are a reverse mode already, or
differences. For them the reverse mode of psi by p, which is exact as well, is differentiated by F
with six- and seven-point difference formulas: errors are 1e-12 for the first derivative and 1e-9
for the second (``tests/engine/laws/test_mixed.py``).
"""

from collections.abc import Mapping

import numpy as np

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Gradients
from weft.kernel import Kernel, WarpArray, mat32, mat33
from weft.laws.base import SingleLaw, law_kernels
from weft.solve.newton.psd import Psd

# Distances between the points of the difference formulas, in F, which has no unit.
FIRST, SECOND = 2e-3, 2e-2
# Weights of the first derivative at the points 1, 2, 3; the points -1, -2, -3 have the negatives.
SIX = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
# Weights of the second derivative at the points 0 to 3; the points -1, -2, -3 have the same.
SEVEN = {0: -49 / 18, 1: 3 / 2, 2: -3 / 20, 3: 1 / 90}
Contracted = Mapping[str, Floats]  # by field of Params, (q,...)


def constants_of(records: AnyArray) -> Contracted:
    """Return the real-valued fields of ``Params`` records by name, (q,...).

    Integer fields are left out, because no derivative by them exists. Infinite values (unused knots
    of a curve) are replaced by 0.
    """
    names = records.dtype.names or ()
    kinds = {name: records.dtype[name].base.kind for name in names}
    found = {name: np.array(records[name]) for name in names if kinds[name] == "f"}
    return {name: np.where(np.isfinite(v), v, 0.0) for name, v in found.items()}


def stress_by_parameters(
    part: SingleLaw, F: Gradients, parameters: WarpArray, L: Gradients
) -> Contracted:
    """Return d(P : L)/dp by field of ``Params``, (q,...).

    Args:
        part: the law.
        F: (q,3,2) deformation gradients.
        parameters: (q,) Params on the device.
        L: (q,3,2) direction that the stress P is contracted with.
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
    out = kernel.track(kernel.empty(len(F), mat32), L)
    return _reverse(law_kernels(part.functions).pk1, F, parameters, out)


def hessian_by_parameters(
    part: SingleLaw, F: Gradients, parameters: WarpArray, A: Floats
) -> Contracted:
    """Return d(uu : A_0 + uv : A_1 + vv : A_2)/dp by field of ``Params``, (q,...).

    uu, uv, vv are the blocks of the Gauss-Newton Hessian; of a generated Hessian, of the clamped
    one.

    Args:
        part: the law.
        F: (q,3,2) deformation gradients.
        parameters: (q,) Params on the device.
        A: (q,3,3,3) matrices that the blocks are contracted with.
    """
    if part.functions.hessian is None:
        return _of_generated(part, F, parameters, A)
    out = kernel.track(kernel.empty((len(F), 3), mat33), A)
    evaluate = law_kernels(part.functions).hessian[Psd.GAUSS_NEWTON]
    return _reverse(evaluate, F, parameters, out)


def _of_generated(part: SingleLaw, F: Gradients, parameters: WarpArray, A: Floats) -> Contracted:
    """Return the derivative of H_+ : A by p, where H_+ is the clamped generated Hessian.

    d(H_+) : A = dH : B, B = V (G o V^T A V) V^T for H = V diag(l) V^T and G_ij = (l_i+ - l_j+)/(l_i
    - l_j) (Daleckii & Krein). With B = sum_k b_k u_k u_k^T this is the sum of b_k times second
    derivatives along u_k.
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
    """Return symmetric matrices (q,6,6) on vec(F) = (f0, f1) of the blocks (uu, uv, vv).

    The blocks off the diagonal are ``across`` times uv; the others are made symmetric.
    """
    uu, uv, vv = np.moveaxis(blocks, 1, 0)
    out = np.block([[uu, across * uv], [across * np.swapaxes(uv, 1, 2), vv]])
    return np.asarray(0.5 * (out + np.swapaxes(out, 1, 2)))


def _add(found: dict[str, Floats], weight: Floats, more: Contracted) -> None:
    """Add ``weight`` times the arrays of ``more`` to those of ``found``, by name."""
    for name, values in more.items():
        scaled = weight.reshape(-1, *[1] * (values.ndim - 1)) * values
        found[name] = found[name] + scaled if name in found else scaled


def _of_psi(part: SingleLaw, F: Gradients, parameters: WarpArray) -> Contracted:
    """Return d psi/dp by field of ``Params``, (q,...)."""
    out = kernel.track(kernel.empty(len(F)), np.ones(len(F)))
    return _reverse(law_kernels(part.functions).psi, F, parameters, out)


def _reverse(evaluate: Kernel, F: Gradients, parameters: WarpArray, out: WarpArray) -> Contracted:
    """Return derivatives by field of ``Params`` from those by what a law's kernel writes."""
    p = kernel.track(parameters)
    kernel.pull_back(evaluate, len(F), kernel.array(F, mat32), p, 0, out)
    return constants_of(kernel.derivatives(p))
