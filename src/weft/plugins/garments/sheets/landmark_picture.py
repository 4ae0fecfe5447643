"""Picture of a person's landmarks, from the front and from the left."""

from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from weft.base.arrays import Faces, Positions
from weft.discretization.mesh import TriangleMesh
from weft.plugins.garments.bodies.landmarks import LEVELS, Landmarks
from weft.plugins.garments.bodies.sections import cut_edges
from weft.plugins.garments.bodies.skin import UP
from weft.show.picture.renderer import Image, Renderer, save_png
from weft.show.picture.style import Style

WIDTH, HEIGHT = 620, 960  # [px] of each view
LINE, DOT, INK = (40, 90, 170), (200, 40, 40), (30, 30, 30)


def save_landmarks(path: str | Path, x: Positions, faces: Faces, marks: Landmarks) -> None:
    """Write a PNG of a body with the sections of its levels and its landmarks.

    Args:
        path: the file.
        x: (b,3) [m] vertices of the body.
        faces: (m,3).
        marks: its landmarks.

    Raises:
        RunError: the file cannot be written.
    """
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    mesh = TriangleMesh(x, faces, np.broadcast_to(corners, (len(faces), 3, 2)))
    front = float(np.degrees(np.arctan2(marks.forward[0], marks.forward[2])))
    views = [_draw_view(mesh, marks, front + turn, turn == 0) for turn in (0, 90)]
    save_png(path, np.concatenate(views, axis=1))


def _draw_view(mesh: TriangleMesh, marks: Landmarks, azimuth: float, every: bool) -> Image:
    """Return the picture from a direction; ``every``: of all landmarks, not those of levels."""
    style = Style("plain", WIDTH, HEIGHT, azimuth=azimuth, elevation=0.0, ground=False)
    renderer = Renderer(mesh, [mesh.vertices], style)
    picture = Pillow.fromarray(renderer.image(mesh.vertices))
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(size=15)
    for name in LEVELS[:-1]:
        points = cut_edges(mesh.vertices, mesh.faces, marks.points[name], UP)[0]
        for u, v, _ in renderer.camera.project(points, WIDTH, HEIGHT):
            draw.point((u, v), fill=LINE)
    for name, point in marks.points.items():
        if every or not name.endswith(("_left", "_right")):
            u, v, _ = renderer.camera.project(point[None], WIDTH, HEIGHT)[0]
            draw.ellipse((u - 4, v - 4, u + 4, v + 4), fill=DOT)
            left = u < WIDTH / 2 - 3
            at = (u - 8, v) if left else (u + 8, v)
            draw.text(at, name.replace("_", " "), INK, font=font, anchor="rm" if left else "lm")
    return np.asarray(picture)
