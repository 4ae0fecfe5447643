"""Values of a pattern file with their place, so that error messages name file, line and field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError, did_you_mean
from weft.base.yaml_lines import Loc

MOST = 1e6  # largest coordinate, in the file's units: 10 km if they are centimeters


@dataclass(frozen=True)
class TreeField:
    """One value in a tree of mappings, lists, text and numbers.

    Args:
        value: the value.
        file: name of the file, for messages.
        path: keys and indices from the root to the value.
        lines: line of every path, where known.
    """

    value: Any
    file: str
    path: Loc = ()
    lines: Mapping[Loc, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the path as messages show it: ``pattern.panels.front.edges[2]``."""
        text = ""
        for key in self.path:
            text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
        return text or "the file"

    @property
    def where(self) -> str:
        """Return the file, with the line if it is known."""
        line = self.lines.get(self.path)
        return f"{self.file}:{line}" if line else self.file

    def error(self, expected: str, got: Any = None, hint: str | None = None) -> PatternError:
        """Return an error about this value, with its path, file and line."""
        shown = _describe(self.value) if got is None else got
        return PatternError(self.name, got=shown, expected=expected, where=self.where, hint=hint)

    def at(self, key: str | int) -> "TreeField":
        """Return the value of a key or index that exists."""
        return TreeField(self.value[key], self.file, (*self.path, key), self.lines)

    def mapping(self) -> Mapping[str, "TreeField"]:
        """Return the fields of a mapping by name.

        Raises:
            PatternError: the value is no mapping.
        """
        if not isinstance(self.value, dict):
            raise self.error("named fields")
        return {k: self.at(k) for k in self.value}

    def get(self, key: str) -> "TreeField | None":
        """Return the field of a mapping; None if it is missing or null."""
        found = self.mapping().get(key)
        return None if found is None or found.value is None else found

    def need(self, key: str) -> "TreeField":
        """Return the field of a mapping.

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
        """Raise a PatternError if a mapping has a field with another name than these."""
        for key, found in self.mapping().items():
            if key not in known:
                hint = did_you_mean(key, known)
                raise found.error(f"one of the fields {', '.join(known)}", hint=hint)

    def items(self, least: int = 0, most: int | None = None) -> Iterator["TreeField"]:
        """Return the entries of a list.

        Raises:
            PatternError: no list, or less than ``least`` or more than ``most`` entries.
        """
        if not isinstance(self.value, list):
            raise self.error("a list")
        count = len(self.value)
        if count < least or (most is not None and count > most):
            wanted = str(least) if most == least else f"at least {least}"
            raise self.error(f"{wanted} entries", got=f"{count} entries")
        return (self.at(i) for i in range(count))

    def text(self) -> str:
        """Return text of one line that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error("text")
        return " ".join(self.value.split())

    def truth(self) -> bool:
        """Return True or False; 0 and 1 are accepted, too."""
        if self.value not in (0, 1) or isinstance(self.value, str):
            raise self.error("true or false")
        return bool(self.value)

    def number(self, most: float = MOST) -> float:
        """Return a finite number whose absolute value is at most ``most``."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.error("a number")
        if not abs(self.value) <= most:  # also true for NaN, infinity and huge integers
            raise self.error(f"a finite number of at most {most:g}")
        return float(self.value)

    def index(self, count: int, what: str) -> int:
        """Return an integer from 0 to ``count`` - 1.

        Args:
            count: number of objects, of which the value names one.
            what: name of these objects, for messages.

        Raises:
            PatternError: no integer, or out of range.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.error(f"the number of one of the {what}")
        if not 0 <= self.value < count:
            raise self.error(f"from 0 to {count - 1}: there are {count} {what}")
        return int(self.value)

    def numbers(self, count: int) -> Floats:
        """Return an array (count,) of finite numbers."""
        return np.array([v.number() for v in self.items(count, count)])


def _describe(value: Any) -> Any:
    """Return a value for a message; large values are described by their kind."""
    if isinstance(value, dict):
        return f"a mapping of {len(value)} fields"
    if isinstance(value, list) and len(value) > 4:
        return f"a list of {len(value)}"
    return "nothing" if value is None else repr(value) if isinstance(value, str) else value
