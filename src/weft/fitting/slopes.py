"""Loading branches that are a number of the fabric times a known function: shear and bending.

Real cloth rubs in itself: a loading branch then lies above the line through the origin by half the
hysteresis (Kawabata's 2HG, 2HB), which ``hysteresis: true`` lets it, a constant that is fitted and
not kept: weft's laws have none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats
from weft.fabric.fabric import Fabric
from weft.fitting.block import DataBlock
from weft.fitting.measurement import Comparison, without_constant
from weft.fitting.points import DataPoints

HYSTERESIS = (
    "true: the branch may lie above the origin's line by a constant (half of 2HG or 2HB); false"
)


@dataclass(frozen=True, eq=False)
class SlopeData:
    """Data that should be ``field`` times ``per_field``."""

    name: str
    field: str
    x: Floats  # (m,) as shown
    per_field: Floats  # (m,) [SI over that of the field]
    data: Floats  # (m,)
    sigma: Floats  # (m,)
    hysteresis: bool
    labels: tuple[str, str]  # of x and data, with units
    advice: ClassVar[str] = "a loading branch that begins above 0 asks for `hysteresis: true`"

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The field."""
        return (self.field,)

    @property
    def free(self) -> int:
        """Unknowns of its own."""
        return int(self.hysteresis)

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """[SI] by the last point; with a constant, by the last over the first."""
        if not self.hysteresis:
            return {self.field: float(self.data[-1] / self.per_field[-1])}
        rise, run = (float(a[-1] - a[0]) for a in (self.data, self.per_field))
        return {self.field: rise / run} if rise > 0 else {}

    def residuals(self, fabric: Fabric) -> Floats:
        """(m,)."""
        rows = (getattr(fabric, self.field) * self.per_field - self.data) / self.sigma
        return without_constant(rows, self.sigma) if self.hysteresis else np.asarray(rows)

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """(m, len(fields))."""
        out = np.zeros((len(self.data), len(fields)))
        for k, field in enumerate(fields):
            if field == self.field:
                rows = getattr(fabric, field) * self.per_field / self.sigma
                out[:, k] = without_constant(rows, self.sigma) if self.hysteresis else rows
        return out

    def compared(self, fabric: Fabric) -> Comparison:
        """For pictures; the model with its constant."""
        model = self.data + self.sigma * self.residuals(fabric)
        return Comparison(*self.labels, self.x, self.data, self.sigma, model)


def slope_of(
    block: DataBlock,
    name: str,
    field: str,
    found: DataPoints,
    per_field: Floats,
    sigma: Floats,
    shown: Floats,
    labels: tuple[str, str],
) -> SlopeData:
    """The measurement of a loading branch.

    Raises:
        FabricError: too few points for what is asked.
    """
    kept = sigma > 0  # data of 0 say nothing where their error is a part of them
    hysteresis = block.truth("hysteresis")
    if kept.sum() < 1 + hysteresis:
        raise block.error("points", f"{int(kept.sum())} of a size", f"at least {1 + hysteresis}")
    return SlopeData(
        name, field, shown[kept], per_field[kept], found.y[kept], sigma[kept], hysteresis, labels
    )
