"""Guesses of the seams between the panels of a drawing, from the roles of their edges."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.discretization.polygon import rotation_matrix
from weft.plugins.garments.patterns.piece_names import PiecePlace
from weft.plugins.garments.patterns.piece_roles import PieceRoles
from weft.plugins.garments.patterns.pieces import DrawnPiece

MOST_EASE = 1.5  # ratio of the lengths of edges that are not taken for a seam
RAGLAN = 0.1  # largest difference of the lengths of both edges of a raglan seam, over the length
# Least and largest length of a band over the edges to which it is sewn: others are gathered.
BAND_RATIOS = {"waistband": (0.35, 1.3), "cuff": (0.35, 1.3), "collar": (0.6, 1.3)}
SIDES = ("left", "right")
# Roles of the edges at which a front and a back are sewn.
OF_SIDES = {"top": ("side", "shoulder"), "skirt": ("side",), "trousers": ("outseam", "inseam")}
Seams = dict[str, tuple[list[str], list[str]]]


@dataclass(frozen=True, eq=False)
class GuessedPanel:
    """A panel of a guess.

    Args:
        piece: its piece, mirrored if it is; the part of it that the panel has, if it is a band.
        mirrored: whether it is the mirror image of the drawn piece.
        place: of the panel; its side is "" for a whole one.
        roles: of its edges.
        share: part of the length of a band.
        folded: whether the panel has half the width of a band.
    """

    piece: DrawnPiece
    mirrored: bool
    place: PiecePlace
    roles: PieceRoles
    share: float = 1.0
    folded: bool = False

    def edges(self, side: str, role: str) -> list[int]:
        """Return the edges of a role, from the hem up, on a side of the wearer."""
        if self.place.side:  # of one half: it has one side
            return {**self.roles.left, **self.roles.right}.get(role, [])
        at_left = (side == "left") == (self.place.part == "back")
        return (self.roles.left if at_left else self.roles.right).get(role, [])

    def across(self, role: str) -> list[int]:
        """Return the edges of a role from left to right, seen from the right side of the fabric."""
        turn = rotation_matrix(self.roles.turn)
        x = {
            e: float((turn @ self.piece.outline[e].at(np.array([0.5]))[0])[0])
            for e in self.roles.whole.get(role, [])
        }
        return sorted(x, key=lambda e: x[e])

    def length(self, edges: Sequence[int]) -> float:
        """Return the sum of the lengths [m] of edges."""
        return float(sum(self.piece.outline[e].length for e in edges))


def find_seams(panels: Mapping[str, GuessedPanel]) -> tuple[Seams, list[str]]:
    """Return the seams by name: darts, then those between panels; and texts of what may be missing:
    pairs of edges that differ too much in length, fronts and backs without an edge of a seam.
    """
    seams, unsewn = Seams(), list[str]()

    def sew(name: str, one: list[str], two: list[str]) -> None:
        lengths = [length_of(panels, side) for side in (one, two)]
        if one and two and max(lengths) < MOST_EASE * min(lengths):
            seams[name] = (one, two)
        elif one and two:
            a, b = (f"{' + '.join(s)} ({100 * n:.0f} cm)" for s, n in zip((one, two), lengths))
            line = f"{name}: [[{', '.join(one)}], [{', '.join(two)}]]"
            unsewn.append(f"{a} and {b} differ too much for a seam: else write `{line}`")

    def role(part: str, side: str, what: str) -> list[str]:
        names = _find(panels, part, side)[:1]
        return [e for n in names for e in _refer(n, panels[n].edges(side, what))]

    for name, panel in panels.items():
        for i, (a, b) in enumerate(panel.roles.darts, start=1):
            sew(f"dart {i} {name}", _refer(name, [a]), _refer(name, [b]))
    for side in SIDES:
        for what in dict.fromkeys(what for roles in OF_SIDES.values() for what in roles):
            sew(f"{what} {side}", role("front", side, what), role("back", side, what))
        for sleeve in _find(panels, "sleeve", side)[:1]:
            own = panels[sleeve].roles
            left, right = (half.get("underarm", []) for half in (own.left, own.right))
            sew(f"underarm {side}", _refer(sleeve, left), _refer(sleeve, right))
            hole = [role(part, side, "armhole") for part in ("front", "back")]
            first, neck, last = _divide_cap(panels, sleeve, side)
            if neck:
                sew(f"raglan front {side}", hole[0], first)
                sew(f"raglan back {side}", hole[1], last)
            else:
                # Along the outlines, over the shoulder: the other way around leads past the armpit.
                up, down = hole if side == "left" else hole[::-1]
                cap = first if side == "left" else first[::-1]
                sew(f"armhole {side}", up + down[::-1], cap)
    if len(panels) == 1 and "skirt" in {p.place.kind for p in panels.values()}:
        sew("center back", role("front", "left", "side"), role("front", "right", "side"))
    for part in ("front", "back"):
        halves = [[n for n in _find(panels, part, s) if panels[n].place.side] for s in SIDES]
        if all(halves):
            one, two = (_refer(h[0], panels[h[0]].roles.whole.get("center", [])) for h in halves)
            sew(f"center {part}", one, two)
    return seams, [*unsewn, *_find_missing(panels, seams)]


def _find_missing(panels: Mapping[str, GuessedPanel], seams: Seams) -> Iterator[str]:
    """Yield what weft does not find: edges of fronts and backs at which these are sewn."""
    kind = next((p.place.kind for p in panels.values() if p.place.part == "front"), "")
    parts = [[n for side in SIDES for n in _find(panels, p, side)] for p in ("front", "back")]
    fronts_and_backs = list(dict.fromkeys(itertools.chain(*parts)))
    for what in OF_SIDES.get(kind, ()) if all(parts) else ():
        raglan = what == "shoulder" and "raglan front left" in seams
        lack = [n for n in fronts_and_backs if not any(panels[n].edges(s, what) for s in SIDES)]
        if lack and not raglan:
            one, two = (names[0] for names in parts)
            yield (
                f"weft finds no {what} of {', '.join(lack)}: if there is one, write "
                f"`{what} left: [{one}.NUMBER, {two}.NUMBER]` and one for the right side"
            )


def find_raglan_front(
    piece: DrawnPiece, roles: PieceRoles, bodies: Mapping[str, GuessedPanel]
) -> int:
    """Return the side of the front of a raglan sleeve, by the lengths of its seams: -1 for the
    left, 1 for the right, 0: the sleeve is no raglan sleeve.
    """
    cap = roles.whole.get("cap", [])
    holes = [
        next(
            (
                p.length(p.edges("left", "armhole"))
                for p in bodies.values()
                if p.place.part == part and not p.edges("left", "shoulder")
            ),
            0.0,
        )
        for part in ("front", "back")
    ]
    if len(cap) < 3 or not all(holes):
        return 0
    ends = [piece.outline[e].length for e in (cap[0], cap[-1])]
    misfit = {side: max(abs(a - b) for a, b in zip(ends[::-side], holes)) for side in (-1, 1)}
    side = min(misfit, key=lambda s: misfit[s])
    return side if misfit[side] < RAGLAN * max(ends) else 0


def band_edges(panels: Mapping[str, GuessedPanel], what: str, kind: str) -> dict[str, list[str]]:
    """Return the edges to which a band is sewn, by the parts of the band: ``front`` and ``back``,
    or ``left cuff`` and ``right cuff``; "" for the whole waistband of a skirt of one panel.

    Args:
        panels: by name.
        what: ``waistband``, ``collar`` or ``cuff``.
        kind: of the garment: the waistband of a top is at the hem.
    """
    if what == "cuff":
        found = {
            f"{side} cuff": _refer(name, panels[name].across("hem"))
            for side in SIDES
            for name in _find(panels, "sleeve", side)[:1]
        }
        return {part: edges for part, edges in found.items() if edges}
    if what == "collar" and kind != "top":
        return {}
    alone = [n for n, p in panels.items() if p.place.part == "front"]
    if what == "waistband" and kind == "skirt" and alone == [*panels]:
        waist = _refer(alone[0], panels[alone[0]].across("top"))
        return {"": waist} if waist else {}
    role = "hem" if (what, kind) == ("waistband", "top") else "top"
    rings = dict[str, list[str]]()
    for part in ("front", "back"):
        order = ("right", "", "left") if part == "front" else ("left", "", "right")
        rings[part] = [
            edge
            for side in order
            for name, panel in panels.items()
            if (panel.place.part, panel.place.side) == (part, side) and not panel.place.is_band
            for edge in _refer(name, panel.across(role))
        ]
    if what == "collar":  # the upper ends of raglan sleeves
        ends = {
            side: _divide_cap(panels, name, side)[1]
            for side in SIDES
            for name in _find(panels, "sleeve", side)[:1]
        }
        rings["front"] = [*ends.get("right", [])[::-1], *rings["front"], *ends.get("left", [])]
    return {part: edges for part, edges in rings.items() if edges}


def length_of(panels: Mapping[str, GuessedPanel], edges: Sequence[str]) -> float:
    """Return the sum of the lengths [m] of edges like ``front.2``."""
    split = [edge.rpartition(".") for edge in edges]
    return sum((panels[name].length([int(number)]) for name, _, number in split), 0.0)


def _find(panels: Mapping[str, GuessedPanel], part: str, side: str) -> list[str]:
    """Return the names of panels of a part that have a side, without bands."""
    return [
        n
        for n, p in panels.items()
        if p.place.part == part and p.place.side in (side, "") and not p.place.is_band
    ]


def _divide_cap(
    panels: Mapping[str, GuessedPanel], name: str, side: str
) -> tuple[list[str], list[str], list[str]]:
    """Return the edges of a cap from front to back: those of the front, of the neck and of the back
    of a raglan sleeve; all of them, nothing and nothing of another one.
    """
    cap = panels[name].roles.whole.get("cap", [])
    cap = cap if side == "left" else cap[::-1]
    edges = _refer(name, cap)
    fronts = [p for p in panels.values() if p.place.part in ("front", "back")]
    if len(cap) < 3 or any(p.edges(side, "shoulder") for p in fronts):
        return edges, [], []
    return edges[:1], edges[1:-1], edges[-1:]


def _refer(name: str, edges: Sequence[int]) -> list[str]:
    return [f"{name}.{e}" for e in edges]
