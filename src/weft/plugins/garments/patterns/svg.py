"""Reader of patterns drawn as SVG: the classes of paths define the pieces.

A path of ``class="outline"`` (or ``sew``, ``cut``) is the border of a piece, ``hole`` is cut out,
``internal`` lines are marks that triangles follow, ``grain`` shows the warp. If a path has no
class, its id or Inkscape label takes its place, or the class, id or label of the group or layer
around it. Groups are pieces. Seams come from the words of ``data-seams`` on outlines, one for each
edge as drawn, and from the side-car file.
"""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from weft.base.errors import PatternError
from weft.discretization.polygon import arc_lengths, contains, interpolate_points
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.pattern import BorderCurve, Pattern
from weft.plugins.garments.patterns.pattern_file import pattern_name
from weft.plugins.garments.patterns.pieces import (
    MARKS,
    DrawnPiece,
    chain_area,
    chain_polygon,
    chain_polyline,
    orient_chain,
)
from weft.plugins.garments.patterns.sidecar import assemble_pattern, read_sidecar, select_size
from weft.plugins.garments.patterns.svg_paths import SHAPES, Subpath, read_subpaths
from weft.plugins.garments.patterns.svg_tree import Node, meters_per_unit, read_svg_nodes

BORDERS = ("sew", "outline", "cut")  # if a piece has several kinds, the first of these is used
ROLES = (*BORDERS, "hole", "internal", "grain", "origin")
NOTE = "note"  # the class of shapes that are meant for people only
UNSEEN = ("defs", "symbol", "clipPath", "mask", "marker", "pattern", "metadata", "style")
NONE = "-"  # in data-edges and data-seams: this edge has no name, or no seam
CONTINUED = "+"  # in data-edges: this part continues the edge before
_LABEL = re.compile(rf"({'|'.join(ROLES)})(?:[-_. ]?\d+)?$")
_AUTOMATIC = re.compile(r"(?:g|layer|svg|use|text|" + "|".join(SHAPES) + r")\d+(?:-\d+)*$")


@dataclass(eq=False)
class _Shape:
    """A shape with its role, and its chains of curves in meters."""

    node: Node
    role: str
    chains: list[Subpath]
    group: Node | None


@dataclass(eq=False)
class _Group:
    """The shapes of one group: borders, and the other shapes that are drawn for them."""

    borders: list[_Shape] = field(default_factory=list)
    others: list[_Shape] = field(default_factory=list)


def read_svg(path: Path) -> Pattern:
    """Return the pattern in an SVG file, with the seams of its side-car file.

    Raises:
        PatternError: no such file, or an invalid element, with its line.
    """
    groups: dict[int, _Group] = {}
    for found in _find_shapes(read_svg_nodes(path)):
        group = groups.setdefault(id(found.group), _Group())
        (group.borders if found.role in BORDERS else group.others).append(found)
    pieces = [p for g in groups.values() for p in _build_pieces(g)]
    if not pieces:
        raise PatternError(
            "pieces",
            got="no path of class outline",
            where=path.name,
            expected='at least one such path: <path class="outline" ...>, or an id or layer of '
            "this name",
        )
    pieces = [replace(p, name=p.name or f"piece {i}") for i, p in enumerate(pieces, start=1)]
    loose = [o for g in groups.values() if len(_select_borders(g)) != 1 for o in g.others]
    for other in loose:
        pieces = _assign_feature(pieces, other)
    car = read_sidecar(path)
    pieces = select_size(path, pieces, [(p.size, p.name) for p in pieces], "", car)
    return assemble_pattern(path, pattern_name(path), [p.center() for p in pieces], car)


def _find_shapes(nodes: Sequence[Node]) -> list[_Shape]:
    """Return all visible shapes that have a role."""
    root, result, skipped = nodes[0], [], 0
    meters = meters_per_unit(root)
    for node in nodes:
        if any(n.tag in UNSEEN or _is_hidden(n) for n in node.up()):
            continue
        if node.tag == "svg" and node is not root:
            raise node.error("<svg>", "inside another", "one page")
        role = _role(node)
        if role and node.tag == "use":
            hint = "unlink clones before exporting"
            raise node.error("<use>", "a copy of another element", "paths", hint)
        if node.tag not in SHAPES:
            continue
        if not role:
            skipped += NOTE not in node.attributes.get("class", "").split()
            continue
        result.append(_Shape(node, role, read_subpaths(node, meters), _group_of(node)))
    if skipped:
        warnings.warn(
            f"{root.file}: {skipped} shapes without a class of {', '.join(ROLES)}: not read",
            stacklevel=3,
        )
    return result


def _is_hidden(node: Node) -> bool:
    style = node.attributes.get("style", "").replace(" ", "")
    return "display:none" in style or node.attributes.get("display") == "none"


def _label(node: Node) -> str:
    """Return the name that a person gave to an element; "" for a name that a program numbered."""
    given = node.attributes.get("inkscape:label") or node.attributes.get("id", "")
    given = " ".join(given.split())
    return "" if _AUTOMATIC.match(given) else given


def _own_role(node: Node) -> str:
    for word in node.attributes.get("class", "").lower().split():
        if word in ROLES:
            return word
    match = _LABEL.match(_label(node).lower())
    return match[1] if match else ""


def _role(node: Node) -> str:
    """Return the role of an element, or that of the nearest group around it that has one."""
    return next((r for n in node.up() if (r := _own_role(n))), "")


def _group_of(node: Node) -> Node | None:
    """Return the group that is the piece: the nearest one whose name is no role."""
    groups = [n for n in node.up() if n.tag == "g" and not _own_role(n)]
    return next((g for g in groups if _label(g)), groups[0] if groups else None)


def _select_borders(group: _Group) -> list[_Shape]:
    """Return the borders of the first kind that is present, because fabric beyond the seam line is
    not simulated.
    """
    for role in BORDERS:
        found = [b for b in group.borders if b.role == role]
        if found:
            return found
    return []


def _build_pieces(group: _Group) -> list[DrawnPiece]:
    """Return the pieces of a group; if it has only one, with the other shapes of the group."""
    borders = _select_borders(group)
    result = []
    for border in borders:
        own = _label(border.node)
        own = "" if _LABEL.match(own.lower()) else own
        around = "" if border.group is None else _label(border.group)
        name = around or own if len(borders) == 1 else own
        piece = _build_piece(border, name)
        if border.group is not None:
            piece = replace(piece, size=border.group.attributes.get("data-size", ""))
        if len(borders) == 1:
            for other in group.others:
                piece = _add_feature(piece, other)
        result.append(piece)
    if borders and borders[0].role == "cut":
        warnings.warn(
            f"{borders[0].node.file}: {len(borders)} cut lines without a sew line: seam "
            "allowances, if there are any, are sewn as fabric",
            stacklevel=3,
        )
    return result


def _build_piece(border: _Shape, name: str) -> DrawnPiece:
    """Return a piece whose outline is the largest of the path's chains; the other chains are
    holes.
    """
    node = border.node
    shown = f"outline of {name!r}" if name else "outline"
    for subpath in border.chains:
        if not subpath.closed:
            a, b = (1e3 * p for p in (subpath.chain[0].start, subpath.chain[-1].end))
            got = f"open: from ({a[0]:.4g}, {a[1]:.4g}) to ({b[0]:.4g}, {b[1]:.4g}) mm"
            raise node.error(shown, got, "a closed path", "end it with Z")
    first, *others = sorted(border.chains, key=lambda c: -abs(chain_area(c.chain)))
    outline = orient_chain(_label_edges(first, node))
    if len(outline) < 2:
        raise node.error(shown, "one edge", "at least two")
    holes = [chain_polygon(c.chain, MARKS) for c in others]
    return DrawnPiece(name, outline, holes, where=node.where)


def _label_edges(subpath: Subpath, node: Node) -> list[EdgeCurve]:
    """Return the curves with the words of data-edges and data-seams."""
    words, count = {}, len(subpath.commands)
    for key in ("data-edges", "data-seams"):
        given = node.attributes.get(key)
        words[key] = [NONE] * count if given is None else given.split()
        if len(words[key]) != count:
            expected = f"one for each of the {count} edges; {NONE!r} for none"
            raise node.error(key, f"{len(words[key])} words", expected)
    result: list[EdgeCurve] = []
    for command, name, seam in zip(subpath.commands, words["data-edges"], words["data-seams"]):
        if name == CONTINUED:
            parts = [*result[-1:], *command]
            straight = all(c.kind in (BorderCurve.LINE, BorderCurve.POLYLINE) for c in parts)
            if not (result and straight):
                got = f"{CONTINUED!r} at edge {len(result)}"
                expected = "this name only at a straight part after a straight part"
                raise node.error("data-edges", got, expected)
            points = chain_polyline(parts)
            result[-1] = replace(result[-1], kind=BorderCurve.POLYLINE, control_points=points)
            continue
        name, seam = ("" if word == NONE else word for word in (name, seam))
        result += [replace(c, name=name, seam=seam) for c in command]
    return result


def _add_feature(piece: DrawnPiece, other: _Shape) -> DrawnPiece:
    """Return the piece with a hole, an inner line, its origin or its grain added."""
    node, first = other.node, other.chains[0]
    if other.role == "hole":
        if not all(c.closed for c in other.chains):
            raise node.error(f"hole of {piece.name!r}", "an open path", "a closed one")
        holes = [chain_polygon(c.chain, MARKS) for c in other.chains]
        return replace(piece, holes=[*piece.holes, *holes])
    if other.role == "internal":
        n, name = len(other.chains), node.attributes.get("data-edges", "").strip()
        if name and (n > 1 or "." in name or len(name.split()) > 1):
            raise node.error("data-edges", repr(name), "one word without dots")
        names = [*piece.line_names, *[name] * n]
        lines = [*piece.lines, *(c.points for c in other.chains)]
        return replace(piece, lines=lines, line_names=names)
    if other.role == "origin":
        points = first.points
        return replace(piece, origin=(points.min(0) + points.max(0)) / 2)
    if piece.grain is not None:
        raise node.error(f"grain of {piece.name!r}", "a second line", "one line")
    x, y = first.chain[-1].end - first.chain[0].start
    if x == 0 and y == 0:
        raise node.error(f"grain of {piece.name!r}", "a closed path", "a line along the warp")
    return replace(piece, grain=float(np.arctan2(y, x)))


def _assign_feature(pieces: Sequence[DrawnPiece], other: _Shape) -> list[DrawnPiece]:
    """Return the pieces, with a shape added to the smallest piece inside which it is drawn."""
    points = other.chains[0].points
    along = arc_lengths(points)
    middle = interpolate_points(along[-1:] / 2, along, points)
    inside = [i for i, p in enumerate(pieces) if contains([chain_polygon(p.outline)], middle)[0]]
    if not inside:
        where = other.node.where
        warnings.warn(f"{where}: {other.role} outside of every piece: not read", stacklevel=3)
        return list(pieces)
    i = min(inside, key=lambda k: abs(chain_area(pieces[k].outline)))
    return [_add_feature(p, other) if k == i else p for k, p in enumerate(pieces)]
