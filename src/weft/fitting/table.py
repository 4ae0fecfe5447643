"""Reader of tables in text files: CSV as spreadsheet programs of any country write it.

The head gives the name and unit of each column: ``time [s],x [mm]``. Cells are separated by commas,
semicolons or tabs, whichever the head has. With semicolons or tabs a comma in a number is the
decimal point. The encoding is UTF-8, or UTF-16 with a byte order mark.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import UnitError, WeftError, did_you_mean
from weft.base.input_file import open_input
from weft.base.units import max_magnitude, to_si

MOST_BYTES = 64 << 20
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_HEAD = re.compile(r"^\s*(.*?)\s*(?:[\[(]([^\])]*)[\])])?\s*$")


@dataclass(frozen=True)
class Row:
    """Cells of one line."""

    cells: tuple[str, ...]
    where: str  # file and line


@dataclass(frozen=True)
class TextTable:
    """A table of text."""

    file: str  # its name
    heads: tuple[tuple[str, str], ...]  # names in lower case, and units
    rows: tuple[Row, ...]
    comma: bool  # true: a comma in a number is the decimal point
    error: type[WeftError]

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return [name for name, _ in self.heads]

    def matching(self, words: Mapping[str, str]) -> "TextTable":
        """Return the table with the rows that have these words in these columns; columns that the
        table does not have are ignored.
        """
        wanted = [(self.names.index(c), w) for c, w in words.items() if c in self.names]
        kept = [r for r in self.rows if all(r.cells[c].strip() == w for c, w in wanted)]
        return replace(self, rows=tuple(kept))

    def column(self, name: str, unit: str, given: str = "") -> Floats:
        """Return a column in SI, (k,).

        Args:
            name: of the column.
            unit: the SI unit; ``1`` for numbers without a unit.
            given: the unit of the numbers; empty: that of the head.

        Raises:
            WeftError: (of the class ``error``) there is no such column, or a cell is no finite
                number.
            UnitError: the column has no unit, or one of another dimension.
        """
        at = f"{self.file}:1"
        shown = name if unit == "1" else f"{name} [{unit}]"
        if name.lower() not in self.names:
            got, hint = f"columns {', '.join(self.names)}", did_you_mean(name.lower(), self.names)
            raise self.error("table", got=got, where=at, expected=f"a column {shown!r}", hint=hint)
        k = self.names.index(name.lower())
        written = given or self.heads[k][1]
        if not written and unit != "1":
            raise UnitError(f"column {name!r}", got="no unit", where=at, expected=f"{shown!r}")
        scale = to_si(f"1 {written}", unit, at) if written else 1.0
        values = scale * np.array([self.number(row, k) for row in self.rows])
        most = max_magnitude(unit)
        for i in np.flatnonzero(np.abs(values) > most):
            got, where, expected = f"{values[i]:g}", self.rows[i].where, f"at most {most:g} {unit}"
            raise UnitError(f"column {name!r}", got=got, where=where, expected=expected)
        return values

    def number(self, row: Row, column: int) -> float:
        """Return a cell as a number.

        Raises:
            WeftError: (of the class ``error``) the cell is no finite number.
        """
        said = row.cells[column]
        text = said.strip()
        if self.comma and "." not in text:
            text = text.replace(",", ".", 1)
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if "_" in text or not np.isfinite(value):
            raise self.error("table", got=repr(said), where=row.where, expected="a finite number")
        return value


def read_table(path: Path, error: type[WeftError], most_rows: int = 2_000_000) -> TextTable:
    """Read the table of a file.

    Args:
        path: the file.
        error: the class of errors that is raised.
        most_rows: largest number of rows.

    Raises:
        WeftError: (of the class ``error``) the file cannot be read, or it has no rows, too many
            rows, or a row whose length differs from the head's.
    """

    def wrong(got: str, expected: str = "a CSV", **parts: str | None) -> WeftError:
        return error("table", got=got, expected=expected, **{"where": str(path), **parts})

    try:
        with open_input(path) as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
        lines = data.decode("utf-16" if data[:2] in UTF_16 else "utf-8-sig").splitlines()
        between = _separator(next((line for line in lines if line.strip()), ""))
        reader = csv.reader(lines, delimiter=between)
        rows = [(reader.line_num, row) for row in reader if any(c.strip() for c in row)]
    except UnicodeDecodeError as problem:
        raise wrong("text that is no UTF-8", hint="save it as 'CSV UTF-8'") from problem
    except (OSError, ValueError, csv.Error) as problem:
        raise wrong(getattr(problem, "strerror", None) or str(problem)) from problem
    if not 2 <= len(rows) <= most_rows + 1:
        raise wrong(f"{len(rows)} lines", f"a head, and 1 to {most_rows} rows")
    heads = tuple((m[1].lower(), m[2] or "") for m in map(_HEAD.match, rows[0][1]) if m)
    named = tuple(Row(tuple(row), f"{path.name}:{line}") for line, row in rows[1:])
    for row in named:
        if len(row.cells) != len(heads):
            comma = "in numbers a comma is no decimal point, unless semicolons are between them"
            hint = comma if between == "," and len(row.cells) > len(heads) else None
            expected = f"{len(heads)}, as in the head"
            raise wrong(f"{len(row.cells)} cells", expected, where=row.where, hint=hint)
    return TextTable(path.name, heads, named, between != ",", error)


def _separator(head: str) -> str:
    """Return the separator between cells."""
    return max(",;\t", key=head.count) if any(c in head for c in ";\t") else ","
