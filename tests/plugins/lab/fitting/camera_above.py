"""Photographs of a draped specimen, as a camera above the tester takes them."""

import numpy as np

from weft.plugins.lab.laboratory.cusick import SPECIMEN
from weft.plugins.lab.laboratory.pictures import ABOVE_CLOTH, upper_disk
from weft.show.picture.camera import Camera
from weft.show.picture.renderer import Renderer, Style


def photograph(
    mesh,
    draping,
    height=0.9,
    aside=(0.0, 0.0),
    turn=0.0,
    side=720,
):
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
    points, faces = upper_disk()
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
