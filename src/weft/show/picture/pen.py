"""Lines, discs and text on a figure of Matplotlib, in pixels from the top left."""

from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import RunError
from weft.io.extra import optional
from weft.show.picture.renderer import Image

DPI = 72  # a point is a pixel
HALO = "#f6f3ec"
Color = tuple[int, int, int]
_ACROSS = {"l": "left", "m": "center", "r": "right"}


class Pen:
    """A pen that draws on a sheet; what is drawn later covers what is drawn earlier.

    Args:
        width, height: [px] of the picture.
        paper: its color.

    Raises:
        RunError: Matplotlib is not installed.
    """

    def __init__(self, width: int, height: int, paper: Color) -> None:
        figures = optional("matplotlib.figure", "plots", "drawing of a pattern", RunError)
        self.size, self._order = (width, height), 0
        self._figure = figures.Figure((width / DPI, height / DPI), DPI, facecolor=_color(paper))
        self._axes = self._figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        self._axes.set_axis_off()

    def image(self) -> Image:
        """Return the picture (h,w,3) uint8."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas: Any = FigureCanvasAgg(self._figure)
        canvas.draw()
        return np.array(np.asarray(canvas.buffer_rgba())[..., :3])

    def _next(self, color: Color) -> dict[str, Any]:
        """Return the color and the order of the next thing that is drawn."""
        self._order += 1
        return {"color": _color(color), "zorder": self._order}

    def fill(self, points: Floats, color: Color) -> None:
        """Draw a filled polygon (n,2) [px]."""
        self._axes.fill(*np.reshape(points, (-1, 2)).T, linewidth=0, **self._next(color))

    def line(self, points: Floats, color: Color, width: float, dash: float | None = None) -> None:
        """Draw a polyline (n,2) [px]; ``dash`` [px]: of dashes with gaps of the same length."""
        style = "-" if dash is None else (0, (dash / width, dash / width))
        x, y = np.reshape(points, (-1, 2)).T
        how = {"linewidth": width, "linestyle": style, "solid_joinstyle": "round"}
        self._axes.plot(x, y, **how, **self._next(color))

    def disc(self, center: Floats, radius: float, color: Color) -> None:
        """Draw a filled circle."""
        how = {"marker": "o", "markersize": 2 * radius, "markeredgewidth": 0}
        self._axes.plot(*np.reshape(center, (-1, 1)), **how, **self._next(color))

    def arrow(self, tip: Floats, direction: Floats, color: Color, size: float) -> None:
        """Draw the head of an arrow."""
        d = np.asarray(direction) / max(float(np.hypot(*direction)), 1e-9)
        across = np.array([-d[1], d[0]])
        back = np.asarray(tip) - size * d
        self.fill(np.array([tip, back + 0.45 * size * across, back - 0.45 * size * across]), color)

    def width(self, text: str, size: float) -> float:
        """Return the width [px] of text."""
        from matplotlib.textpath import TextPath

        return float(TextPath((0, 0), text.replace("$", r"\$"), size=size).get_extents().width)

    def text(
        self,
        place: tuple[float, float] | Floats,
        text: str,
        color: Color,
        size: float,
        anchor: str,
        halo: bool = False,
        angle: float = 0.0,
    ) -> None:
        """Draw text in one line, whose middle is at the height of a place.

        Args:
            place: (2,) [px].
            text: the text.
            color: its color.
            size: [px] of its font.
            anchor: the place is ``l``, left; ``m``, in the middle; ``r``, right of it.
            halo: cover what is behind the text.
            angle: [degrees] counter-clockwise.
        """
        from matplotlib.patheffects import withStroke

        effects = [withStroke(linewidth=6, foreground=HALO)] if halo else []
        how: dict[str, Any] = {"ha": _ACROSS[anchor], "va": "center", "path_effects": effects}
        how |= {"rotation": angle, "rotation_mode": "anchor", "parse_math": False}
        self._axes.text(*place, text, fontsize=size, **how, **self._next(color))

    def tag(self, center: Floats, text: str, color: Color) -> None:
        """Draw a number in a disc."""
        self.disc(center, 11, color)
        self.text((center[0], center[1]), text, (255, 255, 255), 12, "m")

    def text_along(
        self, place: Floats, direction: Floats, text: str, color: Color, size: float
    ) -> None:
        """Draw text around a point, along a direction, never upside down."""
        angle = -float(np.degrees(np.arctan2(direction[1], direction[0])))
        self.text(place, text, color, size, "m", angle=(angle + 90) % 180 - 90)


def _color(color: Color) -> tuple[float, ...]:
    return tuple(c / 255 for c in color)
