"""Numbers far from all fabrics are questioned, measurement by measurement: mostly a unit is wrong.

What a measurement ``implies``, or a fit to it alone, is held against the range of all presets.
"""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from weft.base.errors import FabricError
from weft.fabric.fabric import FAR, UNITS, Fabric, known_ranges
from weft.fitting.fit import fit
from weft.fitting.measurement import Given, Measurement

REFUSED = 25.0  # times outside of the range of all presets: not without `unusual: true`
# [kg/m^3] weight over thickness: presets have 180 (felt) to 1010 (cupro), fibers themselves 900
# (polypropylene) to 1550 (cotton), fleece and wadding down to 50
BULK, POSSIBLE = (120.0, 1100.0), (50.0, 1600.0)


def question(
    found: Sequence[Measurement | Given], start: Fabric, where: str, unusual: bool
) -> Sequence[FabricError]:
    """What a block's measurements say that no fabric known is near to.

    Args:
        found: of one block.
        start: with the numbers that they do not say.
        where: file and line.
        unusual: whether that is meant.

    Returns problems; what is merely far, a warning says.
    """
    problems = []
    for one in found:
        for field, value in _says(one, start).items():
            times, side = _outside(field, value)
            if unusual or times <= FAR:
                continue
            low, high = known_ranges()[field]
            unit = UNITS[field]
            got = f"{value:.3g} {unit}, {times:.2g} times {side} all fabrics that weft knows"
            error = FabricError(
                f"{field} by {one.name}",
                got=got,
                where=where,
                expected=f"about {low:.2g} to {high:.2g} {unit}",
                hint="is the unit what you mean? `unusual: true` beside it says so",
            )
            if times >= REFUSED:
                problems.append(error)
            else:
                warnings.warn(str(error), stacklevel=2)
    return problems


def question_bulk(
    weights: Sequence[float], thicknesses: Sequence[float], where: str, unusual: bool
) -> Sequence[FabricError]:
    """Hold weight over thickness against what cloth has: each alone may be ten times off and still
    be a fabric's.

    Args:
        weights: [kg/m^2] all that were measured; none: nothing is said.
        thicknesses: [m] all that were measured; none: nothing is said.
        where: file and line of the last of them.
        unusual: whether that is meant.

    Returns problems; what is merely far, a warning says.
    """
    if unusual or not weights or not thicknesses:
        return []
    weight, thickness = float(np.mean(weights)), float(np.mean(thicknesses))
    bulk = weight / thickness
    if BULK[0] <= bulk <= BULK[1]:
        return []
    error = FabricError(
        "weight over thickness",
        where=where,
        got=f"{bulk:.3g} kg/m^3 ({1e3 * weight:.4g} g/m^2 over {1e3 * thickness:.4g} mm)",
        expected=f"about {BULK[0]:g} to {BULK[1]:g} kg/m^3",
        hint="is one of them ten times off? `unusual: true` beside one says that it is meant",
    )
    if not POSSIBLE[0] <= bulk <= POSSIBLE[1]:
        return [error]
    warnings.warn(str(error), stacklevel=2)
    return []


def _says(one: Measurement | Given, start: Fabric) -> Mapping[str, float]:
    """Numbers of a fabric by one measurement alone."""
    if isinstance(one, Given):
        return {f: v for f, v in one.fields.items() if f in UNITS}
    if hasattr(one, "implies"):
        implied: Mapping[str, float] = one.implies(start)
        return implied
    if getattr(one, "slow", False):
        return {}
    alone = fit([one], start)
    return {f: float(getattr(alone.fabric, f)) for f in alone.fields}


def _outside(field: str, value: float) -> tuple[float, str]:
    """How many times a value is outside the range of all presets, and on which side."""
    low, high = known_ranges()[field]
    if not np.isfinite(value) or value <= 0:
        return np.inf, "outside of"
    return (low / value, "below") if value < low else (value / high, "above")
