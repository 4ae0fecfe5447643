"""Guesses of a drawing's panels, places and seams from the names and shapes of its pieces.

A front stands in front of the body, a back behind it, sleeves beside it; a piece that is drawn for
one side of the body is mirrored for the other one. ``start_positions`` then fits all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.discretization.polygon import rotation_matrix
from weft.plugins.garments.patterns.pattern import Placement
from weft.plugins.garments.patterns.piece_names import PiecePlace, read_place
from weft.plugins.garments.patterns.piece_roles import PieceRoles, find_roles, is_symmetric
from weft.plugins.garments.patterns.pieces import DrawnPiece, chain_polygon

AHEAD = 0.25  # [m] distance of a front or back from the body's middle at the start
ASIDE = 0.45  # [m] distance of sleeves from the body's middle at the start
GAP = 0.01  # [m] distance of the halves of a garment from the body's middle
TOPS = {"top": 1.46, "skirt": 1.06, "trousers": 1.06}  # [m] upper ends on a body of 1.72 m
SLEEVE = 1.40  # [m] upper end of sleeves there
MOST_EASE = 1.5  # ratio of the lengths of edges that are not taken for a seam
OTHER_SIDE = {"left": "right", "right": "left"}
MANY = 7  # edges of a symmetric piece that has armholes and a neck


@dataclass(frozen=True, eq=False)
class GuessedPanel:
    """A panel of a guess.

    Args:
        piece: its piece, mirrored if it is.
        mirrored: whether it is the mirror image of the drawn piece.
        place: of the panel; its side is "" for a whole one.
        roles: of its edges.
    """

    piece: DrawnPiece
    mirrored: bool
    place: PiecePlace
    roles: PieceRoles

    def edges(self, side: str, role: str) -> list[int]:
        """Return the edges of a role, from the hem up, on a side of the wearer."""
        if self.place.side:  # of one half: it has one side
            return {**self.roles.left, **self.roles.right}.get(role, [])
        at_left = (side == "left") == (self.place.part == "back")
        return (self.roles.left if at_left else self.roles.right).get(role, [])


@dataclass(frozen=True, eq=False)
class Guess:
    """The panels and seams of a drawing, as far as names and shapes say.

    Args:
        panels: by name.
        seams: by name: two lists of edges like ``front.2``.
        left_out: names of pieces that have no place.
    """

    panels: Mapping[str, GuessedPanel]
    seams: Mapping[str, tuple[list[str], list[str]]]
    left_out: Sequence[str]

    def as_sidecar(self) -> dict[str, Any]:
        """Return the fields of a side-car file."""
        panels: dict[str, Any] = {}
        for name, panel in self.panels.items():
            place = " ".join(filter(None, (panel.place.side, panel.place.kind, panel.place.part)))
            panels[name] = {"place": place}
            if panel.piece.name != name:
                panels[name]["piece"] = panel.piece.name
            if panel.mirrored:
                panels[name]["mirrored"] = True
        seams = {
            name: [one[0] if len(one) == 1 else one, two[0] if len(two) == 1 else two]
            for name, (one, two) in self.seams.items()
        }
        return {"panels": panels, "seams": seams}

    @property
    def header(self) -> str:
        """Return the comment at the beginning of a side-car file."""
        left = f"# Pieces without a panel: {', '.join(self.left_out)}\n" if self.left_out else ""
        return f"# Guessed from names and shapes of pieces: edit what is wrong.\n{left}"


def guess_garment(pieces: Sequence[DrawnPiece], title: str) -> Guess | None:
    """Return a guess of a garment.

    Args:
        pieces: each with the middle of its bounding box at its origin.
        title: name of the drawing, which may say what it is.

    Returns:
        None: no front or no back is among the pieces.
    """
    places = {p.name: read_place(p.name) for p in pieces}
    by_name = {p.name: p for p in pieces}
    known = {n: p for n, p in places.items() if p.part in ("front", "back", "sleeve")}
    if not {"front", "back"} <= {p.part for p in known.values()}:
        return None
    kind = _kind_of(known, by_name, title)
    panels: dict[str, GuessedPanel] = {}
    for name, place in known.items():
        own = replace(place, kind=place.kind or kind)
        panels |= _make_panels(by_name[name], own, known)
    left_out = [n for n in by_name if n not in known]
    return Guess(panels, _guess_seams(panels), left_out)


def place_panel(
    piece: DrawnPiece, place: PiecePlace, *, mirrored: bool = False
) -> Placement | None:
    """Return where a panel starts; None: its place has no part of the body.

    Args:
        piece: as drawn; the middle of its bounding box is at its origin.
        place: of the panel; without a side, the shape says for which side it is drawn.
        mirrored: whether the panel is the mirror image of the piece.
    """
    if place.part not in ("front", "back", "sleeve"):
        return None
    kind = place.kind or ("top" if place.part == "sleeve" else _kind_of_shape(piece))
    roles = find_roles(piece, place.part, kind)
    roles = roles.mirror(len(piece.outline)) if mirrored else roles
    if place.part == "sleeve" or roles.center:
        place = replace(place, side=place.side or _drawn_side(roles, place.part))
    return _place(roles, place, kind)


def _kind_of(known: Mapping[str, PiecePlace], pieces: Mapping[str, DrawnPiece], title: str) -> str:
    """Return the kind of garment: from a name, from sleeves, or from the shape of a piece."""
    said = [p.kind for p in known.values() if p.kind] or [read_place(title).kind]
    if said[0]:
        return said[0]
    if any(p.part == "sleeve" for p in known.values()):
        return "top"
    return _kind_of_shape(next(pieces[n] for n, p in known.items() if p.part != "sleeve"))


def _kind_of_shape(piece: DrawnPiece) -> str:
    """Return the kind of garment of a front or back: legs have a crotch, tops have armholes."""
    roles = find_roles(piece, "front", "top")
    if is_symmetric(chain_polygon(piece.transform(rotation_matrix(roles.turn)).outline)):
        return "top" if len(piece.outline) - 2 * len(roles.darts) >= MANY else "skirt"
    if find_roles(piece, "front", "trousers").whole and not roles.whole:
        return "trousers"
    return "top" if {**roles.left, **roles.right}.get("armhole") else "skirt"


def _drawn_side(roles: PieceRoles, part: str) -> str:
    """Return the side of the wearer for which a half is drawn: the left one, if it is a front with
    the body's middle at its left.
    """
    return "left" if (roles.center <= 0) == (part != "back") else "right"


def _make_panels(
    piece: DrawnPiece, place: PiecePlace, known: Mapping[str, PiecePlace]
) -> dict[str, GuessedPanel]:
    """Return the panels of a piece: one, or one for either side."""
    roles = find_roles(piece, place.part, place.kind)
    if place.part != "sleeve" and roles.center == 0:
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
    if place.part == "sleeve":
        x, y, z = sign * ASIDE - middle[0], SLEEVE - roles.high[1], 0.0
        return Placement((float(x), float(y), z), (0.0, 0.0, turn))
    x = sign * (size[0] / 2 + GAP)
    y = TOPS[kind] - roles.high[1]
    if place.part == "front":
        return Placement((float(x - middle[0]), float(y), AHEAD), (0.0, 0.0, turn))
    return Placement((float(x + middle[0]), float(y), -AHEAD), (0.0, 180.0, -turn))


def _guess_seams(panels: Mapping[str, GuessedPanel]) -> dict[str, tuple[list[str], list[str]]]:
    """Return the seams by name: darts, then those between panels."""
    seams: dict[str, tuple[list[str], list[str]]] = {}

    def refer(name: str, edges: Sequence[int]) -> list[str]:
        return [f"{name}.{e}" for e in edges]

    def sew(name: str, one: list[str], two: list[str]) -> None:
        lengths = [sum((_length(panels, e) for e in side), 0.0) for side in (one, two)]
        if one and two and max(lengths) < MOST_EASE * min(lengths):
            seams[name] = (one, two)

    for name, panel in panels.items():
        for i, (a, b) in enumerate(panel.roles.darts, start=1):
            sew(f"dart {i} {name}", refer(name, [a]), refer(name, [b]))

    def find(part: str, side: str) -> list[str]:
        return [n for n, p in panels.items() if p.place.part == part and p.place.side in (side, "")]

    def role(names: Sequence[str], side: str, what: str) -> list[str]:
        return [e for n in names[:1] for e in refer(n, panels[n].edges(side, what))]

    for side in ("left", "right"):
        front, back, sleeve = (find(part, side) for part in ("front", "back", "sleeve"))
        for what in ("side", "shoulder", "outseam", "inseam"):
            sew(f"{what} {side}", role(front, side, what), role(back, side, what))
        if sleeve:
            own = panels[sleeve[0]].roles
            left, right = own.left.get("underarm", []), own.right.get("underarm", [])
            sew(f"underarm {side}", refer(sleeve[0], left), refer(sleeve[0], right))
            cap = own.whole.get("cap", [])
            cap = cap if side == "left" else cap[::-1]  # from the front to the back
            hole = role(front, side, "armhole") + role(back, side, "armhole")[::-1]
            sew(f"armhole {side}", hole, refer(sleeve[0], cap))
    for part in ("front", "back"):
        halves = [[n for n in find(part, s) if panels[n].place.side] for s in OTHER_SIDE]
        if all(halves):
            one, two = (refer(h[0], panels[h[0]].roles.whole.get("center", [])) for h in halves)
            sew(f"center {part}", one, two)
    return seams


def _length(panels: Mapping[str, GuessedPanel], edge: str) -> float:
    name, _, number = edge.rpartition(".")
    return float(panels[name].piece.outline[int(number)].length)
