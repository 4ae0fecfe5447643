"""Access to a block of a fit file: every field is checked, and every message names file
and line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError, WeftError, check_known, did_you_mean
from weft.base.input_file import is_file
from weft.base.units import to_si
from weft.base.yaml_lines import Loc, YamlTree

COMMON = {  # fields that every kind of measurement has
    "kind": "what it is: `weft fabrics fit --kinds`",
    "name": "what reports call it; none: its kind, with the direction",
    "source": "where the numbers come from, for the preset's sources",
    "unusual": "true: numbers far from all fabrics that weft knows are meant",
}
MOST_NUMBERS = 10_000  # in one field


@dataclass(frozen=True, eq=False)
class FieldPlace:
    """A fit file, and the line of each of its fields."""

    path: Path
    read: YamlTree

    def line(self, loc: Loc) -> str:
        """Return file and line of a field, like ``sheet.yaml:14``, or of the nearest enclosing
        block.
        """
        while loc and loc not in self.read.lines:
            loc = loc[:-1]
        return f"{self.path.name}:{self.read.lines.get(loc, 1)}"


class DataBlock:
    """One block of fields.

    Args:
        place: the file.
        loc: location of the block in the file.
        tree: the block.
        fields: the meaning of each field; other fields are refused.

    Raises:
        FabricError: ``tree`` is no mapping, or has an unknown field.
    """

    def __init__(self, place: FieldPlace, loc: Loc, tree: Any, fields: Mapping[str, str]) -> None:
        self.place, self.loc, self.fields = place, loc, fields
        self.called = ".".join(map(str, loc)) or "fit file"
        if not isinstance(tree, Mapping):
            raise FabricError(
                self.called, got=repr(tree), where=place.line(loc), expected="a block of fields"
            )
        self.tree = tree
        for name in tree:
            if name not in fields:
                raise FabricError(
                    f"field {self.called}.{name}",
                    where=place.line((*loc, name)),
                    expected=f"one of {', '.join(fields)}",
                    hint=did_you_mean(str(name), fields),
                )

    def where(self, name: str = "") -> str:
        """Return file and line of a field, or of the block."""
        return self.place.line((*self.loc, name) if name else self.loc)

    def error(self, name: str, got: Any, expected: str, hint: str | None = None) -> FabricError:
        """Return an error that names a field, its file and its line."""
        what = f"{self.called}.{name}" if name else self.called
        shown = "nothing" if got is None else got
        return FabricError(what, got=shown, where=self.where(name), expected=expected, hint=hint)

    def has(self, name: str) -> bool:
        """Return whether the block gives a field."""
        return self.tree.get(name) is not None

    def one_of(self, *names: str) -> str:
        """Return the one field of ``names`` that the block gives.

        Raises:
            FabricError: the block gives none of them, or several.
        """
        said = [n for n in names if self.has(n)]
        if len(said) != 1:
            got = " and ".join(said) or None
            raise self.error("", got, f"one of {', '.join(names)}")
        return said[0]

    def word(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """Return a field whose value is one of several words."""
        found = self.tree.get(name)
        if found is None and default is not None:
            return default
        if not isinstance(found, str):
            raise self.error(name, found, f"one of {', '.join(choices)}")
        try:
            check_known(found, choices, f"{self.called}.{name}", FabricError)
        except FabricError as error:
            error.where = self.where(name)
            raise
        return found

    def text(self, name: str, default: str = "") -> str:
        """Return a field as text."""
        found = self.tree.get(name)
        if found is None:
            return default
        if not isinstance(found, str):
            raise self.error(name, found, f"text: {self.fields[name]}")
        return found

    def truth(self, name: str) -> bool:
        """Return a field that is true or false; false if it is not given."""
        found = self.tree.get(name, False)
        if not isinstance(found, bool):
            raise self.error(name, found, "true or false")
        return found

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """Return a field that is a whole number from ``least`` to ``most``."""
        found = self.tree.get(name)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
            raise self.error(name, found, f"a whole number from {least} to {most}")
        return found

    def number(
        self,
        name: str,
        unit: str,
        default: float | None = None,
        *,
        above: float = -np.inf,
        most: float = np.inf,
        per_angle: bool = False,
    ) -> float:
        """Return a field as one number in SI, larger than ``above`` and at most ``most``."""
        if not self.has(name) and default is not None:
            return default
        return float(self.numbers(name, unit, 1, above=above, most=most, per_angle=per_angle)[0])

    def numbers(
        self,
        name: str,
        unit: str,
        count: int | None = None,
        *,
        above: float = -np.inf,
        most: float = np.inf,
        per_angle: bool = False,
    ) -> Floats:
        """Return a field that is one number or a list of numbers, (k,) in SI.

        Each is larger than ``above`` and at most ``most``; ``count`` is the required number of
        them.
        """
        found = self.tree.get(name)
        if found is None:
            raise self.error(name, None, f"a quantity, like '1 {unit}': {self.fields[name]}")
        listed = found if isinstance(found, list) else [found]
        if (count is not None and len(listed) != count) or not 0 < len(listed) <= MOST_NUMBERS:
            raise self.error(name, f"{len(listed)} numbers", f"{count or 'at least 1'}")
        values = [self.in_si(v, unit, (name, i), per_angle) for i, v in enumerate(listed)]
        for value, said in zip(values, listed):
            if not above < value <= most:
                upper = f" and <= {most:g}" if np.isfinite(most) else ""
                of = "" if unit == "1" else f" {unit}"
                raise self.error(name, said, f"must be > {above:g}{upper}{of}")
        return np.array(values)

    def in_si(self, value: Any, unit: str, loc: Loc, per_angle: bool = False) -> float:
        """Return a value below this block in SI; a number without a unit is allowed only if
        ``unit`` is 1.
        """
        where = self.place.line((*self.loc, *loc))
        what = ".".join(map(str, (self.called, *loc)))
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise FabricError(what, got=value, where=where, expected=f"a number, like '1 {unit}'")
        if unit != "1" and not isinstance(value, str):
            raise FabricError(
                what, got=value, where=where, expected=f"its unit too, like '{value} {unit}'"
            )
        try:
            return to_si(value, unit, where, per_angle=per_angle)
        except WeftError as error:
            error.what = what
            raise

    def file(self, name: str) -> Path:
        """Return the path of an existing file, given relative to the fit file."""
        return self._file(name, self.text(name))

    def files(self, name: str, most: int) -> Sequence[Path]:
        """Return the paths of one or several different existing files, given relative to the fit
        file.
        """
        found = self.tree.get(name)
        listed: list[Any] = found if isinstance(found, list) else [found]
        if not 0 < len(listed) <= most:
            raise self.error(name, f"{len(listed)} files", f"1 to {most}")
        for said in listed:
            if not isinstance(said, str):
                raise self.error(name, said, f"a file's name, or a list: {self.fields[name]}")
        for i, said in enumerate(listed):
            if said in listed[:i]:
                raise self.error(name, f"{said} twice", "another file for each")
        return [self._file(name, said) for said in listed]

    def _file(self, name: str, said: str) -> Path:
        path = self.place.path.parent / said
        if not is_file(path):
            raise self.error(name, str(path), "a file, relative to this one")
        return path
