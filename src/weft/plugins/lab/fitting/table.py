"""Reader of tables in text files: CSV as spreadsheet programs of any country write it.

The head gives the name and unit of each column: ``time [s],x [mm]``. Cells are separated by commas,
semicolons or tabs, whichever the head has. With semicolons or tabs a comma in a number is the
decimal point. The encoding is UTF-8, or UTF-16 with a byte order mark.

Measured curves are two columns of such a file, which ``weft fabrics test --out`` writes, too
(``cut,strain [%],force [N/m]``), or pairs in the fit file itself.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError, UnitError, WeftError, did_you_mean, error_text
from weft.base.input_file import read_input
from weft.base.schema.document import dotted_path
from weft.base.settings import setting
from weft.base.trees import Yaml
from weft.base.units import max_magnitude, to_si
from weft.plugins.lab.fitting.block import MOST_NUMBERS, MeasurementBlock, MeasurementSettings

MOST_BYTES = 64 << 20
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_HEAD = re.compile(r"^\s*(.*?)\s*(?:[\[(]([^\])]*)[\])])?\s*$")
FALL = 3.0  # standard deviations by which a curve may fall from point to point, due to noise


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
        data = read_input(path, MOST_BYTES)
        lines = data.decode("utf-16" if data[:2] in UTF_16 else "utf-8-sig").splitlines()
        between = _separator(next((line for line in lines if line.strip()), ""))
        reader = csv.reader(lines, delimiter=between)
        rows = [(reader.line_num, row) for row in reader if any(c.strip() for c in row)]
    except UnicodeDecodeError as problem:
        raise wrong("text that is not UTF-8", hint="save it as 'CSV UTF-8'") from problem
    except (OSError, ValueError, csv.Error) as problem:
        raise wrong(error_text(problem)) from problem
    if not 2 <= len(rows) <= most_rows + 1:
        raise wrong(f"{len(rows)} lines", f"a header line, and 1 to {most_rows} rows")
    heads = tuple((m[1].lower(), m[2] or "") for m in map(_HEAD.match, rows[0][1]) if m)
    named = tuple(Row(tuple(row), f"{path.name}:{line}") for line, row in rows[1:])
    for row in named:
        if len(row.cells) != len(heads):
            comma = "a comma is not a decimal point, unless semicolons separate the numbers"
            hint = comma if between == "," and len(row.cells) > len(heads) else None
            expected = f"{len(heads)} values, like in the header line"
            raise wrong(f"{len(row.cells)} cells", expected, where=row.where, hint=hint)
    return TextTable(path.name, heads, named, between != ",", error)


def _separator(head: str) -> str:
    """Return the separator between cells."""
    return max(",;\t", key=head.count) if any(c in head for c in ";\t") else ","


@dataclass(frozen=True, kw_only=True)
class CurveSettings(MeasurementSettings):
    """A measured curve: pairs of numbers, or two columns of a CSV."""

    points: Sequence[tuple[Yaml, Yaml]] | None = setting(
        None,
        "pairs, such as [[0.5 %, 10 gf/cm], [1 %, 24 gf/cm]]; bare numbers with `units`",
    )
    units: tuple[str, str] | None = setting(
        None, "of bare numbers in `points` or of columns of `file`: [%, gf/cm]"
    )
    file: str | None = setting(
        None, "CSV with a header line such as `strain [%],force [gf/cm]`, in place of `points`"
    )
    columns: tuple[str, str] | None = setting(
        None, "names of the two columns of `file`, if they differ"
    )


@dataclass(frozen=True, eq=False)
class DataPoints:
    """Pairs of numbers in SI, and the place in the file of each."""

    x: Floats  # (k,)
    y: Floats  # (k,)
    where: Sequence[str]  # (k,) file and line


def read_points(
    block: MeasurementBlock, names: tuple[str, str], units: tuple[str, str], **only: str
) -> DataPoints:
    """Return the points of a block.

    Args:
        block: a block of ``CurveSettings``.
        names: of the two columns.
        units: the SI units of the two columns.
        **only: words by column: only rows of a CSV that have this word in this column are read.

    Raises:
        FabricError: there are no points, or a cell is no finite number.
        UnitError: a quantity has the wrong unit.
    """
    if block.one_of("points", "file") == "file":
        found = _read_file(block, names, units, only)
    else:
        found = _read_list(block, units)
    bad = np.flatnonzero(~(np.isfinite(found.x) & np.isfinite(found.y)))
    if len(bad):
        raise FabricError(
            dotted_path(block.loc),
            got="a number that is not finite",
            where=found.where[bad[0]],
            expected="finite numbers",
        )
    return found


def read_loading(
    block: MeasurementBlock,
    name: str,
    names: tuple[str, str],
    units: tuple[str, str],
    **only: str,
) -> tuple[DataPoints, Floats]:
    """Return the loading branch of a block without the origin, and its standard deviations (k,).

    Args:
        block: a block of ``CurveSettings`` with an ``uncertainty``.
        name: the name of the measurement, for messages.
        names, units, **only: as for ``read_points``.

    Raises:
        FabricError: the points are no loading branch.
        UnitError: a quantity has the wrong unit.
    """
    spread = block.noise(units[1])
    points = read_points(block, names, units, **only)
    found = check_loading(points, spread.of(points.y), name, names)
    return found, spread.of(found.y)


def check_loading(
    found: DataPoints, sigma: Floats, what: str, names: tuple[str, str]
) -> DataPoints:
    """Check that points are a loading branch, and return them without the origin.

    On a loading branch x rises from 0, and y is not negative and never falls by more than ``FALL``
    standard deviations.

    Args:
        found: k points.
        sigma: (k,) standard deviations of y.
        what: the name of the measurement, for messages.
        names: the names of x and y, for messages.

    Raises:
        FabricError: the points are no loading branch; the error names file and line.
    """
    for k, (x, y) in enumerate(zip(found.x, found.y)):
        problem = None
        if x < 0 or y < 0:
            problem = (names[int(x >= 0)], f"{min(x, y):.4g}", "must be >= 0")
        elif k and not x > found.x[k - 1]:
            problem = (names[0], f"{x:.4g} after {found.x[k - 1]:.4g} (SI)", "values that rise")
        elif k and y < found.y[k - 1] - FALL * np.hypot(sigma[k], sigma[k - 1]):
            got = f"{y:.4g} after {found.y[k - 1]:.4g} (SI)"
            problem = (names[1], got, "values that do not fall")
        if problem is not None:
            raise FabricError(
                f"{what}: {problem[0]}",
                got=problem[1],
                where=found.where[k],
                expected=problem[2],
                hint="use the loading branch, in the order of the measurement",
            )
    kept = np.flatnonzero(found.x > 0)
    if not len(kept):
        raise FabricError(
            what, got="only the origin", expected="at least one", where=found.where[0]
        )
    return DataPoints(found.x[kept], found.y[kept], [found.where[int(k)] for k in kept])


def _read_list(block: MeasurementBlock, units: tuple[str, str]) -> DataPoints:
    """Return the points of the field ``points``."""
    listed = block.given.points
    if not 0 < len(listed) <= MOST_NUMBERS:
        got = f"{len(listed)} points"
        raise block.error("points", got, "pairs such as [[0.5 %, 10 gf/cm]]")
    bare = _bare_units(block, units)
    rows = [
        [_value(block, v, units[j], bare[j], ("points", i, j)) for j, v in enumerate(pair)]
        for i, pair in enumerate(listed)
    ]
    x, y = np.array(rows).T
    return DataPoints(x, y, [block.where("points", i) for i in range(len(listed))])


def _value(
    block: MeasurementBlock, value: object, unit: str, bare: str, loc: tuple[str | int, ...]
) -> float:
    """Return a number in SI: with its own unit, with the unit of its column, or a bare 0."""
    if bare and isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value!r} {bare}" if np.isfinite(value) else value
    elif value == 0 and not isinstance(value, bool):
        return 0.0
    return block.in_si(value, unit, loc)


def _bare_units(block: MeasurementBlock, units: tuple[str, str]) -> tuple[str, ...]:
    """Return the units of numbers without a unit; empty strings if the block has no ``units``."""
    given: tuple[str, ...] | None = block.given.units
    if given is None:
        return ("", "")
    for i, unit in enumerate(given):
        block.in_si(f"1 {unit}", units[i], ("units", i))
    return given


def _read_file(
    block: MeasurementBlock, names: tuple[str, str], units: tuple[str, str], only: Mapping[str, str]
) -> DataPoints:
    """Return the points of two columns of the CSV."""
    table = read_table(block.file("file"), FabricError).matching(only)
    if not table.rows:
        words = " and ".join(f"{k} {v}" for k, v in only.items())
        raise block.error("file", f"{table.file} without rows of {words}", "at least one row")
    columns = zip(block.given.columns or names, units, _bare_units(block, units))
    x, y = (table.column(name, unit, bare) for name, unit, bare in columns)
    return DataPoints(x, y, [row.where for row in table.rows])
