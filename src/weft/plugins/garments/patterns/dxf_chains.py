"""Outlines of DXF pieces: chains of lines and arcs joined, unfolded, and cut into edges."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from numpy.linalg import norm
from scipy.spatial import cKDTree

from weft.base.arrays import Bools, Floats
from weft.discretization.polygon import arc_lengths, cross, turn_angles
from weft.plugins.garments.patterns.curves import SAMPLES, EdgeCurve
from weft.plugins.garments.patterns.pattern import BorderCurve
from weft.plugins.garments.patterns.pieces import chain_polyline, reverse_chain

GAP = 1e-4  # [m] points closer than this are one point: exporters write fewer digits
WIDE_GAP = 2e-3  # [m] an outline that is open by less is closed
TURN_GAP = 5e-4  # [m] largest distance of a turn point from its corner
MIRROR_GAP = 1e-3  # [m] largest distance from the mirror line of points that lie on it
KINK = np.radians(30.0)  # without turn points, edges end where the outline turns by more
SPIKES = "lines of the outline that run there and back are left out"


class MirrorLine:
    """The line across which the half of a piece that is not drawn is the image of the other half.

    Args:
        ends: (2,2) [m] two points of the line.
    """

    def __init__(self, ends: Floats) -> None:
        along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        self.origin, self.normal = ends[0], np.array([-along[1], along[0]])
        self.linear = 2 * np.outer(along, along) - np.eye(2)
        self.offset = ends[0] - self.linear @ ends[0]

    def distances(self, points: Floats) -> Floats:
        """Return the signed distances (...) [m] of points (...,2) from the line."""
        return np.asarray((points - self.origin) @ self.normal)

    def project(self, point: Floats) -> Floats:
        """Return the point (2,) [m] of the line that is nearest to a point."""
        return np.asarray(point - self.distances(point) * self.normal)

    def count_sides(self, chain: Sequence[EdgeCurve]) -> int:
        """Return the number of sides of the line on which a chain lies: 0, 1 or 2."""
        distance = self.distances(chain_polyline(chain, SAMPLES))
        return int((distance > MIRROR_GAP).any()) + int((distance < -MIRROR_GAP).any())

    def has_on_it(self, curve: EdgeCurve) -> bool:
        """Return whether a curve lies along the line."""
        return bool(np.abs(self.distances(curve.control_points)).max() <= MIRROR_GAP)

    def add_reflected(self, points: Floats) -> Floats:
        """Return points (n,2) [m] and their mirror images."""
        return np.concatenate([points, points @ self.linear.T + self.offset])

    def reflect(self, chain: Sequence[EdgeCurve]) -> list[EdgeCurve]:
        """Return the mirror image of a chain."""
        return [c.transform(self.linear, self.offset) for c in chain]

    def unfold(self, chain: list[EdgeCurve]) -> list[EdgeCurve] | None:
        """Return the closed outline that consists of one half and its mirror image.

        Args:
            chain: one half, closed along the line, or open with its ends on it.

        Returns:
            The outline, beginning where it leaves the line; None: the chain is no half, because it
            does not lie along the line or meets it more than once.
        """
        on = np.array([self.has_on_it(c) for c in chain])
        if is_closed(chain):
            starts = np.flatnonzero(on & ~np.roll(on, -1))  # last curves on the mirror line
            if len(starts) != 1 or on.all():
                return None
            first = int(starts[0]) + 1
            chain = [c for c in chain[first:] + chain[:first] if not self.has_on_it(c)]
        elif on.any():
            return None
        ends = chain[0].start, chain[-1].end
        if np.abs(self.distances(np.array(ends))).max() > MIRROR_GAP:
            return None
        chain = _move_end(reverse_chain(chain), self.project(ends[0]))
        chain = _move_end(reverse_chain(chain), self.project(ends[1]))
        return chain + reverse_chain(self.reflect(chain))


def join_chains(chains: Sequence[list[EdgeCurve]], gap: float = GAP) -> list[list[EdgeCurve]]:
    """Join chains whose ends are at most ``gap`` [m] apart, and return them with the closed ones
    first.
    """
    rest, done = [c for c in chains if c], []
    while rest:
        chain = rest.pop()
        while not is_closed(chain, gap):
            found = ((i, _join(chain, other, gap)) for i, other in enumerate(rest))
            number, joined = next(((i, c) for i, c in found if c), (0, None))
            if joined is None:
                break
            rest.pop(number)
            chain = joined
        done.append(chain)
    return sorted((_snap_ends(c, gap) for c in done), key=lambda c: not is_closed(c))


def drop_repeated(chains: Sequence[list[EdgeCurve]]) -> tuple[list[list[EdgeCurve]], int]:
    """Return chains without curves that another chain has, too, and the number of such curves.

    Of chains that have the same curve in either direction, the one of most curves keeps the curve.
    A chain without some of its curves is several chains.
    """
    curves = [(k, c) for k, chain in enumerate(chains) for c in chain]
    if len(chains) < 2:
        return list(chains), 0
    ends = np.array([[c.start, c.end] for _, c in curves])
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    middle = np.array([c.at(np.array([0.5]))[0] for _, c in curves])
    near = cKDTree(np.hstack([middle, ends.mean(1)])).query_pairs(GAP, output_type="ndarray")
    sizes = [len(chain) for chain in chains]
    repeated = set[int]()
    for i, j in near.tolist():
        (a, _), (b, _) = curves[i], curves[j]
        most = min(GAP, length[i] / 4, length[j] / 4)
        apart = min(np.abs(ends[i] - other).max() for other in (ends[j], ends[j, ::-1]))
        if a != b and apart <= most:
            repeated.add(i if (sizes[a], -a) < (sizes[b], -b) else j)
    result: list[list[EdgeCurve]] = []
    first = 0
    for chain in chains:
        parts = groupby(enumerate(chain, start=first), key=lambda part: part[0] in repeated)
        result += [[c for _, c in part] for again, part in parts if not again]
        first += len(chain)
    return result, len(repeated)


def _join(chain: list[EdgeCurve], other: list[EdgeCurve], gap: float) -> list[EdgeCurve] | None:
    """Return two chains as one if they share an end; otherwise None."""
    for part in (other, reverse_chain(other)):
        if _coincide(chain[-1].end, part[0].start, gap):
            return [*chain, *part]
        if _coincide(part[-1].end, chain[0].start, gap):
            return [*part, *chain]
    return None


def is_closed(chain: Sequence[EdgeCurve], gap: float = GAP) -> bool:
    """Return whether a chain ends where it begins, or at most ``gap`` [m] from there."""
    return len(chain) > 1 and _coincide(chain[-1].end, chain[0].start, gap)


def split_chain(chain: list[EdgeCurve], point: Floats, most: float) -> list[EdgeCurve] | None:
    """Return the chain with a corner at its point nearest to ``point``.

    Args:
        chain: the curves.
        point: (2,) [m].
        most: [m] largest distance.

    Returns:
        The chain; None if that point is farther away than ``most``.
    """
    best, where, fraction = most, -1, 0.0
    for i, curve in enumerate(chain):
        f = _nearest(curve, point)
        distance = float(np.linalg.norm(curve.at(np.array([f]))[0] - point))
        if distance < best:
            best, where, fraction = distance, i, f
    if where < 0:
        return None
    curve = chain[where]
    if min(fraction, 1 - fraction) * curve.length <= GAP:
        return chain
    parts = [curve.cut(0, fraction), curve.cut(fraction, 1)]
    return [*chain[:where], *parts, *chain[where + 1 :]]


def match_corners(chain: Sequence[EdgeCurve], marked: Floats) -> Bools:
    """Return (n,) whether each curve of a closed chain begins at one of the points (m,2) [m]."""
    starts = np.array([c.start for c in chain])
    found = np.zeros(len(chain), dtype=bool)
    if len(marked):
        distance, nearest = cKDTree(starts).query(marked)
        found[nearest[distance <= TURN_GAP]] = True
    return found


def drop_spikes(chain: Sequence[EdgeCurve]) -> tuple[list[EdgeCurve], int]:
    """Return a closed chain without the parts of lines that it runs there and back, as marks that
    are drawn with the outline do, and the number of these.
    """
    ring, dropped = list(chain), 0
    i = 0
    while len(ring) > 3 and i < len(ring):
        one, two = ring[i - 1], ring[i]
        u, v = one.end - one.start, two.end - two.start
        lines = one.kind is two.kind is BorderCurve.LINE
        if not (lines and u @ v < 0 and abs(cross(u, v)) <= GAP * max(norm(u), norm(v))):
            i += 1
            continue
        dropped += 1
        rest = EdgeCurve(BorderCurve.LINE, np.array([one.start, two.end]))
        ring[i] = rest
        del ring[i - 1]
        i = max(i - 1, 0)
        if norm(rest.end - rest.start) <= GAP:
            del ring[i]
            k = i % len(ring)
            points = np.array([rest.start, *ring[k].control_points[1:]])
            ring[k] = replace(ring[k], control_points=points)
        i = max(i - 1, 0)
    return ring, dropped


def find_kinks(chain: Sequence[EdgeCurve]) -> Bools:
    """Return (n,) whether a closed chain turns by more than ``KINK`` where each curve begins."""
    points = [np.array([*c.sample(64), c.end]) for c in chain]
    out = np.array([p[1] - p[0] for p in points])
    into = np.roll([p[-1] - p[-2] for p in points], 1, axis=0)
    return np.asarray(np.abs(turn_angles(into, out)) > KINK)


def chain_edges(chain: Sequence[EdgeCurve], corner: Bools) -> list[EdgeCurve]:
    """Return a closed chain as edges from corner to corner: lines, arcs, polylines of several
    curves.

    If there is no second corner, the beginning of a curve about halfway along takes its place.
    """
    n = len(chain)
    places = np.flatnonzero(corner).tolist()
    if not places:
        places = [0]
    if len(places) == 1:
        lengths = [arc_lengths(c.control_points)[-1] for c in chain]
        order = [(places[0] + k) % n for k in range(n)]
        along = np.cumsum([lengths[i] for i in order])
        half = int(np.searchsorted(along, along[-1] / 2)) + 1
        places.append(order[min(half, n - 1)])
    result = []
    for k, first in enumerate(places):
        last = places[(k + 1) % len(places)]
        parts = [chain[(first + i) % n] for i in range((last - first) % n or n)]
        if len(parts) == 1:
            result.append(parts[0])
            continue
        result.append(EdgeCurve(BorderCurve.POLYLINE, chain_polyline(parts, SAMPLES)))
    return result


def _coincide(a: Floats, b: Floats, gap: float = GAP) -> bool:
    return bool(np.linalg.norm(a - b) <= gap)


def _snap_ends(chain: list[EdgeCurve], gap: float) -> list[EdgeCurve]:
    """Return the curves with each one beginning exactly at the end of the one before, without
    curves of no length.
    """
    chain = [
        c for c in chain if not _coincide(c.start, c.end) or c.kind is BorderCurve.ARC
    ] or chain[:1]
    closed = is_closed(chain, gap)
    result = []
    for i, c in enumerate(chain):
        first = chain[i - 1].end if i or closed else c.start
        result.append(replace(c, control_points=np.array([first, *c.control_points[1:]])))
    return result


def _move_end(chain: list[EdgeCurve], end: Floats) -> list[EdgeCurve]:
    """Return the chain with its end moved to a point (2,) [m]."""
    points = np.array([*chain[-1].control_points[:-1], end])
    return [*chain[:-1], replace(chain[-1], control_points=points)]


def _nearest(curve: EdgeCurve, point: Floats) -> float:
    """Return the fraction of the length of a line or an arc at which it is nearest to a point."""
    arc = curve.arc
    if arc is None:
        d = curve.end - curve.start
        return float(np.clip((point - curve.start) @ d / (d @ d), 0, 1))
    center, _, first, sweep = arc
    angle = float(np.arctan2(*(point - center)[::-1])) - first
    fraction = (angle % (2 * np.pi)) / sweep if sweep > 0 else (-angle % (2 * np.pi)) / -sweep
    if fraction <= 1:
        return fraction
    return float(np.linalg.norm(point - curve.end) < np.linalg.norm(point - curve.start))
