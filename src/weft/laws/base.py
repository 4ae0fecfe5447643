"""Base classes of membrane laws: Warp functions of one deformation gradient F, and parameters.

A law's kernels live in one Warp module of their own (``weft.law.<name>``). The Python methods
``Law.energy``, ``stress`` and ``hessian`` launch the same kernels that a simulation launches, so
that tests of these methods test what runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Gradients
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.kernel import (
    Kernel,
    Mat32Array,
    Mat33Array2d,
    Scalar,
    ScalarArray,
    Stage,
    WarpArray,
    WarpFunction,
    mat32,
    mat33,
)
from weft.laws import generated
from weft.laws.functions import LawFunctions
from weft.solve.newton.psd import Psd


@dataclass(frozen=True)
class LawKernels:
    """Compiled kernels of a law, over arrays of F and of parameters."""

    psi: WarpFunction  # (o, F, p, add, out): out = psi, or out += psi where add is not 0
    pk1: WarpFunction  # (o, F, p, add, out)
    hessian: Mapping[Psd, Kernel]  # (o, F, p, add, out (q,3) mat33: uu, uv, vv)
    shift: WarpFunction  # (o, F, rate, p, keep, beta, out), or None


@cache
def law_kernels(functions: LawFunctions) -> LawKernels:
    """Build the kernels of a law, once per process.

    There are three Hessian kernels of one function, each specialized for one ``Psd`` mode.
    """
    Params, psi_of, pk1_of, hessian_of = (
        functions.Params,
        functions.psi,
        functions.pk1,
        functions.hessian,
    )
    module = wp.get_module(f"weft.law.{functions.name}")

    @wp.kernel(module=module)
    def psi(o: int, F: Mat32Array, p: wp.array(dtype=Params), add: int, out: ScalarArray):
        q = o + wp.tid()
        value = psi_of(F[q], p[q])
        if add != 0:
            value += out[q]
        out[q] = value

    def pk1_kernel() -> Kernel:
        @wp.kernel(module=module)
        def pk1(o: int, F: Mat32Array, p: wp.array(dtype=Params), add: int, out: Mat32Array):
            q = o + wp.tid()
            P = pk1_of(F[q], p[q])
            if add != 0:
                P += out[q]
            out[q] = P

        return pk1

    def hessian_kernel(mode: int) -> Kernel:
        # The kernel is built in a function so that each one captures its own mode as a constant.
        @wp.kernel(module=module)
        def hessian(o: int, F: Mat32Array, p: wp.array(dtype=Params), add: int, out: Mat33Array2d):
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

    modes = {psd: int(psd) for psd in Psd}
    stress = generated.stress_kernel(functions) if pk1_of is None else pk1_kernel()
    if hessian_of is None:
        hessians = generated.hessian_kernels(functions, modes)
    else:
        hessians = {psd: hessian_kernel(mode) for psd, mode in modes.items()}
    shift = _shift_kernel(module, functions) if functions.shift else None
    return LawKernels(psi, stress, hessians, shift)


def _shift_kernel(module: wp.Module, functions: LawFunctions) -> Kernel:
    """Build the kernel that moves the rest values of conditions by their damping."""
    Params, shift_of = functions.Params, functions.shift

    @wp.kernel(module=module)
    def shift(
        o: int,
        F: Mat32Array,
        rate: Mat32Array,
        p: wp.array(dtype=Params),
        keep: Scalar,
        beta: Scalar,
        out: wp.array(dtype=Params),
    ):
        q = o + wp.tid()
        out[q] = shift_of(F[q], rate[q], p[q], keep, beta)

    return shift


@checked(LawError, "law", unchecked=("device_parameters", "stages"))
class Law(ABC):
    """A membrane law with its parameters: energy density psi(F) in J/m^2, stiffness in N/m.

    Laws can be added: ``law_a + law_b`` is the sum of their energies, and PROJECTED then is the sum
    of the projected terms.
    """

    @property
    @abstractmethod
    def parts(self) -> "tuple[SingleLaw, ...]":
        """Terms of the law, each with kernels of its own."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the law in messages and metrics."""

    @property
    def is_condition(self) -> bool:
        """True if every term is 1/2 k C^2 of a condition C with a rest value."""
        return all(part.functions.shift is not None for part in self.parts)

    def __repr__(self) -> str:
        """Return two lines: the name of the law, and its parameters."""
        values = [
            f"{name} {_format_parameter(name, v)}"
            for p in self.parts
            for name, v in p.parameters().items()
        ]
        return f"{self.name}: membrane law psi(F) [J/m^2]\n  {', '.join(values)}"

    def __add__(self, other: "Law") -> "Law":
        return SumLaw((*self.parts, *other.parts))

    def device_parameters(self, n: int) -> tuple[WarpArray, ...]:
        """Return the parameters of n samples on the device: (n,) ``Params`` for each part."""
        return tuple(
            kernel.array(part.parameter_array(n), part.functions.Params) for part in self.parts
        )

    def stages(
        self, what: "str | Psd", F: WarpArray, parameters: Sequence[WarpArray], out: WarpArray
    ) -> list[Stage]:
        """Return the launches that write psi, the stress or a Hessian of F into ``out``.

        Args:
            what: ``"psi"``, ``"pk1"``, or the ``Psd`` mode of a Hessian.
            F: (q,) mat32 on the device.
            parameters: (q,) Params for each part, from ``device_parameters``.
            out: (q,) Scalar, (q,) mat32 or (q,3) mat33. The first part overwrites it, the others
                add.
        """
        stages = []
        for i, (part, p) in enumerate(zip(self.parts, parameters)):
            kernels = law_kernels(part.functions)
            k = kernels.hessian[what] if isinstance(what, Psd) else getattr(kernels, what)
            # Generated Hessians take the loop bound 6 as an argument (see ``generated.clamp6``).
            six = (6,) if isinstance(what, Psd) and part.functions.hessian is None else ()
            stages.append((k, F, p, int(i > 0), out, *six))
        return stages

    def energy(self, F: Gradients) -> Floats:
        """Return the energy density psi(F) at F (n,3,2), (n,) [J/m^2]."""
        return self._evaluate("psi", F, kernel.empty(len(F)))

    def stress(self, F: Gradients) -> Floats:
        """Return the first Piola-Kirchhoff stress d psi/dF at F (n,3,2), (n,3,2) [N/m]."""
        return self._evaluate("pk1", F, kernel.empty(len(F), mat32))

    def hessian(self, F: Gradients, psd: Psd = Psd.EXACT) -> Floats:
        """Return d2 psi/dF2 on vec(F) = (f0, f1) at F (n,3,2), (n,6,6) [N/m]."""
        out = self._evaluate(Psd(psd), F, kernel.empty((len(F), 3), mat33))
        uu, uv, vv = np.moveaxis(out, 1, 0)
        return np.block([[uu, uv], [np.swapaxes(uv, 1, 2), vv]])

    def _evaluate(self, what: "str | Psd", F: Gradients, out: WarpArray) -> Floats:
        """Launch the stages of ``what`` at F and return ``out`` in NumPy."""
        parameters = self.device_parameters(len(F))
        kernel.launch_each(len(F), *self.stages(what, kernel.array(F, mat32), parameters, out))
        return np.array(kernel.numpy(out))


def _format_parameter(name: str, value: Floats | float) -> str:
    """Return a parameter as text; only a stiffness has a unit, N/m."""
    if np.ndim(value):
        flat = np.asarray(value)
        return f"({', '.join(f'{v:.3g}' for v in flat)})" if flat.ndim == 1 else "by sample"
    plain = name.startswith(("rest", "warp", "weft"))
    return f"{value:g}" if plain else f"{value:g} N/m"


class SingleLaw(Law):
    """A law with Warp functions of its own."""

    functions: LawFunctions

    @abstractmethod
    def parameters(self) -> Mapping[str, Floats | float]:
        """Return values of the ``Params`` struct's fields; an array has one for every sample."""

    @property
    def parts(self) -> "tuple[SingleLaw, ...]":
        """The law itself, as its only part."""
        return (self,)

    @property
    def name(self) -> str:
        """Name of the law in scenes and metrics."""
        return self.functions.name

    def parameter_array(self, n: int) -> AnyArray:
        """Return the parameters as (n,) records of the ``Params`` struct.

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
                    got=f"{np.size(value)} values",
                    expected=f"one for all, or one for each of {n} samples",
                ) from None
        return records


@dataclass(frozen=True, repr=False, eq=False)
class SampledLaw(SingleLaw):
    """A law whose parameters are numbers of every sample."""

    functions: LawFunctions
    numbers: Mapping[str, Floats]

    def parameters(self) -> Mapping[str, Floats]:
        """Return values of the ``Params`` struct's fields, one for every sample."""
        return self.numbers


def sampled_law(law: Law, records: Sequence[AnyArray]) -> Law:
    """Return a law with parameters of every sample: (q,) records of ``Params`` for each part."""
    parts = tuple(
        SampledLaw(part.functions, {name: table[name] for name in table.dtype.fields or {}})
        for part, table in zip(law.parts, records, strict=True)
    )
    return parts[0] if len(parts) == 1 else SumLaw(parts)


@dataclass(frozen=True, repr=False)
class SumLaw(Law):
    """The sum of laws, which are evaluated one after another."""

    terms: tuple[SingleLaw, ...]

    @property
    def parts(self) -> tuple[SingleLaw, ...]:
        """The terms of the sum."""
        return self.terms

    @property
    def name(self) -> str:
        """The names of the terms with plus signs, for example ``arap + dot_shear``."""
        return " + ".join(part.name for part in self.terms)
