"""Chains of edges that seams and elastics run along: lengths, ends, and orientation of two chains.

Two panels whose right sides face the same way are sewn with their boundaries running in opposite
directions: because all outlines run counter-clockwise, one chain runs forward and the other
backward.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.discretization.polygon import cross, rotation_matrix
from weft.plugins.garments.patterns.curves import EdgeCurve, edge_curve
from weft.plugins.garments.patterns.pattern import Closing, Panel, Placement, Seam, SeamSide
from weft.plugins.garments.patterns.placement import place_points

CLEARLY = 0.8  # placement confirms a pairing whose distances are below this part of the other's
LEAST_MISFIT = 1e-2  # distance from a line, over its length, that tells its two directions apart
PROBES = np.linspace(0, 1, 5)  # fractions of the chains at which their points in space are compared

Corner = tuple[str, int]  # panel, corner


@dataclass(frozen=True, eq=False)
class EdgeChain:
    """Edges one after another, in the direction in which a seam runs along them.

    Args:
        sides: the edges.
        panels: by name; the panel and the edge of every side exist.
        at: fractions of the seam at which the edges begin, and 1; empty: fractions of the chain's
            own length.
    """

    sides: tuple[SeamSide, ...]
    panels: Mapping[str, Panel]
    at: tuple[float, ...] = ()

    @cached_property
    def curves(self) -> list[EdgeCurve]:
        """Return the edges as curves, each in its forward direction."""
        return [edge_curve(self.panels[s.panel], s.edge) for s in self.sides]

    @cached_property
    def starts(self) -> Floats:
        """Return (k+1,) the fractions of the chain's length at which its edges begin, and 1."""
        if self.at:
            return np.array(self.at)
        along = np.cumsum([c.length for c in self.curves])
        return np.concatenate([[0.0], along / along[-1]])

    @cached_property
    def length(self) -> float:
        """Return the length [m] of all edges."""
        return float(sum(c.length for c in self.curves))

    @property
    def panel_names(self) -> str:
        """Return the names of the chain's panels as text."""
        return " and ".join(dict.fromkeys(s.panel for s in self.sides))

    def corners(self, side: SeamSide) -> tuple[Corner, Corner]:
        """Return the corners at which a side begins and ends."""
        first, last = self.panels[side.panel].ends(side.edge)
        one, two = (side.panel, first), (side.panel, last)
        return (two, one) if side.backward else (one, two)

    @property
    def is_inside(self) -> bool:
        """Return whether the chain runs along an inner line of a panel."""
        return any(s.edge >= len(self.panels[s.panel].corners) for s in self.sides)

    @property
    def ends(self) -> tuple[Corner, Corner]:
        """Return the corners at which the chain begins and ends."""
        return self.corners(self.sides[0])[0], self.corners(self.sides[-1])[1]

    def place_of(self, i: int, fraction: Floats) -> Floats:
        """Convert fractions of one edge's length to fractions of the chain.

        Args:
            i: index of the edge in the chain.
            fraction: (k,) fractions of its length, in its forward direction.
        """
        a, b = self.starts[i], self.starts[i + 1]
        return np.asarray(
            b + fraction * (a - b) if self.sides[i].backward else a + fraction * (b - a)
        )

    def on_edge(self, at: float) -> tuple[int, float]:
        """Return the edge at a fraction of the chain, and the fraction of its length (forward).

        Args:
            at: fraction of the chain, 0 to 1.
        """
        i = int(np.clip(np.searchsorted(self.starts, at, side="right") - 1, 0, len(self.sides) - 1))
        f = (at - self.starts[i]) / max(self.starts[i + 1] - self.starts[i], 1e-300)
        f = float(np.clip(f, 0.0, 1.0))
        return i, 1 - f if self.sides[i].backward else f

    def in_space(self, fractions: Floats) -> Positions:
        """Return the start positions (k,3) [m] of points at fractions of the chain."""
        panels = [self.panels[self.sides[self.on_edge(at)[0]].panel] for at in fractions.tolist()]
        points = self.on_paper(fractions)
        return np.concatenate([place_points(p, x[None]) for p, x in zip(panels, points)])

    def on_paper(self, fractions: Floats) -> Floats:
        """Return the points (k,2) [m] at fractions of the chain, in the planes of their panels."""
        places = [self.on_edge(at) for at in fractions.tolist()]
        return np.concatenate([self.curves[i].points(np.array([f])) for i, f in places])

    def reverse(self) -> "EdgeChain":
        """Return the chain from its other end."""
        back = tuple(SeamSide(s.panel, s.edge, not s.backward) for s in self.sides[::-1])
        return EdgeChain(back, self.panels, tuple(1 - a for a in self.at[::-1]))


def align_chains(first: EdgeChain, second: EdgeChain) -> tuple[EdgeChain, EdgeChain]:
    """Return two chains whose edges begin at the same fractions of the seam.

    These are the means of the fractions of both chains.

    Args:
        first, second: chains with the same number of edges.
    """
    at = tuple(((first.starts + second.starts) / 2).tolist())
    return EdgeChain(first.sides, first.panels, at), EdgeChain(second.sides, second.panels, at)


@dataclass(frozen=True)
class Orientation:
    """The relative direction of a seam's two chains, and the evidence for it.

    Args:
        flip: the second chain is reversed.
        inferred: the direction follows from the right sides, because the seam does not give it.
        confirmed: start positions in space support it (True), contradict it (False) or decide
            nothing (None).
    """

    flip: bool
    inferred: bool
    confirmed: bool | None


def orientation(seam: Seam, first: EdgeChain, second: EdgeChain) -> Orientation:
    """Return the orientation of a seam, and compare it with the start positions of its panels.

    Args:
        seam: the seam.
        first, second: its chains, as listed.
    """
    flip = seam.flip
    if flip is None:
        on_line = first.is_inside or second.is_inside
        same = first.sides[0].backward == second.sides[0].backward
        flip = fits_reversed(first, second) if on_line else same
    confirmed = None
    every = {s.panel for s in (*first.sides, *second.sides)}
    if len(every) > 1 and all(first.panels[name].placement != Placement() for name in every):
        a, b = first.in_space(PROBES), second.in_space(PROBES)
        confirmed = _prefer_pairing(a, b, flip)
        if confirmed is None and seam.flip is None:
            # the panels start far apart: compare the directions of the chains
            confirmed = _prefer_pairing(a - a.mean(axis=0), b - b.mean(axis=0), flip)
    return Orientation(flip, seam.flip is None, confirmed)


def _prefer_pairing(a: Positions, b: Positions, flip: bool) -> bool | None:
    """Return True if points are clearly nearer in the pairing ``flip``, False if in the other
    pairing, None if neither.
    """
    straight = float(np.linalg.norm(a - b, axis=1).sum())
    turned = float(np.linalg.norm(a - b[::-1], axis=1).sum())
    mine, other = (turned, straight) if flip else (straight, turned)
    return True if mine < CLEARLY * other else False if other < CLEARLY * mine else None


def rigid_motion(a: Floats, b: Floats) -> tuple[float, Floats, float]:
    """Return the motion in the plane that brings points nearest to others (Kabsch 1976).

    Args:
        a, b: (k,2) [m] points, and where they should come to lie.

    Returns:
        The turn [rad] about the origin, the translation (2,) [m] after it, and the root of the
        mean squared distance [m] that is left.
    """
    x, y = a - a.mean(axis=0), b - b.mean(axis=0)
    turn = float(np.arctan2(cross(x, y).sum(), (x * y).sum()))
    moved = a @ rotation_matrix(-turn)
    offset = b.mean(axis=0) - moved.mean(axis=0)
    return turn, offset, float(np.sqrt(((moved + offset - b) ** 2).sum(axis=1).mean()))


def fits_reversed(first: EdgeChain, second: EdgeChain) -> bool:
    """Return whether two chains, one of them an inner line, fit better with the second reversed.

    One panel is moved onto the other on paper. Where both directions fit, because the line is
    straight, the panel is turned by as little as possible.
    """
    a, b = first.on_paper(PROBES), second.on_paper(PROBES)
    turn, _, apart = rigid_motion(a, b)
    turn_back, _, apart_back = rigid_motion(a, b[::-1])
    if abs(apart - apart_back) > LEAST_MISFIT * max(first.length, second.length):
        return apart_back < apart
    return abs(turn_back) < abs(turn)


@dataclass(frozen=True, eq=False)
class Match:
    """A seam with its chains, the second one turned such that equal fractions meet."""

    seam: Seam
    first: EdgeChain
    second: EdgeChain
    orientation: Orientation

    @staticmethod
    def of(seam: Seam, panels: Mapping[str, Panel]) -> "Match":
        """Return a seam with its chains between panels, by name."""
        first, second = EdgeChain(tuple(seam.first), panels), EdgeChain(tuple(seam.second), panels)
        found = orientation(seam, first, second)
        return Match(seam, first, second.reverse() if found.flip else second, found)

    @property
    def chains(self) -> tuple[EdgeChain, EdgeChain]:
        """Return both chains."""
        return self.first, self.second

    @property
    def sides(self) -> tuple[SeamSide, ...]:
        """Return the edges of both chains."""
        return (*self.first.sides, *self.second.sides)

    @property
    def on_line(self) -> bool:
        """Return whether the seam sews a panel on an inner line: three faces meet in it."""
        return self.first.is_inside or self.second.is_inside

    @property
    def ratio(self) -> float:
        """Return the length of the first chain over that of the second."""
        return self.first.length / self.second.length

    @property
    def fullness(self) -> float:
        """Return the longer chain's length over the shorter one's."""
        return max(self.ratio, 1 / self.ratio)

    @property
    def longer(self) -> EdgeChain:
        """Return the longer chain, which the seam gathers."""
        return self.first if self.ratio > 1 else self.second

    @property
    def is_dart(self) -> bool:
        """Return whether the seam closes two neighboring edges of a panel."""
        one, two = self.chains
        same = {one.ends[0], one.ends[1]} & {two.ends[0], two.ends[1]}
        return bool(same) and {s.panel for s in self.sides} == {one.sides[0].panel}

    def corner_pairs(self) -> list[tuple[Corner, Corner]]:
        """Return the pairs of corners that the seam sews together.

        These are the ends of its chains, and corners at fractions that differ by less than 0.01.
        """
        one, two = self.chains
        found = list(zip(one.ends, two.ends))
        for i, at in enumerate(one.starts[1:-1].tolist(), 1):
            j = int(np.argmin(np.abs(two.starts - at)))
            if 0 < j < len(two.sides) and abs(two.starts[j] - at) < 1e-2:
                found.append((one.corners(one.sides[i - 1])[1], two.corners(two.sides[j - 1])[1]))
                found.append((one.corners(one.sides[i])[0], two.corners(two.sides[j])[0]))
        return found


class SewnCorners:
    """Classes of the corners that seams of kind ``SEWN`` bring together (a union-find forest)."""

    def __init__(self, seams: Iterable[Match] = ()) -> None:
        self.parent: dict[Corner, Corner] = {}
        for match in seams:
            self.sew(match)

    def root(self, corner: Corner) -> Corner:
        """Return the corner that stands for the class of a corner."""
        while corner in self.parent:
            corner = self.parent[corner]
        return corner

    def coincide(self, a: Corner, b: Corner) -> bool:
        """Return whether two corners are one, because they are identical or sewn together."""
        return self.root(a) == self.root(b)

    def sew(self, match: Match) -> None:
        """Bring together the corners of a seam, if it is sewn for good."""
        for a, b in match.corner_pairs() if match.seam.closing is Closing.SEWN else ():
            if not self.coincide(a, b):
                self.parent[self.root(a)] = self.root(b)


def find_gap(
    sides: Sequence[SeamSide], panels: Mapping[str, Panel], same: Callable[[Corner, Corner], bool]
) -> int | None:
    """Return the index of the first side that does not begin where the one before it ends, or None.

    Args:
        sides: of a chain.
        panels: by name.
        same: whether two corners are one, because they are identical or sewn together.
    """
    chain = EdgeChain(tuple(sides), panels)
    for i in range(1, len(sides)):
        if not same(chain.corners(sides[i - 1])[1], chain.corners(sides[i])[0]):
            return i
    return None
