"""Derivatives of attachments and joints by what they take from a step.

They take places on bodies, and the length from which damping is measured. With d = A - b, g = dE/dA
and K = dg/dA (``energies.springs.distance``), the derivative by a place b is -K;
damping (k beta/span)(r - r_0) n has the derivative -(k beta/span) n by r_0 = (1 + a) r_n - a
r_(n-1).
"""

from typing import TYPE_CHECKING

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import SceneError
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray

if TYPE_CHECKING:
    from weft.energies.springs.point_springs import BoundPointSprings, MovedPlaces


def check_places(name: str, places: "MovedPlaces | None", got: str = "") -> None:
    """Raise an error for an attachment whose derivatives are not known.

    Args:
        name: of the attachment.
        places: what holds it.
        got: another reason that its derivatives are not known; empty: none.

    Raises:
        SceneError: such an attachment.
    """
    if places is not None and not hasattr(places, "pull_back"):
        got = type(places).__name__
    if got:
        raise SceneError(
            f"attachment {name}",
            got=got,
            expected="ropes, springs, clips, smooth rails that stand or move along a path",
            hint="other attachments have no derivatives yet",
        )


def pull_back_springs(
    term: "BoundPointSprings", step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add the derivatives by places, and by the length that damping is measured from."""
    e, law, y = term.energy, term.law_numbers, np.array(kernel.numpy(x))
    by_A, moved = np.einsum("ma,mai->mi", e.c, by[e.stencil]), e.moved_places
    if moved is not None:
        K = e.by_places(y, term.parameters)
        by_place = -np.einsum("mij,mj->mi", K, by_A)
        moved.pull_back(step.bodies[1], step.t, by_place, into.after)
    if e.damping == 0:
        return
    n = _direction(term, y, e.places(step.bodies[1], step.t))
    late = law["stiffness"] * law["holds"] * law["damping"] * law["rate"]
    by_before = -late * (n * by_A).sum(1)
    a = step.past_part
    starts: list[tuple[Positions, float, Floats]] = [(step.state.x, 1 + a, into.state_x)]
    if step.past is not None:
        starts.append((step.past[0], -a, into.past))
    for where, part, to in starts:
        place = e.places(step.bodies[0], step.state.t)
        along = (part * by_before)[:, None] * _direction(term, np.asarray(where), place)
        np.add.at(to, e.stencil, e.c[:, :, None] * along[:, None])
        if moved is not None:
            moved.pull_back(step.bodies[0], step.state.t, -along, into.before)


def _direction(term: "BoundPointSprings", x: Floats, place: Floats) -> Floats:
    """Return (m,3) the unit direction n at points x (n,3); zero if both ends coincide."""
    d = term.energy.attached_positions(x) - place
    r = np.linalg.norm(d, axis=1, keepdims=True)
    return np.asarray(d / np.maximum(r, 1e-300))
