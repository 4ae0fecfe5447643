"""A number of the fabric itself, as a balance, a thickness gauge or a data sheet gives it: weight,
thickness, Kawabata's B.

Every measurement whose result is one number of the fabric times a known factor uses this class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.fabric.fabric import SETTINGS, UNITS, Fabric
from weft.fitting.block import DataBlock
from weft.fitting.measurement import Measurement
from weft.fitting.noise import UNCERTAINTY, mean_of, noise

FIELDS = {
    "field": "which number of the fabric: density, thickness, bending_warp, shear, ...",
    "value": "it, with its unit; several readings: a list, whose mean counts",
    "uncertainty": UNCERTAINTY,
}


@dataclass(frozen=True)
class Value:
    """A measured value of one field."""

    name: str
    field: str
    value: float  # [SI]
    sigma: float  # [SI]

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the field."""
        return (self.field,)

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """Return the measured value itself, in SI."""
        return {self.field: self.value}

    def residuals(self, fabric: Fabric) -> Floats:
        """Return the residual, (1,)."""
        return np.array([(getattr(fabric, self.field) - self.value) / self.sigma])

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the Jacobian, (1, len(fields))."""
        slope = getattr(fabric, self.field) / self.sigma
        return np.array([[slope if f == self.field else 0.0 for f in fields]])


def read(block: DataBlock) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    field = block.word("field", list(UNITS))
    per_angle = SETTINGS[field].per_angle
    values = block.numbers("value", UNITS[field], above=0, per_angle=per_angle)
    mean, sigma = mean_of(values, noise(block, UNITS[field], per_angle=per_angle))
    return [Value(block.text("name", field), field, mean, sigma)]
