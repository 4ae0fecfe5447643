"""Permanent stretch: a membrane whose fibers' rest lengths yield past a strain.

Warp and weft yield in tension only (compressed cloth buckles), each at its own strain, counted from
the stretch at which it carries no force. Plastic strain lengthens the fiber's rest length for good
(``plasticity`` without recovery); the law must be one that has a rest length.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats
from weft.base.errors import LawError
from weft.energies.elastic.membrane import Membrane, MembraneTerm
from weft.energies.elastic.plasticity import COLUMNS, Plasticity
from weft.energies.step import Step
from weft.kernel import Kernel, Scalar, ScalarArray, WarpArray
from weft.laws.base import SingleLaw
from weft.laws.functions import LawFunctions
from weft.solve.sparse.block_csr import BlockPattern

LAWS = ("baraff_witkin", "measured")  # with lengths at rest
_module = wp.get_module("weft.stretch_set")


@cache
def rest_kernel(functions: LawFunctions) -> Kernel:
    """Build the kernel (o, warp (q,), weft (q,), out (q,) Params) that writes stretches at rest."""
    Params = functions.Params

    @wp.kernel(module=wp.get_module(f"weft.stretch_set.{functions.name}"))
    def write_rest(o: int, warp: ScalarArray, weft: ScalarArray, out: wp.array(dtype=Params)):
        q = o + wp.tid()
        p = out[q]
        p.rest_warp = warp[q]
        p.rest_weft = weft[q]
        out[q] = p

    return write_rest


@dataclass(frozen=True, eq=False)
class PermanentStretch(Membrane):
    """A membrane whose fibers yield. Its NumPy methods are those of fibers that have not yielded.

    Raises:
        LawError: a law without lengths at rest, or with fibers across the axes.
    """

    # strains (warp, weft), one number or one for every sample (q,); infinite: never
    limits: tuple[float | Floats, float | Floats] = (np.inf, np.inf)
    hardening: float | Floats = 0.0

    def __post_init__(self) -> None:
        if not any(_has_rest(part) for part in self.law.parts):
            raise LawError(
                "fabric yield",
                got=f"with law {self.law.name}",
                expected=f"one of {', '.join(LAWS)}, with warp and weft along the axes",
            )

    @property
    def key(self) -> str:
        """Name under which the plastic strains are kept from step to step."""
        return f"{self.name}.set"

    @property
    def plasticity(self) -> Plasticity:
        """Plasticity of both fibers."""
        return Plasticity(self.hardening, pulled=True)

    @property
    def structure(self) -> object:
        """Data besides the constants: those of a membrane, and how fibers yield."""
        return super().structure, self.limits, self.hardening

    def parameters_in(self, step: Step | None) -> tuple[WarpArray, ...]:
        """Return the parameters on the device, with the plastic strains at the start of a step."""
        out = super().parameters_in(step)
        if step is None or self.key not in step.memory:
            return out
        memory = np.asarray(step.memory[self.key])
        k = next(k for k, part in enumerate(self.law.parts) if _has_rest(part))
        records = np.array(self.records()[k])
        for column, name in enumerate(("rest_warp", "rest_weft")):
            records[name] += Plasticity.plastic_strain(memory[:, column])
        changed = kernel.array(records, self.law.parts[k].functions.Params)
        return *out[:k], changed, *out[k + 1 :]

    def bind(self, pattern: BlockPattern) -> "PermanentStretchTerm":
        """Bind the membrane to the block pattern of a matrix."""
        return PermanentStretchTerm(self, pattern)


class PermanentStretchTerm(MembraneTerm):
    """A bound membrane with the rest lengths of the start of the step."""

    energy: PermanentStretch

    def __init__(self, membrane: PermanentStretch, pattern: BlockPattern) -> None:
        self._part = next(k for k, part in enumerate(membrane.law.parts) if _has_rest(part))
        super().__init__(membrane, pattern)
        self._memory, self._dt = _none(len(self.samples)), 0.0

    def update_constants(self, energy: Membrane) -> None:
        """Replace the law's parameters, the damping and the limits."""
        super().update_constants(energy)
        self.is_condition = False  # Baraff & Witkin's (1998) step has no conditions with a memory

    def _parameters(self) -> tuple[WarpArray, ...]:
        """Return a copy of the parameters, because ``freeze`` writes into it."""
        m = self.energy
        return tuple(
            kernel.array(np.array(records), part.functions.Params)
            for records, part in zip(m.records(), m.law.parts, strict=True)
        )

    def freeze(self, step: Step) -> None:
        """Take the plastic strains at the start of the step, and freeze damping."""
        m, n = self.energy, len(self.samples)
        self._memory = np.asarray(step.memory.get(m.key, _none(n)))
        self._dt = step.dt
        part: SingleLaw = m.law.parts[self._part]
        rest = self._rest() + self._sets()
        columns = (kernel.array(np.ascontiguousarray(c), Scalar) for c in rest)
        write = rest_kernel(part.functions)
        kernel.launch(write, n, *columns, self._elastic[1][self._part])
        super().freeze(step)

    def _sets(self) -> Floats:
        """Return the plastic strains of warp and weft, (2,q)."""
        return np.stack([Plasticity.plastic_strain(self._memory[:, k]) for k in (0, 1)])

    def _rest(self) -> Floats:
        """Return the stretches of warp and weft at rest before they yielded, (2,q)."""
        records = self.energy.records()[self._part]
        return np.stack([records["rest_warp"], records["rest_weft"]])

    def zero_tables(self) -> None:
        """Return None: how the term depends on the rest shape is not known."""

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the plastic strains after a step that ended at x, by name."""
        m = self.energy
        F = m.samples.deformation_gradient(np.array(kernel.numpy(x)))
        lengths, rest = np.linalg.norm(F, axis=1), self._rest()
        after = [
            m.plasticity.after(lengths[:, k] - rest[k], self._memory[:, k], m.limits[k], self._dt)
            for k in (0, 1)
        ]
        return {m.key: np.stack(after, axis=1)}


def _none(n: int) -> Floats:
    """Return the memory of n samples that have never yielded, (n,2,4)."""
    return np.zeros((n, 2, COLUMNS))


def _has_rest(part: SingleLaw) -> bool:
    """Return whether a law has rest stretches."""
    return part.functions.name in LAWS
