"""Values of a field that varies in a sweep: one of several values, or a number of a range."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import yaml

from weft.base.errors import SweepError
from weft.base.settings import REQUIRED, documented, setting
from weft.base.trees import Json, Yaml

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*", re.DOTALL)
_MEASURED = re.compile(
    r"[-+]?[0-9][0-9.]*(?:e[-+][0-9]+)? [A-Za-z][A-Za-z0-9/^*]*"
)  # plain in YAML
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # of C where PyYAML has it
DIGITS = 12  # significant digits of a value


@dataclass(frozen=True)
class Choice:
    """One of several values, all with equal probability."""

    values: tuple[Yaml, ...]

    def at(self, u: float) -> Yaml:
        """Return the value at u in [0, 1)."""
        return self.values[min(int(u * len(self.values)), len(self.values) - 1)]

    def levels(self) -> tuple[Yaml, ...]:
        """Return all values, for a grid."""
        return self.values

    def ends(self) -> tuple[Yaml, ...]:
        """Return the values that are checked before a sweep starts: all of them."""
        return self.values

    @property
    def count(self) -> int:
        """Return the number of levels of a grid."""
        return len(self.values)

    def as_yaml(self) -> str:
        """Return the values as a sweep file writes them."""
        return yaml_text(self.values)


@documented
@dataclass(frozen=True)
class Range:
    """A number between two ends, in the unit of both.

    Raises:
        SweepError: ends that are no numbers, have different units or the wrong order, or do not
            suit the scale.
    """

    first: float | str = setting(REQUIRED, "a number, or one with a unit such as 15 cm", key="from")
    last: float | str = setting(REQUIRED, "a larger number, in the same unit", key="to")
    steps: int | None = setting(None, "levels of a grid, both ends included", least=1)
    scale: str = setting("linear", "of the values between", choices=("linear", "log"))
    whole: bool = setting(False, "only whole numbers")

    def __post_init__(self) -> None:
        both = f"{self.first} to {self.last}"
        if self.unit != self._quantities[1][1]:
            raise SweepError("vary", got=both, expected="both ends in the same unit")
        if not self.low < self.high:
            raise SweepError(
                "vary", got=both, expected="must be from the smaller to the larger number"
            )
        if self.log and self.low <= 0:
            expected = "must be > 0, with scale: log"
            raise SweepError("vary: from", got=self.first, expected=expected)
        if self.whole and not (self.low.is_integer() and self.high.is_integer()):
            raise SweepError("vary", got=both, expected="whole numbers, with whole: true")
        if self.whole and self.log:
            raise SweepError("vary: scale", got="log", expected="linear, with whole: true")

    @cached_property
    def _quantities(self) -> list[tuple[float, str]]:
        """Numbers and units of both ends."""
        found = []
        for name, end in (("from", self.first), ("to", self.last)):
            quantity = quantity_of(end)
            if quantity is None:
                expected = "a number, or one with a unit such as 15 cm"
                raise SweepError(f"vary: {name}", got=repr(end), expected=expected)
            found.append(quantity)
        return found

    @property
    def low(self) -> float:
        """The lower end, in ``unit``."""
        return self._quantities[0][0]

    @property
    def high(self) -> float:
        """The upper end, in ``unit``."""
        return self._quantities[1][0]

    @property
    def unit(self) -> str:
        """The unit of both ends; empty: numbers without a unit."""
        return self._quantities[0][1]

    @property
    def log(self) -> bool:
        """Whether logarithms of the values are spread evenly."""
        return self.scale == "log"

    def at(self, u: float) -> Yaml:
        """Return the value at u in [0, 1]: a number, or text with its unit."""
        if self.whole:
            lowest, highest = round(self.low), round(self.high)
            return self._with_unit(min(lowest + int(u * (highest - lowest + 1)), highest))
        if self.log and 0 < u < 1:
            a, b = math.log(self.low), math.log(self.high)
            return self._with_unit(math.exp(a + u * (b - a)))
        return self._with_unit(self.low + u * (self.high - self.low))

    def levels(self) -> tuple[Yaml, ...]:
        """Return the values of a grid."""
        last = self.count - 1
        if self.whole:
            lowest, span = round(self.low), (self.high - self.low) / max(last, 1)
            return tuple(self._with_unit(lowest + round(k * span)) for k in range(last + 1))
        return tuple(self.at(k / max(last, 1)) for k in range(last + 1))

    def ends(self) -> tuple[Yaml, ...]:
        """Return the values at both ends, which are checked before a sweep starts."""
        return (self.at(0.0), self.at(1.0))

    @property
    def count(self) -> int:
        """Return the number of levels of a grid; 0 if it is not known."""
        if self.steps is not None:
            return self.steps
        return round(self.high) - round(self.low) + 1 if self.whole else 0

    def as_yaml(self) -> str:
        """Return the range as a sweep file writes it."""
        tree: Json = {"from": self._with_unit(self.low), "to": self._with_unit(self.high)}
        tree |= {"steps": self.steps} if self.steps is not None else {}
        tree |= {"scale": "log"} if self.log else {}
        return yaml_text(tree | ({"whole": True} if self.whole else {}))

    def _with_unit(self, value: float) -> Yaml:
        """Return a value rounded to ``DIGITS``, with its unit.

        Logarithms of different machines agree to this many digits, and names of samples depend on
        values.
        """
        value = value if isinstance(value, int) else float(f"{value:.{DIGITS}g}")
        return f"{value!r} {self.unit}" if self.unit else value


FieldValues = Choice | Range


def quantity_of(value: object) -> tuple[float, str] | None:
    """Return number and unit of a value, (15.0, "cm") for ``15 cm``; None if it is no number."""
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    number = float(found[1]) if found else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        return None
    return float(number), found[2] if found else ""


def plain_value(value: object) -> Yaml:
    """Return NumPy numbers and arrays, and those in mappings and lists, as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in value.items()}
    return [plain_value(part) for part in value] if isinstance(value, list | tuple) else value


def yaml_text(value: object) -> str:
    """Return a value as one line of YAML that reads back as the same value, floats bit for bit."""
    if isinstance(value, str) and _MEASURED.fullmatch(value):
        return value  # as PyYAML writes it, for the many values of a plan
    text: str = yaml.dump(
        plain_value(value),
        Dumper=_Dumper,
        default_flow_style=True,
        width=2**30,
        allow_unicode=True,
        sort_keys=False,
    )
    return text.removesuffix("\n").removesuffix("\n...")
