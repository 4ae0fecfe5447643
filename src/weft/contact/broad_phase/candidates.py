"""Candidate pairs: a vertex and a face, or two edges, whose bounding boxes overlap."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Ints, Positions
from weft.contact.barrier.barrier import pair_distances
from weft.contact.distance.distance import PairKind
from weft.kernel import IntArray, WarpArray

UNKNOWN = -1e300  # [m] lower bound of a distance that has not been computed


@wp.func
def kind_of(i: int, points: int):
    """Return the ``PairKind`` of candidate i: the first ``points`` candidates are vertex-face
    pairs, the others are edge-edge pairs.
    """
    return wp.where(i < points, int(PairKind.POINT_TRIANGLE), int(PairKind.EDGE_EDGE))


@wp.kernel(module=wp.get_module("weft.candidates"))
def write_kinds(o: int, points: int, kind: IntArray):
    """Write the kind of every candidate pair."""
    i = o + wp.tid()
    kind[i] = kind_of(i, points)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate pairs: vertex-face pairs first, then edge-edge pairs.

    Their order does not depend on how they were found.
    """

    stencil: Any  # (p+e,4) int32 vertex, face; then edge, edge; on device or host
    points: int  # p, the number of vertex-face pairs
    bounds: WarpArray | None = None  # (p+e,) [m] lower bounds of distances; None: unknown
    adjacent: WarpArray | None = None  # (p+e,) uint8, see ``adjacent_pairs``; None: unmarked

    @cached_property
    def bound(self) -> WarpArray:
        """Return the lower bound of each pair's distance, (p+e,) [m], which holds at the positions
        at which ``DisplacementBound`` has its origin.
        """
        if self.bounds is not None:
            return self.bounds
        out = kernel.empty(len(self))
        out.fill_(UNKNOWN)
        return out

    @cached_property
    def device_stencil(self) -> WarpArray:
        """Return the vertices of each pair, (p+e,4) int32 on the device."""
        there = isinstance(self.stencil, wp.array)
        return self.stencil if there else kernel.array(self.stencil, wp.int32)

    @cached_property
    def device(self) -> tuple[WarpArray, WarpArray]:
        """Return the vertices (p+e,4) and the ``PairKind`` (p+e,) of each pair, int32 on the
        device.
        """
        kind = kernel.empty(len(self), wp.int32)
        kernel.launch(write_kinds, len(self), self.points, kind)
        return self.device_stencil, kind

    @property
    def pairs(self) -> Ints:
        """Return the vertices of each pair, (p+e,4) on the host."""
        return kernel.numpy(self.device_stencil)

    @property
    def point_triangle(self) -> Ints:
        """Return the vertices of the vertex-face pairs, (p,4) on the host."""
        return self.pairs[: self.points]

    @property
    def edge_edge(self) -> Ints:
        """Return the vertices of the edge-edge pairs, (e,4) on the host."""
        return self.pairs[self.points :]

    def distances(self, x: Positions | WarpArray) -> WarpArray:
        """Return the distance of each pair at x (n,3) [m], (p+e,) [m] on the device."""
        out = kernel.empty(len(self))
        kernel.launch(pair_distances, len(self), kernel.points(x), *self.device, out)
        return out

    def __len__(self) -> int:
        """Return the number of candidate pairs."""
        return int(self.stencil.shape[0])


def least_distance(x: Positions, candidates: Candidates) -> float:
    """Return the distance [m] of the nearest candidate pair at x (n,3) [m]; infinity without
    candidates.
    """
    if len(candidates) == 0:
        return np.inf
    return kernel.least(candidates.distances(x))
