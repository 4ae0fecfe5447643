"""What moves the vertices that meet: they are the points of the simulation themselves, or fixed
combinations x = W c of points c (splines).

Everything is measured at the vertices, and pulled back: energies as they are, gradients as W^T g,
Hessians as W^T H W. What the collision detection allows is exact for the triangles between the
vertices, so these never intersect.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Ints, Positions
from weft.contact.assembly.contact_matrix import JoinedPattern, PairBlocks, stacked
from weft.contact.assembly.pull_back import DeviceWeights, PulledPattern, mark_touching
from weft.kernel import Scalar, WarpArray, mat33, vec3
from weft.solve.sparse.block_csr import BlockCsr

_module = wp.get_module("weft.embedded")
Soon = Callable[[], WarpArray]  # (k,4) pairs that soon may be in contact, on the device


class ContactEmbedding(ABC):
    """From points (N,3) to vertices (n,3), and back. Patterns are kept from matrix to matrix."""

    n: int  # vertices

    def __init__(self) -> None:
        self._joined: JoinedPattern | None = None
        self._values = kernel.Grown(mat33)
        self.has_joined = False  # whether a matrix of this step has blocks of pairs

    @abstractmethod
    def to_surface(self, x: WarpArray, out: WarpArray) -> None:
        """Vertices of points (N,), into the first n of ``out``."""

    @abstractmethod
    def of(self, x: Positions) -> Positions:
        """(n,3) vertices of points (N,3)."""

    @abstractmethod
    def whole(self, points: Bools) -> Bools:
        """(n,) vertices all of whose points are of those given (N,)."""

    @abstractmethod
    def points_of(self, vertices: Ints) -> tuple[Ints, Bools]:
        """(k,w) points that move vertices (k,), and which of these do."""

    @abstractmethod
    def gradient_of(self, g: WarpArray) -> WarpArray:
        """Where gradients of vertices (n,) are added up, that ``pull_back`` adds to g (N,)."""

    @abstractmethod
    def pull_back(self, local: WarpArray, g: WarpArray) -> None:
        """g += the gradient of points that belongs to one of vertices."""

    @abstractmethod
    def bounds(self, d: WarpArray, size: int) -> WarpArray | None:
        """(size,) [m] how far vertices move at most whose points move by d (N,), and zeros after
        them; None where a part of a point's way is that part of its vertex's.
        """

    @abstractmethod
    def shortened(self, d: WarpArray, part: WarpArray) -> WarpArray:
        """(N,) displacements of points that keep every vertex within its part (n,)."""

    @abstractmethod
    def add_hessian(self, A: BlockCsr, blocks: Sequence[PairBlocks], soon: Soon) -> BlockCsr:
        """A plus the blocks of pairs of vertices, on a pattern that holds both; a new pattern also
        holds the pairs that ``soon`` gives.
        """

    def begin(self, same_pattern: bool) -> None:
        """Begin a step; with a new pattern where results would depend on what came before."""
        self.has_joined = False
        if not same_pattern:
            self.forget()

    def forget(self) -> None:
        """Keep no pattern."""
        self._joined = None

    def _joined_with(self, A: BlockCsr, blocks: Sequence[PairBlocks], soon: Soon) -> BlockCsr:
        """A of vertices plus the blocks."""
        matrix, self.has_joined = None, True
        if self._joined is not None and self._joined.elastic is A.pattern:
            matrix = self._joined.add(A, blocks)
        if matrix is None:
            every = stacked([*(b.stencil for b in blocks), soon()])
            self._joined = JoinedPattern.of(A.pattern, every, self._values)
            matrix = self._joined.add(A, blocks)
        assert matrix is not None  # the new pattern has every pair's blocks
        return matrix


@wp.kernel(module=_module)
def weighted_lengths(
    o: int,
    start: wp.array(dtype=wp.int32),
    column: wp.array(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    d: wp.array(dtype=vec3),
    out: wp.array(dtype=Scalar),
):
    """sum_a |w_a| |d_a|."""
    i = o + wp.tid()
    sum = Scalar(0.0)
    for b in range(start[i], start[i + 1]):
        sum += wp.abs(weight[b]) * wp.length(d[column[b]])
    out[i] = sum


@wp.kernel(module=_module)
def shorten(
    o: int, d: wp.array(dtype=vec3), part: wp.array(dtype=Scalar), out: wp.array(dtype=vec3)
):
    """part d."""
    v = o + wp.tid()
    out[v] = part[v] * d[v]


@wp.kernel(module=_module)
def shorten_points(
    o: int,
    start: wp.array(dtype=wp.int32),
    column: wp.array(dtype=wp.int32),
    d: wp.array(dtype=vec3),
    part: wp.array(dtype=Scalar),
    out: wp.array(dtype=vec3),
):
    """The least part of the vertices that a point moves, times d."""
    v = o + wp.tid()
    least = Scalar(1.0)
    for b in range(start[v], start[v + 1]):
        least = wp.min(least, part[column[b]])
    out[v] = least * d[v]


class IdentityEmbedding(ContactEmbedding):
    """Points that are the vertices."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def to_surface(self, x: WarpArray, out: WarpArray) -> None:
        """A copy."""
        kernel.copy(x, out)

    def of(self, x: Positions) -> Positions:
        """Themselves."""
        return x

    def whole(self, points: Bools) -> Bools:
        """Themselves."""
        return points

    def points_of(self, vertices: Ints) -> tuple[Ints, Bools]:
        """Themselves."""
        return vertices[:, None], np.ones((len(vertices), 1), dtype=bool)

    def gradient_of(self, g: WarpArray) -> WarpArray:
        """g itself."""
        return g

    def pull_back(self, local: WarpArray, g: WarpArray) -> None:
        """Done already."""

    def bounds(self, d: WarpArray, size: int) -> None:
        """Points are vertices."""

    def shortened(self, d: WarpArray, part: WarpArray) -> WarpArray:
        """part d."""
        out = kernel.empty(self.n, vec3)
        kernel.launch(shorten, self.n, d, part, out)
        return out

    def add_hessian(self, A: BlockCsr, blocks: Sequence[PairBlocks], soon: Soon) -> BlockCsr:
        """A plus the blocks."""
        return self._joined_with(A, blocks, soon)


class WeightedEmbedding(ContactEmbedding):
    """Vertices that are combinations of points."""

    def __init__(self, weights: DeviceWeights) -> None:
        super().__init__()
        self.W, self.weights, self.n = weights.embedding, weights, len(weights.embedding)
        self._pulled: PulledPattern | None = None
        self._local = kernel.empty(self.n, vec3)

    def forget(self) -> None:
        """Begin with new patterns."""
        super().forget()
        self._pulled = None

    def to_surface(self, x: WarpArray, out: WarpArray) -> None:
        """W x."""
        self.weights.to_surface(x, out)

    def of(self, x: Positions) -> Positions:
        """W x."""
        return self.W.of(x)

    def whole(self, points: Bools) -> Bools:
        """Those that no other point moves."""
        return np.asarray((abs(self.W.matrix) @ (~points).astype(np.float64)) == 0.0)

    def points_of(self, vertices: Ints) -> tuple[Ints, Bools]:
        """Those with weights."""
        return self.W.stencil[vertices], self.W.weight[vertices] != 0

    def gradient_of(self, g: WarpArray) -> WarpArray:
        """An array of zeros."""
        self._local.zero_()
        return self._local

    def pull_back(self, local: WarpArray, g: WarpArray) -> None:
        """g += W^T of it."""
        self.weights.pull_back(local, g)

    def bounds(self, d: WarpArray, size: int) -> WarpArray:
        """|W| |d|."""
        out = kernel.zeros(size)
        kernel.launch(weighted_lengths, self.n, *self.weights.rows.arrays, d, out)
        return out

    def shortened(self, d: WarpArray, part: WarpArray) -> WarpArray:
        """A vertex moves by at most |W| |d|, of which its points keep no more than is safe."""
        out, t = kernel.empty(d.shape[0], vec3), self.weights.transposed
        kernel.launch(shorten_points, t.n, t.start, t.column, d, part, out)
        return out

    def add_hessian(self, A: BlockCsr, blocks: Sequence[PairBlocks], soon: Soon) -> BlockCsr:
        """A + W^T H W."""
        H = self._joined_with(self.weights.nothing, blocks, soon)
        p = self._pulled
        if p is None or p.elastic is not A.pattern or p.surface is not H.pattern:
            p = self._pulled = PulledPattern.of(A.pattern, H.pattern, self.weights)
        touches = kernel.zeros(self.n, wp.int32)
        for pairs in blocks:
            kernel.launch(mark_touching, self.n, pairs.pairs.incidence(self.n).start, touches)
        return p.add(A, H, touches, self.weights)
