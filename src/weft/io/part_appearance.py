"""The appearance of one part of a cloth: its colors, its print, and the stitches on it.

A place on the cloth has material coordinates (u, v) [m]. ``st`` maps them to coordinates of the
image, in units of its repeat, s to the right and t up.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import RunError, error_text
from weft.base.trees import Json
from weft.discretization.polygon import arc_lengths, interpolate_points
from weft.io.images import open_image

if TYPE_CHECKING:
    from PIL.Image import Image

Matrix = Sequence[Sequence[float]]  # (2,3)
Polyline = Sequence[tuple[float, float]]
DASH, GAP = 0.004, 0.0025  # [m] of a stitch as drawn, and between two stitches
STITCH = 0.0009  # [m] width of a stitch as drawn
THIN = 0.0002  # [m] drawn thickness of parts without one
PANELS = ("4f86b0", "d98b5f", "6fa573", "b9789f", "c9b458", "7c7fb5", "5fb0ad", "b56b6b")
CLOTH, GRAY = PANELS[0], "b8b8b8"  # colors of cloth without a surface, and of bodies


def rgb(code: str) -> Floats:
    """Return red, green and blue (3,) from 0 to 1 of six hexadecimal digits of sRGB."""
    return np.array([int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)])


def linear_color(code: str) -> list[float]:
    """Return linear red, green and blue of six hexadecimal digits of sRGB, as files have them."""
    return list(np.round(rgb(code) ** 2.2, 4).tolist())


@dataclass(frozen=True)
class PartAppearance:
    """Appearance of one cloth, or of one panel of a garment.

    Args:
        color: six hexadecimal digits, sRGB; seen where the image is transparent.
        st: maps (u, v, 1) to coordinates of the image.
        image: a PNG or JPEG file; None: the color alone.
        back: color of the wrong side; None: paler than the right side.
        thread: color of the stitches.
        thickness: [m] as drawn; None: a surface.
        stitches: lines in material coordinates [m].
    """

    color: str
    st: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    image: Path | None = None
    back: str | None = None
    thread: str = "e8e0cc"
    thickness: float | None = None
    stitches: Sequence[Polyline] = ()

    def image_coordinates(self, uv: Floats) -> Floats:
        """Return the coordinates (...,2) of material coordinates (...,2) [m] in the image."""
        M = np.array(self.st)
        return np.asarray(uv @ M[:, :2].T + M[:, 2])

    def open_print(self) -> "Image":
        """Return the image in RGB, over the color where it is transparent.

        Raises:
            RunError: there is no such image any more.
        """
        from PIL import Image as Pillow

        assert self.image is not None
        try:
            with open_image(self.image) as image:
                drawn = image.convert("RGBA" if image.has_transparency_data else "RGB")
        except (OSError, ValueError) as error:
            raise RunError(
                "image of a surface",
                got=error_text(error),
                where=self.image,
                expected="the PNG or JPEG file that the cloth was given",
                hint="put the file there again, or correct `surface` and run with `resume=True`",
            ) from error
        if drawn.mode == "RGB":
            return drawn
        ground = Pillow.new("RGBA", drawn.size, f"#{self.color}")
        return Pillow.alpha_composite(ground, drawn).convert("RGB")

    def image_bytes(self, most: int | None = None) -> tuple[str, bytes]:
        """Return media type (image/png or image/jpeg) and bytes of the print, as a file of its own.

        Args:
            most: [pixels] largest side; None: as large as the image.
        """
        drawn = self.open_print()
        if most is not None:
            drawn.thumbnail((most, most))
        assert self.image is not None
        kind = "JPEG" if self.image.suffix.lower() in (".jpg", ".jpeg") else "PNG"
        file = BytesIO()
        drawn.save(file, kind, quality=92)  # of JPEG; PNG has none
        return f"image/{kind.lower()}", file.getvalue()

    def dashes(self) -> Floats:
        """Return the ends (k,2,2) [m] of all stitches, in material coordinates."""
        found = [np.zeros((0, 2, 2))]
        for line in self.stitches:
            points = np.array(line)
            along = arc_lengths(points)
            starts = np.arange(max(1, math.floor(along[-1] / (DASH + GAP)))) * (DASH + GAP)
            places = np.stack([starts, starts + DASH], axis=1)
            found.append(interpolate_points(places, along, points))
        return np.concatenate(found)

    def as_json(self, name_image: Callable[[Path], str]) -> Json:
        """Return the appearance as JSON, with the image under the name that a function gives it."""
        tree: Json = {k: v for k, v in vars(self).items() if v is not None}
        if self.image is not None:
            tree["image"] = name_image(self.image)
        return tree

    @staticmethod
    def of_json(tree: Json, folder: Path) -> "PartAppearance":
        """Return the appearance that JSON describes, whose image is relative to a folder."""
        made = PartAppearance(**tree)
        return made if made.image is None else replace(made, image=folder / made.image)
