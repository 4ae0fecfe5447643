"""What a linear solver is.

Two phases, and results as data. Numerical failure is an outcome with advice.
"""

import enum
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from weft.kernel import WarpArray
from weft.solve.sparse.block_csr import BlockCsr


class Outcome(enum.Enum):
    """How a solve ended. The value is what to do about it."""

    CONVERGED = "converged"
    STOPPED = "stopped after the iterations asked for, at a lower potential than it began with"
    MAX_ITERATIONS = "the iteration limit was reached: use a smaller step, or raise the limit"
    STALLED = (
        "the line search found no lower energy: the state may be at round-off of its minimum, "
        "or the Hessian indefinite; use psd=PROJECTED or a smaller step"
    )
    NOT_DESCENT = (
        "the direction is uphill because the matrix is not positive definite; "
        "use psd=PROJECTED or a smaller step"
    )
    INDEFINITE = "the matrix is not positive definite; use psd=PROJECTED or a smaller step"
    STRETCHED = (
        "cloth stretches by more than the limit even in the smallest step: raise adaptive.limit, "
        "or look for a jump in what moves it"
    )
    GAINED = (
        "the linear model of a step of one solve stored energy that nothing put in, where contact "
        "turned the cloth: use a smaller step, or backward_euler"
    )
    BLOCKED = (
        "pins or bodies would have to pass through cloth, or stretch it past its limit: use a "
        "smaller step, or move them another way"
    )
    INTERSECTED = (
        "surfaces intersect that did not when the step began: use a smaller step; please report "
        "it, as no step should"
    )
    UNHELD = (
        "a load moves cloth or a rigid body away and nothing holds it, so that there is no "
        "equilibrium: pin or attach it, put a body in its way, let contact rub (friction: true), "
        "remove the load, or take steps of time (backward_euler)"
    )
    UNBALANCED = (
        "every lagged problem was solved, but normal forces and directions of friction still "
        "changed: raise lags, or take shorter load steps"
    )
    UNSETTLED = (
        "each search converged, but wind that was taken anew where it led moved the cloth again: "
        "cloth that flutters has no equilibrium; take steps of time (backward_euler), less wind, "
        "or hold the cloth at more places"
    )
    NOT_FINITE = "a value is not finite: the state has blown up; use a smaller step"

    @property
    def ok(self) -> bool:
        """True where the result counts: CONVERGED, or STOPPED as was asked for."""
        return self in (Outcome.CONVERGED, Outcome.STOPPED)

    @property
    def advice(self) -> str:
        """What to do."""
        return self.value


class Stop(enum.Enum):
    """What an iterative solver's tolerance bounds."""

    ENERGY = "error in the energy norm, over that of the solution"
    PRECONDITIONED = "sqrt(r.P^-1 r), over that of b (Baraff & Witkin 1998)"


@dataclass(frozen=True)
class LinearSolution:
    """x with A x = b, and how it went."""

    x: WarpArray  # (n,) vec3
    outcome: Outcome
    iterations: int  # 0 for a direct solver
    residual: float  # relative; each solver says in which norm
    rescued: bool = False  # by another solver, after this one's iterations ran out


class PreparedSolver(Protocol):
    """A matrix made ready for solves: a factorization, or a preconditioner."""

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b, (n,) vec3, to a relative ``tolerance``.

        Direct solvers always go to round-off.
        """


@runtime_checkable
class Learns(Protocol):
    """A prepared matrix that takes something from solves to the next matrix."""

    def forget(self) -> None:
        """Keep symbolic work alone: results of a search do not depend on those before it."""


class LinearSolver(Protocol):
    """The two-phase protocol of every linear solver."""

    @property
    def name(self) -> str:
        """What metrics call it."""

    @property
    def is_direct(self) -> bool:
        """True where a second right-hand side costs little beside ``prepare``."""

    def prepare(self, A: BlockCsr, previous: Any = None) -> PreparedSolver:
        """Take a matrix.

        ``previous`` (a result for the same pattern) lets symbolic work be kept.
        """
