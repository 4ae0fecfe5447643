"""Checks of a single panel: all of its errors, with the names of edges, holes and lines."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Floats
from weft.base.errors import PatternError, WeftError
from weft.discretization.polygon import (
    contains,
    crossing_point,
    drop_repeated_end,
    first_crossing,
    signed_area,
)
from weft.plugins.garments.patterns.curves import edge_curve, outline_polygon
from weft.plugins.garments.patterns.pattern import BorderCurve, Panel

LEAST = 1e-4  # [m] least length of an edge: shorter edges are mistakes of drawing
LARGEST = 100.0  # [m] largest extent of a panel: larger ones are mistakes of unit


def panel_problems(panel: Panel) -> list[WeftError]:
    """Return every error of a panel that can be found without the other panels."""
    what = f"panel {panel.name}"
    found = [*_check_points(panel, what), *_check_numbers(panel, what)]
    if not found:
        found += _check_edges(panel, what)
    if not found:
        found += _check_outline(panel, what)
    return found


def is_drawable(panel: Panel) -> bool:
    """Return whether a panel's points are complete enough to be drawn, right or wrong."""
    return not any(_check_points(panel, ""))


def edge_name(panel: Panel, edge: int) -> str:
    """Return the name of an edge or inner line in messages: ``edge 2 (hem)``."""
    name, k = panel.edge_name(edge), len(panel.edges)
    n = len(panel.lines)
    kind = f"edge {edge}" if edge < k else f"line {edge - k}"
    kind = f"fold {edge - k - n}" if edge >= k + n else kind
    return kind if name == str(edge) else f"{kind} ({name})"


def _check_points(panel: Panel, what: str) -> Iterator[WeftError]:
    """Yield errors of points: too few, no arrays (n,2), or not finite."""
    corners = _points(panel.corners)
    if corners is None or len(corners) < 2:
        yield PatternError(
            f"{what}: corners",
            got=np.shape(panel.corners),
            expected="at least two points, (k, 2) [m]",
        )
        return
    if len(panel.edges) != len(corners):
        yield PatternError(
            f"{what}: edges",
            got=len(panel.edges),
            expected=f"{len(corners)}, one from every corner",
        )
        return
    groups: list[tuple[str, Floats]] = [("corner", corners)]
    for i, edge in enumerate(panel.edges):
        controls, n = _points(edge.controls), edge.curve.n_controls
        name = f"{what}, {edge_name(panel, i)}"
        if controls is None or (n is not None and len(controls) != n):
            shape = "(c, 2)" if n is None else f"({n}, 2)"
            yield PatternError(
                f"{name}: controls",
                got=np.shape(edge.controls),
                expected=f"{shape} [m] of a {edge.curve.name.lower()}",
            )
        else:
            groups.append((f"{edge_name(panel, i)}, control", controls))
    if len(panel.line_names) > len(panel.lines):
        yield PatternError(
            f"{what}: line_names",
            got=len(panel.line_names),
            expected=f"at most {len(panel.lines)}, one for every line",
        )
    polygons = [("hole", panel.holes, 3), ("line", panel.lines, 2)]
    polygons.append(("fold", [f.points for f in panel.folds], 2))
    for kind, lists, least in polygons:
        for i, given in enumerate(lists):
            drawn = _points(given)
            if drawn is None or len(drawn) < least:
                yield PatternError(
                    f"{what}: {kind} {i}",
                    got=np.shape(given),
                    expected=f"at least {least} points, (n, 2) [m]",
                )
            else:
                groups.append((f"{kind} {i}, point", drawn))
    for kind, points in groups:
        for i in np.flatnonzero(~np.isfinite(points).all(axis=1))[:1]:
            yield PatternError(
                f"{what}, {kind} {i}", got=points[i].tolist(), expected="finite numbers"
            )


def _check_numbers(panel: Panel, what: str) -> Iterator[WeftError]:
    """Yield errors of other numbers that are not finite or out of range."""
    scalars = {"grain": panel.grain, "thickness": panel.thickness, "layer": panel.layer}
    scalars |= {f"fold {i}: angle": f.angle for i, f in enumerate(panel.folds)}
    for name, value in scalars.items():
        bound = 0.0 if name == "layer" else -np.inf
        if value is not None and not (np.isfinite(value) and value >= bound):
            yield PatternError(f"{what}: {name}", got=value, expected="a finite number")
    if panel.thickness is not None and not panel.thickness > 0:
        yield PatternError(f"{what}: thickness", got=panel.thickness, expected="must be > 0 [m]")
    for name in ("translation", "rotation"):
        value = getattr(panel.placement, name)
        if np.shape(value) != (3,) or not np.isfinite(value).all():
            yield PatternError(f"{what}: placement.{name}", got=value, expected="three numbers")


def _check_edges(panel: Panel, what: str) -> Iterator[WeftError]:
    """Yield errors of the lengths of edges and of the panel's size."""
    size = float(np.ptp(outline_polygon(panel)[0], axis=0).max())
    if not size < LARGEST:
        yield PatternError(
            what,
            got=f"{size:.4g} m across",
            expected=f"below {LARGEST:g} m",
            hint="check the unit",
        )
    for i, edge in enumerate(panel.edges):
        curve = edge_curve(panel, i)
        name = f"{what}, {edge_name(panel, i)}"
        if edge.curve is BorderCurve.ARC and np.array_equal(curve.start, curve.end):
            yield PatternError(
                name, got="an arc with the same start and end", expected="use two arcs for a circle"
            )
        elif not curve.length > LEAST:
            yield PatternError(
                name,
                got=f"{curve.length:.3g} m long at {curve.start.tolist()}",
                expected=f"more than {LEAST:g} m",
                hint="remove one of the corners",
            )


def _check_outline(panel: Panel, what: str) -> Iterator[WeftError]:
    """Yield errors of crossings and direction, and of holes, lines and folds that leave the
    panel.
    """
    points, edges = outline_polygon(panel)
    if len(points) < 3:
        yield PatternError(what, got="no area", expected="an outline around fabric")
        return
    crossing = first_crossing([points])
    if crossing is not None:
        (_, i), (_, j) = crossing
        one, two = edge_name(panel, int(edges[i])), edge_name(panel, int(edges[j]))
        where = f"near {np.round(crossing_point([points], crossing), 4).tolist()}"
        got = f"{one} crosses itself" if one == two else f"{one} and {two} cross or touch"
        yield PatternError(
            what, got=f"{got} {where}", expected="an outline that does not touch itself"
        )
        return
    if not signed_area(points) > 0:
        yield PatternError(
            what,
            got="clockwise corners",
            expected="counter-clockwise, seen from the right side",
            hint="list the corners in reverse order (garment.symmetry.reverse_panel does it)",
        )
        return
    loops = [points]
    for i, given in enumerate(panel.holes):
        hole = drop_repeated_end(np.asarray(given, dtype=np.float64))
        crossing = first_crossing([hole])
        if crossing is not None:
            at = np.round(crossing_point([hole], crossing), 4).tolist()
            got = f"edges {crossing[0][1]} and {crossing[1][1]} that cross near {at}"
            yield PatternError(f"{what}: hole {i}", got=got, expected="a polygon")
        elif first_crossing([*loops, hole]) is not None or not contains(loops, hole[:1])[0]:
            yield PatternError(
                f"{what}: hole {i}",
                got=f"at {np.round(hole[0], 4).tolist()}",
                expected="inside the outline, without touching it or other holes",
            )
        else:
            loops.append(hole)
    for i, line in enumerate(panel.inner):
        name = edge_name(panel, len(panel.edges) + i)
        t = np.linspace(0.02, 0.98, 49)[:, None]
        every = np.concatenate([a + t * (b - a) for a, b in pairwise(line)])
        outside = ~contains(loops, every)
        if outside.any():
            at = np.round(every[np.argmax(outside)], 4).tolist()
            yield PatternError(f"{what}: {name}", got=f"{at} on it", expected="inside the panel")


def _points(given: ArrayLike) -> Floats | None:
    """Return points as an array (n,2), or None if they are not that."""
    try:
        points = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if points.size == 0:
        return points.reshape(0, 2)
    return points if points.ndim == 2 and points.shape[1] == 2 else None
