"""The implicit step of Baraff & Witkin (1998): one linear solve, with damping of conditions.

    (M - h D - h^2 K) dv = h (f + h K v + K y),   v += dv,  x += h v + y

Forces are f = -dE/dx - beta G v, with G = sum k dC dC^T the Gauss-Newton Hessian and beta = k_d/k
(Pritchard 2012, eq. 58: one dC/dt for a condition, summed over its particles). D = -beta G. K is
-d2E/dx2 and, of the damping force's derivative, -beta k d2C dC/dt; its asymmetric rest is dropped,
as Baraff & Witkin do. Constraints are filtered (``solve.constraints``); y moves pinned particles
without giving them that velocity.

Without damping and constraints the step is one full Newton iteration of backward Euler's potential
from x_n.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from weft import kernel
from weft.arrays import Floats, Forces, Positions, Velocities
from weft.energies.base import BoundCondition
from weft.errors import SceneError
from weft.integrators.base import Memory, StepReport
from weft.integrators.linearized import ContactStep, QuadraticModel, with_contact
from weft.kernel import WarpArray, vec3
from weft.laws.base import Psd
from weft.model import Model
from weft.settings import check_settings, documented, setting
from weft.solve.base import LinearSolver, Outcome, Stop
from weft.solve.block_csr import BlockCsr, scale_and_shift
from weft.solve.choose import LINEAR_SOLVERS, linear_solver
from weft.solve.constraints import ConstrainedSolution, Constraint, solve_releasing
from weft.state import State


@documented
@dataclass(frozen=True)
class Settings1998:
    """How the step is set up and solved. Damping of all conditions is ``damping`` [s], beta =
    k_d/k; Pritchard's Table 1 has 0.2, and a scene gives its own.
    """

    damping: float = 0.0
    psd: Psd = setting(
        Psd.EXACT,
        "second derivatives of conditions in K: exact keeps them (an indefinite matrix is solved "
        "again with projected), gauss_newton drops them",
    )
    tolerance: float = setting(
        1e-2, "relative error of the solve; direct solvers go to round-off", above=0, below=1
    )
    linear: str = setting(
        "auto", "linear solver; auto takes the fastest one for the size", choices=LINEAR_SOLVERS
    )
    stop: Stop = setting(
        Stop.ENERGY, "norm of that error; preconditioned is Baraff & Witkin's r.P^-1 r"
    )
    most_speed: float = setting(1e4, "beyond which a step counts as diverged", "m/s", above=0)

    def __post_init__(self) -> None:
        check_settings(self, "Settings1998")


# Of a state and a step of dt [s]: constraints, and y (n,3) [m] or None.
Constrain = Callable[[State, float], tuple[Sequence[Constraint], Positions | None]]


@dataclass(frozen=True, eq=False)
class System:
    """The linear system of a step, taken in hand."""

    A: Any  # (3n,3n) SciPy sparse [kg]
    dfdx: Any  # (3n,3n) [N/m]
    dfdv: Any  # (3n,3n) [N s/m]
    b: Floats  # (n,3) [N s]
    forces: Mapping[str, Forces]  # (n,3) [N] by energy name, and "damping"


class BaraffWitkin1998:
    """Baraff & Witkin's step. Damping acts on the model's conditions, and on nothing else.

    ``constrain`` adds constraints to those of the pins, and a position alteration.
    """

    order: ClassVar[int] = 1

    def __init__(
        self, settings: Settings1998 | None = None, constrain: Constrain | None = None
    ) -> None:
        self.settings, self.constrain = settings or Settings1998(), constrain
        self._solver: LinearSolver = linear_solver(self.settings.linear, 0, self.settings.stop)
        self._model: Model | None = None
        self._work: _Work
        self._prepared: Any = None
        self._prepared_contact: Any = None
        self._right: Floats  # b of the last linear solve

    def init(self, model: Model, state: State) -> Memory:
        """Nothing to remember."""
        return {}

    def step(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """One step of dt [s].

        An indefinite matrix is met by a second solve with projected Hessians (``iterations`` 2). On
        an outcome other than CONVERGED the state returned is the given one.
        """
        clock = time.perf_counter()
        constraints, alteration = self._constraints(model, state, dt)
        solution = self.solve(model, state, dt, constraints, self.settings.psd, alteration)
        solves, iterations, indefinite = 1, solution.linear.iterations, 0
        if solution.linear.outcome is Outcome.INDEFINITE:
            solution = self.solve(model, state, dt, constraints, Psd.PROJECTED, alteration)
            solves, iterations, indefinite = 2, iterations + solution.linear.iterations, 1
        v = state.v + solution.change
        outcome = solution.linear.outcome
        if outcome.ok and not np.abs(v).max() < self.settings.most_speed:
            outcome = Outcome.NOT_FINITE
        x = state.x + dt * v
        if alteration is not None:
            x += alteration
        met = None
        if outcome.ok and model.contact is not None:
            met = self._meet(model, state, x, dt)
            outcome, x = met.outcome, met.x
            v = (x - state.x) / dt
        terms = model.assembly.terms(kernel.array(x, vec3)) if outcome.ok else {}
        report = StepReport(
            dt=dt,
            outcome=outcome,
            iterations=solves + (met.iterations if met else 0),
            linear_iterations=iterations + (met.linear_iterations if met else 0),
            line_search_trials=met.line_search_trials if met else 0,
            increment=float(np.abs(solution.change).max()),
            linear_solver=self._solver.name,
            terms=terms,
            seconds=time.perf_counter() - clock,
            indefinite=indefinite,
            released=solution.released,
            rescues=int(solution.linear.rescued) + (met.rescues if met else 0),
            contact=met.report if met else {},
            phases=met.phases if met else {},
            place=met.place if met else None,
        )
        if not outcome.ok:
            return state, memory, report
        return State(x, v, state.t + dt), memory, report

    def _meet(self, model: Model, state: State, predicted: Positions, dt: float) -> ContactStep:
        """The step under contact: A (v + dv) = b + A v + h f_contact, as positions."""
        if self.constrain is not None:
            raise SceneError(
                "constraints", got="with contact", expected="one of the two",
                hint="give what they stand for as a body",
            )  # fmt: skip
        A, b, work = self._work.system, self._right, self._work
        A.multiply(kernel.array(state.v, vec3), work.vector)
        force = (b + kernel.numpy(work.vector)) / dt
        scaled = BlockCsr.zeros(A.pattern)
        scaled.values.assign(A.values)
        scale_and_shift(scaled, 1 / dt**2, None)
        here = kernel.array(state.x, vec3)
        quadratic = QuadraticModel(scaled, kernel.array(force, vec3), here)
        met = with_contact(
            model, state, quadratic, predicted, dt, (state.x, dt), self._solver,
            self._prepared_contact,
        )  # fmt: skip
        self._prepared_contact = met.prepared
        return met

    def _constraints(
        self, model: Model, state: State, dt: float
    ) -> tuple[list[Constraint], Positions | None]:
        """Those of pins (no free direction, the change of velocity that takes them there), and the
        caller's with their position alteration; of what is pinned, one-sided ones are left out.
        """
        constraints: list[Constraint] = []
        fixed, target = model.prescribed(state.t + dt)
        ids = np.flatnonzero(fixed).astype(np.int32)
        if len(ids):
            change = (target[ids] - state.x[ids]) / dt - state.v[ids]
            constraints.append(Constraint(ids, np.eye(3), change))
        if self.constrain is None:
            return constraints, None
        more, alteration = self.constrain(state, dt)
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
        """The change of velocity under constraints, and their impulse."""
        A, b = self._system(model, state, dt, psd, alteration)
        self._right = b
        solution = solve_releasing(
            A, b, constraints, self._work.filtered, self._solver, self.settings.tolerance,
            self._prepared,
        )  # fmt: skip
        self._prepared = solution.prepared
        return solution

    def system(
        self, model: Model, state: State, dt: float, alteration: Positions | None = None
    ) -> System:
        """A, b, forces and their Jacobians at ``state``, before constraints."""
        A, b = self._system(model, state, dt, self.settings.psd, alteration)
        A, n, work, psd = (
            A.to_scipy().tocsr().copy(),
            len(model.mass),
            self._work,
            self.settings.psd,
        )
        x, v = kernel.array(state.x, vec3), kernel.array(state.v, vec3)
        forces = {}
        for name, bound in model.assembly.bound.items():
            work.vector.zero_()
            bound.add_gradient(x, work.vector)
            forces[name] = -np.array(kernel.numpy(work.vector))
        dfdx = -self._stiffness(model, x, v, 1.0, psd, work.system).to_scipy().tocsr().copy()
        dfdv = sp.csr_matrix((3 * n, 3 * n))
        if self.settings.damping > 0:
            G = self._stiffness(model, x, v, 1.0, Psd.GAUSS_NEWTON, work.system, only_damped=True)
            dfdv = -self.settings.damping * G.to_scipy().tocsr()
        forces["damping"] = (dfdv @ state.v.reshape(-1)).reshape(-1, 3)
        return System(A, dfdx, dfdv, b, forces)

    def _system(
        self, model: Model, state: State, dt: float, psd: Psd, alteration: Positions | None
    ) -> tuple[BlockCsr, Floats]:
        """A and b.

        With G and the second derivatives put together, A = M + h (h + beta) [G + keep k (C + beta
        dC/dt) d2C], keep = h/(h + beta); and h (f_d + h K v) is M v - A v, so that b needs neither
        G nor K.
        """
        if self._model is not model:
            self._model, self._work, self._prepared = model, _Work.on(model), None
            self._prepared_contact = None
            s, met = self.settings, model.contact is not None
            self._solver = linear_solver(
                s.linear, len(model.mass), s.stop, met, model.assembly.pattern
            )
        a, work, beta = model.assembly, self._work, self.settings.damping
        x, v = kernel.array(state.x, vec3), kernel.array(state.v, vec3)
        a.refuse_updates(x, "baraff_witkin_1998")
        work.vector.zero_()
        for bound in a.bound.values():
            bound.add_gradient(x, work.vector)
        b: Velocities = model.mass[:, None] * state.v - dt * kernel.numpy(work.vector)
        A = self._stiffness(model, x, v, dt / (dt + beta), psd, work.system)
        scale_and_shift(A, dt * (dt + beta), a.device_mass)
        A.multiply(v, work.vector)
        b -= kernel.numpy(work.vector)
        if alteration is not None:
            K = self._stiffness(model, x, v, 1.0, psd, work.filtered)
            b -= dt * (K @ alteration)
        return A, b

    def _stiffness(
        self,
        model: Model,
        x: WarpArray,
        v: WarpArray,
        keep: float,
        psd: Psd,
        out: BlockCsr,
        only_damped: bool = False,
    ) -> BlockCsr:
        """keep times the Hessian of energies without damping, plus those of the conditions.

        With ``keep`` 1 that is minus df/dx.
        """
        beta = self.settings.damping
        damped = {
            name: bound
            for name, bound in model.assembly.bound.items()
            if beta > 0 and isinstance(bound, BoundCondition)
        }
        out.values.zero_()
        if not only_damped:
            others = [b for name, b in model.assembly.bound.items() if name not in damped]
            for bound in others:
                bound.add_hessian(x, psd, out, clear=False)
            if keep != 1.0:
                scale_and_shift(out, keep, None)
        for condition in damped.values():
            condition.add_condition_hessian(x, v, keep, beta, psd, out)
        return out


@dataclass(frozen=True, eq=False)
class _Work:
    """Matrices and vectors of a model, used by every step."""

    system: BlockCsr
    filtered: BlockCsr
    vector: WarpArray

    @staticmethod
    def on(model: Model) -> "_Work":
        """For a model's pattern."""
        a = model.assembly
        return _Work(BlockCsr.zeros(a.pattern), BlockCsr.zeros(a.pattern), kernel.zeros(a.n, vec3))
