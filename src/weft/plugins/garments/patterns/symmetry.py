"""Mirrored panels, and panels that are drawn as one half, on the fold of the fabric."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Floats, Vector
from weft.base.errors import PatternError
from weft.plugins.garments.patterns.curves import reverse_edge
from weft.plugins.garments.patterns.darts import Feature
from weft.plugins.garments.patterns.pattern import BorderCurve, Panel, Placement

MIRRORED = "_mirrored"  # appended to names of edges in the half that is not drawn


def map_panel(panel: Panel, map_points: Callable[[Floats], Floats]) -> Panel:
    """Return the panel with all of its points (n,2) [m] at other places."""

    def move(points: ArrayLike) -> Floats:
        return map_points(np.asarray(points, dtype=np.float64).reshape(-1, 2))

    return replace(
        panel,
        corners=move(panel.corners),
        edges=[replace(e, controls=move(e.controls)) for e in panel.edges],
        holes=[move(h) for h in panel.holes],
        lines=[move(line) for line in panel.lines],
        folds=[replace(f, points=move(f.points)) for f in panel.folds],
    )


def reverse_panel(panel: Panel) -> Panel:
    """Return the panel with its corners in the opposite order.

    Edge e becomes edge k - 2 - e (modulo k), of k edges.
    """
    corners = np.asarray(panel.corners, dtype=np.float64)[::-1]
    k = len(corners)
    edges = [reverse_edge(panel.edges[(k - 2 - e) % k]) for e in range(k)]
    return replace(panel, corners=corners, edges=edges)


def mirror_panel(panel: Panel, name: str) -> Panel:
    """Return the mirror image of a panel: on paper across its y axis, and in space across x = 0.

    Edges keep their names; edge e becomes edge k - 2 - e (modulo k).
    """
    return replace(
        map_panel(reverse_panel(panel), lambda points: points * [-1.0, 1.0]),
        name=name,
        grain=np.pi - panel.grain,
        placement=mirror_placement(panel.placement),
    )


def mirror_placement(placement: Placement) -> Placement:
    """Return the placement of a mirrored panel, across x = 0."""
    x, y, z = placement.rotation
    wrap = placement.wrap
    if wrap is not None:
        wrap = replace(
            wrap,
            center=_mirror_vector(wrap.center),
            direction=_mirror_vector(wrap.direction),
            facing=_mirror_vector(wrap.facing),
        )
    right, up, turn = placement.on_paper
    moved = _mirror_vector(placement.translation)
    return Placement(moved, (x, -y, -z), wrap, (-right, up, -turn))


def mirror_features(panel: Panel, features: Sequence[Feature]) -> list[Feature]:
    """Return the darts and pleats of a panel, which is not mirrored yet, on the mirrored one."""
    k = len(panel.corners)
    return [((k - 2 - e) % k, f.reverse()) for e, f in features]


def unfold_panel(
    panel: Panel, fold: int, features: Sequence[Feature] = ()
) -> tuple[Panel, list[Feature]]:
    """Return a whole panel from its half, mirrored across edge ``fold``, which disappears.

    Edges that meet the fold keep their name in both halves; the others are called ``NAME_mirrored``
    in the half that is not drawn. Edge 0 is the one after the fold.

    Args:
        panel: the half.
        fold: number of the edge on the fold.
        features: darts and pleats of the half.

    Returns:
        The panel, and the darts and pleats of both halves.

    Raises:
        PatternError: a fold that is not straight, or a dart or pleat on it.
    """
    k = len(panel.corners)
    a, b = np.asarray(panel.corners, dtype=np.float64)[[fold, (fold + 1) % k]]
    if panel.edges[fold].curve is not BorderCurve.LINE:
        raise PatternError(
            f"panel {panel.name}: fold",
            got=panel.edges[fold].curve.name.lower(),
            expected="a straight edge",
        )
    axis = (b - a) / max(float(np.linalg.norm(b - a)), 1e-300)

    def across(points: Floats) -> Floats:
        p = points - a
        return np.asarray(a + 2 * (p @ axis)[:, None] * axis - p)

    order = [(fold + 1 + i) % k for i in range(k - 1)]  # edges other than the fold
    edges = [replace(e, name=e.name or str(i)) for i, e in enumerate(panel.edges)]
    twin = map_panel(replace(panel, edges=edges), across)
    corners = [panel.corners[i] for i in [*order, fold]]
    halves = [edges[i] for i in order]
    for i in order[::-1]:
        edge = reverse_edge(twin.edges[i])
        meets = i in (order[0], order[-1])
        halves.append(edge if meets else replace(edge, name=edge.name + MIRRORED))
    names = panel.edge_names[k : k + len(panel.lines)]
    whole = replace(
        panel,
        corners=np.array([*corners, *(twin.corners[i] for i in order[:0:-1])], dtype=np.float64),
        edges=halves,
        holes=[*panel.holes, *twin.holes],
        lines=[*panel.lines, *twin.lines],
        line_names=[*names, *(name and name + MIRRORED for name in names)],
        folds=[*panel.folds, *(replace(f, name=f.name and f.name + MIRRORED) for f in twin.folds)],
    )
    return whole, _unfold_features(panel, order, features)


def _unfold_features(
    panel: Panel, order: Sequence[int], features: Sequence[Feature]
) -> list[Feature]:
    """Return darts and pleats of both halves of a panel; ``order`` lists the edges but the fold."""
    both: list[Feature] = []
    for e, f in features:
        if e not in order:
            raise PatternError(
                f"panel {panel.name}: {f.name}",
                got="on the fold",
                expected="a dart on another edge",
            )
        j = order.index(e)
        twin = replace(f.reverse(), name=f.name + MIRRORED)
        both += [(j, f), (2 * len(order) - 1 - j, twin)]
    return both


def _mirror_vector(v: Vector) -> Vector:
    return (-v[0], v[1], v[2])
