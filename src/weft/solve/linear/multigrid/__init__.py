"""Conjugate gradients with smoothed-aggregation multigrid.

``aggregation`` is the symbolic half, ``hierarchy`` holds the levels and a cycle through them,
``solver`` is the linear solver. ``galerkin_kernels`` renew the levels, ``cycle_kernels`` smooth and
transfer, ``dense_kernels`` invert the coarsest matrix.
"""
