"""What an integrator is: a predictor y and a scale s of the incremental potential, and the new
velocity.

    Step -> Potential -> minimize -> StepReport

The minimizer is shared. An integrator declares its order; ``tests/verification`` measures it.
"""

import copy
import dataclasses
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Accepts, Setting, documented, setting
from weft.energies.state import State
from weft.energies.step import Step
from weft.integrators.lagged_friction import minimize_lagged
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.solve.linear.select import LINEAR_SOLVERS, linear_solver
from weft.solve.linear.solver import LinearSolver, Outcome, Stop
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import Counts, Minimum
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr

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
AnyMemory = Annotated[Memory, Accepts(Mapping)]  # its arrays are not looked at in every step
StepLength = Annotated[float, Setting("", "s", above=0)]


@dataclass(frozen=True, eq=False)
class StepPart:
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
    parts: Sequence[StepPart] = field(default=(), repr=False)

    @staticmethod
    def of(
        phi: Potential,
        x: Positions | None,
        counts: Counts,
        clock: float,
        terms: Mapping[str, float] | None = None,
        **more: Any,
    ) -> "StepReport":
        """Of a step that ended at x (n,3), or failed.

        Args:
            phi: the step's potential.
            x: where it ended; None: nowhere, something was in the way.
            counts: what it took.
            clock: ``time.perf_counter()`` when it began.
            terms: [J] by name at x; None: those of ``phi``.
            more: other fields.
        """
        counts, spent = checked_end(phi, x, counts), dict(phi.phases)
        after: dict[str, Any] = {}
        if counts.outcome.ok and x is not None:
            after = {
                "terms": phi.terms(x) if terms is None else terms,
                "contact": phi.report(x),
                "attachments": phi.forces(x),
            }
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


def checked_end(phi: Potential, x: Positions | None, counts: Counts) -> Counts:
    """Return the counts of a step that ended at x (n,3); INTERSECTED where it must not end there.

    Collision detection has seen the whole way to x, so that this never happens. It is checked
    nevertheless, by exact predicates that share nothing with that detection.
    """
    if counts.outcome.ok and x is not None and phi.intersects_anew(x):
        return dataclasses.replace(counts, outcome=Outcome.INTERSECTED)
    return counts


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


@runtime_checkable
class StopsEarly(Protocol):
    """A stepper whose steps may end before they have converged."""

    @property
    def careful(self) -> Stepper:
        """The stepper that takes a step again on which this one failed: one that solves its steps
        to the tolerance, or itself if it does so already.
        """


@checked(SceneError, "StepSettings", unchecked=("newton",))
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


@checked(
    SceneError, "stepper", unchecked=("init", "plan", "complete_plan", "remember", "potential")
)
class Integrator(ABC):
    """An implicit integrator in the form of an incremental potential."""

    order: ClassVar[int]

    def __init__(self, settings: StepSettings | None = None) -> None:
        self.settings = settings or StepSettings()
        self._solver = Solver(self.settings.linear)

    @cached_property
    def careful(self) -> "Integrator":
        """This integrator, with steps that are solved to the tolerance."""
        if self.settings.effort == "converged":
            return self
        other = copy.copy(self)
        other.settings = dataclasses.replace(self.settings, effort="converged")
        return other

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
        step = self.complete_plan(model, state, memory, dt, same_pattern)
        return Potential(model, step, self.settings.psd)

    def complete_plan(
        self, model: Model, state: State, memory: Memory, dt: float, same_pattern: bool = False
    ) -> Step:
        """The step of dt [s] with all that its terms have to know: ``plan`` and the settings."""
        plan = self.plan(model, state, memory, dt)
        lumps = self.settings.most_matrices > 0
        return dataclasses.replace(plan, kept=memory, same_pattern=same_pattern, lumps=lumps)

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
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
            parts=(StepPart(state, memory, dt, x, tuple(phi.anew)),),
            **vars(found.left),
        )
        if not report.outcome.ok:
            return state, memory, report
        after = State(x, phi.step.velocity(x), state.t + dt)
        return after, {**self.remember(state, memory, dt), **phi.remember(x)}, report

    def _minimize(self, model: Model, phi: Potential, solver: LinearSolver) -> Minimum | None:
        """Newton from the first start (``Potential.starts``); None where there is none."""
        begin = phi.first_start()
        if begin is None:
            return None
        start, value = begin
        newton = self.settings.newton(phi.step)
        lags = 1 if model.contact is None else model.contact.settings.lags
        kept = self._solver.prepared
        found = minimize_lagged(phi, start, solver, newton, kept, lags, value)
        self._solver.prepared = found.prepared
        return found
