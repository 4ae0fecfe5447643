"""Blocks of files: typed fields, checked by pydantic.

A block is a ``Block``, or a dataclass of settings (``weft.base.settings``), which pydantic reads as
its annotations and settings say (``SettingsSchema``).
"""

import dataclasses
import enum
import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal, TypeVar, cast, get_args
from typing import get_type_hints as hints_of

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    create_model,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from weft.base.errors import WeftError
from weft.base.runtime_types.messages import marks_of
from weft.base.runtime_types.validators import Translation
from weft.base.schema.quantities import Degrees, QuantityIn, Unit
from weft.base.settings import Setting, settings_by_field


class Block(BaseModel):
    """A block of fields in a file: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth(cls, value: object, info: ValidationInfo) -> object:
        """Refuse ``true`` and ``false`` where a number or text is expected (pydantic would take 1
        and 0).
        """
        return refuse_truth(cls.model_fields[str(info.field_name)], value)


def refuse_truth(field: FieldInfo, value: object) -> object:
    """Return the value of a field of a file, if it is not yes or no in place of something else."""
    if _has_truth(value) and not _takes_truth(field):
        raise ValueError("a value other than yes or no; see `weft explain`")
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


@dataclass(frozen=True)
class SettingsSchema:
    """Mark of a dataclass of settings that a file gives as a block of its fields.

    A class whose attribute ``units_required`` is true wants a unit with every number that has one,
    and takes one number for a list.
    """

    def __get_pydantic_core_schema__(
        self, kind: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        fields = fields_of(kind)
        names = {about.key or name: name for name, about in settings_by_field(kind).items()}
        given = [_field_schema(names[key], key, f, handler) for key, f in fields.items()]
        arguments = core_schema.dataclass_args_schema(kind.__name__, given)
        settings = core_schema.dataclass_schema(
            kind,
            arguments,
            list(names.values()),
            post_init=hasattr(kind, "__post_init__"),
            ref=f"{kind.__module__}.{kind.__qualname__}",
            config={"extra_fields_behavior": "forbid", "allow_inf_nan": False},
        )
        return core_schema.no_info_wrap_validator_function(partial(_read, kind), settings)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        made = handler(schema)
        settings: Any = schema
        while "cls" not in settings:  # inside of validators
            settings = settings["schema"]
        block, whole = settings["cls"], handler.resolve_ref_schema(made)
        whole.update(description=title_of(block), additionalProperties=False)
        for key, field in fields_of(block).items():
            whole["properties"][key]["description"] = field.description
        return made


def file_type(block: Any) -> Any:
    """Return a type as pydantic reads it from a file: a dataclass of settings gets its mark."""
    return Annotated[block, SettingsSchema()] if dataclasses.is_dataclass(block) else block


T = TypeVar("T")
InBlock = Annotated[T, SettingsSchema()]  # a dataclass of settings


def _field_schema(
    name: str, key: str, field: FieldInfo, handler: GetCoreSchemaHandler
) -> core_schema.DataclassField:
    """Return the schema of a field of a dataclass that is called ``key`` in files."""
    no_truth = BeforeValidator(partial(refuse_truth, field))
    hint: Any = Annotated[field.rebuild_annotation(), no_truth]
    schema = handler.generate_schema(hint)
    if not field.is_required():
        schema = core_schema.with_default_schema(schema, default=field.default)
    return core_schema.dataclass_field(name, schema, kw_only=True, validation_alias=key)


def _read(kind: type, value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """Return the settings in a block, which may be written as its number if it needs but one."""
    name = number_of(kind)
    if name and isinstance(value, str | int | float):
        value = {name: value}
    try:
        return handler(value)
    except WeftError as error:
        raise PydanticCustomError("weft", "{text}", {"text": str(error), "error": error}) from None


def number_of(kind: type) -> str:
    """Return the name of the number that settings begin with and need, or an empty text:
    ``{static: 0.3}`` may be written as ``0.3``.
    """
    name, first = next(iter(fields_of(kind).items()))
    return name if first.is_required() and first.annotation is float else ""


def title_of(block: type) -> str:
    """Return the description of a block, or of a dataclass of settings."""
    text = block.__doc__ or ""
    return text if issubclass(block, BaseModel) else text.split("\n\n")[0]


@cache
def fields_of(block: Any) -> Mapping[str, FieldInfo]:
    """Return the fields of a block, or of a dataclass of settings, by their names in files; of a
    function, the arguments that have a ``Setting``.
    """
    if isinstance(block, type) and issubclass(block, BaseModel):
        return {**block.model_fields}
    file = FileTranslation(getattr(block, "units_required", False))
    parameters = inspect.signature(block).parameters
    hints = hints_of(inspect.unwrap(block), include_extras=True)
    settings: Mapping[str, Setting | None] = (
        settings_by_field(block)
        if isinstance(block, type)
        else {name: marks_of(get_args(hint))[2] for name, hint in hints.items()}
    )
    fields = {}
    for name, about in settings.items():
        if about is not None:
            default = parameters[name].default
            default = ... if default is inspect.Parameter.empty else default
            annotation = file.translate(Annotated[hints[name], about])
            fields[about.key or name] = field_of(annotation, default, about)
    return fields


def field_of(annotation: Any, default: object, about: Setting) -> FieldInfo:
    """Return a setting as pydantic's field."""
    own = Field(default, description=str(about).replace("[rad]", "[degrees]").strip())
    return FieldInfo.from_annotated_attribute(annotation, own)


def block_with(
    name: str, base: type[BaseModel], fields: Mapping[str, FieldInfo], **about: Any
) -> Any:
    """Return a block of the fields of ``base``, followed by more."""
    given: Any = {key: (field.annotation, field) for key, field in fields.items()}
    return create_model(name, __base__=base, **about, **given)


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
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            names = tuple(member.name.lower() for member in hint)
            return Annotated[Literal[names], AfterValidator(lambda name: hint[name.upper()])]
        if hint is bool:
            return Annotated[bool, Strict()]
        if hint is str and about.choices:
            return Literal[tuple(about.choices)]
        if hint is not float or not about.unit:
            return file_type(hint)
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


def block_at(block: type, names: Sequence[str]) -> type | None:
    """Return the block, or the dataclass of settings, at a path of field names below ``block``;
    None if the path ends in a value.
    """
    model: type | None = block
    for name in names:
        fields = {} if model is None else fields_of(model)
        if name not in fields:
            return None
        model = block_in(fields[name].rebuild_annotation())
    return model


def block_in(annotation: Any) -> type | None:
    """Return the block, or the dataclass of settings, inside an annotation such as
    ``list[PinBlock]`` or ``InBlock[Path] | None``.
    """
    if SettingsSchema() in getattr(annotation, "__metadata__", ()):
        return cast(type, annotation.__origin__)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = map(block_in, getattr(annotation, "__args__", ()))
    return next(filter(None, found), None)
