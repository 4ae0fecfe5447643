"""Quantities with units as types of block fields."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from weft.base.errors import UnitError
from weft.base.runtime_types.validators import quantity_in, wrong_value
from weft.base.settings import SMALLEST
from weft.base.trees import Yaml


class QuantityIn:
    """Validator of a field with a unit.

    Args:
        unit: the SI unit.
        bare: whether a number without a unit is allowed; it is then in SI.
        per_angle: text may have a unit per angle; the number is then per radian.
    """

    def __init__(self, unit: str, *, bare: bool = True, per_angle: bool = False) -> None:
        self.unit, self.bare, self.per_angle = unit, bare or unit == "1", per_angle

    def __call__(self, value: Yaml) -> float:
        """Return the number in the unit."""
        if not self.bare and not isinstance(value, str):
            expected = "a number, like" if isinstance(value, bool | list) else "its unit too, like"
            shown = 1 if isinstance(value, bool | list | dict) or value is None else value
            expected += f" '{shown} {self.unit}'"
            raise wrong_value(expected, error=UnitError("quantity", expected=expected))
        return quantity_in(self.unit, value, per_angle=self.per_angle)


class _Size(QuantityIn):
    """Validator of a positive size, which refuses values so small that floating point loses
    them.
    """

    def __call__(self, value: Yaml) -> float:
        found = super().__call__(value)
        if 0 < found < SMALLEST:
            raise ValueError(f"at least {SMALLEST:g} {self.unit}")
        return found


class _Degrees(QuantityIn):
    """Validator of an angle in degrees: a bare number is in degrees, text has its own unit."""

    def __init__(self) -> None:
        super().__init__("degrees")
        self._angle = QuantityIn("rad")

    def __call__(self, value: Yaml) -> float:
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


def unit_in(metadata: Iterable[object]) -> str:
    """Return the unit that an annotation's metadata names, or an empty text."""
    return metadata.name if isinstance(metadata, Unit) else ""


Length = Annotated[float, BeforeValidator(QuantityIn("m")), Unit("m")]
Size = Annotated[float, Field(gt=0), BeforeValidator(_Size("m")), Unit("m")]
Time = Annotated[float, BeforeValidator(QuantityIn("s")), Unit("s")]
Degrees = Annotated[float, BeforeValidator(_Degrees()), Unit("degrees")]
Speed = Annotated[float, BeforeValidator(QuantityIn("m/s")), Unit("m/s")]
Thickness = Annotated[float, Field(ge=0), BeforeValidator(QuantityIn("m")), Unit("m")]
Volume = Annotated[float, Field(gt=0), BeforeValidator(QuantityIn("m^3")), Unit("m^3")]
Point = tuple[Length, Length, Length]
