"""Start positions of panels in space: rotated and translated, or wrapped around an axis.

Panels of higher layers lie further out.
"""

import warnings
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import PatternError
from weft.discretization.polygon import contains, rotation_matrix
from weft.plugins.garments.patterns.curves import outline_polygon
from weft.plugins.garments.patterns.pattern import Panel, Placement, Wrap

LAYER_GAP = 0.01  # [m] between the start positions of successive layers


def place_points(panel: Panel, flat: Floats) -> Positions:
    """Return the start positions (n,3) [m] of points of a panel.

    A panel of layer l starts l ``LAYER_GAP`` further out: along the normal of its right side, or on
    a cylinder whose radius is larger by that distance.

    Args:
        panel: with its placement and layer.
        flat: (n,2) [m] points of the panel's plane.

    Raises:
        PatternError: a wrap without an axis, or a panel that goes around it more than once.
    """
    from scipy.spatial.transform import Rotation

    placement, out = panel.placement, panel.layer * LAYER_GAP
    right, up, angle = placement.on_paper
    if placement.on_paper != (0.0, 0.0, 0.0):
        flat = flat @ rotation_matrix(-np.radians(angle)) + [right, up]
    turn = Rotation.from_euler("xyz", placement.rotation, degrees=True)
    moved = np.asarray(placement.translation, dtype=np.float64)
    if placement.wrap is None:
        x = np.column_stack([flat, np.full(len(flat), out)])
        return np.asarray(turn.apply(x) + moved)
    center, around = wrap_points(placement.wrap, flat, out, f"panel {panel.name}")
    return np.asarray(turn.apply(around) + center + moved)


def plane_axes(placement: Placement) -> Floats:
    """Return (3,3) the directions in space, in columns, of a panel's x, its y and its right side.

    Those of a wrapped panel are taken where it faces.
    """
    from scipy.spatial.transform import Rotation

    own = Rotation.from_euler("z", placement.on_paper[2], degrees=True).as_matrix()
    turn = Rotation.from_euler("xyz", placement.rotation, degrees=True).as_matrix()
    if placement.wrap is not None:
        turn = turn @ _wrap_axes(placement.wrap, "wrap")
    return np.asarray(turn @ own)


def _wrap_axes(wrap: Wrap, place: str) -> Floats:
    """Return (3,3) in columns the directions to the right, along the axis, and where a wrap faces.

    Raises:
        PatternError: a wrap without an axis; ``place`` is its name.
    """
    axis, facing = np.asarray(wrap.direction, float), np.asarray(wrap.facing, float)
    length = float(np.linalg.norm(axis))
    axis = axis / length if length > 0 else axis
    facing = facing - (facing @ axis) * axis
    size = float(np.linalg.norm(facing))
    if not (length > 0 and size > 1e-9 and np.isfinite([length, size]).all()):
        got = f"direction {tuple(wrap.direction)}, facing {tuple(wrap.facing)}"
        raise PatternError(place, got=got, expected="two directions that are not parallel")
    facing = facing / size
    return np.stack([np.cross(axis, facing), axis, facing], axis=1)


def wrap_points(wrap: Wrap, flat: Floats, out: float, what: str) -> tuple[Floats, Positions]:
    """Wrap points of a panel's plane around a cylinder or cone.

    Args:
        wrap: the cylinder or cone.
        flat: (n,2) [m] points of the plane.
        out: [m] added to the radius.
        what: name of the panel, for messages.

    Returns:
        The center (3,) [m] of the wrap, and the points (n,3) [m] relative to it.

    Raises:
        PatternError: a wrap without an axis, or a panel that goes around it more than once.
    """
    radius, place = wrap.radius + out, f"{what}: wrap"
    right, axis, facing = _wrap_axes(wrap, place).T
    if not (np.isfinite(radius) and radius * wrap.radius > 0 and (radius > 0 or not wrap.taper)):
        expected = "> 0, or < 0 without a taper, for a right side inside"
        raise PatternError(f"{place}.radius", got=f"{radius:g} m", expected=expected)
    if wrap.fan:
        angle, around, along = _spread_fan(flat, radius, wrap)
    else:
        angle, around, along = _roll_plane(flat, radius, wrap.taper, place)
    if float(np.ptp(angle) if len(flat) else 0.0) > 2 * np.pi * (1 + 1e-9):
        width, circumference = float(np.ptp(flat[:, 0])), 2 * np.pi * abs(radius)
        least = abs(radius) * np.ptp(angle) / (2 * np.pi)
        raise PatternError(
            place,
            got=f"a panel {width:.4g} m wide around a circumference of {circumference:.4g} m",
            expected="at most once around",
            hint=f"a radius of at least {least:.4g} m, or cut the panel",
        )
    outward = np.cos(angle)[:, None] * facing + np.sin(angle)[:, None] * right
    x = along[:, None] * axis + around[:, None] * outward
    return np.asarray(wrap.center, dtype=np.float64), x


def _roll_plane(
    flat: Floats, radius: float, taper: float, place: str
) -> tuple[Floats, Floats, Floats]:
    """Return angle, distance from the axis and position along it, (n,) each, of points of a rolled
    plane.

    The plane is rolled to a cylinder, or to a cone whose circle at y = 0 has the radius.
    """
    x, y = flat.T
    slope = float(np.sin(taper))
    if not abs(taper) < np.pi / 2:
        got = f"{np.degrees(taper):.4g} deg"
        raise PatternError(f"{place}.taper", got=got, expected="between -90 and 90 deg")
    if abs(slope) < 1e-9:
        return x / radius, np.full(len(x), radius), y
    tip = radius / slope  # distance from the tip to y = 0, along the cone
    sign = np.sign(slope)
    out = sign * (y + tip)
    if len(y) and out.min() <= 0:
        raise PatternError(
            f"{place}.taper",
            got=f"{np.degrees(taper):.4g} deg: the cone ends {abs(tip):.4g} m "
            "from y = 0, inside the panel",
            expected="a tip beyond it",
            hint="a smaller taper, or a larger radius",
        )
    way = np.hypot(x, out)
    angle = np.arctan2(x, out) / abs(slope)
    return angle, way * abs(slope), (sign * way - tip) * float(np.cos(taper))


def _spread_fan(flat: Floats, radius: float, wrap: Wrap) -> tuple[Floats, Floats, Floats]:
    """Return angle, distance from the axis and position along it, (n,) each, of points of a plane
    whose lines from a point at (0, ``fan``) become the straight lines of a cone.
    """
    x, down = flat[:, 0], wrap.fan - flat[:, 1]
    way = np.hypot(x, down) - wrap.fan
    angle = wrap.squeeze * np.arctan2(x, down)
    return angle, radius - way * np.sin(wrap.taper), -way * np.cos(wrap.taper)


def panel_points(panel: Panel, spacing: float, *, border: bool = True) -> Positions:
    """Return start positions (n,3) [m] of points all over a panel, with its border or without."""
    outline = outline_polygon(panel)[0]
    low, high = outline.min(0), outline.max(0)
    grid = np.stack(np.meshgrid(*(np.arange(a, b, spacing) for a, b in zip(low, high))), axis=-1)
    inside = grid.reshape(-1, 2)
    inside = inside[contains([outline], inside)]
    return place_points(panel, np.concatenate([outline, inside]) if border else inside)


def move_panel(panel: Panel, turn: Floats, shift: Floats) -> Panel:
    """Return a panel whose start positions x are at ``turn`` x + ``shift``."""
    from scipy.spatial.transform import Rotation

    placement = panel.placement
    if placement.fixed:
        return panel
    own = Rotation.from_euler("xyz", placement.rotation, degrees=True)
    center = np.zeros(3) if placement.wrap is None else np.asarray(placement.wrap.center)
    moved = turn @ (center + placement.translation) + shift - center
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gimbal lock: the angles are not unique, any are right
        angles = (Rotation.from_matrix(turn) * own).as_euler("xyz", degrees=True)
    x, y, z = moved.tolist()
    a, b, c = angles.tolist()
    return replace(panel, placement=replace(placement, translation=(x, y, z), rotation=(a, b, c)))
