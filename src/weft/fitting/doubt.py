"""Numbers far from all fabrics are questioned, measurement by measurement: mostly a unit is wrong.

What a measurement ``implies``, or a fit to it alone, is held against the range of all presets.
"""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from weft.errors import FabricError
from weft.fabric import FAR, UNITS, Fabric, known_ranges
from weft.fitting.fit import fit
from weft.fitting.measurement import Given, Measurement

REFUSED = 25.0  # times outside of the range of all presets: not without `unusual: true`


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
                f"{field} by {one.name}", got=got, where=where,
                expected=f"about {low:.2g} to {high:.2g} {unit}",
                hint="is the unit what you mean? `unusual: true` beside it says so",
            )  # fmt: skip
            if times >= REFUSED:
                problems.append(error)
            else:
                warnings.warn(str(error), stacklevel=2)
    return problems


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
