"""A + W^T H W against SciPy's products."""

import numpy as np
import pytest
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.kernel import mat33
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern
from weft.solve.sparse.pull_back import Interpolation, PullBack

pytestmark = pytest.mark.quick

N, VERTICES = 12, 20


@pytest.fixture
def matrices(rng):
    """A of points, H of the first vertices and W."""
    columns = np.stack([rng.permutation(N)[:3] for _ in range(VERTICES)])
    rows = np.repeat(np.arange(VERTICES), 3)
    W = sp.csr_matrix((rng.normal(size=3 * VERTICES), (rows, columns.reshape(-1))))

    def random(n, stencil):
        pattern = BlockPattern.of(n, [stencil.astype(np.int32)])
        return BlockCsr(pattern, kernel.array(rng.normal(size=(pattern.n_blocks, 3, 3)), mat33))

    return random(N, columns), random(VERTICES, rng.integers(0, VERTICES - 5, (15, 4))), W


def product(H, W):
    W3 = sp.kron(W, sp.eye(3), format="csr")
    return (W3.T @ H.to_scipy() @ W3).toarray()


def test_on_a_pattern_that_is_extended(matrices):
    A, H, W = matrices
    products = PullBack.extending(Interpolation(W), H.pattern, A.pattern)
    assert products.target.base is A.pattern and products.target.n_blocks > A.pattern.n_blocks
    out = BlockCsr.zeros(products.target)
    products.add(H, out)
    products.add(H, out)
    np.testing.assert_allclose(out.to_scipy().toarray(), 2 * product(H, W), atol=1e-12)


def test_on_a_pattern_that_has_all_blocks(matrices):
    """Stale values are overwritten; rows of vertices that are not used count as zero."""
    _, H, W = matrices
    full = BlockPattern.of(N, [np.arange(N, dtype=np.int32)[None]])
    A = BlockCsr(full, kernel.array(np.full((full.n_blocks, 3, 3), 7.0), mat33))
    products = PullBack.of(Interpolation(W), H.pattern, full)
    products.add(H, A.begin())
    np.testing.assert_allclose(A.to_scipy().toarray(), product(H, W), atol=1e-12)
    used = (np.arange(VERTICES) % 2).astype(np.int32)
    half = BlockCsr(
        H.pattern, kernel.array(kernel.numpy(H.values) * used[H.pattern.row, None, None], mat33)
    )
    products.add(H, A.begin(), kernel.array(used, wp.int32))
    np.testing.assert_allclose(A.to_scipy().toarray(), product(half, W), atol=1e-12)
