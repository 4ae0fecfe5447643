"""Reader of fit files: the measurements of a fabric, and the fabric that supplies the other
numbers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.base.errors import FabricError, WeftError, check_known
from weft.base.yaml_lines import read_yaml
from weft.fabric.fabric import UNITS, Fabric, fabric
from weft.fitting.block import DataBlock, FieldPlace
from weft.fitting.doubt import question, question_bulk
from weft.fitting.kinds import KINDS, measured
from weft.fitting.measurement import Given, Measurement
from weft.fitting.value import Value

FIELDS = {
    "name": "of the preset that is made; none: the file's",
    "title": "of the preset",
    "start": "preset or fabric file to begin with, and for what data do not determine (cotton)",
    "hold": "fields that stay as the start has them: [density]",
    "measurements": f"a list of blocks, each with `kind`: {', '.join(KINDS)}",
}
START = "cotton"
MOST = 200  # measurements of a file of a file


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
        said: name or path of the starting fabric, as the file has it.
        hold: fields that keep the value of ``start``.
        measurements: the measurements to be fitted.
        given: fields that the file gives without a fit.
        sources: the source of the numbers of a measurement, by the name of the measurement.
    """

    path: Path
    name: str
    title: str
    start: Fabric
    said: str
    hold: tuple[str, ...]
    measurements: Sequence[Measurement]
    given: Sequence[Given]
    sources: Mapping[str, str]

    @property
    def fixed(self) -> tuple[str, ...]:
        """Return the fields that are not fitted: held fields and fields given without a fit."""
        return (*self.hold, *(f for g in self.given for f, v in g.fields.items() if v is not None))


def read_fit(path: str | Path) -> FitFile:
    """Read a fit file.

    Args:
        path: the fit file (YAML).

    Raises:
        FabricError: the file cannot be read.
        FabricProblems: blocks of the file are wrong; it lists all of them.
    """
    path = Path(path)
    read = read_yaml(path, "fit file", FabricError, "`weft fabrics fit --kinds` explains them")
    top = DataBlock(FieldPlace(path, read), (), read.value, FIELDS)
    said = top.text("start", START)
    start = _start(top, said)
    hold = _hold(top)
    blocks = top.tree.get("measurements")
    if not isinstance(blocks, list) or not 0 < len(blocks) <= MOST:
        got = f"{len(blocks)} blocks" if isinstance(blocks, list) else blocks
        raise top.error("measurements", got, f"a list of 1 to {MOST} blocks")
    found, sources, problems = _read(top.place, blocks, start)
    if problems:
        raise FabricProblems(problems)
    given = [g for g in found if isinstance(g, Given)]
    measurements = [m for m in found if not isinstance(m, Given)]
    name = top.text("name", path.stem)
    if not re.fullmatch(r"[\w.-]+", name):
        raise top.error("name", repr(name), "letters, digits, '.', '_' and '-'")
    start = _with(start, given, measurements)
    return FitFile(
        path, name, top.text("title", ""), start, said, hold, measurements, given, sources
    )


def _read(
    place: FieldPlace, blocks: Sequence[Any], start: Fabric
) -> tuple[list[Measurement | Given], dict[str, str], list[WeftError]]:
    """Return the measurements with unique names, their sources by name, and all problems."""
    found: list[Measurement | Given] = []
    sources: dict[str, str] = {}
    problems: list[WeftError] = []
    bulk: dict[str, list[float]] = {"density": [], "thickness": []}
    bulk_at, bulk_meant = "", False
    for i, tree in enumerate(blocks):
        loc = ("measurements", i)
        try:
            new = [_named(m, found) for m in measured(place, loc, tree)]
            unusual = bool(tree.get("unusual", False))
            problems += question(new, start, place.line(loc), unusual)
        except WeftError as error:
            error.where = error.where or place.line(loc)
            problems.append(error)
            continue
        found += new
        for m in new:
            if isinstance(m, Value) and m.field in bulk:
                bulk[m.field].append(m.value)
                bulk_at, bulk_meant = place.line(loc), bulk_meant or unusual
        sources.update({m.name: str(tree["source"]) for m in new if "source" in tree})
    problems += question_bulk(bulk["density"], bulk["thickness"], bulk_at, bulk_meant)
    return found, sources, problems


def _named(m: Any, taken: Sequence[Measurement | Given]) -> Any:
    """Return the measurement with a name that differs from those of all earlier ones."""
    names, name, k = (
        {t.name for t in taken if isinstance(t, Given) == isinstance(m, Given)},
        m.name,
        1,
    )
    while name in names:
        k += 1
        name = f"{m.name} ({k})"
    return m if k == 1 else replace(m, name=name)


def _start(top: DataBlock, said: str) -> Fabric:
    """Return the starting fabric: a preset, or a file beside the fit file."""
    beside = top.place.path.parent / said
    try:
        start = fabric(beside if said.endswith((".yaml", ".yml")) else said)
    except WeftError as error:
        error.where = f"{top.where('start')}, {error.where}" if error.where else top.where("start")
        raise
    if start.keyed:
        raise top.error("start", said, "a fabric whose numbers do not change in time")
    return start


def _hold(top: DataBlock) -> tuple[str, ...]:
    """Return the fields of ``hold``, each checked to exist."""
    hold = top.tree.get("hold", [])
    if not isinstance(hold, list):
        raise top.error("hold", hold, "a list of fields, such as [density]")
    for name in hold:
        try:
            check_known(str(name), list(UNITS), "hold", FabricError)
        except FabricError as error:
            error.where = top.where("hold")
            raise
    return tuple(map(str, hold))


def _with(start: Fabric, given: Sequence[Given], measurements: Sequence[Measurement]) -> Fabric:
    """Return the starting fabric with the fields that the file gives without a fit.

    A stiffness measured as a straight line replaces a curve of the starting fabric. A stiffness and
    a curve of one direction contradict each other and are refused.
    """
    fields: dict[str, Any] = {}
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
