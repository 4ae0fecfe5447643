"""Blocks of files: typed fields, checked by pydantic.

The block of settings is derived from their dataclass (``weft.base.settings``), and builds one.
"""

import dataclasses
import enum
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
)
from typing import get_type_hints as hints_of

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    Strict,
    ValidationInfo,
    create_model,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, core_schema

from weft.base.errors import WeftError
from weft.base.runtime_types.messages import marks_of
from weft.base.runtime_types.validators import Translation
from weft.base.schema.quantities import Degrees, QuantityIn, Unit
from weft.base.settings import Setting, settings_by_field
from weft.base.trees import YamlMapping


class Block(BaseModel):
    """A block of fields in a file: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth(cls, value: object, info: ValidationInfo) -> object:
        """Refuse ``true`` and ``false`` where a number or text is expected (pydantic would take 1
        and 0).
        """
        if _has_truth(value) and not _takes_truth(cls.model_fields[str(info.field_name)]):
            raise ValueError("another value than yes or no; `weft explain` says which")
        return value


def _has_truth(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, list) and any(map(_has_truth, value)))


def _takes_truth(field: FieldInfo) -> bool:
    """Return whether a field, or an entry of its lists, may be yes or no."""
    parts = [field.annotation]
    while parts:
        part = parts.pop()
        if part is bool or part is Any:
            return True
        parts += get_args(part)
    return False


class SettingsBlock(Block):
    """A block whose fields are those of a dataclass of settings."""

    settings: ClassVar[type]

    def make(self) -> Any:
        """Return the dataclass; fields that the file does not give have their defaults."""
        names = {
            about.key or name: name for name, about in settings_by_field(self.settings).items()
        }
        said = self.model_fields_set & names.keys()
        return self.settings(**{names[key]: getattr(self, key) for key in said})


@dataclass(frozen=True)
class BuiltField:
    """Mark of a field whose value a block builds: ``block``, or the block of the field's
    dataclass.
    """

    block: type[BaseModel] | None = None

    def block_for(self, kind: Any) -> type[BaseModel]:
        """Return the block of a field of this type."""
        return self.block or block_of(kind)

    def __get_pydantic_core_schema__(
        self, kind: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        block = self.block_for(kind)
        name, first = next(iter(block.model_fields.items()))
        # a block with one required number may be written as that number: {static: 0.3}, or 0.3
        bare = first.is_required() and first.annotation is float

        def expand(value: object) -> object:
            return {name: value} if bare and isinstance(value, str | int | float) else value

        made = core_schema.no_info_after_validator_function(_make, handler.generate_schema(block))
        return core_schema.no_info_before_validator_function(expand, made)


T = TypeVar("T")
FromBlock: TypeAlias = Annotated[T, BuiltField()]  # a dataclass of settings that its block builds


def _make(block: Any) -> object:
    try:
        return block.make()
    except WeftError as error:
        raise PydanticCustomError("weft", "{text}", {"text": str(error), "error": error}) from None


@cache
def block_of(kind: type) -> type[SettingsBlock]:
    """Return the block of a dataclass of settings: its fields, with units, bounds and defaults.

    A class whose attribute ``units_required`` is true wants a unit with every number that has one,
    and takes one number for a list.
    """
    title = (kind.__doc__ or "").split("\n\n")[0]
    fields = fields_of(kind)
    block = create_model(kind.__name__, __base__=SettingsBlock, __doc__=title, **fields)
    block.settings = kind
    return block


def fields_of(kind: type, file_types: YamlMapping = MappingProxyType({})) -> dict[str, Any]:
    """Return the fields of a dataclass of settings, as ``pydantic.create_model`` takes them.

    Args:
        kind: the dataclass.
        file_types: of fields that a file writes in another form: their type there; or their type
            and default.
    """
    fields: dict[str, Any] = {}
    file = FileTranslation(getattr(kind, "units_required", False))
    hints, defaults = hints_of(kind), {f.name: f.default for f in dataclasses.fields(kind)}
    for name, about in settings_by_field(kind).items():
        default = ... if defaults[name] is dataclasses.MISSING else defaults[name]
        if name in file_types:
            said = file_types[name]
            said, default = said if isinstance(said, tuple) else (said, default)
            annotation: object = Annotated[said, about]
        else:
            annotation = file.translate(Annotated[hints[name], about])
        fields[about.key or name] = (annotation, _field(default, about))
    return fields


def arguments_of(function: Callable[..., object]) -> dict[str, Any]:
    """Return the arguments of a function that have a ``Setting``, as fields of a block."""
    file, fields = FileTranslation(), {}
    hints = hints_of(inspect.unwrap(function), include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        *_, about = marks_of(get_args(hints[name]))
        if about is not None:
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[about.key or name] = (file.translate(hints[name]), _field(default, about))
    return fields


def _field(default: object, about: Setting) -> Any:
    """Return the default and the description of a setting as pydantic's field."""
    return Field(default, description=str(about).replace("[rad]", "[degrees]").strip())


def setting_in(field: FieldInfo) -> Setting:
    """Return the setting of a field; one that says nothing if it has none."""
    return next((m for m in field.metadata if isinstance(m, Setting)), Setting())


class FileTranslation(Translation):
    """Translation of the annotation of a setting into the type with which a file gives it.

    Args:
        units_required: a number that has a unit is written with it, and one entry may stand in
            place of a list, which is not empty.
    """

    def __init__(self, units_required: bool = False) -> None:
        self.units_required = units_required

    def choices(self, parts: Sequence[object], about: Setting) -> Sequence[object]:
        """Return the types of a union; a bare number in place of a block is the block's."""
        kept = super().choices(parts, about)
        has_block = any(map(dataclasses.is_dataclass, kept))
        return [p for p in kept if p is not float] if has_block else kept

    def entries(self, kinds: tuple[object, ...], hint: object, about: Setting) -> Any:
        """Return the type of a list."""
        made: Any = tuple.__class_getitem__(kinds)
        one_for_list = self.units_required and ... in kinds
        if one_for_list:
            return Annotated[made, Field(min_length=1), BeforeValidator(_as_list)]
        return made

    def value(self, hint: Any, about: Setting) -> Any:
        """Return the type of a single value."""
        if dataclasses.is_dataclass(hint):
            return Annotated[hint, BuiltField()]
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            names = tuple(member.name.lower() for member in hint)
            return Annotated[Literal[names], AfterValidator(lambda name: hint[name.upper()])]
        if hint is bool:
            return Annotated[bool, Strict()]
        if hint is str and about.choices:
            return Literal[tuple(about.choices)]
        if hint is not float or not about.unit:
            return hint
        if about.unit == "rad" and not self.units_required:
            return Annotated[Degrees, AfterValidator(math.radians)]
        quantity = QuantityIn(about.unit, bare=not self.units_required, per_angle=about.per_angle)
        return Annotated[float, BeforeValidator(quantity), Unit(about.unit)]


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


class ListOrBlock:
    """Mark of a union of two types: a file gives the first one as a list, the other as a block."""

    def __get_pydantic_core_schema__(
        self, kind: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        listed, block = map(handler.generate_schema, get_args(kind))
        forms = {"list": listed, "block": block}
        return core_schema.tagged_union_schema(
            forms, lambda value: "list" if isinstance(value, list) else "block"
        )


def block_at(block: type[BaseModel], names: Sequence[str]) -> type[BaseModel] | None:
    """Return the block at a path of field names below ``block``; None if the path ends in a
    value.
    """
    model: type[BaseModel] | None = block
    for name in names:
        if model is None or name not in model.model_fields:
            return None
        model = block_in(model.model_fields[name].rebuild_annotation())
    return model


def block_in(annotation: Any) -> type[BaseModel] | None:
    """Return the block inside an annotation such as ``list[PinBlock]`` or ``PathBlock | None``."""
    for mark in getattr(annotation, "__metadata__", ()):
        if isinstance(mark, BuiltField):
            return mark.block_for(annotation.__origin__)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        found = block_in(part)
        if found is not None:
            return found
    return None
