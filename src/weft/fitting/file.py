"""Reader of fit files: the measurements of a fabric, and the fabric that supplies the other
numbers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.base.errors import FabricError, WeftError
from weft.base.schema.document import read_document
from weft.base.settings import REQUIRED, setting
from weft.base.trees import Json, Yaml
from weft.fabric.fabric import UNITS, Fabric, fabric
from weft.fitting.block import FitDocument
from weft.fitting.kinds import KINDS, read_measurement
from weft.fitting.measurement import FixedFields, Measurement
from weft.fitting.plausibility import check_bulk_density, check_measurements
from weft.fitting.value import Value

START = "cotton"
MOST = 200  # measurements of a file


@dataclass(frozen=True, kw_only=True)
class FitFileSettings:
    """Fields of a fit file."""

    name: str | None = setting(None, "of the preset that is made; none: the file's")
    title: str = setting("", "of the preset")
    start: str = setting(
        START, "preset or fabric file to begin with, and for what data do not determine (cotton)"
    )
    hold: Sequence[str] = setting(
        (), "a list of fields that stay as the start has them: [density]", choices=tuple(UNITS)
    )
    measurements: Sequence[Yaml] = setting(
        REQUIRED, f"a list of 1 to {MOST} blocks, each with `kind`: {', '.join(KINDS)}"
    )


class FabricProblems(FabricError):
    """Several problems of one fit file, each a WeftError."""

    def __init__(self, problems: Sequence[WeftError]) -> None:
        self.problems = problems
        super().__init__(f"{len(problems)} problems")

    def __str__(self) -> str:
        return "\n".join(str(p) for p in self.problems)


@dataclass(frozen=True, eq=False)
class FitFile:
    """Content of a fit file.

    Attributes:
        path: the file.
        name: name of the preset that the fit writes.
        title: title of that preset.
        start: the fabric from which the fit starts, with the fields that the file gives without a
            fit.
        start_name: name or path of the starting fabric, as the file has it.
        hold: fields that keep the value of ``start``.
        measurements: the measurements to be fitted.
        fixed_fields: fields that the file gives without a fit.
        sources: the source of the numbers of a measurement, by the name of the measurement.
    """

    path: Path
    name: str
    title: str
    start: Fabric
    start_name: str
    hold: tuple[str, ...]
    measurements: Sequence[Measurement]
    fixed_fields: Sequence[FixedFields]
    sources: Mapping[str, str]

    @property
    def fixed(self) -> tuple[str, ...]:
        """Return the fields that are not fitted: held fields and fields given without a fit."""
        return (
            *self.hold,
            *(f for g in self.fixed_fields for f, v in g.fields.items() if v is not None),
        )


def read_fit(path: str | Path) -> FitFile:
    """Read a fit file.

    Args:
        path: the fit file (YAML).

    Raises:
        FabricError: the file cannot be read.
        FabricProblems: blocks of the file are wrong; it lists all of them.
    """
    path = Path(path)
    hint = "`weft fabrics fit --kinds` explains the fields"
    document = read_document(FitDocument, path, hint, "`measurements:`")
    given = document.read_settings(FitFileSettings, document.tree)
    start = _start(document, given.start)
    blocks = given.measurements
    if not 0 < len(blocks) <= MOST:
        got = f"{len(blocks)} blocks"
        raise document.field_error(("measurements",), got, f"a list of 1 to {MOST} blocks")
    found, sources, problems = _read(document, blocks, start)
    if problems:
        raise FabricProblems(problems)
    fixed = [g for g in found if isinstance(g, FixedFields)]
    measurements = [m for m in found if not isinstance(m, FixedFields)]
    name = given.name or path.stem
    if not re.fullmatch(r"[\w.-]+", name):
        raise document.field_error(("name",), repr(name), "letters, digits, '.', '_' and '-'")
    start = _set_fixed_fields(start, fixed, measurements)
    hold = tuple(given.hold)
    return FitFile(path, name, given.title, start, given.start, hold, measurements, fixed, sources)


def _read(
    document: FitDocument, blocks: Sequence[Yaml], start: Fabric
) -> tuple[list[Measurement | FixedFields], dict[str, str], list[WeftError]]:
    """Return the measurements with unique names, their sources by name, and all problems."""
    found: list[Measurement | FixedFields] = []
    sources: dict[str, str] = {}
    problems: list[WeftError] = []
    bulk: dict[str, list[float]] = {"density": [], "thickness": []}
    bulk_at, bulk_meant = "", False
    for i, tree in enumerate(blocks):
        loc = ("measurements", i)
        try:
            given, measurements = read_measurement(document, loc, tree)
            new = [_make_name_unique(m, found) for m in measurements]
            problems += check_measurements(new, start, document.where(loc), given.unusual)
        except WeftError as error:
            error.where = error.where or document.where(loc)
            problems.append(error)
            continue
        found += new
        for m in new:
            if isinstance(m, Value) and m.field in bulk:
                bulk[m.field].append(m.data)
                bulk_at, bulk_meant = document.where(loc), bulk_meant or given.unusual
        if given.source is not None:
            sources.update({m.name: given.source for m in new})
    problems += check_bulk_density(bulk["density"], bulk["thickness"], bulk_at, bulk_meant)
    return found, sources, problems


def _make_name_unique(m: Any, taken: Sequence[Measurement | FixedFields]) -> Any:
    """Return the measurement with a name that differs from those of all earlier ones."""
    names, name, k = (
        {t.name for t in taken if isinstance(t, FixedFields) == isinstance(m, FixedFields)},
        m.name,
        1,
    )
    while name in names:
        k += 1
        name = f"{m.name} ({k})"
    return m if k == 1 else replace(m, name=name)


def _start(document: FitDocument, said: str) -> Fabric:
    """Return the starting fabric: a preset, or a file beside the fit file."""
    beside = document.path.parent / said
    try:
        return fabric(beside if said.endswith((".yaml", ".yml")) else said)
    except WeftError as error:
        raise document.add_line(error, ("start",)) from None


def _set_fixed_fields(
    start: Fabric, given: Sequence[FixedFields], measurements: Sequence[Measurement]
) -> Fabric:
    """Return the starting fabric with the fields that the file gives without a fit.

    A stiffness measured as a straight line replaces a curve of the starting fabric. A stiffness and
    a curve of one direction contradict each other and are refused.
    """
    fields: Json = {}
    for one in given:
        for field, value in one.fields.items():
            if fields.get(field) is not None:
                raise FabricError(
                    f"{one.name}: {field}", got="a second time", expected="one curve a direction"
                )
            fields[field] = value
    for m in measurements:
        for field in m.depends_on:
            curve = field.replace("stretch", "curve")
            if len(m.depends_on) == 1 and fields.get(curve) is not None and curve != field:
                raise FabricError(
                    f"{m.name} with {curve}",
                    got="a straight line and a curve of one direction",
                    expected="one of them",
                    hint="leave one out, or give both `as: straight`",
                )
    return replace(start, **fields)
