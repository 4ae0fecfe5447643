"""A number with its unit, in SI."""

import math
import re
import sys
from numbers import Real
from typing import Any, NoReturn

from weft.base.errors import UnitError
from weft.base.units.grammar import LONGEST, parse_unit
from weft.base.units.table import MOST, MOST_ELSE, PLAIN, Dimension, name_of

Quantity = float | str  # a number in SI, or text with a unit: 0.25 or "25 cm"

_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*$")
_YAML_TEXT = re.compile(r"\s*[+-]?[0-9]+[eE][+-]?[0-9]+\s*$")  # YAML 1.1 reads 1e-5 as text
_LEAST = sys.float_info.min  # below, floating-point numbers lose digits


def to_si(
    value: Quantity, unit: str, where: str | None = None, *, per_angle: bool = False
) -> float:
    """``value`` in SI. A bare number is taken to be in ``unit`` already, which must be an SI
    expression.

    Args:
        value: a number, or text such as ``"120 g/m^2"``.
        unit: the expected SI unit, e.g. ``"kg/m^2"``.
        where: the field, for the error message.
        per_angle: a stiffness in shear: it may be per angle (``gf/(cm*deg)``), and is per radian
            where no angle is given.

    Raises:
        UnitError: not a finite number, no unit in a text, or a unit of another dimension; a number
            beyond ``most_of`` the unit, or too small for floating point.
    """
    found = _converted(value, unit, where, per_angle)
    if abs(found) > most_of(unit):
        raise UnitError(
            "quantity", got=str(value), where=where, expected=f"at most {most_of(unit):g} {unit}"
        )
    return found


def most_of(unit: str) -> float:
    """The largest size of a number in an SI unit that weft takes: no cloth is anywhere near."""
    return MOST.get(parse_unit(unit)[1] if unit else PLAIN, MOST_ELSE)


def _converted(value: Quantity, unit: str, where: str | None, per_angle: bool) -> float:
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
    if dimension != wanted and not (per_angle and dimension == _per_angle(wanted)):
        _wrong_dimension(value, dimension, unit, where, per_angle)
    result = number * scale
    if not math.isfinite(result) or (number and abs(result) < _LEAST):
        _out_of_range(value, where, math.isfinite(result))
    return result


def in_si(value: Any, unit: str, where: str | None = None) -> Any:
    """The same with every text turned into a number in SI, also inside lists and tuples; numbers
    and None are left as they are.

    Raises:
        UnitError: as ``to_si``.
    """
    if isinstance(value, str):
        return to_si(value, unit, where)
    if isinstance(value, list | tuple) and any(isinstance(v, str | list | tuple) for v in value):
        return type(value)(in_si(v, unit, where) for v in value)
    return value


def _split(value: str, unit: str, where: str | None) -> tuple[float, str]:
    """The number, and the unit; none for what YAML reads as text although it is a number."""
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
            hint=f"a number without quotes is taken in {unit}",
        )
    return number, match[2]


def _finite(value: Any, where: str | None) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnitError("quantity", got=f"{number:g}", where=where, expected="a finite number")
    return number


def _per_angle(dimension: Dimension) -> Dimension:
    kg, m, s, rad = dimension
    return (kg, m, s, rad - 1)


def _wrong_dimension(
    value: str, dimension: Dimension, unit: str, where: str | None, per_angle: bool
) -> NoReturn:
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
        hint="an angle has no place here" if angle and wanted[3] == 0 else None,
    )


def _out_of_range(value: str, where: str | None, small: bool) -> NoReturn:
    shown = value if len(value) < 40 else f"{value[:40]}..."
    size = "small" if small else "large"
    expected = f"a number that is not too {size}"
    raise UnitError("quantity", got=repr(shown), where=where, expected=expected)
