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
from weft.fitting.noise import UNCERTAINTY
from weft.fitting.points import CurveSettings
from weft.fitting.slopes import HYSTERESIS, SlopeTest

DIRECTIONS = ("warp", "weft")


@dataclass(frozen=True, kw_only=True)
class BendingSettings(CurveSettings):
    """A bending test."""

    direction: str = setting(REQUIRED, "warp or weft: the yarns that are bent", choices=DIRECTIONS)
    points: Sequence[tuple[Yaml, Yaml]] | None = setting(
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


TEST = SlopeTest(
    ("curvature", "moment"),
    ("1/m", "N"),
    ("curvature [1/cm]", "moment per width [mN]"),
    "N*m",
    per_field=np.asarray,
    plotted=lambda curvature: curvature / 100,
)


def read(block: PlacedBlock[BendingSettings]) -> Sequence[Measurement]:
    """Read the measurement of a block."""
    along = block.given.direction
    return TEST.read(block, f"bending {along}", f"bending_{along}", direction=along)
