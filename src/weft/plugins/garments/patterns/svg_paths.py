"""Shapes of SVG files as chains of curves; lines, Béziers and arcs keep their kind."""

import re
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.io.extra import optional
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.pattern import BorderCurve
from weft.plugins.garments.patterns.pieces import chain_polyline
from weft.plugins.garments.patterns.svg_tree import Node

if TYPE_CHECKING:
    from svgpathtools import Arc, Line

SHAPES = ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon")
GAP = 1e-4  # [m] an outline whose ends are closer is closed: less than the width of a pencil line
LARGEST = 1e4  # [m] largest coordinate
MOST_COMMANDS = 100_000
# svgpathtools skips what it cannot read, so that path data are checked before.
_NUMBER = r"(?>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[\s,]*)"
_FLAG = r"(?>[01][\s,]*)"
_ARGUMENTS = {  # of the commands of path data
    "Zz": "",
    "HhVv": f"{_NUMBER}+",
    "MmLlTt": f"(?:{_NUMBER}{{2}})+",
    "SsQq": f"(?:{_NUMBER}{{4}})+",
    "Cc": f"(?:{_NUMBER}{{6}})+",
    "Aa": f"(?:{_NUMBER}{{3}}{_FLAG}{{2}}{_NUMBER}{{2}})+",
}
_COMMAND = "|".join(rf"[{names}][\s,]*{given}" for names, given in _ARGUMENTS.items())
_PATH = re.compile(rf"[\s,]*(?>{_COMMAND})*+$")
_NUMBERS = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LAST_POINT = re.compile(r"(?<=\d)\.(?!\d)")  # in 5., which svgpathtools does not read


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


def svgpathtools() -> ModuleType:
    """Return the package that parses path data and transforms.

    Raises:
        PatternError: it is not installed.
    """
    return optional("svgpathtools", "garments", "svgpathtools, which reads .svg", PatternError)


def transform_matrix(node: Node) -> Floats:
    """Return the transforms of an element and everything around it as one matrix (3,3)."""
    total = np.eye(3)
    for each in node.up():
        text = each.attributes.get("transform", "")
        try:  # numbers need no space between them, but svgpathtools wants one
            own = svgpathtools().parse_transform(_NUMBERS.sub(r" \g<0>", text), strict=True)
        except ValueError as problem:
            raise _error(
                each, "transform", text, "translate(...), matrix(...) and such"
            ) from problem
        with np.errstate(all="ignore"):  # checked by the next lines
            total = own @ total
            area = abs(np.linalg.det(total[:2, :2]))
        if not (np.isfinite(total).all() and area > 1e-12):
            raise _error(each, "transform", text, "a transformation that keeps areas above zero")
    return total


def read_subpaths(node: Node, meters: float) -> list[Subpath]:
    """Return the chains of curves of a shape, in meters, y up.

    Args:
        node: a shape.
        meters: [m] per unit of the page.

    Raises:
        PatternError: invalid path data, or an edge with a name and without length; with the line.
    """
    matrix = transform_matrix(node)
    result = []
    for text, segments in _parse_path(_path_data(node), node):
        with np.errstate(all="ignore"):  # checked by the next lines
            commands = [_curves(segment, matrix, meters) for segment in segments]
        for i, command in enumerate(commands):
            points = np.concatenate([c.control_points for c in command])
            if not (np.isfinite(points).all() and np.abs(points).max() < LARGEST):
                raise _error(node, "path", f"command {i}", "finite coordinates")
        if commands:
            result.append(_close_subpath(commands, "z" in text.lower(), node))
    if not result:
        raise _error(node, "path", "nothing drawn", "at least one line")
    return result


def is_empty(node: Node) -> bool:
    """Return whether an element is a path that only moves to a point, and draws nothing."""
    data = node.attributes.get("d", "")
    moves = re.fullmatch(r"[Mm][^A-Za-z]*", data.strip()) is not None
    return node.tag == "path" and moves and len(_NUMBERS.findall(data)) <= 2


def _parse_path(data: str, node: Node) -> "list[tuple[str, list[Line]]]":
    """Return the data of each subpath of an SVG path, and its segments.

    Raises:
        PatternError: invalid path data, with the line.
    """
    before, *subpaths = re.split(r"(?=[Mm])", data)
    if not _PATH.match(data) or before.strip(" ,"):
        raise _error(node, "path", data[:60], "SVG path data")
    result, position = [], 0j
    for text in subpaths:
        try:
            with np.errstate(all="ignore"):
                # The line h0 ends every subpath at the point where the next one may begin.
                *segments, last = svgpathtools().parse_path(f"{text}h0", position)
        except (ValueError, ArithmeticError, AssertionError) as problem:
            raise _error(node, "path", text[:60], "SVG path data") from problem
        result.append((text, segments))
        position = last.end
        if len(segments) > MOST_COMMANDS:
            raise _error(node, "path", f"{len(segments)} commands", f"at most {MOST_COMMANDS}")
    return result


def _curves(segment: "Line", matrix: Floats, meters: float) -> list[EdgeCurve]:
    """Return the curves of a segment of a path, with points in meters, y up."""
    svg = svgpathtools()
    linear, shift = matrix[:2, :2], matrix[:2, 2]

    def curve(kind: BorderCurve, *points: complex) -> EdgeCurve:
        p = np.array([[q.real, q.imag] for q in points], dtype=np.float64)
        return EdgeCurve(kind, (p @ linear.T + shift) * [meters, -meters])

    if not isinstance(segment, svg.Arc):
        kinds = {svg.QuadraticBezier: BorderCurve.QUADRATIC, svg.CubicBezier: BorderCurve.CUBIC}
        return [curve(kinds.get(type(segment), BorderCurve.LINE), *segment.bpoints())]
    rx, ry = segment.radius.real, segment.radius.imag
    gram = linear.T @ linear
    circular = abs(rx - ry) <= 1e-6 * rx
    if circular and np.allclose(gram, gram[0, 0] * np.eye(2), rtol=0, atol=1e-9 * gram[0, 0]):
        return [curve(BorderCurve.ARC, segment.start, segment.point(0.5), segment.end)]
    return [curve(BorderCurve.CUBIC, *points) for points in _cubics(segment)]


def _cubics(arc: "Arc") -> np.ndarray:
    """Return Béziers (n,4), complex, along an elliptical arc, each of a quarter turn at most.

    The arc is c + u cos t + v sin t. With handles of 4/3 tan(turn/4) times its derivative, the
    Béziers deviate from it by 2.7e-4 of the radii at most.
    """
    if not np.isfinite([arc.theta, arc.delta]).all():
        return np.full((1, 4), np.inf, dtype=np.complex128)
    u, v = arc.radius.real * arc.rot_matrix, 1j * arc.radius.imag * arc.rot_matrix
    n = max(1, int(np.ceil(abs(arc.delta) / 90 - 1e-9)))
    turn = np.radians(arc.delta) / n
    t = np.radians(arc.theta) + turn * np.arange(n + 1)
    points = arc.center + u * np.cos(t) + v * np.sin(t)
    points[0], points[-1] = arc.start, arc.end
    handles = 4 / 3 * np.tan(turn / 4) * (v * np.cos(t) - u * np.sin(t))
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
    named = {"data-edges", "data-seams"} & node.attributes.keys()
    long = [all(_size(c) > 0 for c in command) for command in commands]
    if not all(long) and (named or not any(long)):
        raise _error(node, "path", f"edge {long.index(False)} has no length", "points apart")
    return Subpath([command for command, kept in zip(commands, long) if kept], closed)


def _size(curve: EdgeCurve) -> float:
    return float(np.ptp(curve.control_points, axis=0).max())


def _path_data(node: Node) -> str:
    """Return the path data of a shape."""
    get = node.user_length
    if node.tag == "path":
        return _LAST_POINT.sub(" ", node.attributes.get("d", ""))
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
        rect = {"x": get("x"), "y": get("y"), "width": width, "height": height}
        rx, ry = get("rx", -1.0), get("ry", -1.0)
        rx, ry = (ry if rx < 0 else rx), (rx if ry < 0 else ry)
        if rx > 0 and ry > 0:
            rect |= {"rx": min(rx, width / 2), "ry": min(ry, height / 2)}
        data: str = svgpathtools().svg_to_paths.rect2pathd(rect)
        return data
    rx, ry = (get("r", None),) * 2 if node.tag == "circle" else (get("rx", None), get("ry", None))
    if not (rx > 0 and ry > 0):
        raise _error(node, "radius", min(rx, ry), "must be > 0")
    x, y, arc = get("cx"), get("cy"), f"A{rx!r},{ry!r} 0 0 1 "
    corners = [(x, y + ry), (x - rx, y), (x, y - ry), (x + rx, y)]
    return f"M{x + rx!r},{y!r}" + "".join(f"{arc}{a!r},{b!r}" for a, b in corners) + "Z"


def _error(node: Node, what: str, got: object, expected: str) -> PatternError:
    name = node.attributes.get("id", "")
    return node.error(f"<{node.tag}{f' id={name!r}' if name else ''}> {what}", got, expected)
