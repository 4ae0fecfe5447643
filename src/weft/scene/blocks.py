"""What the blocks of a scene file are made of: quantities with units, and motions."""

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from weft.errors import WeftError
from weft.units import to_si

FARTHEST = 1e9  # [m] of any length or place


class _Quantity:
    """Validator and label of a field with a unit."""

    def __init__(self, unit: str) -> None:
        self.unit = unit

    def __call__(self, value: Any) -> float:
        try:
            found = to_si(value, self.unit)
            if self.unit == "m" and abs(found) > FARTHEST:
                raise ValueError(f"at most {FARTHEST:g} m")
            return found
        except OverflowError:
            raise ValueError(f"a number in {self.unit} that float64 holds") from None
        except WeftError as error:
            hint = f"; {error.hint}" if error.hint else ""
            raise ValueError(f"{error.expected}{hint}") from None


_meter, _second, _degree = _Quantity("m"), _Quantity("s"), _Quantity("rad")


def _degrees(value: Any) -> float:
    """Degrees: a bare number is one, text has its unit."""
    return _degree(value) if not isinstance(value, str) else math.degrees(_degree(value))


Length = Annotated[float, BeforeValidator(_meter)]
Time = Annotated[float, BeforeValidator(_second)]
Degrees = Annotated[float, BeforeValidator(_degrees)]
Acceleration = Annotated[float, BeforeValidator(_Quantity("m/s^2"))]
Speed = Annotated[float, BeforeValidator(_Quantity("m/s"))]
Tension = Annotated[float, BeforeValidator(_Quantity("N/m"))]
Pascal = Annotated[float, BeforeValidator(_Quantity("Pa"))]
Volume = Annotated[float, BeforeValidator(_Quantity("m^3"))]
Energy = Annotated[float, BeforeValidator(_Quantity("J"))]
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
