"""Contact sheets: several frames of a run side by side in one picture."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.errors import RunError
from weft.show.picture.renderer import Image, Style

MOST = 400  # pictures
ASPECT = 4 / 3  # desired aspect ratio of a picture
LINE = 2  # pixels between pictures
INK = (60, 60, 60)


@dataclass(frozen=True)
class PictureSheet:
    """Layout of several pictures in one.

    Args:
        style: of the whole: its size.
        numbers: of the frames.
    """

    style: Style
    numbers: Sequence[int]

    @staticmethod
    def of(style: Style, count: int, frames: int) -> "PictureSheet":
        """Choose ``count`` frames at equal distances, the first and the last among them.

        Raises:
            RunError: none, or more than ``MOST``.
        """
        if not 1 <= count <= MOST:
            raise RunError("sheet", got=count, expected=f"1 to {MOST} frames")
        places = np.linspace(0, frames - 1, min(count, frames))
        return PictureSheet(style, np.unique(np.round(places).astype(int)).tolist())

    @property
    def columns(self) -> int:
        """The number of columns that makes pictures nearest to ``ASPECT``."""
        s, n = self.style, len(self.numbers)

        def off(columns: int) -> float:
            rows = math.ceil(n / columns)
            empty = (columns * rows - n) / n
            return abs(math.log((s.width / columns) / (s.height / rows) / ASPECT)) + empty

        return min(range(1, n + 1), key=off)

    @property
    def rows(self) -> int:
        """The number of rows that all pictures need."""
        return math.ceil(len(self.numbers) / self.columns)

    @property
    def cell(self) -> Style:
        """The style of one picture."""
        s = self.style
        width, height = s.width // self.columns - LINE, s.height // self.rows - LINE
        return dataclasses.replace(s, width=width, height=height)

    def join_images(self, images: Sequence[Image], labels: Sequence[str]) -> Image:
        """Return the picture of pictures (h,w,3), each with its label."""
        from PIL import Image as Pillow
        from PIL import ImageDraw, ImageFont

        height, width = images[0].shape[:2]
        rows, columns = self.rows * (height + LINE) - LINE, self.columns * (width + LINE) - LINE
        whole = np.full((rows, columns, images[0].shape[2]), 255, dtype=np.uint8)
        font = ImageFont.load_default(size=max(9, height // 18))
        for k, (image, label) in enumerate(zip(images, labels)):
            drawn = Pillow.fromarray(image)
            ImageDraw.Draw(drawn).text((6, 4), label, fill=INK, font=font)
            row, column = divmod(k, self.columns)
            y, x = row * (height + LINE), column * (width + LINE)
            whole[y : y + height, x : x + width] = np.asarray(drawn)
        return whole
