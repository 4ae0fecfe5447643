"""Random positive definite systems of 3 x 3 blocks."""

import numpy as np

from weft import kernel
from weft.kernel import mat33
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


def of_dense(dense, pattern):
    """The blocks of a matrix (3n,3n) that a pattern has."""
    n = len(dense) // 3
    blocks = dense.reshape(n, 3, n, 3)[pattern.row, :, pattern.column, :]
    return BlockCsr(pattern, kernel.array(blocks, mat33))


def spd(n, rng, shift=1.0):
    """A random positive definite matrix on a ring with chords, and the same as a dense one."""
    stencil = np.stack([np.arange(n), (np.arange(n) + 1) % n, (np.arange(n) + 5) % n], axis=1)
    pattern = BlockPattern.of(n, [stencil.astype(np.int32)])
    dense = np.zeros((n, 3, n, 3))
    for ids in stencil:
        g = rng.normal(size=(9, 9))
        K = (g @ g.T).reshape(3, 3, 3, 3)
        for a, i in enumerate(ids):
            for b, j in enumerate(ids):
                dense[i, :, j, :] += K[a, :, b, :]
    dense = dense.reshape(3 * n, 3 * n) + shift * np.eye(3 * n)
    return of_dense(dense, pattern), dense


def solution(prepared, b, tolerance):
    """What a solver finds for a right-hand side (n,3) in NumPy, and x in NumPy."""
    found = prepared.solve(kernel.points(np.ascontiguousarray(b)), tolerance)
    return found, np.array(kernel.numpy(found.x))
