"""A nest of sizes: every panel in all sizes on one sheet, as it is printed and cut.

``svg_writer`` writes a nest. Panels of a pattern are drawn around an origin, which is where their
sizes coincide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.io.extra import optional
from weft.plugins.garments.patterns.curves import outline_polygon
from weft.plugins.garments.patterns.edge_chains import EdgeChain, Match
from weft.plugins.garments.patterns.pattern import Panel, Pattern
from weft.plugins.garments.sheets.layout import arrange, seam_color

GAP = 0.03  # [m] between panels
SQUARE = 0.05  # [m] of the square that shows whether a print is to scale
GRAIN = 0.1  # [m] of the grain line, at most half of the panel
MITRE = 2.0  # largest distance of an allowance's corner from the seam line's, in allowances
SMOOTH = np.radians(0.3)  # [rad] largest turn between two points of a drawn curve
NOTCH = 0.005  # [m] length of a notch that is cut into a panel without allowance
SHORTEST = 0.1  # [m] of a seam that has a notch in its middle
TEXT = 0.005  # [m] height of texts


@dataclass(frozen=True, eq=False)
class NestPiece:
    """One panel in one size.

    Args:
        panel: the panel.
        size: its size.
        place: (2,) [m] of its origin on the sheet.
        cut: (n,2) [m] the line along which fabric is cut, in the panel's plane.
        notches: (k,2,2) [m] both ends of each notch, in the panel's plane.
    """

    panel: Panel
    size: str
    place: Floats
    cut: Floats
    notches: Floats

    @cached_property
    def outline(self) -> Floats:
        """Return the seam line (n,2) [m] as a polygon, in the panel's plane."""
        return outline_polygon(self.panel, SMOOTH)[0]

    @property
    def grain(self) -> Floats:
        """Return both ends (2,2) [m] of a line along the warp, in the panel's plane."""
        low, high = self.outline.min(0), self.outline.max(0)
        along = np.array([np.cos(self.panel.grain), np.sin(self.panel.grain)])
        reach = min(GRAIN, float((high - low).min()) / 2) / 2
        middle = (low + high) / 2 + [0.0, reach]
        return np.array([middle - reach * along, middle + reach * along])


class Nest:
    """All sizes of a pattern on one sheet.

    Args:
        patterns: by the names of their sizes, with the same panels.
        allowance: [m] from the seam line to the line that is cut; corners are mitred up to
            ``MITRE`` allowances.

    Attributes:
        sample: the size whose seams and placement are written beside drawings: the middle one.
        pieces: panel by panel, each in all sizes.

    Raises:
        PatternError: ``shapely`` is not installed, or a panel that no allowance fits.
    """

    def __init__(self, patterns: Mapping[str, Pattern], allowance: float = 0.01) -> None:
        self.patterns, self.allowance = patterns, allowance
        self.sizes = list(patterns)
        self.sample = self.sizes[len(self.sizes) // 2]
        names = [p.name for p in patterns[self.sample].panels]
        matches = {
            size: [Match.of(seam, pattern.by_name) for seam in pattern.seams]
            for size, pattern in patterns.items()
        }
        cuts = {
            (name, size): _offset(pattern.panel(name), matches[size], allowance)
            for name in names
            for size, pattern in patterns.items()
        }
        boxes = {n: np.concatenate([cuts[n, s] for s in self.sizes]) for n in names}
        self.places, self.extent = arrange(boxes, GAP)
        notches = {size: _notches(names, matches[size], allowance) for size in patterns}
        self.pieces = [
            NestPiece(patterns[size].panel(name), size, self.places[name], cut, notches[size][name])
            for (name, size), cut in cuts.items()
        ]

    @property
    def name(self) -> str:
        """Return the name of the pattern."""
        return self.patterns[self.sample].name

    def color(self, size: str) -> str:
        """Return the color of a size, as ``#rrggbb``."""
        return seam_color(self.sizes.index(size))

    @cached_property
    def square(self) -> Floats:
        """Return the square (4,2) [m] that shows the scale, below the pieces."""
        corner = np.array([0.0, -SQUARE - GAP])
        return corner + SQUARE * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])

    @cached_property
    def texts(self) -> list[tuple[Floats, str, str | None]]:
        """Return the middle (2,) [m], the text, and the size (None: all) of every label."""
        sizes = ", ".join(self.sizes)
        found: list[tuple[Floats, str, str | None]] = [
            (self.square.mean(0), f"{100 * SQUARE:g} cm", None),
            (
                self.square[1] + [0.1, SQUARE / 2],
                f"{self.name}: {100 * self.allowance:g} cm allowance",
                None,
            ),
        ]
        for i, piece in enumerate(self.pieces):
            k = i % len(self.sizes)
            if k == 0:
                middle = piece.place + piece.grain[0] - [0.0, 2 * TEXT]
                found.append((middle, piece.panel.name, None))
                found.append((middle - [0.0, 1.5 * TEXT], f"sizes {sizes}", None))
                found.append((middle - [0.0, 3 * TEXT], "cut 1 of each", None))
            edge = piece.cut[int(np.argmax(piece.cut[:, 0]))]
            up = (k - (len(self.sizes) - 1) / 2) * 1.2 * TEXT
            found.append((piece.place + edge + [-1.5 * TEXT, up], piece.size, piece.size))
        return found


def _offset(panel: Panel, matches: Sequence[Match], allowance: float) -> Floats:
    """Return the line (n,2) [m] along which a panel is cut: its outline without darts, which are
    folded, moved outwards by the allowance [m].
    """
    outline = outline_polygon(panel, SMOOTH)[0]
    if allowance == 0:
        return outline
    shapely = optional("shapely", "garments", "seam allowance", PatternError)
    parts = [shapely.make_valid(shapely.Polygon(outline))]
    for match in matches:
        if match.is_dart and match.first.sides[0].panel == panel.name:
            legs = [c.controls for chain in match.chains for c in chain.curves]
            parts.append(shapely.MultiPoint(np.concatenate(legs)).convex_hull)
    wider = shapely.union_all(parts).buffer(allowance, join_style="mitre", mitre_limit=MITRE)
    if wider.geom_type != "Polygon":
        raise PatternError(f"panel {panel.name!r}", got="several pieces", expected="one piece")
    return np.array(shapely.get_coordinates(wider.exterior)[:-1])


def _notches(names: Sequence[str], matches: Sequence[Match], allowance: float) -> dict[str, Floats]:
    """Return the notches (k,2,2) [m] of every panel.

    Notches show which points a seam brings together: its middle, and the corners of the other side.
    They lead from the seam line to the cut line, or into the panel where there is no allowance.
    """
    found: dict[str, list[Floats]] = {name: [] for name in names}
    for match in (m for m in matches if not m.is_dart):
        for own, other in (match.chains, match.chains[::-1]):
            if own.is_inside:
                continue
            middle = [0.5] if own.length >= SHORTEST else []
            for at in dict.fromkeys([*other.starts[1:-1].tolist(), *middle]):
                if np.abs(own.starts - at).min() > 1e-3:  # corners of its own show themselves
                    name, point, outward = _mark(own, at)
                    away = outward * (allowance or -NOTCH)
                    found[name].append(np.array([point, point + away]))
    return {name: np.array(marks).reshape(-1, 2, 2) for name, marks in found.items()}


def _mark(chain: EdgeChain, at: float) -> tuple[str, Floats, Floats]:
    """Return the panel at a fraction of a chain, the point (2,) [m] and the outward normal (2,)."""
    i, along = chain.on_edge(at)
    before, point, after = chain.curves[i].points(
        np.clip(along + np.array([-1e-3, 0.0, 1e-3]), 0, 1)
    )
    d = (after - before) / np.linalg.norm(after - before)
    return chain.sides[i].panel, point, np.array([d[1], -d[0]])
