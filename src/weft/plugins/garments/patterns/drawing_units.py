"""The unit of a drawing, by comparison of its pieces with a body.

A drawing may say no unit or a wrong one. The front and back of a garment go around a body, and are
not longer than it is tall. weft changes the unit only if the given one does not fit, and another
one does. If weft knows no front and back, it asks.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from weft.plugins.garments.patterns.guess import kind_of, symmetric_width
from weft.plugins.garments.patterns.piece_names import read_place
from weft.plugins.garments.patterns.pieces import DrawnPiece, chain_polygon

UNITS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "in": 0.0254, "0.01 mm": 1e-5}  # [m]
# [m] least and largest girth of front and back, and length, for bodies of 0.8 to 2.1 m.
GIRTHS = {"top": (0.45, 1.8), "trousers": (0.7, 2.0), "skirt": (0.45, 8.0)}
LENGTHS = {"top": (0.2, 1.7), "trousers": (0.2, 1.4), "skirt": (0.2, 1.4)}
LARGEST_PIECE = (0.1, 4.0)  # [m] extent of the largest piece, if the names of pieces say nothing
USUAL_GIRTH, USUAL_PIECE = 1.0, 0.7  # [m]
NORMAL = 0.65  # [m] length to which pieces are scaled before their shape is read


def fit_unit(
    path: Path, pieces: Sequence[DrawnPiece], unit: float, title: str
) -> tuple[list[DrawnPiece], str]:
    """Return the pieces in the unit that fits a body, and its name, "" for the given one.

    Warns of another unit, and asks for one if none fits.

    Args:
        path: the drawing.
        pieces: in the given unit.
        unit: [m] of the drawing.
        title: name of the drawing.
    """
    ranges, usual, what = _measure(pieces, title)
    if _fits(ranges, 1.0):
        return list(pieces), ""
    fitting = {n: u for n, u in UNITS.items() if _fits(ranges, u / unit)}
    name = min(fitting, key=lambda n: abs(np.log(usual * fitting[n] / unit)), default="")
    own = next((n for n, u in UNITS.items() if abs(u / unit - 1) < 1e-3), f"{1e3 * unit:.3g} mm")
    beside, size = f"{path.stem}.seams.yaml", _text(what, 1.0)
    if name and "girth" not in what:  # not a garment, as far as weft knows
        warnings.warn(
            f"{path.name}: {size}, with a unit of {own}: if that is wrong, write "
            f"`units: {name}` in {beside}",
            stacklevel=4,
        )
        return list(pieces), ""
    if not name:
        warnings.warn(
            f"{path.name}: {size}, with a unit of {own}; no unit fits a person: write `units: cm` "
            f"(or {', '.join(n for n in UNITS if n != 'cm')}) in {beside}",
            stacklevel=4,
        )
        return list(pieces), ""
    scale = fitting[name] / unit
    warnings.warn(
        f"{path.name}: {size}, with a unit of {own}: weft takes {name} ({_text(what, scale)}); "
        f"write `units: {own if own in UNITS else 'mm'}` in {beside} if that is wrong",
        stacklevel=4,
    )
    return [p.transform(scale * np.eye(2)) for p in pieces], name


def _measure(
    pieces: Sequence[DrawnPiece], title: str
) -> tuple[list[tuple[float, tuple[float, float]]], float, Mapping[str, float]]:
    """Return lengths [m] with their ranges, the length [m] over the usual one, and the lengths [m]
    by what they are, for messages.
    """
    places = {p.name: read_place(p.name) for p in pieces}
    own = [p for p in pieces if places[p.name].is_body and places[p.name].part != "sleeve"]
    if not {"front", "back"} <= {places[p.name].part for p in own}:
        width, height = max((np.ptp(chain_polygon(p.outline), 0) for p in pieces), key=max).tolist()
        most = max(width, height)
        return [(most, LARGEST_PIECE)], most / USUAL_PIECE, {"width": width, "height": height}
    length = max(1e-9, *(float(np.ptp(chain_polygon(p.outline), 0).max()) for p in own))
    normal = {p.name: p.transform(NORMAL / length * np.eye(2)) for p in pieces}
    kind = kind_of({n: p for n, p in places.items() if p.is_body}, normal, title)
    widths = dict[str, float]()
    for piece in own:
        part = places[piece.name].part
        width = symmetric_width(normal[piece.name], part, kind) * length / NORMAL
        widths[part] = max(widths.get(part, 0.0), width)
    girth = sum(widths.values())
    ranges = [(girth, GIRTHS[kind]), (length, LENGTHS[kind])]
    return ranges, girth / USUAL_GIRTH, {"girth": girth}


def _fits(ranges: Sequence[tuple[float, tuple[float, float]]], scale: float) -> bool:
    return all(low <= scale * size <= high for size, (low, high) in ranges)


def _text(what: Mapping[str, float], scale: float) -> str:
    if "girth" in what:
        return f"front and back go {100 * scale * what['girth']:.3g} cm around the body"
    width, height = (f"{100 * scale * what[n]:.3g}" for n in ("width", "height"))
    return f"the largest piece is {width} x {height} cm"
