"""Positions of vertices along edges, such that sewn edges have the same number of vertices.

Every edge is cut at its breaks: its kinks, the ends of lines inside the panel, and the breaks of
the edges that are sewn to it. Parts between breaks that meet in a seam belong to one class, and all
parts of a class are divided alike: at equal fractions, as finely as the finest of them needs.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.discretization.polygon import GROWTH, LEAST_CORNER, SHARP, signed_area, turn_angles
from weft.plugins.garments.patterns.curves import EdgeCurve, edge_curve, outline_polygon
from weft.plugins.garments.patterns.edge_chains import Corner, EdgeChain, Match, SewnCorners
from weft.plugins.garments.patterns.pattern import Closing, Panel, Pattern

TURN = 0.5  # [rad] largest turn of a curve along one edge of the mesh
FINEST = 1 / 8  # least edge length on curves, as a part of the wanted length
FEWEST = 6  # mesh edges along a strongly curved edge, even if the wanted length is larger
SNAP = 0.1  # breaks closer together than this part of the wanted length become one
ROUNDS = 50  # limit of the iteration that carries breaks across seams
RING, PAIR = 3, 2  # least mesh edges along an edge that closes on itself, or shares both its ends
LONG = 4.0  # length of a band over its width
_TABLE = np.linspace(0, 1, 257)

EdgeId = tuple[str, int]  # panel, edge
Part = tuple[EdgeId, int]  # an edge, and a part of it between two breaks


def corner_angles(panel: Panel) -> Floats:
    """Return the interior angles (k,) [rad] at the corners of a counter-clockwise panel.

    The angles are measured between the curves of the two edges, not between their chords.
    """
    k, step = len(panel.corners), np.array([1e-4])
    after = np.concatenate([edge_curve(panel, i).points(step) for i in range(k)])
    before = np.concatenate([edge_curve(panel, (i - 1) % k).points(1 - step) for i in range(k)])
    return turn_angles(after - panel.corners, before - panel.corners) % (2 * np.pi)


def sample_edges(
    panels: Mapping[str, Panel],
    seams: Sequence[Match],
    size: float,
    breaks: Mapping[EdgeId, Iterable[float]],
    least: Mapping[EdgeId, int],
    sizes: Mapping[EdgeId, float],
) -> tuple[dict[EdgeId, Floats], dict[EdgeId, list[int]], list[list[tuple[Part, Part, bool]]]]:
    """Return the fractions of every edge's length at which vertices stand.

    Args:
        panels: by name, counter-clockwise.
        seams: the chains of each are divided alike.
        size: [m] wanted edge length.
        breaks: fractions of edges, and of inner lines that are sewn, at which a vertex has to
            stand.
        least: least number of mesh edges along an edge of a panel, where one is needed.
        sizes: [m] wanted edge lengths along edges where they are shorter than elsewhere.

    Returns:
        Fractions from 0 to 1 by edge; the index of every break among them; and, for every seam, its
        parts in turn: the part of the first chain, the part of the second, and whether they run in
        opposite directions along their edges.

    Raises:
        PatternError: seams that cut each other into ever smaller parts.
    """
    edges = [(name, e) for name, p in panels.items() for e in range(len(p.corners))]
    inner = [edge for edge in sewn_edges(seams) if edge[1] >= len(panels[edge[0]].corners)]
    curves = {(name, e): edge_curve(panels[name], e) for name, e in [*edges, *inner]}
    cuts = {
        edge: sorted({0.0, 1.0, *curve.kinks.tolist(), *breaks.get(edge, ())})
        for edge, curve in curves.items()
    }
    for _ in range(ROUNDS):
        changed = [_copy_breaks(match, cuts, size) for match in seams]
        if not any(changed):
            break
    else:
        names = ", ".join(m.seam.name for m in seams)
        raise PatternError(
            "seams",
            got=names,
            expected="seams that agree on the beginning of edges",
            hint="an edge is in several seams, with different neighbors",
        )
    pairs = [_match_parts(match, cuts) for match in seams]
    wanted = _TargetLengths(panels, curves, size, sizes)
    fractions, index = _divide_parts(cuts, pairs, wanted, least)
    return fractions, index, pairs


def band_lengths(pattern: Pattern, size: float) -> dict[EdgeId, float]:
    """Return the wanted lengths [m] of mesh edges along bands, which get two rows of cells.

    A band is a panel that is narrower than two cells, ``LONG`` times as long as it is wide,
    and has no sharp corner: cells are graded towards these. Bands of one row fold along their
    seam, unless an elastic pulls them to the body.

    Args:
        pattern: without errors.
        size: [m] wanted edge length elsewhere.
    """
    found: dict[EdgeId, float] = {}
    pulled = {side.panel for elastic in pattern.elastics for side in elastic.chain}
    for panel in pattern.panels:
        if panel.name in pulled:
            continue
        outline = outline_polygon(panel)[0]
        around = float(np.linalg.norm(outline - np.roll(outline, 1, axis=0), axis=1).sum())
        # width and length of the rectangle of this area and perimeter
        square = (around / 4) ** 2 - abs(signed_area(outline))
        width = around / 4 - np.sqrt(max(square, 0.0))
        half = max(width / 2, FINEST * size)
        slim = half < (1 - SNAP) * size and around / 2 - width > LONG * width
        if slim and corner_angles(panel).min() > SHARP:
            found |= {(panel.name, e): half for e in range(len(panel.corners))}
    return found


def sewn_edges(seams: Iterable[Match]) -> list[EdgeId]:
    """Return the edges and inner lines of all chains of seams, each once."""
    return list(dict.fromkeys(s.edge_id for match in seams for s in match.sides))


def _chain_breaks(chain: EdgeChain, cuts: Mapping[EdgeId, list[float]]) -> Floats:
    """Return the sorted fractions of a chain at which it has breaks; the common break of two
    neighboring edges is listed once.
    """
    found = [chain.place_of(i, np.array(cuts[s.edge_id])) for i, s in enumerate(chain.sides)]
    every = np.sort(np.concatenate(found))
    return np.asarray(every[np.concatenate([[True], np.diff(every) > 1e-12])])


def _copy_breaks(match: Match, cuts: dict[EdgeId, list[float]], size: float) -> bool:
    """Copy the breaks of each chain to the other; return whether any break was new."""
    one, two = _chain_breaks(match.first, cuts), _chain_breaks(match.second, cuts)
    longest = max(match.first.length, match.second.length)
    gaps = min(float(np.diff(one).min()), float(np.diff(two).min()))
    # Below half of the smallest gap, so that two breaks never merge with the same break.
    near = min(SNAP * size / longest, 0.45 * gaps)
    changed = False
    for chain, mine, others in ((match.first, one, two), (match.second, two, one)):
        for at in others[np.abs(others[:, None] - mine).min(axis=1) > near].tolist():
            i, fraction = chain.on_edge(at)
            edge = chain.sides[i].edge_id
            cuts[edge] = sorted([*cuts[edge], fraction])
            changed = True
    return changed


def _chain_parts(chain: EdgeChain, cuts: Mapping[EdgeId, list[float]]) -> list[tuple[Part, bool]]:
    """Return the parts of a chain's edges in turn, and whether the chain runs backward through
    them.
    """
    found: list[tuple[Part, bool]] = []
    for s in chain.sides:
        count = len(cuts[s.edge_id]) - 1
        order = range(count - 1, -1, -1) if s.backward else range(count)
        found += [((s.edge_id, k), s.backward) for k in order]
    return found


def _match_parts(match: Match, cuts: Mapping[EdgeId, list[float]]) -> list[tuple[Part, Part, bool]]:
    one, two = _chain_parts(match.first, cuts), _chain_parts(match.second, cuts)
    if len(one) != len(two):
        raise PatternError(
            f"seam {match.seam.name}",
            got=f"{len(one)} and {len(two)} parts between corners",
            expected="the same number on both sides",
            hint="check for corners that nearly coincide",
        )
    return [(a, b, i != j) for (a, i), (b, j) in zip(one, two)]


class _TargetLengths:
    """The wanted lengths of mesh edges along the edges of panels."""

    def __init__(
        self,
        panels: Mapping[str, Panel],
        curves: Mapping[EdgeId, EdgeCurve],
        size: float,
        sizes: Mapping[EdgeId, float],
    ) -> None:
        self.size, self.curves, self.sizes = size, curves, sizes
        self.angles = {n: corner_angles(p) for n, p in panels.items()}
        self.tables: dict[EdgeId, Floats] = {}

    def table(self, edge: EdgeId) -> Floats:
        """Return (257,) the wanted edge length [m] at equal fractions of an edge."""
        if edge not in self.tables:
            name, e = edge
            curve, angles = self.curves[edge], self.angles[name]
            size = self.sizes.get(edge, self.size)
            finest = min(FINEST * size, curve.length / FEWEST)
            h = np.clip(TURN / np.maximum(curve.turning(_TABLE), 1e-9), finest, size)
            k = len(angles)
            ends = ((e, e - 1, 0), ((e + 1) % k, e + 1, -1)) if e < k else ()
            for corner, beside, end in ends:
                angle = angles[corner]
                h[end] = min(h[end], self.sizes.get((name, beside % k), size))
                if angle < SHARP:
                    h[end] = min(h[end], size * max(np.sin(max(angle, LEAST_CORNER)), 0.1))
            # Limit the growth of h to GROWTH per length, in both directions along the edge.
            s = _TABLE * curve.length * GROWTH
            h = np.minimum.accumulate(h - s) + s
            h = (np.minimum.accumulate((h + s)[::-1]) - s[::-1])[::-1]
            self.tables[edge] = h
        return self.tables[edge]

    def density(self, edge: EdgeId, a: float, b: float, s: Floats) -> Floats:
        """Return the wanted number of mesh edges, per unit of s, along a part of an edge.

        Args:
            edge: the edge.
            a, b: fractions of its length at which the part begins and ends.
            s: (k,) fractions of the part.
        """
        h = np.interp(a + s * (b - a), _TABLE, self.table(edge))
        return (b - a) * self.curves[edge].length / h


def _divide_parts(
    cuts: Mapping[EdgeId, list[float]],
    pairs: Sequence[Sequence[tuple[Part, Part, bool]]],
    wanted: _TargetLengths,
    least: Mapping[EdgeId, int],
) -> tuple[dict[EdgeId, Floats], dict[EdgeId, list[int]]]:
    """Return the fractions of every edge at which vertices stand, and the indices of its breaks
    among them.
    """
    linked: dict[Part, list[tuple[Part, bool]]] = {}
    for a, b, opposite in (p for join in pairs for p in join):
        linked.setdefault(a, []).append((b, opposite))
        linked.setdefault(b, []).append((a, opposite))
    inner: dict[Part, Floats] = {}
    for edge, marks in cuts.items():
        for k in range(len(marks) - 1):
            if (edge, k) in inner:
                continue
            members = _find_linked_parts((edge, k), linked)
            every = [
                wanted.density(e, cuts[e][i], cuts[e][i + 1], _TABLE)[:: -1 if back else 1]
                for (e, i), back in members
            ]
            count = np.max(every, axis=0)
            total = np.concatenate([[0.0], np.cumsum((count[1:] + count[:-1]) / 2 / 256)])
            n = max(1, round(float(total[-1])), *(least.get(e, 1) for (e, _), _ in members))
            s = np.interp(np.arange(1, n) * total[-1] / n, total, _TABLE)
            for part, back in members:
                inner[part] = 1 - s[::-1] if back else s
    fractions, index = {}, {}
    for edge, marks in cuts.items():
        values, places = [0.0], [0]
        for k in range(len(marks) - 1):
            low, high = marks[k], marks[k + 1]
            values += [*(low + inner[edge, k] * (high - low)).tolist(), high]
            places.append(len(values) - 1)
        fractions[edge], index[edge] = np.array(values), places
    return fractions, index


def _find_linked_parts(
    start: Part, linked: Mapping[Part, list[tuple[Part, bool]]]
) -> list[tuple[Part, bool]]:
    """Return all parts that are divided like ``start``, and whether they run in the opposite
    direction.

    A part that is linked to itself in the opposite direction is listed twice, and is therefore
    divided symmetrically.
    """
    seen, todo = {(start, False): None}, [(start, False)]
    while todo:
        part, back = todo.pop()
        for other, opposite in linked.get(part, ()):
            found = (other, back != opposite)
            if found not in seen:
                seen[found] = None
                todo.append(found)
    return list(seen)


def minimum_edge_counts(seams: Sequence[Match], panels: Mapping[str, Panel]) -> dict[EdgeId, int]:
    """Return the least numbers of mesh edges along edges of panels that need several.

    As a single mesh edge, they would have no length once sewn, or coincide with another one.

    These are the edges whose two corners become one, and the edges between the same two corners as
    another edge to which they are not sewn.

    Args:
        seams: with their chains.
        panels: by name.
    """
    sewn = [m for m in seams if m.seam.closing is Closing.SEWN]
    corners = SewnCorners(sewn)
    names: dict[EdgeId, object] = {}  # the seam of each edge that is one whole side of a seam
    for match in sewn:
        for chain in match.chains:
            if len(chain.sides) == 1:
                names[chain.sides[0].edge_id] = match.seam.name
    between: dict[frozenset[Corner], list[EdgeId]] = {}
    for name, panel in panels.items():
        k = len(panel.corners)
        for e in range(k):
            ends = frozenset((corners.root((name, e)), corners.root((name, (e + 1) % k))))
            between.setdefault(ends, []).append((name, e))
    found: dict[EdgeId, int] = {}
    for ends, edges in between.items():
        different = {names.get(e, e) for e in edges}
        if len(ends) == 1:
            found |= dict.fromkeys(edges, RING)
        elif len(different) > 1:
            found |= dict.fromkeys(edges, PAIR)
    return found
