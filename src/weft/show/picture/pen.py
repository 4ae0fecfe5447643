"""Lines, discs and text on an image that is drawn larger than its final size (antialiasing)."""

from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from weft.base.arrays import Floats
from weft.discretization.polygon import arc_lengths, interpolate_points
from weft.show.picture.renderer import Image as Picture

OVERSAMPLE = 2
Color = tuple[int, int, int]


class Pen:
    """A pen that draws on a sheet.

    Args:
        width, height: [px] of the picture.
        paper: its color.
    """

    def __init__(self, width: int, height: int, paper: Color) -> None:
        self.size = (width, height)
        self._image = Image.new("RGB", (width * OVERSAMPLE, height * OVERSAMPLE), paper)
        self._draw = ImageDraw.Draw(self._image)
        self._fonts: dict[int, Any] = {}

    def image(self) -> Picture:
        """Return the picture (h,w,3) uint8."""
        return np.asarray(self._image.resize(self.size, Image.Resampling.LANCZOS))

    def _at(self, points: Floats) -> list[tuple[float, float]]:
        p = np.asarray(points, dtype=np.float64).reshape(-1, 2) * OVERSAMPLE
        return [(x, y) for x, y in p.tolist()]

    def _font(self, size: float) -> Any:
        key = max(1, round(size * OVERSAMPLE))
        if key not in self._fonts:
            self._fonts[key] = ImageFont.load_default(size=key)
        return self._fonts[key]

    def fill(self, points: Floats, color: Color) -> None:
        """Draw a filled polygon."""
        if len(points) > 2:
            self._draw.polygon(self._at(points), fill=color)

    def line(self, points: Floats, color: Color, width: float) -> None:
        """Draw a polyline with round joints."""
        self._draw.line(
            self._at(points), fill=color, width=round(width * OVERSAMPLE), joint="curve"
        )

    def dash(self, points: Floats, color: Color, width: float, dash: float) -> None:
        """Draw a polyline of dashes [px] with gaps of the same length."""
        along = arc_lengths(points)
        s = np.arange(0.0, along[-1], dash)
        for a, b in zip(s[::2], np.append(s[1::2], along[-1])):
            inside = along[(along > a) & (along < b)]
            t = np.concatenate([[a], inside, [b]])
            self.line(interpolate_points(t, along, points), color, width)

    def disc(self, center: Floats, radius: float, color: Color) -> None:
        """Draw a filled circle."""
        x, y = (float(c) * OVERSAMPLE for c in center)
        r = radius * OVERSAMPLE
        self._draw.ellipse((x - r, y - r, x + r, y + r), fill=color)

    def arrow(self, tip: Floats, direction: Floats, color: Color, size: float) -> None:
        """Draw the head of an arrow."""
        d = np.asarray(direction) / max(float(np.hypot(*direction)), 1e-9)
        across = np.array([-d[1], d[0]])
        back = np.asarray(tip) - size * d
        self.fill(np.array([tip, back + 0.45 * size * across, back - 0.45 * size * across]), color)

    def width(self, text: str, size: float) -> float:
        """Return the width [px] of text."""
        return float(self._font(size).getlength(text)) / OVERSAMPLE

    def text(
        self,
        place: tuple[float, float] | Floats,
        text: str,
        color: Color,
        size: float,
        anchor: str,
        halo: bool = False,
    ) -> None:
        """Draw horizontal text; ``anchor`` is Pillow's; a halo covers what is behind the text."""
        x, y = (float(c) * OVERSAMPLE for c in place)
        width, font = 3 * OVERSAMPLE if halo else 0, self._font(size)
        self._draw.text(
            (x, y), text, color, font, anchor, stroke_width=width, stroke_fill=(246, 243, 236)
        )

    def tag(self, center: Floats, text: str, color: Color) -> None:
        """Draw a number in a disc."""
        self.disc(center, 11, color)
        self.text((center[0], center[1]), text, (255, 255, 255), 13, "mm")

    def text_along(
        self, place: Floats, direction: Floats, text: str, color: Color, size: float
    ) -> None:
        """Draw text around a point, along a direction, never upside down."""
        angle = -np.degrees(np.arctan2(direction[1], direction[0]))
        angle = (angle + 90) % 180 - 90
        font = self._font(size)
        box = font.getbbox(text, anchor="ls")
        w, h = int(box[2] - box[0]) + 4, int(font.size * 1.5)
        label = Image.new("L", (w, h), 0)
        ImageDraw.Draw(label).text((w / 2, h / 2), text, fill=255, font=font, anchor="mm")
        turned = label.rotate(angle, expand=True, resample=Image.Resampling.BICUBIC)
        x = round(float(place[0]) * OVERSAMPLE - turned.width / 2)
        y = round(float(place[1]) * OVERSAMPLE - turned.height / 2)
        self._image.paste(Image.new("RGB", turned.size, color), (x, y), turned)
