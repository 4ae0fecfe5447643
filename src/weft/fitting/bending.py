"""Moment per width over curvature (KES-FB2, pure bending), or Kawabata's B: moment = B x curvature.

weft's bending energies give this relation exactly on a cylinder.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.settings import REQUIRED, setting
from weft.base.trees import Yaml
from weft.fitting.block import PlacedBlock
from weft.fitting.measurement import Measurement
from weft.fitting.noise import UNCERTAINTY, mean_reading, read_noise
from weft.fitting.points import CurveSettings, check_loading, read_points
from weft.fitting.slopes import HYSTERESIS, loading_slope
from weft.fitting.value import Value

NAMES, SI = ("curvature", "moment"), ("1/m", "N")
DIRECTIONS = ("warp", "weft")


@dataclass(frozen=True, kw_only=True)
class BendingSettings(CurveSettings):
    """A bending test."""

    direction: str = setting(REQUIRED, "warp or weft: the yarns that are bent", choices=DIRECTIONS)
    points: Sequence[Yaml] | None = setting(
        None, "pairs [curvature, moment per width], such as [[1 1/cm, 0.05 gf*cm/cm]]"
    )
    modulus: Sequence[float] | None = setting(
        None,
        "B, in place of points: 0.06 gf*cm^2/cm; several readings: a list",
        "N*m",
        above=0,
    )
    hysteresis: bool = setting(False, HYSTERESIS)
    uncertainty: Yaml = setting(None, f"of moments, or of B: {UNCERTAINTY}")


def read(block: PlacedBlock[BendingSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    direction = block.given.direction
    field = f"bending_{direction}"
    called = block.given.name or f"bending {direction}"
    if block.one_of("points", "file", "modulus") == "modulus":
        given = np.array(block.given.modulus)
        return [Value(called, field, *mean_reading(given, read_noise(block, "N*m")))]
    spread, pairs = read_noise(block, "N"), read_points(block, NAMES, SI, direction=direction)
    found = check_loading(pairs, spread.of(pairs.y), called, NAMES)
    labels = ("curvature [1/cm]", "moment per width [mN]")
    sigma = spread.of(found.y)
    return [loading_slope(block, called, field, found, found.x, sigma, found.x / 100, labels)]
