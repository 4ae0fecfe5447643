"""Panels, edges and stitches of a draft, and the file that they are written to.

Coordinates are centimeters. A panel's corners run counter-clockwise as seen from the front of the
body. Control points of curves are in the frame of their edge, as in GarmentCode's files: (0, 0) is
its start, (1, 0) its end, y to its left.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

Point = tuple[float, float]
Triple = tuple[float, float, float]
Stitch = tuple[str, str, str, str]  # panel and edge, twice
Json = Mapping[str, "Json"] | Sequence["Json"] | str | float | bool
DIGITS = 4  # of coordinates in a file
LINE = 150  # characters
NEAR = 0.2  # [cm] of a chain of edges up to which corners of both sides are one


@dataclass(frozen=True)
class Curve:
    """The curvature of an edge: Bezier control points, or the radius of a circle's arc."""

    controls: tuple[Point, ...] = ()
    radius: float = 0.0
    right: bool = False  # a circle's arc bulges to the right of the way along the edge
    large: bool = False  # the arc is more than half of its circle

    def reverse(self) -> "Curve":
        """Return the same curve for the edge from its end to its start."""
        return replace(
            self,
            controls=tuple((1 - t, -h) for t, h in reversed(self.controls)),
            right=not self.right,
        )

    def mirror(self) -> "Curve":
        """Return the mirror image of the curve."""
        return replace(
            self, controls=tuple((t, -h) for t, h in self.controls), right=not self.right
        )

    def length(self, chord: float) -> float:
        """Return the length [cm] of the edge whose ends are ``chord`` [cm] apart."""
        if self.radius:
            return self.radius * self.angle(chord)
        t = np.linspace(0, 1, 400)[:, None]
        level = [np.array([p]) for p in ((0.0, 0.0), *self.controls, (1.0, 0.0))]
        while len(level) > 1:
            level = [(1 - t) * a + t * b for a, b in pairwise(level)]
        return chord * float(np.linalg.norm(np.diff(level[0], axis=0), axis=1).sum())

    def angle(self, chord: float) -> float:
        """Return the angle [rad] of the arc whose ends are ``chord`` [cm] apart."""
        minor = 2 * math.asin(min(1.0, chord / 2 / self.radius))
        return 2 * math.pi - minor if self.large else minor

    def scale(self, factor: float) -> "Curve":
        """Return the curve with its control points farther from the edge's chord."""
        return replace(self, controls=tuple((t, factor * h) for t, h in self.controls))

    def block(self) -> Json:
        """Return the curve as the file has it."""
        if self.radius:
            return {
                "type": "circle",
                "params": [_round(self.radius), int(self.large), int(self.right)],
            }
        kind = "quadratic" if len(self.controls) == 1 else "cubic"
        return {"type": kind, "params": [[_round(t), _round(h)] for t, h in self.controls]}


@dataclass(frozen=True)
class Edge:
    """A corner and the edge that begins there."""

    x: float
    y: float
    name: str
    curve: Curve | None = None
    label: str = ""


def bow(height: float, at: float = 0.5) -> Curve:
    """Return a quadratic curve whose control point is ``height`` edge lengths to the left."""
    return Curve(((at, height),))


def cubic(first: Point, second: Point) -> Curve:
    """Return a cubic curve."""
    return Curve((first, second))


def arc(radius: float, *, right: bool, large: bool = False) -> Curve:
    """Return a circular arc."""
    return Curve(radius=radius, right=right, large=large)


@dataclass(frozen=True)
class DraftPanel:
    """A flat panel and where it starts.

    ``edges`` run counter-clockwise as seen from its outer side if ``outside`` is +1; a panel with
    ``outside`` -1 is seen from its inner side, as a back panel is from the front.
    """

    name: str
    edges: tuple[Edge, ...]
    place: Triple
    turn: Triple = (0.0, 0.0, 0.0)
    outside: int = 1
    label: str = "body"

    def numbers(self) -> dict[str, int]:
        """Return the number in the file of every edge."""
        count = len(self.edges)
        if self.outside > 0:
            return {e.name: i for i, e in enumerate(self.edges)}
        return {e.name: count - 1 - i for i, e in enumerate(self.edges)}

    def names(self) -> list[str]:
        """Return the names of its edges, in their order here."""
        return [e.name for e in self.edges]

    def edge_length(self, name: str) -> float:
        """Return the length [cm] of an edge."""
        i = self.names().index(name)
        a, b = self.edges[i], self.edges[(i + 1) % len(self.edges)]
        chord = math.hypot(b.x - a.x, b.y - a.y)
        return a.curve.length(chord) if a.curve else chord

    def divide(self, name: str, part: float) -> tuple["DraftPanel", str]:
        """Return the panel with a straight edge or an arc divided at a fraction of its length, and
        the name of the second half.
        """
        i = self.names().index(name)
        a, b = self.edges[i], self.edges[(i + 1) % len(self.edges)]
        x, y = between((a.x, a.y), (b.x, b.y), part)
        halves = [a.curve, a.curve]
        if a.curve:
            assert a.curve.radius, f"{self.name}.{name} is a Bezier curve"
            x, y = _on_arc((a.x, a.y), (b.x, b.y), a.curve, part)
            whole = a.curve.angle(math.hypot(b.x - a.x, b.y - a.y))
            halves = [replace(a.curve, large=whole * t > math.pi) for t in (part, 1 - part)]
        new = f"{name}+"
        while new in self.numbers():
            new += "+"
        pieces = replace(a, curve=halves[0]), replace(a, x=x, y=y, name=new, curve=halves[1])
        return replace(self, edges=(*self.edges[:i], *pieces, *self.edges[i + 1 :])), new

    def mirror(self, name: str) -> "DraftPanel":
        """Return the mirror image for the other side of the body; edges keep their names."""
        count = len(self.edges)
        edges = []
        for i in reversed(range(count)):
            edge, end = self.edges[i], self.edges[(i + 1) % count]
            curve = edge.curve.reverse().mirror() if edge.curve else None
            label = edge.label.replace("left", "right")
            edges.append(replace(edge, x=-end.x, y=end.y, curve=curve, label=label))
        x, y, z = self.place
        a, b, c = self.turn
        return replace(self, name=name, edges=tuple(edges), place=(-x, y, z), turn=(a, -b, -c))

    def block(self) -> Json:
        """Return the panel as the file has it."""
        edges = list(self.edges)
        if self.outside < 0:
            count = len(edges)
            order = reversed(range(count))
            edges = [
                replace(
                    self.edges[i],
                    x=self.edges[(i + 1) % count].x,
                    y=self.edges[(i + 1) % count].y,
                    curve=_reverse(self.edges[i].curve),
                )
                for i in order
            ]
        count = len(edges)
        blocks: list[Json] = []
        for i, edge in enumerate(edges):
            block: dict[str, Json] = {"endpoints": [i, (i + 1) % count]}
            if edge.curve:
                block["curvature"] = edge.curve.block()
            if edge.label:
                block["label"] = edge.label
            blocks.append(block)
        return {
            "translation": [_round(v) for v in self.place],
            "rotation": [_round(v) for v in self.turn],
            "vertices": [[_round(e.x), _round(e.y)] for e in edges],
            "edges": blocks,
            "label": self.label,
        }


def _on_arc(start: Point, end: Point, curve: Curve, part: float) -> Point:
    """Return the point at a fraction of an arc's length."""
    along = np.subtract(end, start)
    half = float(np.linalg.norm(along)) / 2
    to_left = np.array([-along[1], along[0]]) / (2 * half)
    toward = 1 if curve.right != curve.large else -1
    center = np.add(start, end) / 2 + toward * to_left * math.sqrt(curve.radius**2 - half**2)
    spoke = np.subtract(start, center)
    angle = curve.angle(2 * half) * part * (1 if curve.right else -1)
    c, s = math.cos(angle), math.sin(angle)
    x, y = center + np.array([c * spoke[0] - s * spoke[1], s * spoke[0] + c * spoke[1]])
    return float(x), float(y)


def _plain(chain: Sequence[str]) -> list[str]:
    return [edge.lstrip("-") for edge in chain]


def _reverse(curve: Curve | None) -> Curve | None:
    return curve.reverse() if curve else None


def _round(value: float) -> float:
    return round(float(value), DIGITS) + 0.0  # no negative zero


def between(start: Point, end: Point, part: float) -> Point:
    """Return the point at a fraction of the way from one point to another."""
    return (start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1]))


def toward(start: Point, end: Point, corner: Point, amount: float) -> Curve:
    """Return the quadratic curve of an edge whose control point lies on the way from the edge's
    middle to a corner; ``amount`` 1 is at the corner.
    """
    x, y = between(between(start, end, 0.5), corner, amount)
    along = (end[0] - start[0], end[1] - start[1])
    square = along[0] ** 2 + along[1] ** 2
    rel = (x - start[0], y - start[1])
    t = (rel[0] * along[0] + rel[1] * along[1]) / square
    return bow((rel[1] * along[0] - rel[0] * along[1]) / square, t)


def dart(start: Point, end: Point, at: float, width: float, depth: float, name: str) -> list[Edge]:
    """Return the corners of a dart cut into the edge from ``start`` to ``end``, to its left.

    Args:
        start: of the edge.
        end: of the edge.
        at: distance [cm] of the dart's middle from ``start``.
        width: of its opening.
        depth: of its point.
        name: its legs are ``NAME_a`` and ``NAME_b``; the edge after it is ``NAME_end``.
    """
    long = math.hypot(end[0] - start[0], end[1] - start[1])
    opening = [between(start, end, (at + d) / long) for d in (-width / 2, width / 2)]
    middle = between(start, end, at / long)
    left = (-(end[1] - start[1]) / long, (end[0] - start[0]) / long)
    point = (middle[0] + depth * left[0], middle[1] + depth * left[1])
    corners = (opening[0], point, opening[1])
    return [Edge(*c, f"{name}_{part}") for c, part in zip(corners, ("a", "b", "end"))]


@dataclass
class Draft:
    """Panels and stitches of a garment."""

    name: str
    title: str = ""
    panels: dict[str, DraftPanel] = field(default_factory=dict)
    stitches: list[Stitch] = field(default_factory=list)
    turned: set[Stitch] = field(default_factory=set)  # stitches of a right side to a wrong one

    def add(self, *panels: DraftPanel) -> None:
        """Add panels."""
        for panel in panels:
            self.panels[panel.name] = panel

    def sew(self, first: str, second: str, *, right_wrong: bool = False) -> None:
        """Sew two edges ``PANEL.EDGE`` to each other.

        Args:
            first, second: the edges.
            right_wrong: the right side of one panel lies on the wrong side of the other.
        """
        a, b = first.split("."), second.split(".")
        for panel, edge in (a, b):
            if edge not in self.panels[panel].numbers():
                raise KeyError(f"{self.name}: no edge {panel}.{edge}")
        stitch = a[0], a[1], b[0], b[1]
        self.stitches.append(stitch)
        if right_wrong:
            self.turned.add(stitch)

    def unsew(self, first: str, second: str) -> None:
        """Open the seam of two edges ``PANEL.EDGE``, in the order in which they were sewn."""
        self.stitches.remove((*first.split("."), *second.split(".")))  # type: ignore[arg-type]

    def sew_sides(self, first: str, second: str, *, right_wrong: bool = False) -> None:
        """Sew two edges of the left side, and the same of the right side."""
        for side in ("left", "right"):
            ends = (first.replace("left", side), second.replace("left", side))
            self.sew(*ends, right_wrong=right_wrong)

    def sew_chains(self, first: Sequence[str], second: Sequence[str]) -> None:
        """Sew two chains of edges, edge by edge, after dividing edges where the other chain has a
        corner. ``-PANEL.EDGE`` is an edge from its end to its start.
        """
        chains = [list(first), list(second)]
        marks = [self._fractions(chain) for chain in chains]
        near = NEAR / min(sum(self._lengths(chain)) for chain in chains)  # the same for both
        for chain, others in zip(chains, reversed(marks)):
            for mark in others[1:-1]:
                self._divide(chain, mark, near)
        assert len(chains[0]) == len(chains[1]), (self.name, chains)
        for a, b in zip(*chains):
            self.sew(a.lstrip("-"), b.lstrip("-"))

    def _lengths(self, chain: Sequence[str]) -> list[float]:
        edges = [e.split(".") for e in _plain(chain)]
        return [self.panels[panel].edge_length(edge) for panel, edge in edges]

    def _fractions(self, chain: Sequence[str]) -> list[float]:
        lengths = self._lengths(chain)
        return [sum(lengths[:k]) / sum(lengths) for k in range(len(lengths) + 1)]

    def _divide(self, chain: list[str], mark: float, near: float) -> None:
        """Divide the edge of a chain that has this fraction of its length inside, unless a corner
        is as ``near``, as a fraction.
        """
        marks = self._fractions(chain)
        if any(abs(m - mark) < near for m in marks):
            return
        k = next(k for k in range(len(chain)) if marks[k] < mark < marks[k + 1])
        part = (mark - marks[k]) / (marks[k + 1] - marks[k])
        backward, (panel, edge) = chain[k].startswith("-"), chain[k].lstrip("-").split(".")
        part = 1 - part if backward else part
        self.panels[panel], new = self.panels[panel].divide(edge, part)
        pieces = [chain[k], f"{'-' * backward}{panel}.{new}"]
        chain[k : k + 1] = reversed(pieces) if backward else pieces

    def tree(self) -> Json:
        """Return the whole file."""
        side: list[Json] = []
        for stitch in self.stitches:
            a, i, b, j = stitch
            ends = ((a, self.panels[a].numbers()[i]), (b, self.panels[b].numbers()[j]))
            sides: list[Json] = [{"panel": panel, "edge": edge} for panel, edge in ends]
            side.append([*sides, "right_wrong"] if stitch in self.turned else sides)
        return {
            "pattern": {
                "panels": {name: panel.block() for name, panel in self.panels.items()},
                "stitches": side,
                "panel_order": list(self.panels),
            },
            "parameters": {},
            "parameter_order": [],
            "properties": {
                "curvature_coords": "relative",
                "normalize_panel_translation": False,
                "normalized_edge_loops": True,
                "units_in_meter": 100,
            },
        }

    def text(self) -> str:
        """Return the file's text; what fits is on one line."""
        return layout(self.tree()) + "\n"


def layout(node: Json, indent: int = 0) -> str:
    """Return JSON text in which every block that fits in a line is on one line."""
    line = json.dumps(node)
    if len(line) + indent <= LINE or not isinstance(node, (Mapping, list)):
        return line
    inside = " " * (indent + 1)
    if isinstance(node, Mapping):
        parts = [f"{inside}{json.dumps(k)}: {layout(v, indent + 1)}" for k, v in node.items()]
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    parts = [inside + layout(v, indent + 1) for v in node]
    return "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"
