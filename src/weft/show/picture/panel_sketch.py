"""Picture of a piece in the material plane: outline, corners, control net, and its errors."""

from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import close_polygon
from weft.discretization.spline_fit.patch_error import PatchDrawing
from weft.show.picture.pen import Pen
from weft.show.picture.renderer import save_png

SIZE, MARGIN = 900, 60  # [px]
PAPER = (255, 255, 255)
OUTLINE, NET, CORNER, WRONG = (40, 60, 90), (150, 175, 205), (30, 110, 60), (205, 45, 45)


def save_piece(path: str | Path, drawing: PatchDrawing) -> None:
    """Write a PNG of a piece, with its errors in red.

    Raises:
        RunError: the file cannot be written.
    """
    outline = np.asarray(drawing.outline, dtype=np.float64).reshape(-1, 2)
    net = np.zeros((0, 0, 2)) if drawing.net is None else np.asarray(drawing.net)
    every = np.concatenate([outline, net.reshape(-1, 2)])
    low, high = every.min(0), every.max(0)
    scale = (SIZE - 2 * MARGIN) / max(float((high - low).max()), 1e-12)
    width, height = ((high - low) * scale + 2 * MARGIN).astype(int).tolist()
    pen = Pen(width, height, PAPER)

    def at(points: Floats) -> Floats:
        return np.asarray([0, height] + ((points - low) * scale + MARGIN) * [1, -1])

    for line in [*net, *np.swapaxes(net, 0, 1)]:
        pen.line(at(line), NET, 1)
    pen.line(at(close_polygon(outline)), OUTLINE, 2)
    for points, color, radius in ((drawing.corners, CORNER, 6), (drawing.marks, WRONG, 5)):
        for center in at(np.asarray(points).reshape(-1, 2)):
            pen.disc(center, radius, color)
    save_png(path, pen.image())
