"""Warp functions that a law consists of."""

from dataclasses import dataclass

from weft.kernel import WarpFunction, WarpStruct


@dataclass(frozen=True)
class LawFunctions:
    """Warp functions of a law; all instances of the law share one record.

    The functions are ``psi(F, p) -> Scalar``, ``pk1(F, p) -> mat32`` and ``hessian(F, p, psd) ->
    (uu, uv, vv)``, with a ``Params`` struct p; (uu, uv, vv) are the Hessian's 3 x 3 blocks in the
    order of ``vec(F) = (f0, f1)``.

    A law 1/2 k C^2 of conditions C(F) - rest may also have ``shift(F, dF/dt, p, keep, beta) ->
    Params``: it returns parameters whose rest value makes the condition equal to ``keep (C + beta
    dC/dt)`` at F. The exact Hessian with these parameters is k (dC dC^T + keep (C + beta dC/dt)
    d2C), which the damping of conditions needs (``integrators/baraff_witkin_1998.py``).
    """

    name: str
    Params: WarpStruct
    psi: WarpFunction
    pk1: WarpFunction = None  # None: generated (``generated``)
    hessian: WarpFunction = None  # None: generated
    shift: WarpFunction = None
