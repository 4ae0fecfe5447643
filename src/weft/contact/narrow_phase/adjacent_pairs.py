"""Adjacent pairs (connected by edges of the mesh) have a smaller gap.

If edges are hardly longer than the gap, flat cloth would be in contact with itself everywhere: a
vertex is 0.71 edge lengths from the triangle on the other side of its own one. It would be pushed
apart in its own plane, and most contacts would be of that kind. So a pair of a vertex and a
triangle, or of two edges, that an edge connects has a gap of at most half the height of triangles
at rest. If the gap is longer than edges, this holds for pairs that two or three edges connect, too.
Adjacent pairs are as stiff as their gap asks for: they hold the same load at half of it.

Which pairs are adjacent depends on the mesh alone, so every pair's barrier stays smooth, and no
pair is left out: adjacent pairs never intersect either.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.base.arrays import Faces, Ints, Positions
from weft.contact.broad_phase.joined import JoinedVertices
from weft.contact.distance.distance import Pairs, Separation
from weft.kernel import ByteArray, IntArray, IntArray2d, WarpArray
from weft.kernel.cpu.native_code import native

if TYPE_CHECKING:
    from weft.contact.broad_phase.candidates import Candidates

PART = 0.5  # of the height of triangles: largest gap of adjacent pairs
LOW = 0.05  # quantile of the heights of triangles that counts as their height
LEAST = 0.1  # of the gap: smallest gap of adjacent pairs
ALIKE = 0.75  # of the gap: if adjacent pairs had more than this, all pairs are alike
BEYOND = 1.8  # heights: pairs that k edges do not connect are about k times this far apart
MARGIN = 1.5  # of the reach: pairs within it get blocks in the matrix beforehand
MOST = 3  # largest number of edges in a row


@wp.func_native(native("adjacent_pairs.h", "are_neighbors"))
def are_neighbors(
    start: IntArray, neighbors: IntArray, v: int, a: int, b: int, c: int
) -> wp.uint32:
    """Return 1 if a, b or c is a neighbor of the vertex v, else 0."""


@wp.kernel(module=wp.get_module("weft.adjacent"))
def mark_adjacent(
    o: int,
    begin: int,
    stencil: IntArray2d,
    points: int,
    start: IntArray,
    neighbors: IntArray,
    out: ByteArray,
):
    """Mark the adjacent pairs from number ``begin`` on."""
    i = begin + o + wp.tid()
    a, b, c, d = stencil[i, 0], stencil[i, 1], stencil[i, 2], stencil[i, 3]
    found = are_neighbors(start, neighbors, a, wp.where(i < points, b, c), c, d)
    if i >= points:
        found = found | are_neighbors(start, neighbors, b, c, d, d)
    out[i] = wp.uint8(found)


@wp.func
def own_gap(i: int, pairs: Pairs, s: Separation):
    """Return the gap [m] of pair i, which is smaller if it is adjacent."""
    out = s.gap
    if pairs.adjacent.shape[0] > 0:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if pairs.adjacent[i] != wp.uint8(0):
            out = s.adjacent_gap
    return out


@dataclass(frozen=True, eq=False)
class Adjacency:
    """The neighbors of each vertex of a mesh along one to three edges, and the gap of adjacent
    pairs.
    """

    height: float  # [m] of triangles at rest
    thickest: float  # [m] largest thickness that a pair keeps
    start: WarpArray  # (n+1,) int32 where the neighbors of each vertex begin
    neighbors: WarpArray  # (k,) int32 vertices

    @staticmethod
    def of(
        edges: Ints, joined: JoinedVertices, height: float, gap: float, thickest: float
    ) -> "Adjacency":
        """Build the adjacency of a mesh.

        Args:
            edges: (k,2) each once.
            joined: vertices that count as one, and ties, over which edges go on.
            height: [m] of triangles at rest; infinite: no pairs are adjacent, all have the same
                gap.
            gap: [m] largest gap at any time.
            thickest: [m] largest thickness that a pair keeps.
        """
        n, same = joined.n, joined.numbers
        ends = same[edges]
        ends = ends[ends[:, 0] != ends[:, 1]]
        of = sp.csr_matrix((np.ones(n), (np.arange(n), same)))
        one = sp.coo_matrix((np.ones(len(ends)), ends.T), (of.shape[1], of.shape[1])).tocsr()
        graph = one = one + one.T
        for _ in range(rings(gap + thickest, height) - 1):
            graph = graph @ one + graph
        graph = of @ graph @ of.T
        if joined.tie_matrix.nnz:
            over = sp.identity(n) + joined.tie_matrix
            graph = over @ graph @ over
        graph = graph.tocsr()
        arrays = (kernel.array(a, wp.int32) for a in (graph.indptr, graph.indices))
        return Adjacency(height, thickest, *arrays)

    def gap(self, gap: float) -> float:
        """Return the gap [m] of adjacent pairs if that of other pairs is ``gap``; ``gap`` itself if
        the difference would be small.
        """
        less = max(PART * self.height - self.thickest, LEAST * gap)
        return gap if less > ALIKE * gap else less

    def slope(self, gap: float) -> tuple[float, float]:
        """Return the derivatives of the gap of adjacent pairs by ``gap`` and by ``thickest``."""
        less = PART * self.height - self.thickest
        if less > ALIKE * gap:
            return 1.0, 0.0
        return (0.0, -1.0) if less > LEAST * gap else (LEAST, 0.0)

    def closer(self, gap: float) -> "AdjacentPairGap | None":
        """Return by how much the search distance of adjacent pairs is reduced; None: all pairs are
        alike.
        """
        by = (gap - self.gap(gap)) * (1 - 1e-6)  # less than the difference, for round-off
        return AdjacentPairGap(self, by) if by > 0 else None

    def mark(self, stencil: WarpArray, points: int, begin: int, end: int, out: WarpArray) -> None:
        """Write 1 for adjacent pairs and 0 for others into the rows ``begin`` to ``end`` - 1 of
        ``out``.
        """
        about = (stencil, points, self.start, self.neighbors, out)
        kernel.launch(mark_adjacent, end - begin, begin, *about)

    def gap_among(self, candidates: "Candidates", gap: float) -> float:
        """Return the gap [m] of adjacent pairs, after the adjacent candidates are marked if that is
        not ``gap``.
        """
        less = self.gap(gap)
        if less != gap:
            self.find_adjacent(candidates)
        return less

    def find_adjacent(self, candidates: "Candidates") -> WarpArray:
        """Return 1 for each adjacent candidate, (p+e,) uint8. Candidates are marked once."""
        if candidates.adjacent is None:
            out = candidates.adjacent = kernel.empty(len(candidates), wp.uint8)
            stencil = candidates.stencil
            self.mark(stencil, candidates.points, 0, len(candidates), out)
        return candidates.adjacent


@dataclass(frozen=True, eq=False)
class AdjacentPairGap:
    """The amount by which adjacent pairs have to be nearer than others to count as candidates."""

    adjacency: Adjacency
    by: float  # [m]


def rings(reach: float, height: float) -> int:
    """Return how many edges in a row connect a pair that may be within ``reach`` [m] in flat cloth
    whose triangles have this height [m], with a margin.
    """
    return int(np.clip(np.ceil(MARGIN * reach / (BEYOND * max(height, 1e-300))), 1, MOST))


def farthest_reach(height: float) -> float:
    """Return the largest reach [m] for which adjacency covers flat cloth whose triangles have this
    height [m].
    """
    return MOST * BEYOND * height


def height_of(faces: Faces, x: Positions, same: Ints, cloth: int) -> float:
    """Return the height [m] above their longest edges that most triangles of the cloth exceed;
    infinite if there are none.
    """
    ends = same[faces]
    apart = (ends != np.roll(ends, 1, axis=1)).all(1)  # vertices of a rigid body count as one
    a, b, c = (x[faces[apart & (faces < cloth).all(1), k]] for k in range(3))
    longest = np.linalg.norm([b - a, c - b, a - c], axis=2).max(0)
    heights = np.linalg.norm(np.cross(b - a, c - a), axis=1) / np.maximum(longest, 1e-300)
    return float(np.quantile(heights, LOW)) if len(heights) else np.inf
