"""Moment per width over curvature (KES-FB2, pure bending), or Kawabata's B: moment = B x curvature.

weft's bending energies give this relation exactly on a cylinder.
"""

from collections.abc import Sequence

from weft.fitting.block import DataBlock
from weft.fitting.measurement import Measurement
from weft.fitting.noise import UNCERTAINTY, mean_of, noise
from weft.fitting.points import FIELDS as OF_POINTS
from weft.fitting.points import points, rising
from weft.fitting.slopes import HYSTERESIS, slope_of
from weft.fitting.value import Value

FIELDS = {
    "direction": "warp or weft: the yarns that are bent",
    **OF_POINTS,
    "points": "pairs [curvature, moment per width], such as [[1 1/cm, 0.05 gf*cm/cm]]",
    "modulus": "B, in place of points: 0.06 gf*cm^2/cm; several readings: a list",
    "hysteresis": HYSTERESIS,
    "uncertainty": f"of moments, or of B: {UNCERTAINTY}",
}
NAMES, SI = ("curvature", "moment"), ("1/m", "N")
DIRECTIONS = ("warp", "weft")


def read(block: DataBlock) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    direction = block.word("direction", DIRECTIONS)
    field = f"bending_{direction}"
    called = block.text("name", f"bending {direction}")
    if block.one_of("points", "file", "modulus") == "modulus":
        given = block.numbers("modulus", "N*m", above=0)
        return [Value(called, field, *mean_of(given, noise(block, "N*m")))]
    spread, pairs = noise(block, "N"), points(block, NAMES, SI, direction=direction)
    found = rising(pairs, spread.of(pairs.y), called, NAMES)
    labels = ("curvature [1/cm]", "moment per width [mN]")
    sigma = spread.of(found.y)
    return [slope_of(block, called, field, found, found.x, sigma, found.x / 100, labels)]
