"""Maps between the vertices of the collision mesh and the points of the simulation.

The vertices are the points themselves, or fixed combinations x = W c of points c (splines).
Everything is evaluated at the vertices and pulled back to the points: energies as they are,
gradients as W^T g, Hessians as W^T H W. Collision detection is exact for the triangles between the
vertices, so these never intersect.
"""

from collections.abc import Callable, Sequence

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Ints, Positions
from weft.contact.assembly.contact_matrix import (
    ExtendedMatrix,
    PairBlocks,
    pattern_with_pairs,
    stack,
)
from weft.discretization.embedding import Embedding
from weft.energies.step import Step
from weft.kernel import IntArray, Scalar, ScalarArray, Vec3Array, WarpArray, mat33, vec3
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern
from weft.solve.sparse.pull_back import Interpolation, PullBack

_module = wp.get_module("weft.embedded")
PatternPairs = Callable[[], WarpArray]  # (k,4) pairs that soon may be in contact, on the device


@wp.kernel(module=_module)
def weighted_lengths(
    o: int, start: IntArray, column: IntArray, weight: ScalarArray, d: Vec3Array, out: ScalarArray
):
    """Write sum_a |w_a| |d_a| for every vertex."""
    i = o + wp.tid()
    sum = Scalar(0.0)
    for b in range(start[i], start[i + 1]):
        sum += wp.abs(weight[b]) * wp.length(d[column[b]])
    out[i] = sum


@wp.kernel(module=_module)
def shorten(o: int, d: Vec3Array, part: ScalarArray, out: Vec3Array):
    """Write part[v] d[v]."""
    v = o + wp.tid()
    out[v] = part[v] * d[v]


@wp.kernel(module=_module)
def shorten_points(
    o: int, start: IntArray, column: IntArray, d: Vec3Array, part: ScalarArray, out: Vec3Array
):
    """Write d[v] times the least part of the vertices that point v moves."""
    v = o + wp.tid()
    least = Scalar(1.0)
    for b in range(start[v], start[v + 1]):
        least = wp.min(least, part[column[b]])
    out[v] = least * d[v]


class ContactEmbedding:
    """The map from points (N,3) to vertices (n,3), and back; here vertices are the points
    themselves. Matrix patterns are kept from one matrix to the next.
    """

    def __init__(self, n: int) -> None:
        self.n = n  # number of vertices
        self._joined: ExtendedMatrix | None = None
        self._values = kernel.GrowingArray(mat33)
        self.has_joined = False  # whether a matrix of this step has a pattern of its own

    def to_surface(self, x: WarpArray, out: WarpArray) -> None:
        """Write the vertices of points (N,) vec3 into the first n entries of ``out``."""
        kernel.copy(x, out)

    def of(self, x: Positions) -> Positions:
        """Return the vertices (n,3) of points (N,3)."""
        return x

    def whole(self, points: Bools) -> Bools:
        """Return which vertices depend only on the given points (N,) bool, (n,) bool."""
        return points

    def points_of(self, vertices: Ints) -> tuple[Ints, Bools]:
        """Return the points on which vertices (k,) depend, (k,w), and which of these entries count,
        (k,w) bool.
        """
        return vertices[:, None], np.ones((len(vertices), 1), dtype=bool)

    def gradient_of(self, g: WarpArray) -> WarpArray:
        """Return the array in which gradients by the vertices (n,) vec3 are summed; ``pull_back``
        then adds it to g (N,).
        """
        return g

    def pull_back(self, local: WarpArray, g: WarpArray) -> None:
        """Add the gradient ``local`` by the vertices to the gradient g by the points, if it was not
        summed in g itself.
        """

    def bounds(self, d: WarpArray, size: int) -> WarpArray | None:
        """Return how far vertices move at most if points move by d (N,), (size,) [m].

        Entries after those of the vertices are 0. None if the vertices are the points: then the
        part of a point's displacement is the part of its vertex's displacement.
        """
        return None

    def shorten_displacements(self, d: WarpArray, part: WarpArray) -> WarpArray:
        """Return the displacements d of points, shortened so that every vertex keeps within its
        part (n,), (N,) vec3.
        """
        out = kernel.empty(self.n, vec3)
        kernel.launch(shorten, self.n, d, part, out)
        return out

    def add_hessian(
        self, A: BlockCsr, blocks: Sequence[PairBlocks], pattern_pairs: PatternPairs
    ) -> BlockCsr:
        """Return A plus the blocks of pairs of vertices, on a pattern that holds both.

        Args:
            A: matrix of the points.
            blocks: Hessians of the pairs.
            pattern_pairs: returns the pairs that may be in contact soon, which a new pattern also
                holds.
        """
        return self._add_blocks(A, blocks, pattern_pairs)

    def begin(self, step: Step) -> None:
        """Begin a step; without ``same_pattern`` with a new pattern, because results would depend
        on earlier steps.
        """
        self.has_joined = False
        if not step.same_pattern:
            self.forget()

    def forget(self) -> None:
        """Discard the pattern."""
        self._joined = None

    def _add_blocks(
        self, A: BlockCsr, blocks: Sequence[PairBlocks], pattern_pairs: PatternPairs
    ) -> BlockCsr:
        """Return the matrix A of the vertices plus the blocks."""
        matrix, self.has_joined = None, True
        if self._joined is not None and self._joined.extends(A):
            matrix = self._joined.add(A, blocks)
        if matrix is None:
            every = stack([*(b.pairs.device[0] for b in blocks), pattern_pairs()])
            pattern = pattern_with_pairs(A.pattern, every)
            self._joined = ExtendedMatrix.of(pattern, self._values.take(pattern.n_blocks))
            matrix = self._joined.add(A, blocks)
        assert matrix is not None  # the new pattern has every pair's blocks
        return matrix


@wp.kernel(module=_module)
def mark_used(o: int, start: IntArray, used: IntArray):
    """Mark the vertices that belong to a pair."""
    i = o + wp.tid()
    if start[i + 1] > start[i]:
        used[i] = 1


class WeightedEmbedding(ContactEmbedding):
    """The embedding of vertices that are weighted sums of points, x = W c.

    Args:
        embedding: the weights W.
        weights: the same on the device.
    """

    def __init__(self, embedding: Embedding, weights: Interpolation) -> None:
        super().__init__(len(embedding))
        self.W, self.weights = embedding, weights
        # The matrix of the vertices without contacts, which is zero and is never written to.
        self.nothing = BlockCsr.zeros(BlockPattern.of(self.n, []))
        self._pulled: tuple[PullBack, ExtendedMatrix] | None = None
        self._local = kernel.empty(self.n, vec3)

    def forget(self) -> None:
        """Discard the patterns of both matrices."""
        super().forget()
        self._pulled = None

    def to_surface(self, x: WarpArray, out: WarpArray) -> None:
        """Write W x to ``out``."""
        self.weights.to_vertices(x, out)

    def of(self, x: Positions) -> Positions:
        """Return W x."""
        return self.W.of(x)

    def whole(self, points: Bools) -> Bools:
        """Return which vertices no other point moves, (n,) bool."""
        return np.asarray((abs(self.W.matrix) @ (~points).astype(np.float64)) == 0.0)

    def points_of(self, vertices: Ints) -> tuple[Ints, Bools]:
        """Return the points of each vertex, and which of them have weights that are not zero."""
        return self.W.stencil[vertices], self.W.weight[vertices] != 0

    def gradient_of(self, g: WarpArray) -> WarpArray:
        """Return an array of zeros, (n,) vec3."""
        self._local.zero_()
        return self._local

    def pull_back(self, local: WarpArray, g: WarpArray) -> None:
        """Add W^T ``local`` to g."""
        self.weights.pull_back(local, g)

    def bounds(self, d: WarpArray, size: int) -> WarpArray:
        """Return |W| |d|, (size,) [m]."""
        out = kernel.zeros(size)
        kernel.launch(weighted_lengths, self.n, *self.weights.rows.arrays, d, out)
        return out

    def shorten_displacements(self, d: WarpArray, part: WarpArray) -> WarpArray:
        """Return d, where each point keeps the least part of the vertices that it moves: a vertex
        moves by at most |W| |d|, so that is safe.
        """
        out, t = kernel.empty(d.shape[0], vec3), self.weights.transposed
        kernel.launch(shorten_points, t.n, t.start, t.column, d, part, out)
        return out

    def add_hessian(
        self, A: BlockCsr, blocks: Sequence[PairBlocks], pattern_pairs: PatternPairs
    ) -> BlockCsr:
        """Return A + W^T H W."""
        H = self._add_blocks(self.nothing, blocks, pattern_pairs)
        if self._pulled is None or not (
            self._pulled[0].source is H.pattern and self._pulled[1].extends(A)
        ):
            products = PullBack.extending(self.weights, H.pattern, A.pattern)
            self._pulled = products, ExtendedMatrix.of(products.target)
        products, extended = self._pulled
        used = kernel.zeros(self.n, wp.int32)
        for pairs in blocks:
            kernel.launch(mark_used, self.n, pairs.pairs.incidence(self.n).start, used)
        out = extended.copy_of(A)
        products.add(H, out, used)
        return out
