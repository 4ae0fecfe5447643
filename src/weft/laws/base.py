"""What a membrane law is: Warp functions of one deformation gradient F, and parameters as data.

A law's kernels live in one Warp module of their own (``weft.law.<name>``); the batched Python face
launches the same kernels that a simulation launches, so what is tested is what runs.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Gradients
from weft.errors import LawError
from weft.kernel import Scalar, mat32, mat33


class Psd(enum.IntEnum):
    """Which Hessian a minimizer gets."""

    EXACT = 0  # the second derivative, indefinite under compression
    PROJECTED = 1  # negative eigenvalues set to zero (per energy term: see the law)
    GAUSS_NEWTON = 2  # terms with second derivatives of the strain measure dropped (Choi & Ko 2002)


@dataclass(frozen=True)
class LawFunctions:
    """The Warp functions of a law: one record per law file, shared by all its instances.

    ``psi(F, p) -> Scalar``, ``pk1(F, p) -> mat32``, ``hessian(F, p, psd) -> (uu, uv, vv)`` with a
    ``Params`` struct and the Hessian's blocks in the order of ``vec(F) = (f0, f1)``.

    A law 1/2 k C^2 of conditions C(F) - rest may also have ``shift(F, dF/dt, p, keep, beta) ->
    Params``: parameters whose rest value makes the condition ``keep (C + beta dC/dt)`` at F. Their
    exact Hessian is k (dC dC^T + keep (C + beta dC/dt) d2C), what damping of conditions needs
    (``integrators/baraff_witkin_1998.py``).
    """

    name: str
    Params: Any
    psi: Any
    pk1: Any
    hessian: Any
    shift: Any = None


@dataclass(frozen=True)
class LawKernels:
    """The compiled face of a law: kernels over arrays of F and of parameters."""

    psi: Any  # (o, F, p, out)
    pk1: Any  # (o, F, p, out)
    hessian: Mapping[Psd, Any]  # (o, F, p, out (q,3) mat33: uu, uv, vv)
    shift: Any  # (o, F, rate, p, keep, beta, out), or None


@cache
def law_kernels(functions: LawFunctions) -> LawKernels:
    """Kernels of a law, made once per process.

    Three specialized Hessian kernels from one function.
    """
    Params, psi_of, pk1_of, hessian_of = (
        functions.Params,
        functions.psi,
        functions.pk1,
        functions.hessian,
    )
    module = wp.get_module(f"weft.law.{functions.name}")

    @wp.kernel(module=module)
    def psi(
        o: int, F: wp.array(dtype=mat32), p: wp.array(dtype=Params), out: wp.array(dtype=Scalar)
    ):
        q = o + wp.tid()
        out[q] = psi_of(F[q], p[q])

    @wp.kernel(module=module)
    def pk1(
        o: int, F: wp.array(dtype=mat32), p: wp.array(dtype=Params), out: wp.array(dtype=mat32)
    ):
        q = o + wp.tid()
        out[q] = pk1_of(F[q], p[q])

    def hessian_kernel(mode: int) -> Any:
        @wp.kernel(module=module)
        def hessian(
            o: int,
            F: wp.array(dtype=mat32),
            p: wp.array(dtype=Params),
            out: wp.array2d(dtype=mat33),
        ):
            q = o + wp.tid()
            uu, uv, vv = hessian_of(F[q], p[q], mode)
            out[q, 0] = uu
            out[q, 1] = uv
            out[q, 2] = vv

        return hessian

    def shift_kernel() -> Any:
        shift_of = functions.shift

        @wp.kernel(module=module)
        def shift(
            o: int,
            F: wp.array(dtype=mat32),
            rate: wp.array(dtype=mat32),
            p: wp.array(dtype=Params),
            keep: Scalar,
            beta: Scalar,
            out: wp.array(dtype=Params),
        ):
            q = o + wp.tid()
            out[q] = shift_of(F[q], rate[q], p[q], keep, beta)

        return shift

    hessians = {psd: hessian_kernel(int(psd)) for psd in Psd}
    return LawKernels(psi, pk1, hessians, shift_kernel() if functions.shift else None)


class Law(ABC):
    """A membrane law with its parameters. Energy density psi(F) in J/m^2, stiffness in N/m."""

    functions: ClassVar[LawFunctions]

    @abstractmethod
    def parameters(self) -> Mapping[str, float]:
        """Values of the ``Params`` struct's fields."""

    @property
    def is_condition(self) -> bool:
        """True where every term is 1/2 k C^2 of a condition with a rest value."""
        return self.functions.shift is not None

    @property
    def name(self) -> str:
        """The law's name, as scenes and metrics write it."""
        return self.functions.name

    def parameter_array(self, n: int) -> np.ndarray[Any, Any]:
        """(n,) records of the ``Params`` struct, all equal."""
        records = np.zeros(n, self.functions.Params.numpy_dtype())
        for field, value in self.parameters().items():
            records[field] = value
        return records

    def energy(self, F: Gradients) -> Floats:
        """psi(F), (n,) [J/m^2], for F of shape (n,3,2)."""
        F = _checked(F)
        out = kernel.empty(len(F))
        self._launch(law_kernels(self.functions).psi, F, out)
        return np.array(kernel.numpy(out))

    def stress(self, F: Gradients) -> Floats:
        """First Piola-Kirchhoff stress d psi/dF, (n,3,2) [N/m], for F of shape (n,3,2)."""
        F = _checked(F)
        out = kernel.empty(len(F), mat32)
        self._launch(law_kernels(self.functions).pk1, F, out)
        return np.array(kernel.numpy(out))

    def hessian(self, F: Gradients, psd: Psd = Psd.EXACT) -> Floats:
        """d2 psi/dF2, (n,6,6) [N/m] on vec(F) = (f0, f1), for F of shape (n,3,2)."""
        F = _checked(F)
        out = kernel.empty((len(F), 3), mat33)
        self._launch(law_kernels(self.functions).hessian[Psd(psd)], F, out)
        uu, uv, vv = np.moveaxis(kernel.numpy(out), 1, 0)
        return np.block([[uu, uv], [np.swapaxes(uv, 1, 2), vv]])

    def _launch(self, k: Any, F: Gradients, out: Any) -> None:
        p = kernel.array(self.parameter_array(len(F)), self.functions.Params)
        kernel.launch(k, len(F), kernel.array(F, mat32), p, out)


def _checked(F: Gradients) -> Gradients:
    F = np.asarray(F, dtype=np.float64)
    if F.ndim != 3 or F.shape[1:] != (3, 2):
        raise LawError("F", got=f"array of shape {F.shape}", expected="shape (n, 3, 2)")
    return F
