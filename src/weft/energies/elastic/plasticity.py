"""Plasticity of one strain: yield, isotropic hardening and recovery between time steps.

A strain e (an angle of a hinge, the stretch of a fiber) is elastic except for its plastic part p,
the set: its stress is k (e - p). It yields where |e - p| would exceed y + h a, with a the
accumulated plastic strain: isotropic hardening with the modulus h k. The fraction f of plastic
strain lasts (s); the rest (q) recovers with the time constant tau, and so does its hardening:

    p = q + s,   dq = -q/tau dt + (1 - f) dp_y,   ds = f dp_y,   a in the same way from |dp_y|

A step is one minimization with p as it was at its start. After the step, and after recovery over
its time, p is updated such that the strain is within the limit again (closest-point projection,
exact for this law: Simo & Hughes 1998, *Computational Inelasticity*, box 1.4, with k -> 1).
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError

COLUMNS = 4  # of the memory: q, s, and the accumulated plastic strain of each


@dataclass(frozen=True)
class Plasticity:
    """Parameters of the yielding of a strain, each one number or one for every element (n,).

    Args:
        hardening: h >= 0, the hardening modulus over the elastic one: of strain beyond the limit,
            the fraction 1/(1 + h) becomes plastic.
        recovery: tau [s] > 0; infinite: nothing recovers.
        lasting: f, fraction of plastic strain that never recovers, from 0 to 1.
        pulled: whether it yields in tension alone.

    Raises:
        FabricError: a number out of range.
    """

    hardening: float | Floats = 0.0
    recovery: float | Floats = np.inf
    lasting: float | Floats = 0.0
    pulled: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.hardening) & (np.asarray(self.hardening) >= 0)).all():
            raise FabricError("hardening", got=self.hardening, expected="must be >= 0")
        if not np.all(np.asarray(self.recovery) > 0):
            raise FabricError("recovery", got=self.recovery, expected="must be > 0 [s]")
        if not np.all((np.asarray(self.lasting) >= 0) & (np.asarray(self.lasting) <= 1)):
            raise FabricError("lasting", got=self.lasting, expected="must be from 0 to 1")

    @staticmethod
    def initial_memory(n: int) -> Floats:
        """Return the memory (n,4) of strains that have never yielded."""
        return np.zeros((n, COLUMNS))

    @staticmethod
    def plastic_strain(memory: Floats) -> Floats:
        """Return the plastic strain p, (n,), of a memory (n,4)."""
        return memory[:, 0] + memory[:, 1]

    def after(self, strain: Floats, memory: Floats, limit: Floats | float, dt: float) -> Floats:
        """Return the memory after a step, (n,4).

        Args:
            strain: (n,) e at the end of the step, plastic part included.
            memory: (n,4) memory before the step.
            limit: (n,) y.
            dt: [s] of the step.
        """
        q, s, gone_q, gone_s = memory.T
        fade = np.exp(-dt / self.recovery)
        q, gone_q = q * fade, gone_q * fade
        elastic = strain - q - s
        size = elastic if self.pulled else np.abs(elastic)
        beyond = np.maximum(size - limit - self.hardening * (gone_q + gone_s), 0.0)
        more = beyond / (1.0 + self.hardening)
        signed = np.copysign(more, elastic)
        f = np.where(np.isinf(self.recovery), 1.0, self.lasting)
        return np.stack(
            [q + (1 - f) * signed, s + f * signed, gone_q + (1 - f) * more, gone_s + f * more], 1
        )
