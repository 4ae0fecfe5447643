"""Which linear solver the certificate takes where an equilibrium is asked for to round-off."""

from weft.solve.linear.direct import have_pardiso


def direct() -> str:
    """PARDISO where it is installed, else SuperLU, which comes with SciPy.

    Cloth that resists tension only is all but singular where it is slack: the energy norm, in which
    iterative solvers stop, does not see motion that costs no energy, and Newton's directions of a
    relative error of 1e-3 then lead nowhere (multigrid: 3000 iterations, and no equilibrium). On
    meshes of a few thousand vertices a factorization is exact, and faster too.
    """
    return "pardiso" if have_pardiso() else "splu"
