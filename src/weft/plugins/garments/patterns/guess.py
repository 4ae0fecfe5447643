"""Guesses of a drawing's panels, places and seams from the names and shapes of its pieces.

A front stands in front of the body, a back behind it, sleeves beside it; a piece that is drawn for
one side of the body is mirrored for the other one. Bands become rings. ``start_positions`` then
fits all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.plugins.garments.patterns.bands import BOTTOM, LEFT, RIGHT, TOP, band_size, cut_band
from weft.plugins.garments.patterns.guess_seams import (
    BAND_RATIOS,
    GuessedPanel,
    band_edges,
    find_raglan_front,
    find_seams,
    length_of,
)
from weft.plugins.garments.patterns.pattern import Placement
from weft.plugins.garments.patterns.piece_names import BANDS, PiecePlace, read_place
from weft.plugins.garments.patterns.piece_roles import PieceRoles, find_roles
from weft.plugins.garments.patterns.pieces import DrawnPiece, chain_polygon

AHEAD = 0.25  # [m] distance of a front or back from the body's middle at the start
ASIDE = 0.45  # [m] distance of sleeves from the body's middle at the start
GAP = 0.01  # [m] distance of the halves of a garment from the body's middle
TOPS = {"top": 1.46, "skirt": 1.06, "trousers": 1.06}  # [m] upper ends on a body of 1.72 m
SLEEVE = 1.40  # [m] upper end of sleeves there
SHOULDERS = (0.02, 0.25)  # [m] least and largest length of a shoulder of a top
FOLDED = 0.05  # [m] width from which a band is folded lengthwise
NECK = (0.4, 1.2)  # [m] least and largest length around the opening of a poncho
NARROW = 0.01  # [m] width of a band that weft leaves out
OTHER_SIDE = {"left": "right", "right": "left"}


@dataclass(frozen=True, eq=False)
class Guess:
    """The panels and seams of a drawing, as far as names and shapes say.

    Args:
        panels: by name.
        seams: by name: two lists of edges like ``front.2``.
        left_out: reasons, by the names of pieces that have no panel.
        unsewn: for each pair of edges that belong together but differ in length, what to write.
    """

    panels: Mapping[str, GuessedPanel]
    seams: Mapping[str, tuple[list[str], list[str]]]
    left_out: Mapping[str, str]
    unsewn: Sequence[str] = ()

    def as_sidecar(self) -> dict[str, Any]:
        """Return the fields of a side-car file."""
        panels: dict[str, Any] = {}
        for name, panel in self.panels.items():
            place = panel.place.text
            panels[name] = {"place": place}
            if panel.piece.name != name:
                panels[name]["piece"] = panel.piece.name
            if panel.mirrored:
                panels[name]["mirrored"] = True
            if panel.share < 1:
                panels[name]["share"] = panel.share
            if panel.folded:
                panels[name]["folded"] = True
        seams = {
            name: [one[0] if len(one) == 1 else one, two[0] if len(two) == 1 else two]
            for name, (one, two) in self.seams.items()
        }
        return {"panels": panels, "seams": seams}

    @property
    def lies_on_shoulders(self) -> bool:
        """Return whether a panel lies on the shoulders, which needs no seam."""
        return any(p.place.part == "shoulders" for p in self.panels.values())

    @property
    def left_out_text(self) -> str:
        """Return the names of the pieces without a panel, with the reasons."""
        reasons = dict.fromkeys(self.left_out.values())
        pieces = {r: ", ".join(n for n, own in self.left_out.items() if own == r) for r in reasons}
        return "; ".join(f"{names} ({reason})" for reason, names in pieces.items())

    @property
    def header(self) -> str:
        """Return the comment at the beginning of a side-car file."""
        left = f"# Left out: {self.left_out_text}\n" if self.left_out else ""
        return f"# Guessed from names and shapes of pieces: edit what is wrong.\n{left}"


def guess_garment(pieces: Sequence[DrawnPiece], title: str) -> Guess | None:
    """Return a guess of a garment.

    Args:
        pieces: each with the middle of its bounding box at its origin.
        title: name of the drawing, which may say what it is.

    Returns:
        None: neither a front and a back are among the pieces, nor a single piece that weft knows.
    """
    places = {p.name: read_place(p.name) for p in pieces}
    by_name = {p.name: p for p in pieces}
    known = {n: p for n, p in places.items() if p.is_body}
    if not {"front", "back"} <= {p.part for p in known.values()}:
        known = _find_single(places, by_name, title)
    if not known:
        return None
    kind = kind_of(known, by_name, title)
    panels: dict[str, GuessedPanel] = {}
    for name in sorted(known, key=lambda n: known[n].part == "sleeve"):
        own = replace(known[name], kind=known[name].kind or kind)
        panels |= _make_panels(by_name[name], own, known, panels)
    seams, unsewn = find_seams(panels)
    left_out = dict[str, str]()
    for name in (n for n in by_name if n not in known):
        left_out[name] = "weft places no such piece"
        if places[name].is_band:
            left_out[name] = _add_band(by_name[name], places[name], kind, panels, seams)
    left_out = {n: reason for n, reason in left_out.items() if reason}
    return Guess(panels, seams, left_out, unsewn)


def _find_single(
    places: Mapping[str, PiecePlace], pieces: Mapping[str, DrawnPiece], title: str
) -> dict[str, PiecePlace]:
    """Return the place of the only piece that is no band and no part that weft leaves out: a skirt
    of one panel, or one with an opening for the neck.
    """
    own = [n for n, p in places.items() if not p.is_band and p.part != "other"]
    if len(own) != 1:
        return {}
    place, said = places[own[0]], read_place(title)
    if place.part == "sleeve":
        return {}
    if any(NECK[0] < _around(h) < NECK[1] for h in pieces[own[0]].holes):
        return {own[0]: PiecePlace("shoulders", "", "top")}
    if "skirt" in (place.kind, said.kind):
        return {own[0]: PiecePlace("front", "", "skirt")}
    return {}


def _around(polygon: Floats) -> float:
    return float(np.linalg.norm(np.roll(polygon, -1, axis=0) - polygon, axis=1).sum())


def _add_band(
    piece: DrawnPiece,
    place: PiecePlace,
    kind: str,
    panels: dict[str, GuessedPanel],
    seams: dict[str, tuple[list[str], list[str]]],
) -> str:
    """Add the panels and seams of a band; return why not, or "".

    Args:
        piece: its piece.
        place: that its name says.
        kind: of the garment.
        panels, seams: by name; those of the band are added.
    """
    what = "cuff" if place.part == "cuff" else place.kind
    size = band_size(piece)
    if size is None:
        return f"a {what} of another shape than a rectangle"
    folded = size[1] >= FOLDED
    if size[1] < NARROW:
        return f"a {what} narrower than {100 * NARROW:g} cm"
    rings = band_edges(panels, what, kind)
    rings = {part: edges for part, edges in rings.items() if not place.part or place.part in part}
    lengths = {part: length_of(panels, edges) for part, edges in rings.items()}
    whole = sum(lengths.values()) / (max(len(rings), 1) if what == "cuff" else 1)
    least, most = BAND_RATIOS[what]
    if not rings or not least <= size[0] / whole <= most:
        fits = f"; the edges are {100 * whole:.0f} cm long" if rings else "; there are no edges"
        return f"a {what} of {100 * size[0]:.0f} cm{fits}"
    own = TOP if what == "cuff" or (what, kind) == ("waistband", "top") else BOTTOM
    name = _panel_name(piece)
    for part, edges in rings.items():
        share = 1.0 if what == "cuff" else round(lengths[part] / whole, 3)
        cut = cut_band(piece, share, folded=folded)
        assert cut is not None
        side, _, of = part.rpartition(" ")
        of_part = PiecePlace(of or "front", side, "" if what == "cuff" else what)
        panel = name if len(rings) == 1 else f"{name} {side or of}"
        panels[panel] = GuessedPanel(cut, False, of_part, _band_roles(cut), share, folded)
        seams[panel] = edges, [f"{panel}.{own}"]
        if what == "cuff" or not part:
            seams[f"{panel} end"] = [f"{panel}.{RIGHT}"], [f"{panel}.{LEFT}"]
    if what != "cuff" and len(rings) == 2:
        seams[f"{name} left"] = [f"{name} front.{RIGHT}"], [f"{name} back.{LEFT}"]
        seams[f"{name} right"] = [f"{name} front.{LEFT}"], [f"{name} back.{RIGHT}"]
    return ""


def _band_roles(piece: DrawnPiece) -> PieceRoles:
    points = chain_polygon(piece.outline)
    return PieceRoles(0.0, points.min(0), points.max(0), whole={"hem": [BOTTOM], "top": [TOP]})


def place_panel(
    piece: DrawnPiece, place: PiecePlace, *, mirrored: bool = False
) -> Placement | None:
    """Return where a panel starts; None: its place has no part of the body.

    Args:
        piece: as drawn; the middle of its bounding box is at its origin.
        place: of the panel; without a side, the shape says for which side it is drawn.
        mirrored: whether the panel is the mirror image of the piece.
    """
    if place.part not in ("front", "back", "sleeve", "cuff", "shoulders"):
        return None
    if place.is_band:
        return _place(_band_roles(piece), place, "top")
    kind = place.kind or ("top" if place.part == "sleeve" else _kind_of_shape([piece]))
    roles = find_roles(piece, place.part, kind)
    if place.part == "shoulders":
        return _lay_on_shoulders(piece)
    roles = roles.mirror(len(piece.outline)) if mirrored else roles
    if place.part == "sleeve" or roles.center:
        place = replace(place, side=place.side or _drawn_side(roles, place.part))
    return _place(roles, place, kind)


def _lay_on_shoulders(piece: DrawnPiece) -> Placement:
    """Return where a flat panel starts with its opening around the neck: the one next to its
    middle.
    """
    middles = [(h.min(0) + h.max(0)) / 2 for h in piece.holes]
    x, y = min(middles, key=lambda m: float(m @ m)).tolist() if middles else (0.0, 0.0)
    return Placement((-x, TOPS["top"], y), (-90.0, 0.0, 0.0))


def kind_of(known: Mapping[str, PiecePlace], pieces: Mapping[str, DrawnPiece], title: str) -> str:
    """Return the kind of garment: from a name, from sleeves, or from the shapes of pieces.

    Args:
        known: places of fronts, backs and sleeves.
        pieces: by name.
        title: name of the drawing.
    """
    said = [p.kind for p in known.values() if p.kind] or [read_place(title).kind]
    if said[0] and said[0] not in BANDS:
        return said[0]
    if any(p.part == "sleeve" for p in known.values()):
        return "top"
    return _kind_of_shape([pieces[n] for n in known])


def _kind_of_shape(pieces: Sequence[DrawnPiece]) -> str:
    """Return the kind of garment of fronts and backs: tops have armholes and shoulders, all pieces
    of trousers have a crotch.
    """
    if any(_has_shoulder(p) for p in pieces):
        return "top"
    return "trousers" if all(find_roles(p, "front", "trousers").whole for p in pieces) else "skirt"


def symmetric_width(piece: DrawnPiece, part: str, kind: str) -> float:
    """Return the width [m] of a front or back of both sides of the body.

    Args:
        piece: of both sides, or of one.
        part: ``front`` or ``back``.
        kind: of garment.
    """
    roles = find_roles(piece, part, kind)
    return float(roles.size[0]) * (2 if roles.center else 1)


def _has_shoulder(piece: DrawnPiece) -> bool:
    roles = find_roles(piece, "front", "top")
    side = roles.left or roles.right
    shoulder = sum(piece.outline[e].length for e in side.get("shoulder", []))
    return "armhole" in side and SHOULDERS[0] < shoulder < SHOULDERS[1]


def _drawn_side(roles: PieceRoles, part: str) -> str:
    """Return the side of the wearer for which a half is drawn: the left one, if it is a front with
    the body's middle at its left.
    """
    return "left" if (roles.center <= 0) == (part != "back") else "right"


def _make_panels(
    piece: DrawnPiece,
    place: PiecePlace,
    known: Mapping[str, PiecePlace],
    bodies: Mapping[str, GuessedPanel],
) -> dict[str, GuessedPanel]:
    """Return the panels of a piece: one, or one for either side.

    Args:
        piece: the piece.
        place: that its name says.
        known: places of all pieces.
        bodies: fronts and backs, to which a sleeve is sewn.
    """
    roles = find_roles(piece, place.part, place.kind)
    if place.part == "sleeve":
        roles.center = find_raglan_front(piece, roles, bodies) or roles.center
    if place.part == "shoulders" or (place.part != "sleeve" and roles.center == 0):
        own = replace(place, side="")
        return {_panel_name(piece): GuessedPanel(piece, False, own, roles)}
    drawn = _drawn_side(roles, place.part)
    if place.part == "sleeve" and place.side:
        drawn = place.side
    alike = [
        p for p in known.values() if (p.part, p.side) == (place.part, OTHER_SIDE.get(place.side))
    ]
    sides = [place.side] if place.side and alike else [drawn, OTHER_SIDE[drawn]]
    found = {}
    for side in sides:
        own, mirrored = replace(place, side=side), side != drawn
        shape = piece.mirror() if mirrored else piece
        of_side = roles.mirror(len(piece.outline)) if mirrored else roles
        name = _panel_name(piece) if len(sides) == 1 else f"{_panel_name(piece)} {side}"
        found[name] = GuessedPanel(shape, mirrored, own, of_side)
    return found


def _panel_name(piece: DrawnPiece) -> str:
    return piece.name.replace(".", " ")


def _place(roles: PieceRoles, place: PiecePlace, kind: str) -> Placement:
    """Return where a panel starts: upright, facing away from the body."""
    size, middle = roles.high - roles.low, (roles.high + roles.low) / 2
    turn = float(np.degrees(roles.turn))
    sign = {"left": 1.0, "right": -1.0}.get(place.side, 0.0)
    if place.part in ("sleeve", "cuff"):
        x, y, z = sign * ASIDE - middle[0], SLEEVE - roles.high[1], 0.0
        return Placement((float(x), float(y), z), (0.0, 0.0, turn))
    x = sign * (size[0] / 2 + GAP)
    waist = roles.waist if kind == "skirt" else None
    y = TOPS[kind] - (roles.high[1] if waist is None else waist)
    if place.part == "front":
        return Placement((float(x - middle[0]), float(y), AHEAD), (0.0, 0.0, turn))
    return Placement((float(x + middle[0]), float(y), -AHEAD), (0.0, 180.0, -turn))
