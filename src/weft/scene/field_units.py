"""Units of the fields of a scene file, and the JSON schema for editors."""

import dataclasses
import re
from collections.abc import Iterator
from typing import get_args

from pydantic.fields import FieldInfo

from weft.base.keyframes import Between
from weft.base.schema.block import Block
from weft.base.settings import KEYFRAMES
from weft.base.trees import Json, Yaml

_KINDS: dict[type, str] = {bool: "yes/no", int: "1", float: "1", str: "text"}
_WRITTEN = re.compile(r"\[([^\]]+)\]")  # in a description: "[1/s] frames per second"


def unit_of(field: FieldInfo) -> str:
    """Return the unit of a field.

    It is the unit with which its description begins, as in ``[1/s]``; ``1`` for plain numbers; or
    what the field is: ``text``, ``yes/no``, ``block``.

    Args:
        field: a pydantic FieldInfo.
    """
    written = _WRITTEN.match(field.description or "")
    return written[1] if written else " or ".join(dict.fromkeys(_kinds(field.annotation)))


def _kinds(annotation: object) -> Iterator[str]:
    """Yield the kinds of a type without a unit."""
    is_block = isinstance(annotation, type) and issubclass(annotation, Block)
    if is_block or dataclasses.is_dataclass(annotation):
        yield "block"
    elif annotation in _KINDS:
        yield _KINDS[annotation]
    elif isinstance(annotation, str):
        yield "text"  # a choice of a Literal
    for part in get_args(annotation):
        yield from _kinds(part)


_KEYFRAMES: Json = {
    "type": "object",
    "description": "a number that changes in time: [time, number] for each key",
    "properties": {
        "keys": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": {"type": ["number", "string"]},
            },
        },
        "between": {"enum": list(get_args(Between))},
    },
    "required": ["keys"],
    "additionalProperties": False,
}


def _with_keyframes(schema: Yaml) -> Yaml:
    """Return a JSON schema with the definition of keyframes in place of its placeholder."""
    if isinstance(schema, dict):
        if KEYFRAMES in schema:
            return {"$ref": "#/$defs/Keyframes"}
        return {name: _with_keyframes(part) for name, part in schema.items()}
    return [_with_keyframes(part) for part in schema] if isinstance(schema, list) else schema


def json_schema() -> Json:
    """Return the schema of a scene file as JSON schema (draft 2020-12).

    Editors complete and check YAML with it. Quantities are numbers or text, with their ``unit``.
    """
    from weft.fabric.file import fabric_schema
    from weft.scene.schema import SceneFile

    schema = SceneFile.model_json_schema()
    for block in schema.get("$defs", {}).values():
        for choice in block.get("properties", {}).get("fabric", {}).get("anyOf", []):
            if choice.get("type") == "object":
                choice.update(fabric_schema())
        each = block.get("properties", {}).get("fabrics", {}).get("additionalProperties", {})
        for choice in each.get("anyOf", []):
            if choice.get("type") == "object":
                choice.update(fabric_schema())
    schema = _with_keyframes(schema)
    schema["$defs"]["Keyframes"] = _KEYFRAMES
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
