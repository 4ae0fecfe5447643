"""What an integrator is: a predictor y and a scale s of the incremental potential, and the new
velocity.

The minimizer is shared. An integrator declares its order; ``tests/verification`` measures it.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from weft import kernel
from weft.arrays import Floats, Positions, Velocities
from weft.integrators.lagged import minimize_lagged
from weft.integrators.potential import Potential
from weft.kernel import vec3
from weft.laws.base import Psd
from weft.model import Model
from weft.settings import check_settings, documented, setting
from weft.solve.base import LinearSolver, Outcome
from weft.solve.choose import LINEAR_SOLVERS, linear_solver
from weft.solve.newton import NewtonResult, NewtonSettings
from weft.state import State

Memory = Mapping[
    str, Floats
]  # what a multi-step integrator keeps between steps, by name; saved with the state


@dataclass(frozen=True)
class StepReport:
    """How a step went."""

    dt: float  # [s]
    outcome: Outcome
    iterations: int  # Newton iterations: matrices assembled
    linear_iterations: int  # 0 with a direct solver
    line_search_trials: int
    increment: float  # [m/s] largest vertex displacement of the last Newton increment, over dt
    linear_solver: str
    terms: Mapping[str, float] = field(
        default_factory=dict
    )  # [J] of the potential at the new state
    seconds: float = 0.0  # wall time
    substeps: int = 1  # accepted, of an adaptive step
    rejected: int = 0  # sub-steps that were taken back
    indefinite: int = 0  # matrices that were not positive definite
    released: int = 0  # one-sided constraints that pulled
    rescues: int = 0  # linear solves that a direct solver had to finish
    divisible: bool = True  # a shorter step may do better, where this one failed
    contact: Mapping[str, Any] = field(default_factory=dict)  # see ``ContactSearch.report``
    phases: Mapping[str, float] = field(default_factory=dict)  # [s] by what it was spent on
    place: tuple[float, float, float] | None = None  # [m] where a blocked step found no room
    reached: Positions | None = field(default=None, repr=False)  # (n,3) where a failed search ended


class Stepper(Protocol):
    """What a simulation needs of an integrator."""

    @property
    def order(self) -> int:
        """Order of accuracy in the step."""

    def init(self, model: Model, state: State) -> Memory:
        """The memory of a simulation that starts at ``state``."""

    def step(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """One step of dt [s]; the given state and memory where the outcome is not CONVERGED."""


@documented
@dataclass(frozen=True)
class StepSettings:
    """How accurately a step is solved."""

    tolerance: float = setting(
        1e-2,
        "of the last Newton increment over the step, so that it means the same on every mesh",
        "m/s",
        above=0,
    )
    max_iterations: int = setting(100, "Newton iterations of a step", least=1)
    psd: Psd = setting(Psd.PROJECTED, "which Hessian; exact may fail under compression")
    linear: str = setting(
        "auto", "linear solver; auto takes the fastest one for the size", choices=LINEAR_SOLVERS
    )
    forcing: float = setting(
        0.5,
        "largest relative error of iterative linear solves in the energy norm; tightened as Newton "
        "converges",
        above=0,
        below=1,
    )

    def __post_init__(self) -> None:
        check_settings(self, "StepSettings")


@dataclass
class _Kept:
    """The linear solver and its symbolic work for a model. No result depends on what is kept."""

    solver: LinearSolver
    model: Model | None = None
    prepared: Any = None


class Integrator(ABC):
    """An implicit integrator in the form of an incremental potential."""

    order: ClassVar[int]

    def __init__(self, settings: StepSettings | None = None) -> None:
        self.settings = settings or StepSettings()
        self._kept = _Kept(linear_solver(self.settings.linear))

    @abstractmethod
    def init(self, model: Model, state: State) -> Memory:
        """The memory of a simulation that starts at ``state``."""

    @abstractmethod
    def predict(self, state: State, memory: Memory, dt: float) -> tuple[Positions, float]:
        """y (n,3) [m] and s [s^2] of a step of dt [s]."""

    @abstractmethod
    def finish(
        self, x: Positions, state: State, memory: Memory, dt: float
    ) -> tuple[Velocities, Memory]:
        """The velocity that belongs to the new positions x, and the next memory."""

    def rate(self, state: State, memory: Memory, dt: float) -> tuple[Positions, float]:
        """Origin (n,3) [m] and span [s] of the new velocity, (x - origin)/span: what damping is
        measured from.
        """
        return state.x, dt

    def potential(self, model: Model, state: State, memory: Memory, dt: float) -> Potential:
        """Phi of the step of dt [s] from ``state``.

        Valid until the next step or potential of this model.
        """
        y, scale = self.predict(state, memory, dt)
        fixed, target = model.prescribed(state.t + dt)
        origin, span = self.rate(state, memory, dt)
        model.assembly.freeze(kernel.array(origin, vec3), span)
        phi = Potential(model, y, scale, fixed, target, self.settings.psd, state.t + dt)
        phi.begin(state, dt, origin, span)
        return phi

    def step(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """One step of dt [s].

        On an outcome other than CONVERGED the state and memory returned are the given ones.
        """
        clock = time.perf_counter()
        phi = self.potential(model, state, memory, dt)
        result = self._minimize(model, phi, state, dt)
        if result is None:
            blocked = StepReport(
                dt, Outcome.BLOCKED, 0, 0, 0, 0.0, self._kept.solver.name,
                place=phi.tight,
            )  # fmt: skip
            return state, memory, blocked
        x = np.array(kernel.numpy(result.x))
        ok = result.outcome.ok
        spent = phi.phases.copy()
        report = StepReport(
            dt=dt,
            outcome=result.outcome,
            iterations=result.iterations,
            linear_iterations=result.linear_iterations,
            line_search_trials=result.line_search_trials,
            increment=result.increment / dt,
            linear_solver=self._kept.solver.name,
            terms=phi.terms(x) if ok else {},
            seconds=time.perf_counter() - clock,
            rescues=result.rescues,
            contact=phi.report(x, dt) if ok else {},
            phases=spent,
        )
        if not ok:
            return state, memory, report
        v, memory = self.finish(x, state, memory, dt)
        return State(x, v, state.t + dt), memory, report

    def _solver(self, model: Model, met: bool) -> LinearSolver:
        pattern, n = model.assembly.pattern, len(model.mass)
        return linear_solver(self.settings.linear, n, contact=met, pattern=pattern)

    def _minimize(
        self, model: Model, phi: Potential, state: State, dt: float
    ) -> NewtonResult | None:
        """Newton from where inertia alone would lead, as far as contact lets it; from x_n, if the
        energy is infinite there. None where pins are in the way of something.
        """
        start = phi.feasible(state.x)
        if start is None:
            return None
        if not np.isfinite(phi.value_at(kernel.array(start, vec3))):
            start = phi.pinned(state.x)
        s = self.settings
        if self._kept.model is not model:
            met = model.contact is not None
            self._kept = _Kept(self._solver(model, met), model)
        lags = 1 if model.contact is None else model.contact.settings.lags
        result = minimize_lagged(
            phi,
            start,
            self._kept.solver,
            NewtonSettings(s.tolerance * dt, s.max_iterations, s.forcing),
            self._kept.prepared,
            lags,
        )
        self._kept.prepared = result.prepared
        return result
