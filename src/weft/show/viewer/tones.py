"""Colors of cloth and background in viewers, besides those of color scales."""

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.show.looks import CLOTH, PANELS, rgb

Rgb = tuple[float, float, float]

SKY: Rgb = (0.827, 0.839, 0.859)  # behind everything
PAPER: Rgb = (0.9, 0.88, 0.84)  # mixed into the color of the cloth's back
OF_PAPER = 0.45
DARKER = 0.75  # brightness of every second square of the checker


def _mixed(color: Rgb) -> Rgb:
    r, g, b = ((1 - OF_PAPER) * c + OF_PAPER * p for c, p in zip(color, PAPER))
    return r, g, b


FRONT: Rgb = rgb(CLOTH)
BACK: Rgb = _mixed(FRONT)
SQUARES: tuple[Rgb, Rgb] = (FRONT, (DARKER * FRONT[0], DARKER * FRONT[1], DARKER * FRONT[2]))


def panel_colors(region: Ints) -> Floats:
    """Return (m,3) colors of faces, by the index (m,) of their region."""
    table = np.array([rgb(c) for c in PANELS])
    return np.asarray(table[region % len(table)])
