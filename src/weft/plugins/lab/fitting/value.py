"""Numbers of the fabric itself, and ratios of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.settings import REQUIRED, setting
from weft.base.trees import Yaml
from weft.fabric.fabric import SETTINGS, UNITS, Fabric
from weft.plugins.lab.fitting.block import UNCERTAINTY, MeasurementSettings, PlacedBlock
from weft.plugins.lab.fitting.measurement import Measurement


@dataclass(frozen=True, kw_only=True)
class ValueSettings(MeasurementSettings):
    """A number of the fabric itself, as a balance, a thickness gauge or a data sheet gives it:
    weight, thickness, Kawabata's B.
    """

    field: str = setting(
        REQUIRED,
        "name of the number: density, thickness, bending_warp, shear, ...",
        choices=tuple(UNITS),
    )
    value: Yaml = setting(
        REQUIRED, "the number with its unit; several readings: a list, whose mean is used"
    )
    uncertainty: Yaml = setting(None, UNCERTAINTY)


@dataclass(frozen=True)
class Value(Measurement):
    """A measured value of one field, or of a known factor times it."""

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

    def slopes(self, fabric: Fabric, fields: Sequence[str]) -> Mapping[str, float]:
        """Return the derivative by the logarithm of the field, which is the value."""
        return {self.field: self.model(fabric)}


def read_value(block: PlacedBlock[ValueSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given, about = block.given, SETTINGS[block.given.field]
    listed = given.value if isinstance(given.value, list) else [given.value]
    values = []
    for i, written in enumerate(listed):
        values.append(block.in_si(written, about.unit, ("value", i), per_angle=about.per_angle))
        if not 0 < values[-1] < np.inf:
            raise block.error("value", written, f"must be > 0 {about.unit}")
    if not values:
        raise block.error("value", None, "at least one number")
    noise = block.noise(about.unit, per_angle=about.per_angle)
    return [Value(given.name or given.field, given.field, *noise.mean(np.array(values)))]


@dataclass(frozen=True, kw_only=True)
class RatioSettings(MeasurementSettings):
    """One number of a fabric over another: an assumption on warp against weft for data that
    determine only their mean.
    """

    fields: tuple[str, str] = setting(
        REQUIRED,
        "two numbers of the fabric with the same unit: [bending_warp, bending_weft]",
        choices=tuple(UNITS),
    )
    value: float = setting(REQUIRED, "the first over the second, such as 1.2", "1", above=0)
    uncertainty: float = setting(0.2, "standard deviation, relative; 20 %", "1", above=0, most=10)


@dataclass(frozen=True)
class Ratio(Measurement):
    """The logarithm of a ratio of two fields.

    A drape depends on the mean rigidity of both directions. That both are equal, or that one is
    larger by half, is then an assumption, which the file states with its uncertainty.
    """

    name: str
    depends_on: tuple[str, str]
    data: float
    sigma: float

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """Return the first field for the second one of ``fabric``."""
        one, two = self.depends_on
        return {one: float(np.exp(self.data)) * getattr(fabric, two)}

    def model(self, fabric: Fabric) -> float:
        """Return the logarithm of the ratio of the fabric."""
        one, two = (getattr(fabric, f) for f in self.depends_on)
        return float(np.log(one / two))

    def slopes(self, fabric: Fabric, fields: Sequence[str]) -> Mapping[str, float]:
        """Return the derivatives, 1 and -1."""
        return dict(zip(self.depends_on, (1.0, -1.0)))


def read_ratio(block: PlacedBlock[RatioSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    given = block.given
    one, two = given.fields
    if one == two:
        raise block.error("fields", one, "two fields, such as [bending_warp, bending_weft]")
    if UNITS[one] != UNITS[two]:
        raise block.error("fields", f"{UNITS[one]} and {UNITS[two]}", "one unit")
    data, sigma = float(np.log(given.value)), float(np.log1p(given.uncertainty))
    return [Ratio(given.name or f"{one} over {two}", (one, two), data, sigma)]
