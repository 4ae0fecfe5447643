"""Which linear solver runs: by name, or the fastest one installed."""

from collections.abc import Callable

from weft.errors import SolverError, check_known
from weft.solve.base import LinearSolver
from weft.solve.direct import Pardiso, Splu, have_pardiso
from weft.solve.multigrid import Multigrid
from weft.solve.pcg import BlockJacobiPcg

LINEAR_SOLVERS = ("auto", "multigrid", "pcg", "pardiso", "splu")


def linear_solver(name: str = "auto") -> LinearSolver:
    """A linear solver by name.

    ``auto`` is PARDISO where it is installed and block-Jacobi PCG elsewhere: at 66 x 66 vertices, h
    = 0.02 s, one solve took 12 ms, 190 ms and (``splu``) 310 ms (docs/decisions/0005).

    Raises:
        SolverError: an unknown name, or a solver that is not installed.
    """
    check_known(name, LINEAR_SOLVERS, "linear solver", SolverError)
    if name == "auto":
        name = "pardiso" if have_pardiso() else "pcg"
    makers: dict[str, Callable[[], LinearSolver]] = {
        "multigrid": Multigrid,
        "pcg": BlockJacobiPcg,
        "pardiso": Pardiso,
        "splu": Splu,
    }
    return makers[name]()
