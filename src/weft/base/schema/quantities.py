"""Quantities with units as types of block fields."""

import math
from dataclasses import dataclass
from typing import Annotated, get_args

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from weft.base import settings
from weft.base.errors import UnitError
from weft.base.runtime_types.validators import quantity_in, wrong_value
from weft.base.settings import Setting
from weft.base.trees import Yaml

USUAL = {"m": "mm", "kg/m^2": "g/m^2"}  # units of laboratories and tailors, for messages


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
            expected += f" '{shown} {USUAL.get(self.unit, self.unit)}'"
            raise wrong_value(expected, error=UnitError("quantity", expected=expected))
        return quantity_in(self.unit, value, per_angle=self.per_angle)


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


class InFile:
    """Mark of a field of a file with the unit and bounds that a type of arguments declares.

    Args:
        kind: a type of ``base.settings``, such as ``Size``, or a setting.
    """

    def __init__(self, kind: object) -> None:
        (self.setting,) = (m for m in (kind, *get_args(kind)) if isinstance(m, Setting))

    def __get_pydantic_core_schema__(
        self, kind: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        from weft.base.schema.block import FileTranslation  # which has fields in degrees

        return handler.generate_schema(FileTranslation().translate(Annotated[float, self.setting]))


Length = Annotated[float, InFile(settings.Length)]
Size = Annotated[float, InFile(settings.Size)]
Time = Annotated[float, InFile(settings.Time)]
Duration = Annotated[float, InFile(settings.Duration)]
MassPerLength = Annotated[float, InFile(settings.MassPerLength)]
Force = Annotated[float, InFile(settings.Force)]
RodStiffness = Annotated[float, InFile(settings.RodStiffness)]
Degrees = Annotated[float, BeforeValidator(_Degrees()), Unit("degrees")]
Velocity = Annotated[float, InFile(Setting("", "m/s"))]
Thickness = Annotated[float, InFile(Setting("", "m", least=0))]
Point = tuple[Length, Length, Length]
