"""Files that are checked against a block: every problem at once, each with its file and line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from weft.base.errors import UnitError, WeftError, did_you_mean
from weft.base.runtime_types.validators import VALUE
from weft.base.schema.block import block_at, fields_of, file_type
from weft.base.trees import Yaml, YamlMapping
from weft.base.yaml_lines import Loc, YamlTree, kind_of, parse_yaml, read_yaml

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

_SIGNS = {  # phrases of pydantic's messages, and the signs that replace them
    "greater than or equal to": "must be >=",
    "less than or equal to": "must be <=",
    "greater than": "must be >",
    "less than": "must be <",
}
_KINDS = {  # kinds of pydantic's errors, and what a file writes in such a place
    "model_type": "a block of fields",
    "dataclass_type": "a block of fields",
    "dict_type": "a block of fields",
    "mapping_type": "a block of fields",
    "list_type": "a list",
    "tuple_type": "a list",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "finite_number": "a finite number",
}
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")  # kinds of errors: no such field
T = TypeVar("T")


@cache
def _adapter(block: Any) -> TypeAdapter[Any]:
    """Return the validator of a block, or of a dataclass of settings."""
    return TypeAdapter(file_type(block))


@dataclass(frozen=True)
class YamlDocument:
    """The tree of a file, with the line of every field.

    Subclasses say which kind of file it is in the class variables.
    """

    path: Path
    tree: YamlMapping
    lines: Mapping[Loc, int] = field(default_factory=dict)
    files: Mapping[Loc, str] = field(default_factory=dict)  # that wrote fields, where several did

    what: ClassVar[str] = "file"  # the whole file, in messages
    error: ClassVar[type[WeftError]] = WeftError  # class of errors
    unit_error: ClassVar[type[WeftError] | None] = None  # of wrong units; None: as all others
    explained_by: ClassVar[str] = ""  # where a missing field is explained; {} is its path

    def where(self, loc: Sequence[str | int] = ()) -> str:
        """Return ``scene.yaml:14`` of the field at a path, or of the nearest block around it; the
        name of the file alone if lines are not known; nothing if there is no file.
        """
        if not self.lines:
            return self.path.name
        place = tuple(loc)
        while place and place not in self.lines:
            place = place[:-1]
        file = self.files.get(place, self.path.name)
        return f"{file}:{self.lines.get(place, 1)}"

    def missing_field(self, name: str) -> WeftError | None:
        """Return the error for a field that something not installed would add; None: nothing."""
        return None

    def add_line(self, error: WeftError, loc: Loc) -> WeftError:
        """Return the error with its line: of the field below ``loc`` that it names, or else of
        ``loc``.
        """
        below = (*loc, error.what.rsplit(".", 1)[-1])
        line = self.where(below if below in self.lines else loc)
        error.where = ", ".join(filter(None, (line, error.where)))
        return error

    def validate(
        self, block: type[T], tree: Yaml, loc: Loc = (), context: object = None
    ) -> tuple[T | None, list[WeftError]]:
        """Return the typed content of a block of the file, or None with all its problems.

        Args:
            block: the block, or the dataclass of its settings.
            tree: its content in the file.
            loc: its path in the file.
            context: what validators of fields find as ``ValidationInfo.context``.
        """
        try:
            return _adapter(cast(Any, block)).validate_python(tree, context=context), []
        except ValidationError as error:
            return None, [self._problem(block, tree, details, loc) for details in error.errors()]

    def read_block(self, block: type[T], tree: Yaml, loc: Loc = ()) -> T:
        """Return the typed content of a block of the file; arguments as of ``validate``.

        Raises:
            WeftError: of the document's class; the first problem.
        """
        made, problems = self.validate(block, tree, loc)
        if made is None:
            raise problems[0]
        return made

    def field_error(
        self, loc: Sequence[str | int], got: object, expected: str, hint: str | None = None
    ) -> WeftError:
        """Return the error of a field at a path."""
        shown = "nothing" if got is None else got
        what = dotted_path(loc) or self.what
        return self.error(what, got=shown, where=self.where(loc), expected=expected, hint=hint)

    def _problem(self, block: type, tree: Yaml, details: "ErrorDetails", around: Loc) -> WeftError:
        """Return one of pydantic's errors of the block at the path ``around`` as a weft error."""
        inner = _path_in(tree, details)
        loc: Loc = (*around, *inner)
        kind, where, what = details["type"], self.where(loc), dotted_path(loc)
        if kind == "weft":
            made: WeftError = details["ctx"]["error"]
            return self.add_line(made, loc)
        if kind in _UNKNOWN:
            needed = self.missing_field(str(loc[-1]))
            if needed is not None:
                return self.add_line(needed, loc)
            fields = _fields_around(block, inner)
            known = [about.alias or name for name, about in fields.items()]
            return self.error(
                f"field {what}",
                where=where,
                expected=f"one of {', '.join(known)}",
                hint=did_you_mean(str(loc[-1]), known),
            )
        if kind == "missing":
            path = dotted_path(p for p in loc if isinstance(p, str))
            hint = self.explained_by.format(path) or _spelling_hint(block, inner, details["input"])
            return self.error(what, got="nothing", where=where, expected="a value", hint=hint)
        message = str(details["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
        for english, sign in _SIGNS.items():
            message = message.replace(english, sign)
        got, hint, error = details.get("input"), None, self.error
        shown = _describe(got)
        message = _KINDS.get(kind, message)
        if kind == VALUE:
            hint = details["ctx"]["hint"]
            if isinstance(details["ctx"]["error"], UnitError):
                error = self.unit_error or error
        if kind in ("too_short", "too_long"):
            limits = details["ctx"]
            shown = f"{limits['actual_length']} entries"
            most, least = limits.get("max_length"), limits.get("min_length")
            message = f"at least {least} entries" if most is None else f"at most {most} entries"
        if kind == "literal_error" and isinstance(got, str):
            listed = str(details["ctx"]["expected"]).replace(" or ", ", ").replace("'", "")
            hint = did_you_mean(got, listed.split(", "))
        if kind == "float_parsing":
            hint = _percent_hint(got)
        if kind == "literal_error" and " or " not in message:
            message = f"the word {message}"
            hint = hint or _meaning(block, inner)
        if not self.explained_by:
            hint = hint or _meaning(block, inner)
        return error(what or self.what, got=shown, where=where, expected=message, hint=hint)


def _percent_hint(text: object) -> str | None:
    """Return the hint to write the number that a percentage stands for; None: no percentage."""
    try:
        return f"write {float(str(text).strip().removesuffix('%')) / 100:g}"
    except ValueError:
        return None


def _describe(value: Yaml) -> str:
    """Return a value for a message; blocks and lists are described by their size."""
    if isinstance(value, dict | list):
        return f"a {'block' if isinstance(value, dict) else 'list'} of {len(value)}"
    return "nothing" if value is None else repr(value)


def _path_in(tree: Yaml, details: "ErrorDetails") -> Loc:
    """Return the path of one of pydantic's errors in a tree.

    The names of types that pydantic tried in place of one another, and the fields of blocks that
    the tree does not write out, are left out.
    """
    *parts, last = details["loc"] or ("",)
    path: list[str | int] = []
    for part in (*parts, last):
        if part in tree if isinstance(tree, Mapping) else _is_index(part, tree):
            tree = tree[part]
        elif part is not last or details["type"] not in ("missing", *_UNKNOWN):
            continue
        path.append(part)
    return tuple(path)


def _is_index(part: str | int, tree: Yaml) -> bool:
    return isinstance(tree, list) and isinstance(part, int) and part < len(tree)


def _fields_around(block: type, loc: Sequence[str | int]) -> "Mapping[str, FieldInfo]":
    """Return the fields of the block around the field at a path of a block."""
    inside = block_at(block, [p for p in loc[:-1] if isinstance(p, str)])
    return {} if inside is None else fields_of(inside)


def _spelling_hint(block: type, loc: Loc, given: Yaml) -> str | None:
    """Return the hint that a given field of a name without meaning may be the missing one."""
    known = _fields_around(block, loc)
    for name in given if isinstance(given, Mapping) else ():
        if name not in known and did_you_mean(str(name), [str(loc[-1])]):
            return f"{name}: did you mean {loc[-1]!r}?"
    return None


def _meaning(block: type, loc: Loc) -> str | None:
    """Return name and meaning of the field at a path of a block."""
    path = [p for p in loc if isinstance(p, str)] or [""]
    field, last = _fields_around(block, path).get(path[-1]), path[-1]
    return f"{last}: {field.description}" if field is not None and field.description else None


def dotted_path(loc: Iterable[str | int]) -> str:
    """Return a path as text: ``pins.0.until``."""
    return ".".join(str(part) for part in loc)


@dataclass(frozen=True, eq=False)
class DocumentBlock(Generic[T]):
    """One block of a file, checked, with its place for messages.

    Args:
        document: the file.
        loc: path of the block in the file.
        given: its fields.
    """

    document: YamlDocument
    loc: Loc
    given: T

    def where(self, *loc: str | int) -> str:
        """Return file and line of a field, or of the block."""
        return self.document.where((*self.loc, *loc))

    def error(
        self, field: str | Loc, got: object, expected: str, hint: str | None = None
    ) -> WeftError:
        """Return an error with file and line.

        Args:
            field: name of a field, or a path below the block; empty: the block itself.
            got, expected, hint: as of a ``WeftError``.
        """
        below: Loc = (field,) if isinstance(field, str) and field else tuple(field)
        return self.document.field_error((*self.loc, *below), got, expected, hint)


D = TypeVar("D", bound=YamlDocument)


def read_document(kind: type[D], path: Path, hint: str, fields: str) -> D:
    """Read a YAML file that contains a mapping.

    Args:
        kind: the class of the document.
        path: the file.
        hint: the next step if the file cannot be read, or has no fields.
        fields: some of the fields that are expected, for messages.

    Raises:
        WeftError: of the document's class; the file cannot be read, is not YAML, or is no mapping.
    """
    read = read_yaml(path, f"{kind.what} file", kind.error, hint)
    return _document_of(kind, read, path, fields, hint)


def parse_document(kind: type[D], text: str, source: str, fields: str) -> D:
    """Read a text like a file with the name ``source``; other arguments as in ``read_document``."""
    return _document_of(kind, parse_yaml(text, source, kind.error), Path(source), fields, None)


def _document_of(kind: type[D], read: YamlTree, path: Path, fields: str, hint: str | None) -> D:
    if not isinstance(read.value, dict):
        raise kind.error(
            kind.what,
            got=kind_of(read.value),
            where=f"{path.name}:1",
            expected=f"fields such as {fields}",
            hint=hint,
        )
    return kind(path, read.value, read.lines)
