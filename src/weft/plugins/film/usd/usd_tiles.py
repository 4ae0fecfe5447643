"""UDIM tiles of the cloth: one square image for every panel, with its print and its stitches.

Tile k has the number 1001 + k, and coordinates from (k modulo 10, k / 10) on; the warp points up.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.io.animation import SurfaceTopology
from weft.io.part_appearance import CLOTH, STITCH, PartAppearance
from weft.io.texture_tiles import UPRIGHT, tile_coordinates

if TYPE_CHECKING:
    from PIL.Image import Image

TILES = "cloth.<UDIM>.png"
SIDE = 1024  # pixels of a tile
FINER = 2  # pixels that are averaged to one, along each side
ACROSS = 10  # tiles in a row, by the convention


def save_tiles(folder: Path, cloth: SurfaceTopology) -> SurfaceTopology:
    """Write a tile for every region, and return the cloth with tiles for images.

    Args:
        folder: of the images.
        cloth: with appearances.
    """
    assert cloth.corner_uv is not None
    folder.mkdir(exist_ok=True)
    image_uv = np.array(cloth.corner_uv)
    looks = [look or PartAppearance(CLOTH) for look in cloth.appearances]
    for k, (look, (_, faces)) in enumerate(zip(looks, cloth.regions)):
        own, low, size = tile_coordinates(cloth.corner_uv[faces])
        image_uv[faces] = own + [k % ACROSS, k // ACROSS]
        _draw(look, low, size).save(folder / TILES.replace("<UDIM>", str(1001 + k)))
    drawn = [replace(look, image=folder / TILES) for look in looks]
    return replace(cloth, appearances=drawn, image_uv=image_uv)


def _draw(look: PartAppearance, low: Floats, size: float) -> "Image":
    """Return the square of a part from ``low`` (2,) [m] on, ``size`` [m] large, warp up."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    n = FINER * SIDE
    drawn = Pillow.new("RGB", (n, n), f"#{look.color}")
    if look.image is not None:
        image = look.open_print()
        across = float(np.linalg.norm(look.st[0][:2])) * size * image.width
        source = np.asarray(image.reduce(max(1, int(across / n))))
        places = (np.arange(n) + 0.5) / n * size
        uv = np.stack(np.meshgrid(low[0] + places, low[1] + places[::-1]), -1) @ UPRIGHT.T
        s, t = np.moveaxis(look.image_coordinates(uv), -1, 0)
        h, w = source.shape[:2]
        rows, columns = (np.floor(a).astype(int) for a in (-t * h, s * w))
        drawn = Pillow.fromarray(source[rows % h, columns % w])
    pen, width = ImageDraw.Draw(drawn), max(1, round(STITCH / size * n))
    for ends in (look.dashes() @ UPRIGHT - low) / size * n:
        pen.line([(x, n - y) for x, y in ends.tolist()], fill=f"#{look.thread}", width=width)
    return drawn.reduce(FINER)
