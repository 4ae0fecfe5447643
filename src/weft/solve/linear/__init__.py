"""Linear solvers. ``solver`` is the interface; ``select`` chooses one by name.

``direct`` (PARDISO or SuperLU), ``conjugate_gradients`` (block Jacobi), ``multigrid`` (smoothed
aggregation) and ``batched_cholesky`` (eight matrices of one pattern) solve positive definite
systems. ``symmetric_indefinite`` solves with exact Hessians, ``low_rank`` adds rank-one terms
(Woodbury), ``constraints`` is the filter of Baraff & Witkin (1998, section 5).
"""
