"""Schema of the bodies of a scene file: one field for each registered source of a body."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, create_model, model_validator

from weft import extensions
from weft.base.schema.block import Block, InBlock
from weft.base.schema.quantities import Degrees, Point, QuantityIn, Size, Thickness
from weft.base.settings import ROOM, Setting
from weft.base.trees import Yaml
from weft.bodies.motion.pins import Path
from weft.bodies.rigid.settings import Rigid
from weft.scene.body_source import LINKS_STAY, BodySource
from weft.scene.selection import MOTION, PLACE
from weft.scene.source_fields import chosen_source, fields_of_sources


def _height_or_point(value: Yaml) -> Yaml:
    """Return a height, or the coordinates of a point, in meters."""
    read = QuantityIn("m")
    return [read(v) for v in value] if isinstance(value, list) else read(value)


class _Body(Block):
    name: str = Field("", description="for messages and contact pairs")


SOURCES: Mapping[str, BodySource] = extensions.Registry("bodies")


class BodyBlock(create_model("_Shapes", __base__=_Body, **fields_of_sources(SOURCES))):  # type: ignore[misc]
    """A body that cloth does not pass through. Give one shape."""

    thickness: Annotated[Thickness | None, Setting(constant=ROOM)] = Field(
        None, description="[m] distance that cloth keeps; none: contact.thickness"
    )
    translation: Annotated[Point, PLACE] = Field(
        (0, 0, 0), description="[m] translation, after rotation"
    )
    rotation: Annotated[tuple[Degrees, Degrees, Degrees], PLACE] = Field(
        (0, 0, 0), description="[degrees] rotation about x, then y, then z"
    )
    path: Annotated[InBlock[Path] | None, MOTION] = Field(
        None, description="motion along a path; none: the body stands still"
    )
    landmarks: Annotated[
        dict[str, Annotated[float | Point, BeforeValidator(_height_or_point)]],
        Setting(constant="places on the body at the start"),
    ] = Field(
        {},
        description=(
            "[m] landmarks of a person that weft does not need to find: a height above the "
            "floor of neck_back, bust, waist, hip or crotch, or a point of any landmark "
            "(docs/guides/your-own-body.md)"
        ),
    )
    joints: Annotated[
        dict[str, Any], Setting(constant="a target has its own keys: {keys: ...}")
    ] = Field(
        {},
        description=(
            "joints of an arm, by name: [rad or m] the target, or {keys, between, force} "
            "with keyframes; for a slide also the largest force [N] of closing"
        ),
    )
    size: Annotated[Size, Setting(constant=LINKS_STAY)] = Field(
        0.02, description="[m] of an arm: largest edge length of primitive shapes"
    )
    rigid: InBlock[Rigid] | None = Field(
        None,
        description="forces and contact move the body (docs/guides/rigid-bodies.md); none: not",
    )

    @model_validator(mode="after")
    def _one_shape(self) -> "BodyBlock":
        chosen_source(self, SOURCES)
        others = ("path", "rigid", "landmarks") if self.is_arm else ("joints", "size")
        if given := self.model_fields_set.intersection(others):
            whose = (
                "an arm, because its joints move it" if self.is_arm else "another body than an arm"
            )
            raise ValueError(f"{', '.join(given)} of {whose}")
        return self

    @property
    def is_arm(self) -> bool:
        """Whether the body is an arm, of which every link is a body of the scene."""
        return SOURCES[self.shape[0]].links is not None

    @property
    def shape(self) -> tuple[str, Any]:
        """The name of the source, and its block."""
        name = chosen_source(self, SOURCES)
        return name, getattr(self, name)
