"""Surfaces of cloth for a page: colors and images by region, and stitches as lines on triangles."""

import base64
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.trees import Json
from weft.io.animation import SurfaceTopology
from weft.io.part_appearance import PartAppearance
from weft.run.cloth_layers import locate_stitches
from weft.show.viewer.packing import pack

MOST_PIXELS = 1024  # of the side of an image in a page


class PageSurfaces:
    """The surfaces of all regions of a cloth, for a page.

    Args:
        cloth: with the appearances of its regions, or without any.
    """

    def __init__(self, cloth: SurfaceTopology) -> None:
        self.cloth = cloth

    @cached_property
    def _stitches(self) -> tuple[Ints, Ints, Floats]:
        return locate_stitches(self.cloth)

    def describe(self) -> Json:
        """Return the surfaces of all regions, null: none, and their images as data URLs; nothing of
        cloth without surfaces.
        """
        if not self.cloth.appearances:
            return {}
        images: dict[str, int] = {}
        told: list[Json | None] = []
        counts = np.bincount(self._stitches[0], minlength=len(self.cloth.regions)).tolist()
        for look, count in zip(self.cloth.appearances, counts):
            if look is None:
                told.append(None)
                continue
            tree = {**look.as_json(str), "stitches": count, "image": None}
            if look.image is not None:
                tree["image"] = images.setdefault(_data_url(look), len(images))
            told.append(tree)
        return {"surfaces": told, "images": list(images)}

    def blocks(self) -> dict[str, str]:
        """Return the ends of stitches, region by region: vertices of their faces, and weights."""
        if not self.cloth.appearances:
            return {}
        _, faces, weights = self._stitches
        return {
            "stitch_vertex": pack(self.cloth.faces[faces].astype(np.uint32)),
            "stitch_weight": pack(weights.astype(np.float32)),
        }


def _data_url(look: PartAppearance) -> str:
    kind, data = look.image_bytes(MOST_PIXELS)
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
