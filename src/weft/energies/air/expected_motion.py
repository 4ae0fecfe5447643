"""Positions and velocities that cloth is expected to have at the end of a step, for wind."""

import numpy as np

from weft.base.arrays import Floats, Positions, Velocities
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents


def extrapolate(step: Step) -> tuple[Positions, Velocities]:
    """Return the expected positions (n,3) [m] and velocities (n,3) [m/s] at the end of a step.

    They are of second order in the length of the step if it knows two steps of the past, of first
    order if it knows one. In an equilibrium cloth is at rest.

    With p = (1 + a) v_n - a v_(n-1) the velocity of the prediction, a = w^2/(1 + 2 w) and w the
    step over the one before, w = a + sqrt(a^2 + a) and v' = v_n + w (v_n - v_(n-1)).
    """
    if step.lag_point is not None:
        return step.lag_point, step.velocity(step.lag_point)
    x_n, v_n = np.asarray(step.state.x), np.asarray(step.state.v)
    if not np.isfinite(step.span):
        return step.move_pins(x_n), np.zeros_like(x_n)
    v, a = v_n, step.past_part
    if a > 0:
        growth = a + np.sqrt(a * a + a)
        v = v_n + growth / a * (step.velocity(step.predicted) - v_n)
    if step.dt > 0:
        to_target = (step.target - x_n) / step.dt
        v = np.where(step.fixed[:, None], to_target, v)
    return step.move_pins(x_n + step.dt * v_n), v


def pull_back_extrapolated(step: Step, to_x: Floats, to_v: Floats, into: StepCotangents) -> None:
    """Add derivatives by the inputs of a step, from those by expected positions and velocities.

    The expected ones (``extrapolate``) depend on the state, on the prediction, and on pins. If
    wind was evaluated at other positions (``into.at``), the derivatives belong to these.
    """
    if into.at is not None:
        into.place += to_x + to_v / step.span
        into.origin -= to_v / step.span
        return
    if not np.isfinite(step.span):
        into.state_x += np.where(step.fixed[:, None], 0.0, to_x)
        into.target += np.where(step.fixed[:, None], to_x, 0.0)
        return
    pinned, free = step.fixed[:, None], step.free[:, None]
    into.state_x += np.where(free, to_x, 0.0)
    into.state_v += np.where(free, step.dt * to_x, 0.0)
    into.target += np.where(pinned, to_x + (to_v / step.dt if step.dt > 0 else 0.0), 0.0)
    if step.dt > 0:
        into.state_x -= np.where(pinned, to_v / step.dt, 0.0)
    to_v, a = np.where(free, to_v, 0.0), step.past_part
    part = 0.0
    if a > 0:
        part = (a + np.sqrt(a * a + a)) / a
        into.predicted += part * to_v / step.span
        into.origin -= part * to_v / step.span
    into.state_v += (1 - part) * to_v
