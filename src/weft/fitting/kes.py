"""A sheet of Kawabata's set (KES-F) as characteristic values: G, B, W, T, and EMT with LT.

Points of its curves are read by the kinds tensile, shear and bending. For tension a sheet has the
extension EMT at 500 gf/cm and the linearity LT, which is the work over that of a straight line. The
curve used with both is the power law force = F (strain/EMT)^n with n = 2/LT - 1. It is our choice;
it reproduces EMT, LT and the work WT.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.settings import setting
from weft.fitting.block import MeasurementSettings, PlacedBlock
from weft.fitting.measurement import FixedFields, Measurement
from weft.fitting.noise import ASSUMED, LEAST, MOST
from weft.fitting.points import DataPoints
from weft.fitting.shear import modulus_ratio
from weft.fitting.tensile import LARGEST, build_test, preset_curve
from weft.fitting.value import Value
from weft.laboratory.shear import GF_PER_CM

FORCE = 500 * GF_PER_CM  # [N/m]
PARTS = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)  # of EMT: points of the power law


@dataclass(frozen=True, kw_only=True)
class KesSettings(MeasurementSettings):
    """The characteristic values of a KES sheet."""

    EMT: tuple[float, float] | None = setting(
        None,
        "extension at 500 gf/cm, warp and weft: [5.1 %, 7.4 %]",
        "1",
        above=0,
        most=LARGEST,
    )
    LT: tuple[float, float] | None = setting(
        None,
        "linearity of tension, warp and weft: [0.65, 0.62]; with it EMT is a curve",
        "1",
        above=0,
        most=1,
    )
    G: Sequence[float] | None = setting(
        None,
        "shear stiffness, one or warp and weft: 0.62 gf/(cm*deg)",
        "N/m",
        above=0,
        per_angle=True,
    )
    B: tuple[float, float] | None = setting(
        None,
        "bending rigidity, warp and weft: [0.071 gf*cm^2/cm, 0.055 gf*cm^2/cm]",
        "N*m",
        above=0,
    )
    W: float | None = setting(None, "weight: 16.3 mg/cm^2", "kg/m^2", above=0)
    T: float | None = setting(None, "thickness: 0.41 mm", "m", above=0)
    uncertainty: float = setting(
        ASSUMED,
        "standard deviation of every number, relative (5 %)",
        "1",
        above=LEAST,
        most=MOST,
    )


def read(block: PlacedBlock[KesSettings]) -> Sequence[Measurement | FixedFields]:
    """Read the measurements of a KES sheet from a block."""
    given = block.given
    called, part = given.name or "KES", given.uncertainty
    out: list[Measurement | FixedFields] = []
    if given.LT is not None and given.EMT is None:
        raise block.error("LT", given.LT, "EMT beside it")
    if given.EMT is not None:
        out += _tension(given.EMT, given.LT, called, part, block.where("EMT"))
    if given.G is not None:
        mean = float(np.mean(given.G)) / modulus_ratio()
        sigma = float(part * mean / np.sqrt(len(given.G)))
        out.append(Value(f"{called} G", "shear", mean, sigma))
    for direction, b in zip(("warp", "weft"), given.B or ()):
        out.append(Value(f"{called} B {direction}", f"bending_{direction}", b, part * b))
    for name, of, value in (("W", "density", given.W), ("T", "thickness", given.T)):
        if value is not None:
            out.append(Value(f"{called} {name}", of, value, part * value))
    if not out:
        raise block.error("", None, "some of EMT, LT, G, B, W, T")
    return out


def _tension(
    strains: tuple[float, float],
    linear: tuple[float, float] | None,
    called: str,
    part: float,
    at: str,
) -> Sequence[Measurement | FixedFields]:
    """Return the tensile measurements, or curves, of warp and weft from EMT and LT."""
    out: list[Measurement | FixedFields] = []
    for k, direction in enumerate(("warp", "weft")):
        name = f"{called} EMT {direction}"
        if linear is None:
            one, force = np.array([strains[k]]), np.array([FORCE])
            out += build_test(
                name, direction, DataPoints(one, force, [at]), part * force, "straight"
            )
            continue
        parts = np.array(PARTS)
        force = FORCE * parts ** (2 / linear[k] - 1)
        out.append(
            preset_curve(name, direction, DataPoints(parts * strains[k], force, [at] * len(parts)))
        )
    return out
