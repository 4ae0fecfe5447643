"""Kinds of joints: what each one holds, and the coordinate in which it moves.

A place of a rigid body is a fixed linear combination of its four points, and a direction of the
body a combination of differences between them. A joint between two bodies is therefore linear in
eight points. It holds in the frame of the other body what a joint to the world holds in space.

A joint of a new kind is a subclass of ``Joint`` whose ``mechanism`` is a ``JointKind`` of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.bodies.rigid.affine_frame import AffineFrame
from weft.energies.springs.joint_coordinates import BilinearForm, JointCoordinates

MARGIN = 0.01  # fraction of the range between limits, or of a cone's angle, where stops begin


@dataclass(frozen=True, eq=False)
class JointEnds:
    """The bodies that a joint connects, at the start, and the place of the joint.

    Args:
        ids: (4,) or (8,) indices of the points of one or both bodies.
        body: the body that has the joint.
        other: the other rigid body; None: the world, or a body with a prescribed motion.
        point: (3,) [m] place of the joint on the body.
        axis: (3,) unit vector.
        size: [m] the cube root of the body's volume.
        stiffness: [N/m] of the springs.
    """

    ids: Ints
    body: AffineFrame
    other: AffineFrame | None
    point: Floats
    axis: Floats
    size: float
    stiffness: float


@dataclass(frozen=True, eq=False)
class JointRow:
    """A spring that holds a linear combination of points at a place, or on a line through it."""

    ids: Ints  # (k,)
    weight: Floats  # (k,)
    place: Floats  # (3,) [m]
    stiffness: float  # [N/m]
    axis: Floats = field(default_factory=lambda: np.zeros(3))  # of the line; zero: the place


# A direction of this body (None: the displacement of its center) and one of the other body, whose
# product is a coordinate, or one of the two products of an angle.
Directions: TypeAlias = list[tuple[Floats | None, Floats]]


@dataclass(frozen=True)
class JointKind:
    """A kind of joint.

    Args:
        rows: springs that hold it.
        directions: products that are its coordinate; None: it has none that limits or motors need.
        limits: field of ``Joint`` with its limits; empty: none.
        motor: field of ``Joint`` with what drives it; empty: none.
        stops: name of the energy of its limits.
        bounds: lower and upper limit and margin of the coordinate.
        guides: pairs of coefficients (8,) whose products springs hold at zero.
        has_arm: whether its torques have the arm from joint to center.
        holds_places: whether it holds places alone, which bodies with a motion have, too.
    """

    rows: Callable[[JointEnds], Iterator[JointRow]]
    directions: Callable[[JointEnds], Directions] | None = None
    limits: str = ""
    motor: str = ""
    stops: str = ""
    bounds: Callable[[Any], tuple[float, float, float]] | None = None
    guides: Callable[[JointEnds], Iterator[tuple[Floats, Floats]]] | None = None
    has_arm: bool = True
    holds_places: bool = True


def hold_place(j: JointEnds, place: Floats, weight: Floats) -> JointRow:
    """Return the spring that holds a place of this body at one of the other body or the world.

    Args:
        j: the joint.
        place: (3,) [m] where the bodies start.
        weight: (4,) weights of this body's points that give it.
    """
    if j.other is None:
        return JointRow(j.ids, weight, place, j.stiffness)
    there = j.other.weights(place[None])[0]
    return JointRow(j.ids, np.concatenate([weight, -there]), np.zeros(3), j.stiffness)


def hold_point(j: JointEnds) -> Iterator[JointRow]:
    """Yield the spring that holds the point of a ball."""
    yield hold_place(j, j.point, j.body.weights(j.point[None])[0])


def hold_axis(j: JointEnds) -> Iterator[JointRow]:
    """Yield the springs of two points of a hinge's axis, one body size from it on either side."""
    for arm in (-j.size, j.size):
        place = j.point + arm * j.axis
        yield hold_place(j, place, j.body.weights(place[None])[0])


def hold_frame(j: JointEnds) -> Iterator[JointRow]:
    """Yield the springs that hold all four points."""
    for a, place in enumerate(j.body.points):
        yield hold_place(j, place, np.eye(4)[a])


def hold_rotation(j: JointEnds) -> Iterator[JointRow]:
    """Yield the springs that hold three edges of the body's frame, that is its rotation."""
    for a in range(1, 4):
        weight = np.zeros(4)
        weight[[0, a]] = -1.0, 1.0
        side = j.body.points[a] - j.body.points[0]
        if j.other is None:
            yield JointRow(j.ids, weight, side, j.stiffness)
        else:
            both = np.concatenate([weight, -(j.other.gradients @ side)])
            yield JointRow(j.ids, both, np.zeros(3), j.stiffness)


def hold_line(j: JointEnds) -> Iterator[JointRow]:
    """Yield the springs of a slider: its rotation, and to the world its center on a line.

    On another rigid body the axis turns with that body: see ``across_line``.
    """
    yield from hold_rotation(j)
    if j.other is None:
        center = np.asarray(j.body.solid.center)
        yield JointRow(j.ids, np.full(4, 0.25), center, j.stiffness, j.axis)


def across_line(j: JointEnds) -> Iterator[tuple[Floats, Floats]]:
    """Yield the coefficients of the center's deviation, and of both directions across the axis."""
    if j.other is not None:
        there = j.other.weights(np.asarray(j.body.solid.center)[None])[0]
        off = np.concatenate([np.full(4, 0.25), -there])
        for b in across(j.axis):
            yield off, np.concatenate([np.zeros(4), j.other.gradients @ b])


def across(axis: Floats) -> tuple[Floats, Floats]:
    """Return two directions (3,) that form an orthonormal frame with a unit vector ``axis``."""
    other = np.eye(3)[int(np.abs(axis).argmin())]
    b = np.cross(axis, other)
    b = b / np.linalg.norm(b)
    return b, np.cross(axis, b)


def _turn(j: JointEnds) -> Directions:
    b, c = across(j.axis)
    return [(b, b), (b, c)]


def _range(field: str) -> Callable[[Any], tuple[float, float, float]]:
    """Return the limits of a field of ``Joint``, with their margin."""

    def bounds(joint: Any) -> tuple[float, float, float]:
        low, high = getattr(joint, field)
        return low, high, MARGIN * (high - low)

    return bounds


def _cone(joint: Any) -> tuple[float, float, float]:
    """Return the limits of the cosine of a tilt, with the margin of the angle."""
    low = float(np.cos(joint.cone))
    return low, np.inf, float(np.cos((1 - MARGIN) * np.arccos(low)) - low)


KINDS = {
    "ball": JointKind(
        hold_point, lambda j: [(j.axis, j.axis)], "cone", "", "stops of balls", _cone
    ),
    "hinge": JointKind(hold_axis, _turn, "angles", "motor", "stops", _range("angles")),
    "slider": JointKind(
        hold_line,
        lambda j: [(None, j.axis)],
        "way",
        "drive",
        "stops of sliders",
        _range("way"),
        across_line,
        has_arm=False,
        holds_places=False,
    ),
    "fixed_rotation": JointKind(hold_rotation, holds_places=False),
    "weld": JointKind(hold_frame),
}


def coordinates_of(kind: JointKind, joints: Sequence[JointEnds]) -> JointCoordinates:
    """Return the coordinates of joints of one kind, which has directions."""
    assert kind.directions is not None
    stencil = np.array([j.ids for j in joints])
    products = zip(*([_form(j, *pair) for pair in kind.directions(j)] for j in joints))
    return JointCoordinates(stencil, *(_concatenate_forms(list(forms)) for forms in products))


def _form(j: JointEnds, own: Floats | None, other: Floats) -> BilinearForm:
    """Return one row of the coordinates: the coefficients of one product."""
    k = len(j.ids)
    w, u, w0, u0 = np.zeros(k), np.zeros(k), np.zeros(3), np.zeros(3)
    center = np.asarray(j.body.solid.center)
    w[:4] = 0.25 if own is None else j.body.gradients @ own
    if j.other is None:
        u0 = other
        w0 = -center if own is None else w0
    else:
        u[4:] = j.other.gradients @ other
        if own is None:
            w[4:] = -j.other.weights(center[None])[0]
    return BilinearForm(w[None], w0[None], u[None], u0[None])


def _concatenate_forms(forms: list[BilinearForm]) -> BilinearForm:
    return BilinearForm(
        *(np.concatenate([getattr(f, n) for f in forms]) for n in ("w", "w0", "u", "u0"))
    )
