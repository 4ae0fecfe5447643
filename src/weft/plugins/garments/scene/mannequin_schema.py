"""Schema of a mannequin in a scene file: its measures and its motion."""

from collections.abc import Iterator

from pydantic import Field, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from weft.base.errors import WeftError
from weft.base.schema.block import block_with, field_of, fields_of
from weft.base.schema.quantities import Size
from weft.base.settings import Setting, settings_by_field
from weft.contact import Body, BodyFrames
from weft.plugins.garments.bodies.sizes import LEAST, size_of
from weft.plugins.garments.mannequin import MotionSettings, mannequin, measures_of
from weft.plugins.garments.mannequin.measures import LENGTHS, Measures
from weft.plugins.garments.mannequin.pose_sequence import PoseSequence
from weft.scene.shape_block import ShapeBlock

_DEFAULTS = {  # of measures; others are those of the tables
    "height": "1.68 m of a woman, 1.76 m of a man, 1.10 m of a child",
    "chest": "0.88 m, 1.00 m, 0.56 m, as the height",
    "waist": "0.72 m, 0.88 m, 0.51 m, as the height",
    "hips": "0.96 m, 1.00 m, 0.57 m, as the height",
}


def _measures() -> Iterator[tuple[str, FieldInfo]]:
    """Yield the fields of a figure and its measures, none of which is required."""
    for name, field in fields_of(Measures).items():
        kind = field.rebuild_annotation()
        if name == "figure":
            yield name, field_of(kind, "woman", Setting(field.description or ""))
            continue
        default = _DEFAULTS.get(name, "a figure of the tables")
        yield name, field_of(kind | None, None, Setting(f"{field.description}; none: {default}"))


_SIZE = Setting(
    "[m] approximate edge length; or a size of clothes, 40 (docs/guides/sizes.md); none: 0.9 % "
    "of the height"
)
_FIELDS = {
    **dict(_measures()),
    "size": field_of(Size | None, None, _SIZE),
    **fields_of(MotionSettings),
}


class MannequinBlock(block_with("_Figure", ShapeBlock, _FIELDS)):  # type: ignore[misc]
    """A person on y = 0 who looks along +z, at first in the a-pose (docs/guides/mannequin.md).

    Measures that are not given follow from anthropometric tables.
    """

    fps: float = Field(50.0, ge=10, le=1000, description="[1/s] frame rate of the stored motion")

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
        return MotionSettings(**{n: getattr(self, n) for n in settings_by_field(MotionSettings)})

    @property
    def given(self) -> dict[str, float | None]:
        """The measures [m] that the file gives, or that its size has; None for the others."""
        given = {name: getattr(self, name) for name in LENGTHS}
        if self.size is None or self.size < LEAST:
            return given
        body = size_of(self.size, self.figure).body
        return {n: body.get(n) if v is None else v for n, v in given.items()}

    @property
    def edges(self) -> float | None:
        """The length [m] of its edges; None: the default."""
        return None if self.size is None or self.size >= LEAST else float(self.size)

    def make(self, name: str) -> Body:
        """Return the figure and its frames; after the last frame it stays as it is."""
        made = mannequin(self.figure, size=self.edges, **self.given)
        if self.motion == "a_pose":
            return Body(made.vertices, made.faces, None, name, poser=PoseSequence(made))
        moving = made.animate(self.settings, fps=self.fps)
        frames = BodyFrames(moving.times, moving.positions, hold=True)
        return Body(moving.positions[0], made.faces, None, name, None, frames)
