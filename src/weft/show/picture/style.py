"""The style of a picture: every choice, in one place."""

from dataclasses import dataclass

from weft.base.errors import WeftError, check_known
from weft.show.looks import LOOKS
from weft.show.picture.camera import Key
from weft.show.picture.weave import Weave

MOST_SMOOTH = 3  # subdivisions, which make 64 triangles of each


@dataclass(frozen=True)
class Style:
    """Choices of a picture: look, size, camera, light and details.

    Raises:
        WeftError: a number out of range.
    """

    look: str | None = None  # one of ``weft.show.looks.LOOKS``; None: ``default_look`` of a run
    width: int = 1280
    height: int = 720
    samples: int = 2  # per pixel and direction: 2 is 4 samples
    azimuth: float = 28.0  # [degrees] to the right of the front (+z)
    elevation: float = 14.0  # [degrees] above the horizon
    ground: bool = True
    whole: bool | None = None  # the camera frames all bodies; False: none; None: those in the shot
    bodies: bool = True  # bodies are drawn
    soft: bool = False  # ambient occlusion, and shadows that soften with distance
    transparent: bool = False  # no background: pictures have alpha, and so has the shadow
    smooth: int = 0  # subdivisions of the cloth, for the picture only
    thickness: float | None = None  # [m] drawn, with a round rim; None: a surface
    weave: Weave | None = None  # yarns, where a picture resolves them
    distance: float = 1.0  # of the camera: 1 frames what is in the shot, 0.5 is half as far
    motion: tuple[Key, ...] = ()  # of the camera; none: it stands still
    light: tuple[float, float, float] = (-0.5, 0.75, 0.8)  # to it: right, up, back of a level view
    top: float | None = None  # value at the end of a look's scale; none: it suits the frames

    def __post_init__(self) -> None:
        if self.look is not None:
            check_known(self.look, LOOKS, "look")
        if not (16 <= self.width <= 8192 and 16 <= self.height <= 8192 and 1 <= self.samples <= 4):
            raise WeftError(
                "picture",
                got=f"{self.width} x {self.height}, {self.samples} samples",
                expected="16 to 8192 pixels a side, 1 to 4 samples",
            )
        if not 0 <= self.smooth <= MOST_SMOOTH:
            raise WeftError("smooth", got=self.smooth, expected=f"0 to {MOST_SMOOTH} subdivisions")
        if self.thickness is not None and not 0 < self.thickness < 1:
            raise WeftError("thickness", got=self.thickness, expected="above 0, in meters, below 1")
        if not 0.02 <= self.distance <= 50:
            raise WeftError("distance of the camera", got=self.distance, expected="0.02 to 50")
