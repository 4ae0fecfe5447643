"""Arithmetic with units and named numbers: ``waist/4 + 1 cm``. No code is executed.

The syntax is that of Python's numbers, with ``^`` for powers: Python's own parser gives the tree,
in which only operators, signs, functions and operands may stand. An operand is a number, with its
unit or without, or a name. A unit is one word directly after its number (``2.5 cm``, ``90 deg``,
``30 N``), and a power after it is the unit's: ``4 cm^2`` is 4 square centimeters, ``(4 cm)^2`` are
16. A word elsewhere is a name. Both operands of a sum need the same dimension. Angles are a
dimension too: ``sin`` takes an angle, ``atan2`` returns one.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from weft.base.errors import UnitError, did_you_mean
from weft.base.units.grammar import parse_unit
from weft.base.units.table import ANGLE, PLAIN, UNITS, Dimension, add_powers, name_of

LONGEST = 1000  # characters of an expression
CONSTANTS = {"pi": math.pi}
# Functions with their number of arguments (0: one or more), the dimension that arguments must have
# (None: any, but one for all), and the dimension of the value (None: that of the arguments).
FUNCTIONS: Mapping[str, tuple[Callable[..., float], int, Dimension | None, Dimension | None]] = {
    "sqrt": (math.sqrt, 1, None, None),
    "abs": (abs, 1, None, None),
    "min": (lambda *values: min(values), 0, None, None),
    "max": (lambda *values: max(values), 0, None, None),
    "hypot": (math.hypot, 0, None, None),
    "sin": (math.sin, 1, ANGLE, PLAIN),
    "cos": (math.cos, 1, ANGLE, PLAIN),
    "tan": (math.tan, 1, ANGLE, PLAIN),
    "asin": (math.asin, 1, PLAIN, ANGLE),
    "acos": (math.acos, 1, PLAIN, ANGLE),
    "atan2": (math.atan2, 2, None, ANGLE),
}
OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float | complex]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_TOKEN = re.compile(
    rf"\s*(?:(?P<function>(?:{'|'.join(FUNCTIONS)})(?=\s*\())"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:\s*(?P<unit>[^\W\d]\w*|°|%)"
    r"(?:\s*\^\s*(?P<power>-?[0-9]+)(?![.0-9]))?)?"
    r"|(?P<name>[^\W\d]\w*|°|%)|(?P<op>[-+*/^(),]))\s*"
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
    return _Evaluation(text, known, where).result()


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


class _Evaluation:
    """The evaluation of one expression."""

    def __init__(self, text: str, known: Mapping[str, UnitValue], where: str | None) -> None:
        self.text, self.known, self.where = text, known, where
        self.operands: dict[str, UnitValue] = {}

    def refuse(self, expected: str, hint: str | None = None) -> NoReturn:
        """Raise the error of an expression that is not accepted."""
        hint = hint or "for example 'waist/4 + 1 cm'"
        raise UnitError(
            "expression", got=repr(self.text), where=self.where, expected=expected, hint=hint
        )

    def result(self) -> UnitValue:
        """Return the value of the expression."""
        source, at, text = list[str](), 0, self.text.strip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self.refuse(f"no character like {text[at]!r}")
            source.append(self._python(match))
            at = match.end()
        try:
            return self.value(ast.parse(" ".join(source), mode="eval").body)
        except SyntaxError:
            self.refuse("an operator between any two numbers or names, and all parentheses closed")
        except (RecursionError, MemoryError):
            self.refuse("fewer nested parts")

    def _python(self, match: re.Match[str]) -> str:
        """Return a part of the expression in Python's syntax; operands get names of their own."""
        if match["op"] or match["function"]:
            return match["function"] or match["op"].replace("^", "**")
        operand = f"_{len(self.operands)}"
        word, power = match["unit"] or match["name"], int(match["power"] or 1)
        self.operands[operand] = self._operand(match["number"], word, power)
        return operand

    def _operand(self, number: str | None, word: str | None, power: int) -> UnitValue:
        """Return a number, times a power of its unit if a unit follows, or a named number."""
        if number is not None:
            scale, dimension = (1.0, PLAIN) if word is None else UNITS.get(word, (math.nan, PLAIN))
            if math.isnan(scale):
                hint = did_you_mean(str(word), [*UNITS, *self.known])
                self.refuse(f"a unit or an operator after {number}, not {word!r}", hint)
            unit = self.combine(ast.Pow(), UnitValue(scale, dimension), UnitValue(float(power)))
            return self.finite(float(number) * unit.value, unit.dimension)
        known = {name: UnitValue(value) for name, value in CONSTANTS.items()} | dict(self.known)
        if word not in known:
            hint = did_you_mean(str(word), [*self.known, *FUNCTIONS])
            self.refuse(f"a known measure in place of {word!r} ({', '.join(known)})", hint)
        return known[word]

    def value(self, node: ast.expr) -> UnitValue:
        """Return the value of a part of the syntax tree."""
        match node:
            case ast.Name(id=name) if name in self.operands:
                return self.operands[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self.value(operand)
                return UnitValue(-found.value, found.dimension)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand)
            case ast.BinOp(left=left, op=sign, right=right):
                return self.combine(sign, self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as given, keywords=[]) if (
                name in FUNCTIONS
            ):
                return self.apply(name, [self.value(a) for a in given])
        return self.refuse("a number or a name in parentheses, after an operator or a function")

    def combine(self, sign: ast.operator, a: UnitValue, b: UnitValue) -> UnitValue:
        """Return the sum, difference, product, quotient or power of two numbers."""
        dimension = a.dimension
        if isinstance(sign, ast.Add | ast.Sub):
            self.check_same(a, b, "'+'" if isinstance(sign, ast.Add) else "'-'")
        elif isinstance(sign, ast.Pow):
            if b.dimension != PLAIN or (dimension != PLAIN and not b.value.is_integer()):
                self.refuse("a plain number after '^'; a whole number if the base has a unit")
            dimension = add_powers(PLAIN, dimension, round(b.value))
        else:
            times = 1 if isinstance(sign, ast.Mult) else -1
            dimension = add_powers(dimension, b.dimension, times)
        try:
            value = OPERATORS[type(sign)](a.value, b.value)
        except ZeroDivisionError:
            self.refuse("no division by zero")
        except OverflowError:
            value = math.inf
        if isinstance(value, complex):
            self.refuse("no root of a negative number")
        return self.finite(value, dimension)

    def apply(self, name: str, given: Sequence[UnitValue]) -> UnitValue:
        """Return the value of a function."""
        function, count, wanted, result = FUNCTIONS[name]
        if count not in (0, len(given)):
            self.refuse(f"the right number of arguments of {name}")
        for other in given[1:]:
            self.check_same(given[0], other, name)
        dimension = given[0].dimension
        if wanted not in (None, dimension):
            self.refuse(f"{name} of {name_of(wanted)}, not of {name_of(dimension)}")
        if name == "sqrt":
            if given[0].value < 0 or any(p % 2 for p in dimension):
                self.refuse("a root of a quantity that is a square and not negative")
            kg, m, s, rad = (p // 2 for p in dimension)
            dimension = (kg, m, s, rad)
        try:
            value = function(*(g.value for g in given))
        except ValueError:
            self.refuse(f"{name} of -1 to 1")
        return self.finite(value, dimension if result is None else result)

    def check_same(self, a: UnitValue, b: UnitValue, what: str) -> None:
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
