"""Help texts of scene fields, read from the schema, so that they are never out of date."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from weft.base.errors import SceneError, did_you_mean
from weft.base.schema.block import fields_of, setting_in, title_of
from weft.scene.schema import scene_block


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
