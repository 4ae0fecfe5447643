"""The integrator: a prediction y and a scale s of the incremental potential, and the new velocity.

A step goes through these stages; the minimizer is shared by all integrators:

    Step -> Potential -> minimize -> StepReport

An integrator declares its order of accuracy; ``tests/verification`` measures it.
"""

import copy
import dataclasses
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions, Vector
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Accepts, Setting, documented, setting
from weft.base.trees import Json
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.energies.state import State, StateDerivatives
from weft.energies.step import Step
from weft.integrators.effort import (
    Effort,
    early_end,
    iteration_limit,
    limit_forcing,
    longest_step,
)
from weft.integrators.lagged_friction import minimize_lagged
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.rejected_step import RejectedStep
from weft.integrators.step_solver import Solver
from weft.solve.linear.select import LINEAR_SOLVERS
from weft.solve.linear.solver import LinearSolver, Outcome
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import Counts, Minimum
from weft.solve.newton.psd import Psd
from weft.solve.newton.residual_bounds import ResidualBounds

PRECISE = 0.1  # part of the tolerance by which rigid bodies may be off at the end of a step

# What a multi-step integrator and the terms of the potential keep between steps, by name. It is
# saved with the state.
Memory = Mapping[str, Floats]
AnyMemory = Annotated[Memory, Accepts(Mapping)]  # the arrays are not checked in every step
StepLength = Annotated[float, Setting("", "s", above=0)]


@dataclass(frozen=True, eq=False)
class StepPart:
    """One minimization within a step.

    A step in time has one part, an equilibrium has ``load_steps`` parts.
    """

    state: State  # at the beginning
    memory: Memory
    dt: float  # [s]
    x: Positions  # (n,3) [m] at the end
    lag_points: Sequence[
        Positions
    ] = ()  # (n,3) each, at which friction and wind were evaluated again


@dataclass(frozen=True)
class StepReport(Counts):
    """Report of one step: its outcome, its costs, and the energies at the new state."""

    dt: float = 0.0  # [s]
    increment: float = 0.0  # [m/s] largest vertex displacement of the last Newton increment over dt
    linear_solver: str = ""
    # [J] terms of the potential at the new state, by name
    terms: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0  # wall time
    substeps: int = 1  # accepted sub-steps of an adaptive step
    rejected: Sequence[RejectedStep] = ()  # tries before this step; its costs include theirs
    indefinite: int = 0  # matrices that were not positive definite
    released: int = 0  # one-sided constraints that were dropped because they pulled
    unsettled: float = 0.0  # outcome STOPPED: fraction of vertices above the tolerance
    gain: float = 0.0  # [J] outcome STOPPED: decrease that Newton's model still predicted
    gained: float = 0.0  # [J] steps of one linear solve: energy that nothing put in
    divisible: bool = True  # if the step failed: a shorter one may succeed
    contact: Json = field(default_factory=dict)  # see ``contact_report``
    attachments: Json = field(default_factory=dict)  # by name
    phases: Mapping[str, float] = field(default_factory=dict)  # [s] by phase
    place: Vector | None = None  # [m] outcomes BLOCKED and PASSES: where there was no room
    obstacle: str = ""  # outcomes BLOCKED and PASSES: the surfaces that leave no room
    reached: Positions | None = field(default=None, repr=False)  # (n,3) end of a failed search
    parts: Sequence[StepPart] = field(default=(), repr=False)

    def as_rejected(self) -> RejectedStep:
        """Return this report as that of a try whose result is not used."""
        cost = self.iterations, self.seconds
        return RejectedStep(self.outcome, self.dt, *cost, self.place, self.obstacle)

    def with_costs(
        self, tries: Sequence["StepReport"], parts: Sequence["StepReport"] = ()
    ) -> "StepReport":
        """Return this report with the costs of other reports of the same step added.

        Args:
            tries: reports of tries whose results are not used.
            parts: reports of earlier parts of the step.
        """
        counts, phases, every = self, dict(self.phases), (self, *parts, *tries)
        for other in every[1:]:
            counts = counts.after(other)
            for name, seconds in other.phases.items():
                phases[name] = phases.get(name, 0.0) + seconds
        return dataclasses.replace(
            counts,
            phases=phases,
            seconds=sum(r.seconds for r in every),
            indefinite=sum(r.indefinite for r in every),
            released=sum(r.released for r in every),
            gained=max(r.gained for r in (self, *parts)),
            rejected=(*(r.as_rejected() for r in tries), *self.rejected),
        )

    @property
    def failure(self) -> str:
        """The outcome of a step that failed, and the surfaces that left no room."""
        return ": ".join(filter(None, (self.outcome.name, self.obstacle)))

    @staticmethod
    def of(
        phi: Potential,
        x: Positions | None,
        counts: Counts,
        clock: float,
        **more: Any,
    ) -> "StepReport":
        """Build the report of a step that ended at x, or failed.

        Args:
            phi: potential of the step.
            x: (n,3) [m] positions at the end of the step; None if no start without collision was
                found.
            counts: outcome and costs of the minimization.
            clock: value of ``time.perf_counter()`` at the beginning of the step.
            more: other fields of the report.

        Returns:
            The report; its outcome is INTERSECTED if surfaces intersect at x that did not before.
        """
        counts, spent = check_intersections(phi, x, counts), dict(phi.phases)
        after: Json = {}
        if counts.outcome.ok and x is not None:
            after = {
                "terms": phi.terms(x),
                "contact": phi.report(x),
                "attachments": phi.forces(x),
            }
        if counts.outcome in (Outcome.BLOCKED, Outcome.PASSES) and phi.blocked is not None:
            after = {"place": phi.blocked.place, "obstacle": phi.model.describe(phi.blocked)}
            more["divisible"] = more.get("divisible", True) and not phi.blocked.passes
        seconds = time.perf_counter() - clock
        return StepReport(
            **vars(counts),
            dt=phi.step.dt,
            seconds=seconds,
            phases=spent,
            **after,
            **more,
        )


def check_intersections(phi: Potential, x: Positions | None, counts: Counts) -> Counts:
    """Return the counts of a step that ended at x (n,3), as INTERSECTED if x has new intersections.

    Continuous collision detection has checked the whole motion to x, so this never happens. The end
    is checked nevertheless, by exact predicates that share no code with that detection.
    """
    if counts.outcome.ok and x is not None and phi.has_new_intersections(x):
        return dataclasses.replace(counts, outcome=Outcome.INTERSECTED)
    return counts


class Stepper(Protocol):
    """An integrator, as far as a simulation uses it: one of weft's or of the user's."""

    @property
    def order(self) -> int:
        """Order of accuracy in the time step."""

    def init(self, model: Model, state: State) -> Memory:
        """Return the memory of a simulation that starts at ``state``."""

    def step(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """Advance ``state`` by dt [s]; return new state, memory and report.

        If the outcome is not ``ok``, the state and memory returned are the given ones.
        """


@checked(SceneError, "StepSettings", unchecked=("newton",))
@documented
@dataclass(frozen=True)
class StepSettings:
    """Accuracy and effort with which a step is solved."""

    tolerance: float = setting(
        1e-2,
        "last Newton increment divided by the time step: a step has converged below this speed, "
        "which does not depend on the mesh",
        "m/s",
        above=0,
    )
    max_iterations: int = setting(100, "largest number of Newton iterations of a step", least=1)
    psd: Psd = setting(Psd.PROJECTED, "Hessian; exact may fail under compression")
    linear: str = setting(
        "auto", "linear solver; auto: the fastest solver for the size", choices=LINEAR_SOLVERS
    )
    forcing: float = setting(
        0.5,
        "largest relative error of iterative linear solves in the energy norm; smaller when "
        "Newton converges, and at most 0.1 if effort is not converged",
        above=0,
        below=1,
    )
    effort: Effort = setting(
        "converged",
        "converged: iterate until the tolerance; a number: this many Newton iterations, "
        "converged or not; interactive: at most 8 iterations (more if contact stops a motion), a "
        "tolerance of 0.1 to 0.2 m/s, and steps of at most 10 ms",
        least=1,
    )

    @property
    def may_end_early(self) -> bool:
        """Whether a step may end before it has converged."""
        return iteration_limit(self.effort) > 0

    def newton(self, step: Step, bodies: RigidBodies) -> Newton:
        """Return the settings of Newton's method for a step of a model with these rigid bodies."""
        return Newton(
            self.tolerance * step.dt,
            self.max_iterations,
            limit_forcing(self.effort, self.forcing),
            early=early_end(self.effort, step.state.v, step.dt),
            bounds=self._residual_bounds(step, bodies),
        )

    def _residual_bounds(self, step: Step, bodies: RigidBodies) -> ResidualBounds | None:
        """Return the bounds of forces at which rigid bodies are off by a tenth of the tolerance.

        Errors of steps add up, because they have the same sign in all of them.
        """
        if len(bodies) == 0 or step.scale is None:
            return None
        force = bodies.point_mass * PRECISE * self.tolerance * step.dt / step.scale
        return ResidualBounds(kernel.array(force, kernel.Scalar))

    @property
    def longest(self) -> float:
        """Longest step [s] that suits this effort."""
        return longest_step(self.effort)


@checked(
    SceneError,
    "stepper",
    unchecked=(
        "init",
        "plan",
        "remember",
        "potential",
        "pull_back_init",
        "push_init",
        "push_forward",
    ),
)
class Integrator(ABC):
    """An implicit integrator in the form of an incremental potential.

    A subclass gives ``init``, ``plan`` and ``remember``; ``step`` minimizes the potential. With
    ``pull_back``, the reverse of ``plan`` and ``remember``, and the base class ``Reversible``, runs
    have derivatives.
    """

    order: ClassVar[int]
    has_history: ClassVar[bool] = True
    linear_memory: ClassVar[Sequence[str]] = ()  # names in memory that ``plan`` is linear in

    def __init__(self, settings: StepSettings | None = None) -> None:
        self.settings = settings or StepSettings()
        self._solver = Solver(self.settings.linear, early=self.settings.may_end_early)

    @property
    def careful(self) -> "Integrator":
        """This integrator with effort ``converged``: its steps are solved to the tolerance."""
        return self if self.settings.effort == "converged" else self._converged

    @cached_property
    def _converged(self) -> "Integrator":
        other = copy.copy(self)
        other.settings = dataclasses.replace(self.settings, effort="converged")
        return other

    @abstractmethod
    def init(self, model: Model, state: State) -> Memory:
        """Return the memory of a simulation that starts at ``state``."""

    @abstractmethod
    def plan(self, model: Model, state: State, memory: Memory, dt: float) -> Step:
        """Return the step of dt [s]: prediction y, scale s, and origin and span of the velocity."""

    @abstractmethod
    def remember(self, state: State, memory: Memory, dt: float) -> Memory:
        """Return the memory after a step of dt [s] that began at ``state``."""

    def potential(
        self, model: Model, state: State, memory: Memory, dt: float, same_pattern: bool = False
    ) -> Potential:
        """Return the potential Phi of the step of dt [s] from ``state``.

        The potential is valid until the next step or potential of this model. ``same_pattern`` is
        the field of ``Step``.
        """
        step = dataclasses.replace(
            self.plan(model, state, memory, dt),
            memory=memory,
            same_pattern=same_pattern,
            may_end_early=self.settings.may_end_early,
        )
        return Potential(model, step, self.settings.psd)

    def pull_back_init(self, start: StateDerivatives) -> StateDerivatives:
        """Return derivatives by the first state; those by memory are none without ``init``'s."""
        return start

    def push_init(self, model: Model, start: State) -> StateDerivatives:
        """Return how the first state and its memory change: ``init`` is linear in the state."""
        memory = self.init(model, start)
        return StateDerivatives(start.x, start.v, {k: memory[k] for k in self.linear_memory})

    def push_forward(
        self, model: Model, part: StepPart, step: Step, before: StateDerivatives, x: Floats
    ) -> StateDerivatives:
        """Return how state and memory change: ``plan`` and ``remember`` are linear in both."""
        state, memory = State(before.x, before.v, part.state.t), {**part.memory, **before.memory}
        origin = self.plan(model, state, memory, part.dt).origin
        kept = self.remember(state, memory, part.dt)
        v = (x - origin) / step.span
        return StateDerivatives(x, v, {k: kept[k] for k in self.linear_memory})

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
    ) -> tuple[State, Memory, StepReport]:
        """Advance ``state`` by one step.

        Args:
            model: masses, energies, pins and contact.
            state: positions and velocities at the beginning of the step.
            memory: what ``init`` or the step before returned.
            dt: [s] length of the step.

        Returns:
            The new state, the new memory and the report. If the outcome is neither CONVERGED nor
            STOPPED, the state and memory returned are the given ones.
        """
        clock, solver = time.perf_counter(), self._solver.on(model)
        # Iterative solvers give the same digits if the pattern keeps blocks that are zero. Direct
        # solvers do not, because another pattern has another order of elimination.
        phi = self.potential(model, state, memory, dt, same_pattern=not solver.is_direct)
        step, used = phi.step, {"linear_solver": solver.name}
        found = self._minimize(model, phi, solver)
        if found is None:
            return state, memory, StepReport.of(phi, None, Counts(phi.refusal), clock, **used)
        x = np.array(kernel.numpy(found.x))
        report = StepReport.of(
            phi,
            x,
            found.counts,
            clock,
            increment=found.increment / dt,
            parts=(StepPart(state, memory, dt, x, tuple(phi.lag_points)),),
            **used,
            **vars(found.remaining),
        )
        if not report.outcome.ok:
            return state, memory, report
        after = State(x, step.velocity(x), state.t + dt)
        return after, {**self.remember(state, memory, dt), **phi.remember(x)}, report

    def _minimize(self, model: Model, phi: Potential, solver: LinearSolver) -> Minimum | None:
        """Minimize phi by Newton's method from its first start; None if phi has no start."""
        begin = phi.first_start()
        if begin is None:
            return None
        start, value = begin
        newton, kept = self.settings.newton(phi.step, model.rigid_bodies), self._solver.prepared
        found = minimize_lagged(phi, start, solver, newton, kept, model.lags, value)
        self._solver.prepared = found.prepared
        return found
