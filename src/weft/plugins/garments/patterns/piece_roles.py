"""Roles of the edges of a drawn piece: hem, side, armhole, shoulder, cap, inseam, from its shape.

A piece is turned upright first, along its grain. Its outline is then walked from the hem up, with
darts closed: between hem and neck lie side, armhole and shoulder; a leg has its inseam and its
crotch on the side with the crotch's corner.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.spatial import cKDTree

from weft.base.arrays import Floats
from weft.discretization.polygon import rotation_matrix, turn_angles
from weft.plugins.garments.patterns.pieces import DrawnPiece, chain_polygon

SYMMETRIC = 0.015  # [m] largest distance of the mirrored outline of a symmetric piece from itself
DECISIVE = 1.15  # ratio of the widths of both ends of a piece that says which end is up
END, LEG_END = 0.12, 0.4  # part of the height that is an end of a piece, of a leg with its crotch
DART = np.radians(120.0)  # turn between the chords of the legs of a dart, at least
LEGS = 0.05  # largest difference of the legs of a dart, over their length
CORNER = np.radians(35.0)  # turn at the armpit and at the crotch, at least
AT_TIP = 0.005  # [m] largest distance of the tip of a crotch from the farthest point of its side
BELOW_WAIST = 0.92  # height of the tip of a crotch over that of its piece, at most
CENTER = np.radians(12.0)  # largest angle of a center edge from the vertical
BENT, SLANTED = 400, 10  # powers of the straightness of a center and of the cosine of its slant
LEAST_CENTER = 0.3  # length of a center edge over the height of its piece, at least
AT = 2e-3  # [m] largest distance of an edge from the middle where it ends
SHOULDER = np.radians(50.0)  # largest angle of a shoulder from the horizontal
ALONE = np.radians(30.0)  # the same of one that begins at the side, where raglan sleeves do, too
FLAT = np.radians(45.0)  # angle from the horizontal up to which an edge below the side is hem
SAME_EDGE = np.radians(
    40.0
)  # largest turn between parts of one edge on both sides of a closed dart
HOLLOW = 0.01  # difference of the mean heights of both halves of a cap, over its height
LOWER_CAP = (0.4, 0.95)  # part of half a cap, from its middle, that is hollow in front
RISE = 0.3  # distance upwards that counts like one to the side where the armpit is looked for


@dataclass(eq=False)
class PieceRoles:
    """The edges of a piece by role, in its upright position.

    Args:
        turn: [rad] by which the piece is turned to stand upright.
        low, high: (2,) [m] corners of its bounding box then.
        center: -1: the middle of the body is at its left, seen from the right side of the fabric;
            1: at its right; 0: the piece is symmetric. Of a sleeve: the side of the front.
        left, right: edges of each half by role, from the hem up; a piece of one half has the half
            on the other side of its center.
        whole: edges of roles that have no side: ``center``, ``cap`` from left to right.
        darts: pairs of edges.
        waist: [m] height of the waist of a skirt, whose sides may rise beside it.
    """

    turn: float
    low: Floats
    high: Floats
    center: int = 0
    left: dict[str, list[int]] = field(default_factory=dict)
    right: dict[str, list[int]] = field(default_factory=dict)
    whole: dict[str, list[int]] = field(default_factory=dict)
    darts: list[tuple[int, int]] = field(default_factory=list)
    waist: float | None = None

    @property
    def size(self) -> Floats:
        """Return the width and height (2,) [m]."""
        return np.asarray(self.high - self.low)

    def mirror(self, count: int) -> "PieceRoles":
        """Return the roles of the mirror image of a piece with ``count`` edges.

        Edge e becomes edge count - 1 - e.
        """

        def image(roles: dict[str, list[int]]) -> dict[str, list[int]]:
            return {role: [count - 1 - e for e in edges] for role, edges in roles.items()}

        whole = image(self.whole)
        if "cap" in whole:
            whole["cap"].reverse()  # from left to right again
        return PieceRoles(
            -self.turn,
            self.low * [0, 1] - self.high * [1, 0],
            self.high * [0, 1] - self.low * [1, 0],
            -self.center,
            image(self.right),
            image(self.left),
            whole,
            [(count - 1 - b, count - 1 - a) for a, b in self.darts],
            self.waist,
        )


def find_roles(piece: DrawnPiece, part: str, kind: str, *, upside_down: bool = False) -> PieceRoles:
    """Return the roles of the edges of a piece.

    Args:
        piece: its outline is counter-clockwise.
        part: ``front``, ``back`` or ``sleeve``.
        kind: ``top``, ``skirt`` or ``trousers``.
        upside_down: whether the narrow end is down, as that of a circle skirt.
    """
    leg = kind == "trousers" and part != "sleeve"
    turn = _upright(piece, wide_end_up=leg) + np.pi * upside_down
    outline = piece.transform(rotation_matrix(turn)).outline
    points = chain_polygon(outline)
    found = PieceRoles(turn, points.min(0), points.max(0))
    ring = _Ring(piece, turn)
    found.darts = ring.darts
    if part == "sleeve":
        _read_sleeve(found, ring)
    elif leg:
        _read_leg(found, ring)
    elif is_symmetric(points):
        _read_whole(found, ring, kind)
        lengths = [sum(outline[e].length for e in found.whole.get(w, [])) for w in ("hem", "top")]
        if kind == "skirt" and not upside_down and lengths[1] > DECISIVE * lengths[0]:
            return find_roles(piece, part, kind, upside_down=True)
    else:
        _read_half(found, ring, kind)
    return found


def is_symmetric(points: Floats) -> bool:
    """Return whether a polygon (n,2) [m] is its own mirror image in x."""
    middle = (points[:, 0].min() + points[:, 0].max()) / 2
    dense = _divide(points)
    mirrored = dense * [-1.0, 1.0] + [2 * middle, 0.0]
    return bool(cKDTree(dense).query(mirrored)[0].max() < SYMMETRIC)


def _divide(points: Floats) -> Floats:
    """Return a polygon with points every 5 mm."""
    ends = np.roll(points, -1, axis=0)
    counts = np.maximum(np.ceil(np.linalg.norm(ends - points, axis=1) / 5e-3), 1).astype(int)
    parts = [
        a + np.linspace(0, 1, n, endpoint=False)[:, None] * (b - a)
        for a, b, n in zip(points, ends, counts)
    ]
    return np.concatenate(parts)


def _upright(piece: DrawnPiece, *, wide_end_up: bool) -> float:
    """Return the turn [rad] after which the grain is vertical and the right end is up."""
    turn = 0.0 if piece.grain is None else np.pi / 2 - piece.grain
    turn = float(np.remainder(turn + np.pi / 2, np.pi) - np.pi / 2)  # the smaller one of two
    if abs(turn + np.pi / 2) < 1e-6:
        turn = np.pi / 2
    points = _divide(chain_polygon(piece.outline)) @ rotation_matrix(turn).T
    low, high = points[:, 1].min(), points[:, 1].max()
    band = (LEG_END if wide_end_up else END) * (high - low)
    upper, lower = points[points[:, 1] > high - band], points[points[:, 1] < low + band]
    ratio = float(np.ptp(upper[:, 0]) / max(np.ptp(lower[:, 0]), 1e-6))
    ratio = 1 / max(ratio, 1e-6) if wide_end_up else ratio
    return turn + np.pi if ratio > DECISIVE else turn


class _Ring:
    """The parts of an upright outline, counter-clockwise: an edge, or the edges between which there
    are darts only.

    Args:
        piece: the piece.
        turn: [rad] that makes it upright.
    """

    def __init__(self, piece: DrawnPiece, turn: float) -> None:
        curves = piece.transform(rotation_matrix(turn)).outline
        own = [np.array([*c.sample(16), c.end]) for c in curves]
        lengths = [c.length for c in curves]
        n = len(curves)
        self.darts = [
            (i, (i + 1) % n)
            for i in range(n)
            if n > 4
            and abs(lengths[i] - lengths[(i + 1) % n]) < LEGS * lengths[i]
            and _turn(own[i], own[(i + 1) % n]) < 0.0
            and _turn(_chord(own[i]), _chord(own[(i + 1) % n])) < -DART
        ]
        closed = {i for dart in self.darts for i in dart}
        first = next(i for i in range(n) if i not in closed and (i - 1) % n not in closed)
        self.edges: list[list[int]] = []
        for i in ((first + k) % n for k in range(n)):
            if i in closed:
                continue
            if (i - 1) % n in closed and self._continues(own, i):
                self.edges[-1].append(i)
            else:
                self.edges.append([i])
        self.points = [np.concatenate([own[i] for i in part]) for part in self.edges]
        self.lengths = [sum(lengths[i] for i in part) for part in self.edges]
        self.middle = np.mean([p.mean(0) for p in self.points], axis=0)

    def _continues(self, own: Sequence[Floats], i: int) -> bool:
        """Return whether edge i continues the edge before the darts that end where edge i begins,
        once these darts are closed.
        """
        turn, k, n = 0.0, i, len(own)
        while ((k - 2) % n, (k - 1) % n) in self.darts:
            # Closed, the chords of both legs of a dart point in the same direction.
            before, one, two = own[(k - 3) % n], _chord(own[(k - 2) % n]), _chord(own[(k - 1) % n])
            turn += _turn(before, one) + _turn(two, own[k % n]) - np.pi
            k -= 2
        turn = float(np.remainder(turn + np.pi, 2 * np.pi) - np.pi)
        return bool(abs(turn) < SAME_EDGE)

    def expand(self, parts: Sequence[int]) -> list[int]:
        """Return the edges of parts that follow each other, counter-clockwise or clockwise."""
        n = len(self.edges)
        back = len(parts) > 1 and parts[1] == (parts[0] - 1) % n
        if len(parts) == 1:  # from the hem up
            back = bool(self.points[parts[0]][0, 1] > self.points[parts[0]][-1, 1])
        return [e for part in parts for e in (self.edges[part][::-1] if back else self.edges[part])]

    def between(self, first: int, last: int) -> list[int]:
        """Return the parts after ``first`` and before ``last``, counter-clockwise."""
        n = len(self.edges)
        return [(first + k) % n for k in range(1, (last - first - 1) % n + 1)]

    def center(self, part: int) -> Floats:
        """Return the middle (2,) [m] of a part."""
        p = self.points[part]
        return np.asarray((p[0] + p[-1] + p[len(p) // 2]) / 3)

    def slope(self, part: int) -> float:
        """Return the angle [rad] of a part from the horizontal."""
        across, along = np.abs(self.points[part][-1] - self.points[part][0])
        return float(np.arctan2(along, across))

    def height_at(self, part: int, x: float) -> float:
        """Return the height [m] of a part at its point nearest to an x [m]."""
        p = self.points[part]
        return float(p[np.argmin(np.abs(p[:, 0] - x)), 1])

    def by_height(self) -> list[int]:
        """Return the parts from the lowest one to the highest one."""
        return sorted(range(len(self.edges)), key=lambda part: float(self.center(part)[1]))

    def sharpest(self, chain: Sequence[int]) -> tuple[float, int]:
        """Return the sharpest turn [rad] to the left between parts of a chain, where the chain is
        farthest to the side and below the waist, and the number of parts before it.
        """
        if len(chain) < 2:
            return 0.0, 0
        x, y = np.concatenate([self.points[k] for k in chain]).T
        sign = 1.0 if x.mean() > self.middle[0] else -1.0
        farthest, waist = (sign * x).max(), y.min() + BELOW_WAIST * np.ptp(y)
        turns = []
        for a, b in pairwise(chain):
            at = self.points[a][-1]
            is_tip = farthest - sign * at[0] < AT_TIP and at[1] < waist
            turns.append(_turn(self.points[a], self.points[b]) if is_tip else 0.0)
        best = int(np.argmax(turns)) if turns else 0
        return (turns[best], best + 1) if turns else (0.0, 0)


def _turn(one: Floats, two: Floats) -> float:
    """Return the angle [rad] by which an outline turns to the left from one polyline to another."""
    return float(turn_angles((one[-1] - one[-2])[None], (two[1] - two[0])[None])[0])


def _chord(polyline: Floats) -> Floats:
    """Return both ends (2,2) [m] of a polyline (n,2): the legs of a dart may be bent."""
    return polyline[[0, -1]]


def _read_whole(found: PieceRoles, ring: _Ring, kind: str) -> None:
    """Find the roles of a symmetric piece: its edges at the middle are hem and neck or waist."""
    middle = float(found.low[0] + found.high[0]) / 2
    ends = [(p[:, 0].min() - AT, p[:, 0].max() + AT) for p in ring.points]
    across = [k for k, (a, b) in enumerate(ends) if a < middle < b]
    level = {k: ring.height_at(k, middle) for k in across}
    half = (max(level.values()) + min(level.values())) / 2 if level else 0.0
    lower = [k for k in across if level[k] < half]
    upper = [k for k in across if level[k] >= half]
    if not lower or not upper:
        return
    n = len(ring.edges)
    last = next(k for k in lower if (k + 1) % n not in lower)
    first = next(k for k in upper if (k - 1) % n not in upper)
    up = ring.between(last, first)
    last = next(k for k in upper if (k + 1) % n not in upper)
    first = next(k for k in lower if (k - 1) % n not in lower)
    found.right = _read_side(up, ring, kind)
    found.left = _read_side(ring.between(last, first)[::-1], ring, kind)
    found.whole = {"hem": ring.expand(lower), "top": ring.expand(upper)}
    found.waist = max(float(ring.points[k][:, 1].max()) for k in upper)


def _read_side(chain: list[int], ring: _Ring, kind: str) -> dict[str, list[int]]:
    """Return the edges from hem to neck by role, from the hem up. Flat edges below the side belong
    to the hem. A steep edge below the neck is no shoulder, but a part of the armhole, as that of a
    raglan sleeve.
    """
    if kind != "top" or len(chain) < 2:
        return {"side": ring.expand(chain)} if chain else {}
    while len(chain) > 1 and ring.slope(chain[0]) < FLAT:
        chain = chain[1:]
    slopes = ring.slope(chain[-1]) < (SHOULDER if len(chain) > 2 else ALONE)
    rest, shoulder = (chain[:-1], chain[-1:]) if slopes and len(chain) > 1 else (chain, [])
    sign = np.sign(ring.points[rest[0]][:, 0].mean() - ring.middle[0])
    # The armpit is the corner that is farthest to the side and up.
    corners = [max(ring.points[k][[0, -1]], key=lambda p: float(p[1])) for k in rest[:-1]]
    far = [float(sign * p[0] + RISE * p[1]) for p in corners]
    k = int(np.argmax(far)) + 1 if far else 1
    parts = {"side": rest[:k], "armhole": rest[k:], "shoulder": shoulder}
    return {role: ring.expand(own) for role, own in parts.items() if own}


def _read_half(found: PieceRoles, ring: _Ring, kind: str) -> None:
    """Find the roles of a piece of one half, whose center is a long, straight and vertical edge."""
    upright = {
        k: _likely_center(p, ring.lengths[k])
        for k, p in enumerate(ring.points)
        if ring.slope(k) > np.pi / 2 - CENTER and np.ptp(p[:, 1]) > LEAST_CENTER * found.size[1]
    }
    if not upright or len(ring.edges) < 4:
        return
    center = max(upright, key=lambda k: upright[k])
    found.center = -1 if ring.center(center)[0] < (found.low[0] + found.high[0]) / 2 else 1
    order = ring.between(center, center)
    *order, top = order if found.center < 0 else order[::-1]
    hem = order.index(min(order, key=lambda k: float(ring.center(k)[1])))
    roles = _read_side(order[hem + 1 :], ring, kind)
    found.left, found.right = (roles, {}) if found.center > 0 else ({}, roles)
    # A vent or a slanted corner between hem and center ends the center.
    middle = [*order[:hem][::-1], center]
    found.whole = {
        "center": ring.expand(middle),
        "hem": ring.expand([order[hem]]),
        "top": ring.expand([top]),
    }


def _likely_center(points: Floats, length: float) -> float:
    """Return the length [m] of an edge, less for one that is bent or slanted: a center is longer
    than a bodice's side, and straighter than a skirt's side.
    """
    chord = points[-1] - points[0]
    straight, upright = np.linalg.norm(chord) / length, abs(chord[1]) / np.linalg.norm(chord)
    return float(length * straight**BENT * upright**SLANTED)


def _read_sleeve(found: PieceRoles, ring: _Ring) -> None:
    """Find the roles of a sleeve: hem below, an edge of the underarm on either side, the cap. The
    half of the cap that is more hollow is that of the front.
    """
    hem = ring.by_height()[0]
    order = ring.between(hem, hem)
    if len(order) < 3:
        return
    right, *cap, left = order
    found.right, found.left = ({"underarm": ring.expand([k])} for k in (right, left))
    edges = [e for k in cap for e in ring.edges[k]]
    found.whole = {"hem": ring.edges[hem], "cap": edges[::-1]}
    found.center = _hollow_side(np.concatenate([ring.points[k] for k in cap]))


def _hollow_side(cap: Floats) -> int:
    """Return the side of a cap (n,2) [m], from right to left, that is more hollow: -1 for the left,
    1 for the right, 0 for neither.
    """
    middle, half = (cap[0] + cap[-1])[0] / 2, (cap[0] - cap[-1])[0] / 2
    at = np.linspace(*LOWER_CAP, 50) * half
    right, left = (
        float(np.interp(at, *sign_x[np.argsort(sign_x[:, 0])].T).mean())
        for sign_x in ((cap - [middle, 0.0]) * [sign, 1.0] for sign in (1.0, -1.0))
    )
    if abs(right - left) < HOLLOW * np.ptp(cap[:, 1]):
        return 0
    return 1 if right < left else -1


def _read_leg(found: PieceRoles, ring: _Ring) -> None:
    """Find the roles of a leg of trousers: the side with the corner of the crotch is the inner
    one.
    """
    hem, *_, waist = ring.by_height()
    up, down = ring.between(hem, waist), ring.between(waist, hem)
    (right, below), (left, above) = ring.sharpest(up), ring.sharpest(down)
    if max(right, left) < CORNER:
        return
    found.center = 1 if right > left else -1
    if found.center > 0:
        inner, outer, k = up, down[::-1], below
    else:
        inner, outer, k = down[::-1], up, len(down) - above
    roles = {"outseam": ring.expand(outer), "inseam": ring.expand(inner[:k])}
    found.left, found.right = (roles, {}) if found.center > 0 else ({}, roles)
    crotch = ring.expand(inner[k:])
    found.whole = {"center": crotch, "hem": ring.edges[hem], "top": ring.edges[waist]}
