"""What yields, hardens and recovers, of one strain: memory of cloth between steps.

A strain e (an angle of a hinge, the stretch of a fiber) is elastic but for its set p: its stress
is k (e - p). It yields where |e - p| would pass y + h a, a the set that was gone through so far:
isotropic hardening with the modulus h k. Part of what yields lasts (s); the rest (q) recovers with
the time constant tau, and what it hardened recovers with it:

    p = q + s,   dq = -q/tau dt + (1 - f) dp_y,   ds = f dp_y,   a alike of |dp_y|

A step is one minimization with p as it was at its start. After it the set is brought to where the
strain it led to is within the limit again (closest point, exact for this law: Simo & Hughes 1998,
*Computational Inelasticity*, box 1.4, with k -> 1), once recovery has had the time of the step.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError

COLUMNS = 4  # of what is kept: q, s, and the set that was gone through of each


@dataclass(frozen=True)
class Plasticity:
    """How a strain yields.

    Args:
        hardening: h >= 0, the modulus of what hardens over the elastic one: of strain beyond the
            limit, 1/(1 + h) is left as set.
        recovery: tau [s] > 0; infinite: nothing recovers.
        lasting: f, part of what yields that never recovers, from 0 to 1.
        pulled: whether it yields in tension alone.

    Raises:
        FabricError: a number out of range.
    """

    hardening: float = 0.0
    recovery: float = np.inf
    lasting: float = 0.0
    pulled: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.hardening) and self.hardening >= 0):
            raise FabricError("hardening", got=self.hardening, expected="must be >= 0")
        if not self.recovery > 0:
            raise FabricError("recovery", got=self.recovery, expected="must be > 0 [s]")
        if not 0 <= self.lasting <= 1:
            raise FabricError("lasting", got=self.lasting, expected="must be from 0 to 1")

    @staticmethod
    def none_kept(n: int) -> Floats:
        """(n,4) of strains that have never yielded."""
        return np.zeros((n, COLUMNS))

    @staticmethod
    def set_of(kept: Floats) -> Floats:
        """(n,) p."""
        return np.asarray(kept[:, 0] + kept[:, 1])

    def after(self, strain: Floats, kept: Floats, limit: Floats | float, dt: float) -> Floats:
        """(n,4) what is kept after a step.

        Args:
            strain: (n,) e that the step led to, set included.
            kept: (n,4) before it.
            limit: (n,) y.
            dt: [s] of the step.
        """
        q, s, gone_q, gone_s = kept.T
        fade = np.exp(-dt / self.recovery)
        q, gone_q = q * fade, gone_q * fade
        elastic = strain - q - s
        size = elastic if self.pulled else np.abs(elastic)
        beyond = np.maximum(size - limit - self.hardening * (gone_q + gone_s), 0.0)
        more = beyond / (1.0 + self.hardening)
        signed = np.copysign(more, elastic)
        f = 1.0 if np.isinf(self.recovery) else self.lasting
        return np.stack(
            [q + (1 - f) * signed, s + f * signed, gone_q + (1 - f) * more, gone_s + f * more], 1
        )
