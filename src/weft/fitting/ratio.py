"""One number of a fabric over another: an assumption on warp against weft for data that determine
only their mean.

A drape depends on the mean rigidity of both directions. That both are equal, or that one is larger
by half, is then an assumption, which the file states with its uncertainty.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.settings import REQUIRED, setting
from weft.fabric.fabric import UNITS, Fabric
from weft.fitting.block import MeasurementSettings, PlacedBlock
from weft.fitting.measurement import Measurement


@dataclass(frozen=True, kw_only=True)
class RatioSettings(MeasurementSettings):
    """A ratio of two numbers of the fabric."""

    fields: tuple[str, str] = setting(
        REQUIRED,
        "two numbers of the fabric of one unit: [bending_warp, bending_weft]",
        choices=tuple(UNITS),
    )
    value: float = setting(REQUIRED, "the first over the second, such as 1.2", "1", above=0)
    uncertainty: float = setting(0.2, "standard deviation, relative; 20 %", "1", above=0, most=10)


@dataclass(frozen=True)
class Ratio:
    """A ratio of two fields, known to a factor."""

    name: str
    fields: tuple[str, str]
    value: float
    sigma: float  # standard deviation of its logarithm

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return both fields."""
        return self.fields

    def residuals(self, fabric: Fabric) -> Floats:
        """Return the residual, (1,)."""
        one, two = (getattr(fabric, f) for f in self.fields)
        return np.array([np.log(one / (two * self.value)) / self.sigma])

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the Jacobian, (1, len(fields))."""
        slope = {self.fields[0]: 1 / self.sigma, self.fields[1]: -1 / self.sigma}
        return np.array([[slope.get(f, 0.0) for f in fields]])


def read(block: PlacedBlock[RatioSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given = block.given
    one, two = given.fields
    if one == two:
        raise block.error("fields", one, "two fields, such as [bending_warp, bending_weft]")
    if UNITS[one] != UNITS[two]:
        raise block.error("fields", f"{UNITS[one]} and {UNITS[two]}", "one unit")
    sigma = float(np.log1p(given.uncertainty))
    return [Ratio(given.name or f"{one} over {two}", (one, two), given.value, sigma)]
