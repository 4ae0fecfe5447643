"""Reader of patterns drawn as SVG: the classes of paths define the pieces.

A path of ``class="outline"`` (or ``sew``, ``cut``) is the border of a piece, ``hole`` is cut out,
``internal`` lines are marks that triangles follow, ``grain`` shows the warp. If a path has no
class, its id or Inkscape label takes its place, or the class, id or label of the group or layer
around it. Groups are pieces. Seams come from the words of ``data-seams`` on outlines, one for each
edge as drawn, and from the side-car file. Without such words, edges go from corner to corner.

Drawings of FreeSewing, Inkscape, Seamly2D and Valentina are understood as they are: classes of
FreeSewing, names of layers in five languages, and closed lines without any name. A piece with a
``fold`` line is unfolded.
"""

import re
import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.discretization.polygon import arc_lengths, contains, interpolate_points, signed_area
from weft.plugins.garments.patterns.check_panel import LEAST
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.dxf_chains import (
    SPIKES,
    MirrorLine,
    chain_edges,
    drop_spikes,
    find_kinks,
)
from weft.plugins.garments.patterns.pattern import BorderCurve, Pattern
from weft.plugins.garments.patterns.pattern_file import pattern_name
from weft.plugins.garments.patterns.pieces import (
    MARKS,
    DrawnPiece,
    chain_area,
    chain_polygon,
    chain_polyline,
    orient_chain,
    seam_allowance,
)
from weft.plugins.garments.patterns.sidecar import assemble_pattern, read_sidecar, select_size
from weft.plugins.garments.patterns.svg_paths import (
    SHAPES,
    Subpath,
    is_empty,
    read_subpaths,
    transform_matrix,
)
from weft.plugins.garments.patterns.svg_tree import Node, meters_per_unit, read_svg_nodes
from weft.plugins.garments.patterns.symmetry import MIRRORED

BORDERS = ("sew", "outline", "cut")  # if a piece has several kinds, the first of these is used
ROLES = (*BORDERS, "hole", "internal", "grain", "origin", "fold")
WORDS = {  # other names of roles: of labels, ids and layers
    "sew": "seam, seam line, seamline, sewing line, stitch line, stitching line, naht, nahtlinie, "
    "couture, ligne de couture, costura, linea de costura, cucitura, linea di cucitura",
    "cut": "cut line, cutline, cutting line, seam allowance, schnittlinie, nahtzugabe, coupe, "
    "ligne de coupe, corte, linea de corte, taglio, linea di taglio",
    "outline": "contour, umriss, kontur, schnittteil, contorno",
    "grain": "grain line, grainline, fadenlauf, droit fil, hilo, recto hilo, drittofilo",
    "fold": "fold line, foldline, cut on fold, mirror line, bruch, stoffbruch, pliure, au pli, "
    "doblez, al doblez, piega, ripiegatura",
    "internal": "inner, internal line, innenlinie, ligne interieure, linea interna",
}
NOTE = "note"  # the class of shapes that are meant for people only
UNSEEN = ("defs", "symbol", "clipPath", "mask", "marker", "pattern", "metadata", "style")
LEAST_PIECE = 1e-3  # [m^2] area of the smallest piece of a drawing that does not name its outlines
NONE = "-"  # in data-edges and data-seams: this edge has no name, or no seam
CONTINUED = "+"  # in data-edges: this part continues the edge before
_ROLE_OF = {**{r: r for r in ROLES}, **{w: r for r, ws in WORDS.items() for w in ws.split(", ")}}
_LABEL = re.compile(rf"({'|'.join(sorted(_ROLE_OF, key=len, reverse=True))})(?:[-_. ]?\d+)?$")
_AUTOMATIC = re.compile(r"(?:fs-|g|layer|svg|use|text|" + "|".join(SHAPES) + r")\d+(?:-\d+)*$")
_FREESEWING = re.compile(r"fs-(?:stack|part|container)\b[-.]?(?:.*part-)?(?:.*\.)?")
FABRICS = ("fabric", "lining", "interfacing", "canvas", "contrast", "various")  # of FreeSewing
# Marks for people there, which are no outlines: by word, or by the beginning of a word.
MARKED = ("note", "mark", "help", "hint", "dashed", "dotted", "lashed", "hidden", "scalebox")
MARK_STYLES = ("stroke-mark", "stroke-note", "fill-", "logo")


@dataclass(eq=False)
class _Shape:
    """A shape with its role, and its chains of curves in meters."""

    node: Node
    role: str
    chains: list[Subpath]
    group: Node | None

    @property
    def middle(self) -> Floats:
        """Return the point (1,2) [m] halfway along the first chain."""
        points = self.chains[0].points
        along = arc_lengths(points)
        return interpolate_points(along[-1:] / 2, along, points)


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
    car = read_sidecar(path)
    nodes = read_svg_nodes(path)
    unit = car.unit or meters_per_unit(nodes[0])
    for found in _find_shapes(nodes, unit):
        group = groups.setdefault(id(found.group), _Group())
        (group.borders if found.role in BORDERS else group.others).append(found)
    selected = [_select_outline(g) for g in groups.values()]
    pieces = [p for g in selected for p in _build_pieces(g)]
    if not pieces:
        raise PatternError(
            "pieces",
            got="no path of class outline",
            where=path.name,
            expected='at least one such path: <path class="outline" ...>, or an id or layer of '
            "this name",
        )
    pieces = [replace(p, name=p.name or f"piece {i}") for i, p in enumerate(pieces, start=1)]
    loose = [o for g in selected if len(_select_borders(g)) != 1 for o in g.others]
    for other in loose:
        pieces = _assign_feature(pieces, other)
    pieces = [_unfold(p) for p in pieces]
    pieces = select_size(path, pieces, [(p.size, p.name) for p in pieces], "", car)
    return assemble_pattern(path, pattern_name(path), [p.center() for p in pieces], unit, car)


def _find_shapes(nodes: Sequence[Node], meters: float) -> list[_Shape]:
    """Return all visible shapes that have a role, or closed ones if none is a border."""
    root, result, others = nodes[0], list[_Shape](), list[Node]()
    for node in nodes:
        if any(n.tag in UNSEEN or _is_hidden(n) for n in node.up()):
            continue
        if node.tag == "svg" and node is not root:
            raise node.error("<svg>", "inside another", "one page")
        if is_empty(node) and not _classes(node):
            continue
        role = _role(node)
        if role and node.tag == "use":
            hint = "unlink clones before exporting"
            raise node.error("<use>", "a copy of another element", "paths", hint)
        if node.tag not in SHAPES:
            continue
        if not role:
            if not (NOTE in _classes(node) or _is_freesewing_mark(node)):
                others.append(node)
            continue
        result.append(_Shape(node, role, read_subpaths(node, meters), _group_of(node)))
    if others and not any(found.role in BORDERS for found in result):
        return result + _guess_roles(others, meters, nodes)
    if others:
        warnings.warn(
            f"{root.file}: {len(others)} shapes without a class of {', '.join(ROLES)}: not read",
            stacklevel=3,
        )
    return result


def _guess_roles(others: Sequence[Node], meters: float, nodes: Sequence[Node]) -> list[_Shape]:
    """Return shapes without a role: outermost closed ones are cut lines of pieces, named by the
    texts inside; a closed one that follows it inside is the sew line; the others are inner lines.
    """
    shapes = [_Shape(n, "internal", read_subpaths(n, meters), _group_of(n)) for n in others]
    loops = [chain_polygon(s.chains[0].chain) if s.chains[0].closed else None for s in shapes]
    pieces = list[_Shape]()
    for shape, loop in zip(shapes, loops):
        if loop is None or abs(signed_area(loop)) < LEAST_PIECE:
            continue
        around = [o for o in loops if o is not None and o is not loop]
        if not any(contains([o], loop[:1])[0] for o in around):
            shape.role = "outline"
            pieces.append(shape)
    for i, piece in enumerate(pieces, start=1):
        loop = chain_polygon(piece.chains[0].chain)
        inside = [s for s in shapes if s.role == "internal" and contains([loop], s.middle)[0]]
        texts = [n for n in nodes if n.tag == "text" and n.text]
        names = [n.text for n in texts if contains([loop], _text_place(n, meters))[0]]
        piece.group = Node("g", {"id": names[0] if names else f"piece {i}"}, piece.node.file, 0)
        for shape in inside:
            shape.group = piece.group
            if shape.chains[0].closed and seam_allowance(
                piece.chains[0].chain, shape.chains[0].chain
            ):
                piece.role, shape.role = "cut", "sew"
    if pieces:
        warnings.warn(
            f"{nodes[0].file}: no class or label says which shapes are outlines: the "
            f"{len(pieces)} outermost closed ones are, and the texts inside are their names",
            stacklevel=4,
        )
    return [s for s in shapes if s.group is not None]


def _text_place(node: Node, meters: float) -> Floats:
    """Return the place (1,2) [m] where a text begins."""
    at = transform_matrix(node) @ [node.user_length("x"), node.user_length("y"), 1.0]
    return np.array([[at[0], -at[1]]]) * meters


def _classes(node: Node) -> list[str]:
    return node.attributes.get("class", "").lower().split()


def _select_outline(group: _Group) -> _Group:
    """Return a group of FreeSewing with its largest closed line as its only border."""
    sewn = [b for b in group.borders if b.role == "sew"]
    drawn = [b for b in sewn if set(_classes(b.node)) & set(FABRICS) or _is_freesewing(b.node)]
    if len(drawn) < 2:
        return group
    drawn.sort(key=lambda b: (not b.chains[0].closed, -abs(chain_area(b.chains[0].chain))))
    lines = [replace(b, role="internal") for b in drawn[1:]]
    borders = [b for b in group.borders if b not in drawn[1:]]
    return _Group(borders, [*group.others, *lines])


def _is_hidden(node: Node) -> bool:
    style = node.attributes.get("style", "").replace(" ", "")
    return "display:none" in style or node.attributes.get("display") == "none"


def _label(node: Node) -> str:
    """Return the name that a person gave to an element; "" for a name that a program numbered."""
    given = node.attributes.get("inkscape:label") or node.attributes.get("id", "")
    given = " ".join(given.split())
    if _AUTOMATIC.match(given):
        return ""
    return _FREESEWING.sub("", given)


def _own_role(node: Node) -> str:
    words = _classes(node)
    for word in words:
        if word in ROLES:
            return word
    if "url(#cutonfold" in node.attributes.get("marker-start", ""):
        return "fold"
    if "url(#grainline" in node.attributes.get("marker-start", ""):
        return "grain"
    drawn = bool(set(words) & set(FABRICS)) or (not words and _is_freesewing(node))
    if node.tag == "path" and drawn:
        return "" if _is_mark(words) else "cut" if "sa" in words else "sew"
    match = _LABEL.match(_without_accents(_label(node).lower()))
    return _ROLE_OF[match[1]] if match else ""


def _is_mark(words: Sequence[str]) -> bool:
    """Return whether classes of FreeSewing are those of a line for people."""
    return any(word in MARKED or word.startswith(MARK_STYLES) for word in words)


def _is_freesewing(node: Node) -> bool:
    """Return whether an element is in a part that FreeSewing has drawn."""
    return any(n.tag == "g" and "-part-" in n.attributes.get("id", "") for n in node.up())


def _is_freesewing_mark(node: Node) -> bool:
    return _is_freesewing(node) and _is_mark(_classes(node))


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFD", text)
    return "".join(c for c in letters if not unicodedata.combining(c)).replace("_", " ")


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
        own = "" if _own_role(border.node) and _LABEL.match(own.lower()) else own
        around = "" if border.group is None else _label(border.group)
        name = around or own if len(borders) == 1 else own
        folded = len(borders) == 1 and any(o.role == "fold" for o in group.others)
        piece = _build_piece(border, name, folded)
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


def _build_piece(border: _Shape, name: str, folded: bool) -> DrawnPiece:
    """Return a piece whose outline is the largest of the path's chains; the other chains are
    holes.

    Args:
        border: its path.
        name: of the piece.
        folded: whether half of the outline is drawn, which may be open on its fold.
    """
    node = border.node
    shown = f"outline of {name!r}" if name else "outline"
    for subpath in border.chains:
        if not (subpath.closed or folded):
            a, b = (1e3 * p for p in (subpath.chain[0].start, subpath.chain[-1].end))
            got = f"open: from ({a[0]:.4g}, {a[1]:.4g}) to ({b[0]:.4g}, {b[1]:.4g}) mm"
            raise node.error(shown, got, "a closed path", "end it with Z")
    first, *others = sorted(border.chains, key=lambda c: -abs(chain_area(c.chain)))
    outline = orient_chain(_label_edges(first, node))
    if first.closed and not folded and not {"data-edges", "data-seams"} & node.attributes.keys():
        outline = _as_edges(outline, name, node.where)
    if len(outline) < 2:
        raise node.error(shown, "one edge", "at least two")
    holes = [chain_polygon(c.chain, MARKS) for c in others]
    return DrawnPiece(name, outline, holes, where=node.where)


def _as_edges(chain: Sequence[EdgeCurve], name: str, where: str) -> list[EdgeCurve]:
    """Return the closed chain of an outline as edges from corner to corner."""
    chain, spikes = drop_spikes(chain)
    if spikes:
        warnings.warn(f"{where}, piece {name!r}: {SPIKES}: {spikes}", stacklevel=6)
    return chain_edges(chain, find_kinks(chain))


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
    if other.role == "fold":
        return replace(piece, fold=first.points[[0, -1]])
    if piece.grain is not None:
        raise node.error(f"grain of {piece.name!r}", "a second line", "one line")
    x, y = first.chain[-1].end - first.chain[0].start
    if x == 0 and y == 0:
        raise node.error(f"grain of {piece.name!r}", "a closed path", "a line along the warp")
    return replace(piece, grain=float(np.arctan2(y, x)))


def _unfold(piece: DrawnPiece) -> DrawnPiece:
    """Return a piece that is drawn as one half, on its fold line, as a whole."""
    if piece.fold is None:
        return piece
    if np.linalg.norm(piece.fold[1] - piece.fold[0]) <= LEAST:
        got = "a line without length"
        raise PatternError(
            f"fold of {piece.name!r}", got=got, expected="a straight line", where=piece.where
        )
    mirror = MirrorLine(piece.fold)
    named = any(c.name or c.seam for c in piece.outline)
    whole = mirror.unfold(list(piece.outline))
    if whole is None:
        raise PatternError(
            f"outline of {piece.name!r}",
            got="a half that does not end on its fold line",
            expected="one straight part of the outline on the fold line, within 1 mm",
            where=piece.where,
        )
    half = len(whole) // 2
    if named:  # the seam words of the half are those of both halves: an edge cannot have them twice
        mirrored = [
            replace(c, name=f"{c.name}{MIRRORED}" if c.name else "", seam="") for c in whole[half:]
        ]
        outline = orient_chain([*whole[:half], *mirrored])
    else:
        outline = _as_edges(orient_chain(whole), piece.name, piece.where)
    holes = [h @ mirror.linear.T + mirror.offset for h in piece.holes]
    lines = [p @ mirror.linear.T + mirror.offset for p in piece.lines]
    grain = piece.grain
    if grain is None:
        x, y = piece.fold[1] - piece.fold[0]
        grain = float(np.arctan2(y, x))
    names = [*piece.line_names, *[""] * (2 * len(lines) - len(piece.line_names))]
    return replace(
        piece,
        outline=outline,
        holes=[*piece.holes, *holes],
        lines=[*piece.lines, *lines],
        line_names=names if any(names) else (),
        grain=grain,
        fold=None,
    )


def _assign_feature(pieces: Sequence[DrawnPiece], other: _Shape) -> list[DrawnPiece]:
    """Return the pieces, with a shape added to the smallest piece inside which it is drawn."""
    middle = other.middle
    inside = [i for i, p in enumerate(pieces) if contains([chain_polygon(p.outline)], middle)[0]]
    if not inside:
        where = other.node.where
        warnings.warn(f"{where}: {other.role} outside of every piece: not read", stacklevel=3)
        return list(pieces)
    i = min(inside, key=lambda k: abs(chain_area(pieces[k].outline)))
    return [_add_feature(p, other) if k == i else p for k, p in enumerate(pieces)]
