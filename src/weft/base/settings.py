"""Settings: frozen dataclasses whose fields declare their meaning, unit and bounds once, and
whether they may change in time.

Checks in Python (``runtime_types``), the blocks of files (``base.schema``), ``weft explain``, the
reference in the manual, the JSON schema, keyframes and docstrings are generated from these
declarations.
"""

import dataclasses
import enum
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeGuard, TypeVar

from weft.base.trees import Json
from weft.base.units import Quantity, max_magnitude

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

T = TypeVar("T")
P = ParamSpec("P")
REQUIRED: Any = dataclasses.MISSING  # the default of a field without one
SMALLEST = 1e-12  # [m] smallest allowed value of a length that must be positive
KEYFRAMES = "x-keyframes"  # in JSON schemas: stands for the schema of keyframes
# reasons for which numbers have no keyframes
MATERIAL = "material is fixed; loads, wind, friction and attachments may change"
ROOM = "thickness is fixed"
_JSON_BOUNDS = {
    "above": "exclusiveMinimum",
    "least": "minimum",
    "below": "exclusiveMaximum",
    "most": "maximum",
}
_KEY = "setting"  # key of the setting in the metadata of a dataclass field


@dataclass(frozen=True)
class Setting:
    """The meaning of a field and the numbers that it accepts (in a tuple: every entry).

    A setting belongs to a field of a dataclass (``setting``), or to an argument of a function:
    ``dt: Annotated[float, Setting("length of the step", "s", above=0)]``.
    """

    meaning: str = ""
    unit: str = ""  # SI unit; files may use another one of the same dimension
    above: float = -math.inf  # < value
    least: float = -math.inf  # <= value
    below: float = math.inf  # > value
    most: float = math.inf  # >= value
    choices: Sequence[object] = ()  # allowed values; empty: any
    finite: bool = True  # False: infinity is allowed
    key: str = ""  # name in scene files; empty: the field's name
    per_angle: bool = False  # text may have a unit per angle; the number is then per radian
    keyframes: bool = False  # the number may change in time
    constant: str = ""  # why it may not, and what to do instead

    def __str__(self) -> str:
        return f"[{self.unit}] {self.meaning}" if self.unit else self.meaning

    def holds(self, value: object) -> bool:
        """Return True if a value is allowed; without ``choices``, all that are no numbers are
        allowed.
        """
        if isinstance(value, tuple | list):
            return all(self.holds(v) for v in value)
        if value is None:
            return True
        if self.choices:
            return value in self.choices
        if isinstance(value, str | bool | enum.Enum) or not _is_number(value):
            return True
        inside = self.above < value < self.below and self.least <= value <= self.most
        inside = inside and not self._beyond(value) and value >= self._smallest
        return (inside and math.isfinite(value)) or (value == math.inf and not self.finite)

    @property
    def _smallest(self) -> float:
        """The lower bound that applies to lengths that must be positive."""
        return SMALLEST if self.unit == "m" and self.above == 0 else -math.inf

    def _beyond(self, value: float) -> bool:
        """Return True if a finite number is too large to be meant; integers without unit
        never are.
        """
        counts = isinstance(value, int) and not self.unit
        return not counts and math.isfinite(value) and abs(value) > max_magnitude(self.unit)

    def expected_for(self, value: object) -> str:
        """Return a description of right values for a value that is not allowed."""
        numbers = value if isinstance(value, tuple | list) else [value]
        if any(not isinstance(v, str) and _is_number(v) and self._beyond(v) for v in numbers):
            return f"at most {max_magnitude(self.unit):g} {self.unit}".rstrip()
        if any(_is_number(v) and self.above < v < self._smallest for v in numbers):
            return f"must be >= {self._smallest:g} [{self.unit}]"
        return self.expected

    @property
    def expected(self) -> str:
        """A description of the allowed values."""
        unit = f" [{self.unit}]" if self.unit else ""
        if self.choices:
            *first, last = (f"{c:g}" if isinstance(c, float) else str(c) for c in self.choices)
            return f"must be {', '.join(first)} or {last}{unit}"
        bounds = (">", self.above), (">=", self.least), ("<", self.below), ("<=", self.most)
        said = [f"{sign} {bound:g}" for sign, bound in bounds if math.isfinite(bound)]
        return f"must be {' and '.join(said) or 'a finite number'}{unit}"

    def __get_pydantic_json_schema__(
        self, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> Json:
        """Return the JSON schema of a field of a file, with the bounds of its numbers, and with
        keyframes where they may change.
        """
        made = handler(schema)
        if "prefixItems" in made:
            return {**made, "prefixItems": [self._json_number(n) for n in made["prefixItems"]]}
        return self._json_number(made)

    def _json_number(self, schema: Json) -> Json:
        choices = [self._json_bounded(choice) for choice in schema.get("anyOf", [schema])]
        if self.keyframes:
            choices.append({KEYFRAMES: True})
        return choices[0] if len(choices) == 1 else {"anyOf": choices}

    def _json_bounded(self, schema: Json) -> Json:
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not {"number", "integer"} & set(kinds) or self.unit == "rad":  # files have degrees
            return schema
        bounds = {name: getattr(self, ours) for ours, name in _JSON_BOUNDS.items()}
        return {**schema, **{name: b for name, b in bounds.items() if math.isfinite(b)}}


def _field_with(make: Callable[P, Setting]) -> Callable[Concatenate[T, P], T]:
    """Return a function of a default and the arguments of ``make``, which returns a field of a
    settings dataclass.
    """

    def field(default: T, /, *args: P.args, **kwargs: P.kwargs) -> T:
        made: T = dataclasses.field(default=default, metadata={_KEY: make(*args, **kwargs)})
        return made

    return field


setting = _field_with(Setting)


def settings_by_field(kind: type) -> Mapping[str, Setting]:
    """Return the settings of a dataclass by field name."""
    fields = dataclasses.fields(kind)
    return {f.name: f.metadata[_KEY] for f in fields if _KEY in f.metadata}


def documented(kind: type[T]) -> type[T]:
    """Add the settings of a dataclass to its docstring and return it."""
    lines = [f"    {name}: {about}." for name, about in settings_by_field(kind).items()]
    kind.__doc__ = "\n".join([inspect.cleandoc(kind.__doc__ or ""), "", "Args:", *lines])
    return kind


@dataclass(frozen=True)
class Accepts:
    """A mark for a dataclass field whose constructor accepts more types than the field stores;
    ``hint`` is the annotation of these types.
    """

    hint: object


# Types of function arguments: numbers in SI, or text with a unit. ``checked`` converts the text, so
# that inside a checked function the arguments are numbers; ``float(...)`` tells this to mypy.
Length = Annotated[Quantity, Setting("", "m")]
Size = Annotated[Quantity, Setting("", "m", above=0)]
Time = Annotated[Quantity, Setting("", "s")]
Duration = Annotated[Quantity, Setting("", "s", above=0)]
Speed = Annotated[Quantity, Setting("", "m/s", above=0)]
Seed = Annotated[int, Setting(least=0)]
Count = Annotated[int, Setting(least=1)]
MassPerLength = Annotated[Quantity, Setting("", "kg/m", above=0)]
Force = Annotated[Quantity, Setting("", "N", above=0)]
RodStiffness = Annotated[Quantity, Setting("", "N*m^2", above=0)]
Rate = Annotated[float, Setting("", "1/s", above=0)]


def _is_number(value: object) -> TypeGuard[float]:
    return hasattr(value, "__float__")
