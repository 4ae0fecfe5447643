"""Unit expressions: ``gf*cm^2/cm``, ``gf/(cm*deg)``, ``N/m per rad``.

    expression = ratio { "per" product }
    ratio      = product { "/" power }
    product    = power { ("*" | "·" | space) power }
    power      = (name | number | "(" expression ")") [ "^" whole number ]

``a/b/c`` is a/(b c). A product after a slash, ``a/b*c``, is rejected: programs read it as (a/b)*c,
textile papers mean a/(b*c), and 0.6 gf/cm*deg would be wrong by a factor of 3283. ``^2`` may be
written ``²``, ``**2`` or, after a name, ``2``.

A number begins a factor with a unit of its own: ``kg/m^3*0.2 mm`` is (kg/m^3)*(0.2 mm), and
``N/5 cm`` is N/(5 cm). Only a plain number over such a factor, ``1/2 m``, has two meanings.
"""

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from weft.base.errors import UnitError, did_you_mean
from weft.base.units.table import PLAIN, UNITS, Dimension, add_powers

LONGEST = 200  # characters of a quantity
LARGEST_POWER = 9
EXAMPLES = "names such as kg, g, m, cm, mm, s, N, gf, Pa, deg"

_TOKEN = re.compile(
    r"(?P<name>[A-Za-zµ%°]+)|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<op>[*/()^·+-])",
    re.ASCII,
)
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


@dataclass(frozen=True)
class Token:
    """A name, number or operator; ``joined``: no space separates it from the previous token."""

    kind: str
    text: str
    joined: bool


@lru_cache(maxsize=1024)
def parse_unit(text: str, where: str | None = None) -> tuple[float, Dimension]:
    """Return the size in SI and the dimension of a unit expression such as ``"gf*cm^2/cm"``.

    Args:
        text: the expression.
        where: name of the field in messages.

    Raises:
        UnitError: a unit is unknown, the expression is malformed or ambiguous, or its size is zero
            or not finite in floating point.
    """
    if len(text) > LONGEST:
        raise UnitError(
            "unit", got=f"{len(text)} characters", where=where, expected=f"at most {LONGEST}"
        )
    reader = _Reader(text, where)
    scale, powers = reader.expression()
    if reader.here is not None:
        reader.refuse(
            f"nothing after {reader.read!r}"
            if reader.here.text != ")"
            else "an opening parenthesis before ')'"
        )
    if not (math.isfinite(scale) and scale > 0):
        size = "too large" if scale else "too small"
        reader.refuse(f"a unit of finite size; this unit is {size}")
    return scale, powers


class _Reader:
    """A recursive descent parser that reads from left to right, one token ahead."""

    def __init__(self, text: str, where: str | None) -> None:
        self.text, self.where = text, where
        self.tokens = self._tokens()
        self.at = 0

    @property
    def here(self) -> Token | None:
        """The next token; None at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    @property
    def read(self) -> str:
        """The part of the expression that has been read."""
        return self._written(0)

    def refuse(self, expected: str, hint: str | None = None) -> NoReturn:
        """Raise the error of an expression that is not accepted."""
        hint = hint or "for example '120 g/m^2', '0.05 gf*cm^2/cm' or '0.6 gf/(cm*deg)'"
        raise UnitError("unit", got=repr(self.text), where=self.where, expected=expected, hint=hint)

    def _tokens(self) -> list[Token]:
        """Split the text into tokens, with powers as ``^`` and products as ``*`` or ``·``."""
        plain = self.text.replace("μ", "µ").replace("⋅", "·").replace("×", "·")
        plain = _SUPERSCRIPT.sub(lambda m: "^" + m[0].translate(_PLAIN), plain)
        plain = plain.replace("**", "^")
        tokens, at = list[Token](), 0
        while at < len(plain):
            if plain[at] in " \t":
                at += 1
                continue
            match = _TOKEN.match(plain, at)
            if match is None:
                self.refuse(f"no character like {plain[at]!r}")
            joined = at > 0 and plain[at - 1] not in " \t"
            tokens.append(Token(str(match.lastgroup), match[0], joined))
            at = match.end()
        return tokens

    def _written(self, start: int) -> str:
        """Return the text of the tokens from ``start`` to the current one."""
        return "".join(t.text for t in self.tokens[start : self.at])

    def _take(self, *texts: str) -> bool:
        """Consume the next token if it is one of ``texts``; return True if it was."""
        if self.here is not None and self.here.text in texts:
            self.at += 1
            return True
        return False

    def expression(self) -> tuple[float, Dimension]:
        """Evaluate ratios with ``per`` between them."""
        value = self._ratio()
        while self._take("per"):
            value = _times(value, self._ratio(), -1)
        return value

    def _ratio(self) -> tuple[float, Dimension]:
        """Evaluate factors with ``*``, ``/`` or a space between; after a slash only ``/`` may
        follow, or ``*`` and a number, which begins a ratio of its own.
        """
        first = self.at
        value = self._power()
        above, below, over_number = [self._written(first)], list[str](), False
        while self.here is not None and self.here.text not in (")", "per"):
            divide = self._take("/")
            product = not divide and self._take("*", "·")
            if not (divide or product) and self.here.kind == "op" and self.here.text != "(":
                self.refuse(f"*, / or a space after {self.read!r}")
            if product and below and self._at_number() and not over_number:
                return _times(value, self._ratio(), 1)
            start, numbered = self.at, divide and self._at_number()
            factor = self._numbered() if numbered else self._power()
            over_number |= numbered
            written = self._written(start)
            if not divide and below:
                top, bottom = "*".join(above), "*".join(below)
                hint = f"write {top}/({bottom}*{written}) or {top}*{written}/{bottom}"
                self.refuse("a quantity with one meaning; this text has two", hint)
            if numbered and value[1] == PLAIN != factor[1] and self.tokens[start].text != "(":
                hint = "write the quotient as one number, as in '0.5 m', or parentheses: '1/(2 m)'"
                self.refuse("a quantity with one meaning; this text has two", hint)
            (below if divide else above).append(written)
            value = _times(value, factor, -1 if divide else 1)
        return value

    def _at_number(self) -> bool:
        """Return True if a number is next, in parentheses or not."""
        after = self.tokens[self.at :]
        return next((t.kind == "number" for t in after if t.text != "("), False)

    def _numbered(self) -> tuple[float, Dimension]:
        """Evaluate a number with the unit after it, as in ``N/5 cm``."""
        value = self._power()
        if self.here is not None and self.here.kind == "name" and self.here.text != "per":
            value = _times(value, self._power(), 1)
        return value

    def _power(self) -> tuple[float, Dimension]:
        """Evaluate a unit, a number or parentheses, with the power that follows."""
        token = self.here
        if token is None or token.text in ("/", "*", "·", "per", ")", "^", "+", "-"):
            side = "after" if self.at else "before"
            other = self.tokens[self.at - 1].text if self.at else (token.text if token else "")
            self.refuse(f"a unit {side} {other!r}" if other else "a unit")
        self.at += 1
        if token.text == "(":
            base = self.expression()
            if not self._take(")"):
                self.refuse("a closing parenthesis")
        elif token.kind == "number":
            before = self.tokens[self.at - 2].text if self.at > 1 else "("
            if token.text != "1" and before not in ("(", "*", "·", "/", "per"):
                self.refuse(f"* or / before {token.text!r}")
            base = (float(token.text), PLAIN)
        elif token.text in UNITS:
            base = UNITS[token.text]
        else:
            hint = did_you_mean(token.text, UNITS) if token.kind == "name" else None
            self.refuse(f"{EXAMPLES} in place of {token.text!r}", hint)
        return self._raise(base, token)

    def _raise(self, base: tuple[float, Dimension], token: Token) -> tuple[float, Dimension]:
        """Return the base raised to the power that follows, if there is one."""
        caret = self._take("^")
        follows = self.here
        digits = (
            follows is not None
            and follows.joined
            and token.kind == "name"
            and (follows.kind == "number" or follows.text in ("-", "+"))
        )
        if not caret and not digits:
            return base
        sign = -1 if self._take("-") else 1
        if sign > 0:
            self._take("+")
        number = self.here
        if number is None or not number.text.isdecimal():
            self.refuse(f"a whole number as power of {token.text!r}")
        self.at += 1
        power = sign * int(number.text)
        if abs(power) > LARGEST_POWER:
            self.refuse(f"a power from -{LARGEST_POWER} to {LARGEST_POWER}")
        try:
            scale = base[0] ** power
        except (OverflowError, ZeroDivisionError):
            scale = math.inf
        return scale, add_powers(PLAIN, base[1], power)


def _times(
    a: tuple[float, Dimension], b: tuple[float, Dimension], power: int
) -> tuple[float, Dimension]:
    """Return a b if ``power`` is 1, a/b if it is -1."""
    other = b[0] if power > 0 else (1 / b[0] if b[0] else math.inf)
    return a[0] * other, add_powers(a[1], b[1], power)
