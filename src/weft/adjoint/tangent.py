"""Tangents: the change of a whole run with a few parameters, computed forwards in time.

If few numbers change many (the frames of a run by three stiffnesses), going forwards is cheaper
than going backwards. A step is linearized at its end: H dx' = -dg, with dg the change of g =
dPhi/dx at the same x by everything that the step was made from. Here dg is a difference quotient of
whole potentials, so that tangents share nothing with ``reverse_step`` but H, and each verifies the
other.
"""

import dataclasses

import numpy as np

from weft import kernel
from weft.adjoint.hessian import Hessian
from weft.adjoint.parameter_directions import ParameterDirection, SceneVariant
from weft.adjoint.parameters import Parameter
from weft.adjoint.recorded_run import RecordedRun
from weft.base.arrays import Floats
from weft.base.differences import FOURTH_ORDER, slope_at_zero
from weft.contact.memory import SLIP, STIFFNESS
from weft.energies.derivative import differentiable
from weft.energies.state import State, StateDerivatives
from weft.energies.step import Step
from weft.energies.term import Term
from weft.integrators.assembly import sum_gradients
from weft.integrators.base import StepPart
from weft.integrators.potential import Potential
from weft.scene.prepare import Simulation, prepare
from weft.scene.scene import Scene
from weft.solve.linear.solver import LinearSolver, PreparedSolver

SMALL = 1e-6  # difference of states in quotients, relative to the size of the cloth
TOUCHING, SLIPPED = 1e-8, 1e-3  # the same with contact [m]; part of the elastic slip


def tangents(
    forward: RecordedRun, scene: Scene | Simulation, parameter: Parameter, solver: LinearSolver
) -> tuple[Floats, Floats]:
    """Compute the change of positions and velocities in every frame with a parameter.

    Args:
        forward: the run.
        scene: scene of the run.
        parameter: the parameter.
        solver: solver of the linear systems.

    Returns:
        Positions and velocities of the surface's vertices, (frames+1,n,3,...) each; the last axes
        are those of the parameter's value.
    """
    shape = parameter.value.shape
    every = [ParameterDirection.of(scene, parameter, i, forward.model) for i in np.ndindex(shape)]
    place = forward.start()
    at = [_begin(forward, d) for d in every]
    frames = [[_frame(forward, m) for m in at]]
    prepared: PreparedSolver | None = None
    for count in range(1, forward.count + 1):
        place, parts = forward.step(place)
        for taken in parts:
            before, ends = at, [*taken.lag_points, taken.x]
            for k, end in enumerate(ends):
                link = dataclasses.replace(taken, x=end, lag_points=ends[k - 1 : k] if k else ())
                phi = _rebuild_potential(forward, link)
                x = kernel.points(phi.step.move_pins(end))
                settled = phi.step.scale is None and phi.update_lagged_terms(x)
                if settled:  # loads are evaluated at the equilibrium itself
                    link = dataclasses.replace(link, lag_points=(phi.step.move_pins(end),))
                hessian = Hessian(phi, x, solver, prepared)
                prepared = hessian.prepared
                pairs = zip(every, before, at)
                at = [
                    _step(forward, link, phi.step, hessian, d, m, None if settled else was.x)
                    for d, m, was in pairs
                ]
        if count % forward.steps == 0:
            frames.append([_frame(forward, m) for m in at])
    out = [np.array([[m[k] for m in f] for f in frames]) for k in (0, 1)]
    return tuple(np.moveaxis(o, 1, -1).reshape(*o.shape[:1], *o.shape[2:], *shape) for o in out)  # type: ignore[return-value]


def _frame(forward: RecordedRun, m: StateDerivatives) -> tuple[Floats, Floats]:
    model = forward.model
    return model.vertices(m.x), model.vertices(m.v)


def _begin(forward: RecordedRun, d: ParameterDirection) -> StateDerivatives:
    states = [(v.weight, prepare(v.scene).state) for v in d.variants]
    x = np.asarray(sum(w * s.x for w, s in states))
    v = np.asarray(sum(w * s.v for w, s in states))
    return forward.inner.push_init(forward.model, State(x, v))


def _rebuild_potential(
    forward: RecordedRun, taken: StepPart, step: Step | None = None
) -> Potential:
    """Return the potential of a recorded step with its lagged data.

    ``step`` replaces the step of the record if it is given.
    """
    if step is None:
        phi = forward.inner.potential(forward.model, taken.state, taken.memory, taken.dt)
    else:
        phi = Potential(forward.model, step)
    for place in taken.lag_points:
        phi.update_lagged_terms(kernel.points(place))
    return phi


def _step(
    forward: RecordedRun,
    taken: StepPart,
    step: Step,
    hessian: Hessian,
    d: ParameterDirection,
    m: StateDerivatives,
    way: Floats | None,
) -> StateDerivatives:
    """Return the tangent at the end of a step.

    At free vertices dx' = -H^-1 dg, at prescribed ones dx' = dtarget. ``way`` is the change of the
    positions at which lagged data are evaluated; None: they are the end of the step.
    """
    fixed, target = step.fixed[:, None], _target_change(d, step)
    place = np.zeros_like(target) if way is None else way
    dg = _along(forward, taken, d, m, _small(taken, m, place=place), place)
    if np.abs(target).max(initial=0) > 0:
        dg += _product(forward, taken, target)
    if way is None:
        dg += _by_place(forward, taken, target)
        free = hessian.solve_lagged(-dg, lambda v: _by_place(forward, taken, v))
    else:
        free = -hessian.solve(dg)
    dx = np.where(fixed, target, free)
    place = dx if way is None else way
    after = forward.inner.push_forward(forward.model, taken, step, m, dx)
    size = _small(taken, m, dx, place)
    after.memory |= _memory_change(forward, taken, d, m, size, dx, place)
    return after


def _by_place(forward: RecordedRun, taken: StepPart, way: Floats) -> Floats:
    """Return (n,3) the change of g if the positions of lagged data move along ``way``."""
    size = float(np.abs(way).max())
    if size == 0:
        return np.zeros_like(way)
    (place,) = taken.lag_points

    def gradient(e: float) -> Floats:
        moved = dataclasses.replace(taken, lag_points=(place + e * way,))
        return sum_gradients(_rebuild_potential(forward, moved).terms_of_phi, taken.x)

    return slope_at_zero(gradient, TOUCHING / size)


def _small(
    taken: StepPart, m: StateDerivatives, end: Floats | None = None, place: Floats | None = None
) -> float:
    """Return the step of difference quotients along the tangent.

    With contact it is far smaller than the slip over which friction is elastic.
    """

    def largest(a: Floats | None) -> float:
        return 0.0 if a is None else float(np.abs(a).max(initial=0.0))

    kept, h = m.memory, taken.dt
    ways = (
        largest(m.x),
        h * largest(m.v),
        largest(kept.get("x")),
        h * largest(kept.get("v")),
        largest(end),
        largest(place),
    )
    touches = end is not None or STIFFNESS in taken.memory
    reach = TOUCHING if touches else SMALL * float(np.ptp(np.asarray(taken.x), axis=0).max())
    return min(reach / max(*ways, 1e-30), SLIPPED / max(largest(kept.get(SLIP)), 1e-30))


def _shift_step(taken: StepPart, m: StateDerivatives, e: float, place: Floats) -> StepPart:
    """Return the recorded step, begun at a state that is moved by e along the tangent."""
    s = taken.state
    state = State(s.x + e * m.x, s.v + e * m.v, s.t)
    memory = {k: a + e * m.memory[k] if k in m.memory else a for k, a in taken.memory.items()}
    anew = [a + e * place for a in taken.lag_points]
    return dataclasses.replace(taken, state=state, memory=memory, lag_points=anew)


def _along(
    forward: RecordedRun,
    taken: StepPart,
    d: ParameterDirection,
    m: StateDerivatives,
    e: float,
    place: Floats,
) -> Floats:
    """Return (n,3) dg by state and parameter at the same x."""
    x = kernel.points(taken.x)

    def gradient(part: float) -> Floats:
        shifted = _shift_step(taken, m, part, place)
        return sum_gradients(_rebuild_potential(forward, shifted).terms_of_phi, x)

    dg = slope_at_zero(gradient, e)
    base = _rebuild_potential(forward, taken)  # last: potentials share the terms of the model
    dg += d.forces(base, x, _last_lag(taken))[0]
    for v in d.variants:
        dg += v.weight * v.gradient(base.step, x, lambda term: _freeze(term, base.step, taken))
        if v.bodies:
            dg += v.weight * sum_gradients(_with_bodies(forward, taken, v).terms_of_phi, x)
    return dg


def _freeze(term: Term, step: Step, taken: StepPart) -> None:
    """Freeze a term of another model with the data of a recorded step."""
    term.freeze(step)
    for at in taken.lag_points:
        term.lag(kernel.points(at))


def _last_lag(taken: StepPart) -> Floats | None:
    """Return the positions (n,3) at which lagged data were evaluated last; None: at the start."""
    return np.asarray(taken.lag_points[-1]) if taken.lag_points else None


def _with_bodies(forward: RecordedRun, taken: StepPart, v: SceneVariant) -> Potential:
    """Return the potential of the step with the bodies of another scene."""
    base = forward.inner.potential(forward.model, taken.state, taken.memory, taken.dt)
    where = v.model.bodies(taken.state.t), v.model.bodies(base.step.t)
    return _rebuild_potential(forward, taken, dataclasses.replace(base.step, bodies=where))


def _target_change(d: ParameterDirection, step: Step) -> Floats:
    """Return (n,3) the change of the targets of prescribed vertices."""
    out = np.zeros_like(step.target)
    for v in d.variants:
        if v.pins:
            out += v.weight * v.model.prescribed_positions(step.t)[1]
    return np.where(step.fixed[:, None], out, 0.0)


def _product(forward: RecordedRun, taken: StepPart, target: Floats) -> Floats:
    """Return (n,3) the change of g as prescribed vertices move, by differences of gradients."""
    size = float(np.ptp(np.asarray(taken.x), axis=0).max()) / np.abs(target).max()
    base = _rebuild_potential(forward, taken).step

    def gradient(e: float) -> Floats:
        step = dataclasses.replace(base, target=base.target + e * target)
        phi = _rebuild_potential(forward, taken, step)
        return sum_gradients(phi.terms_of_phi, taken.x + e * target)

    return slope_at_zero(gradient, SMALL * size)


def _memory_change(
    forward: RecordedRun,
    taken: StepPart,
    d: ParameterDirection,
    m: StateDerivatives,
    e: float,
    dx: Floats,
    place: Floats,
) -> dict[str, Floats]:
    """Return the change of what terms remember, by state, end, lagged positions and parameter."""
    base, x = _rebuild_potential(forward, taken), kernel.points(taken.x)
    if not _collect_memory(base, taken.x):
        return {}
    parts = [(1.0, d.forces(base, x, _last_lag(taken))[1])]
    for k, weight in FOURTH_ORDER:
        phi = _rebuild_potential(forward, _shift_step(taken, m, k * e, place))
        parts.append((weight / e, _collect_memory(phi, taken.x + k * e * dx)))
    for v in d.variants:
        more: dict[str, Floats] = {}
        if v.terms:
            for term in v.terms.values():
                _freeze(term, base.step, taken)
            more = v.remember(x)
        if v.bodies and not more:
            more = _collect_memory(_with_bodies(forward, taken, v), taken.x)
        parts.append((v.weight, more))
    names = dict.fromkeys(name for _, kept in parts for name in kept)
    return {
        name: np.asarray(sum(weight * kept[name] for weight, kept in parts if name in kept))
        for name in names
    }


def _collect_memory(phi: Potential, x: Floats) -> dict[str, Floats]:
    point = kernel.points(x)
    terms = [term for term in differentiable(phi.terms_of_phi) if not term.remembers_jumps]
    return {k: np.asarray(v) for term in terms for k, v in term.remember(point).items()}
