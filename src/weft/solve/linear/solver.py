"""Interface of linear solvers: ``prepare`` a matrix, then ``solve`` for right-hand sides.

Results are data. A numerical failure is an ``Outcome`` with advice, not an exception.
"""

import enum
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from weft.kernel import WarpArray
from weft.solve.sparse.block_csr import BlockCsr


class Outcome(enum.Enum):
    """Result of a linear solve, a minimization or a step; the value is advice for the user."""

    CONVERGED = "converged"
    STOPPED = "stopped after the requested iterations, at a lower potential than at the start"
    MAX_ITERATIONS = (
        "the iteration limit was reached: make `step` shorter (equilibria: more `load_steps`), or "
        "raise `max_iterations`"
    )
    STALLED = "weft found no state of lower energy on its way to balance: make `step` shorter"
    NOT_DESCENT = "weft found no direction in which the energy falls: make `step` shorter"
    INDEFINITE = "the cloth is unstable, as under strong compression: make `step` shorter"
    STRETCHED = (
        "cloth stretches by more than the limit even in the smallest step: raise adaptive.limit, "
        "or look for a jump in the motion of pins and bodies"
    )
    GAINED = (
        "one linear solve per step gained energy, because contact turned the cloth: make `step` "
        "shorter, or use `integrator: backward_euler`"
    )
    BLOCKED = (
        "pins or bodies would pass through cloth, or stretch the cloth above its limit: change "
        "their motion; if bodies pinch the cloth, `contact: {pinch: thin}` continues with less "
        "thickness, and `pinch: release` lets the cloth pass through the bodies"
    )
    PASSES = (
        "a prescribed motion passes through cloth or a body: change the motion, or write "
        "`contact: {prescribed: pass}` to continue and count these intersections separately"
    )
    INTERSECTED = (
        "surfaces intersect after the step: make `step` shorter, and please report this mistake "
        "of weft"
    )
    UNHELD = (
        "a load moves cloth or a rigid body away, so there is no equilibrium: pin or attach it, "
        "put a body in its way, add friction (friction: true), remove the load, or use time "
        "steps (backward_euler)"
    )
    UNBALANCED = (
        "friction still changed after its last update: raise `lags`, or take more `load_steps`"
    )
    UNSETTLED = (
        "each search converged, but the updated wind moved the cloth again: cloth that flutters "
        "has no equilibrium; use time steps (backward_euler) or less wind, or hold the cloth at "
        "more places"
    )
    NOT_FINITE = (
        "a value is not finite, because the simulation became unstable; make `step` shorter"
    )

    @property
    def ok(self) -> bool:
        """Return True if the result can be used: CONVERGED, or STOPPED as requested."""
        return self in (Outcome.CONVERGED, Outcome.STOPPED)

    @property
    def advice(self) -> str:
        """Return what the user can do about this outcome."""
        return self.value


class Stop(enum.Enum):
    """Error that an iterative solver's tolerance bounds."""

    ENERGY = "error in the energy norm, over that of the solution"
    PRECONDITIONED = "sqrt(r.P^-1 r), over that of b (Baraff & Witkin 1998)"


@dataclass(frozen=True)
class LinearSolution:
    """Solution x of A x = b, and how the solve went."""

    x: WarpArray  # (n,) vec3
    outcome: Outcome
    iterations: int  # 0 for a direct solver
    residual: float  # relative; each solver documents its norm
    rescued: bool = False  # whether another solver finished, after this one's iteration limit


class PreparedSolver(Protocol):
    """Interface of a matrix prepared for solves: factorized, or with a preconditioner."""

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b.

        Args:
            b: (n,) vec3 right-hand side.
            tolerance: relative error of an iterative solver; direct solvers always solve to
                round-off.
        """


@runtime_checkable
class AdaptivePrepared(PreparedSolver, Protocol):
    """Prepared matrix that carries information from its solves over to the next matrix."""

    def forget(self) -> None:
        """Discard all but symbolic work, so that a search does not depend on earlier searches."""


class LinearSolver(Protocol):
    """Interface of a linear solver with two phases, ``prepare`` and ``solve``."""

    @property
    def name(self) -> str:
        """Return the solver's name, as it appears in metrics."""

    @property
    def is_direct(self) -> bool:
        """Return True if a second right-hand side costs little compared with ``prepare``."""

    def prepare(self, A: BlockCsr, previous: PreparedSolver | None = None) -> PreparedSolver:
        """Factorize A, or build its preconditioner.

        Args:
            A: (n,n) blocks.
            previous: result of an earlier call for the same pattern, whose symbolic work is reused;
                None: none.
        """
