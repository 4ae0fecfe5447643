"""Darts and pleats of an edge, as corners, seams and folds of the panel.

A dart of width w and depth d is a wedge that is cut out of the panel; its two legs of equal length
are sewn together. A pleat of depth p keeps its fabric: 2 p of the edge are folded behind, its top
is sewn together, and fold lines below hold an angle. The rest of the edge keeps its name, in parts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.discretization.polygon import contains
from weft.plugins.garments.patterns.curves import EdgeCurve, edge_curve, outline_polygon
from weft.plugins.garments.patterns.pattern import BorderCurve, Panel, PatternFold, Seam, SeamSide

PleatKind = Literal["knife", "box", "inverted"]
PLEAT_KINDS = get_args(PleatKind)
FINELY = np.radians(0.5)  # turn per segment of the outline that legs and folds have to stay within
ANGLE = np.radians(150.0)  # rest angle of a pleat's folds, which are pressed but not ironed flat


@dataclass(frozen=True)
class Cut:
    """The part of an edge that a dart or a pleat takes up, as edges of the panel.

    Args:
        edges: curves with their names, in turn.
        sewn: numbers of the edges that are sewn to the edge after them.
        folds: lines inside the panel.
    """

    edges: Sequence[tuple[EdgeCurve, str]]
    sewn: Sequence[int]
    folds: Sequence[PatternFold] = ()


@dataclass(frozen=True)
class EdgeSpan:
    """An edge of a panel, and the fractions of its length between which a dart or pleat lies."""

    panel: Panel
    name: str  # of the edge
    curve: EdgeCurve
    inside: Floats  # (n,2) [m] finely sampled outline of the panel
    low: float = 0.0
    high: float = 1.0

    @property
    def inward(self) -> Floats:
        """Return the unit vector (2,) across the span's chord, which points into the panel."""
        a, c = self.curve.points(np.array([self.low, self.high]))
        d = (c - a) / np.linalg.norm(c - a)
        return np.array([-d[1], d[0]])

    def check_inside(self, what: str, depth: float, lines: Sequence[tuple[Floats, Floats]]) -> None:
        """Raise an error unless lines from the edge stay inside the panel."""
        t = np.linspace(0.05, 1, 96)[:, None]
        for a, b in lines:
            out = np.flatnonzero(~contains([self.inside], a + t * (b - a)))
            if len(out):
                fits = float(t[out[0], 0] * np.linalg.norm(b - a))
                raise PatternError(
                    f"{what} of panel {self.panel.name}: depth",
                    got=f"{100 * depth:.4g} cm",
                    expected="inside the panel",
                    hint=f"the dart leaves the panel after {100 * fits:.3g} cm",
                )


@dataclass(frozen=True)
class Dart:
    """A wedge of fabric that is taken out of an edge.

    Args:
        name: unique in its panel.
        at: position of its middle, as a fraction of the edge's length.
        width: [m] along the edge.
        depth: [m] from the chord of the edge to its tip.
    """

    name: str
    at: float
    width: float
    depth: float

    @property
    def edge_length(self) -> float:
        """Return the length [m] of the edge that the dart takes up."""
        return self.width

    @property
    def sizes(self) -> dict[str, float]:
        """Return the sizes [m] that have to be positive."""
        return {"width": self.width, "depth": self.depth}

    def reverse(self) -> "Dart":
        """Return the dart on an edge that runs in the other direction."""
        return replace(self, at=1 - self.at)

    def cut(self, span: EdgeSpan) -> Cut:
        """Return the two legs of the dart, which are sewn to each other."""
        a, c = span.curve.points(np.array([span.low, span.high]))
        tip = (a + c) / 2 + self.depth * span.inward
        span.check_inside(f"dart {self.name}", self.depth, [(a, tip), (c, tip)])
        legs = [EdgeCurve(BorderCurve.LINE, np.array(ends)) for ends in ((a, tip), (tip, c))]
        return Cut([(leg, f"{self.name}_{i}") for i, leg in enumerate(legs, 1)], [0])


@dataclass(frozen=True)
class Pleat:
    """Fabric of an edge that is folded behind: twice ``depth`` of the edge, or four times in boxes.

    Args:
        name: unique in its panel.
        at: position of its middle, as a fraction of the edge's length.
        depth: [m] of the fold.
        length: [m] of its fold lines, which run straight into the panel.
        kind: ``knife``: folded to one side; ``box``: two folds that turn towards each other behind
            a face of twice the depth; ``inverted``: two folds that turn away from each other.
        to_end: the fabric of a knife pleat lies towards the end of the edge; otherwise towards its
            beginning.
        angle: [rad] of the folds at rest.
    """

    name: str
    at: float
    depth: float
    length: float
    kind: PleatKind = "knife"
    to_end: bool = True
    angle: float = ANGLE

    @property
    def edge_length(self) -> float:
        """Return the length [m] of the edge that the pleat takes up, with the face of a box."""
        return sum(_STEPS.get(self.kind, ())) * self.depth

    @property
    def sizes(self) -> dict[str, float]:
        """Return the sizes [m] that have to be positive."""
        return {"length": self.length, "depth": self.depth}

    def reverse(self) -> "Pleat":
        """Return the pleat on an edge that runs in the other direction."""
        return replace(self, at=1 - self.at, to_end=not self.to_end)

    def cut(self, span: EdgeSpan) -> Cut:
        """Return the parts of the edge that are folded behind, and the folds."""
        what = f"pleat {self.name} of panel {span.panel.name}"
        if self.kind not in PLEAT_KINDS:
            expected = f"one of {', '.join(PLEAT_KINDS)}"
            raise PatternError(f"{what}: kind", got=self.kind, expected=expected)
        if not 0 < abs(self.angle) < np.pi:
            got = f"{np.degrees(self.angle):.4g} degrees"
            raise PatternError(f"{what}: angle", got=got, expected="between 0 and 180 degrees")
        steps = _STEPS[self.kind]
        at = span.low + self.depth / span.curve.length * np.cumsum([0, *steps])
        at[-1] = span.high
        # The middle line of a flap is a valley fold. Its mountain fold is its last line if the flap
        # lies towards the end of the edge, and its first line otherwise.
        flaps = {
            "knife": {0: self.to_end},
            "inverted": {0: False, 2: True},
            "box": {0: True, 3: False},
        }[self.kind]
        signs: dict[int, float] = {}
        for i, to_end in flaps.items():
            signs |= {i + 1: -1.0, (i + 2 if to_end else i): 1.0}
        points = span.curve.points(at)
        into = self.length * span.inward
        lines = {i: (points[i], points[i] + into) for i in sorted(signs)}
        span.check_inside(f"pleat {self.name}", self.length, list(lines.values()))
        names = [f"{self.name}_{i + 1}" for i in range(len(steps))]
        if self.kind == "box":
            names[2] = span.name  # the visible face of the box keeps the name of the edge
        parts = [(span.curve.cut(a, b), name) for (a, b), name in zip(pairwise(at), names)]
        folds = [PatternFold(np.array(x), signs[i] * self.angle) for i, x in lines.items()]
        return Cut(parts, list(flaps), folds)


# Lengths of the parts into which a pleat divides the edge, over its depth.
_STEPS = {"knife": (1, 1), "inverted": (1, 1, 1, 1), "box": (1, 1, 2, 1, 1)}
Feature = tuple[int, Dart | Pleat]  # the edge, and what is taken out of it


def insert_features(panel: Panel, features: Sequence[Feature]) -> tuple[Panel, list[Seam]]:
    """Return the panel with darts and pleats, and the seams that close them.

    Edges after an edge with a dart get other numbers; names stay the same, and unnamed edges get
    their number as a name.

    Args:
        panel: counter-clockwise.
        features: darts and pleats, each with the number of its edge.

    Raises:
        PatternError: darts or pleats that overlap, lie beyond the edge's ends, or are deeper than
            the panel; sizes that are not positive.
    """
    if not features:
        return panel, []
    inside = outline_polygon(panel, FINELY)[0]
    parts: list[tuple[EdgeCurve, str]] = []
    folds, joins = list(panel.folds), list[tuple[str, int]]()
    for e in range(len(panel.corners)):
        edge = EdgeSpan(panel, panel.edges[e].name or str(e), edge_curve(panel, e), inside)
        begin = 0.0
        for f, span in _feature_spans(edge, [f for i, f in features if i == e]):
            cut = f.cut(span)
            parts.append((edge.curve.cut(begin, span.low), edge.name))
            joins += [(f.name, len(parts) + i) for i in cut.sewn]
            parts += cut.edges
            folds += cut.folds
            begin = span.high
        parts.append((edge.curve.cut(begin, 1.0), edge.name))
    corners = np.array([c.start for c, _ in parts])
    edges = [replace(c.edge, name=name) for c, name in parts]
    seams, used = [], Counter[str]()
    for name, i in joins:
        used[name] += 1
        label = f"{panel.name}.{name}" + (f"_{used[name]}" if used[name] > 1 else "")
        sides = (SeamSide(panel.name, i),), (SeamSide(panel.name, i + 1),)
        seams.append(Seam(label, *sides, flip=True))
    return replace(panel, corners=corners, edges=edges, folds=folds), seams


def _feature_spans(
    edge: EdgeSpan, features: Sequence[Dart | Pleat]
) -> Iterator[tuple[Dart | Pleat, EdgeSpan]]:
    """Yield the features of an edge in their order, each with the span of the edge that it takes
    up.
    """
    before, last = 0.0, "the beginning of the edge"
    for f in sorted(features, key=lambda f: f.at):
        what = f"{type(f).__name__.lower()} {f.name} of panel {edge.panel.name}"
        for name, value in f.sizes.items():
            if not (np.isfinite(value) and value > 0):
                raise PatternError(f"{what}: {name}", got=value, expected="must be > 0 [m]")
        if not 0 < f.at < 1:
            hint = "a fraction of the edge's length"
            raise PatternError(f"{what}: at", got=f.at, expected="must be > 0 and < 1", hint=hint)
        length = edge.curve.length
        half = f.edge_length / (2 * length)
        low, high = f.at - half, f.at + half
        if low <= before or high >= 1:
            side = last if low <= before else "the end of the edge"
            text = f"{100 * f.edge_length:.3g} cm of {edge.name}, {100 * length:.3g} cm long"
            raise PatternError(what, got=text, expected=f"no overlap with {side}")
        yield f, replace(edge, low=low, high=high)
        before, last = high, f.name
