"""Linear solvers.

``solver`` is the interface, and ``select`` chooses a solver by name. Positive definite systems are
solved by ``direct`` (PARDISO or SuperLU), by ``conjugate_gradients`` with the preconditioner
``block_jacobi`` or ``multigrid`` (smoothed aggregation). ``symmetric_indefinite`` solves with exact
Hessians that may have negative eigenvalues, ``low_rank`` adds rank-one terms (Woodbury's formula),
and ``constraints`` is the velocity filter of Baraff & Witkin (1998, section 5).
"""
