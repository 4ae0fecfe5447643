"""Linear solver of experiments that need an equilibrium up to round-off."""

from weft.solve.linear.direct import direct_solver


def direct() -> str:
    """Return the name of a direct solver: PARDISO if it is installed, else SuperLU (of SciPy).

    Cloth that resists tension only is nearly singular where it is slack. Iterative solvers stop in
    the energy norm, which does not see motion that costs no energy, and Newton directions with a
    relative error of 1e-3 then make no progress (multigrid: 3000 iterations, and no equilibrium).
    On meshes of a few thousand vertices a factorization is exact, and faster too.
    """
    return direct_solver().name
