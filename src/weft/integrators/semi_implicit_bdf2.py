"""The semi-implicit step of Choi & Ko (2002): BDF2 with forces linearized at x_n, one solve a step.

    (M - 2/3 h D - 4/9 h^2 K) dv = 1/3 M (v_n - v_(n-1)) + 2/3 h [f_n + 1/3 K (x_n - x_(n-1) + 2 h
    v_n)],   v' = v_n + dv,   x' = 4/3 x_n - 1/3 x_(n-1) + 2/3 h v'

These coefficients are those of equal steps; ``bdf2`` has the coefficients of unequal ones. The
system is solved for x' - x_n, which is one full Newton iteration on the potential of ``Bdf2`` from
x_n: (M/s + H) (x' - x_n) = M (y - x_n)/s - dE/dx(x_n).
"""

import dataclasses
import time
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.energies.state import State
from weft.energies.step import Step
from weft.integrators.base import AnyMemory, Memory, StepLength, StepReport
from weft.integrators.bdf2 import no_history, plan_step, remember
from weft.integrators.impacts import step_with_impacts
from weft.integrators.linearized import QuadraticModel, finish, refuse_for_one_solve
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.step_solver import Solver
from weft.kernel import Scalar, WarpArray, vec3
from weft.solve.linear.constraints import ConstrainedSolution, Constraint, Filter, solve_constrained
from weft.solve.linear.select import LINEAR_SOLVERS
from weft.solve.linear.solver import Outcome
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, add_diagonal


@checked(SceneError, "SemiImplicitSettings")
@documented
@dataclass(frozen=True)
class SemiImplicitSettings:
    """Accuracy of the semi-implicit step of Choi & Ko (2002)."""

    psd: Psd = setting(
        Psd.PROJECTED,
        "derivatives of forces; projected: drop the terms that make the matrix indefinite, like "
        "Choi & Ko (order 2 if nothing is dropped); exact: keep all terms, and solve a step with "
        "an indefinite matrix again with projected",
    )
    tolerance: float = setting(
        1e-2,
        "relative error of the solve in the energy norm; direct solvers go to round-off",
        above=0,
        below=1,
    )
    linear: str = setting(
        "auto", "linear solver; auto: the fastest solver for the size", choices=LINEAR_SOLVERS
    )
    most_speed: float = setting(1e4, "speed above which a step counts as diverged", "m/s", above=0)


@checked(SceneError, "stepper", unchecked=("init",))
class SemiImplicitBdf2:
    """Second-order backward difference with one linear solve in each step."""

    order: ClassVar[int] = 2

    def __init__(self, settings: SemiImplicitSettings | None = None) -> None:
        self.settings = settings or SemiImplicitSettings()
        self._solver = Solver(self.settings.linear, filters=True)

    def init(self, model: Model, state: State) -> Memory:
        """Return a memory without a step before the first one."""
        return no_history(state)

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
    ) -> tuple[State, Memory, StepReport]:
        """Advance ``state`` by dt [s]; see ``Integrator.step``.

        If the outcome is not CONVERGED, the state and memory returned are the given ones.
        """
        return step_with_impacts(self._take, model, state, memory, dt)

    def _take(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """Take one step with the history that ``memory`` has."""
        clock, wanted = time.perf_counter(), self.settings.psd
        self._solver.on(model)
        step = dataclasses.replace(plan_step(model, state, memory, dt), memory=memory)
        phi = Potential(model, step)
        solution, b = self._solve(model, phi.step, wanted)
        solves = 1
        if solution.linear.outcome is Outcome.INDEFINITE and wanted is Psd.EXACT:
            solution, b = self._solve(model, phi.step, Psd.PROJECTED)
            solves = 2
        quadratic = partial(self._model_of, model, phi.step, b)
        x = state.x + solution.change
        increment = float(np.abs(solution.change).max()) / dt
        after, kept, report = finish(
            model,
            phi,
            self._solver,
            solution.linear,
            (x, phi.step.velocity(x)),
            quadratic,
            float((solution.impulse * solution.change).sum()),
            self.settings.most_speed,
            clock,
            solves,
            increment=increment,
            indefinite=solves - 1,
        )
        return after, {**remember(state, dt), **kept} if report.outcome.ok else memory, report

    def _solve(self, model: Model, step: Step, psd: Psd) -> tuple[ConstrainedSolution, Floats]:
        """Solve for x' - x_n with pinned vertices taken to their targets; return it and b [N]."""
        a, s = model.assembly, self._solver
        assert step.scale is not None
        x = kernel.points(np.array(step.state.x))
        refuse_for_one_solve(model, x, "bdf2_semi_implicit")
        g = kernel.zeros(a.n, vec3)
        a.add_gradient(x, g)
        pull = a.mass[:, None] / step.scale * (step.predicted - step.state.x)
        b: Floats = pull - kernel.numpy(g)
        A = self._matrix(model, step, x, psd)
        ids = np.flatnonzero(step.fixed).astype(np.int32)
        change = step.target[ids] - step.state.x[ids]
        held = Filter.of(a.n, [Constraint(ids, np.eye(3), change)] if len(ids) else [])
        assert s.work is not None
        settings = (s.linear, self.settings.tolerance, s.prepared)
        with a.phases("solve"):
            solution = solve_constrained(A, b, held, s.work, *settings)
        s.prepared = solution.prepared
        return solution, b

    @staticmethod
    def _matrix(model: Model, step: Step, x: WarpArray, psd: Psd) -> BlockCsr:
        """Assemble M/s + H(x), which is valid until the next call."""
        assert step.scale is not None
        A = model.assembly.hessian(x, psd)
        add_diagonal(A, kernel.array(model.assembly.mass / step.scale, Scalar))
        return A

    def _model_of(self, model: Model, step: Step, b: Floats) -> QuadraticModel:
        """Return the quadratic model that the solve minimizes, with PROJECTED Hessians."""
        x = kernel.points(np.array(step.state.x))
        A = self._matrix(model, step, x, Psd.PROJECTED)
        return QuadraticModel(A, kernel.array(b, vec3), x)
