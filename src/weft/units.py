"""Quantities written as people write them, turned into SI: ``"120 g/m^2"`` is 0.12 kg/m^2.

A quantity is a number and a unit expression: names joined by ``*``, ``·`` or ``/``, each with an
optional power (``m^2``, ``m²``). Dimensions are checked, so a bending stiffness cannot be given in
N/m. ``gf*cm^2/cm`` (the unit of Kawabata's bending tester) and ``gf/cm`` are ordinary expressions
here.
"""

import math
import re
from fractions import Fraction

from weft.errors import UnitError

Dimension = tuple[Fraction, Fraction, Fraction]  # powers of kg, m, s

_ZERO = (Fraction(0), Fraction(0), Fraction(0))


def _dimension(kg: int = 0, m: int = 0, s: int = 0) -> Dimension:
    return (Fraction(kg), Fraction(m), Fraction(s))


_GRAVITY = 9.80665  # [m/s^2] standard gravity: 1 kgf = 9.80665 N (CGPM 1901)
_INCH = 0.0254  # [m] exact since 1959
_POUND = 0.45359237  # [kg] exact since 1959

_BASE: dict[str, tuple[float, Dimension]] = {
    "kg": (1.0, _dimension(kg=1)),
    "g": (1e-3, _dimension(kg=1)),
    "mg": (1e-6, _dimension(kg=1)),
    "oz": (_POUND / 16, _dimension(kg=1)),
    "lb": (_POUND, _dimension(kg=1)),
    "m": (1.0, _dimension(m=1)),
    "dm": (1e-1, _dimension(m=1)),
    "cm": (1e-2, _dimension(m=1)),
    "mm": (1e-3, _dimension(m=1)),
    "um": (1e-6, _dimension(m=1)),
    "µm": (1e-6, _dimension(m=1)),
    "in": (_INCH, _dimension(m=1)),
    "ft": (12 * _INCH, _dimension(m=1)),
    "yd": (36 * _INCH, _dimension(m=1)),
    "s": (1.0, _dimension(s=1)),
    "ms": (1e-3, _dimension(s=1)),
    "us": (1e-6, _dimension(s=1)),
    "min": (60.0, _dimension(s=1)),
    "Hz": (1.0, _dimension(s=-1)),
    "N": (1.0, _dimension(1, 1, -2)),
    "mN": (1e-3, _dimension(1, 1, -2)),
    "uN": (1e-6, _dimension(1, 1, -2)),
    "µN": (1e-6, _dimension(1, 1, -2)),
    "kN": (1e3, _dimension(1, 1, -2)),
    "gf": (1e-3 * _GRAVITY, _dimension(1, 1, -2)),
    "kgf": (_GRAVITY, _dimension(1, 1, -2)),
    "dyn": (1e-5, _dimension(1, 1, -2)),
    "J": (1.0, _dimension(1, 2, -2)),
    "mJ": (1e-3, _dimension(1, 2, -2)),
    "Pa": (1.0, _dimension(1, -1, -2)),
    "kPa": (1e3, _dimension(1, -1, -2)),
    "MPa": (1e6, _dimension(1, -1, -2)),
    "GPa": (1e9, _dimension(1, -1, -2)),
    "rad": (1.0, _ZERO),
    "deg": (math.pi / 180, _ZERO),
    "%": (1e-2, _ZERO),
    "1": (1.0, _ZERO),
}

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)\s*$")
_YAML_TEXT = re.compile(
    r"\s*[+-]?\d+[eE][+-]?\d+\s*$"
)  # 1e-5: YAML 1.1 reads text, people a number
_FACTOR = re.compile(r"([A-Za-zµ%]+|1)(?:\^?([+-]?\d{1,2}))?$")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def parse_unit(text: str, where: str | None = None) -> tuple[float, Dimension]:
    """The size in SI and the dimension of a unit expression such as ``"gf*cm^2/cm"``.

    Raises:
        UnitError: an unknown unit or a malformed expression.
    """
    scale, powers = 1.0, list(_ZERO)
    expression = text.translate(_SUPERSCRIPTS).replace("·", "*").replace(" ", "")
    for sign, part in re.findall(r"([*/]?)([^*/]+)", expression):
        match = _FACTOR.match(part)
        if match is None or match[1] not in _BASE:
            raise UnitError(
                "unit",
                got=repr(text),
                where=where,
                expected="names such as kg, g, m, cm, mm, s, N, gf, Pa joined by * and /",
                hint="for example '120 g/m^2' or '0.05 gf*cm^2/cm'",
            )
        size, dimension = _BASE[match[1]]
        power = int(match[2] or 1) * (-1 if sign == "/" else 1)
        scale *= size**power
        powers = [p + power * d for p, d in zip(powers, dimension)]
    return scale, (powers[0], powers[1], powers[2])


def to_si(value: str | float, unit: str, where: str | None = None) -> float:
    """``value`` in SI. A bare number is taken to be in ``unit`` already, which must be an SI
    expression.

    Args:
        value: a number, or text such as ``"120 g/m^2"``.
        unit: the expected SI unit, e.g. ``"kg/m^2"``.
        where: the field, for the error message.

    Raises:
        UnitError: not a number, no unit in a text, or a unit of another dimension.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnitError("quantity", got=repr(value), where=where, expected=f"a number in {unit}")
    if not isinstance(value, str):
        return float(value)
    match = _NUMBER.match(value)
    if match is None:
        raise UnitError(
            "quantity",
            got=repr(value),
            where=where,
            expected=f"a number and a unit, like '1 {unit}'",
        )
    if not match[2] and _YAML_TEXT.match(value):
        return float(value)
    if not match[2]:
        raise UnitError(
            "quantity",
            got=repr(value),
            where=where,
            expected=f"a unit after the number, like '{value.strip()} {unit}'",
            hint=f"a number without quotes is taken in {unit}",
        )
    scale, dimension = parse_unit(match[2], where)
    if dimension != parse_unit(unit)[1]:
        raise UnitError("unit", got=repr(value), where=where, expected=f"a quantity in {unit}")
    return float(match[1]) * scale
