"""What the blocks of a scene file are made of: quantities with units, and motions."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from weft.errors import WeftError
from weft.units import to_si


class _Quantity:
    """Validator and label of a field with a unit."""

    def __init__(self, unit: str) -> None:
        self.unit = unit

    def __call__(self, value: Any) -> float:
        try:
            return to_si(value, self.unit)
        except WeftError as error:
            hint = f"; {error.hint}" if error.hint else ""
            raise ValueError(f"{error.expected}{hint}") from None


class _Degrees(_Quantity):
    """Degrees: a bare number is one, text has its unit."""

    def __init__(self) -> None:
        super().__init__("degrees")
        self._angle = _Quantity("rad")

    def __call__(self, value: Any) -> float:
        return float(value) if not isinstance(value, str) else math.degrees(self._angle(value))


@dataclass(frozen=True)
class Unit:
    """Marks a type with its unit, for ``weft explain`` and for editors."""

    name: str

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "type": ["number", "string"], "unit": self.name}


def unit_in(metadata: Any) -> str:
    """The unit that an annotation's metadata names, or nothing."""
    return metadata.name if isinstance(metadata, Unit) else ""


Length = Annotated[float, BeforeValidator(_Quantity("m")), Unit("m")]
Time = Annotated[float, BeforeValidator(_Quantity("s")), Unit("s")]
Degrees = Annotated[float, BeforeValidator(_Degrees()), Unit("degrees")]
Acceleration = Annotated[float, BeforeValidator(_Quantity("m/s^2")), Unit("m/s^2")]
Speed = Annotated[float, BeforeValidator(_Quantity("m/s")), Unit("m/s")]
Tension = Annotated[float, BeforeValidator(_Quantity("N/m")), Unit("N/m")]
Pascal = Annotated[float, BeforeValidator(_Quantity("Pa")), Unit("Pa")]
Volume = Annotated[float, BeforeValidator(_Quantity("m^3")), Unit("m^3")]
Energy = Annotated[float, BeforeValidator(_Quantity("J")), Unit("J")]
Point = tuple[Length, Length, Length]


class Block(BaseModel):
    """A block of a scene file: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class KeyframeBlock(Block):
    """Where a pin is at a time, relative to its start."""

    time: Time = Field(description="[s]")
    translation: Point = Field((0, 0, 0), description="[m]")
    rotation: Degrees = Field(0.0, description="[degrees] about the path's axis")


class PathBlock(Block):
    """A motion through keyframes; before the first the pin stays where it starts."""

    keyframes: list[KeyframeBlock] = Field(min_length=1, description="times must increase")
    interpolation: Literal["smooth", "linear"] = Field(
        "smooth", description="smooth: monotone cubic, no jump in velocity"
    )
    axis: tuple[float, float, float] = Field((0, 1, 0), description="direction of rotations")
    center: Point | None = Field(None, description="[m] of rotations; none: mean of the vertices")
    hold: bool = Field(
        False, description="stay at the last keyframe; else one at the end of the run is needed"
    )
