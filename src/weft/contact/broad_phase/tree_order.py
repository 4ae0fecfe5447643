"""The order in which a bounding volume hierarchy stores its boxes, and the tree above them.

Boxes that are neighbors at rest are stored next to each other, in leaves of at most eight. The tree
is built once, by halving the mesh at rest across its longest axis, and only its boxes are refitted
later: cloth hardly stretches, so boxes that are near along the surface stay near. Because the order
is that of the mesh at rest, the order of the pairs found does not depend on what was searched
before.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import warp as wp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from weft import kernel
from weft.base.arrays import Faces, Floats
from weft.kernel import IntArray, WarpArray

Longs: TypeAlias = NDArray[np.int64]

LEAF = 8  # largest number of boxes in a leaf: what one or two vector registers of a CPU hold


@wp.struct
class TreeLayout:
    """A tree in the form that kernels take.

    Its blocks are the largest subtrees with at most eight leaves.
    """

    start: IntArray  # (c+1,) first box of each leaf
    node: IntArray  # (c,) node of each leaf
    block: IntArray  # (c,) block of each leaf
    beyond: IntArray  # (2c-1,) first node after the subtree of a node
    block_at: IntArray  # (2c-1,) block whose root a node is, or -1
    first: IntArray  # (b+1,) first leaf of each block
    root: IntArray  # (b,) root node of each block


@dataclass(frozen=True, eq=False)
class TreeOrder:
    """An order of n boxes in c leaves, and a binary tree of 2c-1 nodes in preorder.

    In preorder the nodes below a node directly follow it, so a traversal needs no stack: it goes to
    the next index, or to ``beyond[node]`` in order to skip the subtree.
    """

    order: Longs  # (n,) number of the box at each place
    start: Longs  # (c+1,) place at which each leaf begins
    leaf: Longs  # (2c-1,) number of a node's leaf; -1: the node has two children
    beyond: Longs  # (2c-1,) the first node after the subtree of a node
    depth: Longs  # (2c-1,) number of nodes above a node

    @staticmethod
    def of(points: Floats, piece: Longs | None = None) -> "TreeOrder":
        """Build the order by halving the set of boxes again and again across its longest axis.

        Args:
            points: (n,3) centers of the boxes [m].
            piece: (n,) number of the connected piece of each box; pieces are separated before a
                piece is halved. None: there is one piece.
        """
        n = len(points)
        pieces = np.zeros(n, dtype=np.int64) if piece is None else np.asarray(piece, np.int64)
        order = np.argsort(pieces, kind="stable")
        pieces = pieces[order]
        levels: list[tuple[Longs, Longs]] = []  # first places of nodes; nodes with children
        a, b = np.zeros(1, dtype=np.int64), np.full(1, n, dtype=np.int64)
        while True:
            mixed = pieces[a] != pieces[b - 1] if n else np.zeros(1, dtype=bool)
            split = (b - a > LEAF) | mixed
            levels.append((a, np.flatnonzero(split)))
            if not split.any():
                break
            a, b = a[split], b[split]
            one = pieces[a] == pieces[b - 1]
            _sort(points, order, a[one], b[one])
            # The left child gets a whole number of full leaves.
            middle = np.where(one, a + LEAF * -((a - b) // (2 * LEAF)), 0)
            middle[~one] = _border(pieces, a[~one], b[~one])
            a, b = np.stack([a, middle], 1).reshape(-1), np.stack([middle, b], 1).reshape(-1)
        return _number_preorder(order, levels)

    def __len__(self) -> int:
        """Return the number of leaves."""
        return len(self.start) - 1

    @cached_property
    def struct(self) -> TreeLayout:
        """Return the tree in the form that kernels take."""
        is_leaf = self.leaf >= 0
        before: Longs = np.cumsum(is_leaf) - is_leaf  # number of leaves before a node
        few = np.append(before, len(self))[self.beyond] - before <= LEAF
        below = np.zeros(len(few), dtype=bool)  # nodes whose parent has at most eight leaves, too
        parents = np.flatnonzero(few & ~is_leaf)
        below[parents + 1] = below[self.beyond[parents + 1]] = True
        roots = np.flatnonzero(few & ~below)
        number = np.full(len(few), -1)
        number[roots] = np.arange(len(roots))
        first = np.append(before[roots], len(self))
        out = TreeLayout()
        for name, values in {
            "start": self.start,
            "node": np.flatnonzero(is_leaf),
            "block": np.repeat(np.arange(len(roots)), np.diff(first)),
            "beyond": self.beyond,
            "block_at": number,
            "first": first,
            "root": roots,
        }.items():
            setattr(out, name, kernel.array(np.asarray(values, np.int32), wp.int32))
        return out

    @cached_property
    def inner(self) -> tuple[WarpArray, list[int]]:
        """Return the nodes with children, the deepest first, (c-1,) on the device, and the end of
        each depth in that list.
        """
        nodes = np.flatnonzero(self.leaf < 0)
        nodes = nodes[np.argsort(-self.depth[nodes], kind="stable")]
        changes: list[int] = (1 + np.flatnonzero(np.diff(self.depth[nodes]))).tolist()
        return kernel.array(nodes.astype(np.int32), wp.int32), [*changes, len(nodes)]


def pieces_of(faces: Faces, n: int) -> Longs:
    """Return the connected piece of each of the n vertices of ``faces`` (m,3), (n,), numbered in
    the order of their first vertices.
    """
    m = len(faces)
    rows, columns = faces[:, [0, 1]].reshape(-1), faces[:, [1, 2]].reshape(-1)
    graph = sp.coo_array((np.ones(2 * m, dtype=np.int8), (rows, columns)), (n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _sort(points: Floats, order: Longs, a: Longs, b: Longs) -> None:
    """Sort each range a to b of ``order`` along the longest axis of its points, in place."""
    length = b - a
    if len(a) == 0:
        return
    first = np.concatenate([[0], np.cumsum(length)[:-1]])
    range_ = np.repeat(np.arange(len(a)), length)
    place = np.arange(length.sum()) + np.repeat(a - first, length)
    x = points[order[place]]
    low, high = np.minimum.reduceat(x, first), np.maximum.reduceat(x, first)
    axis = np.argmax(high - low, axis=1)
    chosen = np.arange(len(a)), axis
    extent = np.maximum((high - low)[chosen], 1e-300)
    along = (x[np.arange(len(x)), axis[range_]] - low[chosen][range_]) / extent[range_]
    # One sort serves all ranges: 0.5 * along < 1, so positions of two ranges never mix.
    order[place] = order[place][np.argsort(range_ + 0.5 * along, kind="stable")]


def _border(pieces: Longs, a: Longs, b: Longs) -> Longs:
    """Return where each range a to b that holds several pieces is split: at a border between two
    pieces, as near to the middle as possible.
    """
    middle = pieces[(a + b) // 2]
    before = np.searchsorted(pieces, middle, "left")
    after = np.searchsorted(pieces, middle, "right")
    nearer = (before > a) & (
        (after >= b) | (np.abs(2 * before - a - b) <= np.abs(2 * after - a - b))
    )
    return np.asarray(np.where(nearer, before, after), dtype=np.int64)


def _number_preorder(order: Longs, levels: list[tuple[Longs, Longs]]) -> TreeOrder:
    """Return the tree in preorder from nodes that are given level by level, where the two children
    of a node follow each other.
    """
    sizes = [np.ones(len(a), dtype=np.int64) for a, _ in levels]
    for k in range(len(levels) - 2, -1, -1):
        sizes[k][levels[k][1]] += sizes[k + 1].reshape(-1, 2).sum(1)
    numbers = [np.zeros(1, dtype=np.int64)]
    for k in range(len(levels) - 1):
        left = numbers[k][levels[k][1]] + 1
        numbers.append(np.stack([left, left + sizes[k + 1][::2]], 1).reshape(-1))
    m = int(sizes[0][0])
    first, beyond, depth = (np.empty(m, dtype=np.int64) for _ in range(3))
    inner = np.zeros(m, dtype=bool)
    for k, ((a, split), number) in enumerate(zip(levels, numbers, strict=True)):
        first[number], beyond[number], depth[number] = a, number + sizes[k], k
        inner[number[split]] = True
    leaf = np.where(inner, -1, np.cumsum(~inner) - 1)
    return TreeOrder(order, np.append(first[~inner], len(order)), leaf, beyond, depth)
