"""Loading branches that are one number of the fabric times a known function: shear and bending.

Real cloth has internal friction: a loading branch then lies above the line through the origin by
half of the hysteresis (Kawabata's 2HG, 2HB). With ``hysteresis: true`` the fit adds a constant for
it. The constant is fitted and then dropped, because weft's laws have no hysteresis.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats
from weft.fabric.fabric import SETTINGS, Fabric
from weft.fitting.block import MeasurementBlock
from weft.fitting.measurement import (
    Comparison,
    CurveMeasurement,
    Measurement,
    without_constant,
)
from weft.fitting.noise import mean_reading, read_noise
from weft.fitting.points import read_loading
from weft.fitting.value import Value

HYSTERESIS = (
    "true: the branch may lie above the origin's line by a constant (half of 2HG or 2HB); false"
)


@dataclass(frozen=True, eq=False)
class SlopeData(CurveMeasurement):
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

    def model(self, fabric: Fabric) -> Floats:
        """Return the data of the fabric without the constant of hysteresis, (m,)."""
        return np.asarray(getattr(fabric, self.field) * self.per_field)

    def slopes(self, fabric: Fabric) -> Mapping[str, Floats]:
        """Return the derivative by the logarithm of the field, which is the model, (m,)."""
        return {self.field: self.model(fabric)}

    def residuals(self, fabric: Fabric) -> Floats:
        """Return the residuals, (m,)."""
        return self._free_of_constant(super().residuals(fabric))

    def jacobian(self, fabric: Fabric, fields: Sequence[str]) -> Floats:
        """Return the Jacobian, (m, len(fields))."""
        return self._free_of_constant(super().jacobian(fabric, fields))

    def _free_of_constant(self, rows: Floats) -> Floats:
        return without_constant(rows, self.sigma) if self.hysteresis else rows

    def comparison(self, fabric: Fabric) -> Comparison:
        """Return data and model for plots; the model includes the constant of hysteresis."""
        model = self.data + self.sigma * self.residuals(fabric)
        return Comparison(*self.labels, self.x, self.data, self.sigma, model)


@dataclass(frozen=True)
class SlopeTest:
    """A test whose data are a field of the fabric times a known function of the abscissa."""

    names: tuple[str, str]  # of the columns of its data
    units: tuple[str, str]  # of its data in SI
    labels: tuple[str, str]  # of both axes of plots, with units
    modulus_unit: str  # in SI
    per_field: Callable[[Floats], Floats]  # the data over the field at abscissas (m,)
    plotted: Callable[[Floats], Floats]  # abscissas of plots, in their unit
    modulus_ratio: float = 1.0  # the modulus of the test over the field
    largest: float = np.inf  # abscissas are below it

    def read(
        self, block: MeasurementBlock, name: str, field: str, **only: str
    ) -> Sequence[Measurement]:
        """Read the field of a fabric from the modulus, or from the loading branch, of a block.

        Args:
            block: the block.
            name: of the measurement, if the block gives none.
            field: of the fabric.
            **only: as for ``read_points``.

        Raises:
            FabricError: there are too few points for the number of unknowns, or one is too large.
        """
        name = block.given.name or name
        if block.one_of("points", "file", "modulus") == "modulus":
            spread = read_noise(block, self.modulus_unit, per_angle=SETTINGS[field].per_angle)
            mean, sigma = mean_reading(np.array(block.given.modulus), spread)
            return [Value(name, field, mean / self.modulus_ratio, sigma / self.modulus_ratio)]
        found, sigmas = read_loading(block, name, self.names, self.units, **only)
        x, y = found.x, found.y
        if x[-1] >= self.largest:
            got, most = (f"{a:.3g}" for a in self.plotted(np.array([x[-1], self.largest])))
            expected = f"{self.labels[0]} below {most}"
            raise block.error("points", got, expected, "is the unit what you mean?")
        kept = sigmas > 0  # a datum of 0 with a relative error has no weight and would divide by 0
        hysteresis: bool = block.given.hysteresis
        if kept.sum() < 1 + hysteresis:
            got = f"{int(kept.sum())} of a size"
            raise block.error("points", got, f"at least {1 + hysteresis}")
        plotted, per_field = self.plotted(x)[kept], self.per_field(x)[kept]
        data = (plotted, per_field, y[kept], sigmas[kept])
        return [SlopeData(name, field, *data, hysteresis, self.labels)]
