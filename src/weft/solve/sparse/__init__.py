"""Sparse matrices and vector operations.

``block_csr`` holds matrices of 3x3 blocks and their patterns, ``scalar_csr`` matrices of numbers.
``incidence`` lists the elements of each vertex, from which such matrices are assembled. ``vectors``
has the dot products and norms, ``block_arithmetic`` the products of block rows with vector
instructions. ``pull_back`` computes A + W^T H W for vertices that are weighted sums of points.
"""
