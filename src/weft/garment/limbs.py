"""Panels of sleeves where they start: around the arms of a standing body."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.garment.bent_panel import bend_around
from weft.garment.figure import Figure
from weft.garment.pattern import Panel, Pattern
from weft.garment.placement import LAYER_GAP, move_panel, place_points
from weft.garment.seam_ways import SeamWays, closed_panels

ASIDE = 0.03  # distance of a sleeve from the plane of symmetry, over the height of the body


def is_aside(points: Sequence[Positions], figure: Figure) -> bool:
    """Return whether the panels of a tube lie beside the trunk, as sleeves do."""
    return abs(inner_x(points)) > ASIDE * figure.landmarks.height


def inner_x(points: Sequence[Positions]) -> float:
    """Return the x [m] of a tube's end that is nearest to x = 0; 0 if it lies on both sides."""
    x = np.concatenate(points)[:, 0]
    return float(x[np.argmin(np.abs(x))]) if x.min() * x.max() > 0 else 0.0


def fit_sleeves(
    pattern: Pattern, ways: Sequence[SeamWays], tubes: Mapping[str, int], figure: Figure
) -> Pattern:
    """Return the pattern with its sleeves around the arms: each panel as half of a cone, or as a
    whole one if it is the only one.
    """
    panels = {p.name: p for p in pattern.panels}
    marks = figure.landmarks.points
    for tube in set(tubes.values()):
        own = [name for name, t in tubes.items() if t == tube]
        points = np.concatenate([place_points(panels[n], panels[n].corners) for n in own])
        around = [w for w in ways if w.encloses or w.closes_panel]
        lengthwise = [w for w in around if tubes[w.panels[0]] == tube]
        if not lengthwise or not is_aside([points], figure):
            continue
        if points[:, 1].mean() < figure.crotch:
            continue
        side = "left" if points[:, 0].mean() > 0 else "right"
        elbow, wrist = marks[f"elbow_{side}"], marks[f"wrist_{side}"]
        turn, shift = _onto_line(lengthwise, elbow[:2], wrist[:2])
        for name in own:
            if panels[name].placement.wrap:
                panels[name] = _onto_axis(panels[name], elbow, wrist - elbow)
                continue
            moved = move_panel(panels[name], turn, shift)
            edges = [e for w in lengthwise for e in w.edges(name)]
            if edges:
                whole = name in closed_panels(lengthwise)
                moved = bend_around(moved, elbow, wrist - elbow, edges, whole=whole)
            panels[name] = moved
    return replace(pattern, panels=list(panels.values()))


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
