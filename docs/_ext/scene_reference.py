"""The reference of scene files, from the schema: every field with type, unit, default, meaning."""

import dataclasses
import enum
from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from weft.base.schema.block import fields_of, number_of, setting_in
from weft.fabric.fabric import described_fields
from weft.scene.explain import OF_SEVERAL, explain, vertex_names
from weft.scene.field_units import unit_of
from weft.scene.schema import scene_block

WORDS = {str: "text", int: "integer", float: "number", bool: "yes/no", dict: "mapping", Any: "any"}
SIGNS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def markdown() -> str:
    """All blocks, outer ones first, each with its table; a block that occurs twice is told once."""
    seen: dict[type, str] = {}
    return "\n\n".join([*_blocks([], seen), _fabric(), _vertex_names()])


def cell(text: str) -> str:
    """Text as a cell of a table in Markdown."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, of cells that are Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _blocks(names: list[str], seen: dict[type, str]) -> Iterator[str]:
    """The section of a block, then those of the blocks in it."""
    block = scene_block(names)
    assert block is not None
    title, fields = explain(".".join(["scene", *names]))
    path, _, meaning = title.partition(":")
    seen[block] = path
    helps = {f.path.rsplit(".", 1)[-1]: f for f in fields}
    rows, inner = [], []
    for name, field in fields_of(block).items():
        below = scene_block([*names, name])
        words = cell(_meaning(field))
        if below is not None:
            if below not in seen and below not in [b for _, b in inner]:
                inner.append((name, below))
            link = seen.get(below) or next(f"{path}.{n}" for n, b in inner if b is below)
            words += f" → [{link}](#{anchor(link)})"
        unit = unit_of(field)
        unit = "" if unit in ("block", "text", "yes/no", "1") or " or " in unit else unit
        kind = type_of(field.annotation)
        bounds = _bounds(field)
        default = helps[name].default
        default = default if default in ("required", "none") else f"`{default}`" if default else ""
        if default == "`see below it`":
            default = "its defaults"
        rows.append(
            [
                f"`{name}`",
                cell(kind + (f", {bounds}" if bounds else "")),
                cell(unit),
                cell(default),
                words,
            ]
        )
    heads = ("field", "type", "unit", "default", "meaning")
    yield f"({anchor(path)})=\n\n## {path}\n\n{meaning.strip()}\n\n{table(heads, rows)}"
    for name, below in inner:
        if below not in seen:
            yield from _blocks([*names, name], seen)


def anchor(path: str) -> str:
    """The label of a block's section."""
    return path.replace(".", "-").replace("_", "-")


def _meaning(field: Any) -> str:
    text = str(field.description or "")
    unit = unit_of(field)
    return text.removeprefix(f"[{unit}]").strip()


def _bounds(field: Any) -> str:
    """What numbers a field takes."""
    about = setting_in(field)
    said = about.expected.removeprefix("must be ").split(" [")[0]
    if said != "a finite number" and not about.choices:
        return said
    found = [
        f"{sign} {getattr(m, key):g}"
        for m in field.metadata
        for key, sign in SIGNS.items()
        if getattr(m, key, None) is not None
    ]
    return " and ".join(found)


def type_of(annotation: Any) -> str:
    """What a file says in a field of this type, in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return type_of(parts[0])
    if annotation is type(None):
        return ""
    if origin is Literal:
        return ", ".join(f"`{p}`" for p in parts)
    if origin is list or (origin is tuple and parts[-1:] == (...,)):
        return f"list of {_plural(type_of(parts[0]))}"
    if origin is tuple:
        inner = list(dict.fromkeys(type_of(p) for p in parts))
        return f"[{', '.join(inner if len(inner) > 1 else inner * len(parts))}]"
    if origin is dict:
        return "mapping"
    if parts:  # unions
        return " or ".join(dict.fromkeys(t for p in parts if (t := type_of(p))))
    if isinstance(annotation, type):
        if dataclasses.is_dataclass(annotation):
            return "number or block" if number_of(annotation) else "block"
        if issubclass(annotation, BaseModel):
            return "block"
        if issubclass(annotation, enum.Enum):
            return ", ".join(f"`{m.name.lower()}`" for m in annotation)
    return WORDS.get(annotation, str(annotation))


def _plural(word: str) -> str:
    if word == "number or block":
        return "blocks"
    return f"{word}s" if word in ("block", "number", "integer", "list") else word


def _fabric() -> str:
    """The fields of ``cloth.fabric`` that is said as a mapping."""
    rows = [[f"`{name}`", cell(unit), meaning] for name, unit, meaning in described_fields()]
    text = (
        "`fabric` is the name of a preset ([fabrics](fabrics.md)), a .yaml file, or these fields, "
        "over those of `preset`. A name without `_warp` or `_weft` says both."
    )
    head = "(scene-cloth-fabric)=\n\n## Fields of a fabric"
    heads = ("field", "unit", "range of the presets, or meaning")
    return f"{head}\n\n{text}\n\n{table(heads, rows)}"


def _vertex_names() -> str:
    """The names of vertices that pins and attachments select."""
    rows = [[f"`{field}`", cell(cloth), cell(names)] for field, cloth, names in vertex_names()]
    head = "(names-of-vertices)=\n\n## Names of vertices"
    text = f"Pins and attachments select vertices by these names. {OF_SEVERAL}"
    return f"{head}\n\n{text}\n\n{table(('select by', 'of cloth', 'names'), rows)}"
