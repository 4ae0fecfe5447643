"""Pairs that edges of the mesh connect meet from a smaller gap on.

Where edges are hardly longer than the gap, flat cloth would touch itself everywhere: a vertex is
0.71 edges from the triangle across its own one. It would be pushed apart in its own plane, and most
contacts would be of that kind. So pairs of a vertex and a triangle, or of two edges, that an edge
connects begin to meet at half the height of triangles at rest. Where the gap is longer than edges,
those that two or three edges connect do, too. They are as stiff as that gap asks for: they hold the
same load at half of it.

Which pairs these are depends on the mesh alone, so that every pair's barrier stays smooth, and
nothing is left out: they, too, never meet.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.base.arrays import Faces, Ints, Positions
from weft.contact.broad_phase.candidates import Candidates
from weft.kernel import Scalar, WarpArray
from weft.kernel.native_code import native

PART = 0.5  # of the height of triangles: the gap of pairs that edges connect, at most
LOW = 0.05  # of the triangles are lower than that height
LEAST = 0.1  # of the gap: that of such pairs, at least
ALIKE = 0.75  # of the gap: where it would be more than that, pairs are alike
BEYOND = 1.8  # heights: pairs are about this far apart for every edge that does not connect them
MARGIN = 1.5  # of the reach: pairs within it have blocks in the matrix beforehand
MOST = 3  # edges in a row


@wp.func_native(native("adjacent_pairs.h", "connected"))
def connected(
    start: wp.array(dtype=wp.int32),
    neighbors: wp.array(dtype=wp.int32),
    v: int,
    a: int,
    b: int,
    c: int,
) -> wp.uint32:
    """1 where v has one of three vertices as a neighbor."""


@wp.kernel(module=wp.get_module("weft.adjacent"))
def mark_adjacent(
    o: int,
    begin: int,
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    start: wp.array(dtype=wp.int32),
    neighbors: wp.array(dtype=wp.int32),
    out: wp.array(dtype=wp.uint8),
):
    """1 for pairs that edges connect, from number ``begin`` on."""
    i = begin + o + wp.tid()
    a, b, c, d = stencil[i, 0], stencil[i, 1], stencil[i, 2], stencil[i, 3]
    found = connected(start, neighbors, a, wp.where(i < points, b, c), c, d)
    if i >= points:
        found = found | connected(start, neighbors, b, c, d, d)
    out[i] = wp.uint8(found)


@wp.func
def own_gap(i: int, adjacent: wp.array(dtype=wp.uint8), gap: Scalar, less: Scalar):
    """[m] of pair i: ``less`` where edges connect it; none is where ``adjacent`` is empty."""
    out = gap
    if adjacent.shape[0] > 0:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if adjacent[i] != wp.uint8(0):
            out = less
    return out


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Which vertices of a mesh are connected by edges, and the gap of pairs that have such."""

    height: float  # [m] of triangles at rest
    thickest: float  # [m] that pairs keep at most
    start: WarpArray  # (n+1,) int32: where the neighbors of every vertex begin
    neighbors: WarpArray  # int32

    @staticmethod
    def of(edges: Ints, same: Ints, height: float, gap: float, thickest: float) -> "Adjacency":
        """Of a mesh.

        Args:
            edges: (k,2) each once.
            same: (n,) the same number for vertices that count as one.
            height: [m] of triangles at rest; infinite: all pairs are alike.
            gap: [m] from which on pairs meet beyond their thickness, at most.
            thickest: [m] that they keep at most.
        """
        n, ends = len(same), same[edges]
        ends = ends[ends[:, 0] != ends[:, 1]]
        of = sp.csr_matrix((np.ones(n), (np.arange(n), same)))
        one = sp.coo_matrix((np.ones(len(ends)), ends.T), (of.shape[1], of.shape[1])).tocsr()
        graph = one = one + one.T
        for _ in range(rings(gap + thickest, height) - 1):
            graph = graph @ one + graph
        graph = (of @ graph @ of.T).tocsr()
        arrays = (kernel.array(a, wp.int32) for a in (graph.indptr, graph.indices))
        return Adjacency(height, thickest, *arrays)

    def gap(self, gap: float) -> float:
        """[m] of pairs that edges connect, where that of others is ``gap``; the same where it would
        hardly be less.
        """
        less = max(PART * self.height - self.thickest, LEAST * gap)
        return gap if less > ALIKE * gap else less

    def slope(self, gap: float) -> tuple[float, float]:
        """Derivatives of that gap by the other one and by ``thickest``."""
        less = PART * self.height - self.thickest
        if less > ALIKE * gap:
            return 1.0, 0.0
        return (0.0, -1.0) if less > LEAST * gap else (LEAST, 0.0)

    def closer(self, gap: float) -> "AdjacentPairGap | None":
        """By how much less pairs have to come near that edges connect; None: they are alike."""
        by = (gap - self.gap(gap)) * (1 - 1e-6)
        return AdjacentPairGap(self, by) if by > 0 else None

    def mark(self, stencil: WarpArray, points: int, begin: int, end: int, out: WarpArray) -> None:
        """1 where edges connect a pair, 0 else, of rows ``begin`` to ``end`` of a stencil."""
        about = (stencil, points, self.start, self.neighbors, out)
        kernel.launch(mark_adjacent, end - begin, begin, *about)

    def among(self, candidates: Candidates, gap: float) -> tuple[float, WarpArray]:
        """``gap``, and (p+e,) uint8, 1 where edges connect a pair; empty where that makes no
        difference. Candidates are looked at once.
        """
        less = self.gap(gap)
        if less == gap:
            return gap, kernel.empty(0, wp.uint8)
        return less, self.marked(candidates)

    def marked(self, candidates: Candidates) -> WarpArray:
        """(p+e,) uint8, 1 where edges connect a pair. Candidates are looked at once."""
        if candidates.adjacent is None:
            out = kernel.empty(len(candidates), wp.uint8)
            stencil = candidates.device_stencil
            self.mark(stencil, candidates.points, 0, len(candidates), out)
            object.__setattr__(candidates, "adjacent", out)
        assert candidates.adjacent is not None
        return candidates.adjacent


@dataclass(frozen=True, eq=False)
class AdjacentPairGap:
    """Pairs that edges connect count only where they are nearer by so much."""

    adjacency: Adjacency
    by: float  # [m]


def rings(reach: float, height: float) -> int:
    """How many edges in a row connect a pair that may be within reach [m] in flat cloth, whose
    triangles have this height [m], and somewhat farther.
    """
    return int(np.clip(np.ceil(MARGIN * reach / (BEYOND * max(height, 1e-300))), 1, MOST))


def farthest_reach(height: float) -> float:
    """[m] of flat cloth whose triangles have this height."""
    return MOST * BEYOND * height


def height_of(faces: Faces, x: Positions, same: Ints, cloth: int) -> float:
    """[m] that most triangles of the cloth have above their longest edges; infinite where there are
    none.
    """
    ends = same[faces]
    apart = (ends != np.roll(ends, 1, axis=1)).all(1)  # not of a rigid body
    a, b, c = (x[faces[apart & (faces < cloth).all(1), k]] for k in range(3))
    longest = np.linalg.norm([b - a, c - b, a - c], axis=2).max(0)
    heights = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(longest, 1e-300)
    return float(np.quantile(heights, LOW)) if len(heights) else np.inf
