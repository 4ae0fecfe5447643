"""Quasi-static equilibrium: the potential without inertia (Kim 2020, section 5), minimized by
Newton directions with a safeguard (``solve.newton.descent.Shifted``).

Nothing is damped in an equilibrium, and nothing rubs unless ``friction`` says so. Pins and bodies
come from where the one before left them: what is in their way is carried along, or stops the step.

Wind and friction have no potential: ``lagged_loads``. With friction the equilibria of a scene are a
path: each load step's friction opposes what slides from the equilibrium before it to its own.
"""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from weft import kernel
from weft.base.arrays import Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.energies.state import State
from weft.integrators.base import (
    AnyMemory,
    Memory,
    Solver,
    StepLength,
    StepPart,
    StepReport,
    checked_end,
)
from weft.integrators.lagged_loads import Limits, balance_lagged_loads
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.kernel import WarpArray, vec3
from weft.solve.linear.select import LINEAR_SOLVERS
from weft.solve.linear.solver import Outcome
from weft.solve.newton.descent import Shifted
from weft.solve.newton.line_search import LineSearchSettings
from weft.solve.newton.minimize import Counts, Iterate, Minimum, minimize
from weft.solve.newton.psd import Psd
from weft.solve.sparse.vectors import largest_part, max_norm

FARTHEST = 1e3  # of an iteration, over the size of all that is there: nothing holds what moves so
ROUND_OFF = 64 * float(np.finfo(np.float64).eps)  # of positions and energies, relative


@checked(SceneError, "QuasiStaticSettings")
@documented
@dataclass(frozen=True)
class QuasiStaticSettings:
    """When an equilibrium is one, and how it is looked for."""

    tolerance: float = setting(
        1e-4, "largest vertex displacement of the last Newton increment", "m", above=0
    )
    force_tolerance: float = setting(
        1e-3, "largest force on a free vertex over the largest one of a pin or a load", above=0
    )
    max_iterations: int = setting(400, "Newton iterations of a load step", least=1)
    psd: Psd = setting(Psd.PROJECTED, "which Hessian; exact may fail under compression")
    linear: str = setting(
        "auto", "linear solver; auto takes the fastest one for the size", choices=LINEAR_SOLVERS
    )
    load_steps: int = setting(1, "parts in which the pins' motion of a step is taken", least=1)
    imperfection: float = setting(
        1e-3,
        "largest displacement, over the mean edge, of random bumps at every load, so that a flat "
        "sheet may buckle; 0: none",
        least=0,
    )
    seed: int = setting(0, "of the bumps", least=0)
    try_exact: bool = setting(
        True,
        "with projected, try the exact Hessian after some full steps: where it is positive "
        "definite, the end goes faster",
    )
    friction: bool = setting(
        False, "contact rubs: the load steps are a path, and what slides on it is opposed"
    )
    slip: float = setting(
        1e-4,
        "with friction, elastic slip over which it grows from 0 before it slides",
        "m",
        above=0,
    )
    lags: int = setting(
        40,
        "with friction, problems of a load step at most, until normal forces are the equilibrium's",
        least=1,
    )


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """What was found, and how."""

    x: Positions  # (n,3) [m]
    counts: Counts  # CONVERGED only where both force and increment are below their tolerances
    phi: Potential
    history: list[Iterate] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        """How the search ended."""
        return self.counts.outcome


Watch = Callable[[Iterate, Positions], None]  # an iteration, and the positions after it


@checked(SceneError, "stepper", unchecked=("init",))
class QuasiStatic:
    """Steps through equilibria: each is that of the pins and bodies at its time."""

    order = 0

    def __init__(
        self, settings: QuasiStaticSettings | None = None, watch: Watch | None = None
    ) -> None:
        self.settings, self.watch = settings or QuasiStaticSettings(), watch
        self._solver = Solver(self.settings.linear)

    def init(self, model: Model, state: State) -> Memory:
        """Whether the imperfection has been put in; terms add what they remember."""
        return {"perturbed": np.array(0.0)}

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
    ) -> tuple[State, Memory, StepReport]:
        """The equilibrium with pins and bodies of time t + dt, in ``load_steps`` parts; at rest.

        On an outcome other than CONVERGED the state and memory returned are the given ones.
        """
        clock, parts = time.perf_counter(), self.settings.load_steps
        moves, now, counts = self._moves(model, state.t, dt), state, Counts(Outcome.CONVERGED)
        kept = dict(memory)
        gone: list[StepPart] = []
        for part in range(parts):
            # Without bumps, what buckles now would stay on its flat branch.
            bumps = moves or not float(memory.get("perturbed", 0.0))
            end = state.t + dt * (part + 1) / parts
            found = self._equilibrium(model, now, end - now.t, bumps, kept=kept)
            gone.append(StepPart(now, dict(kept), end - now.t, found.x))
            counts = checked_end(found.phi, found.x, found.counts.after(counts))
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
        """Whether pins or bodies move, or numbers change, so that parts of the step are easier than
        the whole.
        """
        if model.changing is not None:
            return True
        (_, before), (_, after) = model.prescribed(t), model.prescribed(t + dt)
        still = np.array_equal(model.bodies(t), model.bodies(t + dt))
        return bool(np.abs(after - before).max(initial=0.0) > 0) or not still

    def perturbed(self, model: Model, x: Positions) -> Positions:
        """(n,3) x with random bumps, the same for the same seed."""
        return np.asarray(x + self._bumps(model, x))

    def _bumps(self, model: Model, x: Positions) -> Positions:
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
        kept: Memory | None = None,
    ) -> Equilibrium:
        """The equilibrium near x (n,3) with the pins and bodies of time t [s].

        Args:
            model: energies and pins; their damping counts for nothing.
            x: start, where pins and bodies are taken to from.
            t: [s].
            watch: called after every iteration, besides the one given at the start.
            kept: what terms remember, by name (creases); None: nothing.
        """
        x = np.asarray(x, dtype=np.float64)
        return self._equilibrium(model, State(x, np.zeros_like(x), t), 0.0, False, watch, kept)

    def _equilibrium(
        self,
        model: Model,
        state: State,
        dt: float,
        bumps: bool,
        watch: Watch | None = None,
        kept: Memory | None = None,
    ) -> Equilibrium:
        s, solver = self.settings, self._solver.on(model)
        slip = s.slip if s.friction else None
        step = dataclasses.replace(model.step(state, dt), slip=slip, kept=kept or {})
        phi = Potential(model, step, s.psd)
        history: list[Iterate] = []
        begin = phi.first_start()
        if begin is None:
            return Equilibrium(state.x, Counts(Outcome.BLOCKED), phi, history)
        start, _ = begin
        x0 = kernel.points(start)
        if bumps:
            x0 = self._perturbed(phi, x0, self._bumps(model, start))

        def look(iterate: Iterate, x: WarpArray) -> None:
            history.append(iterate)
            for each in (watch, self.watch):
                if each is not None:
                    each(iterate, np.array(kernel.numpy(x)))

        forces = _Forces(phi, x0, s.force_tolerance)
        # The origin counts: a single point on a spring has no extent.
        size = float(np.ptp(np.concatenate([start, *step.bodies, [[0.0] * 3]]), axis=0).max())
        descent = Shifted(
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
            return minimize(phi, x, solver, descent, search, prepared, look)

        limits = Limits(s.tolerance, s.force_tolerance, forces.scale, s.max_iterations, s.lags)
        found = balance_lagged_loads(phi, x0, solve, limits)
        self._solver.prepared = found.prepared
        return Equilibrium(np.array(kernel.numpy(found.x)), found.counts, phi, history)

    @staticmethod
    def _perturbed(phi: Potential, x: WarpArray, bumps: Positions) -> WarpArray:
        """x (n,) with bumps (n,3) of free vertices, as far as nothing meets by them."""
        d = np.where(phi.free[:, None], bumps, 0.0)
        part = phi.limit_at(x, kernel.points(d))
        return kernel.points(kernel.numpy(x) + part * d)


class _Forces:
    """What the forces of an equilibrium are compared with.

    Without a load, forces of pins and elastic forces all go to zero in an unstressed state. There
    a force counts as zero below its round-off: positions are known to ``ROUND_OFF`` of the largest
    coordinate, and the stiffest vertex feels that as a force.
    """

    def __init__(self, phi: Potential, x: WarpArray, tolerance: float) -> None:
        self.phi, self._scratch = phi, kernel.empty(x.shape[0], vec3)
        phi.loads_at(x, self._scratch)
        self.load = max_norm(self._scratch)
        # Loads cancel in the energy where the cloth hangs about the origin; their round-off stays.
        sizes = [np.linalg.norm(kernel.numpy(a), axis=1) for a in (self._scratch, x)]
        self.noise = ROUND_OFF * float(np.sum(sizes[0] * sizes[1]))
        if self.load == 0.0 and phi.reaction_at(x, self._scratch) == 0.0:  # what there is at first
            phi.gradient_at(x, self._scratch)
            self.load = max_norm(self._scratch)
        stiffest = float(np.abs(kernel.numpy(phi.matrix_at(x).values)).max())
        self.least = max(ROUND_OFF * largest_part(x) * stiffest / tolerance, 1e-300)

    def scale(self, x: WarpArray) -> float:
        """[N] largest force of a pin, or weight or pressure on a vertex."""
        return max(self.phi.reaction_at(x, self._scratch), self.load, self.least)
