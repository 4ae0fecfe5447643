"""Reader of fit files: the measurements of a fabric, and the fabric that supplies the other
numbers.

``KINDS`` lists the kinds of measurement. A kind is a function that reads a block and returns
measurements; the annotation of its argument ``block`` names the settings of the block, whose
docstring is the help text of the kind. Numbers of measurements that are far from those of all
presets are mostly in a wrong unit, so they are refused or cause a warning.
"""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import numpy as np

from weft.base.errors import FabricError, Problems, WeftError, did_you_mean
from weft.base.schema import block as schema
from weft.base.schema.document import read_document
from weft.base.settings import REQUIRED, setting
from weft.base.trees import Json, Yaml
from weft.base.yaml_lines import Loc
from weft.fabric.fabric import FAR, HYSTERESIS, UNITS, Fabric, fabric, known_ranges
from weft.plugins.lab.fitting.block import (
    FitDocument,
    MeasurementBlock,
    MeasurementSettings,
    PlacedBlock,
)
from weft.plugins.lab.fitting.measurement import FixedFields, Measurement
from weft.plugins.lab.fitting.value import Value

Found = Sequence[Measurement | FixedFields]
KINDS: Mapping[str, str] = {  # kind: module in weft.plugins.lab.fitting
    "value": "value",
    "ratio": "value",
    "tensile": "tensile",
    "shear": "slopes",
    "bending": "slopes",
    "cantilever": "cantilever",
    "cusick": "drape",
    "fast": "sheets",
    "kes": "sheets",
    "drape": "drape",
    "silhouette": "silhouette",
    "track": "track",
    "depth": "depth",
}
REFUSED = 25.0  # factor outside of the presets' range from which `unusual: true` is required
# [kg/m^3] weight over thickness. Presets have 180 (felt) to 1010 (cupro); fibers themselves have
# 900 (polypropylene) to 1550 (cotton); fleece and wadding go down to 50.
BULK, POSSIBLE = (120.0, 1100.0), (50.0, 1600.0)
START = "cotton"
MOST = 200  # measurements of a file


def reader_of(kind: str) -> Callable[[MeasurementBlock], Found]:
    """Return the function ``read_KIND`` that reads a block of a kind."""
    read: Callable[[MeasurementBlock], Found] = getattr(
        import_module(f"weft.plugins.lab.fitting.{KINDS[kind]}"), f"read_{kind}"
    )
    return read


def settings_of(kind: str) -> type[MeasurementSettings]:
    """Return the settings of the block of a kind."""
    (settings,) = get_args(get_type_hints(reader_of(kind))["block"])
    made: type[MeasurementSettings] = settings
    return made


def fields_of(kind: str) -> Mapping[str, str]:
    """Return the fields of the block of a kind, with their meaning."""
    fields = schema.fields_of(cast(Any, settings_of(kind)))
    return {name: field.description or "" for name, field in fields.items()}


def describe_kind(kind: str) -> str:
    """Return the description of a kind: the docstring of its settings."""
    return " ".join((settings_of(kind).__doc__ or "").split())


def read_measurement(
    document: FitDocument, loc: Loc, tree: Yaml
) -> tuple[MeasurementSettings, Found]:
    """Return the settings of a block, and its measurements.

    Args:
        document: the file.
        loc: path of the block in the file.
        tree: the block.

    Raises:
        FabricError: the kind or a field is unknown, or a value is not a valid number.
        UnitError: a quantity has no unit or the wrong one.
    """
    if not isinstance(tree, Mapping):
        raise document.field_error(loc, repr(tree), "a block of fields")
    kind, known = str(tree.get("kind")), list(KINDS)
    if kind not in known:
        got = None if tree.get("kind") is None else repr(kind)
        hint = did_you_mean(kind, known)
        raise document.field_error((*loc, "kind"), got, f"one of {', '.join(known)}", hint)
    given = document.read_block(settings_of(kind), tree, loc)
    return given, reader_of(kind)(PlacedBlock(document, loc, given))


def check_measurements(
    found: Sequence[Measurement | FixedFields], start: Fabric, where: str, unusual: bool
) -> Sequence[FabricError]:
    """Compare the measurements of a block with the range of all presets.

    Args:
        found: the measurements of one block.
        start: the fabric that supplies the other numbers.
        where: file and line of the block.
        unusual: true if the file says that unusual numbers are intended.

    Returns:
        One error for each value outside of the range by a factor of ``REFUSED`` or more. Values
        less far outside cause a warning.
    """
    problems = []
    for one in found:
        for field, value in one.implies(start).items():
            times, side = _range_excess(field, value)
            if unusual or times <= FAR:
                continue
            low, high = known_ranges()[field]
            unit = UNITS[field]
            got = f"{value:.3g} {unit}, {times:.2g} times {side} all fabrics that weft knows"
            error = FabricError(
                f"{field} by {one.name}",
                got=got,
                where=where,
                expected=f"about {low:.2g} to {high:.2g} {unit}",
                hint="check the unit; if it is right, add `unusual: true`",
            )
            if times >= REFUSED:
                problems.append(error)
            else:
                warnings.warn(str(error), stacklevel=2)
    return problems


def check_bulk_density(
    weights: Sequence[float], thicknesses: Sequence[float], where: str, unusual: bool
) -> Sequence[FabricError]:
    """Compare weight over thickness with the densities that cloth has.

    Weight or thickness alone may be wrong by a factor of ten and still be within the range of
    fabrics.

    Args:
        weights: [kg/m^2] all measured weights; nothing is checked if there are none.
        thicknesses: [m] all measured thicknesses; nothing is checked if there are none.
        where: file and line of the last of them.
        unusual: true if the file says that unusual numbers are intended.

    Returns:
        An error if the density is impossible. A density that is merely unusual causes a warning.
    """
    if unusual or not weights or not thicknesses:
        return []
    weight, thickness = float(np.mean(weights)), float(np.mean(thicknesses))
    bulk = weight / thickness
    if BULK[0] <= bulk <= BULK[1]:
        return []
    error = FabricError(
        "weight over thickness",
        where=where,
        got=f"{bulk:.3g} kg/m^3 ({1e3 * weight:.4g} g/m^2 over {1e3 * thickness:.4g} mm)",
        expected=f"about {BULK[0]:g} to {BULK[1]:g} kg/m^3",
        hint="check both for a factor of ten; if they are right, add `unusual: true` to only "
        "one of them",
    )
    if not POSSIBLE[0] <= bulk <= POSSIBLE[1]:
        return [error]
    warnings.warn(str(error), stacklevel=2)
    return []


def _range_excess(field: str, value: float) -> tuple[float, str]:
    """Return the factor by which a value is outside of the range of all presets, and on
    which side.
    """
    low, high = known_ranges()[field]
    if not np.isfinite(value) or value <= 0:
        return np.inf, "outside of"
    return (low / value, "below") if value < low else (value / high, "above")


@dataclass(frozen=True, kw_only=True)
class FitFileSettings:
    """Fields of a fit file."""

    name: str | None = setting(None, "name of the new preset; none: the name of the file")
    title: str = setting("", "title of the new preset")
    start: str = setting(
        START,
        "preset or fabric file for the start, and for numbers that the data do not "
        "determine (cotton)",
    )
    hold: Sequence[str] = setting(
        (), "a list of fields that keep the start value: [density]", choices=tuple(UNITS)
    )
    measurements: Sequence[Yaml] = setting(
        REQUIRED, f"a list of 1 to {MOST} blocks, each with `kind`: {', '.join(KINDS)}"
    )


class FabricProblems(Problems, FabricError):
    """Several problems of one fit file, each a WeftError."""


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
    given = document.read_block(FitFileSettings, document.tree)
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
    names = {t.name for t in taken if isinstance(t, FixedFields) == isinstance(m, FixedFields)}
    possible = (m.name, *(f"{m.name} ({k + 2})" for k in range(len(names))))
    return replace(m, name=next(name for name in possible if name not in names))


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
            before = fields.get(field)
            if before is not None and field not in HYSTERESIS:
                raise FabricError(
                    f"{one.name}: {field}",
                    got="this curve for the second time",
                    expected="one curve per direction",
                )
            fields[field] = value if before is None else (before + value) / 2
    for m in measurements:
        for field in m.depends_on:
            curve = field.replace("stretch", "curve")
            if len(m.depends_on) == 1 and fields.get(curve) is not None and curve != field:
                raise FabricError(
                    f"{m.name} with {curve}",
                    got="a straight line and a curve of the same direction",
                    expected="only one of them",
                    hint="remove one of them, or give both `as: straight`",
                )
    return replace(start, **fields)
