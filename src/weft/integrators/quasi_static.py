"""Quasi-static equilibrium: projected Newton on the energy itself, without inertia (Kim 2020,
section 5).

Every iteration solves (H + mu M) d = -g and searches along d. mu [1/s^2] is a safeguard of
Levenberg and Marquardt's kind: at its floor it only holds what nothing else holds (a rigid motion
that no pin stops); it grows where the line search has to shorten the step, which is where cloth
buckles, and falls again after full steps. It changes the path, never the equilibrium.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from weft import kernel
from weft.arrays import Positions
from weft.integrators.base import Memory, StepReport
from weft.integrators.potential import Potential
from weft.kernel import WarpArray, vec3
from weft.laws.base import Psd
from weft.model import Model
from weft.settings import check_settings, documented, setting
from weft.solve.base import LinearSolver, Outcome
from weft.solve.block_csr import BlockCsr
from weft.solve.choose import LINEAR_SOLVERS, linear_solver
from weft.solve.line_search import LineSearchSettings, backtrack
from weft.solve.updates import solve_updated
from weft.solve.vectors import combine, dot, max_norm
from weft.state import State

LEAST, FIRST, MOST = 1e-4, 1.0, 1e8  # [1/s^2] mu: floor, where it starts to grow, ceiling
GROW, SHRINK, SHORT = 4.0, 4.0, 0.5  # mu grows after steps shorter than SHORT
PATIENCE = 4  # full steps before the exact Hessian is tried; doubled each time it is indefinite
MOST_FORCING, LEAST_FORCING = 0.1, 1e-3  # of iterative linear solves (Eisenstat & Walker 1996)


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

    def __post_init__(self) -> None:
        check_settings(self, "QuasiStaticSettings")


@dataclass(frozen=True)
class Iterate:
    """One Newton iteration, for plots and progress."""

    energy: float  # [J] before it
    force: float  # largest one on a free vertex, over the largest one of a pin or load
    increment: float  # [m] largest vertex displacement of the step taken
    step: float  # of the line search, (0, 1]
    mu: float  # [1/s^2]
    linear_iterations: int


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """What was found, and how."""

    x: Positions  # (n,3) [m]
    outcome: Outcome  # CONVERGED only where both force and increment are below their tolerances
    history: list[Iterate] = field(default_factory=list)


Watch = Callable[[Iterate, Positions], None]  # an iteration, and the positions after it


class QuasiStatic:
    """Steps through equilibria: each is that of the pins at its time."""

    order = 0

    def __init__(
        self, settings: QuasiStaticSettings | None = None, watch: Watch | None = None
    ) -> None:
        self.settings, self.watch = settings or QuasiStaticSettings(), watch
        self._solver: LinearSolver | None = None
        self._model: Model | None = None
        self._prepared: Any = None

    def init(self, model: Model, state: State) -> Memory:
        """Whether the imperfection has been put in."""
        return {"perturbed": np.array(0.0)}

    def step(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """The equilibrium with the pins of time t + dt, in ``load_steps`` parts; at rest.

        On an outcome other than CONVERGED the state and memory returned are the given ones.
        """
        clock = time.perf_counter()
        moves = self._moves(model, state.t, dt)
        x, history = state.x, list[Iterate]()
        outcome = Outcome.CONVERGED
        for part in range(self.settings.load_steps):
            if moves or not float(memory["perturbed"]):
                x = self.perturbed(model, x)  # else what buckles now stays on its flat branch
            found = self.solve(model, x, state.t + dt * (part + 1) / self.settings.load_steps)
            x, outcome = found.x, found.outcome
            history += found.history
            if not outcome.ok:
                break
        report = StepReport(
            dt=dt,
            outcome=outcome,
            iterations=len(history),
            linear_iterations=sum(i.linear_iterations for i in history),
            line_search_trials=len(history),
            increment=history[-1].increment / dt if history else 0.0,
            linear_solver=self._solver.name if self._solver else "",
            terms=model.assembly.terms(kernel.array(x, vec3)) if outcome.ok else {},
            seconds=time.perf_counter() - clock,
            divisible=moves,
            reached=None if outcome.ok else x,
        )
        if not outcome.ok:
            return state, memory, report
        return State(x, np.zeros_like(x), state.t + dt), {"perturbed": np.array(1.0)}, report

    @staticmethod
    def _moves(model: Model, t: float, dt: float) -> bool:
        """Whether pins move in this step, so that parts of it are easier than the whole."""
        (_, before), (_, after) = model.prescribed(t), model.prescribed(t + dt)
        return bool(np.abs(after - before).max(initial=0.0) > 0)

    def perturbed(self, model: Model, x: Positions) -> Positions:
        """(n,3) with random bumps, the same for the same seed."""
        s, n = self.settings, len(x)
        pairs = next((e.stencil[:, :2] for e in model.energies if e.stencil.shape[1] > 1), None)
        if s.imperfection == 0 or pairs is None:
            return np.array(x)
        edge = float(np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1).mean())
        bumps = np.random.default_rng(s.seed).uniform(-1, 1, (n, 3))
        return np.asarray(x + s.imperfection * edge * bumps)

    def solve(
        self, model: Model, x: Positions, t: float = 0.0, watch: Watch | None = None
    ) -> Equilibrium:
        """The equilibrium near x (n,3) with the pins of time t [s].

        Args:
            model: energies and pins; step terms are left out.
            x: start.
            t: [s].
            watch: called after every iteration, besides the one given at the start.
        """
        if self._model is not model:
            self._model, self._prepared = model, None
            self._solver = linear_solver(
                self.settings.linear, len(model.mass), pattern=model.assembly.pattern
            )
        search = _Search(self, model, x, t)
        for iterate in search.run():
            search.history.append(iterate)
            for look in (watch, self.watch):
                if look is not None:
                    look(iterate, np.array(kernel.numpy(search.x)))
        self._prepared = search.prepared
        return Equilibrium(np.array(kernel.numpy(search.x)), search.outcome, search.history)


class _Search:
    """One equilibrium: the iterate and the safeguard."""

    def __init__(self, owner: QuasiStatic, model: Model, x: Positions, t: float) -> None:
        assert owner._solver is not None
        self.settings, self.solver, self.prepared = owner.settings, owner._solver, owner._prepared
        self.model = model
        self.fixed, self.target = model.prescribed(t)
        phi = Potential(model, x, None, self.fixed, self.target, self.settings.psd, t)
        self.t, self.contact = t, phi.search
        self.x = kernel.array(phi.pinned(x), vec3)
        n = len(model.mass)
        self.g, self.trial = kernel.empty(n, vec3), kernel.empty(n, vec3)
        self.mu, self.forcing, self.before = LEAST, MOST_FORCING, 0.0
        # Weights cancel in the sum where the cloth hangs about the origin; their round-off stays.
        weights = float(np.sum(model.mass * np.linalg.norm(x, axis=1)))
        noise = 64 * np.finfo(np.float64).eps * 9.81 * weights
        self.search = LineSearchSettings(noise=noise)
        self.full, self.patience = 0, PATIENCE  # full steps in a row, and how many EXACT waits for
        self.history: list[Iterate] = []
        self.outcome = Outcome.MAX_ITERATIONS

    def run(self) -> Iterator[Iterate]:
        """Iterations until the outcome is known."""
        last = float("inf")
        for _ in range(self.settings.max_iterations):
            phi = Potential(
                self.model, kernel.numpy(self.x).copy(), 1 / self.mu, self.fixed, self.target,
                self.settings.psd, self.t, search=self.contact,
            )  # fmt: skip
            value = phi.value_at(self.x)
            phi.gradient_at(self.x, self.g)
            force = max_norm(self.g) / self._scale(phi)
            if not (np.isfinite(value) and np.isfinite(force)):
                self.outcome = Outcome.NOT_FINITE
                return
            if force <= self.settings.force_tolerance and last <= self.settings.tolerance:
                self.outcome = Outcome.CONVERGED
                return
            d, linear = self._direction(phi)
            if d is None and self.outcome is Outcome.INDEFINITE and self.mu < MOST:
                # Projected, so it is singular to round-off: something that nothing holds.
                self.mu, self.outcome = max(GROW * self.mu, FIRST), Outcome.MAX_ITERATIONS
                continue
            if d is None:
                return
            slope = dot(self.g, d)
            if not slope < 0.0:
                self.outcome = Outcome.NOT_DESCENT
                return
            found = backtrack(
                partial(self._value, phi, d), value, slope, phi.limit_at(self.x, d), self.search
            )
            if found.step == 0.0 and self.full >= self.patience:
                self.full, self.patience = 0, 2 * self.patience
                continue  # the exact Hessian led nowhere: on with the projected one
            if found.step == 0.0:
                at_rest = force <= self.settings.force_tolerance
                if not at_rest and self.mu < MOST:
                    self.mu = max(GROW * self.mu, FIRST)  # a kink in the forces: look closer
                    continue
                self.outcome = Outcome.CONVERGED if at_rest else Outcome.STALLED
                return
            combine(self.x, found.step, d, self.x)
            # A step that the safeguard shortened says nothing about the distance that is left.
            last = max_norm(d) if self.mu == LEAST else float("inf")
            yield Iterate(value, force, found.step * max_norm(d), found.step, self.mu, linear)
            self._adapt(found.step, -slope)

    def _direction(self, phi: Potential) -> tuple[WarpArray | None, int]:
        """-(H + mu M)^-1 g, with the exact H where that may be positive definite."""
        iterations = 0
        exact = self.settings.try_exact and self.settings.psd == Psd.PROJECTED
        if exact and self.full >= self.patience:
            d, outcome, iterations = self._solve(phi, phi.matrix_with(self.x, Psd.EXACT))
            if outcome.ok and dot(self.g, d) < 0.0:
                return d, iterations
            self.full, self.patience = 0, 2 * self.patience
        d, outcome, more = self._solve(phi, phi.matrix_at(self.x))
        if outcome.ok:
            return d, iterations + more
        self.outcome = outcome
        return None, iterations + more

    def _solve(self, phi: Potential, A: BlockCsr) -> tuple[WarpArray, Outcome, int]:
        """-A^-1 g, how that went, and the iterations."""
        prepared = self.solver.prepare(A, self.prepared)
        self.prepared = prepared
        solution = solve_updated(prepared, self.g, self.forcing, phi.updates_at(self.x))
        d = solution.x
        combine(d, -2.0, d, d)
        return d, solution.outcome, solution.iterations

    def _adapt(self, step: float, decrement: float) -> None:
        """The next mu, and the next forcing term from how fast g.A^-1 g falls."""
        self.full = self.full + 1 if step == 1.0 else 0
        if step < SHORT:
            self.mu = min(max(GROW * self.mu, FIRST), MOST)
        elif step == 1.0:
            smaller = self.mu / SHRINK
            self.mu = smaller if smaller >= FIRST else LEAST
        if self.before > 0:
            ratio = decrement / self.before  # of squared energy norms
            self.forcing = float(np.clip(0.5 * ratio, LEAST_FORCING, MOST_FORCING))
        self.before = decrement

    def _value(self, phi: Potential, d: WarpArray, a: float) -> float:
        combine(self.x, a, d, self.trial)
        value = phi.value_at(self.trial)
        return value if value == value else float("inf")

    def _scale(self, phi: Potential) -> float:
        """[N] largest force of a pin, or weight of a vertex."""
        pins = np.linalg.norm(phi.reaction(kernel.numpy(self.x)), axis=1).max(initial=0.0)
        return max(float(pins), 9.81 * float(self.model.mass.max()), 1e-300)
