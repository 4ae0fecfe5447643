"""Settings say once what they mean: frozen dataclasses whose fields carry meaning, unit and bounds.

Checks in Python, the blocks of scene files (``scene.blocks``), ``weft explain`` and the docstrings
are read from these.
"""

import dataclasses
import enum
import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from weft.errors import SceneError, WeftError, check_known, clipped
from weft.given import fits, words
from weft.units import fields_in_si, most_of

T = TypeVar("T")
REQUIRED: Any = dataclasses.MISSING  # the default of a field without one
SMALLEST = 1e-12  # [m] of anything that has a size
_KEY = "setting"  # of a field's metadata


@dataclass(frozen=True)
class Setting:
    """What a field means, and which numbers it takes (of tuples: every entry)."""

    meaning: str
    unit: str = ""  # SI; files may say another one of the same dimension
    above: float = -math.inf  # < value
    least: float = -math.inf  # <= value
    below: float = math.inf  # > value
    most: float = math.inf  # >= value
    choices: tuple[Any, ...] = ()  # none: any
    finite: bool = True
    key: str = ""  # name in scene files; none: the field's

    def __str__(self) -> str:
        return f"[{self.unit}] {self.meaning}" if self.unit else self.meaning

    def holds(self, value: Any) -> bool:
        """Whether a value is allowed; what is no number is."""
        if isinstance(value, tuple | list):
            return all(self.holds(v) for v in value)
        if self.choices:
            return value in self.choices
        if value is None or isinstance(value, str | bool | enum.Enum) or not _is_number(value):
            return True
        inside = self.above < value < self.below and self.least <= value <= self.most
        inside = inside and not self._beyond(value) and value >= self._smallest
        return (inside and math.isfinite(value)) or (value == math.inf and not self.finite)

    @property
    def _smallest(self) -> float:
        """Of a length that has to be there."""
        return SMALLEST if self.unit == "m" and self.above == 0 else -math.inf

    def _beyond(self, value: Any) -> bool:
        """Whether a finite number is larger than anything that is meant; integers count."""
        counts = isinstance(value, int) and not self.unit
        return not counts and math.isfinite(value) and abs(value) > most_of(self.unit)

    def wanted(self, value: Any) -> str:
        """What a value that does not hold should be."""
        numbers = value if isinstance(value, tuple | list) else [value]
        if any(_is_number(v) and not isinstance(v, str) and self._beyond(v) for v in numbers):
            return f"at most {most_of(self.unit):g} {self.unit}".rstrip()
        if any(_is_number(v) and self.above < v < self._smallest for v in numbers):
            return f"must be >= {self._smallest:g} [{self.unit}]"
        return self.expected

    @property
    def expected(self) -> str:
        """What values must be."""
        unit = f" [{self.unit}]" if self.unit else ""
        if self.choices:
            *first, last = (f"{c:g}" if isinstance(c, float) else str(c) for c in self.choices)
            return f"must be {', '.join(first)} or {last}{unit}"
        bounds = (">", self.above), (">=", self.least), ("<", self.below), ("<=", self.most)
        said = [f"{sign} {bound:g}" for sign, bound in bounds if math.isfinite(bound)]
        return f"must be {' and '.join(said) or 'a finite number'}{unit}"


def setting(
    default: T,
    meaning: str,
    unit: str = "",
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
    choices: tuple[Any, ...] = (),
    finite: bool = True,
    key: str = "",
) -> T:
    """A field of a dataclass of settings; the arguments are those of ``Setting``."""
    about = Setting(meaning, unit, above, least, below, most, choices, finite, key)
    made: T = dataclasses.field(default=default, metadata={_KEY: about})
    return made


def settings_of(kind: type) -> Mapping[str, Setting]:
    """The settings of a dataclass by field name."""
    fields = dataclasses.fields(kind)
    return {f.name: f.metadata[_KEY] for f in fields if _KEY in f.metadata}


def documented(kind: type[T]) -> type[T]:
    """The dataclass, with its fields in its docstring."""
    lines = [f"    {name}: {about}." for name, about in settings_of(kind).items()]
    kind.__doc__ = "\n".join([inspect.cleandoc(kind.__doc__ or ""), "", "Args:", *lines])
    return kind


def check_settings(settings: Any, place: str, error: type[WeftError] = SceneError) -> None:
    """Raise ``error`` unless every field of a dataclass of settings has a value that it takes. Text
    with a unit, where a number is wanted that has one, becomes that number in SI.

    Args:
        settings: the dataclass.
        place: what comes before a field's name in messages.
        error: the class of the error.
    """
    hints = get_type_hints(type(settings))
    for name, about in settings_of(type(settings)).items():
        if about.unit and not _words(hints[name]) and hints[name] is not str:
            fields_in_si(settings, place, **{name: about.unit})
        value, kind, what = getattr(settings, name), hints[name], f"{place}.{name}"
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            if not isinstance(value, kind):
                names = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
                raise error(what, got=repr(value), expected=f"one of {names}")
        elif get_origin(kind) is Literal or (kind is str and about.choices):
            check_known(value, about.choices or get_args(kind), what, error)
        elif isinstance(value, str) and _words(kind):
            check_known(value, _words(kind), what, error)
        elif isinstance(value, str) and str not in (kind, *get_args(kind)):
            raise error(what, got=repr(value), expected="a number, not text")
        elif not fits(value, kind) and not (about.choices and about.holds(value)):
            got = "nothing" if value is None else clipped(repr(value), 60)
            raise error(what, got=got, expected=words(kind))
        elif not about.holds(value):
            raise error(what, got=value, expected=about.wanted(value))


def _words(kind: Any) -> tuple[str, ...]:
    """Words that a union of types allows."""
    return tuple(
        w for part in get_args(kind) if get_origin(part) is Literal for w in get_args(part)
    )


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__")
