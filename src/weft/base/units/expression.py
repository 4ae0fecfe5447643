"""Arithmetic with units and named numbers: ``waist/4 + 1 cm``. No code is executed.

    sum      = product { ("+" | "-") product }
    product  = signed { ("*" | "/") signed }
    signed   = ("+" | "-") signed | power
    power    = atom [ "^" signed ]
    atom     = number [unit] | name | function "(" sum { "," sum } ")" | "(" sum ")"

A unit is one word directly after its number (``2.5 cm``, ``90 deg``, ``30 N``); a word elsewhere is
a name. Both operands of a sum need the same dimension. Angles are a dimension too: ``sin`` takes an
angle, ``atan2`` returns one.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from weft.base.errors import UnitError, did_you_mean
from weft.base.units.grammar import parse_unit
from weft.base.units.table import UNITS, Dimension, name_of

LONGEST = 1000  # characters of an expression
DEEPEST = 50  # nested parentheses
PLAIN: Dimension = (0, 0, 0, 0)
ANGLE: Dimension = (0, 0, 0, 1)
FUNCTIONS = ("sqrt", "abs", "min", "max", "hypot", "sin", "cos", "tan", "asin", "acos", "atan2")
CONSTANTS = {"pi": math.pi}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*|°|%)|(?P<op>[-+*/^(),]))"
)


@dataclass(frozen=True)
class UnitValue:
    """A number in SI with its dimension."""

    value: float
    dimension: Dimension = PLAIN


def evaluate(text: str, known: Mapping[str, UnitValue], where: str | None = None) -> UnitValue:
    """Return the value of an expression.

    Args:
        text: such as ``"waist/4 + 1 cm"``.
        known: named numbers.
        where: name of the expression in messages.

    Raises:
        UnitError: the expression is malformed, a name is unknown, dimensions do not fit, or the
            value is not finite.
    """
    if len(text) > LONGEST:
        raise UnitError(
            "expression", got=f"{len(text)} characters", where=where, expected=f"at most {LONGEST}"
        )
    reader = _Reader(text, known, where)
    found = reader.sum()
    if reader.here[0] != "end":
        reader.refuse(f"nothing after {reader.read!r}")
    return found


def in_unit(
    text: str, unit: str, known: Mapping[str, UnitValue], where: str | None = None
) -> float:
    """Return the value of an expression in SI; it must have the dimension of ``unit``.

    Raises:
        UnitError: as for ``evaluate``, or the value has another dimension.
    """
    found, wanted = evaluate(text, known, where), parse_unit(unit)[1]
    if found.dimension != wanted:
        hint = None
        if found.dimension == PLAIN:
            hint = f"a number in an expression needs its unit, as in '2 {unit}'"
        raise UnitError(
            "expression",
            got=f"{text!r}, {name_of(found.dimension)}",
            where=where,
            expected=name_of(wanted, unit),
            hint=hint,
        )
    return found.value


class _Reader:
    """A recursive descent parser that reads from left to right, one token ahead."""

    def __init__(self, text: str, known: Mapping[str, UnitValue], where: str | None) -> None:
        self.text, self.known, self.where = text, known, where
        self.at, self.depth = 0, 0
        self.read = ""
        self.here = self._next()

    def refuse(self, expected: str, hint: str | None = None) -> NoReturn:
        """Raise the error of an expression that is not accepted."""
        hint = hint or "for example 'waist/4 + 1 cm'"
        raise UnitError(
            "expression", got=repr(self.text), where=self.where, expected=expected, hint=hint
        )

    def _next(self) -> tuple[str, str]:
        """Return the kind and text of the next token."""
        rest = self.text[self.at :]
        if not rest.strip():
            return "end", ""
        match = _TOKEN.match(rest)
        if match is None:
            self.refuse(f"no character like {rest.strip()[0]!r}")
        self.at += match.end()
        return str(match.lastgroup), match[str(match.lastgroup)]

    def take(self, *texts: str) -> str:
        """Consume and return the next token if it is one of ``texts``; otherwise return ""."""
        kind, text = self.here
        if kind == "op" and text in texts:
            self.read, self.here = text, self._next()
            return text
        return ""

    def sum(self) -> UnitValue:
        """Evaluate products with + and - between them."""
        found = self.product()
        while sign := self.take("+", "-"):
            other = self.product()
            self.same(found, other, f"'{sign}'")
            value = found.value + (other.value if sign == "+" else -other.value)
            found = self.finite(value, found.dimension)
        return found

    def product(self) -> UnitValue:
        """Evaluate factors with * and / between them."""
        found = self.signed()
        while sign := self.take("*", "/"):
            other = self.signed()
            if sign == "/" and other.value == 0:
                self.refuse("no division by zero")
            k = 1 if sign == "*" else -1
            a, b = found.dimension, other.dimension
            value = found.value * other.value if k > 0 else found.value / other.value
            found = self.finite(value, _sum(a, b, k))
        return found

    def signed(self) -> UnitValue:
        """Evaluate a power with signs before it."""
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign == "-"
        found = self.power()
        return UnitValue(-found.value, found.dimension) if negative else found

    def power(self) -> UnitValue:
        """Evaluate an atom, and its power if ``^`` follows."""
        base = self.atom()
        if not self.take("^"):
            return base
        exponent = self.signed()
        whole = exponent.value == round(exponent.value)
        if exponent.dimension != PLAIN or (base.dimension != PLAIN and not whole):
            self.refuse("a plain number after '^', a whole one for what has a unit")
        try:
            value = base.value**exponent.value
        except (OverflowError, ZeroDivisionError):
            value = math.inf
        if isinstance(value, complex):
            self.refuse("no root of a negative number")
        n = round(exponent.value) if base.dimension != PLAIN else 0
        kg, m, s, rad = base.dimension
        return self.finite(value, (kg * n, m * n, s * n, rad * n))

    def atom(self) -> UnitValue:
        """Evaluate a number, a name, a function or parentheses."""
        kind, text = self.here
        if kind == "number":
            self.read, self.here = text, self._next()
            return self.quantity(float(text))
        if kind == "name":
            self.read, self.here = text, self._next()
            return self.named(text)
        if self.take("("):
            return self.enclosed(lambda: self.sum())
        return self.refuse(f"a number, a name or '(' in place of {text or 'the end'!r}")

    def enclosed(self, inside: Callable[[], UnitValue]) -> UnitValue:
        """Evaluate the text up to the closing parenthesis."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(f"at most {DEEPEST} parentheses in one another")
        found = inside()
        if not self.take(")"):
            self.refuse("a closing parenthesis")
        self.depth -= 1
        return found

    def quantity(self, number: float) -> UnitValue:
        """Return a number, times its unit if a unit follows."""
        kind, unit = self.here
        if kind != "name":
            return self.finite(number, PLAIN)
        if unit not in UNITS:
            self.refuse(
                f"a unit or an operator after {number:g}, not {unit!r}",
                did_you_mean(unit, [*UNITS, *self.known]),
            )
        self.read, self.here = unit, self._next()
        scale, dimension = UNITS[unit]
        return self.finite(number * scale, dimension)

    def named(self, name: str) -> UnitValue:
        """Return a named number, or the value of a function."""
        if name in FUNCTIONS and self.take("("):
            return self.enclosed(lambda: self.function(name))
        if name in self.known:
            return self.known[name]
        if name in CONSTANTS:
            return UnitValue(CONSTANTS[name])
        known = ", ".join(self.known) or "nothing"
        hint = did_you_mean(name, [*self.known, *FUNCTIONS])
        return self.refuse(f"a known measure in place of {name!r} ({known})", hint)

    def function(self, name: str) -> UnitValue:
        """Evaluate a function of its arguments, up to the closing parenthesis."""
        given = [self.sum()]
        while self.take(","):
            given.append(self.sum())
        one, several = given[0], {"min": 0, "max": 0, "hypot": 0, "atan2": 2}
        if (name not in several and len(given) != 1) or (name == "atan2" and len(given) != 2):
            self.refuse(f"another number of arguments of {name}")
        for other in given[1:]:
            self.same(one, other, name)
        values, dimension = [g.value for g in given], one.dimension
        wanted = ANGLE if name in ("sin", "cos", "tan") else PLAIN
        if name in ("sin", "cos", "tan", "asin", "acos") and dimension != wanted:
            self.refuse(f"{name} of {name_of(wanted)}, not of {name_of(dimension)}")
        if name == "sqrt":
            if values[0] < 0 or any(p % 2 for p in dimension):
                self.refuse("a root of what is a square and not negative")
            kg, m, s, rad = (p // 2 for p in dimension)
            return UnitValue(math.sqrt(values[0]), (kg, m, s, rad))
        if name in ("asin", "acos") and abs(values[0]) > 1:
            self.refuse(f"{name} of -1 to 1")
        made: dict[str, Callable[[], float]] = {
            "abs": lambda: abs(values[0]),
            "min": lambda: min(values),
            "max": lambda: max(values),
            "hypot": lambda: math.hypot(*values),
            "atan2": lambda: math.atan2(*values),
            "sin": lambda: math.sin(values[0]),
            "cos": lambda: math.cos(values[0]),
            "tan": lambda: math.tan(values[0]),
            "asin": lambda: math.asin(values[0]),
            "acos": lambda: math.acos(values[0]),
        }
        if name in ("sin", "cos", "tan"):
            dimension = PLAIN
        elif name in ("asin", "acos", "atan2"):
            dimension = ANGLE
        return self.finite(made[name](), dimension)

    def same(self, a: UnitValue, b: UnitValue, what: str) -> None:
        """Check that two numbers have the same dimension.

        Raises:
            UnitError: they do not.
        """
        if a.dimension != b.dimension:
            one, two = name_of(a.dimension), name_of(b.dimension)
            self.refuse(f"the same dimension on both sides of {what}, not {one} and {two}")

    def finite(self, value: float, dimension: Dimension) -> UnitValue:
        """Return a value with its dimension, after checking that both are in range."""
        if not math.isfinite(value) or any(abs(p) > 9 for p in dimension):
            self.refuse("a finite number with a unit of small powers")
        return UnitValue(value, dimension)


def _sum(a: Dimension, b: Dimension, k: int) -> Dimension:
    kg, m, s, rad = (p + k * q for p, q in zip(a, b))
    return (kg, m, s, rad)
