"""Shear force per width over the shear angle (KES-FB4, picture frame), or Kawabata's G.

In a frame whose sides lie along the threads weft's law gives shear x sin(a) cos(a) exactly
(``laboratory.shear``). KES-FB4 shifts one end sideways instead, which agrees within a percent at
its angles, up to 8 degrees. G is the slope from 0.5 to 2.5 degrees.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.settings import setting
from weft.base.trees import Yaml
from weft.fitting.block import PlacedBlock
from weft.fitting.measurement import Measurement
from weft.fitting.noise import UNCERTAINTY
from weft.fitting.points import CurveSettings
from weft.fitting.slopes import HYSTERESIS, SlopeTest
from weft.laboratory.shear import KES

LARGEST = np.radians(45.0)  # sin(a) cos(a) decreases beyond this angle


@dataclass(frozen=True, kw_only=True)
class ShearSettings(CurveSettings):
    """A shear test."""

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
    hysteresis: bool = setting(False, HYSTERESIS)
    uncertainty: Yaml = setting(None, f"of forces, or of G: {UNCERTAINTY}")


def per_stiffness(angle: Floats) -> Floats:
    """Return force per width over shear stiffness at angles [rad]."""
    return np.asarray(np.sin(angle) * np.cos(angle))


def modulus_ratio() -> float:
    """Return Kawabata's G over the shear stiffness: 0.998."""
    low, high = per_stiffness(np.radians(KES))
    return float((high - low) / np.radians(KES[1] - KES[0]))


TEST = SlopeTest(
    ("angle", "force"),
    ("rad", "N/m"),
    ("shear angle [deg]", "force per width [N/m]"),
    "N/m",
    per_stiffness,
    np.degrees,
    modulus_ratio(),
    LARGEST,
)


def read(block: PlacedBlock[ShearSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    return TEST.read(block, "shear", "shear")
