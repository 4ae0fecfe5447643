"""Reader of measured curves: pairs in the fit file itself, or two columns of a CSV with units in
its head.

``weft fabrics test --out`` writes such CSV files: ``cut,strain [%],force [N/m]``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError
from weft.base.schema.document import dotted_path
from weft.base.settings import setting
from weft.base.trees import Yaml
from weft.fitting.block import MOST_NUMBERS, MeasurementBlock, MeasurementSettings
from weft.fitting.table import read_table

FALL = 3.0  # standard deviations by which a curve may fall from point to point, due to noise


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
        None, "CSV with a head such as `strain [%],force [gf/cm]`, in place of `points`"
    )
    columns: tuple[str, str] | None = setting(
        None, "names of the two columns of `file`, where they are others"
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
                hint="take the loading branch, in the order in which it was measured",
            )
    kept = np.flatnonzero(found.x > 0)
    if not len(kept):
        raise FabricError(
            what, got="no points but the origin", expected="at least one", where=found.where[0]
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
