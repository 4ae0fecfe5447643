"""Choice of the linear solver: by name, or the fastest one that is installed."""

from weft import extensions
from weft.base.errors import SolverError, check_known
from weft.solve.linear.block_jacobi import BlockJacobiPcg
from weft.solve.linear.direct import Pardiso, Splu, have_pardiso
from weft.solve.linear.solver import LinearSolver, Stop
from weft.solve.sparse.block_csr import BlockPattern

LINEAR_SOLVERS = extensions.Names("linear solvers", "auto")
DIRECT_UP_TO = 500  # vertices; above, multigrid is faster than PARDISO (docs/decisions/0007)
DIRECT_EXACT = 12_000  # the same for equilibria and derivatives, which need more digits than steps
# Vertices up to which PARDISO is faster if rows have more than WIDE blocks; splines have 25 a row.
DIRECT_WIDE, WIDE = 2_000, 16
# Vertices up to which PARDISO is faster with contact: the pattern changes in every step, so the
# symbolic phase is repeated (docs/decisions/0017).
DIRECT_WITH_CONTACT = 1_200
# The same if steps may end early: their iterative solves need few digits.
DIRECT_EARLY = 150


def linear_solver(
    name: str = "auto",
    n: int = 0,
    stop: Stop = Stop.ENERGY,
    contact: bool = False,
    pattern: BlockPattern | None = None,
    early: bool = False,
    exact: bool = False,
) -> LinearSolver:
    """Return a linear solver by name.

    Args:
        name: one of ``LINEAR_SOLVERS``; ``auto`` is PARDISO if it is installed and n is small, else
            multigrid.
        n: block rows (vertices) of the systems to solve.
        stop: error that an iterative solver's tolerance bounds.
        contact: whether the pattern changes with the pairs in contact.
        pattern: pattern of the systems to solve; None: not known.
        early: whether steps may end before they have converged, so that errors of 0.1 will do.
        exact: whether PARDISO may have ``DIRECT_EXACT`` vertices, as in the search for equilibria,
            whose matrices have no inertia.

    Raises:
        SolverError: an unknown name, or a solver that is not installed.
    """
    check_known(name, LINEAR_SOLVERS, "linear solver", SolverError)
    if name == "auto":
        most = DIRECT_WITH_CONTACT if contact else DIRECT_EXACT if exact else DIRECT_UP_TO
        if pattern is not None and pattern.n_blocks > WIDE * pattern.n:
            most = min(most, DIRECT_WIDE)
        elif contact and early:
            most = DIRECT_EARLY
        name = "pardiso" if have_pardiso() and n <= most else "multigrid"
    made: LinearSolver = extensions.find("linear solvers", name)(stop)
    return made


def pcg(stop: Stop) -> LinearSolver:
    """Return conjugate gradients whose tolerance bounds this error."""
    return BlockJacobiPcg(stop=stop)


def pardiso(stop: Stop) -> LinearSolver:
    """Return PARDISO, which is exact for every kind of error."""
    return Pardiso()


def splu(stop: Stop) -> LinearSolver:
    """Return SuperLU, which is exact for every kind of error."""
    return Splu()
