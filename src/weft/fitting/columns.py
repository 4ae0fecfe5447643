"""Columns of a CSV in SI: its head names each with its unit, ``time [s],x [mm]``."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from weft.arrays import Floats
from weft.errors import PictureError, UnitError
from weft.units import to_si

MOST_BYTES = 64 << 20
MOST_ROWS = 2_000_000
_HEAD = re.compile(r"^\s*(.*?)\s*(?:[\[(]([^\])]*)[\])])?\s*$")


def columns(path: Path, units: Mapping[str, str]) -> dict[str, Floats]:
    """Columns (k,) by name.

    Args:
        path: the file.
        units: the SI unit of each column that is wanted; ``1``: none.

    Raises:
        PictureError: no such file, a column that is not there, a cell that is no finite number.
        UnitError: no unit, or one of another dimension.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
        reader = csv.reader(path.read_text(encoding="utf-8-sig").splitlines())
        rows = [(reader.line_num, row) for row in reader if any(c.strip() for c in row)]
    except (OSError, ValueError, csv.Error) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise PictureError("table", got=reason, where=str(path), expected="a CSV") from problem
    if not 2 <= len(rows) <= MOST_ROWS:
        raise PictureError("table", got=f"{len(rows)} lines", where=str(path),
                           expected=f"a head, and 1 to {MOST_ROWS} rows")  # fmt: skip
    heads = [(m[1].lower(), m[2] or "") for m in map(_HEAD.match, rows[0][1]) if m]
    names = [name for name, _ in heads]
    found, at = {}, f"{path.name}:{rows[0][0]}"
    for name, unit in units.items():
        shown = name if unit == "1" else f"{name} [{unit}]"
        if name not in names:
            raise PictureError("table", got=f"columns {', '.join(names)}", where=at,
                               expected=f"a column {shown!r}")  # fmt: skip
        column = names.index(name)
        said = heads[column][1]
        if not said and unit != "1":
            raise UnitError(f"column {name}", got="no unit", where=at, expected=f"{shown!r}")
        scale = to_si(f"1 {said}", unit, at) if said else 1.0
        found[name] = scale * np.array([_number(row, column, path, line) for line, row in rows[1:]])
    return found


def _number(row: list[str], column: int, path: Path, line: int) -> float:
    where = f"{path.name}:{line}"
    if column >= len(row):
        raise PictureError("table", got=f"{len(row)} cells", where=where,
                           expected=f"{column + 1} or more")  # fmt: skip
    try:
        value = float(row[column])
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise PictureError("table", got=repr(row[column]), where=where, expected="a finite number")
    return value
