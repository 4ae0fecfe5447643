"""A number of the fabric itself, as a balance, a thickness gauge or a data sheet gives it: weight,
thickness, Kawabata's B.

Every measurement whose result is one number of the fabric times a known factor uses this class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.settings import REQUIRED, setting
from weft.base.trees import Yaml
from weft.fabric.fabric import SETTINGS, UNITS, Fabric
from weft.fitting.block import MeasurementSettings, PlacedBlock
from weft.fitting.measurement import CurveMeasurement, Measurement
from weft.fitting.noise import UNCERTAINTY, mean_reading, read_noise


@dataclass(frozen=True, kw_only=True)
class ValueSettings(MeasurementSettings):
    """A number of the fabric itself."""

    field: str = setting(
        REQUIRED,
        "which number of the fabric: density, thickness, bending_warp, shear, ...",
        choices=tuple(UNITS),
    )
    value: Yaml = setting(
        REQUIRED, "it, with its unit; several readings: a list, whose mean counts"
    )
    uncertainty: Yaml = setting(None, UNCERTAINTY)


@dataclass(frozen=True)
class Value(CurveMeasurement):
    """A measured value of one field."""

    name: str
    field: str
    data: float  # [SI]
    sigma: float  # [SI]

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the field."""
        return (self.field,)

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """Return the measured value itself, in SI."""
        return {self.field: self.data}

    def model(self, fabric: Fabric) -> float:
        """Return the value of the fabric [SI]."""
        return float(getattr(fabric, self.field))

    def slopes(self, fabric: Fabric) -> Mapping[str, float]:
        """Return the derivative by the logarithm of the field, which is the value."""
        return {self.field: self.model(fabric)}


def read(block: PlacedBlock[ValueSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given, about = block.given, SETTINGS[block.given.field]
    listed = given.value if isinstance(given.value, list) else [given.value]
    values = [
        block.in_si(v, about.unit, ("value", i), per_angle=about.per_angle)
        for i, v in enumerate(listed)
    ]
    for value, written in zip(values, listed):
        if not 0 < value < np.inf:
            raise block.error("value", written, f"must be > 0 {about.unit}")
    if not values:
        raise block.error("value", None, "at least one number")
    mean, sigma = mean_reading(
        np.array(values), read_noise(block, about.unit, per_angle=about.per_angle)
    )
    return [Value(given.name or given.field, given.field, mean, sigma)]
