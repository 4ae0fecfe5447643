"""Pictures of a draped specimen under its disk: from above, and in perspective."""

from collections.abc import Mapping

import numpy as np

from weft.arrays import Faces, Positions
from weft.laboratory.cusick import DISK, Cusick, Draping
from weft.mesh import TriangleMesh
from weft.render.picture import Image, Renderer, Style

ABOVE_CLOTH, CORNERS = 1e-3, 96  # [m], of the drawn disk
VIEWS = {"above": (0.0, 89.0), "perspective": (28.0, 24.0)}  # azimuth, elevation [degrees]


def draped_pictures(result: Cusick, width: int = 720, height: int = 720) -> Mapping[str, Image]:
    """Of the typical draping: ``above`` (warp to the right) and ``perspective``."""
    return {
        view: draped_picture(result.mesh, result.typical, view, width, height) for view in VIEWS
    }


def draped_picture(
    mesh: TriangleMesh, draping: Draping, view: str, width: int, height: int
) -> Image:
    """(h,w,3) of one draping, from one of ``VIEWS``."""
    azimuth, elevation = VIEWS[view]
    style = Style(width=width, height=height, azimuth=azimuth, elevation=elevation)
    points, faces = _disk()
    x = np.concatenate([draping.x, points])
    return Renderer(mesh, [x], style, body_faces=faces).image(x)


def _disk() -> tuple[Positions, Faces]:
    """The upper disk of the tester, a little above the cloth."""
    turn = 2 * np.pi * np.arange(CORNERS) / CORNERS
    rim = DISK * np.stack([np.cos(turn), 0 * turn, -np.sin(turn)], axis=1)
    points = np.concatenate([rim, [[0.0, 0.0, 0.0]]]) + [0.0, ABOVE_CLOTH, 0.0]
    ids = np.arange(CORNERS)
    faces = np.stack([ids, np.roll(ids, -1), np.full(CORNERS, CORNERS)], axis=1)
    return points, faces.astype(np.int32)
