"""A sheet of Kawabata's set (KES-F) as characteristic values: G, B, W, T, and EMT with LT.

Points of its curves are read by the kinds tensile, shear and bending. For tension a sheet has the
extension EMT at 500 gf/cm and the linearity LT, which is the work over that of a straight line. The
curve used with both is the power law force = F (strain/EMT)^n with n = 2/LT - 1. It is our choice;
it reproduces EMT, LT and the work WT.
"""

from collections.abc import Sequence

import numpy as np

from weft.fitting.block import DataBlock
from weft.fitting.measurement import Given, Measurement
from weft.fitting.noise import ASSUMED, LEAST, MOST
from weft.fitting.points import DataPoints
from weft.fitting.shear import of_modulus
from weft.fitting.tensile import LARGEST, curve_of, made
from weft.fitting.value import Value
from weft.laboratory.shear import GF_PER_CM

FORCE = 500 * GF_PER_CM  # [N/m]
PARTS = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)  # of EMT: points of the power law
FIELDS = {
    "EMT": "extension at 500 gf/cm, warp and weft: [5.1 %, 7.4 %]",
    "LT": "linearity of tension, warp and weft: [0.65, 0.62]; with it EMT is a curve",
    "G": "shear stiffness, one or warp and weft: 0.62 gf/(cm*deg)",
    "B": "bending rigidity, warp and weft: [0.071 gf*cm^2/cm, 0.055 gf*cm^2/cm]",
    "W": "weight: 16.3 mg/cm^2",
    "T": "thickness: 0.41 mm",
    "uncertainty": "standard deviation of every number, relative (5 %)",
}


def read(block: DataBlock) -> Sequence[Measurement | Given]:
    """Read the measurements of a KES sheet from a block."""
    called = block.text("name", "KES")
    part = block.number("uncertainty", "1", ASSUMED, above=LEAST, most=MOST)
    out: list[Measurement | Given] = []
    if block.has("LT") and not block.has("EMT"):
        raise block.error("LT", block.tree["LT"], "EMT beside it")
    if block.has("EMT"):
        out += _tension(block, called, part)
    if block.has("G"):
        given = block.numbers("G", "N/m", above=0, per_angle=True)
        mean = float(given.mean()) / of_modulus()
        out.append(Value(f"{called} G", "shear", mean, part * mean / np.sqrt(len(given))))
    if block.has("B"):
        for direction, b in zip(("warp", "weft"), block.numbers("B", "N*m", 2, above=0)):
            out.append(
                Value(f"{called} B {direction}", f"bending_{direction}", float(b), part * float(b))
            )
    for field, of, unit in (("W", "density", "kg/m^2"), ("T", "thickness", "m")):
        if block.has(field):
            value = block.number(field, unit, above=0)
            out.append(Value(f"{called} {field}", of, value, part * value))
    if not out:
        raise block.error("", None, f"some of {', '.join(list(FIELDS)[:6])}")
    return out


def _tension(block: DataBlock, called: str, part: float) -> Sequence[Measurement | Given]:
    """Return the tensile measurements, or curves, of warp and weft from EMT and LT."""
    strains = block.numbers("EMT", "1", 2, above=0, most=LARGEST)
    linear = block.numbers("LT", "1", 2, above=0, most=1.0) if block.has("LT") else None
    out: list[Measurement | Given] = []
    for k, direction in enumerate(("warp", "weft")):
        name, at = f"{called} EMT {direction}", block.where("EMT")
        if linear is None:
            one, force = np.array([strains[k]]), np.array([FORCE])
            out += made(name, direction, DataPoints(one, force, [at]), part * force, "straight")
            continue
        parts = np.array(PARTS)
        force = FORCE * parts ** (2 / linear[k] - 1)
        out.append(
            curve_of(name, direction, DataPoints(parts * strains[k], force, [at] * len(parts)))
        )
    return out
