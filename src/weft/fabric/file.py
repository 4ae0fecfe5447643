"""Fabrics that are written as fields: YAML files, presets, and mappings in Python.

The block of a file is derived from the class ``Fabric``. Every quantity needs its unit, and may
come with its source: ``{value: 120 g/m^2, source: "measured: ..."}``.
"""

import dataclasses
import warnings
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model

from weft import extensions
from weft.base.curve import Curve
from weft.base.errors import FabricError, UnitError, WeftError
from weft.base.runtime_types.validators import wrong_value
from weft.base.schema.block import Block, fields_of
from weft.base.schema.document import YamlDocument, parse_document, read_document
from weft.base.schema.quantities import QuantityIn
from weft.base.trees import Json, Yaml, YamlMapping
from weft.base.yaml_lines import Loc
from weft.fabric.fabric import (
    CURVES,
    MAPPED,
    OPTIONAL,
    UNITS,
    Fabric,
    FabricMap,
    fabric,
    range_doubt,
)

_FIELDS = dataclasses.fields(Fabric)
_REQUIRED = [f.name for f in _FIELDS if f.default is f.default_factory is dataclasses.MISSING]
_PAIRS = {  # fields that set warp and weft together
    short: (f"{short}_warp", f"{short}_weft")
    for short in (f.name.removesuffix("_warp") for f in _FIELDS if f.name.endswith("_warp"))
}
_SOME = "`density: 120 g/m^2`"  # fields in messages
_HINT = "give each number with its unit, or start from `preset: cotton`"


class FabricDocument(YamlDocument):
    """Fields of a fabric: those of a file, or a mapping, which has no path."""

    what: ClassVar[str] = "fabric"
    error: ClassVar[type[WeftError]] = FabricError
    unit_error: ClassVar[type[WeftError]] = UnitError


def read_fabric(path: Path, depth: int) -> Fabric:
    """Read a fabric from a YAML file; ``depth`` presets led to it."""
    document = read_document(FabricDocument, path, _HINT, _SOME)
    return _build(document, (), str(path), path.stem, depth)


def read_preset(name: str, depth: int) -> Fabric:
    """Read the preset of a name; ``depth`` presets led to it."""
    text = (resources.files("weft") / "fabrics" / f"{name}.yaml").read_text(encoding="utf-8")
    document = parse_document(FabricDocument, text, f"{name}.yaml", _SOME)
    return _build(document, (), name, name, depth)


def fabric_of_fields(fields: YamlMapping, where: str, depth: int) -> Fabric:
    """Build a fabric from a mapping with the name ``where`` in messages."""
    return _build(FabricDocument(Path(), fields), tuple(where.split(".")), where, "custom", depth)


class _Sourced(Block):
    """A value with its source; the uncertainty is for people and other programs."""

    value: Yaml
    source: str = ""
    uncertainty: Yaml = None


class _Painted(_Sourced):
    """A number that changes over the cloth, with painted weights."""

    value: Yaml = Field(alias="from")
    map: str
    to: Yaml


class _FabricBase(Block):
    """Fields that a fabric's numbers come with."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    preset: Yaml = None
    name: str | None = None
    title: str | None = None


def _force(value: Yaml) -> float:
    """Return a force per width in SI; 0 needs no unit."""
    bare = isinstance(value, int | float) and value == 0
    return QuantityIn("N/m", bare=bare)(value)


def _curve(points: tuple[tuple[float, float], ...] | None) -> Curve | None:
    try:
        return None if points is None else Curve(points)
    except FabricError as error:
        raise wrong_value(f"{error.expected}, not {error.got}", hint=error.hint) from None


_Point = tuple[
    Annotated[float, BeforeValidator(QuantityIn("1"))], Annotated[float, BeforeValidator(_force)]
]
_CurveField = Annotated[tuple[_Point, ...] | None, AfterValidator(_curve)]


@cache
def _block() -> type[_FabricBase]:
    """Return the block of a fabric; fields that are left out have the preset's values."""
    own = fields_of(Fabric).items()
    fields: dict[str, Any] = {name: (field.rebuild_annotation(), None) for name, field in own}
    fields |= dict.fromkeys(CURVES, (_CurveField, None)) | {"arcsim": (str | None, None)}
    return create_model("FabricBlock", __base__=_FabricBase, **fields)


def fabric_schema() -> Json:
    """Return the JSON schema of a fabric that is written as a mapping."""
    fields: Json = _block().model_json_schema()["properties"]
    source, units = {"type": "string"}, {**UNITS, **OPTIONAL, **dict.fromkeys(CURVES, "1, N/m")}
    for name, unit in units.items():
        value = fields[name]
        sourced = {"type": "object", "properties": {"value": value, "source": source}}
        forms = [value, sourced]
        if name in MAPPED:
            numbers = {"map": {"type": "string"}, "from": value, "to": value}
            forms.append({"type": "object", "properties": numbers, "required": list(numbers)})
        fields[name] = {"anyOf": forms, "unit": unit}
    for short, (name, _) in _PAIRS.items():
        both = {"type": "array", "items": fields[name], "minItems": 2, "maxItems": 2}
        fields[short] = (
            fields[name]
            if short == "curve"
            else {"anyOf": [fields[name], both], "unit": units[name]}
        )
    return {"properties": fields, "additionalProperties": False}


def _build(document: FabricDocument, loc: Loc, where: str, name: str, depth: int) -> Fabric:
    """Build the fabric of a document's fields at a path, and of the preset that they name."""
    document = _split_pairs(document, loc)
    plain, sources, painted = _split_sources(document, loc)
    ends = {key: p.to for key, p in painted.items()}
    block, problems = document.validate(_block(), plain, loc)
    at_one, more = document.validate(_block(), ends, loc)
    if block is None or at_one is None:
        raise [*problems, *more][0]
    given: Json = {key: getattr(block, key) for key in block.model_fields_set}
    base: Json = {"title": "", "sources": {}}
    if "preset" in given:
        preset = fabric(given.pop("preset"), f"{where}.preset", depth + 1)
        base = {f.name: getattr(preset, f.name) for f in dataclasses.fields(preset)}
    if given.get("arcsim") is not None:
        file = document.path.parent / given.pop("arcsim")
        tables = extensions.find("options", "arcsim")(file)
        base |= tables
        base["sources"] = base["sources"] | dict.fromkeys(tables, f"measured: ARCSim, {file.name}")
    base["name"] = name
    missing = [key for key in _REQUIRED if key not in given and key not in base]
    if missing:
        raise FabricError(f"missing {', '.join(missing)}", where=where, hint=_HINT)
    words = {key: given.pop(key) or base[key] for key in ("name", "title") if key in given}
    fields: Json = base | given | words | {"sources": base["sources"] | sources}
    maps = {key: m for key, m in (base.get("maps") or {}).items() if key not in given}
    maps |= {key: FabricMap(p.map, getattr(at_one, key)) for key, p in painted.items()}
    fields["maps"] = maps or None
    try:
        made = Fabric(**fields)
    except FabricError as error:
        raise document.add_line(error, loc) from None
    if where == name:  # presets themselves define the ranges
        return made
    numbers = [pair for pair in made.numbers if pair[0] in given and pair not in made.compared]
    if (doubt := range_doubt(where, numbers)) is not None:
        warnings.warn(doubt, stacklevel=2)
    return dataclasses.replace(made, compared=made.compared | {*numbers})


def _split_pairs(document: FabricDocument, loc: Loc) -> FabricDocument:
    """Return the document with fields of warp and weft in place of those that set both."""
    fields, lines = dict(document.tree), dict(document.lines)
    for short in [s for s in _PAIRS if s in fields]:
        value = fields.pop(short)
        is_pair = isinstance(value, list | tuple) and short != "curve"  # whose value is a list
        pair = tuple(value) if is_pair else (value, value)
        if len(pair) != 2:
            raise document.field_error((*loc, short), value, "one quantity, or two: [warp, weft]")
        for key, one in zip(_PAIRS[short], pair):
            if key not in fields:
                fields[key] = one
                lines[(key,)] = document.lines.get((short,), 1)
    return dataclasses.replace(document, tree=fields, lines=lines if document.lines else {})


def _split_sources(
    document: FabricDocument, loc: Loc
) -> tuple[Json, dict[str, str], dict[str, _Painted]]:
    """Return the fields without sources, the source of each field, empty if it has none, and the
    maps by field.
    """
    fields, sources, painted = dict(document.tree), {}, {}
    for key, value in document.tree.items():
        if key in ("preset", "name", "title"):
            continue
        sources[key] = ""
        if isinstance(value, Mapping):
            kind = _Painted if "map" in value else _Sourced
            block = document.read_block(kind, value, (*loc, key))
            fields[key], sources[key] = block.value, block.source
            if isinstance(block, _Painted):
                painted[key] = block
    return fields, sources, painted
