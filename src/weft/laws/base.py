"""What a membrane law is: Warp functions of one deformation gradient F, and parameters as data.

A law's kernels live in one Warp module of their own (``weft.law.<name>``); the batched Python face
launches the same kernels that a simulation launches, so what is tested is what runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Gradients
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.kernel import Scalar, WarpArray, mat32, mat33
from weft.laws import generated
from weft.solve.newton.psd import Psd


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
    pk1: Any = None  # None: generated (``generated``)
    hessian: Any = None  # None: generated
    shift: Any = None


@dataclass(frozen=True)
class LawKernels:
    """The compiled face of a law: kernels over arrays of F and of parameters."""

    psi: Any  # (o, F, p, add, out): out = psi, or out += psi where add is not 0
    pk1: Any  # (o, F, p, add, out)
    hessian: Mapping[Psd, Any]  # (o, F, p, add, out (q,3) mat33: uu, uv, vv)
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
        o: int,
        F: wp.array(dtype=mat32),
        p: wp.array(dtype=Params),
        add: int,
        out: wp.array(dtype=Scalar),
    ):
        q = o + wp.tid()
        value = psi_of(F[q], p[q])
        if add != 0:
            value += out[q]
        out[q] = value

    def pk1_kernel() -> Any:
        @wp.kernel(module=module)
        def pk1(
            o: int,
            F: wp.array(dtype=mat32),
            p: wp.array(dtype=Params),
            add: int,
            out: wp.array(dtype=mat32),
        ):
            q = o + wp.tid()
            P = pk1_of(F[q], p[q])
            if add != 0:
                P += out[q]
            out[q] = P

        return pk1

    def hessian_kernel(mode: int) -> Any:
        # In a function, so that every kernel sees its own mode.
        @wp.kernel(module=module)
        def hessian(
            o: int,
            F: wp.array(dtype=mat32),
            p: wp.array(dtype=Params),
            add: int,
            out: wp.array2d(dtype=mat33),
        ):
            q = o + wp.tid()
            uu, uv, vv = hessian_of(F[q], p[q], mode)
            if add != 0:
                uu += out[q, 0]
                uv += out[q, 1]
                vv += out[q, 2]
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

    modes = {psd: int(psd) for psd in Psd}
    stress = generated.stress_kernel(functions) if pk1_of is None else pk1_kernel()
    if hessian_of is None:
        hessians = generated.hessian_kernels(functions, modes)
    else:
        hessians = {psd: hessian_kernel(mode) for psd, mode in modes.items()}
    return LawKernels(psi, stress, hessians, shift_kernel() if functions.shift else None)


@checked(LawError, "law", unchecked=("device_parameters", "stages"))
class Law(ABC):
    """A membrane law with its parameters. Energy density psi(F) in J/m^2, stiffness in N/m.

    Laws add: ``law_a + law_b`` is the sum of their energies; PROJECTED then is the sum of the
    projected terms.
    """

    @property
    @abstractmethod
    def parts(self) -> "tuple[SingleLaw, ...]":
        """The terms, each with kernels of its own."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages call it."""

    @property
    def is_condition(self) -> bool:
        """True where every term is 1/2 k C^2 of a condition with a rest value."""
        return all(part.functions.shift is not None for part in self.parts)

    def __repr__(self) -> str:
        """Two lines: what it is, and its parameters."""
        values = [
            f"{name} {_shown(name, v)}" for p in self.parts for name, v in p.parameters().items()
        ]
        return f"{self.name}: membrane law psi(F) [J/m^2]\n  {', '.join(values)}"

    def __add__(self, other: "Law") -> "Law":
        return SumLaw((*self.parts, *other.parts))

    def device_parameters(self, n: int) -> tuple[WarpArray, ...]:
        """For n samples: one array of ``Params`` for every part."""
        return tuple(
            kernel.array(part.parameter_array(n), part.functions.Params) for part in self.parts
        )

    def stages(
        self, what: "str | Psd", F: WarpArray, parameters: Sequence[WarpArray], out: WarpArray
    ) -> list[tuple[Any, ...]]:
        """Stages of a launch that put ``"psi"``, ``"pk1"`` or a Hessian of F into ``out``."""
        stages = []
        for i, (part, p) in enumerate(zip(self.parts, parameters)):
            kernels = law_kernels(part.functions)
            k = kernels.hessian[what] if isinstance(what, Psd) else getattr(kernels, what)
            six = (6,) if isinstance(what, Psd) and part.functions.hessian is None else ()
            stages.append((k, F, p, int(i > 0), out, *six))
        return stages

    def energy(self, F: Gradients) -> Floats:
        """psi(F), (n,) [J/m^2], for F of shape (n,3,2)."""
        return self._evaluate("psi", F, kernel.empty(len(F)))

    def stress(self, F: Gradients) -> Floats:
        """First Piola-Kirchhoff stress d psi/dF, (n,3,2) [N/m], for F of shape (n,3,2)."""
        return self._evaluate("pk1", F, kernel.empty(len(F), mat32))

    def hessian(self, F: Gradients, psd: Psd = Psd.EXACT) -> Floats:
        """d2 psi/dF2, (n,6,6) [N/m] on vec(F) = (f0, f1), for F of shape (n,3,2)."""
        out = self._evaluate(Psd(psd), F, kernel.empty((len(F), 3), mat33))
        uu, uv, vv = np.moveaxis(out, 1, 0)
        return np.block([[uu, uv], [np.swapaxes(uv, 1, 2), vv]])

    def _evaluate(self, what: "str | Psd", F: Gradients, out: WarpArray) -> Floats:
        parameters = self.device_parameters(len(F))
        kernel.launch_each(len(F), *self.stages(what, kernel.array(F, mat32), parameters, out))
        return np.array(kernel.numpy(out))


def _shown(name: str, value: Any) -> str:
    """A parameter with its unit: stiffness is in N/m, rest values and directions have none."""
    if np.ndim(value):
        flat = np.asarray(value)
        return f"({', '.join(f'{v:.3g}' for v in flat)})" if flat.ndim == 1 else "by sample"
    plain = name.startswith(("rest", "warp", "weft"))
    return f"{value:g}" if plain else f"{value:g} N/m"


class SingleLaw(Law):
    """A law with Warp functions of its own."""

    functions: LawFunctions

    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """Values of the ``Params`` struct's fields; an array has one for every sample."""

    @property
    def parts(self) -> "tuple[SingleLaw, ...]":
        """Itself."""
        return (self,)

    @property
    def name(self) -> str:
        """The law's name, as scenes and metrics write it."""
        return self.functions.name

    def parameter_array(self, n: int) -> np.ndarray[Any, Any]:
        """(n,) records of the ``Params`` struct.

        Raises:
            LawError: a parameter that is given for another number of samples.
        """
        records = np.zeros(n, self.functions.Params.numpy_dtype())
        for field, value in self.parameters().items():
            try:
                records[field] = value
            except ValueError:
                raise LawError(
                    f"{self.name}.{field}",
                    got=f"{len(value)} values",
                    expected=f"one for all, or one for each of {n} samples",
                ) from None
        return records


@dataclass(frozen=True, repr=False)
class SumLaw(Law):
    """The sum of laws, evaluated one after another."""

    terms: tuple[SingleLaw, ...]

    @property
    def parts(self) -> tuple[SingleLaw, ...]:
        """The terms."""
        return self.terms

    @property
    def name(self) -> str:
        """``arap + dot_shear``."""
        return " + ".join(part.name for part in self.terms)
