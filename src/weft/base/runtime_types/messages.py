"""Descriptions of annotations for messages."""

import enum
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from weft.base.arrays import ArrayOf
from weft.base.errors import to_one_line
from weft.base.settings import Accepts, Setting

PLAIN = Setting()  # the setting of numbers without unit and bounds
LISTS = (tuple, list, Sequence, Collection, Iterable)
MAPPINGS = (dict, Mapping)
_WORDS: Mapping[object, str] = {
    float: "a number",
    int: "a whole number",
    bool: "True or False",
    str: "text",
    Path: "a path",
}


def is_function(origin: object) -> bool:
    """Return True if the origin of an annotation is ``collections.abc.Callable``."""
    return origin is Callable


def marks_of(parts: Sequence[object]) -> tuple[ArrayOf | None, Accepts | None, Setting | None]:
    """Return the last mark of each kind in the arguments of an ``Annotated``."""
    array, accepts, setting = None, None, None
    for mark in parts[1:]:
        array = mark if isinstance(mark, ArrayOf) else array
        accepts = mark if isinstance(mark, Accepts) else accepts
        setting = mark if isinstance(mark, Setting) else setting
    return array, accepts, setting


def describe_hint(hint: object, about: Setting = PLAIN) -> str:
    """Return a description of the values that an annotation accepts."""
    origin, parts = get_origin(hint), get_args(hint)
    if isinstance(hint, ArrayOf):
        return str(hint)
    if origin is Annotated:
        array, accepts, setting = marks_of(parts)
        return describe_hint(
            array or (parts[0] if accepts is None else accepts.hint), setting or about
        )
    if origin in (Union, types.UnionType):
        kept = [p for p in parts if p is not type(None) and not (p is str and about.unit)]
        said = dict.fromkeys(describe_hint(p, about) for p in kept)
        return " or ".join([*said, *(["nothing"] if type(None) in parts else [])])
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if hint is float and about.unit:
        return f"a number [{about.unit}]"
    if hint in _WORDS:
        return _WORDS[hint]
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return f"one of {', '.join(f'{hint.__name__}.{member.name}' for member in hint)}"
    if origin is tuple and Ellipsis not in parts:
        same = len(set(parts)) == 1
        each = f", each {describe_hint(parts[0], about)}" if same else ""
        return f"{len(parts)} entries{each}"
    if origin in LISTS and parts:
        return f"a list, each {describe_hint(parts[0], about)}"
    if origin in MAPPINGS:
        typed = len(parts) == 2 and parts[1] is not Any
        return f"a mapping, each {describe_hint(parts[1])}" if typed else "a mapping"
    if is_function(origin) or is_function(hint):
        return "a function"
    name = str(getattr(hint, "__name__", hint)).removesuffix("Like")
    return f"{'an' if name[:1] in 'AEIO' else 'a'} {name}"


def describe_value(value: object) -> str:
    """Return a value and its type as one line of text."""
    if value is None:
        return "nothing"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"{to_one_line(repr(value), 60)}, {type(value).__name__}"
