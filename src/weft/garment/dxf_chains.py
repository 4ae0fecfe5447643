"""Outlines of DXF pieces: chains of lines and arcs joined, unfolded, and cut into edges."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Bools, Floats
from weft.discretization.polygon import turn_angles
from weft.garment.curves import EdgeCurve
from weft.garment.pattern import BorderCurve
from weft.garment.stroke import Stroke

GAP = 1e-4  # [m] points closer than this are one point: exporters write fewer digits
KINK = np.radians(30.0)  # without turn points, edges end where the outline turns by more


def join_chains(chains: Sequence[list[Stroke]]) -> list[list[Stroke]]:
    """Join chains whose ends meet, and return them with the closed ones first."""
    rest, done = [c for c in chains if c], []
    while rest:
        chain = list(rest.pop())
        grown = True
        while grown and not is_closed(chain):
            grown = False
            for i, other in enumerate(rest):
                for part in (other, _reverse_chain(other)):
                    if _coincide(chain[-1].end, part[0].start):
                        chain, grown = [*chain, *part], True
                    elif _coincide(part[-1].end, chain[0].start):
                        chain, grown = [*part, *chain], True
                    if grown:
                        break
                if grown:
                    rest.pop(i)
                    break
        done.append(chain)
    return sorted((_snap_ends(c) for c in done), key=lambda c: not is_closed(c))


def is_closed(chain: Sequence[Stroke]) -> bool:
    """Return whether a chain ends where it begins."""
    return len(chain) > 1 and _coincide(chain[-1].end, chain[0].start)


def unfold_chain(chain: list[Stroke], mirror: Floats) -> list[Stroke] | None:
    """Return the closed outline that consists of one half and its mirror image.

    Args:
        chain: one half, closed along the mirror line, or open with its ends on it.
        mirror: (2,2) [m] two points of the mirror line.

    Returns:
        The outline, beginning where it leaves the mirror line; None: the chain is no half, because
        it does not lie along the line or meets it more than once.
    """
    along = (mirror[1] - mirror[0]) / np.linalg.norm(mirror[1] - mirror[0])
    side = np.array([-along[1], along[0]])
    on = np.array([_is_on_line(s, mirror[0], side) for s in chain])
    if is_closed(chain):
        starts = np.flatnonzero(on & ~np.roll(on, -1))  # last strokes on the mirror line
        if len(starts) != 1 or on.all():
            return None
        first = int(starts[0]) + 1
        chain = chain[first:] + chain[:first]
        chain = [s for s in chain if not _is_on_line(s, mirror[0], side)]
    elif on.any():
        return None
    ends = np.array([chain[0].start, chain[-1].end])
    if np.abs((ends - mirror[0]) @ side).max() > GAP:
        return None
    chain = _move_end(_move_start(chain, ends[0], mirror[0], side), ends[1], mirror[0], side)
    return chain + [s.reverse() for s in reversed(reflect_chain(chain, mirror))]


def reflect_chain(chain: Sequence[Stroke], mirror: Floats) -> list[Stroke]:
    """Return the mirror images of all strokes."""
    linear, offset = reflection(mirror)
    return [s.transform(linear, offset) for s in chain]


def reflection(mirror: Floats) -> tuple[Floats, Floats]:
    """Return A (2,2) and b (2,) of the reflection p -> A p + b."""
    along = (mirror[1] - mirror[0]) / np.linalg.norm(mirror[1] - mirror[0])
    linear = 2 * np.outer(along, along) - np.eye(2)
    return linear, mirror[0] - linear @ mirror[0]


def split_chain(chain: list[Stroke], point: Floats, most: float) -> list[Stroke] | None:
    """Return the chain with a corner at its point nearest to ``point``.

    Args:
        chain: the strokes.
        point: (2,) [m].
        most: [m] largest distance.

    Returns:
        The chain; None if that point is farther away than ``most``.
    """
    best, where, fraction = most, -1, 0.0
    for i, s in enumerate(chain):
        f = _nearest(s, point)
        distance = float(np.linalg.norm(_stroke_curve(s).at(np.array([f]))[0] - point))
        if distance < best:
            best, where, fraction = distance, i, f
    if where < 0:
        return None
    curve = _stroke_curve(chain[where])
    if min(fraction, 1 - fraction) * curve.length <= GAP:
        return chain
    parts = [curve.cut(0, fraction), curve.cut(fraction, 1)]
    strokes = [Stroke(c.edge.curve, np.array([c.start, *c.edge.controls, c.end])) for c in parts]
    return [*chain[:where], *strokes, *chain[where + 1 :]]


def match_corners(chain: Sequence[Stroke], marked: Floats) -> Bools:
    """Return (n,) whether each stroke of a closed chain begins near one of the points (m,2) [m]."""
    starts = np.array([s.start for s in chain])
    if len(marked) == 0:
        return np.zeros(len(chain), dtype=bool)
    distance = np.linalg.norm(starts[:, None] - marked[None], axis=2)
    return np.asarray(distance.min(1) <= GAP)


def find_kinks(chain: Sequence[Stroke]) -> Bools:
    """Return (n,) whether a closed chain turns by more than ``KINK`` where each stroke begins."""
    first = np.array([s.sample(64)[1] if s.curve is not BorderCurve.LINE else s.end for s in chain])
    starts = np.array([s.start for s in chain])
    last = np.array(
        [s.sample(64)[-1] if s.curve is not BorderCurve.LINE else s.start for s in chain]
    )
    out, into = first - starts, np.roll(np.array([s.end for s in chain]) - last, 1, axis=0)
    return np.asarray(np.abs(turn_angles(into, out)) > KINK)


def chain_edges(chain: Sequence[Stroke], corner: Bools) -> list[Stroke]:
    """Return a closed chain as edges from corner to corner: lines, arcs, polylines of several
    strokes.

    If there is no second corner, the beginning of a stroke about halfway along takes its place.
    """
    n = len(chain)
    places = np.flatnonzero(corner).tolist()
    if not places:
        places = [0]
    if len(places) == 1:
        lengths = [float(np.linalg.norm(np.diff(s.points, axis=0), axis=1).sum()) for s in chain]
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
        points = np.concatenate([*(s.sample() for s in parts), [parts[-1].end]])
        result.append(Stroke(BorderCurve.POLYLINE, points))
    return result


def _coincide(a: Floats, b: Floats) -> bool:
    return bool(np.linalg.norm(a - b) <= GAP)


def _reverse_chain(chain: Sequence[Stroke]) -> list[Stroke]:
    return [s.reverse() for s in reversed(chain)]


def _snap_ends(chain: list[Stroke]) -> list[Stroke]:
    """Return the strokes with each one beginning exactly at the end of the one before, without
    strokes of no length.
    """
    chain = [
        s for s in chain if not _coincide(s.start, s.end) or s.curve is BorderCurve.ARC
    ] or chain[:1]
    closed = is_closed(chain)
    result = []
    for i, s in enumerate(chain):
        points = s.points.copy()
        if i or closed:
            points[0] = chain[i - 1].end
        result.append(replace(s, points=points))
    return result


def _is_on_line(s: Stroke, origin: Floats, side: Floats) -> bool:
    return bool(np.abs((s.points - origin) @ side).max() <= GAP)


def _move_start(chain: list[Stroke], p: Floats, origin: Floats, side: Floats) -> list[Stroke]:
    """Return the chain with its beginning moved exactly onto the mirror line."""
    points = chain[0].points.copy()
    points[0] = p - ((p - origin) @ side) * side
    return [replace(chain[0], points=points), *chain[1:]]


def _move_end(chain: list[Stroke], p: Floats, origin: Floats, side: Floats) -> list[Stroke]:
    points = chain[-1].points.copy()
    points[-1] = p - ((p - origin) @ side) * side
    return [*chain[:-1], replace(chain[-1], points=points)]


def _stroke_curve(s: Stroke) -> EdgeCurve:
    return EdgeCurve(s.start, s.end, s.edge)


def _nearest(s: Stroke, point: Floats) -> float:
    """Return the fraction of a stroke's length at which it is nearest to a point."""
    arc = _stroke_curve(s).arc
    if arc is None:
        d = s.end - s.start
        return float(np.clip((point - s.start) @ d / (d @ d), 0, 1))
    center, _, first, sweep = arc
    angle = float(np.arctan2(*(point - center)[::-1])) - first
    fraction = (angle % (2 * np.pi)) / sweep if sweep > 0 else (-angle % (2 * np.pi)) / -sweep
    if fraction <= 1:
        return fraction
    return float(np.linalg.norm(point - s.end) < np.linalg.norm(point - s.start))
