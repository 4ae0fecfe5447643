"""Projection of local Hessians to positive semi-definite ones: negative eigenvalues become zero.

Eigenvalues are computed by Jacobi's method in device memory, one element a thread. It is meant for
energies with few elements and Hessians for which no projection is known in closed form.
"""

import warp as wp

from weft import kernel
from weft.kernel import Mat33Array3d, Scalar, ScalarArray3d, WarpArray, mat33

SWEEPS = wp.constant(40)  # most sweeps; ten are enough for matrices of 24 rows
TINY = wp.constant(Scalar(1e-17))  # entries off the diagonal that are zero, over the largest entry


@wp.func
def rotate(x: Scalar, y: Scalar, cosine: Scalar, sine: Scalar):
    """Return a pair of numbers after a rotation."""
    return cosine * x - sine * y, sine * x + cosine * y


@wp.kernel(module=wp.get_module("weft.eigenvalue_clamp"))
def clamp_blocks(o: int, H: Mat33Array3d, A: ScalarArray3d, V: ScalarArray3d):
    """Clamp the blocks H (m,k,k) of every element in place; A and V (m,3k,3k) are work arrays."""
    i = o + wp.tid()
    k = H.shape[1]
    n = 3 * k
    size = Scalar(0.0)
    for row in range(n):
        for column in range(n):
            # The average removes the part of round-off that is not symmetric.
            here = H[i, row / 3, column / 3]
            there = H[i, column / 3, row / 3]
            entry = Scalar(0.5) * (here[row % 3, column % 3] + there[column % 3, row % 3])
            A[i, row, column] = entry
            V[i, row, column] = Scalar(0.0)
            size = wp.max(size, wp.abs(entry))
        V[i, row, row] = Scalar(1.0)
    rotated = int(1)
    sweep = int(0)
    while rotated == 1 and sweep < SWEEPS:
        rotated = int(0)
        sweep += 1
        for p in range(n - 1):
            for q in range(p + 1, n):
                if wp.abs(A[i, p, q]) > TINY * size:
                    rotated = int(1)
                    theta = (A[i, q, q] - A[i, p, p]) / (Scalar(2.0) * A[i, p, q])
                    t = Scalar(1.0) / (wp.abs(theta) + wp.sqrt(theta * theta + Scalar(1.0)))
                    if theta < Scalar(0.0):
                        t = -t
                    c = Scalar(1.0) / wp.sqrt(t * t + Scalar(1.0))
                    s = t * c
                    for row in range(n):
                        ap, aq = rotate(A[i, row, p], A[i, row, q], c, s)
                        A[i, row, p] = ap
                        A[i, row, q] = aq
                        vp, vq = rotate(V[i, row, p], V[i, row, q], c, s)
                        V[i, row, p] = vp
                        V[i, row, q] = vq
                    for column in range(n):
                        ap, aq = rotate(A[i, p, column], A[i, q, column], c, s)
                        A[i, p, column] = ap
                        A[i, q, column] = aq
    for a in range(k):
        for b in range(k):
            block = mat33(Scalar(0.0))
            for row in range(3):
                for column in range(3):
                    for e in range(n):
                        value = wp.max(A[i, e, e], Scalar(0.0))
                        block[row, column] += value * V[i, 3 * a + row, e] * V[i, 3 * b + column, e]
            H[i, a, b] = block


def clamp_eigenvalues(H: WarpArray) -> None:
    """Set the negative eigenvalues of the Hessians H (m,k,k) mat33 to zero, in place."""
    m, k = H.shape[:2]
    A, V = (kernel.empty((m, 3 * k, 3 * k)) for _ in range(2))
    kernel.launch(clamp_blocks, m, H, A, V, work=kernel.HEAVY)
