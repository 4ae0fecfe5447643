"""Surfaces of cloth for a page: colors and images by region, and stitches as lines on triangles."""

import base64
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.trees import Json
from weft.bodies.nearest_points import NearestPoints
from weft.io.animation import SurfaceTopology
from weft.io.part_appearance import PartAppearance
from weft.show.viewer.packing import pack

MOST_PIXELS = 1024  # of the side of an image in a page
ON_CLOTH = 1e-4  # [m] ends of stitches that are farther from their panel are left out


class PageSurfaces:
    """The surfaces of all regions of a cloth, for a page.

    Args:
        cloth: with the appearances of its regions, or without any.
    """

    def __init__(self, cloth: SurfaceTopology) -> None:
        self.cloth = cloth

    def describe(self) -> Json:
        """Return the surfaces of all regions, null: none, and their images as data URLs; nothing of
        cloth without surfaces.
        """
        if not self.cloth.appearances:
            return {}
        images: dict[str, int] = {}
        told: list[Json | None] = []
        for look, (_, ends, _) in zip(self.cloth.appearances, self._stitches):
            if look is None:
                told.append(None)
                continue
            tree = {**look.as_json(str), "stitches": len(ends), "image": None}
            if look.image is not None:
                tree["image"] = images.setdefault(_data_url(look), len(images))
            told.append(tree)
        return {"surfaces": told, "images": list(images)}

    def blocks(self) -> dict[str, str]:
        """Return the ends of stitches, region by region: vertices of their faces, and weights."""
        if not self.cloth.appearances:
            return {}
        corners = [self.cloth.faces[faces[ends]] for faces, ends, _ in self._stitches]
        weights = np.concatenate([weights for _, _, weights in self._stitches])
        return {
            "stitch_vertex": pack(np.concatenate(corners).astype(np.uint32)),
            "stitch_weight": pack(weights.astype(np.float32)),
        }

    @cached_property
    def _stitches(self) -> list[tuple[Ints, Ints, Floats]]:
        """For every region its faces; for every end of a stitch, two by two, the index among them
        (e,) of the face on which it lies, and the barycentric coordinates (e,3) there.
        """
        cloth, found = self.cloth, []
        assert cloth.corner_uv is not None
        for look, (_, faces) in zip(cloth.appearances, cloth.regions):
            ends = np.zeros((0, 2)) if look is None else look.dashes().reshape(-1, 2)
            flat = np.pad(cloth.corner_uv[faces].reshape(-1, 2), ((0, 0), (0, 1)))
            soup = np.arange(len(flat), dtype=np.int32).reshape(-1, 3)
            place = NearestPoints.of(np.pad(ends, ((0, 0), (0, 1))), flat, soup)
            near = (place.distance.reshape(-1, 2) < ON_CLOTH).all(axis=1).repeat(2)
            found.append((np.asarray(faces), place.face[near], place.weight[near]))
        return found


def _data_url(look: PartAppearance) -> str:
    suffix, data = look.image_bytes(MOST_PIXELS)
    kind = "png" if suffix == ".png" else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
