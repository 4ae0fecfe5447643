"""Chains of edges, as seams and elastics take them: lengths, ends, and which way round two chains
are sewn.

Two panels whose right sides face the same way are sewn with their boundaries running in opposite
directions: as all outlines run counter-clockwise, one chain runs forward and the other backward.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.garment.curves import EdgeCurve, curve_of
from weft.garment.pattern import Panel, Seam, SeamSide
from weft.garment.place import is_placed, place

CLEARLY = 0.8  # of the distances in the other pairing: below, placement speaks for a pairing
PROBES = np.linspace(0, 1, 5)  # fractions at which chains are compared in space

Corner = tuple[str, int]  # panel, corner


@dataclass(frozen=True, eq=False)
class EdgeChain:
    """Edges one after another, in the direction in which a seam takes them.

    Args:
        sides: the edges.
        panels: by name; every side's panel and edge exist.
        at: fractions of the seam at which its edges begin, and 1; none: of its own length.
    """

    sides: tuple[SeamSide, ...]
    panels: Mapping[str, Panel]
    at: tuple[float, ...] = ()

    @cached_property
    def curves(self) -> list[EdgeCurve]:
        """The edges as curves, forward."""
        return [curve_of(self.panels[s.panel], s.edge) for s in self.sides]

    @cached_property
    def starts(self) -> Floats:
        """(k+1,) fractions of the chain's length at which its edges begin, and 1."""
        if self.at:
            return np.array(self.at)
        along = np.cumsum([c.length for c in self.curves])
        return np.concatenate([[0.0], along / along[-1]])

    @cached_property
    def length(self) -> float:
        """[m] of all edges."""
        return float(sum(c.length for c in self.curves))

    def corners(self, side: SeamSide) -> tuple[Corner, Corner]:
        """Where a side begins and ends."""
        k = len(self.panels[side.panel].corners)
        one, two = (side.panel, side.edge % k), (side.panel, (side.edge + 1) % k)
        return (two, one) if side.backward else (one, two)

    @property
    def ends(self) -> tuple[Corner, Corner]:
        """Where the chain begins and ends."""
        return self.corners(self.sides[0])[0], self.corners(self.sides[-1])[1]

    @property
    def direction(self) -> bool | None:
        """Whether the chain runs backward along its panels; None: some edges do."""
        every = {s.backward for s in self.sides}
        return every.pop() if len(every) == 1 else None

    def place_of(self, i: int, fraction: Floats) -> Floats:
        """Fractions of the chain of points at fractions of the i-th edge's length (forward)."""
        a, b = self.starts[i], self.starts[i + 1]
        return np.asarray(
            b + fraction * (a - b) if self.sides[i].backward else a + fraction * (b - a)
        )

    def on_edge(self, at: float) -> tuple[int, float]:
        """The edge of the chain, and the fraction of it (forward), at a fraction of the chain."""
        i = int(np.clip(np.searchsorted(self.starts, at, side="right") - 1, 0, len(self.sides) - 1))
        f = (at - self.starts[i]) / max(self.starts[i + 1] - self.starts[i], 1e-300)
        f = float(np.clip(f, 0.0, 1.0))
        return i, 1 - f if self.sides[i].backward else f

    def in_space(self, fractions: Floats) -> Positions:
        """(k,3) [m] where points at fractions of the chain start."""
        found = []
        for at in fractions.tolist():
            i, f = self.on_edge(at)
            found.append(
                place(self.panels[self.sides[i].panel], self.curves[i].points(np.array([f])))
            )
        return np.concatenate(found)

    def turned(self) -> "EdgeChain":
        """The same edges from the other end."""
        back = tuple(SeamSide(s.panel, s.edge, not s.backward) for s in self.sides[::-1])
        return EdgeChain(back, self.panels, tuple(1 - a for a in self.at[::-1]))


def aligned(first: EdgeChain, second: EdgeChain) -> tuple[EdgeChain, EdgeChain]:
    """Two chains of as many edges, of which each begins where the other's does: at the mean of
    their fractions.
    """
    at = tuple(((first.starts + second.starts) / 2).tolist())
    return EdgeChain(first.sides, first.panels, at), EdgeChain(second.sides, second.panels, at)


@dataclass(frozen=True)
class Orientation:
    """Which way round a seam is sewn, and how that is known.

    Args:
        flip: the second chain is turned around.
        inferred: from the right sides, as the seam does not say it.
        confirmed: the starts in space speak for it (True), against it (False) or say nothing.
        twisted: it joins right sides to wrong sides: the boundaries run the same way.
    """

    flip: bool
    inferred: bool
    confirmed: bool | None
    twisted: bool


def orientation(seam: Seam, first: EdgeChain, second: EdgeChain) -> Orientation:
    """Which way round a seam is sewn."""
    one, two = first.sides[0].backward, second.sides[0].backward
    natural = one == two
    flip = natural if seam.flip is None else seam.flip
    confirmed = None
    every = {s.panel for s in (*first.sides, *second.sides)}
    if len(every) > 1 and all(is_placed(first.panels[name]) for name in every):
        a, b = first.in_space(PROBES), second.in_space(PROBES)
        confirmed = _nearer(a, b, flip)
        if confirmed is None:  # far apart: their directions
            confirmed = _nearer(a - a.mean(axis=0), b - b.mean(axis=0), flip)
    return Orientation(flip, seam.flip is None, confirmed, flip != natural)


def _nearer(a: Positions, b: Positions, flip: bool) -> bool | None:
    """Whether points are clearly nearer to each other in a pairing than in the other one."""
    straight = float(np.linalg.norm(a - b, axis=1).sum())
    turned = float(np.linalg.norm(a - b[::-1], axis=1).sum())
    mine, other = (turned, straight) if flip else (straight, turned)
    return True if mine < CLEARLY * other else False if other < CLEARLY * mine else None


def chained(
    sides: Sequence[SeamSide], panels: Mapping[str, Panel], same: Callable[[Corner, Corner], bool]
) -> int | None:
    """The first side that does not begin where the one before it ends, or None.

    Args:
        sides: of a chain.
        panels: by name.
        same: whether two corners are one: the same, or sewn together.
    """
    chain = EdgeChain(tuple(sides), panels)
    for i in range(1, len(sides)):
        if not same(chain.corners(sides[i - 1])[1], chain.corners(sides[i])[0]):
            return i
    return None
