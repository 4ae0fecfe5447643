"""The linear solver of an integrator, with the symbolic work that its steps reuse."""

from weft.integrators.assembly import Assembly
from weft.integrators.model import Model
from weft.solve.linear.select import linear_solver
from weft.solve.linear.solver import LinearSolver, PreparedSolver, Stop
from weft.solve.sparse.block_csr import BlockCsr


class Solver:
    """The linear solver of an integrator for one model, with the symbolic work that it reuses.

    Reuse saves time only: no result depends on it.

    Args:
        name: of the linear solver.
        stop: error that an iterative solver's tolerance bounds.
        filters: whether matrices are filtered by constraints.
        early: whether steps may end before they have converged.
        exact: whether an equilibrium is searched.
    """

    def __init__(
        self,
        name: str,
        stop: Stop = Stop.ENERGY,
        filters: bool = False,
        early: bool = False,
        exact: bool = False,
    ) -> None:
        self.name, self.stop, self.filters, self.early = name, stop, filters, early
        self.exact = exact
        self.work: BlockCsr | None = None  # scratch for matrices that are filtered by constraints
        self.linear = linear_solver(name, 0, stop)  # raises an error for an unknown name
        self.assembly: Assembly | None = None  # whose symbolic work is reused
        self.prepared: PreparedSolver | None = None
        self.prepared_contact: PreparedSolver | None = None

    def __deepcopy__(self, memo: object) -> "Solver":
        """Return a solver with the same settings, without reused work."""
        return Solver(self.name, self.stop, self.filters, self.early, self.exact)

    def on(self, model: Model) -> LinearSolver:
        """Return the solver for the matrices of a step of a model.

        A model with another assembly starts without reused work. Models that differ in pins share
        an assembly. ``NewtonSystem`` forgets what a solver learned in earlier searches.
        """
        if self.assembly is not model.assembly:
            self.assembly, self.prepared, self.prepared_contact = model.assembly, None, None
            touching, n = model.contact is not None, len(model.mass)
            pattern = model.assembly.pattern
            self.work = BlockCsr.zeros(pattern) if self.filters else None
            # Rigid bodies and seams are so stiff that a few digits do not do.
            contact = model.contact
            early = self.early and contact is not None and contact.mesh.sides.sewn is None
            self.linear = linear_solver(
                self.name, n, self.stop, touching, pattern, early, self.exact
            )
        return self.linear
