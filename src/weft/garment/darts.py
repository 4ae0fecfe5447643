"""Darts and pleats of an edge, as corners, seams and folds of the panel.

A dart of width w and depth d is a wedge that is cut out of the panel; its two legs of equal length
are sewn together. A pleat of depth p keeps its fabric: 2 p of the edge are folded behind, its top
is sewn together, and fold lines below hold an angle. The rest of the edge keeps its name, in parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.discretization.polygon import contains
from weft.garment.curves import EdgeCurve, edge_curve, outline_polygon
from weft.garment.pattern import BorderCurve, Panel, PatternFold, Seam, SeamSide

PleatKind = Literal["knife", "box", "inverted"]
PLEAT_KINDS = get_args(PleatKind)
FINELY = np.radians(0.5)  # turn per segment of the outline that legs and folds have to stay within
ANGLE = np.radians(150.0)  # rest angle of a pleat's folds, which are pressed but not ironed flat


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
        return {"knife": 2.0, "inverted": 4.0, "box": 6.0}[self.kind] * self.depth


Feature = tuple[int, "Dart | Pleat"]  # the edge, and what is taken out of it


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
    folds, joins = list(panel.folds), list[tuple[str, int, int]]()
    for e in range(len(panel.corners)):
        curve = edge_curve(panel, e)
        name = panel.edges[e].name or str(e)
        own = sorted((f for i, f in features if i == e), key=lambda f: f.at)
        begin = 0.0
        for f, (low, high) in zip(own, _feature_ranges(panel, name, curve, own)):
            parts.append((curve.cut(begin, low), name))
            begin = high
            if isinstance(f, Dart):
                first, second = _dart_legs(panel, curve, f, low, high, inside)
                parts += [(first, f"{f.name}_1"), (second, f"{f.name}_2")]
                joins.append((f.name, len(parts) - 2, len(parts) - 1))
            else:
                at, pairs, lines = _pleat_parts(panel, curve, f, low, high, inside)
                folds += lines
                start = len(parts)
                marks = [f"{f.name}_{i + 1}" for i in range(len(at) - 1)]
                if f.kind == "box":
                    marks[2] = name  # the visible face of the box keeps the name of the edge
                parts += [(curve.cut(a, b), m) for (a, b), m in zip(pairwise(at), marks)]
                joins += [(f.name, start + i, start + i + 1) for i in pairs]
        parts.append((curve.cut(begin, 1.0), name))
    corners = np.array([c.start for c, _ in parts])
    edges = [replace(c.edge, name=name) for c, name in parts]
    seams, used = [], dict[str, int]()
    for name, i, j in joins:
        used[name] = used.get(name, 0) + 1
        label = f"{panel.name}.{name}" + (f"_{used[name]}" if used[name] > 1 else "")
        sides = (SeamSide(panel.name, i),), (SeamSide(panel.name, j),)
        seams.append(Seam(label, *sides, flip=True))
    return replace(panel, corners=corners, edges=edges, folds=folds), seams


def _feature_ranges(
    panel: Panel, edge: str, curve: EdgeCurve, own: Sequence[Dart | Pleat]
) -> Iterator[tuple[float, float]]:
    """Yield the fractions of the edge between which each feature lies, in their order."""
    before, last = 0.0, "the edge's beginning"
    for f in own:
        what = f"{type(f).__name__.lower()} {f.name} of panel {panel.name}"
        if isinstance(f, Pleat) and f.kind not in PLEAT_KINDS:
            raise PatternError(
                f"{what}: kind", got=f.kind, expected=f"one of {', '.join(PLEAT_KINDS)}"
            )
        sizes = {"width": f.width} if isinstance(f, Dart) else {"length": f.length}
        for name, value in {**sizes, "depth": f.depth}.items():
            if not (np.isfinite(value) and value > 0):
                raise PatternError(f"{what}: {name}", got=value, expected="must be > 0 [m]")
        if not 0 < f.at < 1:
            raise PatternError(
                f"{what}: at",
                got=f.at,
                expected="must be > 0 and < 1",
                hint="a fraction of the edge's length",
            )
        half = f.edge_length / (2 * curve.length)
        low, high = f.at - half, f.at + half
        if low <= before or high >= 1:
            side = last if low <= before else "the edge's end"
            text = f"{100 * f.edge_length:.3g} cm of {edge}, {100 * curve.length:.3g} cm long"
            raise PatternError(what, got=text, expected=f"apart from {side}")
        yield low, high
        before, last = high, f.name


def _dart_legs(
    panel: Panel, curve: EdgeCurve, dart: Dart, low: float, high: float, inside: Floats
) -> tuple[EdgeCurve, EdgeCurve]:
    a, c = curve.points(np.array([low, high]))
    tip = (a + c) / 2 + dart.depth * _inward_normal(a, c)
    _check_inside(
        f"dart {dart.name} of panel {panel.name}", dart.depth, [(a, tip), (c, tip)], inside
    )
    legs = np.array([a, tip]), np.array([tip, c])
    return EdgeCurve(BorderCurve.LINE, legs[0]), EdgeCurve(BorderCurve.LINE, legs[1])


def _pleat_parts(
    panel: Panel, curve: EdgeCurve, pleat: Pleat, low: float, high: float, inside: Floats
) -> tuple[Floats, list[int], list[PatternFold]]:
    """Return the fractions at which the edge is cut, the parts that are sewn to the part after
    them, and the folds.
    """
    what = f"pleat {pleat.name} of panel {panel.name}"
    if not 0 < abs(pleat.angle) < np.pi:
        raise PatternError(
            f"{what}: angle",
            got=f"{np.degrees(pleat.angle):.4g} degrees",
            expected="between 0 and 180 degrees",
        )
    p = pleat.depth / curve.length
    steps, pairs = {
        "knife": ([1, 1], [0]),
        "inverted": ([1, 1, 1, 1], [0, 2]),
        "box": ([1, 1, 2, 1, 1], [0, 3]),
    }[pleat.kind]
    at = low + p * np.concatenate([[0], np.cumsum(steps)])
    at[-1] = high
    # The middle line of a flap is a valley fold. Its mountain fold is its last line if the flap
    # lies towards the end of the edge, and its first line otherwise.
    towards_end = {"knife": [pleat.to_end], "inverted": [False, True], "box": [True, False]}
    signs: dict[int, float] = {}
    for i, to_end in zip(pairs, towards_end[pleat.kind]):
        signs |= {i + 1: -1.0, (i + 2 if to_end else i): 1.0}
    points = curve.points(at)
    into = pleat.length * _inward_normal(points[0], points[-1])
    lines = [(points[i], points[i] + into) for i in sorted(signs)]
    _check_inside(what, pleat.length, lines, inside)
    return (
        at,
        pairs,
        [
            PatternFold(np.array(line), signs[i] * pleat.angle)
            for i, line in zip(sorted(signs), lines)
        ],
    )


def _inward_normal(a: Floats, c: Floats) -> Floats:
    """Return the unit vector (2,) to the left of the way from a to c, which points into the
    panel.
    """
    d = (c - a) / np.linalg.norm(c - a)
    return np.array([-d[1], d[0]])


def _check_inside(
    what: str, depth: float, lines: Sequence[tuple[Floats, Floats]], inside: Floats
) -> None:
    """Raise an error unless lines from the edge stay inside the panel."""
    t = np.linspace(0.05, 1, 96)[:, None]
    for a, b in lines:
        out = np.flatnonzero(~contains([inside], a + t * (b - a)))
        if len(out):
            fits = float(t[out[0], 0] * np.linalg.norm(b - a))
            raise PatternError(
                f"{what}: depth",
                got=f"{100 * depth:.4g} cm",
                expected="inside the panel",
                hint=f"it leaves the panel after {100 * fits:.3g} cm",
            )
