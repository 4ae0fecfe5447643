"""Loading branches that are one number of the fabric times a known function: shear and bending.

Real cloth has internal friction: a loading branch then lies above the line through the origin by
half of the hysteresis (Kawabata's 2HG, 2HB). With ``hysteresis: true`` the fit adds a constant for
it, twice of which becomes the fabric's hysteresis: that of the straight line through the branch.

In a shear frame whose sides lie along the threads weft's law gives shear x sin(a) cos(a) exactly
(``laboratory.shear``). KES-FB4 shifts one end sideways instead, which agrees within a percent at
its angles, up to 8 degrees. Kawabata's G is the slope from 0.5 to 2.5 degrees. weft's bending
energies give moment = B x curvature exactly on a cylinder.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats
from weft.base.settings import REQUIRED, setting
from weft.base.trees import Yaml
from weft.fabric.fabric import SETTINGS, Fabric
from weft.plugins.lab.fitting.block import UNCERTAINTY, MeasurementBlock, PlacedBlock
from weft.plugins.lab.fitting.measurement import Comparison, FixedFields, Measurement
from weft.plugins.lab.fitting.table import CurveSettings, read_loading
from weft.plugins.lab.fitting.value import Value
from weft.plugins.lab.laboratory.shear import KES

DIRECTIONS = ("warp", "weft")
LARGEST = np.radians(45.0)  # sin(a) cos(a) decreases beyond this angle


@dataclass(frozen=True, kw_only=True)
class SlopeSettings(CurveSettings):
    """A loading branch, or its slope."""

    hysteresis: bool = setting(
        False,
        "true: the branch can be above the line through the origin by a constant, half of 2HG or "
        "2HB; weft writes this number into the fabric",
    )
    uncertainty: Yaml = setting(
        None, f"standard deviation of forces or moments, or of the modulus: {UNCERTAINTY}"
    )


@dataclass(frozen=True, kw_only=True)
class ShearSettings(SlopeSettings):
    """Shear force per width over the shear angle (KES-FB4, picture frame), or Kawabata's G."""

    points: Sequence[tuple[Yaml, Yaml]] | None = setting(
        None, "pairs [angle, force per width], such as [[1 deg, 0.7 gf/cm]]"
    )
    modulus: Sequence[float] | None = setting(
        None,
        "G, in place of points: 0.6 gf/(cm*deg); several readings: a list",
        "N/m",
        above=0,
        per_angle=True,
    )


@dataclass(frozen=True, kw_only=True)
class BendingSettings(SlopeSettings):
    """Moment per width over curvature (KES-FB2, pure bending), or Kawabata's B: moment = B x
    curvature.
    """

    direction: str = setting(REQUIRED, "warp or weft: the yarns that bend", choices=DIRECTIONS)
    points: Sequence[tuple[Yaml, Yaml]] | None = setting(
        None, "pairs [curvature, moment per width], such as [[1 1/cm, 0.05 gf*cm/cm]]"
    )
    modulus: Sequence[float] | None = setting(
        None, "B, in place of points: 0.06 gf*cm^2/cm; several readings: a list", "N*m", above=0
    )


@dataclass(frozen=True, eq=False)
class SlopeData(Measurement):
    """Data that are predicted as ``field`` times ``per_field``."""

    name: str
    field: str
    x: Floats  # (m,) abscissa of plots
    per_field: Floats  # (m,) [SI unit of the data over that of the field]
    data: Floats  # (m,)
    sigma: Floats  # (m,)
    hysteresis: bool
    labels: tuple[str, str]  # of x and data, with units
    advice: ClassVar[str] = "a loading branch that begins above 0 needs `hysteresis: true`"

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
        """Return the data of the fabric, with the constant of hysteresis that fits best, (m,)."""
        line = getattr(fabric, self.field) * self.per_field
        return np.asarray(line + self._mean(self.data - line))

    def slopes(self, fabric: Fabric, fields: Sequence[str]) -> Mapping[str, Floats]:
        """Return the derivative by the logarithm of the field, (m,)."""
        line = getattr(fabric, self.field) * self.per_field
        return {self.field: line - self._mean(line)}

    def _mean(self, values: Floats) -> float:
        """Return the mean (m,) with the weights of the data; 0 without hysteresis."""
        return float(np.average(values, weights=self.sigma**-2)) if self.hysteresis else 0.0

    def comparison(self, fabric: Fabric) -> Comparison:
        """Return data and model for plots."""
        return Comparison(*self.labels, self.x, self.data, self.sigma, self.model(fabric))


@dataclass(frozen=True)
class SlopeTest:
    """A test whose data are a field of the fabric times a known function of the abscissa."""

    names: tuple[str, str]  # of the columns of its data
    units: tuple[str, str]  # of its data in SI
    labels: tuple[str, str]  # of both axes of plots, with units
    per_field: Callable[[Floats], Floats]  # the data over the field at abscissas (m,)
    plotted: Callable[[Floats], Floats]  # abscissas of plots, in their unit
    modulus_ratio: float = 1.0  # the modulus of the test over the field
    largest: float = np.inf  # abscissas are below it

    def read(
        self, block: MeasurementBlock, name: str, field: str, **only: str
    ) -> Sequence[Measurement | FixedFields]:
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
            noise = block.noise(SETTINGS[field].unit, per_angle=SETTINGS[field].per_angle)
            mean, sigma = noise.mean(np.array(block.given.modulus))
            return [Value(name, field, mean / self.modulus_ratio, sigma / self.modulus_ratio)]
        found, sigmas = read_loading(block, name, self.names, self.units, **only)
        x, y = found.x, found.y
        if x[-1] >= self.largest:
            got, most = (f"{a:.3g}" for a in self.plotted(np.array([x[-1], self.largest])))
            expected = f"{self.labels[0]} below {most}"
            raise block.error("points", got, expected, "check the unit")
        kept = sigmas > 0  # a datum of 0 with a relative error has no weight and would divide by 0
        hysteresis: bool = block.given.hysteresis
        if kept.sum() < 1 + hysteresis:
            got = f"{int(kept.sum())} points above 0"
            raise block.error("points", got, f"at least {1 + hysteresis}")
        plotted, per_field = self.plotted(x)[kept], self.per_field(x)[kept]
        data = (plotted, per_field, y[kept], sigmas[kept])
        branch = SlopeData(name, field, *data, hysteresis, self.labels)
        if not hysteresis:
            return [branch]
        width = 2 * float(np.polyfit(per_field, data[2], 1, w=1 / data[3])[1])
        word, _, yarn = field.partition("_")
        known = {f"{word}_hysteresis_{yarn}".removesuffix("_"): max(width, 0.0)}
        note = f"{name}: the fabric's hysteresis is {max(width, 0.0):.3g} {self.units[1]}"
        return [branch, FixedFields(f"{name} hysteresis", known, note)]


def per_stiffness(angle: Floats) -> Floats:
    """Return force per width over shear stiffness at angles [rad]."""
    return np.sin(angle) * np.cos(angle)


def modulus_ratio() -> float:
    """Return Kawabata's G over the shear stiffness: 0.998."""
    low, high = per_stiffness(np.radians(KES))
    return float((high - low) / np.radians(KES[1] - KES[0]))


SHEAR = SlopeTest(
    ("angle", "force"),
    ("rad", "N/m"),
    ("shear angle [deg]", "force per width [N/m]"),
    per_stiffness,
    np.degrees,
    modulus_ratio(),
    LARGEST,
)
BENDING = SlopeTest(
    ("curvature", "moment"),
    ("1/m", "N"),
    ("curvature [1/cm]", "moment per width [mN]"),
    np.asarray,
    lambda curvature: curvature / 100,
)


def read_shear(block: PlacedBlock[ShearSettings]) -> Sequence[Measurement | FixedFields]:
    """Read the measurement of a block."""
    return SHEAR.read(block, "shear", "shear")


def read_bending(block: PlacedBlock[BendingSettings]) -> Sequence[Measurement | FixedFields]:
    """Read the measurement of a block."""
    along = block.given.direction
    return BENDING.read(block, f"bending {along}", f"bending_{along}", direction=along)
