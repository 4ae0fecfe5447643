"""Loading branches that are one number of the fabric times a known function: shear and bending.

Real cloth has internal friction: a loading branch then lies above the line through the origin by
half of the hysteresis (Kawabata's 2HG, 2HB). With ``hysteresis: true`` the fit adds a constant for
it. The constant is fitted and then dropped, because weft's laws have no hysteresis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats
from weft.fabric.fabric import Fabric
from weft.fitting.block import MeasurementBlock
from weft.fitting.measurement import Comparison, without_constant
from weft.fitting.points import DataPoints

HYSTERESIS = (
    "true: the branch may lie above the origin's line by a constant (half of 2HG or 2HB); false"
)


@dataclass(frozen=True, eq=False)
class SlopeData:
    """Data that are predicted as ``field`` times ``per_field``."""

    name: str
    field: str
    x: Floats  # (m,) abscissa of plots
    per_field: Floats  # (m,) [SI unit of the data over that of the field]
    data: Floats  # (m,)
    sigma: Floats  # (m,)
    hysteresis: bool
    labels: tuple[str, str]  # of x and data, with units
    advice: ClassVar[str] = "a loading branch that begins above 0 asks for `hysteresis: true`"

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the field."""
        return (self.field,)

    @property
    def free(self) -> int:
        """Return the number of unknowns besides the field: 1 with hysteresis, else 0."""
        return int(self.hysteresis)

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """Return the slope [SI] to the last point; with hysteresis from the first to the last
        point.
        """
        if not self.hysteresis:
            return {self.field: float(self.data[-1] / self.per_field[-1])}
        rise, run = (float(a[-1] - a[0]) for a in (self.data, self.per_field))
        return {self.field: rise / run} if rise > 0 else {}

    def residuals(self, fabric: Fabric) -> Floats:
        """Return the residuals, (m,)."""
        rows = (getattr(fabric, self.field) * self.per_field - self.data) / self.sigma
        return without_constant(rows, self.sigma) if self.hysteresis else np.asarray(rows)

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the Jacobian, (m, len(fields))."""
        out = np.zeros((len(self.data), len(fields)))
        for k, field in enumerate(fields):
            if field == self.field:
                rows = getattr(fabric, field) * self.per_field / self.sigma
                out[:, k] = without_constant(rows, self.sigma) if self.hysteresis else rows
        return out

    def compared(self, fabric: Fabric) -> Comparison:
        """Return data and model for plots; the model includes the constant of hysteresis."""
        model = self.data + self.sigma * self.residuals(fabric)
        return Comparison(*self.labels, self.x, self.data, self.sigma, model)


def loading_slope(
    block: MeasurementBlock,
    name: str,
    field: str,
    found: DataPoints,
    per_field: Floats,
    sigma: Floats,
    shown: Floats,
    labels: tuple[str, str],
) -> SlopeData:
    """Return the measurement of a loading branch.

    Args:
        block: the block, for the field ``hysteresis``.
        name: of the measurement.
        field: of the fabric.
        found: the m points.
        per_field: (m,) the data over the field, in the model.
        sigma: (m,) standard deviations of the data.
        shown: (m,) abscissa of plots.
        labels: of both axes of plots, with units.

    Raises:
        FabricError: there are too few points for the number of unknowns.
    """
    kept = sigma > 0  # a datum of 0 with a relative error has no weight and would divide by 0
    hysteresis: bool = block.given.hysteresis
    if kept.sum() < 1 + hysteresis:
        raise block.error("points", f"{int(kept.sum())} of a size", f"at least {1 + hysteresis}")
    return SlopeData(
        name, field, shown[kept], per_field[kept], found.y[kept], sigma[kept], hysteresis, labels
    )
