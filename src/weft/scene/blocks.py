"""Building blocks of the scene schema: quantities with units, and blocks of settings.

The block of settings is derived from their dataclass (``weft.base.settings``), and builds one.
"""

import dataclasses
import enum
import math
import types
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)
from typing import get_type_hints as hints_of

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    create_model,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from weft.base.errors import WeftError
from weft.base.settings import SMALLEST, Setting, settings_by_field
from weft.base.units import to_si


class _Quantity:
    """Validator and label of a field with a unit."""

    def __init__(self, unit: str) -> None:
        self.unit = unit

    def __call__(self, value: Any) -> float:
        try:
            return to_si(value, self.unit)
        except OverflowError:
            raise ValueError(f"a number in {self.unit} that float64 holds") from None
        except WeftError as error:
            hint = f"; {error.hint}" if error.hint else ""
            raise ValueError(f"{error.expected}{hint}") from None


class _Size(_Quantity):
    """Validator of a positive size, which refuses values so small that floating point loses
    them.
    """

    def __call__(self, value: Any) -> float:
        found = super().__call__(value)
        if 0 < found < SMALLEST:
            raise ValueError(f"at least {SMALLEST:g} {self.unit}")
        return found


class _Degrees(_Quantity):
    """Validator of an angle in degrees: a bare number is in degrees, text has its own unit."""

    def __init__(self) -> None:
        super().__init__("degrees")
        self._angle = _Quantity("rad")

    def __call__(self, value: Any) -> float:
        angle = self._angle(value)
        return math.degrees(angle) if isinstance(value, str) else angle


@dataclass(frozen=True)
class Unit:
    """Unit of a type, for ``weft explain`` and for editors."""

    name: str

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "type": ["number", "string"], "unit": self.name}


def unit_in(metadata: Any) -> str:
    """Return the unit that an annotation's metadata names, or an empty text."""
    return metadata.name if isinstance(metadata, Unit) else ""


Length = Annotated[float, BeforeValidator(_Quantity("m")), Unit("m")]
Size = Annotated[float, BeforeValidator(_Size("m")), Unit("m")]  # > 0
Time = Annotated[float, BeforeValidator(_Quantity("s")), Unit("s")]
Degrees = Annotated[float, BeforeValidator(_Degrees()), Unit("degrees")]
Acceleration = Annotated[float, BeforeValidator(_Quantity("m/s^2")), Unit("m/s^2")]
Speed = Annotated[float, BeforeValidator(_Quantity("m/s")), Unit("m/s")]
Volume = Annotated[float, BeforeValidator(_Quantity("m^3")), Unit("m^3")]
Point = tuple[Length, Length, Length]


class SceneBlock(BaseModel):
    """A block of a scene file: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse ``true`` and ``false`` where a number or text is expected (pydantic would take 1
        and 0).
        """
        if _has_truth(value) and not _takes_truth(cls.model_fields[str(info.field_name)]):
            raise ValueError("another value than yes or no; `weft explain` says which")
        return value


def _has_truth(value: Any) -> bool:
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


class SettingsBlock(SceneBlock):
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

    def __get_pydantic_core_schema__(self, kind: Any, handler: Any) -> core_schema.CoreSchema:
        block = self.block_for(kind)
        name, first = next(iter(block.model_fields.items()))
        # a block with one required number may be written as that number: {static: 0.3}, or 0.3
        bare = first.is_required() and first.annotation is float

        def expanded(value: Any) -> Any:
            return {name: value} if bare and isinstance(value, str | int | float) else value

        made = core_schema.no_info_after_validator_function(_make, handler.generate_schema(block))
        return core_schema.no_info_before_validator_function(expanded, made)


T = TypeVar("T")
Given: TypeAlias = Annotated[T, BuiltField()]  # a dataclass of settings that its block builds


def _make(block: Any) -> Any:
    try:
        return block.make()
    except WeftError as error:
        raise PydanticCustomError("weft", "{text}", {"text": str(error), "error": error}) from None


@cache
def block_of(kind: type) -> type[SettingsBlock]:
    """Return the block of a dataclass of settings: its fields, with units, bounds and defaults."""
    fields: dict[str, Any] = {}
    hints, defaults = hints_of(kind), {f.name: f.default for f in dataclasses.fields(kind)}
    for name, about in settings_by_field(kind).items():
        default = ... if defaults[name] is dataclasses.MISSING else defaults[name]
        text = str(about).replace("[rad]", "[degrees]")
        said: Any = _said(hints[name], about)
        annotation: Any = Annotated[said, AfterValidator(_bounded(about))]
        fields[about.key or name] = (annotation, Field(default, description=text.strip()))
    title = (kind.__doc__ or "").split("\n\n")[0]
    block = create_model(kind.__name__, __base__=SettingsBlock, __doc__=title, **fields)
    block.settings = kind
    return block


def said_of(hint: Any, about: Setting) -> Any:
    """Return the type with which a file gives a setting, without its bounds."""
    return _said(hint, about)


def _bounded(about: Setting) -> Any:
    def check(value: Any) -> Any:
        if not about.holds(value):
            raise ValueError(about.wanted(value))
        return value

    return check


def _said(hint: Any, about: Setting) -> Any:
    """Return the type with which a file gives a field of a dataclass."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        made = [p for p in parts if dataclasses.is_dataclass(p)]
        kept = [p for p in parts if p in made or p is not float] if made else parts
        return Union[tuple(_said(p, about) for p in kept)]  # noqa: UP007
    if origin is tuple:
        return tuple[tuple(_said(p, about) for p in parts)]  # type: ignore[misc]
    if origin is Sequence:
        return tuple[_said(parts[0], about), ...]  # type: ignore[misc]
    if dataclasses.is_dataclass(hint):
        return Annotated[hint, BuiltField()]
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        names = tuple(member.name.lower() for member in hint)
        return Annotated[Literal[names], AfterValidator(lambda name: hint[name.upper()])]
    if hint is str and about.choices:
        return Literal[about.choices]
    if hint is float and about.unit == "rad":
        return Annotated[Degrees, AfterValidator(math.radians)]
    if hint is float and about.unit:
        return Annotated[float, BeforeValidator(_Quantity(about.unit)), Unit(about.unit)]
    return hint
