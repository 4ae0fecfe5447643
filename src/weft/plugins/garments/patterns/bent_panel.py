"""Flat panels bent around a limb, or away from the body, so that their seams find their way."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats, Vector
from weft.plugins.garments.bodies.skin import UP
from weft.plugins.garments.patterns.pattern import Panel, Placement, Wrap
from weft.plugins.garments.patterns.placement import place_points, plane_axes

SLACK = 1.05  # of a panel that is bent to a whole cone: its circumference over its width
LEAST_RADIUS = 0.2  # of a cone at the panel's narrow end, over that at the axis' point


def bend_around(
    panel: Panel, point: Floats, axis: Floats, edges: Sequence[Floats], *, slack: float = 0.0
) -> Panel:
    """Return a flat panel around an axis: as half of a cone with its lengthwise edges beside the
    axis, or above the axis with these edges below it.

    Args:
        panel: its plane is about parallel to the axis. Panels that are bent or fixed stay.
        point: (3,) [m] a point of the axis.
        axis: (3,) its direction.
        edges: (k,2) [m] points of the lengthwise edges, in the panel's plane.
        slack: of a panel whose edges a seam joins to each other, which is above the axis: the
            circumference of the cone over the width of the panel, from ``SLACK`` of a whole cone to
            2 of a half one; 0: of another panel.
    """
    origin, to_axis = _frame(panel, point, axis)
    x, y = to_axis @ (np.concatenate(edges) - origin).T
    middle = float(y.min() + y.max()) / 2  # the cone's circle: far from it, a cone has no radius
    point = point + middle * axis / np.linalg.norm(axis)
    origin, y = origin + middle * to_axis[1], y - middle
    per_width = (slack or 2.0) / np.pi  # radius over half of the width
    slope, radius = (np.polyfit(y, np.abs(x), 1) * per_width).tolist()
    ends = (panel.corners - origin) @ to_axis[1]
    if not min(radius + slope * ends) > LEAST_RADIUS * radius:
        slope, radius = 0.0, float(np.abs(x).max()) * per_width
    taper = float(np.arcsin(np.clip(slope, -0.9, 0.9)))
    return _bend(panel, point, axis, radius, taper, UP if slack else None)


def bend_away(panel: Panel, middle: Floats, radius: float) -> Panel:
    """Return a flat panel bent around a vertical axis on its right side, its sides away from the
    body.

    Args:
        panel: its plane is vertical. Panels that are bent or fixed stay.
        middle: (3,) [m] a point of its plane, from which it is bent to both sides.
        radius: [m].
    """
    axis = middle + radius * plane_axes(panel.placement)[:, 2]
    return _bend(panel, axis, UP, -radius, 0.0)


def bend_outward(panel: Panel, middle: Floats, radius: float) -> Panel:
    """Return a flat panel bent around a vertical axis on its wrong side, its middle away from the
    body.

    Args:
        panel: its plane is vertical. Panels that are bent or fixed stay.
        middle: (3,) [m] a point of its plane, which stays, as its vertical line does.
        radius: [m].
    """
    axis = middle - radius * plane_axes(panel.placement)[:, 2]
    return _bend(panel, axis, UP, radius, 0.0)


def _bend(
    panel: Panel,
    point: Floats,
    axis: Floats,
    radius: float,
    taper: float,
    facing: Floats | None = None,
) -> Panel:
    """Return a panel bent around an axis; it stays as it is if it is bent or fixed.

    Its middle is on the side of the axis to which its right side points, or where it is facing.
    """
    place = panel.placement
    if place.wrap or place.fixed:
        return panel
    origin, to_axis = _frame(panel, point, axis)
    right, ahead = (-to_axis @ origin).tolist()
    middle = _three(plane_axes(place)[:, 2] if facing is None else facing)
    wrap = Wrap(_three(point), radius, _three(axis), middle, taper)
    angle = float(np.degrees(np.arctan2(to_axis[1, 0], to_axis[1, 1])))
    return replace(panel, placement=Placement(wrap=wrap, on_paper=(right, ahead, angle)))


def _frame(panel: Panel, point: Floats, axis: Floats) -> tuple[Floats, Floats]:
    """Return the place (2,) [m] of a point in a panel's plane, and the rotation (2,2) of the plane
    to one whose y is an axis.
    """
    turn = plane_axes(panel.placement)
    origin = ((point - place_points(panel, np.zeros((1, 2)))[0]) @ turn)[:2]
    up = (axis @ turn)[:2]
    up = up / np.linalg.norm(up)
    return origin, np.array([[up[1], -up[0]], up])


def _three(vector: Floats) -> Vector:
    """Return a vector (3,) as numbers."""
    x, y, z = vector.tolist()
    return x, y, z
