"""Shapes of SVG files as strokes; lines, Béziers and arcs keep their kind."""

import math
import re
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.garment.pattern import BorderCurve
from weft.garment.stroke import MARKS, Stroke
from weft.garment.svg_tree import Node
from weft.garment.svg_units import user_length

if TYPE_CHECKING:
    from svgelements import Arc, Matrix, PathSegment, Point
    from svgelements import Path as SvgPath

SHAPES = ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon")
GAP = 1e-4  # [m] an outline whose ends are closer is closed: less than the width of a pencil line
LARGEST = 1e4  # [m] largest coordinate
MOST_COMMANDS = 100_000
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


@dataclass(frozen=True, eq=False)
class StrokeChain:
    """A chain of strokes.

    Args:
        commands: strokes of every command of the path; an elliptical arc has several.
        closed: whether the chain ends where it begins.
    """

    commands: list[list[Stroke]]
    closed: bool

    @property
    def strokes(self) -> list[Stroke]:
        """Return all strokes in their order."""
        return [s for command in self.commands for s in command]

    @property
    def points(self) -> Floats:
        """Return points (n,2) [m] along the chain, with its end."""
        return np.concatenate([*(s.sample(MARKS) for s in self.strokes), [self.strokes[-1].end]])


def svgelements() -> ModuleType:
    """Return the package that parses path data.

    Raises:
        PatternError: it is not installed.
    """
    try:
        return import_module("svgelements")
    except ImportError as problem:
        raise PatternError(
            "svgelements",
            got="not installed",
            expected="it, to read .svg",
            hint="pip install 'weft[garments]'",
        ) from problem


def transform_matrix(node: Node, file: str) -> "Matrix":
    """Return the transform attributes of an element and everything around it as one matrix."""
    svg = svgelements()
    total = svg.Matrix()
    for each in node.up():
        text = each.attributes.get("transform")
        if text is None:
            continue
        if len(text) > 10_000 or not _TRANSFORM.match(text):
            raise _shape_error(
                each, file, "transform", text, "translate(...), matrix(...) and such"
            )
        if not all(math.isfinite(float(number)) for number in _NUMBERS.findall(text)):
            raise _shape_error(each, file, "transform", text, "finite numbers")
        total = total * svg.Matrix(text)
        values = [float(v) for v in (total.a, total.b, total.c, total.d, total.e, total.f)]
        if not (np.isfinite(values).all() and abs(np.linalg.det(_linear_part(total))) > 1e-12):
            raise _shape_error(each, file, "transform", text, "one that keeps areas above zero")
    return total


def shape_chains(node: Node, file: str, meters: float) -> list[StrokeChain]:
    """Return the chains of strokes of a shape, in meters, y up.

    Args:
        node: a shape.
        file: its name, for messages.
        meters: [m] per unit of the page.

    Raises:
        PatternError: invalid path data, or an edge without length; with the line.
    """
    svg = svgelements()
    matrix = transform_matrix(node, file)
    try:
        path = svg.Path(_data(node, file, svg))
    except (ValueError, ArithmeticError) as problem:  # numbers that no arc or curve can have
        text = node.attributes.get("d", "")
        raise _shape_error(node, file, "path", text[:60], "SVG path data") from problem
    chains: list[list[list[Stroke]]] = []
    ends: list[bool] = []
    if len(path) > MOST_COMMANDS:
        raise _shape_error(node, file, "path", f"{len(path)} commands", f"at most {MOST_COMMANDS}")
    for i, segment in enumerate(path):
        if isinstance(segment, svg.Move):
            chains.append([])
            ends.append(False)
            continue
        if not chains:
            raise _shape_error(node, file, "path", "no M at the start", "SVG path data")
        closes = isinstance(segment, svg.Close)
        strokes = _strokes(segment, matrix, meters, svg)
        points = np.concatenate([s.points for s in strokes])
        if not (np.isfinite(points).all() and np.abs(points).max() < LARGEST):
            raise _shape_error(node, file, "path", f"command {i}", "finite coordinates")
        if np.ptp(points, axis=0).max() > 0 or not closes:
            chains[-1].append(strokes)
        ends[-1] |= closes
    result = [_join_commands(c, e, node, file) for c, e in zip(chains, ends) if c]
    if not result:
        raise _shape_error(node, file, "path", "nothing drawn", "at least one line")
    return result


def _strokes(
    segment: "PathSegment", matrix: "Matrix", meters: float, svg: ModuleType
) -> list[Stroke]:
    """Return the strokes of one command, with points in meters, y up."""
    linear = _linear_part(matrix)

    def points(*given: "Point") -> Floats:
        p = np.array([[q.x, q.y] for q in given], dtype=np.float64)
        # Values that are not finite become huge ones, which ``drawn`` refuses by name.
        p = np.where(np.isfinite(p), p, np.finfo(np.float64).max)
        return np.asarray((p @ linear.T + [matrix.e, matrix.f]) * [meters, -meters])

    if isinstance(segment, svg.Arc):
        known = (segment.center, segment.prx, segment.pry, segment.start, segment.end)
        if not np.isfinite([segment.sweep, *(c for p in known for c in (p.x, p.y))]).all():
            return [Stroke(BorderCurve.LINE, np.full((2, 2), np.inf))]  # ``drawn`` refuses it
        circular = abs(segment.rx - segment.ry) <= 1e-6 * abs(segment.rx)
        gram = linear.T @ linear
        even = np.allclose(gram, gram[0, 0] * np.eye(2), rtol=0, atol=1e-9 * gram[0, 0])
        if abs(segment.sweep) == 0 or segment.rx == 0 or segment.ry == 0:
            return [Stroke(BorderCurve.LINE, points(segment.start, segment.end))]
        if circular and even:
            middle = segment.point(0.5)
            return [Stroke(BorderCurve.ARC, points(segment.start, middle, segment.end))]
        cubics = _cubics(segment) @ linear.T + [matrix.e, matrix.f]
        return [Stroke(BorderCurve.CUBIC, p * [meters, -meters]) for p in cubics]
    if isinstance(segment, svg.QuadraticBezier):
        return [Stroke(BorderCurve.QUADRATIC, points(segment.start, segment.control, segment.end))]
    if isinstance(segment, svg.CubicBezier):
        ends = (segment.start, segment.control1, segment.control2, segment.end)
        return [Stroke(BorderCurve.CUBIC, points(*ends))]
    return [Stroke(BorderCurve.LINE, points(segment.start, segment.end))]


def _cubics(arc: "Arc") -> Floats:
    """Return Béziers (n,4,2) along an elliptical arc, each of a quarter turn at most.

    The arc is c + U cos t + V sin t. With handles of 4/3 tan(turn/4) times its derivative, the
    Béziers deviate from it by 2.7e-4 of the radii at most.
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
    points = c + np.stack([np.cos(t), np.sin(t)], axis=1) @ frame
    points[0], points[-1] = start, end
    handles = 4 / 3 * np.tan(turn / 4) * np.stack([-np.sin(t), np.cos(t)], axis=1) @ frame
    first, last = points[:-1] + handles[:-1], points[1:] - handles[1:]
    return np.stack([points[:-1], first, last, points[1:]], axis=1)


def _join_commands(
    commands: list[list[Stroke]], closes: bool, node: Node, file: str
) -> StrokeChain:
    """Return a chain, which is closed if its ends are so close that they were meant to meet."""
    start = commands[0][0].start
    last = commands[-1][-1]
    gap = float(np.linalg.norm(last.end - start))
    if gap <= GAP:
        if closes and len(commands) > 2 and _size(last) <= GAP:
            commands, last = commands[:-1], commands[-2][-1]
        moved = last.points.copy()
        moved[-1] = start
        commands[-1][-1] = Stroke(last.curve, moved)
    for i, command in enumerate(commands):
        if any(_size(s) == 0 for s in command):
            raise _shape_error(node, file, "path", f"edge {i} has no length", "points apart")
    return StrokeChain(commands, gap <= GAP)


def _size(stroke: Stroke) -> float:
    return float(np.ptp(stroke.points, axis=0).max())


def _data(node: Node, file: str, svg: ModuleType) -> "SvgPath":
    """Return the argument for ``svgelements.Path``: path data, or a shape."""

    def get(name: str, default: float | None = 0.0) -> float:
        return user_length(node, name, file, default)

    if node.tag == "path":
        text = node.attributes.get("d", "")
        if not _PATH.match(text):
            raise _shape_error(node, file, "path", text[:60], "SVG path data")
        return text
    if node.tag in ("polyline", "polygon"):
        text = node.attributes.get("points", "")
        numbers = _NUMBERS.findall(text)
        if len(numbers) < 4 or len(numbers) % 2:
            raise _shape_error(node, file, "points", text[:60], "pairs of numbers")
        return f"M{','.join(numbers)}" + ("Z" if node.tag == "polygon" else "")
    if node.tag == "line":
        return f"M{get('x1')!r},{get('y1')!r} {get('x2')!r},{get('y2')!r}"
    if node.tag == "rect":
        width, height = get("width", None), get("height", None)
        if not (width > 0 and height > 0):
            raise _shape_error(node, file, "size", f"{width} by {height}", "must be > 0")
        rx, ry = (user_length(node, n, file, -1.0) for n in ("rx", "ry"))
        rx, ry = (ry if rx < 0 else rx), (rx if ry < 0 else ry)
        rx, ry = min(max(rx, 0.0), width / 2), min(max(ry, 0.0), height / 2)
        return svg.Rect(get("x"), get("y"), width, height, rx, ry)
    rx, ry = (get("r", None),) * 2 if node.tag == "circle" else (get("rx", None), get("ry", None))
    if not (rx > 0 and ry > 0):
        raise _shape_error(node, file, "radius", min(rx, ry), "must be > 0")
    return svg.Ellipse(get("cx"), get("cy"), rx, ry)


def _linear_part(matrix: "Matrix") -> Floats:
    return np.array([[matrix.a, matrix.c], [matrix.b, matrix.d]], dtype=np.float64)


def _shape_error(node: Node, file: str, what: str, got: object, expected: str) -> PatternError:
    name = node.attributes.get("id", "")
    place = f"<{node.tag}{f' id={name!r}' if name else ''}> {what}"
    return PatternError(place, got=got, expected=expected, where=f"{file}:{node.line}")
