"""Schema of robot arms in a scene file."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, model_validator

from weft.base.errors import SceneError
from weft.base.schema.quantities import Size
from weft.base.trees import Yaml
from weft.contact import Body
from weft.scene.field_schema import FieldBlock


class ArmBlock(FieldBlock):
    """A robot arm from a file, which may stand alone: ``urdf: arm.urdf`` (docs/bodies.md)."""

    file: str = Field(description="a URDF or MJCF file, relative to the scene file; its z is up")
    size: Size = Field(0.02, description="[m] of the edges of primitive shapes, at most")

    @model_validator(mode="before")
    @classmethod
    def _file_alone(cls, value: Yaml) -> Yaml:
        return {"file": value} if isinstance(value, str) else value

    def load(self, folder: Path, name: str) -> Body:
        """Refuse the arm, which is several bodies.

        Raises:
            SceneError: always.
        """
        raise SceneError(name, got="an arm", expected="one surface")


def path_in_scene(path: str, loaded: Sequence[Sequence[Body]]) -> str:
    """Return the path of a number in a scene, in which every link of an arm is a body.

    Args:
        path: in the scene file: ``bodies.1.rigid.mass``.
        loaded: the bodies of each block of the file.
    """
    first, *rest = path.split(".")
    if first == "bodies":
        rest[0] = str(sum(map(len, loaded[: int(rest[0])])))
    return ".".join([first, *rest])
