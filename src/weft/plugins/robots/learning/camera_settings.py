"""The camera of an environment, as fields that a sweep's words can set and vary."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import degrees
from pathlib import Path

from weft.base.arrays import Vector
from weft.base.settings import documented, setting
from weft.base.trees import Json
from weft.plugins.lab.sweep.file import SweepDocument
from weft.plugins.robots.cameras.camera_sensor import CHANNELS, CameraSensor, DepthNoise
from weft.scene.file import override_field
from weft.show.picture.camera import look_at
from weft.show.picture.style import Style


@documented
@dataclass(frozen=True, kw_only=True)
class CameraSettings:
    """Fields ``camera.*`` of an environment."""

    eye: Vector = setting((0.0, 0.9, 0.7), "its place", "m")
    target: Vector = setting((0.0, 0.0, 0.0), "the place in the middle of its pictures", "m")
    field_of_view: float = setting(0.7, "from the upper to the lower side", "rad", above=0, below=3)
    width: int = setting(128, "pixels of a row", least=16, most=8192)
    height: int = setting(128, "pixels of a column", least=16, most=8192)
    channels: Sequence[str] = setting(("depth", "mask"), "of its pictures", choices=tuple(CHANNELS))
    noise: bool = setting(False, "of a Kinect's depth")
    light: Vector = setting(Style.light, "direction to the lamp: right, up, towards +z")

    def sensor(self) -> CameraSensor:
        """Return the camera."""
        camera = look_at(self.eye, self.target, field_of_view=degrees(self.field_of_view))
        noise = DepthNoise() if self.noise else None
        return CameraSensor(camera, self.width, self.height, self.channels, noise, self.light)


def read_camera(overrides: Sequence[str]) -> CameraSensor:
    """Return the camera with some fields replaced.

    Args:
        overrides: ``camera.path=value`` texts.

    Raises:
        WeftError: no such field, or a value that it does not take.
    """
    defaults = asdict(CameraSettings())
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in defaults.items()}
    plain["field_of_view"] = f"{defaults['field_of_view']} rad"  # numbers of angles are degrees
    tree: Json = {"camera": plain}
    for text in overrides:
        override_field(tree, text)
    source = SweepDocument(Path("camera"), tree)
    return source.read_block(CameraSettings, tree["camera"], ("camera",)).sensor()
