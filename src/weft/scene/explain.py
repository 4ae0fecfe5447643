"""Help texts of scene fields, read from the schema, so that they are never out of date."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from weft import extensions
from weft.base.errors import SceneError, did_you_mean
from weft.base.schema.block import fields_of, setting_in, title_of
from weft.cloth.cloth import CORNERS, SIDES
from weft.scene.cloth_source import ClothSource
from weft.scene.schema import scene_block
from weft.scene.selection import SelectionBlock

# Of the groups of a scene with several cloths.
OF_SEVERAL = (
    "With several cloths, give `cloth: CLOTH` beside the name, or write `group: CLOTH NAME`. "
    "`weft check SCENE` lists the groups of a scene."
)


@dataclass(frozen=True)
class FieldHelp:
    """Path, meaning, default and choices of one field."""

    path: str
    meaning: str
    default: str
    choices: str


def explain(path: str) -> tuple[str, Sequence[FieldHelp]]:
    """Return title and fields of a block, or the one field, at a path like ``scene.cloth.fabric``.

    Raises:
        SceneError: no such field.
    """
    names = [n for n in path.split(".") if n and not n.isdigit()]
    if names and names[0] == "scene":
        names = names[1:]
    for i, name in enumerate(names):
        parent = scene_block(names[:i])
        known = list(fields_of(parent)) if parent is not None else []
        if name not in known:
            raise SceneError(
                f"field {path}",
                got=repr(name),
                hint=did_you_mean(name, known),
                expected=f"one of {', '.join(known)}" if known else "a shorter path",
            )
    title = ".".join(["scene", *names])
    block = scene_block(names)
    if block is None:
        parent = scene_block(names[:-1])
        assert parent is not None
        return title, [_help(title, fields_of(parent)[names[-1]])]
    text = " ".join(title_of(block).split())
    return f"{title}: {text}", [
        _help(f"{title}.{name}", field) for name, field in fields_of(block).items()
    ]


def selects_vertices(names: Sequence[str]) -> bool:
    """Return whether the block at a path below the scene selects vertices, as pins do."""
    block = scene_block(names)
    return isinstance(block, type) and issubclass(block, SelectionBlock)


def vertex_names() -> list[tuple[str, str, str]]:
    """Return the names of vertices that a selection knows: field, kind of cloth, names."""
    rows = [("corners", "any", ", ".join(CORNERS)), ("border", "any", ", ".join(SIDES))]
    sources = extensions.Registry[ClothSource]("cloth sources").items()
    return rows + [("group", name, source.groups) for name, source in sources]


def _help(path: str, field: FieldInfo) -> FieldHelp:
    value = field.default
    if value is PydanticUndefined:
        default = "required"
    elif value is None or value in ([], ()):
        default = "none"
    elif isinstance(value, BaseModel):
        default = "see the entries below"
    else:
        default = value.name.lower() if isinstance(value, enum.Enum) else str(value)
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    about = field.description or ""
    if setting_in(field).keyframes:
        about += " (may have keyframes)"
    return FieldHelp(path, about, default, ", ".join(map(str, choices)))
