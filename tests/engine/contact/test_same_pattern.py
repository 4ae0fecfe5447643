"""Matrices keep their blocks from step to step, and results do not know it."""

import numpy as np
import pytest
import warp as wp

import weft
from tests.reference.contact_sets import contact_set
from tests.stepping import nothing_crosses, steps
from weft import kernel
from weft.contact.assembly import contact_matrix as rows
from weft.contact.assembly import lumped_pairs
from weft.kernel import mat33, vec3
from weft.scene.prepare import prepare
from weft.solve.linear.multigrid.solver import Multigrid
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


def falling(linear):
    cloth = weft.sheet(15, 15, 0.3, 0.3, fabric="cotton", pattern="alternating")
    cloth = cloth.move((0.01, 0.115, 0.02), (3, 0, 2))
    ball = weft.contact.sphere(0.1, 0.02, "ball")
    return weft.Scene(
        cloth,
        step=0.01,
        bodies=[ball],
        contact=weft.SelfContact(3e-3, friction=0.3),
        settings=weft.StepSettings(linear=linear),
    )


def go_on_bitwise(scene, whole, places):
    """Runs that go on from the k-th of all steps, by another stepper and model, have their bits."""
    for k in places:
        rest = steps(scene, len(whole) - k, begin=whole[k - 1][:2])
        for (a, _, _), (b, _, _) in zip(whole[k:], rest, strict=True):
            assert np.array_equal(a.x, b.x) and np.array_equal(a.v, b.v)


@pytest.mark.parametrize("linear", ["multigrid", "pcg", "splu"])
def test_steps_do_not_depend_on_patterns_before(linear):
    """A run that is taken up in the middle, by another stepper and model, has the same bits."""
    scene = falling(linear)
    whole = list(steps(scene, 18))
    assert whole[-1][2].contact["count"] > 100
    go_on_bitwise(scene, whole, (10, 14))


def heap(**more):
    """Seven sheets that fall on one another and a plate, a few pairs on every vertex."""
    sheets = [
        weft.sheet(12, 12, 0.2, 0.2, fabric="cotton").move(
            (0.004 * k, 0.012 + 0.007 * k, 0), (2, 9 * k, 0)
        )
        for k in range(7)
    ]
    return weft.Scene(
        weft.join(sheets),
        step=0.01,
        bodies=[weft.contact.plate(0.5, 0.5)],
        contact=weft.SelfContact(4e-3, friction=0.3),
        settings=weft.StepSettings(linear="multigrid", **more),
    )


def test_who_comes_late_is_lumped(monkeypatch):
    """Where a search may end early, the few pairs that come late in a step are lumped; who they are
    does not depend on the steps before: a run that is taken up has the same bits.
    """
    found, among = [], lumped_pairs.LumpedPairs.among

    def told(self, y, contacts):
        late = among(self, y, contacts)
        found.append(0 if late is None else int(kernel.numpy(late).sum()))
        return late

    monkeypatch.setattr(lumped_pairs.LumpedPairs, "among", told)
    scene = heap(effort="interactive")
    whole = list(steps(scene, 14))
    assert whole[-1][2].contact["count"] > 1.5 * len(scene.cloth.points)
    assert np.count_nonzero(found) > 2
    nothing_crosses(prepare(scene).model, whole[-1][0], whole[-1][2])
    go_on_bitwise(scene, whole, (9, 11))
    found.clear()
    list(steps(heap(), 7))
    assert not found  # what has to converge lumps nothing


def test_lumped_matrices_are_more_than_the_whole(rng):
    """In every direction; the bits are the same where the pattern has the blocks that are left out.
    Blocks that are missing are noticed where nobody comes late.
    """
    n, m = 20, 30
    stencil = np.stack([rng.permutation(n)[:4] for _ in range(m)]).astype(np.int32)
    factors = rng.normal(size=(m, 3, 4, 3))
    late = (np.arange(m) % 5 == 0).astype(np.uint8)
    dense, expected = np.zeros((2, n, n, 3, 3))
    for s, f, is_late in zip(stencil, factors, late, strict=True):
        H, size = np.einsum("rai,rbj->abij", f, f), np.linalg.norm(f, axis=2)
        dense[np.ix_(s, s)] += H
        if is_late:  # sum over r of f_a f_a^T sum_b |f_b| / |f_a|
            expected[s, s] += np.einsum("ra,rai,raj->aij", size.sum(1)[:, None] / size, f, f)
        else:
            expected[np.ix_(s, s)] += H

    def added(pattern, late):
        A, missing = BlockCsr.zeros(pattern), kernel.zeros(1, wp.int32)
        touch = contact_set(stencil, np.zeros(m, np.int32), 1.0, 1.0)
        local = kernel.array(factors, vec3)
        marks = None if late is None else kernel.array(late, wp.uint8)
        rows.PairBlocks(touch, local, marks).add(A, missing)
        out = np.zeros((n, n, 3, 3))
        out[pattern.row, pattern.column] = kernel.numpy(A.values)
        return out, int(kernel.scalar(missing))

    def least(blocks):
        return np.linalg.eigvalsh(blocks.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)).min()

    without, whole = BlockPattern.of(n, [stencil[late == 0]]), BlockPattern.of(n, [stencil])
    assert added(without, None)[1] == 1
    np.testing.assert_allclose(added(whole, None)[0], dense, atol=1e-12)
    lumped, missing = added(without, late)
    assert missing == 0
    np.testing.assert_array_equal(lumped, added(whole, late)[0])
    np.testing.assert_allclose(lumped, expected, atol=1e-12)
    assert least(lumped - dense) > -1e-10 and abs(lumped - dense).max() > 1


def test_a_rescue_leaves_out_blocks_of_zeros(rng):
    """An indefinite matrix is solved directly, with the same digits whatever its pattern is."""
    n = 12
    pairs = np.stack([np.arange(n - 1), np.arange(1, n)], 1).astype(np.int32)
    small = BlockPattern.of(n, [pairs])
    large = BlockPattern.of(n, [pairs, rng.integers(0, n, (20, 2)).astype(np.int32)])
    assert large.n_blocks > small.n_blocks
    values = rng.normal(size=(small.n_blocks, 3, 3))
    dense = np.zeros((n, n, 3, 3))
    dense[small.row, small.column] = values
    dense = dense + dense.transpose(1, 0, 3, 2)
    dense[np.arange(n), np.arange(n)] += 6 * np.eye(3)
    dense[0, 0] -= 20 * np.eye(3)
    b = kernel.array(rng.normal(size=(n, 3)), vec3)
    found = []
    for pattern in (small, large):
        blocks = np.ascontiguousarray(dense[pattern.row, pattern.column])
        A = BlockCsr(pattern, kernel.array(blocks, mat33))
        found.append(Multigrid().prepare(A).solve(b, 1e-8))
    assert found[0].outcome is found[1].outcome
    assert np.array_equal(kernel.numpy(found[0].x), kernel.numpy(found[1].x))
