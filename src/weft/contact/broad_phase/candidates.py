"""Candidates: pairs of vertices and faces, and of edges, whose boxes come near each other."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Ints, Positions
from weft.contact.barrier.barrier import pair_distances
from weft.contact.distance.distance import PairKind
from weft.kernel import WarpArray

UNKNOWN = -1e300  # [m] bound of a distance that has not been computed


@wp.func
def kind_of(i: int, points: int):
    """Points with triangles first, then edges."""
    return wp.where(i < points, int(PairKind.POINT_TRIANGLE), int(PairKind.EDGE_EDGE))


@wp.kernel(module=wp.get_module("weft.candidates"))
def write_kinds(o: int, points: int, kind: wp.array(dtype=wp.int32)):
    """What every pair is."""
    i = o + wp.tid()
    kind[i] = kind_of(i, points)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs that may touch, in an order that does not depend on how they were found."""

    stencil: Any  # (p+e,4) int32: vertex, face; and then edge, edge; on the device or not
    points: int  # p
    bounds: WarpArray | None = None  # (p+e,) [m] of distances, from below; None: nothing is known
    adjacent: WarpArray | None = None  # (p+e,) uint8, see ``adjacent``; None: not looked at

    @cached_property
    def bound(self) -> WarpArray:
        """(p+e,) [m] that the distance of a pair was at least, before its vertices moved."""
        if self.bounds is not None:
            return self.bounds
        out = kernel.empty(len(self))
        out.fill_(UNKNOWN)
        return out

    @cached_property
    def device_stencil(self) -> WarpArray:
        """(p+e,4) on the device."""
        there = isinstance(self.stencil, wp.array)
        return self.stencil if there else kernel.array(self.stencil, wp.int32)

    @cached_property
    def device(self) -> tuple[WarpArray, WarpArray]:
        """Stencils, and the kind of every pair, which ``points`` says as well."""
        kind = kernel.empty(len(self), wp.int32)
        kernel.launch(write_kinds, len(self), self.points, kind)
        return self.device_stencil, kind

    @property
    def pairs(self) -> Ints:
        """(p+e,4) on the host."""
        return kernel.numpy(self.device_stencil)

    @property
    def point_triangle(self) -> Ints:
        """(p,4)."""
        return self.pairs[: self.points]

    @property
    def edge_edge(self) -> Ints:
        """(e,4)."""
        return self.pairs[self.points :]

    def distances(self, x: Positions | WarpArray) -> WarpArray:
        """(p+e,) [m] on the device."""
        out = kernel.empty(len(self))
        kernel.launch(pair_distances, len(self), kernel.points(x), *self.device, out)
        return out

    def __len__(self) -> int:
        return int(self.stencil.shape[0])


def least_distance(x: Positions, candidates: Candidates) -> float:
    """[m] of the nearest pair; infinite without candidates."""
    if len(candidates) == 0:
        return np.inf
    return kernel.least(candidates.distances(x))
