"""Values of a pattern file with their place, so that what is wrong is said with file and field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError, did_you_mean
from weft.base.yaml_lines import Loc

MOST = 1e6  # of a coordinate, in the file's units: 10 km of centimeters


@dataclass(frozen=True)
class TreeField:
    """One value of a tree of mappings, lists, text and numbers.

    Args:
        value: what stands there.
        file: name of the file, for messages.
        path: keys and indices from the root to it.
        lines: of every path, where they are known.
    """

    value: Any
    file: str
    path: Loc = ()
    lines: Mapping[Loc, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The path as messages show it: ``pattern.panels.front.edges[2]``."""
        text = ""
        for key in self.path:
            text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
        return text or "the file"

    @property
    def where(self) -> str:
        """The file, with the line where it is known."""
        line = self.lines.get(self.path)
        return f"{self.file}:{line}" if line else self.file

    def error(self, expected: str, got: Any = None, hint: str | None = None) -> PatternError:
        """What is wrong with this value."""
        shown = _shown(self.value) if got is None else got
        return PatternError(self.name, got=shown, expected=expected, where=self.where, hint=hint)

    def at(self, key: str | int) -> "TreeField":
        """The value of a key or index that is there."""
        return TreeField(self.value[key], self.file, (*self.path, key), self.lines)

    def mapping(self) -> Mapping[str, "TreeField"]:
        """Its fields by name."""
        if not isinstance(self.value, dict):
            raise self.error("named fields")
        return {k: self.at(k) for k in self.value}

    def get(self, key: str) -> "TreeField | None":
        """The field of a mapping; None where it is missing or null."""
        found = self.mapping().get(key)
        return None if found is None or found.value is None else found

    def need(self, key: str) -> "TreeField":
        """The field of a mapping.

        Raises:
            PatternError: it is missing.
        """
        found = self.get(key)
        if found is None:
            known = list(self.mapping())
            raise PatternError(
                f"{self.name}.{key}".removeprefix("the file."),
                got="nothing",
                expected="this field",
                where=self.where,
                hint=did_you_mean(key, known),
            )
        return found

    def only(self, *known: str) -> None:
        """Raise a PatternError where a mapping has a field of another name."""
        for key, found in self.mapping().items():
            if key not in known:
                hint = did_you_mean(key, known)
                raise found.error(f"one of the fields {', '.join(known)}", hint=hint)

    def items(self, least: int = 0, most: int | None = None) -> Iterator["TreeField"]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            raise self.error("a list")
        count = len(self.value)
        if count < least or (most is not None and count > most):
            wanted = str(least) if most == least else f"at least {least}"
            raise self.error(f"{wanted} entries", got=f"{count} entries")
        return (self.at(i) for i in range(count))

    def text(self) -> str:
        """Text of one line that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error("text")
        return " ".join(self.value.split())

    def truth(self) -> bool:
        """True or false; 0 and 1 too."""
        if self.value not in (0, 1) or isinstance(self.value, str):
            raise self.error("true or false")
        return bool(self.value)

    def number(self, most: float = MOST) -> float:
        """A finite number of at most this size."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.error("a number")
        if not abs(self.value) <= most:  # NaN, infinity, an integer of hundreds of digits
            raise self.error(f"a finite number of at most {most:g}")
        return float(self.value)

    def index(self, count: int, what: str) -> int:
        """A whole number from 0 to ``count`` - 1, as the number of one of ``count`` things."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.error(f"the number of one of the {what}")
        if not 0 <= self.value < count:
            raise self.error(f"from 0 to {count - 1}: there are {count} {what}")
        return int(self.value)

    def numbers(self, count: int) -> Floats:
        """(count,) finite numbers."""
        return np.array([v.number() for v in self.items(count, count)])


def _shown(value: Any) -> Any:
    """A value for a message; large ones by their kind."""
    if isinstance(value, dict):
        return f"a mapping of {len(value)} fields"
    if isinstance(value, list) and len(value) > 4:
        return f"a list of {len(value)}"
    return "nothing" if value is None else repr(value) if isinstance(value, str) else value
