"""Quasi-static equilibrium: the potential without inertia (Kim 2020, section 5).

It is minimized along Newton directions with a safeguard (``solve.newton.shifted.Shifted``).

An equilibrium has no damping, and no friction unless ``friction`` is set. Pins and bodies start
where the equilibrium before left them; cloth in their way is carried along, or stops the step.

Wind and friction have no potential; see ``lagged_loads``. With friction the equilibria of a scene
form a path: the friction of each load step opposes the sliding from the equilibrium before it.
"""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.energies.state import State, StateDerivatives
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.integrators.base import (
    AnyMemory,
    Memory,
    StepLength,
    StepPart,
    StepReport,
    check_intersections,
)
from weft.integrators.lagged_loads import Limits, balance_lagged_loads
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.reversible import Reversible
from weft.integrators.step_solver import Solver
from weft.kernel import WarpArray, vec3
from weft.solve.linear.select import LINEAR_SOLVERS
from weft.solve.linear.solver import Outcome
from weft.solve.newton.line_search import LineSearchSettings
from weft.solve.newton.minimize import Counts, Iterate, Minimum, minimize
from weft.solve.newton.psd import Psd
from weft.solve.newton.shifted import Shifted
from weft.solve.sparse.vectors import largest_part, max_norm

# Displacement in one iteration over the size of the scene, above which the search ends as UNHELD:
# nothing holds a part that moves so far.
FARTHEST = 1e3
ROUND_OFF = 64 * float(np.finfo(np.float64).eps)  # relative error of positions and energies


@checked(SceneError, "QuasiStaticSettings")
@documented
@dataclass(frozen=True)
class QuasiStaticSettings:
    """Accuracy of an equilibrium, and how the search for it proceeds."""

    tolerance: float = setting(
        1e-4, "largest vertex displacement of the last Newton increment", "m", above=0
    )
    force_tolerance: float = setting(
        1e-3,
        "largest force on a free vertex, divided by the largest force of a pin or load",
        above=0,
    )
    max_iterations: int = setting(
        1000, "largest number of Newton iterations of a load step", least=1
    )
    psd: Psd = setting(Psd.PROJECTED, "Hessian; exact may fail under compression")
    linear: str = setting(
        "auto", "linear solver; auto: the fastest solver for the size", choices=LINEAR_SOLVERS
    )
    load_steps: int = setting(
        1, "number of parts into which the pins' motion of a step is divided", least=1
    )
    imperfection: float = setting(
        1e-3,
        "random bumps at every load step, so that a flat sheet can buckle: largest displacement "
        "divided by the mean edge; 0: no bumps",
        least=0,
    )
    seed: int = setting(0, "seed of the bumps", least=0)
    try_exact: bool = setting(
        True,
        "with psd projected: try the exact Hessian after some full steps, because the end "
        "converges faster where it is positive definite",
    )
    friction: bool = setting(False, "true: contact has friction along the path of the load steps")
    slip: float = setting(
        1e-4,
        "with friction: elastic slip over which friction grows from 0 before the cloth slides",
        "m",
        above=0,
    )
    lags: int = setting(
        40,
        "with friction: largest number of problems per load step until the normal forces agree "
        "with the equilibrium",
        least=1,
    )


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Result of the search for an equilibrium."""

    x: Positions  # (n,3) [m]
    counts: Counts  # CONVERGED only where both force and increment are below their tolerances
    phi: Potential
    history: list[Iterate] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        """Outcome of the search."""
        return self.counts.outcome


Watch = Callable[[Iterate, Positions], None]  # receives an iteration and the positions after it


@checked(
    SceneError,
    "stepper",
    unchecked=(
        "init",
        "potential",
        "pull_back",
        "pull_back_init",
        "push_init",
        "push_forward",
    ),
)
class QuasiStatic(Reversible):
    """A stepper through equilibria, each with the pins and bodies at the end of its step."""

    settings: QuasiStaticSettings
    order = 0

    def __init__(
        self, settings: QuasiStaticSettings | None = None, watch: Watch | None = None
    ) -> None:
        self.settings, self.watch = settings or QuasiStaticSettings(), watch
        self._solver = Solver(self.settings.linear, exact=True)

    def init(self, model: Model, state: State) -> Memory:
        """Return a memory that says that the imperfection has not been applied yet.

        Terms of the potential add what they remember.
        """
        return {"perturbed": np.array(0.0)}

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
    ) -> tuple[State, Memory, StepReport]:
        """Find the equilibrium with pins and bodies of time t + dt, in ``load_steps`` parts.

        The state returned is at rest. If the outcome is not CONVERGED, the state and memory
        returned are the given ones.
        """
        clock, parts = time.perf_counter(), self.settings.load_steps
        moves, now, counts = self._moves(model, state.t, dt), state, Counts(Outcome.CONVERGED)
        kept = dict(memory)
        gone: list[StepPart] = []
        for part in range(parts):
            # Without bumps, cloth that buckles at this load would stay on the flat branch.
            bumps = moves or not float(memory.get("perturbed", 0.0))
            end = state.t + dt * (part + 1) / parts
            found = self._equilibrium(model, now, end - now.t, bumps, memory=kept)
            gone.append(StepPart(now, dict(kept), end - now.t, found.x))
            counts = check_intersections(found.phi, found.x, found.counts.after(counts))
            if not counts.outcome.ok:
                break
            now = State(found.x, np.zeros_like(found.x), end)
            kept.update(found.phi.remember(found.x))
        increment = found.history[-1].increment / dt if found.history else 0.0
        reached = None if counts.outcome.ok else found.x
        report = StepReport.of(
            found.phi,
            found.x,
            counts,
            clock,
            increment=increment,
            divisible=moves and counts.outcome is not Outcome.UNHELD,
            linear_solver=self._solver.linear.name,
            reached=reached,
            parts=tuple(gone),
        )
        if not report.outcome.ok:
            return state, memory, report
        return State(now.x, now.v, state.t + dt), {**kept, "perturbed": np.array(1.0)}, report

    @staticmethod
    def _moves(model: Model, t: float, dt: float) -> bool:
        """Return whether pins or bodies move, or constants change, in the step.

        Parts of such a step are easier to solve than the whole.
        """
        if model.changing is not None:
            return True
        (_, before), (_, after) = model.prescribed_positions(t), model.prescribed_positions(t + dt)
        still = np.array_equal(model.bodies(t), model.bodies(t + dt))
        return bool(np.abs(after - before).max(initial=0.0) > 0) or not still

    def perturb(self, model: Model, x: Positions) -> Positions:
        """Return x (n,3) [m] with random bumps; equal seeds give equal bumps."""
        return x + self._bumps(model, x)

    def _bumps(self, model: Model, x: Positions) -> Positions:
        """Return random displacements (n,3) [m], up to ``imperfection`` times the mean edge."""
        s, n = self.settings, len(x)
        pairs = next((e.stencil[:, :2] for e in model.energies if e.stencil.shape[1] > 1), None)
        if s.imperfection == 0 or pairs is None:
            return np.zeros((n, 3))
        edge = float(np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1).mean())
        return s.imperfection * edge * np.random.default_rng(s.seed).uniform(-1, 1, (n, 3))

    def solve(
        self,
        model: Model,
        x: Positions,
        t: float = 0.0,
        watch: Watch | None = None,
        memory: Memory | None = None,
    ) -> Equilibrium:
        """Find the equilibrium near x with the pins and bodies of time t.

        Args:
            model: energies and pins; damping is ignored.
            x: (n,3) [m] start, from which pins and bodies are moved to their places.
            t: [s].
            watch: called after every iteration, besides the function given to the constructor.
            memory: what terms remember (creases), by name; None: nothing.
        """
        x = np.asarray(x, dtype=np.float64)
        return self._equilibrium(model, State(x, np.zeros_like(x), t), 0.0, False, watch, memory)

    def _equilibrium(
        self,
        model: Model,
        state: State,
        dt: float,
        bumps: bool,
        watch: Watch | None = None,
        memory: Memory | None = None,
    ) -> Equilibrium:
        """Minimize the potential of one load step, from a start with bumps if ``bumps`` is set."""
        s, solver = self.settings, self._solver.on(model)
        phi = self.potential(model, state, memory or {}, dt)
        step = phi.step
        history: list[Iterate] = []
        begin = phi.first_start()
        if begin is None:
            return Equilibrium(state.x, Counts(phi.refusal), phi, history)
        start, _ = begin
        x0 = kernel.points(start)
        if bumps:
            x0 = self._add_bumps(phi, x0, self._bumps(model, start))

        def look(iterate: Iterate, x: WarpArray) -> None:
            history.append(iterate)
            for each in (watch, self.watch):
                if each is not None:
                    each(iterate, np.array(kernel.numpy(x)))

        forces = _Forces(phi, x0, s.force_tolerance)
        # The origin is included because a single point on a spring has no extent.
        size = float(np.ptp(np.concatenate([start, *step.bodies, [[0.0] * 3]]), axis=0).max())
        newton = Shifted(
            s.tolerance,
            s.force_tolerance,
            forces.scale,
            phi.mass,
            s.max_iterations,
            try_exact=s.try_exact and s.psd == Psd.PROJECTED,
            meets=model.contact is not None,
            farthest=FARTHEST * size if size > 0 else np.inf,
        )
        search = LineSearchSettings(noise=forces.noise)

        def solve(x: WarpArray, last: Minimum | None) -> Minimum:
            prepared = self._solver.prepared if last is None else last.prepared
            return minimize(phi, x, solver, newton, search, prepared, look)

        limits = Limits(s.tolerance, s.force_tolerance, forces.scale, s.max_iterations, s.lags)
        found = balance_lagged_loads(phi, x0, solve, limits)
        self._solver.prepared = found.prepared
        return Equilibrium(np.array(kernel.numpy(found.x)), found.counts, phi, history)

    def potential(self, model: Model, state: State, memory: Memory, dt: float) -> Potential:
        """Return the potential of a load step that ends dt [s] after ``state``."""
        slip = self.settings.slip if self.settings.friction else None
        step = dataclasses.replace(model.step(state, dt), slip=slip, memory=memory)
        return Potential(model, step, self.settings.psd)

    @property
    def has_history(self) -> bool:
        """True with friction: without it, an equilibrium does not depend on the one before."""
        return self.settings.friction

    def pull_back(
        self, part: StepPart, by: StepCotangents, after: StateDerivatives
    ) -> StateDerivatives:
        """Return derivatives by the equilibrium before, which friction and loads know."""
        return StateDerivatives(np.array(by.state_x), np.array(by.state_v), dict(by.memory))

    def pull_back_init(self, start: StateDerivatives) -> StateDerivatives:
        """Return derivatives by the first state: it has no memory that depends on it."""
        return start

    def push_init(self, model: Model, start: State) -> StateDerivatives:
        """Return how the first state changes."""
        return StateDerivatives(start.x, start.v)

    def push_forward(
        self, model: Model, part: StepPart, step: Step, before: StateDerivatives, x: Floats
    ) -> StateDerivatives:
        """Return how the equilibrium changes, which is at rest."""
        return StateDerivatives(x, np.zeros_like(x))

    @staticmethod
    def _add_bumps(phi: Potential, x: WarpArray, bumps: Positions) -> WarpArray:
        """Return x (n,) with the bumps (n,3) of free vertices, scaled so that nothing collides."""
        d = np.where(phi.free[:, None], bumps, 0.0)
        part = phi.max_step_at(x, kernel.points(d))
        return kernel.points(kernel.numpy(x) + part * d)


class _Forces:
    """The force that the forces of an equilibrium are compared with.

    Without a load, forces of pins and elastic forces all go to zero in an unstressed state. There a
    force counts as zero below its round-off error: positions are known to ``ROUND_OFF`` times the
    largest coordinate, and at the stiffest vertex that error becomes a force.
    """

    def __init__(self, phi: Potential, x: WarpArray, tolerance: float) -> None:
        self.phi, self._scratch = phi, kernel.empty(x.shape[0], vec3)
        phi.load_gradient_into(x, self._scratch)
        self.load = max_norm(self._scratch)
        # The energies of loads cancel if the cloth hangs around the origin, but their round-off
        # errors do not.
        sizes = [np.linalg.norm(kernel.numpy(a), axis=1) for a in (self._scratch, x)]
        self.noise = ROUND_OFF * float(np.sum(sizes[0] * sizes[1]))
        # Without loads and pin forces, the forces at the start are the scale.
        if self.load == 0.0 and phi.largest_pin_force(x, self._scratch) == 0.0:
            phi.gradient_at(x, self._scratch)
            self.load = max_norm(self._scratch)
        stiffest = float(np.abs(kernel.numpy(phi.matrix_at(x).values)).max())
        self.least = max(ROUND_OFF * largest_part(x) * stiffest / tolerance, 1e-300)

    def scale(self, x: WarpArray) -> float:
        """Return the largest force [N] at x: of a pin, or of weight or pressure on a vertex."""
        return max(self.phi.largest_pin_force(x, self._scratch), self.load, self.least)
