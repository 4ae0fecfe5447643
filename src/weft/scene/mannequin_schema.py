"""Schema of a mannequin in a scene file: its measures and its motion."""

from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from weft.base.errors import WeftError
from weft.base.schema.quantities import Length, Size, Speed, Time
from weft.contact import Body, BodyFrames
from weft.mannequin import MotionSettings, mannequin, measures_of
from weft.mannequin.figure import FACES_PER_SIZE
from weft.mannequin.measures import BOUNDS, MEANING
from weft.scene.shape_block import ShapeBlock

_TABLES = "none: of the tables"


def _measure(name: str, default: str = _TABLES) -> Length | None:
    """Return the field of a length with its bounds."""
    low, high = BOUNDS[name]
    found: Length | None = Field(
        None, ge=low, le=high, description=f"[m] {MEANING[name]}; {default}"
    )
    return found


class MannequinBlock(ShapeBlock):
    """A person on y = 0 who looks along +z, at first in the a-pose (docs/mannequin.md).

    Measures that are not given follow from anthropometric tables.
    """

    figure: Literal["woman", "man"] = Field("woman", description="shape and proportions")
    height: Length | None = _measure("height", "none: 1.68 m of a woman, 1.76 m of a man")
    chest: Length | None = _measure("chest", "none: 0.88 m, 1.00 m, as the height")
    waist: Length | None = _measure("waist", "none: 0.72 m, 0.88 m, as the height")
    hips: Length | None = _measure("hips", "none: 0.96 m, 1.00 m, as the height")
    neck: Length | None = _measure("neck")
    shoulders: Length | None = _measure("shoulders")
    inseam: Length | None = _measure("inseam")
    arm: Length | None = _measure("arm")
    thigh: Length | None = _measure("thigh")
    calf: Length | None = _measure("calf")
    upper_arm: Length | None = _measure("upper_arm")
    size: Size | None = Field(
        None, gt=0, description="[m] of its edges, about; none: 0.9 % of the height"
    )
    motion: Literal["a_pose", "arms_down", "walk", "turn", "sit"] = Field(
        "a_pose", description="what it does"
    )
    hold: Time = Field(0.5, ge=0, le=600, description="[s] it first stays in the a-pose")
    blend: Time = Field(
        1.0, ge=0.2, le=60, description="[s] into the motion, and out of it at the end"
    )
    cycles: float = Field(2, gt=0, le=1000, description="times that the motion is done")
    speed: Speed | None = Field(
        None, gt=0, description="[m/s] of walking; none: the free speed for the height"
    )
    forward: bool = Field(False, description="walk ahead; false: in place, as on a treadmill")
    fps: float = Field(50.0, ge=10, le=1000, description="[1/s] frames that the motion is kept in")

    @model_validator(mode="after")
    def _can_be(self) -> "MannequinBlock":
        try:
            assert measures_of(self.figure, **self.given) and self.settings
        except WeftError as error:
            said = {"text": str(error), "error": error}
            raise PydanticCustomError("weft", "{text}", said) from None
        return self

    @property
    def settings(self) -> MotionSettings:
        """The settings of the motion."""
        return MotionSettings(
            self.motion, self.hold, self.blend, self.cycles, self.speed, self.forward
        )

    @property
    def given(self) -> dict[str, float | None]:
        """The measures [m] that the file gives; None for the others."""
        return {name: getattr(self, name) for name in BOUNDS}

    def make(self, name: str) -> Body:
        """Return the figure and its frames; after the last frame it stays as it is."""
        made = mannequin(self.figure, size=self.size, **self.given)
        if self.motion == "a_pose":
            return Body(made.vertices, made.faces, None, name)
        moving = made.animate(self.settings, fps=self.fps)
        frames = BodyFrames(moving.times, moving.positions, hold=True)
        return Body(moving.positions[0], made.faces, None, name, None, frames)

    def estimate(self) -> float:
        """Estimate the number of vertices from the size of the edges."""
        tall = measures_of(self.figure, **self.given).height
        return (
            0.5 * FACES_PER_SIZE * (1.0 if self.size is None else (0.0088 * tall / self.size) ** 2)
        )

    def frames(self) -> float:
        """Return an upper estimate of the number of frames of its motion."""
        cycles = 0.0 if self.motion in ("a_pose", "arms_down") else 5.0 * self.cycles
        return self.fps * (self.hold + 2 * self.blend + cycles)
