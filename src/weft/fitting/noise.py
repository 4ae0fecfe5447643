"""Uncertainties of data: standard deviations, relative or in the unit of the data."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.fitting.block import MeasurementBlock

ASSUMED = 0.05  # relative standard deviation if a file gives none
UNCERTAINTY = (
    "standard deviation of every number: relative (`2 %`) or in its unit (`0.1 gf/cm`); 5 % where "
    "nothing is said"
)
LEAST, MOST = 1e-9, 1.0  # bounds of a relative one: no data are better; worse ones are useless


@dataclass(frozen=True)
class Noise:
    """A standard deviation."""

    size: float  # [1] if relative, else in the SI unit of the data
    relative: bool
    assumed: bool = False

    def of(self, values: Floats) -> Floats:
        """Return the standard deviation of each value (SI), as many as there are values.

        It is 0 for a value of 0 with a relative error.
        """
        values = np.asarray(values, dtype=np.float64)
        if self.relative:
            return np.asarray(self.size * np.abs(values))
        return np.full_like(values, max(self.size, LEAST * float(np.abs(values).max(initial=0.0))))

    @property
    def text(self) -> str:
        """Return the standard deviation in words."""
        words = f"{100 * self.size:.3g} %" if self.relative else f"{self.size:.3g} (SI)"
        return f"{words}, assumed" if self.assumed else words


def read_noise(block: MeasurementBlock, unit: str, *, per_angle: bool = False) -> Noise:
    """Return the field ``uncertainty`` of a block whose data have this unit.

    For numbers without a unit it is relative.

    Raises:
        FabricError: it is not positive, or has another unit.
    """
    said = block.given.uncertainty
    if said is None:
        return Noise(ASSUMED, True, assumed=True)
    relative = unit == "1" or (isinstance(said, str) and said.rstrip().endswith("%"))
    least, most = (LEAST, MOST) if relative else (0.0, np.inf)
    unit = "1" if relative else unit
    size = block.in_si(said, unit, ("uncertainty",), per_angle=per_angle and not relative)
    if not least < size <= most:
        raise block.error("uncertainty", said, f"must be > {least:g} and <= {most:g}")
    return Noise(size, relative)


def mean_reading(values: Floats, spread: Noise) -> tuple[float, float]:
    """Return the mean of repeated readings (k,) and the standard deviation of this mean.

    The latter comes from the scatter of several readings if the file gives no uncertainty, and from
    the uncertainty of one reading otherwise.
    """
    mean = float(values.mean())
    scatter = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    if spread.assumed and scatter > 0:
        return mean, scatter / float(np.sqrt(len(values)))
    return mean, float(spread.of(values).mean() / np.sqrt(len(values)))
