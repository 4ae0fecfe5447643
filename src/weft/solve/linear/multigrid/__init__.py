"""Conjugate gradients with smoothed-aggregation multigrid as the preconditioner.

Read ``aggregation`` first: it computes the prolongators and the patterns of all levels.
``hierarchy`` holds the levels and the cycle through them, and ``solver`` is the linear solver. The
kernels are in ``galerkin_kernels`` (coarse matrices), ``cycle_kernels`` (smoothing, transfers and
conjugate gradients) and ``dense_kernels`` (inverse of the coarsest matrix).
"""
