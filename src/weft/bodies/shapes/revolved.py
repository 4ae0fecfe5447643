"""Shapes of bodies that are surfaces of revolution about the y axis, and the plane.

Flat faces lie inside of the round surface, by at most about size^2/(8 r) for a circle of radius r.
"""

from itertools import pairwise
from typing import Annotated

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Setting, Size
from weft.base.units import Quantity
from weft.bodies.body import Body
from weft.bodies.shapes.primitives import Edge, check_vertices, lathe, plate

PLANE_CELLS = 4  # cells along each side of a plane
LEAST_AROUND = 8  # least number of corners of a circle


@checked(SceneError)
def plane(
    extent: Annotated[Quantity, Setting("length of the sides", "m", above=0)] = 20.0,
    name: str = "plane",
) -> Body:
    """Create a level plane through the origin: a square so large that nothing leaves it.

    Args:
        extent: [m] length of its sides.
        name: name for messages.

    Raises:
        SceneError: the length is not > 0.
    """
    side = float(extent)
    return plate(side, side, side / PLANE_CELLS, name)


@checked(SceneError)
def cylinder(
    radius: Size,
    length: Annotated[Quantity, Setting("distance between the ends", "m", above=0)],
    size: Edge = 0.03,
    name: str = "cylinder",
) -> Body:
    """Create a cylinder with flat ends, along y, about the origin.

    Args:
        radius: [m].
        length: [m] between its ends.
        size: [m] approximate edge length.
        name: name for messages.

    Raises:
        SceneError: a length is not > 0.
    """
    return cone(radius, length, size, radius, name)


@checked(SceneError)
def cone(
    radius: Annotated[Quantity, Setting("radius of the base", "m", above=0)],
    height: Size,
    size: Edge = 0.03,
    top: Annotated[Quantity, Setting("radius of the upper end; 0: a tip", "m", least=0)] = 0.0,
    name: str = "cone",
) -> Body:
    """Create a cone along y with a flat base below and its tip above; its middle is the origin.

    Args:
        radius: [m] of its base.
        height: [m].
        size: [m] approximate edge length.
        top: [m] radius of a flat end above; 0: a tip.
        name: name for messages.

    Raises:
        SceneError: a length is not > 0.
    """
    radius, height, size = float(radius), float(height), float(size)
    narrow = float(top)
    check_vertices(name, size, 2 * np.pi * max(radius, narrow), radius + narrow + height)
    half = height / 2
    corners = [(0.0, -half), (radius, -half), (narrow, half)]
    if narrow > 0:
        corners.append((0.0, half))
    widest = max(radius, narrow)
    return lathe(_profile(corners, size), _around(widest, size), (-half, half), name)


@checked(SceneError)
def disk(radius: Size, size: Edge = 0.03, name: str = "disk") -> Body:
    """Create a level disk about the origin, without thickness.

    Args:
        radius: [m].
        size: [m] approximate edge length.
        name: name for messages.

    Raises:
        SceneError: a length is not > 0.
    """
    radius, size = float(radius), float(size)
    check_vertices(name, size, 2 * np.pi * radius, radius)
    n = _around(radius, size)
    rings = max(1, int(np.ceil(radius / size)))
    r = radius * np.arange(1, rings + 1) / rings
    angle = 2 * np.pi * np.arange(n) / n
    circle = np.stack([np.cos(angle), np.zeros(n), -np.sin(angle)], axis=1)
    x = np.concatenate([np.zeros((1, 3)), (r[:, None, None] * circle).reshape(-1, 3)])
    turn = np.arange(n)
    following = (turn + 1) % n
    faces = [np.stack([np.zeros(n, int), 1 + turn, 1 + following], 1)]
    for k in range(rings - 1):
        inner, outer = 1 + k * n, 1 + (k + 1) * n
        faces.append(np.stack([inner + turn, outer + turn, outer + following], 1))
        faces.append(np.stack([inner + turn, outer + following, inner + following], 1))
    return Body(x, np.concatenate(faces), None, name)


def _around(radius: float, size: float) -> int:
    """Return the number of corners of a circle."""
    return max(LEAST_AROUND, int(np.ceil(2 * np.pi * radius / size)))


def _profile(corners: list[tuple[float, float]], size: float) -> Floats:
    """Return radii and heights (k,2) along straight lines from pole to pole, without the poles."""
    points: list[Floats] = []
    for begin, end in pairwise(corners):
        a, b = np.asarray(begin), np.asarray(end)
        n = max(1, int(np.ceil(float(np.linalg.norm(b - a)) / size)))
        points.extend(a + (b - a) * k / n for k in range(n))
    return np.array([p for p in points if p[0] > 0])
