"""The appearance that files give a cloth or a panel: ``surface``."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from weft.base.errors import WeftError, did_you_mean, error_text
from weft.base.settings import documented, setting
from weft.io.images import open_image
from weft.io.part_appearance import CLOTH, PartAppearance, Polyline, rgb

LIGHT, DARK = "e8e0cc", "4a4642"  # threads on dark and on light cloth
BRIGHT = 0.549  # least brightness of light cloth
FORMATS = ("PNG", "JPEG")


@documented
@dataclass(frozen=True)
class Appearance:
    """Appearance of a cloth or panel. A panel inherits what it does not say from its pattern.

    Raises:
        WeftError: a color that is none, or an image without the size of its repeat.
    """

    units_required: ClassVar[bool] = True  # in files

    color: str | None = setting(
        None, "color: a name such as navy, or '#1f3b5c'; visible where the image is transparent"
    )
    image: str | None = setting(
        None, "a PNG or JPEG file, relative to this one; its top points along the warp"
    )
    repeat: float | tuple[float, float] | None = setting(
        None, "width of the image on the cloth, or width and height", "m", above=0
    )
    rotation: float | None = setting(
        None, "angle of the image, counter-clockwise; none: the image follows the grain", "rad"
    )
    offset: tuple[float, float] | None = setting(
        None, "place of the image's lower left corner on the panel; none: the panel's origin", "m"
    )
    back: str | None = setting(None, "color of the wrong side; none: paler than the right side")
    thread: str | None = setting(None, "color of topstitches and hems; none: a visible color")
    thickness: float | None = setting(
        None, "thickness of the cloth in pictures", "m", above=0, below=1
    )

    def __post_init__(self) -> None:
        for name in ("color", "back", "thread"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _hexadecimal(f"surface.{name}", value))
        if self.image is not None and self.repeat is None:
            raise WeftError(
                "surface.repeat",
                got="nothing",
                expected="the width of the image on the cloth",
                hint="repeat: 12 cm",
            )

    def merge(self, over: "Appearance | None") -> "Appearance":
        """Return this appearance with what ``over`` says in place of its own."""
        if over is None:
            return self
        return replace(self, **{k: v for k, v in vars(over).items() if v is not None})

    def beside(self, folder: Path) -> "Appearance":
        """Return the appearance with the path of its image below a folder, and both sides of its
        repeat.

        Raises:
            WeftError: no such image, a damaged one, or none that is PNG or JPEG of 8 bits.
        """
        if self.image is None:
            return self
        path = folder / self.image
        try:
            with open_image(path) as image:
                size, kind = image.size, image.format
                image.load()
            if kind not in FORMATS:
                raise ValueError(f"a {kind} file")
            if image.mode[0] in "IF":
                raise ValueError("pixels of more than 8 bits")
        except (OSError, ValueError) as error:
            known = path.parent.glob("*.*") if path.parent.is_dir() else ()
            raise WeftError(
                "surface.image",
                got=f"{self.image}: {_reason(error)}",
                expected="a PNG or JPEG file of 8 bits, by its path from the folder of this file",
                hint=did_you_mean(path.name, [p.name for p in known if p != path])
                or f"put the file into {path.parent.absolute()}, or leave `image` out",
            ) from error
        repeat = self.repeat
        if not isinstance(repeat, tuple):
            assert repeat is not None
            repeat = repeat, repeat * size[1] / size[0]
        return replace(self, image=str(path.absolute()), repeat=repeat)

    def on_part(
        self,
        origin: tuple[float, float] = (0.0, 0.0),
        grain: float = 0.0,
        stitches: Sequence[Polyline] = (),
    ) -> PartAppearance:
        """Return the appearance in the material coordinates of a part.

        Args:
            origin: [m] material coordinates of the panel's origin.
            grain: [rad] direction of the warp in the panel's coordinates.
            stitches: lines in material coordinates [m].
        """
        # A merged appearance may have the width alone.
        repeat = self.repeat if isinstance(self.repeat, tuple) else self.beside(Path()).repeat
        width, height = repeat if isinstance(repeat, tuple) else (1.0, 1.0)
        c, s = math.cos(grain), math.sin(grain)
        place = np.array(origin) + np.array([[c, s], [-s, c]]) @ (self.offset or (0.0, 0.0))
        c, s = math.cos(self.rotation or 0.0), math.sin(self.rotation or 0.0)
        # Seen with the warp (+u) up and the right side in front, +v points to the left.
        axes = np.array([[s, -c], [c, s]]) / [[width], [height]]
        color = self.color or (CLOTH if self.image is None else "ffffff")
        return PartAppearance(
            color,
            np.column_stack([axes, -axes @ place]).tolist(),
            None if self.image is None else Path(self.image),
            self.back,
            self.thread or (DARK if rgb(color) @ (0.3, 0.6, 0.1) > BRIGHT else LIGHT),
            self.thickness,
            stitches,
        )


def _reason(error: Exception) -> str:
    """Return why an image cannot be read."""
    if type(error).__name__ == "UnidentifiedImageError":
        return "no image"
    return error_text(error)


def _hexadecimal(what: str, value: str) -> str:
    """Return six hexadecimal digits of a color's name or code.

    Raises:
        WeftError: no such color.
    """
    from PIL import ImageColor

    for text in (value, f"#{value}"):
        try:
            return "".join(f"{c:02x}" for c in ImageColor.getrgb(text)[:3])
        except ValueError:
            continue
    raise WeftError(what, got=repr(value), expected="a name such as navy, or a code: '#1f3b5c'")
