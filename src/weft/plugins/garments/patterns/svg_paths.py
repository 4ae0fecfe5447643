"""Shapes of SVG files as chains of curves; lines, Béziers and arcs keep their kind."""

import math
import re
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.discretization.polygon import unit_vectors
from weft.io.extra import optional
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.pattern import BorderCurve
from weft.plugins.garments.patterns.pieces import chain_polyline
from weft.plugins.garments.patterns.svg_tree import Node

if TYPE_CHECKING:
    from svgelements import Arc, Matrix, PathSegment, Point
    from svgelements import Path as SvgPath

SHAPES = ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon")
GAP = 1e-4  # [m] an outline whose ends are closer is closed: less than the width of a pencil line
LARGEST = 1e4  # [m] largest coordinate
MOST_COMMANDS = 100_000
# svgelements skips what it cannot read, so that path data and transforms are checked before.
_NUMBER = r"(?>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[\s,]*)"
_FLAG = r"(?>[01][\s,]*)"


def _repeat(*counts: int) -> str:
    """Return a pattern of numbers in one of these counts."""
    return "(?:" + "|".join(f"{_NUMBER}{{{n}}}" for n in counts) + ")"


_ARGUMENTS = {  # of the commands of path data
    "Zz": "",
    "HhVv": f"{_NUMBER}+",
    "MmLlTt": f"{_repeat(2)}+",
    "SsQq": f"{_repeat(4)}+",
    "Cc": f"{_repeat(6)}+",
    "Aa": f"(?:{_repeat(3)}{_FLAG}{{2}}{_repeat(2)})+",
}
_COMMAND = "|".join(rf"[{names}][\s,]*{given}" for names, given in _ARGUMENTS.items())
_PATH = re.compile(rf"[\s,]*(?>{_COMMAND})*+$")
_TRANSFORM = re.compile(
    rf"\s*(?:(?:matrix\s*\(\s*{_repeat(6)}|(?:translate|scale)\s*\(\s*{_repeat(2, 1)}"
    rf"|rotate\s*\(\s*{_repeat(3, 1)}|skew[XY]\s*\(\s*{_NUMBER})\)[\s,]*)*$"
)
_NUMBERS = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LAST_POINT = re.compile(r"(?<=\d)\.(?!\d)")  # in 5., which svgelements does not read


@dataclass(frozen=True, eq=False)
class Subpath:
    """A chain of curves of a path.

    Args:
        commands: curves of every command of the path; an elliptical arc has several.
        closed: whether the chain ends where it begins.
    """

    commands: list[list[EdgeCurve]]
    closed: bool

    @property
    def chain(self) -> list[EdgeCurve]:
        """Return all curves in their order."""
        return [c for command in self.commands for c in command]

    @property
    def points(self) -> Floats:
        """Return points (n,2) [m] along the chain, with its end."""
        return chain_polyline(self.chain)


def svgelements() -> ModuleType:
    """Return the package that parses path data.

    Raises:
        PatternError: it is not installed.
    """
    return optional("svgelements", "garments", "svgelements, which reads .svg", PatternError)


def transform_matrix(node: Node) -> "Matrix":
    """Return the transform attributes of an element and everything around it as one matrix."""
    svg = svgelements()
    total = svg.Matrix()
    for each in node.up():
        text = each.attributes.get("transform")
        if text is None:
            continue
        if len(text) > 10_000 or not _TRANSFORM.match(text):
            raise _error(each, "transform", text, "translate(...), matrix(...) and such")
        if not all(math.isfinite(float(number)) for number in _NUMBERS.findall(text)):
            raise _error(each, "transform", text, "finite numbers")
        total = total * svg.Matrix(text)
        values = [float(v) for v in (total.a, total.b, total.c, total.d, total.e, total.f)]
        if not (np.isfinite(values).all() and abs(np.linalg.det(_linear_part(total))) > 1e-12):
            raise _error(each, "transform", text, "one that keeps areas above zero")
    return total


def read_subpaths(node: Node, meters: float) -> list[Subpath]:
    """Return the chains of curves of a shape, in meters, y up.

    Args:
        node: a shape.
        meters: [m] per unit of the page.

    Raises:
        PatternError: invalid path data, or an edge without length; with the line.
    """
    svg = svgelements()
    matrix = transform_matrix(node)
    try:
        path = svg.Path(_data(node, svg))
    except (ValueError, ArithmeticError) as problem:  # numbers that no arc or curve can have
        text = node.attributes.get("d", "")
        raise _error(node, "path", text[:60], "SVG path data") from problem
    chains: list[list[list[EdgeCurve]]] = []
    ends: list[bool] = []
    if len(path) > MOST_COMMANDS:
        raise _error(node, "path", f"{len(path)} commands", f"at most {MOST_COMMANDS}")
    for i, segment in enumerate(path):
        if isinstance(segment, svg.Move):
            chains.append([])
            ends.append(False)
            continue
        if not chains:
            raise _error(node, "path", "no M at the start", "SVG path data")
        closes = isinstance(segment, svg.Close)
        curves = _curves(segment, matrix, meters, svg)
        points = np.concatenate([c.control_points for c in curves])
        if not (np.isfinite(points).all() and np.abs(points).max() < LARGEST):
            raise _error(node, "path", f"command {i}", "finite coordinates")
        if np.ptp(points, axis=0).max() > 0 or not closes:
            chains[-1].append(curves)
        ends[-1] |= closes
    result = [_close_subpath(c, e, node) for c, e in zip(chains, ends) if c]
    if not result:
        raise _error(node, "path", "nothing drawn", "at least one line")
    return result


def _curves(
    segment: "PathSegment", matrix: "Matrix", meters: float, svg: ModuleType
) -> list[EdgeCurve]:
    """Return the curves of one command, with points in meters, y up."""
    linear = _linear_part(matrix)

    def curve(kind: BorderCurve, *points: "Point | Floats") -> EdgeCurve:
        p = np.array([[q[0], q[1]] for q in points], dtype=np.float64)
        # Values that are not finite become huge ones, which ``read_subpaths`` refuses by name.
        p = np.where(np.isfinite(p), p, np.finfo(np.float64).max)
        return EdgeCurve(kind, (p @ linear.T + [matrix.e, matrix.f]) * [meters, -meters])

    ends = segment.start, segment.end
    if isinstance(segment, svg.QuadraticBezier):
        return [curve(BorderCurve.QUADRATIC, ends[0], segment.control, ends[1])]
    if isinstance(segment, svg.CubicBezier):
        controls = segment.control1, segment.control2
        return [curve(BorderCurve.CUBIC, ends[0], *controls, ends[1])]
    if not isinstance(segment, svg.Arc):
        return [curve(BorderCurve.LINE, *ends)]
    known = (segment.center, segment.prx, segment.pry, *ends)
    if not np.isfinite([segment.sweep, *(c for p in known for c in (p.x, p.y))]).all():
        return [EdgeCurve(BorderCurve.LINE, np.full((2, 2), np.inf))]
    if abs(segment.sweep) == 0 or segment.rx == 0 or segment.ry == 0:
        return [curve(BorderCurve.LINE, *ends)]
    circular = abs(segment.rx - segment.ry) <= 1e-6 * abs(segment.rx)
    gram = linear.T @ linear
    if circular and np.allclose(gram, gram[0, 0] * np.eye(2), rtol=0, atol=1e-9 * gram[0, 0]):
        return [curve(BorderCurve.ARC, ends[0], segment.point(0.5), ends[1])]
    return [curve(BorderCurve.CUBIC, *points) for points in _cubics(segment)]


def _cubics(arc: "Arc") -> Floats:
    """Return Béziers (n,4,2) along an elliptical arc, each of a quarter turn at most.

    The arc is c + U cos t + V sin t. With handles of 4/3 tan(turn/4) times its derivative, the
    Béziers deviate from it by 2.7e-4 of the radii at most; those of svgelements, by seven times as
    much.
    """
    c, u, v, start, end = (
        np.array([p.x, p.y]) for p in (arc.center, arc.prx, arc.pry, arc.start, arc.end)
    )
    frame = np.array([u - c, v - c])
    cosine, sine = np.linalg.solve(frame.T, start - c)
    n = int(np.ceil(abs(arc.sweep) / (np.pi / 2) - 1e-9))
    # The sign of the sweep refers to the page: in a left-handed frame (U, V), t runs backward.
    turn = arc.sweep / n * np.sign(np.linalg.det(frame))
    t = np.arctan2(sine, cosine) + turn * np.arange(n + 1)
    points = c + unit_vectors(t) @ frame
    points[0], points[-1] = start, end
    handles = 4 / 3 * np.tan(turn / 4) * np.stack([-np.sin(t), np.cos(t)], axis=1) @ frame
    first, last = points[:-1] + handles[:-1], points[1:] - handles[1:]
    return np.stack([points[:-1], first, last, points[1:]], axis=1)


def _close_subpath(commands: list[list[EdgeCurve]], closes: bool, node: Node) -> Subpath:
    """Return a chain, which is closed if its ends are so close that they were meant to meet."""
    start = commands[0][0].start
    last = commands[-1][-1]
    closed = bool(np.linalg.norm(last.end - start) <= GAP)
    if closed:
        if closes and len(commands) > 2 and _size(last) <= GAP:
            commands, last = commands[:-1], commands[-2][-1]
        moved = np.array([*last.control_points[:-1], start])
        commands[-1][-1] = replace(last, control_points=moved)
    for i, command in enumerate(commands):
        if any(_size(c) == 0 for c in command):
            raise _error(node, "path", f"edge {i} has no length", "points apart")
    return Subpath(commands, closed)


def _size(curve: EdgeCurve) -> float:
    return float(np.ptp(curve.control_points, axis=0).max())


def _data(node: Node, svg: ModuleType) -> "SvgPath":
    """Return the argument for ``svgelements.Path``: path data, or a shape."""
    get = node.user_length
    if node.tag == "path":
        text = _LAST_POINT.sub(" ", node.attributes.get("d", ""))
        if not _PATH.match(text):
            raise _error(node, "path", text[:60], "SVG path data")
        return text
    if node.tag in ("polyline", "polygon"):
        text = node.attributes.get("points", "")
        numbers = _NUMBERS.findall(text)
        if len(numbers) < 4 or len(numbers) % 2:
            raise _error(node, "points", text[:60], "pairs of numbers")
        return _LAST_POINT.sub(" ", f"M{','.join(numbers)}") + ("Z" * (node.tag == "polygon"))
    if node.tag == "line":
        return f"M{get('x1')!r},{get('y1')!r} {get('x2')!r},{get('y2')!r}"
    if node.tag == "rect":
        width, height = get("width", None), get("height", None)
        if not (width > 0 and height > 0):
            raise _error(node, "size", f"{width} by {height}", "must be > 0")
        rx, ry = get("rx", -1.0), get("ry", -1.0)
        rx, ry = (ry if rx < 0 else rx), (rx if ry < 0 else ry)
        rx, ry = min(max(rx, 0.0), width / 2), min(max(ry, 0.0), height / 2)
        return svg.Rect(get("x"), get("y"), width, height, rx, ry)
    rx, ry = (get("r", None),) * 2 if node.tag == "circle" else (get("rx", None), get("ry", None))
    if not (rx > 0 and ry > 0):
        raise _error(node, "radius", min(rx, ry), "must be > 0")
    return svg.Ellipse(get("cx"), get("cy"), rx, ry)


def _linear_part(matrix: "Matrix") -> Floats:
    return np.array([[matrix.a, matrix.c], [matrix.b, matrix.d]], dtype=np.float64)


def _error(node: Node, what: str, got: object, expected: str) -> PatternError:
    name = node.attributes.get("id", "")
    return node.error(f"<{node.tag}{f' id={name!r}' if name else ''}> {what}", got, expected)
