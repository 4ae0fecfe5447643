"""Panels of wide skirts where they start: laid around the body, inside the arms.

The panels that side seams join in a ring around the body lie on a cone about a vertical axis. Each
panel takes an equal part of the way around; a skirt or a band of one panel takes all of it. On the
panel, lines from the waist to the hem fan out from a point, where the lines of both side edges
meet; on the cone they are its straight lines. A skirt that is wider than the steepest cone starts
compressed across these lines, and nowhere stretched. Side seams start nearly closed, and neither
arms nor hands are between them.

A round level that is sewn to the round hem of another ring lies on a cone below it. Flat, it would
start far below, and what has to fly up to its seam drags the rest down.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import cross
from weft.plugins.garments.patterns.body_depth import BodyDepth
from weft.plugins.garments.patterns.curves import outline_polygon
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.pattern import Panel, Pattern, Placement, Wrap
from weft.plugins.garments.patterns.placement import panel_points, place_points, plane_axes
from weft.plugins.garments.patterns.seam_ways import SeamWays

BESIDE = 0.3  # difference in height of panels beside each other, over their height, at most
UPRIGHT = 0.3  # vertical part of the direction in which a standing panel faces, at most
TURNED = 0.3  # part along x of the direction in which a panel faces that stands around the body
RISING = np.radians(70.0)  # angle to the middle from which a skirt's sides rise beside its waist
ROUND = np.radians(15.0)  # angle to the middle from which the hem of a panel is round
SLOPES = np.radians(np.arange(40.0, -1.0, -5.0))  # of a cone, from the vertical
STEP = 0.01  # [m] by which a cone is widened until it clears the body
WIDEST = 0.3  # [m] by which it is widened at most
SIDE = np.linspace(0, 1, 9)  # fractions of an edge at which a side of a ring is known
FILLED = 0.96  # part of its way around that a panel takes
COLLINEAR = 1e-6  # sine of the angle up to which the sides of a half circle are one line
LEVEL_GAP = 0.02  # [m] between a level and the hem above it
FARTHEST = 50.0  # [m] of the point from which parallel lines fan out


@dataclass(frozen=True, eq=False)
class Fan:
    """The lines of a panel from its waist to its hem.

    Args:
        tip: (2,) [m] the point in the panel's plane from which they fan out.
        down: (2,) unit direction from the tip to the middle of the panel.
        waist: (2,2) [m] the ends of the waist.
        near, far: [m] distances from the tip of waist and hem.
        half: [rad] angle between the middle and each side.
    """

    tip: Floats
    down: Floats
    waist: Floats
    near: float
    far: float
    half: float

    @staticmethod
    def of(panel: Panel, sides: Sequence[Floats]) -> "Fan":
        """Return the lines of a panel.

        Args:
            panel: the panel.
            sides: (k,2) [m] points of its left and of its right side edge, in its plane.
        """
        outline = outline_polygon(panel)[0]
        middle = _centroid(outline)
        ends = [_far_points(points) for points in sides]
        one, two = min(
            ((a, b) for a in (ends[0], ends[0][::-1]) for b in (ends[1], ends[1][::-1])),
            key=lambda pair: np.linalg.norm(pair[0][0] - pair[1][0]),
        )
        if abs(np.linalg.norm(one[1] - two[1]) - np.linalg.norm(one[0] - two[0])) < STEP and (
            place_points(panel, one[:1])[0, 1] < place_points(panel, one[1:])[0, 1]
        ):
            one, two = one[::-1], two[::-1]  # parallel sides: the waist is the upper end
        tip = _meet(one, two)
        waist = np.stack([one[0], two[0]])
        if tip is None:
            away = waist.mean(axis=0) - (one[1] + two[1]) / 2
            tip = waist.mean(axis=0) + FARTHEST * away / np.linalg.norm(away)
        down = (middle - tip) / np.linalg.norm(middle - tip)
        angles = [_angle(points - tip, down) for points in (one, two)]
        far = np.linalg.norm(outline - tip, axis=1)
        near = float(np.linalg.norm(waist - tip, axis=1).mean())
        return Fan(tip, down, waist, near, float(far.max()), float(np.abs(angles).max()))

    def is_hem(self, points: Floats) -> bool:
        """Return whether points (k,2) of an edge are nearer to the hem than to the waist."""
        away = float(np.linalg.norm(points - self.tip, axis=1).mean())
        return away > (self.near + self.far) / 2

    def level(self, panel: Panel) -> float:
        """Return the height [m] of the ends of the waist where a panel starts."""
        return float(place_points(panel, self.waist)[:, 1].mean())

    def place(
        self, panel: Panel, center: Floats, radius: float, slope: float, part: float
    ) -> Panel:
        """Return the panel on a cone.

        Args:
            panel: it faces outward.
            center: (3,) [m] the axis' point at the height of the waist.
            radius: [m] of the waist.
            slope: [rad] of the cone.
            part: [rad] angle from the middle to each side, at most.
        """
        ends = np.array([self.near, self.far])
        free = ends / (radius + (ends - self.near) * np.sin(slope))  # of a cone without strain
        squeeze = min(float(free.min()), part / self.half)
        facing = plane_axes(panel.placement)[:, 2] * [1.0, 0.0, 1.0]
        x, y, z = facing.tolist()
        turn = float(np.degrees(np.arctan2(-self.down[0], -self.down[1])))
        c, s = -self.down[1], -self.down[0]
        to_paper = np.array([[c, -s], [s, c]])
        right, ahead = (-to_paper @ (self.tip + self.near * self.down)).tolist()
        a, b, d = center.tolist()
        wrap = Wrap((a, b, d), radius, (0.0, 1.0, 0.0), (x, y, z), -slope, self.near, squeeze)
        return replace(panel, placement=Placement(wrap=wrap, on_paper=(right, ahead, turn)))


def lay_around(
    pattern: Pattern, ways: Sequence[SeamWays], beyond: Iterable[str], figure: Figure
) -> Pattern:
    """Return the pattern with rings of panels laid around the body.

    Args:
        pattern: with flat panels.
        ways: of its seams.
        beyond: names of the panels that reach beyond the forearms.
        figure: the body.
    """
    panels, wide = pattern.by_name, set(beyond)
    rings = find_fans(ways, panels)
    above = _find_above(ways, rings)
    laid = set[int]()
    for k, fans in enumerate(rings):
        turned = any(abs(plane_axes(panels[n].placement)[0, 2]) > TURNED for n in fans)
        rises = any(fan.half > RISING for fan in fans.values())
        if turned or rises or len(fans) == 1 or wide & fans.keys():
            laid.add(k)
        levels = list(takewhile(lambda j: _is_round(rings[j]), _chain(k, above)))
        if len(levels) > 1:
            laid.update(levels)
    for k in sorted(laid, key=lambda k: len(_chain(k, above))):
        level = waist_level(panels, rings[k])
        if above.get(k) in laid and _is_round(rings[above[k]]):
            points = [panel_points(panels[n], figure.depth.cell) for n in rings[above[k]]]
            level = min(float(x[:, 1].min()) for x in points) - LEVEL_GAP
        if level < figure.armpit and _faces_apart(panels[n] for n in rings[k]):
            panels |= _lay_ring(panels, rings[k], level, figure)
    return pattern.with_panels(panels)


def _faces_apart(panels: Iterable[Panel]) -> bool:
    """Return whether panels face in directions of their own, so that each has its part of a ring:
    those of a left and a right front do not.
    """
    facing = np.stack([plane_axes(p.placement)[:, 2] for p in panels])
    return bool((np.triu(facing @ facing.T, 1) < np.cos(ROUND)).all())


def _find_above(ways: Iterable[SeamWays], rings: Sequence[Mapping[str, Fan]]) -> dict[int, int]:
    """Return by the number of a ring that of the ring to whose hem its waist is sewn."""
    number = {name: k for k, fans in enumerate(rings) for name in fans}
    above = dict[int, int]()
    for w in ways:
        if w.panels[0] in number and w.panels[1] in number:
            one, two = (number[name] for name in w.panels)
            low = [rings[number[n]][n].is_hem(np.concatenate(w.edges(n))) for n in w.panels]
            if one != two and low[0] != low[1]:
                above |= {two: one} if low[0] else {one: two}
    return above


def _chain(ring: int, above: Mapping[int, int]) -> list[int]:
    """Return a ring and those from which it hangs, upwards."""
    chain = [ring]
    while above.get(chain[-1], ring) not in chain:
        chain.append(above[chain[-1]])
    return chain


def rising_panels(ways: Sequence[SeamWays], panels: Mapping[str, Panel]) -> dict[str, float]:
    """Return the panels whose sides rise beside their waist, with the height [m] of the waist."""
    return {
        name: fan.level(panels[name])
        for fans in find_fans(ways, panels)
        for name, fan in fans.items()
        if fan.half > RISING
    }


def round_rings(ways: Sequence[SeamWays], panels: Mapping[str, Panel]) -> list[dict[str, Fan]]:
    """Return the rings of panels whose hems are round: level rows of such a panel are not its
    girths.
    """
    return [fans for fans in find_fans(ways, panels) if _is_round(fans)]


def _is_round(fans: Mapping[str, Fan]) -> bool:
    return any(fan.half > ROUND for fan in fans.values())


def ring_girths(panels: Mapping[str, Panel], fans: Mapping[str, Fan], row: float) -> Floats:
    """Return heights and girths (k,2) [m] of a ring that hangs from its waist, by ``row`` [m]."""
    level = waist_level(panels, fans)
    down = np.arange(0.0, max(f.far - f.near for f in fans.values()), row)
    girths = sum(2 * f.half * (f.near + down) for f in fans.values())
    return np.stack([level - down, girths], axis=1)


def find_fans(ways: Sequence[SeamWays], panels: Mapping[str, Panel]) -> list[dict[str, Fan]]:
    """Return the lines of the panels of each ring around the body, by panel."""
    return [
        {name: Fan.of(panels[name], sides) for name, sides in ring.items()}
        for ring in find_rings(ways, panels)
    ]


def waist_level(panels: Mapping[str, Panel], fans: Mapping[str, Fan]) -> float:
    """Return the height [m] of the waist of a ring: of the highest panel."""
    return max(fan.level(panels[name]) for name, fan in fans.items())


def find_rings(
    ways: Sequence[SeamWays], panels: Mapping[str, Panel]
) -> list[dict[str, list[Floats]]]:
    """Return the rings of flat panels that stand around the body: for each panel the points (k,2)
    [m] of both of its sides, in its plane.

    Panels that hang on the shoulders, legs and sleeves are none.
    """
    beside: dict[str, dict[str, list[Floats]]] = {}
    for w in ways:
        one, two = w.panels
        if one == two or not _stand_beside(panels[one], panels[two]):
            continue
        for name, other in ((one, two), (two, one)):
            points = np.concatenate(w.edges(name))
            middle = panels[name].corners[:, 0].mean()
            side = f"{other} {np.sign(points[:, 0].mean() - middle)}"
            beside.setdefault(name, {}).setdefault(side, []).append(points)
    over = {name for w in ways if w.is_over for name in w.panels}
    found, left = _closed_rings(ways, panels, over), set(beside)
    while left:
        names, new = set[str](), {left.pop()}
        while new:
            names |= new
            new = {side.rsplit(" ", 1)[0] for n in new for side in beside[n]} - names
        left -= names
        x = np.concatenate([place_points(panels[n], panels[n].corners)[:, 0] for n in names])
        closed = len(names) > 1 and all(len(beside[n]) == 2 for n in names)
        if closed and x.min() < 0 < x.max() and not names & over:
            found.append({n: [np.concatenate(p) for p in beside[n].values()] for n in names})
    return found


def _closed_rings(
    ways: Iterable[SeamWays], panels: Mapping[str, Panel], over: Collection[str]
) -> list[dict[str, list[Floats]]]:
    """Return the rings of one panel each, which a seam closes: those that stand across the plane of
    symmetry and do not hang ``over`` the shoulders.
    """
    found = []
    for w in ways:
        name = w.panels[0]
        x = place_points(panels[name], panels[name].corners)[:, 0]
        if not w.closes_panel or name in over or not x.min() < 0 < x.max():
            continue
        if _stands(panels[name]):
            chains = [np.concatenate([c.points(SIDE) for c in e.curves]) for e in w.match.chains]
            found.append({name: chains})
    return found


def _stand_beside(one: Panel, two: Panel) -> bool:
    """Return whether two flat panels stand upright at the same height."""
    if not (_stands(one) and _stands(two)):
        return False
    heights = [place_points(p, p.corners)[:, 1] for p in (one, two)]
    tall = max(np.ptp(y) for y in heights)
    low, high = np.array([(y.min(), y.max()) for y in heights]).T
    return bool(max(np.ptp(low), np.ptp(high)) < BESIDE * tall)


def _stands(panel: Panel) -> bool:
    """Return whether a flat panel stands upright, and may move."""
    place = panel.placement
    moves = not (place.wrap or place.fixed or panel.layer)
    return moves and abs(plane_axes(place)[1, 2]) <= UPRIGHT


def _lay_ring(
    panels: Mapping[str, Panel], fans: Mapping[str, Fan], level: float, figure: Figure
) -> dict[str, Panel]:
    """Return the panels of a ring on the widest cone that clears the body."""
    around = sum(2 * f.half * f.near for f in fans.values())
    steepest = sum(2 * f.half for f in fans.values()) / (2 * np.pi)  # sine, of the flat ring
    part = np.pi / len(fans)
    body = figure.kept_clear
    at = body.cells(np.array([0.0, level]))
    both = np.array([body.front[at], body.back[at]])  # infinite between the legs
    center = np.array([0.0, level, both.mean() if np.isfinite(both).all() else 0.0])
    best: dict[str, Panel] = {}
    for slope in SLOPES[np.sin(SLOPES) <= steepest + STEP]:
        for radius in around / (2 * np.pi) + np.arange(0.0, WIDEST, STEP):
            laid = {
                n: f.place(panels[n], center, radius, float(slope), FILLED * part)
                for n, f in fans.items()
            }
            best = best or laid
            if not any(_inside(p, body) for p in laid.values()):
                return laid
    return best


def _inside(panel: Panel, body: BodyDepth) -> bool:
    return bool(body.contains(panel_points(panel, 2 * body.cell)).any())


def _meet(one: Floats, two: Floats) -> Floats | None:
    """Return the point (2,) where two lines through points (2,2), the inner one first, meet beyond
    their inner ends; None if they are about parallel.
    """
    first, second = one[1] - one[0], two[1] - two[0]
    area = float(cross(first, second))
    gap = two[0] - one[0]
    if abs(area) < 1e-12 or abs(area) < COLLINEAR * abs(float(first @ second)):
        return (one[0] + two[0]) / 2 if first @ second < 0 else None  # of half a circle
    back, other = float(cross(gap, second)) / area, float(cross(gap, first)) / area
    tip = one[0] + back * first
    beyond = back < 0 and other < 0 and np.linalg.norm(tip - one[0]) < FARTHEST
    return np.asarray(tip) if beyond else None


def _far_points(points: Floats) -> Floats:
    """Return the two of some points (k,2) that are farthest apart."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return points[list(np.unravel_index(np.argmax(apart), apart.shape))]


def _angle(points: Floats, down: Floats) -> Floats:
    """Return the angles [rad] of points (k,2) from a direction."""
    across = points @ np.array([-down[1], down[0]])
    return np.asarray(np.arctan2(across, points @ down))


def _centroid(outline: Floats) -> Floats:
    """Return the center (2,) of the area inside a polygon (k,2)."""
    after = np.roll(outline, -1, axis=0)
    area = cross(outline, after)
    return np.asarray(((outline + after) * area[:, None]).sum(axis=0) / (3 * area.sum()))
