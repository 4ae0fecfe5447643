"""Matrices, linear solvers and the minimizer. Knows matrices and callables, not cloth."""
