"""Repairs of drawn pieces: short edges vanish, inner lines end at the outline; each with a warning.

Programs for patterns draw inner lines up to the cut line, along the outline, or beyond it, and
leave edges of a rounding error between others. Triangles can follow neither.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.io.extra import optional
from weft.plugins.garments.patterns.check_panel import LEAST
from weft.plugins.garments.patterns.curves import EdgeCurve
from weft.plugins.garments.patterns.pieces import DrawnPiece, chain_polygon

NEAR = 2e-3  # [m] a line that runs closer to the outline than this lies along it
ENDS = 3 * NEAR  # [m] length at either end of a line that may be so close
SHORTEST = 2e-3  # [m] of the parts of a line that is cut


def repair_piece(piece: DrawnPiece) -> DrawnPiece:
    """Return a piece without short edges, and with inner lines that stay inside of its outline.

    Args:
        piece: as drawn; its outline is closed and counter-clockwise.
    """
    outline = _drop_short_edges(piece.outline)
    dropped = len(piece.outline) - len(outline)
    told = [f"edges of at most {1e3 * LEAST:g} mm are dropped: {dropped}"] if dropped else []
    piece = replace(piece, outline=outline)
    if piece.lines:
        piece, cut, left_out = _clip_lines(piece)
        told += [f"inner lines that leave the outline are cut there: {cut}"] if cut else []
        text = "inner lines outside of the outline, or along it, are left out"
        told += [f"{text}: {left_out}"] if left_out else []
    for text in told:
        warnings.warn(f"{piece.where}, piece {piece.name!r}: {text}", stacklevel=5)
    return piece


def _drop_short_edges(outline: Sequence[EdgeCurve]) -> list[EdgeCurve]:
    """Return a closed outline in which the neighbors of short edges meet."""
    result: list[EdgeCurve] = []
    for curve in outline:
        moved = _begin_at(curve, result[-1].end) if result else curve
        if moved.length > LEAST:
            result.append(moved)
    if not 2 <= len(result) < len(outline):
        return list(outline)
    return [_begin_at(result[0], result[-1].end), *result[1:]]


def _begin_at(curve: EdgeCurve, point: Floats) -> EdgeCurve:
    return replace(curve, control_points=np.vstack([point, curve.control_points[1:]]))


def _clip_lines(piece: DrawnPiece) -> tuple[DrawnPiece, int, int]:
    """Return the piece with the parts of its lines that lie inside, and the numbers of lines that
    are cut and left out.
    """
    shapely = optional("shapely", "garments", "shapely, which cuts inner lines", PatternError)
    inside = shapely.Polygon(chain_polygon(piece.outline), piece.holes)
    if not inside.is_valid:
        return piece, 0, 0  # the check of the panel names the place
    core, around = inside.buffer(-NEAR), inside.buffer(LEAST)
    names = [*piece.line_names, *[""] * len(piece.lines)]
    lines, kept_names, cut, left_out = list[Floats](), list[str](), 0, 0
    for line, name in zip(piece.lines, names):
        drawn = shapely.LineString(line)
        if around.covers(drawn) and _is_free(drawn, core):
            parts = [line]
        else:
            shapes = []
            for part in _line_parts(drawn.intersection(inside)):
                free = _is_free(part, core)
                shapes += [part] if free else _line_parts(part.intersection(core))
            shapes = sorted((p for p in shapes if p.length > SHORTEST), key=lambda p: -p.length)
            parts = [shapely.get_coordinates(p) for p in shapes]
            cut, left_out = cut + bool(parts), left_out + (not parts)
        lines += parts
        kept_names += [name, *[""] * (len(parts) - 1)] if parts else []
    given = kept_names if any(kept_names) else ()
    return replace(piece, lines=lines, line_names=given), cut, left_out


def _is_free(line: Any, core: Any) -> bool:
    """Return whether a line is near the outline at its ends only."""
    near = _line_parts(line.difference(core))
    ends = [line.interpolate(0.0), line.interpolate(line.length)]
    at_end = [any(part.distance(end) < 1e-9 for end in ends) for part in near]
    return all(at_end) and all(part.length <= ENDS and part.length < line.length for part in near)


def _line_parts(shape: Any) -> list[Any]:
    """Return the lines of a shape: points and empty parts are left out."""
    parts = getattr(shape, "geoms", [shape])
    return [p for p in parts if p.geom_type == "LineString" and p.length > 0]
