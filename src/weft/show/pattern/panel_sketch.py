"""Picture of a piece in the material plane: outline, corners, control net, and its errors."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from weft.base.arrays import Floats
from weft.discretization.spline_fit.patch_error import PatchDrawing
from weft.show.picture.renderer import save_png

SIZE, MARGIN, OVERSAMPLE = 900, 60, 2  # [px] and factor
OUTLINE, NET, CORNER, WRONG = (40, 60, 90), (150, 175, 205), (30, 110, 60), (205, 45, 45)


def save_piece(path: str | Path, drawing: PatchDrawing) -> None:
    """Write a PNG of a piece, with its errors in red.

    Raises:
        RunError: the file cannot be written.
    """
    outline = np.asarray(drawing.outline, dtype=np.float64).reshape(-1, 2)
    shown = [outline]
    if drawing.net is not None:
        shown.append(np.asarray(drawing.net).reshape(-1, 2))
    every = np.concatenate(shown)
    low, high = every.min(0), every.max(0)
    scale = OVERSAMPLE * (SIZE - 2 * MARGIN) / max(float((high - low).max()), 1e-12)
    width, height = ((high - low) * scale + 2 * MARGIN * OVERSAMPLE).astype(int).tolist()
    image = Image.new("RGB", (width, height), (255, 255, 255))
    pen = ImageDraw.Draw(image)

    def at(points: Floats) -> list[tuple[float, float]]:
        p = (np.asarray(points, dtype=np.float64).reshape(-1, 2) - low) * scale
        return [(x + MARGIN * OVERSAMPLE, height - y - MARGIN * OVERSAMPLE) for x, y in p.tolist()]

    if drawing.net is not None:
        net = np.asarray(drawing.net)
        for line in [*net, *np.swapaxes(net, 0, 1)]:
            pen.line(at(line), fill=NET, width=OVERSAMPLE)
    pen.line(at(np.concatenate([outline, outline[:1]])), fill=OUTLINE, width=2 * OVERSAMPLE)
    for points, color, radius in ((drawing.corners, CORNER, 6), (drawing.marks, WRONG, 5)):
        r = radius * OVERSAMPLE
        for x, y in at(np.asarray(points)) if len(points) else []:
            pen.ellipse((x - r, y - r, x + r, y + r), fill=color)
    small = image.resize((width // OVERSAMPLE, height // OVERSAMPLE), Image.Resampling.LANCZOS)
    save_png(path, np.asarray(small))
