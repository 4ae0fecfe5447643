"""Pictures of a draped specimen under its disk: from above, and in perspective."""

from collections.abc import Mapping

import numpy as np

from weft.base.arrays import Faces, Positions
from weft.discretization.mesh import TriangleMesh
from weft.laboratory.cusick import DISK, SPECIMEN, Cusick, Draping
from weft.show.picture.camera import Camera
from weft.show.picture.renderer import Image, Renderer, Style

ABOVE_CLOTH, CORNERS = 1e-3, 96  # [m] height, and number of corners, of the drawn disk
VIEWS = {"above": (0.0, 89.0), "perspective": (28.0, 24.0)}  # azimuth, elevation [degrees]


def drape_pictures(result: Cusick, width: int = 720, height: int = 720) -> Mapping[str, Image]:
    """Return pictures of the typical draping: ``above`` (warp to the right) and ``perspective``."""
    return {view: drape_picture(result.mesh, result.typical, view, width, height) for view in VIEWS}


def drape_picture(
    mesh: TriangleMesh, draping: Draping, view: str, width: int, height: int
) -> Image:
    """Return a picture (h,w,3) of one draping, from one of ``VIEWS``."""
    azimuth, elevation = VIEWS[view]
    style = Style(width=width, height=height, azimuth=azimuth, elevation=elevation)
    points, faces = _disk()
    x = np.concatenate([draping.x, points])
    return Renderer(mesh, [x], style, body_faces=faces).image(x)


def photograph(
    mesh: TriangleMesh,
    draping: Draping,
    height: float = 0.9,
    aside: tuple[float, float] = (0.0, 0.0),
    turn: float = 0.0,
    side: int = 720,
) -> Image:
    """Return what a camera above the tester sees, straight down in soft light, (side,side,3).

    The picture shows the specimen, its disk, and its shadow on the table.

    Args:
        mesh: the specimen.
        draping: its drape.
        height: [m] of the lens above the disk's upper face.
        aside: [m] of the lens from above the disk's middle, to the right and up in the picture.
        turn: [rad] by which the specimen is turned, counter-clockwise.
        side: pixels.
    """
    points, faces = _disk()
    c, s = np.cos(turn), np.sin(turn)
    about = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    x = np.concatenate([draping.x, points]) @ about.T
    looks = Style(
        look="plain",
        width=side,
        height=side,
        elevation=89.0,
        azimuth=0.0,
        soft=True,
        smooth=1,
        samples=3,
    )
    down = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    eye = np.array([aside[0], ABOVE_CLOTH + height, -aside[1]])
    wide = 1.2 * SPECIMEN + max(abs(aside[0]), abs(aside[1]))
    camera = Camera(eye, down, wide / height)
    return Renderer(mesh, [x], looks, body_faces=faces).image(x, camera=camera)


def _disk() -> tuple[Positions, Faces]:
    """Return points and faces of the upper disk of the tester, a little above the cloth."""
    turn = 2 * np.pi * np.arange(CORNERS) / CORNERS
    rim = DISK * np.stack([np.cos(turn), 0 * turn, -np.sin(turn)], axis=1)
    points = np.concatenate([rim, [[0.0, 0.0, 0.0]]]) + [0.0, ABOVE_CLOTH, 0.0]
    ids = np.arange(CORNERS)
    faces = np.stack([ids, np.roll(ids, -1), np.full(CORNERS, CORNERS)], axis=1)
    return points, faces.astype(np.int32)
