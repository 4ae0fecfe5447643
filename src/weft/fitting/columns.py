"""Reader of CSV columns in SI: the head gives the name and unit of each, ``time [s],x [mm]``."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PictureError, UnitError
from weft.base.units import to_si
from weft.fitting.table import read_table


def read_columns(path: Path, units: Mapping[str, str]) -> dict[str, Floats]:
    """Return columns of a CSV, (k,) in SI each, by name.

    Args:
        path: the file.
        units: the SI unit of each requested column; ``1`` for a number without a unit.

    Raises:
        PictureError: the file or a column does not exist, or a cell is no finite number.
        UnitError: a column has no unit, or one of another dimension.
    """
    table = read_table(path, PictureError)
    found, at = {}, f"{path.name}:1"
    for name, unit in units.items():
        shown = name if unit == "1" else f"{name} [{unit}]"
        if not table.has(name):
            raise PictureError(
                "table",
                got=f"columns {', '.join(h for h, _ in table.heads)}",
                where=at,
                expected=f"a column {shown!r}",
            )
        column = table.column(name)
        said = table.heads[column][1]
        if not said and unit != "1":
            raise UnitError(f"column {name}", got="no unit", where=at, expected=f"{shown!r}")
        scale = to_si(f"1 {said}", unit, at) if said else 1.0
        found[name] = scale * np.array([table.number(row, column) for row in table.rows])
    return found
