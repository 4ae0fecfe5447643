"""Reading a scene file: YAML with line numbers, overrides, and every problem at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from weft.errors import SceneError, SceneProblems, WeftError, clipped, did_you_mean
from weft.plain_yaml import Loc, parse_yaml, read_yaml
from weft.scene.schema import SceneFile


@dataclass(frozen=True)
class Source:
    """A scene file's text as a tree, with the line of every field."""

    path: Path
    tree: Mapping[str, Any]
    lines: Mapping[Loc, int]
    overridden: frozenset[Loc] = frozenset()

    def where(self, loc: Sequence[str | int]) -> str:
        """``scene.yaml:14`` of the field at a path, or of the nearest block around it."""
        place = tuple(loc)
        while place and place not in self.lines and place not in self.overridden:
            place = place[:-1]
        if place in self.overridden:
            return f"--set {dotted(place)}"
        return f"{self.path.name}:{self.lines.get(place, 1)}"


def dotted(loc: Iterable[str | int]) -> str:
    """``pins.0.until``."""
    return ".".join(str(part) for part in loc)


def read_source(path: str | Path, overrides: Sequence[str] = ()) -> Source:
    """A scene file's tree with overrides ``path=value`` applied.

    Raises:
        SceneError: a file that cannot be read, is not YAML, or an override that fits nowhere.
    """
    path = Path(path)
    tree = read_yaml(path, "scene file", SceneError, "`weft demo` needs none; examples/ has some")
    if not isinstance(tree.value, dict):
        raise SceneError(
            "scene", got=type(tree.value).__name__, where=f"{path.name}:1",
            expected="fields such as `cloth:`", hint="`weft explain scene` lists them",
        )  # fmt: skip
    changed = {_override(tree.value, text) for text in overrides}
    return Source(path, tree.value, tree.lines, frozenset(changed))


def _override(tree: dict[str, Any], text: str) -> Loc:
    """Set a value by its path, in place; blocks on the way are made."""
    name, equals, value = text.partition("=")
    parts: Loc = tuple(
        int(p) if p.isdecimal() and len(p) < 10 else p for p in name.strip().split(".")
    )
    if not equals or not name.strip() or "" in parts:
        raise SceneError("--set", got=repr(text), expected="path=value, such as cloth.sheet.nx=80")
    parsed = parse_yaml(value, f"--set {clipped(name, 80)}", SceneError).value
    block: Any = tree
    for part, following in zip(parts, (*parts[1:], None)):
        if isinstance(part, int):
            if not isinstance(block, list) or part >= len(block):
                raise SceneError(
                    f"--set {name}", got=f"no entry {part}", expected="one that exists"
                )
        elif not isinstance(block, dict):
            raise SceneError(f"--set {name}", got=f"{part!r} below a value", expected="a block")
        if following is None:
            block[part] = parsed
        elif isinstance(block, dict):
            block = block.setdefault(part, {})
        else:
            block = block[part]
    return parts


def validate(source: Source) -> SceneFile:
    """The typed scene.

    Raises:
        SceneProblems: every field that is unknown, missing, of the wrong type or out of range.
    """
    try:
        return SceneFile.model_validate(source.tree)
    except ValidationError as error:
        problems = [_problem(source, details) for details in error.errors()]
        raise SceneProblems(problems) from None


def _problem(source: Source, details: Any) -> WeftError:
    loc: Loc = tuple(p for p in details["loc"] if p not in ("str", "dict[str,any]"))
    kind, where = details["type"], source.where(loc)
    if kind == "extra_forbidden":
        known = _fields_at(loc[:-1])
        return SceneError(
            f"field {dotted(loc)}", where=where, expected=f"one of {', '.join(known)}",
            hint=did_you_mean(str(loc[-1]), known),
        )  # fmt: skip
    if kind == "missing":
        return SceneError(
            dotted(loc), got="nothing", where=where, expected="a value",
            hint=f"`weft explain scene.{dotted(p for p in loc if isinstance(p, str))}` says which",
        )  # fmt: skip
    message = str(details["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    message = message.replace("greater than or equal to", "must be >=").replace(
        "less than or equal to", "must be <="
    )
    message = message.replace("greater than", "must be >").replace("less than", "must be <")
    got = details.get("input")
    shown = None if isinstance(got, dict | list) else repr(got)
    hint = None
    if kind == "literal_error" and isinstance(got, str):
        known = str(details["ctx"]["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
        hint = did_you_mean(got, known)
    return SceneError(dotted(loc) or "scene", got=shown, where=where, expected=message, hint=hint)


def _fields_at(loc: Loc) -> list[str]:
    """Names of the fields of the block at a path of the schema."""
    model = block_at([p for p in loc if isinstance(p, str)])
    return list(model.model_fields) if model is not None else []


def block_at(names: Sequence[str]) -> type[BaseModel] | None:
    """The model of the block at a path of field names, or None where the path ends in a value."""
    model: type[BaseModel] | None = SceneFile
    for name in names:
        if model is None or name not in model.model_fields:
            return None
        model = _model_in(model.model_fields[name].annotation)
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The block that an annotation such as ``list[PinBlock]`` or ``PathBlock | None`` holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        found = _model_in(part)
        if found is not None:
            return found
    return None
