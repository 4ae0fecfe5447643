"""Conversion of a number with its unit to SI."""

import math
import re
import sys
from numbers import Real
from typing import NoReturn, SupportsFloat

from weft.base.errors import UnitError
from weft.base.trees import Yaml
from weft.base.units.grammar import LONGEST, parse_unit
from weft.base.units.table import ANGLE, MOST, MOST_ELSE, PLAIN, Dimension, add_powers, name_of

Quantity = float | str  # a number in SI, or text with a unit: 0.25 or "25 cm"

_DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(rf"\s*([+-]?{_DIGITS})\s*(.*?)\s*$")
# What begins with a plain factor or with parentheses, 3*0.2 mm or (2 mm)*(3 N/m), is all unit.
_PRODUCT = re.compile(rf"\s*([+-]?)\s*((?:{_DIGITS}\s*[*/·⋅×](?!\*)|\([\s(]*[0-9.]).*?)\s*$")
_YAML_TEXT = re.compile(r"\s*[+-]?[0-9]+[eE][+-]?[0-9]+\s*$")  # YAML 1.1 reads 1e-5 as text
_LEAST = sys.float_info.min  # smaller numbers are subnormal and lose digits


def to_si(
    value: Quantity, unit: str, where: str | None = None, *, per_angle: bool = False
) -> float:
    """Return a quantity in SI; a bare number is already in ``unit``, which must be SI.

    Args:
        value: a number, or text such as ``"120 g/m^2"``.
        unit: the expected SI unit, e.g. ``"kg/m^2"``.
        where: name of the field in messages.
        per_angle: the quantity is a shear stiffness: it may be given per angle (``gf/(cm*deg)``),
            and is per radian if no angle is given.

    Raises:
        UnitError: the number is not finite, a text has no unit or a unit of another dimension, or
            the number is larger than ``max_magnitude`` of the unit or too small for floating point.
    """
    found = _convert(value, unit, where, per_angle)
    if abs(found) > max_magnitude(unit):
        raise UnitError(
            "quantity",
            got=str(value),
            where=where,
            expected=f"at most {max_magnitude(unit):g} {unit}",
        )
    return found


def max_magnitude(unit: str) -> float:
    """Return the largest absolute value that weft accepts in an SI unit, far beyond any cloth's."""
    return MOST.get(parse_unit(unit)[1] if unit else PLAIN, MOST_ELSE)


def _convert(value: Quantity, unit: str, where: str | None, per_angle: bool) -> float:
    """Return a quantity in SI, after checking its unit and its dimension."""
    given: object = value
    if isinstance(given, bool) or not isinstance(given, str | Real):
        raise UnitError("quantity", got=repr(value), where=where, expected=f"a number in {unit}")
    if not isinstance(value, str):
        return _finite(value, where)
    if len(value) > LONGEST:
        raise UnitError(
            "quantity", got=f"{len(value)} characters", where=where, expected=f"at most {LONGEST}"
        )
    number, text = _split(value, unit, where)
    if not text:
        return number
    scale, dimension = parse_unit(text, where)
    wanted = parse_unit(unit)[1]
    if dimension != wanted and not (per_angle and dimension == add_powers(wanted, ANGLE, -1)):
        _wrong_dimension(value, dimension, unit, where, per_angle)
    result = number * scale
    if not math.isfinite(result) or (number and abs(result) < _LEAST):
        _out_of_range(value, where, math.isfinite(result))
    return result


def in_si(value: Yaml, unit: str, where: str | None = None) -> Yaml:
    """Return a value in which every text is converted to a number in SI, also inside lists and
    tuples; numbers and None are unchanged.

    Raises:
        UnitError: as for ``to_si``.
    """
    if isinstance(value, str):
        return to_si(value, unit, where)
    if isinstance(value, list | tuple) and any(isinstance(v, str | list | tuple) for v in value):
        return type(value)(in_si(v, unit, where) for v in value)
    return value


def _split(value: str, unit: str, where: str | None) -> tuple[float, str]:
    """Return the number and the unit of a text, the unit with its factors (``kg/m^3*0.2 mm``).

    The unit is empty for numbers such as 1e-5, which YAML 1.1 reads as text.
    """
    product = _PRODUCT.match(value)
    if product is not None:
        return float(f"{product[1]}1"), product[2]
    match = _NUMBER.match(value)
    if match is None or match[2][:1] == ",":
        hint = f"write '{value.replace(',', '.')}'" if "," in value else None
        raise UnitError(
            "quantity",
            got=repr(value),
            where=where,
            expected=f"a number and a unit, like '1 {unit}'",
            hint=hint,
        )
    number = float(match[1])
    written = any(c in "123456789" for c in re.split("[eE]", match[1])[0])
    if not math.isfinite(number) or (written and abs(number) < _LEAST):
        _out_of_range(value, where, math.isfinite(number))
    if not match[2] and not _YAML_TEXT.match(value):
        raise UnitError(
            "quantity",
            got=repr(value),
            where=where,
            expected=f"a unit after the number, like '{value.strip()} {unit}'",
            hint=f"weft reads a number without quotes in {unit}",
        )
    if _NUMBER.match(match[2]) and not re.match("1(?![0-9.eE])", match[2]):
        raise UnitError(
            "quantity",
            got=repr(value),
            where=where,
            expected=f"* or / before the second number, like '{match[1]} * {match[2]}'",
        )
    return number, match[2]


def _finite(value: SupportsFloat, where: str | None) -> float:
    """Return a floating-point number, after checking that it is finite."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnitError("quantity", got=f"{number:g}", where=where, expected="a finite number")
    return number


def _wrong_dimension(
    value: str, dimension: Dimension, unit: str, where: str | None, per_angle: bool
) -> NoReturn:
    """Raise the error of a quantity with a unit of another dimension."""
    wanted = parse_unit(unit)[1]
    number = _split(value, unit, where)[0]
    expected = f"{name_of(wanted, unit)}, like '{number:g} {unit}'"
    if per_angle:
        expected += ", which may be per angle"
    angle = dimension[:3] == wanted[:3] and not per_angle
    raise UnitError(
        "unit",
        got=f"{value!r}, {name_of(dimension)}",
        where=where,
        expected=expected,
        hint="this quantity has no angle" if angle and wanted[3] == 0 else None,
    )


def _out_of_range(value: str, where: str | None, small: bool) -> NoReturn:
    """Raise the error of a number that is too large or too small for floating point."""
    shown = value if len(value) < 40 else f"{value[:40]}..."
    size = "small" if small else "large"
    expected = f"a number that is not too {size}"
    raise UnitError("quantity", got=repr(shown), where=where, expected=expected)
