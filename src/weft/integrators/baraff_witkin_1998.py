"""The implicit step of Baraff & Witkin (1998): one linear solve, with damping of conditions.

    (M - h D - h^2 K) dv = h (f + h K v + K y),   v += dv,  x += h v + y

Forces are f = -dE/dx - beta G v, with the Gauss-Newton Hessian G = sum k dC dC^T and beta = k_d/k
(Pritchard 2012, eq. 58: one dC/dt for a condition, summed over its particles). D = -beta G. K is
-d2E/dx2 and, from the derivative of the damping force, -beta k d2C dC/dt; its asymmetric remainder
is dropped, as Baraff & Witkin do. Constraints are filtered (``solve.linear.constraints``); y moves
constrained particles without giving them that velocity.

Without damping and constraints the step is one full Newton iteration on the potential of backward
Euler from x_n. Energies that are not written in conditions take part with their gradients and
Hessians, including their damping.
"""

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from weft import kernel
from weft.base.arrays import Floats, Forces, Positions
from weft.base.errors import SceneError, check_known
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.energies.condition_term import ConditionTerm, no_conditions
from weft.energies.state import State
from weft.energies.step import Step
from weft.energies.term import Term, damping_of
from weft.integrators.base import AnyMemory, Memory, StepLength, StepReport
from weft.integrators.linearized import QuadraticModel, finish, refuse_for_one_solve
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.step_solver import Solver
from weft.kernel import WarpArray, vec3
from weft.solve.linear.constraints import ConstrainedSolution, Constraint, solve_releasing
from weft.solve.linear.select import LINEAR_SOLVERS
from weft.solve.linear.solver import Outcome, Stop
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, add_diagonal, scale_by


@checked(SceneError, "Settings1998")
@documented
@dataclass(frozen=True)
class Settings1998:
    """Accuracy and damping of the step of Baraff & Witkin (1998).

    ``damping`` [s] is beta = k_d/k of all conditions, or of each by the name of its energy, in
    place of the energies' own; Pritchard's Table 1 has 0.2.
    """

    damping: float | Mapping[str, float] | None = None
    psd: Psd = setting(
        Psd.EXACT,
        "second derivatives of conditions in K: exact keeps them (an indefinite matrix is solved "
        "again with projected), projected sets negative eigenvalues to zero, gauss_newton drops "
        "them",
    )
    tolerance: float = setting(
        1e-2, "relative error of the solve; direct solvers go to round-off", above=0, below=1
    )
    linear: str = setting(
        "auto", "linear solver; auto: the fastest solver for the size", choices=LINEAR_SOLVERS
    )
    stop: Stop = setting(
        Stop.ENERGY, "norm of that error; preconditioned: r.P^-1 r of Baraff & Witkin"
    )
    most_speed: float = setting(1e4, "speed above which a step counts as diverged", "m/s", above=0)


# Returns constraints and the alteration y (n,3) [m] or None, for a state and a step of dt [s].
Constrain = Callable[[State, float], tuple[Sequence[Constraint], Positions | None]]


@dataclass(frozen=True, eq=False)
class System:
    """The linear system of a step, for inspection."""

    A: sp.spmatrix  # (3n,3n) SciPy sparse [kg]
    dfdx: sp.spmatrix  # (3n,3n) [N/m]
    dfdv: sp.spmatrix  # (3n,3n) [N s/m]
    b: Floats  # (n,3) [N s]
    forces: Mapping[str, Forces]  # (n,3) [N] by energy, and of the damping of each condition


@dataclass(frozen=True, eq=False)
class Linearized:
    """Matrix and right-hand side of a step, with the force that they contain."""

    A: BlockCsr  # [kg] valid until the next matrix is assembled
    b: Floats  # (n,3) [N s]
    force: Floats  # (n,3) [N] -dE/dx


@checked(SceneError, "stepper", unchecked=("init", "plan"))
class BaraffWitkin1998:
    """The step of Baraff & Witkin (1998), in which conditions are damped as conditions.

    ``constrain`` gives further constraints beside those of the pins, and a position alteration y.
    """

    order: ClassVar[int] = 1

    def __init__(
        self, settings: Settings1998 | None = None, constrain: Constrain | None = None
    ) -> None:
        self.settings, self.constrain = settings or Settings1998(), constrain
        self._solver = Solver(self.settings.linear, self.settings.stop, filters=True)

    def init(self, model: Model, state: State) -> Memory:
        """Return an empty memory: the method has one step."""
        return {}

    @staticmethod
    def plan(model: Model, state: State, dt: float) -> Step:
        """Return the step of backward Euler, of which this method is the linearization."""
        return model.step(state, dt, state.x + dt * state.v, dt * dt, (state.x, dt))

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
    ) -> tuple[State, Memory, StepReport]:
        """Advance ``state`` by dt [s]; see ``Integrator.step``.

        If the matrix is indefinite, a second solve uses projected Hessians (``iterations`` is 2
        then). If the outcome is not CONVERGED, the state returned is the given one.

        Raises:
            SceneError: further constraints together with contact, an unknown name in ``damping``,
                or an energy that ``refuse_for_one_solve`` rejects.
        """
        clock, solves = time.perf_counter(), 1
        self._check_names(model)
        if self.constrain is not None and model.contact is not None:
            raise SceneError(
                "constraints",
                got="with contact",
                expected="one of the two",
                hint="give the obstacle as a body",
            )
        self._solver.on(model)
        phi = Potential(model, dataclasses.replace(self.plan(model, state, dt), memory=memory))
        constraints, alteration = self._constraints(phi.step)
        made = (model, phi.step, constraints, alteration)
        solution = self._solve(*made, self.settings.psd)
        if solution.linear.outcome is Outcome.INDEFINITE:
            solution = self._solve(*made, Psd.PROJECTED)
            solves = 2
        v = state.v + solution.change
        x = state.x + dt * v
        work: float | None = float((solution.impulse * v).sum())
        if alteration is not None:
            x = x + alteration
            work = None
        quadratic = partial(self._model_of, model, phi.step)
        after, kept, report = finish(
            model,
            phi,
            self._solver,
            solution.linear,
            (x, v),
            quadratic,
            work,
            self.settings.most_speed,
            clock,
            solves,
            increment=float(np.abs(solution.change).max()),
            indefinite=solves - 1,
            released=solution.released,
        )
        return after, {**memory, **kept}, report

    def _model_of(self, model: Model, step: Step) -> QuadraticModel:
        """Return the quadratic model that the solve minimizes, with PROJECTED Hessians.

        Its unknowns are positions; its minimum solves (M/h^2 + ...) (x - x_n) = M v/h + f.
        """
        system = self._linearize(model, step, Psd.PROJECTED, None)
        scale_by(system.A, 1 / step.dt**2)
        force = model.assembly.mass[:, None] * step.state.v / step.dt + system.force
        return QuadraticModel(system.A, kernel.array(force, vec3), step.device_origin)

    def _constraints(self, step: Step) -> tuple[list[Constraint], Positions | None]:
        """Return the constraints of pins and caller, and the caller's position alteration.

        A pin leaves no free direction and prescribes the change of velocity that takes its vertex
        to the target. One-sided constraints of pinned vertices are left out.
        """
        constraints: list[Constraint] = []
        state, fixed = step.state, step.fixed
        ids = np.flatnonzero(fixed).astype(np.int32)
        if len(ids):
            change = (step.target[ids] - state.x[ids]) / step.dt - state.v[ids]
            constraints.append(Constraint(ids, np.eye(3), change))
        if self.constrain is None:
            return constraints, None
        more, alteration = self.constrain(state, step.dt)
        for c in more:
            there = ~fixed[c.vertices] if c.one_sided else np.ones(len(c.vertices), dtype=bool)
            if there.any():
                constraints.append(c.of(there))
        return constraints, alteration

    def solve(
        self,
        model: Model,
        state: State,
        dt: float,
        constraints: Sequence[Constraint],
        psd: Psd,
        alteration: Positions | None = None,
    ) -> ConstrainedSolution:
        """Solve for the change of velocity under constraints, and for their impulse.

        Args:
            model: masses, energies and pins.
            state: positions and velocities at the beginning of the step.
            dt: [s].
            constraints: constraints of single particles.
            psd: which second derivatives of conditions the matrix has.
            alteration: (n,3) [m] position alteration y; None: zero.
        """
        self._solver.on(model)
        step = self._frozen_step(model, state, dt)
        return self._solve(model, step, constraints, alteration, psd)

    def _frozen_step(self, model: Model, state: State, dt: float) -> Step:
        step = self.plan(model, state, dt)
        model.assembly.freeze(step)
        return step

    def _solve(
        self,
        model: Model,
        step: Step,
        constraints: Sequence[Constraint],
        alteration: Positions | None,
        psd: Psd,
    ) -> ConstrainedSolution:
        s, system = self._solver, self._linearize(model, step, psd, alteration)
        assert s.work is not None
        settings = (s.linear, self.settings.tolerance, s.prepared)
        with model.assembly.phases("solve"):
            solution = solve_releasing(system.A, system.b, constraints, s.work, *settings)
        s.prepared = solution.prepared
        return solution

    def system(
        self, model: Model, state: State, dt: float, alteration: Positions | None = None
    ) -> System:
        """Return A, b, the forces and their Jacobians at ``state``, without constraints.

        Args:
            model: masses and energies.
            state: positions and velocities at the beginning of the step.
            dt: [s].
            alteration: (n,3) [m] position alteration y; None: zero.
        """
        step, n, psd = self._frozen_step(model, state, dt), len(model.mass), self.settings.psd
        made = self._linearize(model, step, psd, alteration)
        A = made.A.to_scipy().tocsr().copy()
        x, forces = step.device_origin, dict[str, Forces]()
        rate = sp.csr_matrix((3 * n, 3 * n))  # minus df/dv
        for term in model.assembly.bound:
            g = kernel.zeros(n, vec3)
            term.add_gradient(x, g)
            forces[term.name] = forces.get(term.name, 0.0) - np.array(kernel.numpy(g))
            beta = self._beta(term)
            if beta > 0:
                G = beta * self._gauss_newton(model, term, step).to_scipy().tocsr()
                name = damping_of(term.name)
                pull = -(G @ state.v.reshape(-1)).reshape(-1, 3)
                forces[name] = forces.get(name, 0.0) + pull
                rate = rate + G
        mass = sp.diags(np.repeat(model.assembly.mass, 3))
        return System(A, (mass - A) / dt**2 + rate / dt, -rate, made.b, forces)

    def _beta(self, term: Term) -> float:
        """Return the time constant [s] of a term's condition damping; 0 if it has none."""
        given = self.settings.damping
        if given is None:
            return term.damping if isinstance(term, ConditionTerm) and term.is_condition else 0.0
        if isinstance(given, Mapping):
            return float(given.get(term.name, 0.0))
        return given if term.is_elastic else 0.0

    def _check_names(self, model: Model) -> None:
        """Raise a SceneError if ``damping`` names an energy that the model does not have."""
        given, known = self.settings.damping, [e.name for e in model.energies]
        for name in given if isinstance(given, Mapping) else ():
            check_known(name, known, "Settings1998.damping", SceneError)

    def _gauss_newton(self, model: Model, term: Term, step: Step) -> BlockCsr:
        """Return G = sum k dC dC^T of a term that is written in conditions."""
        A = model.assembly.matrix.begin()
        _add_condition_hessian(term, step.device_origin, step, 0.0, Psd.GAUSS_NEWTON, A)
        return A.finish()

    def _linearize(
        self, model: Model, step: Step, psd: Psd, alteration: Positions | None
    ) -> Linearized:
        """Assemble A and b of the linear system.

        A = M + h^2 S. For conditions, S is the sum of k [(1 + beta/h) dC dC^T + (C + beta dC/dt)
        d2C]; for other energies it is their Hessian. Since h (f_d + h K v) = M v - A v, b needs
        neither the damping force f_d nor K.
        """
        a, h, state = model.assembly, step.dt, step.state
        x, v = step.device_origin, step.device_velocity
        refuse_for_one_solve(model, x, "baraff_witkin_1998")
        out = kernel.zeros(a.n, vec3)
        a.add_gradient(x, out)
        force: Floats = -np.array(kernel.numpy(out))
        pull = np.zeros_like(force)
        if alteration is not None:  # S y without the part that damping adds to S
            for term in a.bound:
                if self._beta(term) > 0:
                    G = self._gauss_newton(model, term, step)
                    pull -= self._beta(term) / h * (G @ alteration)
        A = a.matrix.begin()
        for term in a.bound:
            beta = self._beta(term)
            if beta > 0 or (isinstance(term, ConditionTerm) and term.is_condition):
                _add_condition_hessian(term, x, step, beta, psd, A)
            else:
                term.add_hessian(x, psd, A)
        A.finish()
        if alteration is not None:
            pull += A @ alteration
        scale_by(A, h * h)
        add_diagonal(A, a.device_mass)
        A.multiply(v, out)
        b = a.mass[:, None] * state.v + h * force - kernel.numpy(out) - h * pull
        return Linearized(A, np.asarray(b), force)


def _add_condition_hessian(
    term: Term, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
) -> None:
    """Add the Hessian of damped conditions of a term to A.

    Raises:
        LawError: a term that is not written in conditions.
    """
    if not isinstance(term, ConditionTerm):
        raise no_conditions(term)
    term.add_condition_hessian(x, step, beta, psd, A)
