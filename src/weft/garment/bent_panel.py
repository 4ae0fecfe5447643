"""Flat panels bent around a limb, so that a tube of two panels starts around it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats
from weft.garment.pattern import Panel, Placement, Wrap
from weft.garment.placement import place_points, plane_axes

LEAST_RADIUS = 0.2  # of a cone at the panel's narrow end, over that at the axis' point


def bend_panel(panel: Panel, point: Floats, axis: Floats, edges: Sequence[Floats]) -> Panel:
    """Return a flat panel as half of a cone around an axis, with its lengthwise edges beside it.

    Args:
        panel: its plane is about parallel to the axis. Panels that are bent or fixed stay.
        point: (3,) [m] a point of the axis.
        axis: (3,) its direction.
        edges: (k,2) [m] points of the lengthwise edges, in the panel's plane.
    """
    place = panel.placement
    if place.wrap or place.fixed:
        return panel
    turn = plane_axes(place)
    origin = ((point - place_points(panel, np.zeros((1, 2)))[0]) @ turn)[:2]
    up = (axis @ turn)[:2]
    up = up / np.linalg.norm(up)
    to_axis = np.array([[up[1], -up[0]], up])  # from the panel's plane to one whose y is the axis
    x, y = to_axis @ (np.concatenate(edges) - origin).T
    slope, radius = (np.polyfit(y, np.abs(x), 1) * 2 / np.pi).tolist()
    ends = (panel.corners - origin) @ up
    if not min(radius + slope * ends) > LEAST_RADIUS * radius:
        slope, radius = 0.0, float(np.abs(x).mean()) * 2 / np.pi
    right, ahead = (-to_axis @ origin).tolist()
    wrap = Wrap(
        center=_three(point),
        radius=radius,
        direction=_three(axis),
        facing=_three(turn[:, 2]),
        taper=float(np.arcsin(np.clip(slope, -0.9, 0.9))),
    )
    on_paper = (right, ahead, float(np.degrees(np.arctan2(up[0], up[1]))))
    return replace(panel, placement=Placement(wrap=wrap, on_paper=on_paper))


def _three(vector: Floats) -> tuple[float, float, float]:
    """Return a vector (3,) as numbers."""
    x, y, z = vector.tolist()
    return x, y, z
