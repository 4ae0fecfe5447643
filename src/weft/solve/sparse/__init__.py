"""Sparse matrices of 3x3 blocks and of numbers, incidence, and vector operations."""
