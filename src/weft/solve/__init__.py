"""Sparse matrices, linear solvers and Newton's method.

The folder knows matrices, vectors and callables, but not cloth. Read it in this order:

1. ``sparse``: matrices of 3x3 blocks (``block_csr``), the lists from vertices to the elements that
   contain them (``incidence``), and vector operations.
2. ``linear``: the interface of a linear solver (``linear.solver``), the direct and iterative
   solvers, and the one that is chosen automatically (``linear.select``).
3. ``newton``: the loop that minimizes a function (``newton.minimize``), its search directions,
   (``newton.descent``, ``newton.shifted``), its line search and its stopping rules.
"""
