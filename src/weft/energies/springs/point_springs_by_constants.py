"""Mixed derivatives of ties, by stiffness, lengths, onset, damping, friction and slip.

All forces of a tie are proportional to its stiffness, and linear in the time constant of damping
and in the coefficient of friction. The derivative of phi' by the length L is -phi'', and by the
onset w -k e^2/(2 w^2), beyond the onset -k/2. The force with which a ring presses at the start of
the step has the same derivatives.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.energies.by_constants import ByName, damping_rate
from weft.energies.springs.point_springs_numpy import PointSpringsOfStep
from weft.energies.step import Step

if TYPE_CHECKING:
    from weft.energies.springs.point_springs import PointSprings


def ties_constants(ties: "PointSprings") -> ByName:
    """Return the constants by name, (m,)."""
    m = len(ties)
    names = ["length", "damping"] + (["first"] if ties.first is not None else [])
    names += ["onset"] if ties.pulls else []
    names += ["friction", "slip"] if ties.rail is not None else []
    given = {n: np.asarray(getattr(ties, n), dtype=np.float64) for n in names}
    return {"stiffness": ties.stiffness, **{n: np.broadcast_to(v, (m,)) for n, v in given.items()}}


def ties_mixed(ties: "PointSprings", x: Positions, step: Step | None) -> ByName:
    """Return the mixed derivatives (m,k,3) by the name of the constant."""
    now, part = _frozen(ties, step), ties.closed(0.0 if step is None else step.t)
    names = ties_constants(ties)
    by = {"stiffness": _pulls(replace(ties, stiffness=np.ones(len(ties))), x, step)}
    damped = [_pulls(replace(ties, damping=v), x, step) for v in (1.0, 0.0)]
    rubbed = [_pulls(replace(ties, friction=v), x, step) for v in (1.0, 0.0)]
    by["damping"], by["friction"] = damped[0] - damped[1], rubbed[0] - rubbed[1]
    f = now.met(x)
    length, onset = now.softer(f.r)
    by_length, by_onset = length[:, None] * f.n, onset[:, None] * f.n
    if ties.friction > 0 and step is not None and ties.rail is not None and damping_rate(step) > 0:
        shape = replace(now, rub=np.ones(len(ties))).rubbed(f.s - now.root)
        along = (shape * f.slope)[:, None] * f.t
        began = replace(now, rail=ties.rail.at(step.bodies[0], step.state.t))
        sign = ties.friction * np.sign(began.respond(step.state.x).tension)
        more = (sign * d for d in began.softer(began.met(step.state.x).r))
        by_length = by_length + next(more)[:, None] * along
        by_onset = by_onset + next(more)[:, None] * along
    by["length"], by["first"] = part * by_length, (1 - part) * by_length
    by["onset"] = by_onset
    by["slip"] = (now.by_slip(f.s - now.root) * f.slope)[:, None] * f.t
    return {n: ties.c[:, :, None] * by[n][:, None] for n in names}


def _frozen(ties: "PointSprings", step: Step | None) -> PointSpringsOfStep:
    """Return the ties of a step, or at rest."""
    return ties.start if step is None else ties.at_end(step)


def _pulls(ties: "PointSprings", x: Positions, step: Step | None) -> Floats:
    """Return dE/dA, (m,3) [N]."""
    return _frozen(ties, step).respond(x).g
