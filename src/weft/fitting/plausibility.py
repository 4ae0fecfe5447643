"""Plausibility check of measurements: numbers far from those of all presets are mostly wrong units.

The values that a measurement ``implies`` are compared with the range of all presets.
"""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from weft.base.errors import FabricError
from weft.fabric.fabric import FAR, UNITS, Fabric, known_ranges
from weft.fitting.measurement import FixedFields, Measurement

REFUSED = 25.0  # factor outside of the presets' range from which `unusual: true` is required
# [kg/m^3] weight over thickness. Presets have 180 (felt) to 1010 (cupro); fibers themselves have
# 900 (polypropylene) to 1550 (cotton); fleece and wadding go down to 50.
BULK, POSSIBLE = (120.0, 1100.0), (50.0, 1600.0)


def check_measurements(
    found: Sequence[Measurement | FixedFields], start: Fabric, where: str, unusual: bool
) -> Sequence[FabricError]:
    """Compare the measurements of a block with the range of all presets.

    Args:
        found: the measurements of one block.
        start: the fabric that supplies the other numbers.
        where: file and line of the block.
        unusual: true if the file says that unusual numbers are intended.

    Returns:
        One error for each value outside of the range by a factor of ``REFUSED`` or more. Values
        less far outside cause a warning.
    """
    problems = []
    for one in found:
        for field, value in _implied_numbers(one, start).items():
            times, side = _range_excess(field, value)
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


def check_bulk_density(
    weights: Sequence[float], thicknesses: Sequence[float], where: str, unusual: bool
) -> Sequence[FabricError]:
    """Compare weight over thickness with the densities that cloth has.

    Weight or thickness alone may be wrong by a factor of ten and still be within the range of
    fabrics.

    Args:
        weights: [kg/m^2] all measured weights; nothing is checked if there are none.
        thicknesses: [m] all measured thicknesses; nothing is checked if there are none.
        where: file and line of the last of them.
        unusual: true if the file says that unusual numbers are intended.

    Returns:
        An error if the density is impossible. A density that is merely unusual causes a warning.
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


def _implied_numbers(one: Measurement | FixedFields, start: Fabric) -> Mapping[str, float]:
    """Return the numbers of a fabric that follow from one measurement alone."""
    if isinstance(one, FixedFields):
        return {f: v for f, v in one.fields.items() if f in UNITS}
    return one.implies(start)


def _range_excess(field: str, value: float) -> tuple[float, str]:
    """Return the factor by which a value is outside of the range of all presets, and on
    which side.
    """
    low, high = known_ranges()[field]
    if not np.isfinite(value) or value <= 0:
        return np.inf, "outside of"
    return (low / value, "below") if value < low else (value / high, "above")
