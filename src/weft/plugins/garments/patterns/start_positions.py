"""Start positions of a pattern's panels beside a standing body.

Panels stay flat, but for sleeves, legs and wide panels. The steps, in the order in which they are
done:

1. The garment is moved up or down until the seams that close over the shoulders or under the crotch
   do not close through the body; one that hangs neither on shoulders nor on sleeves, until its
   girths are least below those of the body at the same heights, and its inseams end at the
   crotch. Legs end above the floor, if the crotch lets them.
2. Panels that the pattern bends are moved out of the body. Sleeves and legs are turned and moved
   such that their axis is that of the limb, and bent around it.
3. Panels of wide skirts are laid around the body (``skirts``). Other panels that reach beyond the
   forearms are bent away from the body, to where the arms are not.
4. Inserts, such as godets, are moved beside their slits. Panels lean on the body from in front and
   from behind, the largest ones first, as close as neither the body nor another panel is touched;
   waistbands of trousers stand as far ahead as the edges to which they are sewn. Panels beside the
   head, as those of a hood, are moved out of it and of the other panels.
5. Seams that still close through the body are named.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Bools, Floats, Positions
from weft.base.errors import Outlook, StartProblem
from weft.plugins.garments.bodies.body_measures import levels_of
from weft.plugins.garments.bodies.landmarks import GIRTH_LEVELS, Landmarks
from weft.plugins.garments.bodies.skin import UP
from weft.plugins.garments.patterns.bent_panel import bend_away, bend_outward
from weft.plugins.garments.patterns.body_depth import BodyDepth
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.curves import outline_polygon
from weft.plugins.garments.patterns.figure import MARGIN, Figure
from weft.plugins.garments.patterns.limbs import fit_limbs, inner_x, is_aside, leg_panels
from weft.plugins.garments.patterns.pattern import Panel, Pattern
from weft.plugins.garments.patterns.placement import (
    LAYER_GAP,
    move_panel,
    panel_points,
    place_points,
)
from weft.plugins.garments.patterns.seam_ways import UPWARD, SeamWays, closed_panels, find_tubes
from weft.plugins.garments.patterns.skirts import (
    lay_around,
    ring_girths,
    rising_panels,
    round_rings,
)

MEAN_HEIGHT = 1.72  # [m] of GarmentCode's mean body, for which its panels are placed
LET_DOWN = 0.025  # distance above the shoulders, over the height of the body, at which tops start
HIGHEST_MOVE = 0.3  # [m] by which a garment is moved up or down at most
RESTRAINT = 0.002  # cost of a move, over that of ways that are obstructed by as much
CAUGHT = 0.06  # obstruction of a way, over the height of the body, from which a seam is caught
STEEPEST = 0.3  # slope of panels that lean on the body
WHOLE = 0.7  # part of a row in front of or behind the body that panels fill, where it has a girth
HAND = 0.7  # length of a hand over that of a forearm
FOREARM = 0.03  # distance from a forearm's axis that panels keep, over the height of the body
MOST_TURN = 2.0  # [rad] by which each side of a panel is bent away from the body at most
FLAT = 0.1  # extent along z, over the largest one, up to which a panel is stacked


def fit_start(pattern: Pattern, figure: Figure) -> tuple[Pattern, list[SeamWays]]:
    """Return a pattern with its panels placed beside a body, and the ways of its seams there.

    Args:
        pattern: placed for any standing body that looks along z, with the floor at y = 0.
        figure: the body.

    Raises:
        PatternProblems: all errors of the pattern.
    """
    body = figure.kept_clear
    report = check_pattern(pattern)
    ways = [SeamWays.of(match) for match in report.seams]
    tubes = find_tubes(ways, pattern.by_name)
    fitted = _fit_height(report.pattern, ways, tubes, figure, body)
    fitted = _clear_bent_panels(fitted, figure.depth)
    ways = _move_ways(ways, fitted)
    fitted = fit_limbs(fitted, ways, tubes, figure)
    whole = {p.name for p in fitted.panels if p.placement.wrap} & closed_panels(ways)
    flat = [p.name for p in pattern.panels if not (p.placement.wrap or p.placement.fixed)]
    ways = _move_ways(ways, fitted)
    room = _beyond_arms(ways, figure)
    fitted = lay_around(fitted, ways, room, figure)
    around = {p.name for p in fitted.panels if p.placement.wrap and p.placement.wrap.fan}
    loose = [name for name in flat if name not in whole | around]
    fitted = _bend_wide_panels(fitted, room)
    legs = leg_panels(ways, tubes, figure.crotch)
    fitted = _bring_inserts(fitted, _move_ways(ways, fitted), loose)
    beside = [name for name in loose if _stands_beside(fitted.by_name[name])]
    fitted = _stack_panels(fitted, body, loose, legs)
    fitted = _clear_side_panels(fitted, body, beside)
    if not any(w.is_over for w in ways):
        fitted = _bring_bands(fitted, _move_ways(ways, fitted), legs)
    return fitted, _move_ways(ways, fitted)


def caught_seams(ways: Iterable[SeamWays], figure: Figure) -> list[StartProblem]:
    """Return the seams that would close through a body.

    Args:
        ways: of the seams, from where the panels start.
        figure: the body.
    """
    body, most = figure.kept_clear, CAUGHT * figure.landmarks.height
    return [
        StartProblem(
            Outlook.MAY,
            f"seam {w.match.seam.name} between panels {' and '.join(w.panels)} would close "
            f"through the body near ({', '.join(f'{c:.2f}' for c in w.middle)}): place the "
            "panels in a side-car file or in the pattern so that the straight line between the "
            "sides is free",
        )
        for w in ways
        if (w.is_over or w.is_inseam(figure.crotch))
        and _obstruction([w], body, figure.crotch)[0].mean() > most
    ]


def find_ways(pattern: Pattern) -> list[SeamWays]:
    """Return the ways of all seams of a pattern."""
    return [SeamWays.of(match) for match in check_pattern(pattern).seams]


def _move_ways(ways: Iterable[SeamWays], pattern: Pattern) -> list[SeamWays]:
    """Return the ways of the same seams, from where the panels of a pattern start."""
    panels = pattern.by_name
    return [w.move(panels) for w in ways]


def crosses_body(pattern: Pattern, body: BodyDepth) -> bool:
    """Return whether a panel starts inside a body, or a seam would close through its middle."""
    return any(body.contains(panel_points(p, body.cell)).any() for p in pattern.panels) or any(
        body.obstruction(w.first, w.second, w.outward).mean() > 0.9 * body.farthest
        for w in find_ways(pattern)
        if w.encloses
    )


def _obstruction(
    ways: Iterable[SeamWays], body: BodyDepth, crotch: float, height: float = 0.0
) -> list[Floats]:
    """Return the obstruction (k,) [m] of the ways of each seam, after a move up by ``height`` [m].

    Inseams have to lie below the crotch, however narrow the gap between the legs is. Seams that
    close over the shoulders have to lie above them by ``LET_DOWN``.
    """
    found = []
    for w in ways:
        if w.is_inseam(crotch):
            y = (w.first + w.second)[:, 1] / 2 + height
            found.append(np.clip(y - crotch + MARGIN, 0.0, body.farthest))
        else:
            up = np.array([0.0, height - w.is_over * LET_DOWN * body.height, 0.0])
            found.append(body.obstruction(w.first + up, w.second + up, w.outward))
    return found


def _fit_height(
    pattern: Pattern,
    ways: Sequence[SeamWays],
    tubes: Mapping[str, int],
    figure: Figure,
    body: BodyDepth,
) -> Pattern:
    """Return the pattern moved up or down such that its seams miss the body."""
    panels = pattern.by_name
    points = {name: place_points(p, outline_polygon(p)[0]) for name, p in panels.items()}
    below = rising_panels(ways, panels)
    tops = [min(float(x[:, 1].max()), below.get(name, np.inf)) for name, x in points.items()]
    low, top = min(float(x[:, 1].min()) for x in points.values()), max(tops)
    crotch, tall = figure.crotch, figure.landmarks.height
    whole = {t: [points[n] for n in panels if tubes[n] == t] for t in set(tubes.values())}
    inner = {name: inner_x(whole[t]) for name, t in tubes.items() if is_aside(whole[t], figure)}
    central = [
        w
        for w in ways
        if w.is_inseam(crotch)
        or (
            (w.is_over or (w.encloses and w.outward.mean(0)[1] < -UPWARD))
            and w.panels[0] not in inner
        )
    ]
    drafted = levels_of(pattern.body)
    if pattern.flat_start and not drafted:  # for the mean body, or for a small body that wears it
        drafted, own = (levels_of({"height": h}) for h in (MEAN_HEIGHT, tall))
        over = [w.middle[1] for w in central if w.is_over]
        name, height = ("shoulder", np.mean(over)) if over else ("waist", top)
        if abs(tall - MEAN_HEIGHT) > HIGHEST_MOVE:
            drafted = min(drafted, own, key=lambda at: abs(at[name] - height))
    scale = tall / drafted["top"] if drafted else 1.0
    about = figure.landmarks.move_height(top, drafted) - top if drafted else 0.0
    if low < 0 and top + about < crotch:  # not the floor, but the pelvis is the file's origin
        about = float(figure.landmarks.points["waist"][1])
    inseams = [w.highest for w in ways if w.is_inseam(crotch)]
    at_crotch = crotch - MARGIN - max(inseams, default=0.0)
    if inseams and not any(w.is_over for w in central):
        about = at_crotch
    moves = about + np.arange(-HIGHEST_MOVE, HIGHEST_MOVE, body.cell / 2)
    cost = RESTRAINT * (moves - about) ** 2
    if central:
        for i, h in enumerate(moves.tolist()):
            cost[i] += sum(float((d**2).mean()) for d in _obstruction(central, body, crotch, h))
    raglan = any(len({*w.panels} & inner.keys()) == 1 and w.middle[1] > crotch for w in ways)
    if not (raglan or any(w.is_over for w in central)):
        rings = round_rings(ways, panels)
        left_out = {name for ring in rings for name in ring} | inner.keys()
        slanted = _slanted_heights(ways, panels)
        trunk = []
        for name, panel in panels.items():
            if name in left_out:
                continue
            x = panel_points(panel, body.cell, border=False)
            for first, last in slanted.get(name, ()):
                x = x[(x[:, 1] < first) | (x[:, 1] > last)]
            trunk.append(x)
        girths = [ring_girths(panels, ring, body.cell) for ring in rings]
        girths.append(_girths(trunk, body.cell))
        cost += _squeeze(np.concatenate(girths), figure.landmarks, moves)
    up = float(moves[int(np.argmin(cost))])
    if inseams:  # hems at the floor close around the feet
        ankle = float(figure.landmarks.points["ankle_left"][1])
        up = max(up, min(ankle + MARGIN - low, at_crotch))
    moved = []
    for panel in pattern.panels:
        aside = (scale - 1) * inner.get(panel.name, 0.0)
        moved.append(move_panel(panel, np.eye(3), np.array([aside, up, 0.0])))
    return replace(pattern, panels=moved)


def _slanted_heights(
    ways: Iterable[SeamWays], panels: Mapping[str, Panel]
) -> dict[str, list[tuple[float, float]]]:
    """Return by panel the heights [m] between which only one of its sides has a seam, at its lower
    and its upper edge: where an edge is slanted, its width is no part of a girth.
    """
    heights: dict[str, dict[bool, list[Floats]]] = {}
    for w in ways:
        one, two = w.panels
        for name, x, out in ((one, w.first, w.first_out), (two, w.second, w.second_out)):
            right, up, ahead = out.mean(axis=0).tolist()
            if one != two and np.hypot(right, ahead) > abs(up):
                middle = place_points(panels[name], panels[name].corners)[:, 0].mean()
                sides = heights.setdefault(name, {})
                sides.setdefault(bool(x[:, 0].mean() > middle), []).append(x[:, 1])
    found = {}
    for name, sides in heights.items():
        if len(sides) == 2:
            y = [np.concatenate(parts) for parts in sides.values()]
            lower, upper = [float(own.min()) for own in y], [float(own.max()) for own in y]
            found[name] = [(min(lower), max(lower)), (min(upper), max(upper))]
    return found


def _girths(points: Sequence[Positions], row: float) -> Floats:
    """Return heights and girths (k,2) [m] of panels around a body, in rows of the height ``row``,
    from their points (n,3) [m] that are ``row`` apart.

    There is no girth where panels in front of the body, or behind it, fill too little of a row.
    """
    x = np.concatenate([np.zeros((0, 3)), *points])  # a pair of sleeves has no trunk
    of = np.floor(x[:, 1] / row).astype(np.int64)
    ahead = x[:, 2] > 0
    found = []
    for k in np.unique(of).tolist():
        sides = [x[(of == k) & half, 0] for half in (ahead, ~ahead)]
        if all(len(s) and len(s) * row > WHOLE * (np.ptp(s) + row) for s in sides):
            found.append(((k + 0.5) * row, sum(map(len, sides)) * row))
    return np.array(found).reshape(-1, 2)


def _squeeze(girths: Floats, marks: Landmarks, moves: Floats) -> Floats:
    """Return the mean square (n,) [m^2] of the widths by which girths (k,2) [m] are too small for
    a body, after moves (n,) [m] up.
    """
    if not len(girths):
        return np.zeros_like(moves)
    levels = [(marks.points[at][1], marks.girths[of]) for at, of in GIRTH_LEVELS.items()]
    body = np.interp(girths[:, 0] + moves[:, None], *np.array(levels).T)
    return np.asarray((np.maximum(body - girths[:, 1], 0.0) ** 2).mean(1) / np.pi**2)


def _clear_bent_panels(pattern: Pattern, body: BodyDepth) -> Pattern:
    """Return the pattern with panels that it bends itself moved forward or backward, until none of
    their points is inside the body.
    """
    moved = []
    for panel in pattern.panels:
        x = panel_points(panel, body.cell)
        inside = body.contains(x)
        if panel.placement.wrap and inside.any():
            z, at = x[inside, 2], body.cells(x[inside, :2])
            ahead = x[:, 2].mean() > (body.front[at] + body.back[at]).mean() / 2
            depth = float((body.front[at] - z if ahead else z - body.back[at]).max()) + MARGIN
            panel = move_panel(panel, np.eye(3), np.array([0.0, 0.0, depth if ahead else -depth]))
        moved.append(panel)
    return replace(pattern, panels=moved)


def _beyond_arms(ways: Iterable[SeamWays], figure: Figure) -> dict[str, float]:
    """Return the panels that reach beyond the forearms, and the distance [m] from x = 0 up to which
    there is room for each inside the arms.
    """
    room: dict[str, float] = {}
    for w in ways:
        if w.encloses and not w.is_aside:
            for name, x in zip(w.panels, (w.first, w.second)):
                inside = _room(figure, x)
                beyond = inside[np.abs(x[:, 0]) > inside]
                if len(beyond):
                    room[name] = min(room.get(name, np.inf), float(beyond.min()))
    return room


def _bend_wide_panels(pattern: Pattern, room: Mapping[str, float]) -> Pattern:
    """Return the pattern with panels that reach beyond the forearms bent away from the body.

    Seams at the sides of a wide top would close around the wrists. On a cylinder that fits between
    the arms, they close between arms and trunk.

    Args:
        pattern: with flat panels, and panels that lie around the body, which stay.
        room: [m] distance from x = 0 that each of these panels has inside the arms.
    """
    panels = pattern.by_name
    for name, radius in room.items():
        x = place_points(panels[name], panels[name].corners)
        if np.abs(x[:, 0]).max() < MOST_TURN * radius and np.ptp(x[:, 2]) < FLAT * np.ptp(x[:, 0]):
            middle = x.mean(0) * [0.0, 1.0, 1.0]
            panels[name] = bend_away(panels[name], middle, radius)
    return pattern.with_panels(panels)


def _room(figure: Figure, points: Positions) -> Floats:
    """Return the distances (n,) [m] from x = 0 up to which there is room inside the forearms.

    Args:
        figure: the body.
        points: (n,3) [m].
    """
    room = np.full(len(points), np.inf)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        elbow, wrist = (figure.landmarks.points[f"{n}_{side}"] for n in ("elbow", "wrist"))
        arm = np.array([wrist + HAND * (wrist - elbow), elbow])
        x = sign * np.interp(points[:, 1], arm[:, 1], arm[:, 0], np.inf, np.inf)
        own = sign * points[:, 0] > 0
        room[own] = x[own] - FOREARM * figure.landmarks.height
    return np.asarray(np.abs(room))


def _stands_beside(panel: Panel) -> bool:
    """Return whether a panel is flat and does not face forward or backward."""
    size = np.ptp(place_points(panel, panel.corners), axis=0)
    return panel.placement.wrap is None and bool(size[2] > FLAT * size.max())


def _clear_side_panels(pattern: Pattern, body: BodyDepth, names: Iterable[str]) -> Pattern:
    """Return the pattern with flat panels that stand beside the body, as those of a hood do beside
    the head, moved outward and up by as little as clears it and all other panels.

    Args:
        pattern: with all other panels where they start.
        body: grown by the distance that panels keep.
        names: of these panels.
    """
    from scipy.spatial import cKDTree

    grid = np.arange(0.0, body.farthest, body.cell)
    moves = np.stack(np.meshgrid(grid, grid, [0.0]), axis=-1).reshape(-1, 3)
    moves = moves[np.argsort((moves**2).sum(axis=1))]
    panels = pattern.by_name
    for name in names:
        x = panel_points(panels[name], body.cell)
        outward = np.array([np.sign(x[:, 0].mean()), 1.0, 1.0])
        moved = x + (moves * outward)[:, None]
        free = np.flatnonzero(~body.contains(moved).any(axis=1))
        others = [panel_points(p, body.cell) for n, p in panels.items() if n != name]
        if others:
            apart = cKDTree(np.concatenate(others)).query(moved[free])[0]
            free = free[apart.min(axis=1) > 2 * body.cell]
        if len(free):
            panels[name] = move_panel(panels[name], np.eye(3), moves[free[0]] * outward)
    return pattern.with_panels(panels)


def _stack_panels(
    pattern: Pattern, body: BodyDepth, loose: Collection[str], legs: Collection[str]
) -> Pattern:
    """Return the pattern with panels stacked in front of and behind the body.

    Args:
        pattern: with panels that are flat or bent around an axis.
        body: grown by the distance that panels keep.
        loose: names of the panels that may move; others stay where they are.
        legs: names of the panels that may lean although they are bent.
    """
    panels = pattern.by_name
    front, back = body.front.copy(), body.back.copy()
    full = np.isfinite(front)
    middle = float(np.median(front[full] + back[full])) / 2
    points = {name: panel_points(p, body.cell) for name, p in panels.items()}
    for name, panel in panels.items():
        if panel.placement.wrap and panel.placement.wrap.fan:
            _raise(front, back, points[name], points[name][:, 2] > middle, body)
    for name in sorted(panels, key=lambda n: (panels[n].layer, -len(points[n]))):
        x, panel = points[name], panels[name]
        size = np.ptp(x, axis=0)
        bent = name in loose and panel.placement.wrap is not None
        if name not in loose or not (bent or size[2] <= FLAT * size.max()):
            continue
        ahead = float(x[:, 2].mean()) > middle
        outward = 1.0 if ahead else -1.0
        wide = _widen(x[:, :2], body.cell)
        surface = outward * (front if ahead else back)[body.cells(wide)]
        top = x[np.argmax(x[:, 1])]
        level = surface - outward * np.repeat(x[:, 2] - top[2], 9)  # for the panel's top
        steepest = 0.0 if bent and name not in legs else STEEPEST
        slope, distance = _tilt(wide[:, 1] - top[1], level, steepest)
        if np.isfinite(distance):
            turn = _turn_about_x(float(np.arctan(outward * slope)))
            shift = top * [1.0, 1.0, 0.0] + [0.0, 0.0, outward * (distance + LAYER_GAP)]
            panels[name] = move_panel(panel, turn, shift - turn @ top)
            x = (x - top) @ turn.T + shift
        _raise(front, back, x, np.full(len(x), ahead), body)
    return pattern.with_panels(panels)


def _raise(front: Floats, back: Floats, x: Positions, ahead: Bools, body: BodyDepth) -> None:
    """Raise the surfaces (nx,ny) [m] in front of and behind a body over points (n,3) of a panel,
    which lie ahead (n,) or behind.
    """
    at = body.cells(_widen(x[:, :2], body.cell))
    z, ahead = np.repeat(x[:, 2], 9), np.repeat(ahead, 9)
    np.maximum.at(front, at, np.where(ahead | ~np.isfinite(front[at]), z, -np.inf))
    np.minimum.at(back, at, np.where(~ahead | ~np.isfinite(back[at]), z, np.inf))


def _tilt(y: Floats, surface: Floats, steepest: float) -> tuple[float, float]:
    """Return slope and height [m] at y = 0 of the lowest plane over a surface, on average over y.

    Args:
        y: (n,) [m].
        surface: (n,) [m] heights; infinite where there is no surface.
        steepest: slope of the plane at most.
    """
    full = np.isfinite(surface)
    if not full.any():
        return 0.0, float("inf")
    y, height = y[full], surface[full]
    slopes = np.linspace(-steepest, steepest, 41)
    heights = np.array([(height - b * y).max() for b in slopes.tolist()])
    best = int(np.argmin(heights + slopes * y.mean()))
    return float(slopes[best]), float(heights[best])


def _bring_inserts(pattern: Pattern, ways: Iterable[SeamWays], loose: Collection[str]) -> Pattern:
    """Return the pattern with inserts, such as godets, moved in their plane to the edges to which
    they are sewn: a row of them may reach beyond the arms. One that is wider than its slit is bent,
    so that it does not overlap its neighbors.

    An insert is a panel all of whose seams join it to one larger panel, beside it. Those that start
    nearer than half of their width stay.
    """
    panels = pattern.by_name
    sewn = dict[str, list[tuple[str, SeamWays, Positions, Positions]]]()
    for w in ways:
        one, two = w.panels
        sewn.setdefault(one, []).append((two, w, w.first, w.second))
        sewn.setdefault(two, []).append((one, w, w.second, w.first))
    for name, seams in sewn.items():
        others = {other for other, *_ in seams}
        if name not in loose or len(seams) < 2 or len(others) > 1 or name in others:
            continue
        own, base = (panels[n].corners for n in (name, *others))
        wide = float(np.ptp(own[:, 0]))
        smaller = np.ptp(own, axis=0).max() < np.ptp(base, axis=0).max()
        shift = np.mean([(b - a).mean(0) for _, _, a, b in seams], axis=0) * [1.0, 1.0, 0.0]
        beside = not any(w.encloses for _, w, _, _ in seams)
        if smaller and beside and abs(shift[0]) > wide / 2:
            panels[name] = move_panel(panels[name], np.eye(3), shift)
            slit = np.concatenate([b for *_, b in seams])
            turn = _half_turn(float(np.ptp(slit[:, 0])) / wide)
            if turn > 0:
                middle = place_points(panels[name], panels[name].corners).mean(0)
                panels[name] = bend_outward(panels[name], middle, wide / 2 / turn)
    return pattern.with_panels(panels)


def _half_turn(chord: float) -> float:
    """Return half of the angle [rad] of an arc whose chord is so much of its length; 0 if it is as
    long, ``MOST_TURN`` at most.
    """
    turns = np.linspace(MOST_TURN, 0.0, 41)
    return float(np.interp(chord, np.sinc(turns / np.pi), turns))


def _bring_bands(pattern: Pattern, ways: Iterable[SeamWays], legs: Collection[str]) -> Pattern:
    """Return the pattern with waistbands moved forward or backward to the legs' upper edges, and
    above them: a band that starts nearer to the body folds inwards.
    """
    panels, far = pattern.by_name, dict[str, list[Floats]]()
    for w in ways:
        for name, other, way in zip(
            w.panels, w.panels[::-1], (w.second - w.first) * [[[1]], [[-1]]]
        ):
            if other in legs and name not in legs:
                rise = max(float(way[:, 1].max()) + LAYER_GAP, 0.0)
                far.setdefault(name, []).append(np.array([0.0, rise, way[:, 2].mean()]))
    for name, moves in far.items():
        shift = np.mean(moves, axis=0) * [0.0, 0.0, 1.0] + np.max(moves, axis=0) * UP
        panels[name] = move_panel(panels[name], np.eye(3), shift)
    return pattern.with_panels(panels)


def _turn_about_x(angle: float) -> Floats:
    """Return the rotation (3,3) about x by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _widen(points: Floats, by: float) -> Floats:
    """Return points (n,2) and their eight neighbors at the distance ``by``, (9n,2)."""
    around = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]) * by
    return (points[:, None] + around).reshape(-1, 2)
