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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weft import kernel
from weft.arrays import Floats, Forces, Positions, Velocities
from weft.energies.base import BoundCondition
from weft.integrators.base import Memory, StepReport
from weft.kernel import vec3
from weft.laws.base import Psd
from weft.model import Model
from weft.solve.base import LinearSolver, Outcome
from weft.solve.block_csr import BlockCsr
from weft.solve.choose import linear_solver
from weft.solve.constraints import ConstrainedSolution, Constraint, Filter, solve_constrained
from weft.state import State


@dataclass(frozen=True)
class Settings1998:
    """How the step is set up and solved.

    Args:
        damping: [s] beta = k_d/k of all conditions; Pritchard's Table 1 has 0.2.
        psd: second derivatives of conditions in K: EXACT keeps them, GAUSS_NEWTON drops them.
        tolerance: relative error of the solve in the energy norm; direct solvers go to round-off.
        linear: a solver of ``solve.choose``.
        most_speed: [m/s] beyond which a step counts as diverged.
    """

    damping: float = 0.0
    psd: Psd = Psd.EXACT
    tolerance: float = 1e-2
    linear: str = "pcg"
    most_speed: float = 1e4


@dataclass(frozen=True, eq=False)
class System:
    """The linear system of a step, taken in hand."""

    A: Any  # (3n,3n) SciPy sparse [kg]
    dfdx: Any  # (3n,3n) [N/m]
    dfdv: Any  # (3n,3n) [N s/m]
    b: Floats  # (n,3) [N s]
    forces: Mapping[str, Forces]  # (n,3) [N] by energy name, and "damping"


class BaraffWitkin1998:
    """Baraff & Witkin's step. The model's energies must be conditions where damping is not zero."""

    order: ClassVar[int] = 1

    def __init__(self, settings: Settings1998 | None = None) -> None:
        self.settings = settings or Settings1998()
        self._solver: LinearSolver = linear_solver(self.settings.linear)
        self._model: Model | None = None
        self._matrices: dict[str, BlockCsr] = {}
        self._prepared: Any = None

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
        held = self.pin_filter(model, state, dt)
        solution = self.solve(model, state, dt, held, self.settings.psd)
        solves, iterations = 1, solution.linear.iterations
        if solution.linear.outcome is Outcome.INDEFINITE:
            solution = self.solve(model, state, dt, held, Psd.PROJECTED)
            solves, iterations = 2, iterations + solution.linear.iterations
        v = state.v + solution.change
        outcome = solution.linear.outcome
        if outcome.ok and not np.abs(v).max() < self.settings.most_speed:
            outcome = Outcome.NOT_FINITE
        x = state.x + dt * v
        terms = model.assembly.terms(kernel.array(x, vec3)) if outcome.ok else {}
        report = StepReport(
            dt=dt,
            outcome=outcome,
            iterations=solves,
            linear_iterations=iterations,
            line_search_trials=0,
            increment=float(np.abs(solution.change).max()),
            linear_solver=self._solver.name,
            terms=terms,
            seconds=time.perf_counter() - clock,
        )
        if not outcome.ok:
            return state, memory, report
        return State(x, v, state.t + dt), memory, report

    def pin_filter(self, model: Model, state: State, dt: float) -> Filter:
        """Pins as constraints: no free direction, the change of velocity that takes them there."""
        fixed, target = model.prescribed(state.t + dt)
        ids = np.flatnonzero(fixed)
        if len(ids) == 0:
            return Filter.of(len(fixed), [])
        change = (target[ids] - state.x[ids]) / dt - state.v[ids]
        return Filter.of(len(fixed), [Constraint(ids.astype(np.int32), np.eye(3), change)])

    def solve(
        self,
        model: Model,
        state: State,
        dt: float,
        held: Filter,
        psd: Psd,
        alteration: Positions | None = None,
    ) -> ConstrainedSolution:
        """The change of velocity under the constraints ``held``, and their impulse."""
        A, b, _ = self._system(model, state, dt, psd, alteration)
        work = self._matrix("filtered", A.pattern)
        solution = solve_constrained(
            A, b, held, work, self._solver, self.settings.tolerance, self._prepared
        )
        self._prepared = solution.prepared
        return solution

    def system(
        self, model: Model, state: State, dt: float, alteration: Positions | None = None
    ) -> System:
        """A, b, forces and their Jacobians at ``state``, before constraints."""
        A, b, forces = self._system(model, state, dt, self.settings.psd, alteration)
        G, K = self._matrices["gauss_newton"], self._matrices["stiffness"]
        return System(
            A.to_scipy().tocsr().copy(),
            -K.to_scipy().tocsr(),
            -self.settings.damping * G.to_scipy().tocsr(),
            b,
            forces,
        )

    def _system(
        self, model: Model, state: State, dt: float, psd: Psd, alteration: Positions | None
    ) -> tuple[BlockCsr, Floats, dict[str, Forces]]:
        """A and b; leaves G and K (positive: minus df/dx) among the matrices."""
        if self._model is not model:
            self._model, self._matrices, self._prepared = model, {}, None
        a, beta = model.assembly, self.settings.damping
        x, v = kernel.array(state.x, vec3), kernel.array(state.v, vec3)
        forces = {}
        for name, bound in a.bound.items():
            g = kernel.zeros(a.n, vec3)
            bound.add_gradient(x, g)
            forces[name] = -np.array(kernel.numpy(g))
        K = self._copy("stiffness", a.hessian(x, psd))
        if beta > 0:
            G = self._copy("gauss_newton", a.hessian(x, Psd.GAUSS_NEWTON))
            forces["damping"] = -beta * (G @ state.v)
            if psd == Psd.EXACT:
                moving = {
                    n: c.moving(x, v) for n, c in a.bound.items() if isinstance(c, BoundCondition)
                }
                shifted = self._values(a.hessian(x, Psd.EXACT, moving))
                self._values(K)[...] += beta * (shifted - self._values(G))
        else:
            self._matrix("gauss_newton", a.pattern).values.zero_()
        A = self._matrix("system", a.pattern)
        values = self._values(A)
        values[...] = dt * dt * self._values(K)
        values += dt * beta * self._values(self._matrices["gauss_newton"])
        values[a.pattern.diagonal] += model.mass[:, None, None] * np.eye(3)
        moved = dt * state.v if alteration is None else dt * state.v + alteration
        total = sum(forces.values())
        b: Velocities = dt * (total - K @ moved)
        return A, b, forces

    def _matrix(self, name: str, pattern: Any) -> BlockCsr:
        if name not in self._matrices:
            self._matrices[name] = BlockCsr.zeros(pattern)
        return self._matrices[name]

    def _copy(self, name: str, A: BlockCsr) -> BlockCsr:
        kept = self._matrix(name, A.pattern)
        kept.values.assign(A.values)
        return kept

    @staticmethod
    def _values(A: BlockCsr) -> Floats:
        return kernel.numpy(A.values)
