"""Derivatives of attachments and joints by what they take from a step.

They take places on bodies, and the length from which damping is measured. With d = A - b, g = dE/dA
and K = dg/dA (``energies.springs.point_spring_kernels``), the derivative by a place b is -K;
damping (k beta/span)(r - r_0) n has the derivative -(k beta/span) n by r_0 = (1 + a) r_n - a
r_(n-1).
"""

import dataclasses
from typing import Any

import numpy as np

from weft import kernel
from weft.adjoint.lagged_terms import pulls
from weft.adjoint.step_cotangents import StepCotangents
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.bodies.joints.anchors import BodyAnchor, FixedAnchor
from weft.energies.base import Bound, Energy
from weft.energies.springs.joint_springs import BoundJointSprings
from weft.energies.springs.point_springs import BoundPointSprings, PointSprings
from weft.energies.step import Step
from weft.kernel import WarpArray

DIFFERENCE = 1e-4  # step of a face's corners, relative to its size


def check_tied(term: Bound) -> None:
    """Raise an error for an attachment whose derivative is not known.

    Raises:
        SceneError: rails with friction or on a body, or anchors of another kind.
    """
    got = ""
    if isinstance(term, BoundPointSprings):
        e = term.energy
        moving = e.place
        if e.rail is not None and e.friction > 0:
            got = "friction on a rail"
        elif not isinstance(e.rail, FixedAnchor | None):
            got = "a rail on a body"
    elif isinstance(term, BoundJointSprings):
        moving = term.energy.moving
    else:
        return
    if not isinstance(moving, FixedAnchor | BodyAnchor | None):
        got = type(moving).__name__
    if got:
        raise SceneError(
            f"attachment {term.name}",
            got=got,
            expected="ropes, springs, clips, smooth rails that stand or move along a path",
            hint="other attachments have no derivatives yet",
        )


def check_found(name: str, new: Energy, old: Energy) -> None:
    """Raise an error for a parameter that moves the nearest places of a body, if springs use them.

    The nearest places are searched in single precision, so that differences of them are rough.
    Clips hold the place where they are, wherever that is on the body.

    Raises:
        SceneError: such a parameter.
    """
    if not (isinstance(new, PointSprings) and isinstance(old, PointSprings)):
        return
    one, other = new.place, old.place
    if not (isinstance(one, BodyAnchor) and isinstance(other, BodyAnchor)):
        return
    if not np.array_equal(one.start, other.start):
        raise SceneError(
            f"parameter {name}",
            got=f"where the body of attachment {new.name} starts",
            expected="an attachment of `kind: body` (a clip), or a motion after the start",
            hint="ropes and springs are tied to the nearest place of a body",
        )


@pulls(BoundPointSprings)
def _ties(
    term: BoundPointSprings, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add the derivatives by places, and by the length that damping is measured from."""
    e, frozen = term.energy, term._frozen
    by_A = np.einsum("ma,mai->mi", e.c, by[e.stencil])
    if e.place is not None:
        K = term._at(x).K
        _to_bodies(e.place, step.bodies[1], step.t, -np.einsum("mij,mj->mi", K, by_A), into.after)
    if frozen.damping == 0:
        return
    n = _direction(term, np.array(kernel.numpy(x)), frozen.place)
    by_before = -frozen.stiffness * frozen.damping * (n * by_A).sum(1)
    a = step.past_part
    starts: list[tuple[Any, float, Floats]] = [(step.state.x, 1 + a, into.state_x)]
    if step.past is not None:
        starts.append((step.past[0], -a, into.past))
    for where, part, to in starts:
        place = np.zeros_like(frozen.place)
        if e.place is not None:
            place = e.place.at(step.bodies[0], step.state.t)
        along = (part * by_before)[:, None] * _direction(term, np.asarray(where), place)
        np.add.at(to, e.stencil, e.c[:, :, None] * along[:, None])
        if e.place is not None:
            _to_bodies(e.place, step.bodies[0], step.state.t, -along, into.before)


@pulls(BoundJointSprings)
def _joints(
    term: BoundJointSprings, step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add the derivatives by places that move with bodies."""
    e = term.energy
    if e.moving is not None:
        by_y = np.einsum("ma,mai->mi", e.weight, by[e.stencil])
        by_place = -np.einsum("mij,mj->mi", e.stiffness, by_y)
        _to_bodies(e.moving, step.bodies[1], step.t, by_place, into.after)


def _direction(term: BoundPointSprings, x: Floats, place: Floats) -> Floats:
    """Return (m,3) the unit direction n at points x (n,3); zero if both ends coincide."""
    d = term.energy.points(x) - place
    r = np.linalg.norm(d, axis=1, keepdims=True)
    return np.asarray(d / np.maximum(r, 1e-300))


def _to_bodies(place: Any, bodies: Floats, t: float, by: Floats, to: Floats) -> None:
    """Add derivatives by vertices of bodies, from those by places (m,3).

    The derivative of a place on a face is a difference quotient by the corners of the face.
    """
    if not isinstance(place, BodyAnchor):
        return
    m = len(by)
    own = dataclasses.replace(place, corners=np.arange(3 * m, dtype=np.int32).reshape(m, 3))
    at = np.array(bodies[place.corners])
    h = DIFFERENCE * np.abs(at - at[:, :1]).max(axis=(1, 2))
    slope = np.zeros_like(at)
    for k in range(3):
        for j in range(3):
            found = []
            for sign in (1, -1, 2, -2):
                moved = np.array(at)
                moved[:, k, j] += sign * h
                found.append((own.at(moved.reshape(-1, 3), t) * by).sum(1))
            slope[:, k, j] = (8 * (found[0] - found[1]) - found[2] + found[3]) / (12 * h)
    np.add.at(to, place.corners, slope)
