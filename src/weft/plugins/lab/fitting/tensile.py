"""Tensile tests of strips.

Along the threads weft's law is a straight line, force = stretch x strain (``laboratory.tensile``
gives the same; ``tests/plugins/lab/fitting/test_kinds.py``), or, with ``as: curve``, the data
themselves become the preset's curve. On the bias the strip is simulated between its jaws.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats
from weft.base.curve import MOST_POINTS, Curve
from weft.base.settings import REQUIRED, setting
from weft.base.trees import Json, Yaml
from weft.fabric.fabric import Fabric
from weft.plugins.lab.fitting.block import UNCERTAINTY, PlacedBlock
from weft.plugins.lab.fitting.measurement import Comparison, FixedFields, Measurement, scale_field
from weft.plugins.lab.fitting.table import CurveSettings, DataPoints, read_loading
from weft.plugins.lab.laboratory.tensile import CUTS, LENGTH, WIDTH, Cut, tensile

NAMES, SI = ("strain", "force"), ("1", "N/m")
LARGEST = 1.0  # strain that is accepted
STEP_OF_STRETCH = 0.02  # of differences, in the logarithm of a stretch stiffness
KEPT = 64  # simulated strips in the cache
FLAT = (  # numbers of a fabric on which a flat strip depends
    "stretch_warp",
    "stretch_weft",
    "shear",
    "rest_stretch_warp",
    "rest_stretch_weft",
    "curve_warp",
    "curve_weft",
)


@dataclass(frozen=True, kw_only=True)
class TensileSettings(CurveSettings):
    """Force per width over strain, along warp, weft or bias: KES-FB1, strip tests."""

    cut: str = setting(REQUIRED, "warp, weft or bias: the strip's length", choices=tuple(CUTS))
    form: str = setting(
        "straight",
        "straight (one stiffness) or curve (the data are the preset's curve); warp and weft",
        choices=("straight", "curve"),
        key="as",
    )
    length: float | None = setting(
        None, "length of the strip between the jaws; only for bias (20 cm)", "m", above=0, most=1.0
    )
    width: float | None = setting(
        None, "width of the strip; only for bias (5 cm)", "m", above=0, most=1.0
    )
    uncertainty: Yaml = setting(None, f"standard deviation of forces: {UNCERTAINTY}")


@dataclass(frozen=True, eq=False)
class TensileTest(Measurement):
    """The loading branch of a tensile test."""

    name: str
    cut: Cut
    strain: Floats  # (m,)
    data: Floats  # (m,) [N/m]
    sigma: Floats  # (m,) [N/m]
    length: float = LENGTH  # [m]
    width: float = WIDTH  # [m]
    advice: ClassVar[str] = (
        "the data are not a straight line: use `as: curve`, or give fewer points"
    )

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Return the stiffness along the threads; on the bias both of these and the shear
        stiffness.
        """
        if self.cut == "bias":
            return ("stretch_warp", "stretch_weft", "shear")
        return (f"stretch_{self.cut}",)

    def model(self, fabric: Fabric) -> Floats:
        """Return the forces per width, (m,) [N/m], of a fabric at the measured strains."""
        if self.cut == "bias":
            numbers = tuple(getattr(fabric, name) for name in FLAT)
            size = (self.length, self.width)
            return np.array(_pull_bias_strip(numbers, tuple(self.strain), size))
        return strip_force(fabric, self.cut, self.strain)

    def slopes(self, fabric: Fabric, fields: Sequence[str]) -> Mapping[str, Floats | float]:
        """Return the derivatives of the forces.

        On the bias forces are proportional to a common factor of all stiffnesses (Euler's theorem
        for homogeneous functions). So the derivative by the shear stiffness is the force minus the
        derivatives by the stretch stiffnesses, which are small, and it needs no simulation.
        """
        if self.cut != "bias" or fabric.is_measured:
            return super().slopes(fabric, fields)
        force, slopes = self.model(fabric), {}
        for field in ("stretch_warp", "stretch_weft"):
            moved = self.model(scale_field(fabric, field, np.exp(STEP_OF_STRETCH)))
            slopes[field] = (moved - force) / STEP_OF_STRETCH
        return {**slopes, "shear": force - sum(slopes.values())}

    def implies(self, fabric: Fabric) -> Mapping[str, float]:
        """Return a rough stiffness [N/m]; on the bias force = 4 shear x strain, for inextensible
        threads.
        """
        chord = float(self.data[0] / self.strain[0])
        return {"shear": chord / 4} if self.cut == "bias" else {f"stretch_{self.cut}": chord}

    def comparison(self, fabric: Fabric) -> Comparison:
        """Return data and model for plots."""
        labels, model = ("strain [%]", "force per width [N/m]"), self.model(fabric)
        return Comparison(*labels, 100 * self.strain, self.data, self.sigma, model)


def strip_force(fabric: Fabric, cut: str, strain: Floats) -> Floats:
    """Return the force per width of a strip along the warp or the weft.

    Args:
        fabric: the fabric.
        cut: ``warp`` or ``weft``.
        strain: (m,) strains [1].

    Returns:
        (m,) [N/m] exact forces: with free sides the strip is in uniaxial tension.
    """
    curve = getattr(fabric, f"curve_{cut}")
    taut = np.asarray(strain) + 1 - getattr(fabric, f"rest_stretch_{cut}")
    stiffness = getattr(fabric, f"stretch_{cut}")
    if curve is None:
        return np.asarray(stiffness * taut)
    pulled = curve.force(np.maximum(taut, 0.0))
    return np.asarray(np.where(taut > 0, pulled, stiffness * taut))


@lru_cache(maxsize=KEPT)
def _pull_bias_strip(
    numbers: tuple[Yaml, ...], strains: tuple[float, ...], size: tuple[float, float]
) -> tuple[float, ...]:
    """Return the forces per width [N/m] of a bias strip with the numbers ``FLAT`` of a fabric.

    It stays flat, so weight and bending have no influence.
    """
    fields: Json = dict(zip(FLAT, numbers))
    cloth = Fabric(density=0.1, bending_warp=1e-6, bending_weft=1e-6, **fields)
    return tuple(tensile(cloth, "bias", strains, size=size).force.tolist())


def read_tensile(block: PlacedBlock[TensileSettings]) -> Sequence[Measurement | FixedFields]:
    """Read the measurement of a block."""
    cut, form = block.given.cut, block.given.form
    called = block.given.name or f"tensile {cut}"
    if cut == "bias" and form == "curve":
        raise block.error(
            "as", form, "straight for the bias, because curves are along warp and weft"
        )
    for field in ("length", "width"):
        if cut != "bias" and (said := getattr(block.given, field)) is not None:
            hint = "only strips on the bias depend on this field"
            raise block.error(field, said, "no such field, because forces are per width", hint)
    found, sigma = read_loading(block, called, NAMES, SI, cut=cut)
    if found.x[-1] > LARGEST:
        got, hint = f"a strain of {found.x[-1]:.3g}", "strains are plain numbers, or percent: '3 %'"
        raise block.error("points", got, f"at most {LARGEST:g}", hint)
    size = (block.given.length or LENGTH, block.given.width or WIDTH)
    return build_test(called, cut, found, sigma, form, size)


def build_test(
    name: str,
    cut: str,
    found: DataPoints,
    sigma: Floats,
    form: str,
    size: tuple[float, float] = (LENGTH, WIDTH),
) -> Sequence[Measurement | FixedFields]:
    """Return the measurement of a loading branch, or the curve that replaces it with ``form``
    curve.
    """
    if form == "curve":
        return [preset_curve(name, cut, found)]
    kept = sigma > 0  # a force of 0 with a relative error has no weight and would divide by 0
    test = TensileTest(name, cut, found.x[kept], found.y[kept], sigma[kept], *size)  # type: ignore[arg-type]
    if cut == "bias":
        return [test]
    return [test, FixedFields(name, {f"curve_{cut}": None}, "")]


def preset_curve(name: str, cut: str, found: DataPoints) -> FixedFields:
    """Return points as a preset's curve.

    The curve is thinned to the number of points that a preset allows, and dips due to noise are
    filled, because the forces of a curve must not fall.
    """
    ids = np.unique(np.round(np.linspace(0, len(found.x) - 1, MOST_POINTS - 1)).astype(int))
    force = np.maximum.accumulate(found.y)[ids]
    strain = found.x[ids]
    curve = Curve([(float(e), float(f)) for e, f in zip(strain, force)])
    first = int(np.flatnonzero(force > 0)[0])
    note = f"{len(ids)} of {len(found.x)} points are the preset's curve along the {cut}"
    fields = {f"curve_{cut}": curve, f"stretch_{cut}": float(force[first] / strain[first])}
    return FixedFields(name, fields, f"{note}; in compression, stiffness to the first point")
