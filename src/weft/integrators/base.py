"""What an integrator is: a predictor y and a scale s of the incremental potential, and the new
velocity.

    Step -> Potential -> minimize -> StepReport

The minimizer is shared. An integrator declares its order; ``tests/verification`` measures it.
"""

import dataclasses
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from weft import kernel
from weft.arrays import Floats, Positions
from weft.integrators.lagged import minimize_lagged
from weft.integrators.potential import Potential
from weft.model import Model
from weft.psd import Psd
from weft.settings import check_settings, documented, setting
from weft.solve.base import LinearSolver, Outcome, Stop
from weft.solve.block_csr import BlockCsr
from weft.solve.choose import LINEAR_SOLVERS, linear_solver
from weft.solve.descent import Newton
from weft.solve.minimize import Counts, Minimum
from weft.state import State
from weft.step import Step

# Of interactive steps: nearer to solved steps of 2.5 ms than solved ones of 20 ms are, in half the
# time (`weft reproduce effort`).
INTERACTIVE, INTERACTIVE_STEP = 8, 1e-2  # iterations, [s]
LEAST_ENOUGH, MOST_ENOUGH = 0.1, 0.2  # [m/s] increments after which such a step ends: as the root
PART_OF_SPEED = 0.15  # mean square speed of cloth is, whose slow swings would halt at larger ones
MOST_LEFT = 0.02  # [m/s] of an increment, root mean square: where contact holds up more, it goes on
EARLY_FORCING = 0.1  # of searches that may end early: what a linear solve leaves stays, as drag

Memory = Mapping[
    str, Floats
]  # what a multi-step integrator keeps between steps, by name; saved with the state


@dataclass(frozen=True, eq=False)
class Part:
    """What of a step was minimized: a step of time is one part, an equilibrium ``load_steps``."""

    state: State  # where it began
    memory: Memory
    dt: float  # [s]
    x: Positions  # (n,3) [m] where it ended
    anew: Sequence[Positions] = ()  # (n,3) each, where friction and wind were taken anew


@dataclass(frozen=True)
class StepReport(Counts):
    """How a step went."""

    dt: float = 0.0  # [s]
    increment: float = 0.0  # [m/s] largest vertex displacement of the last Newton increment over dt
    linear_solver: str = ""
    terms: Mapping[str, float] = field(
        default_factory=dict
    )  # [J] of the potential at the new state
    seconds: float = 0.0  # wall time
    substeps: int = 1  # accepted, of an adaptive step
    rejected: int = 0  # sub-steps that were taken back
    indefinite: int = 0  # matrices that were not positive definite
    released: int = 0  # one-sided constraints that pulled
    unsettled: float = 0.0  # of a stopped search: part of the vertices above the tolerance
    gain: float = 0.0  # [J] of a stopped search: energy that was still to be gained
    divisible: bool = True  # a shorter step may do better, where this one failed
    contact: Mapping[str, Any] = field(default_factory=dict)  # see ``ContactTerm.report``
    attachments: Mapping[str, Any] = field(default_factory=dict)  # by name: see ``Ties``
    phases: Mapping[str, float] = field(default_factory=dict)  # [s] by what it was spent on
    place: tuple[float, float, float] | None = None  # [m] where a blocked step found no room
    reached: Positions | None = field(default=None, repr=False)  # (n,3) where a failed search ended
    parts: Sequence[Part] = field(default=(), repr=False)

    @staticmethod
    def of(
        phi: Potential, x: Positions | None, counts: Counts, clock: float, **more: Any
    ) -> "StepReport":
        """Of a step that ended at x (n,3), or failed.

        Args:
            phi: the step's potential.
            x: where it ended; None: nowhere, something was in the way.
            counts: what it took.
            clock: ``time.perf_counter()`` when it began.
            more: other fields.
        """
        ok, spent = counts.outcome.ok and x is not None, dict(phi.phases)
        after: dict[str, Any] = {}
        if ok:
            assert x is not None
            after = {"terms": phi.terms(x), "contact": phi.report(x)}
            after["attachments"] = phi.forces(x)
        place = phi.blocked if counts.outcome is Outcome.BLOCKED else None
        seconds = time.perf_counter() - clock
        return StepReport(
            **vars(counts),
            dt=phi.step.dt,
            seconds=seconds,
            phases=spent,
            place=place,
            **after,
            **more,
        )


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
        "converges, and at most 0.1 after 70 iterations or where effort is not converged",
        above=0,
        below=1,
    )
    effort: Literal["converged", "interactive"] | int = setting(
        "converged",
        "converged: until the tolerance; a number: so many Newton iterations, converged or not; "
        "interactive: at most 8, more where contact holds up what moves, and until 0.1 to 0.2 m/s, "
        "in steps of at most 10 ms",
        least=1,
    )

    def __post_init__(self) -> None:
        check_settings(self, "StepSettings")

    @property
    def most_matrices(self) -> int:
        """After which a step ends, converged or not; 0: it has to converge."""
        if isinstance(self.effort, int):
            return self.effort
        return INTERACTIVE if self.effort == "interactive" else 0

    def newton(self, step: Step) -> Newton:
        """The minimizer of a step."""
        effort, enough, left, dt = self.most_matrices, 0.0, float("inf"), step.dt
        if self.effort == "interactive":
            speed = float(np.sqrt(np.mean(np.sum(np.square(step.state.v), axis=1))))
            enough, left = min(max(PART_OF_SPEED * speed, LEAST_ENOUGH), MOST_ENOUGH), MOST_LEFT
        forcing = min(self.forcing, EARLY_FORCING) if effort else self.forcing
        return Newton(
            self.tolerance * dt,
            self.max_iterations,
            forcing,
            effort=effort,
            enough=enough * dt,
            left=left * dt,
        )

    @property
    def longest(self) -> float:
        """[s] longest step for this effort."""
        return INTERACTIVE_STEP if self.effort == "interactive" else float("inf")


class Solver:
    """The linear solver of an integrator for one model, and the symbolic work that it keeps.

    No result depends on what is kept.
    """

    def __init__(self, name: str, stop: Stop = Stop.ENERGY, filters: bool = False) -> None:
        self.name, self.stop, self.filters = name, stop, filters
        self.work: BlockCsr | None = None  # for matrices of free directions
        self.linear = linear_solver(name, 0, stop)  # the name is checked at once
        self.model: Model | None = None
        self.prepared: Any = None
        self.prepared_contact: Any = None

    def on(self, model: Model) -> LinearSolver:
        """The solver for a model's matrices."""
        if self.model is not model:
            self.model, self.prepared, self.prepared_contact = model, None, None
            touching, n = model.contact is not None, len(model.mass)
            pattern = model.assembly.pattern
            self.work = BlockCsr.zeros(pattern) if self.filters else None
            self.linear = linear_solver(self.name, n, self.stop, touching, pattern)
        return self.linear


class Integrator(ABC):
    """An implicit integrator in the form of an incremental potential."""

    order: ClassVar[int]

    def __init__(self, settings: StepSettings | None = None) -> None:
        self.settings = settings or StepSettings()
        self._solver = Solver(self.settings.linear)

    @abstractmethod
    def init(self, model: Model, state: State) -> Memory:
        """The memory of a simulation that starts at ``state``."""

    @abstractmethod
    def plan(self, model: Model, state: State, memory: Memory, dt: float) -> Step:
        """The step of dt [s]: its prediction y, its scale s, and what velocity is measured from."""

    @abstractmethod
    def remember(self, state: State, memory: Memory, dt: float) -> Memory:
        """The memory after a step of dt [s] from ``state``."""

    def potential(
        self, model: Model, state: State, memory: Memory, dt: float, same_pattern: bool = False
    ) -> Potential:
        """Phi of the step of dt [s] from ``state``; ``same_pattern`` as ``Step`` has it.

        Valid until the next step or potential of this model.
        """
        plan = self.plan(model, state, memory, dt)
        lumps = self.settings.most_matrices > 0
        step = dataclasses.replace(plan, kept=memory, same_pattern=same_pattern, lumps=lumps)
        return Potential(model, step, self.settings.psd)

    def step(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """One step of dt [s].

        On an outcome other than CONVERGED the state and memory returned are the given ones.
        """
        clock, solver = time.perf_counter(), self._solver.on(model)
        # What iterates gives the same digits with blocks of zeros; orders of elimination do not.
        phi = self.potential(model, state, memory, dt, same_pattern=not solver.is_direct)
        found = self._minimize(model, phi, solver)
        if found is None:
            blocked = Counts(Outcome.BLOCKED)
            return (
                state,
                memory,
                StepReport.of(phi, None, blocked, clock, linear_solver=solver.name),
            )
        x = np.array(kernel.numpy(found.x))
        report = StepReport.of(
            phi,
            x,
            found.counts,
            clock,
            increment=found.increment / dt,
            linear_solver=solver.name,
            parts=(Part(state, memory, dt, x, tuple(phi.anew)),),
            **vars(found.left),
        )
        if not report.outcome.ok:
            return state, memory, report
        after = State(x, phi.step.velocity(x), state.t + dt)
        return after, {**self.remember(state, memory, dt), **phi.remember(x)}, report

    def _minimize(self, model: Model, phi: Potential, solver: LinearSolver) -> Minimum | None:
        """Newton from where inertia alone would lead, as far as contact lets it; from x_n, if the
        energy is infinite there. None where pins are in the way of something.
        """
        start = phi.feasible()
        if start is None:
            return None
        value = phi.value_at(kernel.points(start))
        if not np.isfinite(value):
            start, value = phi.step.pinned(phi.step.state.x), float("nan")
        newton = self.settings.newton(phi.step)
        lags = 1 if model.contact is None else model.contact.settings.lags
        kept = self._solver.prepared
        found = minimize_lagged(phi, start, solver, newton, kept, lags, value)
        self._solver.prepared = found.prepared
        return found
