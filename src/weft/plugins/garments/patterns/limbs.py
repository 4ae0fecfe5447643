"""Panels of sleeves and legs where they start: around the arms and legs of a standing body."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.discretization.polygon import normalize
from weft.plugins.garments.patterns.bent_panel import SLACK, bend_around
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.pattern import Panel, Pattern
from weft.plugins.garments.patterns.placement import (
    LAYER_GAP,
    move_panel,
    panel_points,
    place_points,
)
from weft.plugins.garments.patterns.seam_ways import SeamWays, closed_panels

ASIDE = 0.03  # distance of a sleeve from the plane of symmetry, over the height of the body
SHORT = 0.03  # length of legs below the crotch, over the height of the body, that are not bent
# Of a sleeve of one panel: one that is too tight for a whole cone around a bent arm is open below.
SLACKS = (SLACK, 1.2, 1.4, 1.7, 2.0)
TOWARD = 0.5  # cosine of the angle to the forearm from which an edge faces the shoulder
FORWARD = np.array([0.0, 0.0, 1.0])  # of the body


def is_aside(points: Sequence[Positions], figure: Figure) -> bool:
    """Return whether the panels of a tube lie beside the trunk, as sleeves do."""
    return abs(inner_x(points)) > ASIDE * figure.landmarks.height


def inner_x(points: Sequence[Positions]) -> float:
    """Return the x [m] of a tube's end that is nearest to x = 0; 0 if it lies on both sides."""
    x = np.concatenate(points)[:, 0]
    return float(x[np.argmin(np.abs(x))]) if x.min() * x.max() > 0 else 0.0


def leg_panels(ways: Iterable[SeamWays], tubes: Mapping[str, int], crotch: float) -> list[str]:
    """Return the names of the panels of legs: those of tubes that an inseam closes.

    Args:
        ways: of all seams.
        tubes: number of each panel's tube.
        crotch: [m] height of the crotch.
    """
    legs = {tubes[w.panels[0]] for w in ways if w.is_inseam(crotch)}
    return [name for name, tube in tubes.items() if tube in legs]


def fit_limbs(
    pattern: Pattern, ways: Sequence[SeamWays], tubes: Mapping[str, int], figure: Figure
) -> Pattern:
    """Return the pattern with its sleeves around the arms and its legs around those of the body:
    each panel as half of a cone, or above the arm if it is a sleeve's only one: as a whole cone if
    it has room.
    """
    panels = pattern.by_name
    marks = figure.landmarks.points
    legs = leg_panels(ways, tubes, figure.crotch)
    for sign in (1.0, -1.0):
        own = [panels[n] for n in legs if sign * _middle(panels[n])[0] > 0]
        panels |= {p.name: p for p in _fit_leg(own, ways, figure)}
    for tube in set(tubes.values()):
        names = [name for name, t in tubes.items() if t == tube and name not in legs]
        around = [w for w in ways if w.encloses or w.closes_panel]
        lengthwise = [w for w in around if tubes[w.panels[0]] == tube]
        if not lengthwise or not names:
            continue
        points = np.concatenate([place_points(panels[n], panels[n].corners) for n in names])
        low = points[:, 1].mean() < figure.crotch and not _is_cuff(names, ways)
        if not is_aside([points], figure) or low:
            continue
        side = "left" if points[:, 0].mean() > 0 else "right"
        elbow, wrist = marks[f"elbow_{side}"], marks[f"wrist_{side}"]
        turn, shift = _onto_line(lengthwise, elbow[:2], wrist[:2])
        for name in names:
            if panels[name].placement.wrap:
                moved = _onto_axis(panels[name], elbow, wrist - elbow)
                panels[name] = _out_of_hand(moved, elbow, wrist - elbow, figure)
                continue
            moved = move_panel(panels[name], turn, shift)
            whole = name in closed_panels(lengthwise)
            for slack in SLACKS if whole else (0.0,):
                bent = _bend_limb(moved, elbow, wrist - elbow, lengthwise, slack)
                panels[name] = _out_of_hand(bent, elbow, wrist - elbow, figure)
                points = panel_points(panels[name], figure.depth.cell)
                if not figure.depth.contains(points).any():
                    break
    return pattern.with_panels(_attach_cuffs(panels, ways, tubes, figure))


def _is_cuff(names: Sequence[str], ways: Iterable[SeamWays]) -> bool:
    """Return whether the panels of a tube are one that a sleeve is sewn to, below it."""
    others = [w for w in ways if w.panels[0] != w.panels[1] and set(w.panels) & set(names)]
    return len(names) == 1 and bool(others) and all(w.is_aside for w in others)


def _attach_cuffs(
    panels: dict[str, Panel], ways: Iterable[SeamWays], tubes: Mapping[str, int], figure: Figure
) -> dict[str, Panel]:
    """Return panels with each cuff that is a tube of its own moved along the forearm to the edge to
    which it is sewn.
    """
    closed = closed_panels(ways)
    for w in ways:
        if len({tubes[name] for name in w.panels}) < 2 or not w.is_aside:
            continue
        w = w.move(panels)
        side = "left" if w.middle[0] > 0 else "right"
        elbow, wrist = (figure.landmarks.points[f"{n}_{side}"] for n in ("elbow", "wrist"))
        along = (wrist - elbow) / np.linalg.norm(wrist - elbow)
        sides = zip(w.panels, (w.first_out, w.second_out), (w.second - w.first, w.first - w.second))
        for name, outward, way in sides:
            if name in closed and outward.mean(0) @ along < -TOWARD:
                shift = (way.mean(0) @ along + LAYER_GAP) * along
                moved = move_panel(panels[name], np.eye(3), shift)
                panels[name] = _out_of_hand(moved, elbow, along, figure)
    return panels


def _fit_leg(panels: Sequence[Panel], ways: Iterable[SeamWays], figure: Figure) -> list[Panel]:
    """Return the panels of one leg of trousers bent around the body's leg, on their own side of the
    plane of symmetry.

    They stay as they are if one of them is bent or fixed, is the only one, or has both legs, or if
    they end less than ``SHORT`` of the body's height below the crotch.
    """
    from scipy.spatial.transform import Rotation

    cell, tall = figure.depth.cell, figure.landmarks.height
    if len(panels) < 2 or any(p.placement.wrap or p.placement.fixed for p in panels):
        return list(panels)
    x = np.concatenate([panel_points(p, cell, border=False) for p in panels])
    x = x[x[:, 1] < figure.crotch]
    one_leg = min(abs(_middle(p)[0]) for p in panels) > ASIDE * tall
    if not one_leg or not len(x) or np.ptp(x[:, 1]) < SHORT * tall:
        return list(panels)
    side, sign = ("left", 1.0) if x[:, 0].mean() > 0 else ("right", -1.0)
    ankle, knee = (figure.landmarks.points[f"{n}_{side}"] for n in ("ankle", "knee"))
    lean, at = np.polyfit(x[:, 1], x[:, 0], 1).tolist()  # the middle line of the panels
    turn, _ = Rotation.align_vectors([(knee - ankle) * [1.0, 1.0, 0.0]], [[lean, 1.0, 0.0]])
    middle = np.array([at + lean * ankle[1], ankle[1], 0.0])
    shift = ankle * [1.0, 1.0, 0.0] - turn.apply(middle)
    lengthwise = [w for w in ways if w.encloses]
    moved = [move_panel(p, turn.as_matrix(), shift) for p in panels]
    bent = [_bend_limb(p, ankle, knee - ankle, lengthwise) for p in moved]
    shift = np.array([sign * _lack(bent, sign, cell, float(knee[1])), 0.0, 0.0])
    bent = [move_panel(p, np.eye(3), shift) for p in bent]
    # Above, there is less room between both legs: the panels turn, and hems stay at the ankles.
    lean = _lack(bent, sign, cell, np.inf) / (figure.crotch - ankle[1])
    aside = Rotation.from_rotvec([0.0, 0.0, -sign * np.arctan(lean)])
    return [move_panel(p, aside.as_matrix(), ankle - aside.apply(ankle)) for p in bent]


def _lack(panels: Iterable[Panel], sign: float, cell: float, below: float) -> float:
    """Return the distance [m] by which panels lie too near to the plane of symmetry, for panels of
    the other leg, below a height [m].

    Args:
        panels: of one leg.
        sign: 1 for a leg at positive x, -1 at negative x.
        cell: [m] of ``BodyDepth``; each panel leaves two of them free.
        below: the height.
    """
    points = np.concatenate([panel_points(p, cell) for p in panels])
    return max(2 * cell - float((sign * points[points[:, 1] < below, 0]).min(initial=np.inf)), 0.0)


def _middle(panel: Panel) -> Floats:
    """Return the mean (3,) [m] of the corners of a panel where it starts."""
    return np.asarray(place_points(panel, panel.corners).mean(axis=0))


def _bend_limb(
    panel: Panel, point: Floats, axis: Floats, ways: Iterable[SeamWays], slack: float = 0.0
) -> Panel:
    """Return a panel bent around a limb; it stays flat if no seam along the limb joins it."""
    edges = [e for w in ways for e in w.edges(panel.name)]
    return bend_around(panel, point, axis, edges, slack=slack) if edges else panel


def _out_of_hand(panel: Panel, point: Floats, axis: Floats, figure: Figure) -> Panel:
    """Return a panel that is bent around an arm, moved out of the body across the arm.

    Hands are wider than wrists, and not in the middle of the arm. The panel moves by up to two
    cells of ``BodyDepth``, until half a cell is free between it and the body, or as little as
    possible of it is inside, and then as little as possible is nearer.

    Args:
        panel: the panel.
        point: (3,) [m] a point of the arm's axis.
        axis: (3,) its direction.
        figure: the body.
    """
    depth, along = figure.depth, axis / np.linalg.norm(axis)
    across = np.cross(along, FORWARD)
    ways = [np.cos(a) * FORWARD + np.sin(a) * across for a in np.linspace(0, 2 * np.pi, 9)[:-1]]
    moves = [np.zeros(3), *(k * depth.cell / 2 * w for k in range(1, 5) for w in ways)]
    x = panel_points(panel, depth.cell)
    outward = x - point - np.outer((x - point) @ along, along)
    inner = x - depth.cell / 2 * normalize(outward)

    def count_inside(move: Floats) -> tuple[int, int]:
        return int(depth.contains(x + move).sum()), int(depth.contains(inner + move).sum())

    clearest = min(moves, key=count_inside)
    return move_panel(panel, np.eye(3), clearest)


def _onto_axis(panel: Panel, point: Floats, axis: Floats) -> Panel:
    """Return a panel with a wrap, turned and moved such that the axis of the wrap is another one.

    Args:
        panel: it stays as it is if it is fixed.
        point: (3,) [m] a point of the other axis.
        axis: (3,) its direction, away from the trunk.
    """
    from scipy.spatial.transform import Rotation

    place, along = panel.placement, axis / np.linalg.norm(axis)
    assert place.wrap is not None
    old = Rotation.from_euler("xyz", place.rotation, degrees=True).apply(place.wrap.direction)
    turn = Rotation.align_vectors([along * np.sign(old @ along)], [old])[0].as_matrix()
    center = np.add(place.wrap.center, place.translation)
    # Clear of the trunk, whose panels start further out in outer layers.
    outward = (center - point) @ along + (1 + panel.layer) * LAYER_GAP
    return move_panel(panel, turn, point + outward * along - turn @ center)


def _onto_line(ways: Sequence[SeamWays], start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return turn (3,3) and shift (3,) of x and y that bring a tube onto a line from start to end.

    Args:
        ways: of the seams along the tube.
        start, end: (2,) [m].
    """
    line = (end - start) / np.linalg.norm(end - start)
    axis = np.zeros(2)
    for w in ways:
        along = ((w.first + w.second)[-1] - (w.first + w.second)[0])[:2]
        axis += along * np.sign(along @ line)
    angle = float(np.arctan2(line[1], line[0]) - np.arctan2(axis[1], axis[0]))
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    middle = np.mean([w.middle for w in ways], axis=0)
    across = np.array([-line[1], line[0]])
    aside = ((start - middle[:2]) @ across) * across
    return turn, middle - turn @ middle + np.append(aside, 0.0)
