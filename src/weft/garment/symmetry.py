"""Mirrored panels, and panels that are drawn as one half, on the fold of the fabric."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Floats
from weft.base.errors import PatternError
from weft.garment.curves import reverse_edge
from weft.garment.darts import Dart, Feature, Pleat
from weft.garment.pattern import BorderCurve, Edge, Panel, PatternFold, Placement

MIRRORED = "_mirrored"  # appended to names of edges in the half that is not drawn


def mirror_panel(panel: Panel, name: str) -> Panel:
    """Return the mirror image of a panel: on paper across its y axis, and in space across x = 0.

    Edges keep their names; edge e becomes edge k - 2 - e (modulo k).
    """
    flip = np.array([-1.0, 1.0])
    corners = _points(panel.corners)[::-1] * flip
    k = len(corners)
    edges = [_scale_edge(reverse_edge(panel.edges[(k - 2 - e) % k]), flip) for e in range(k)]
    return replace(
        panel,
        name=name,
        corners=corners,
        edges=edges,
        grain=np.pi - panel.grain,
        holes=[_points(h) * flip for h in panel.holes],
        lines=[_points(line) * flip for line in panel.lines],
        folds=[replace(f, points=_points(f.points) * flip) for f in panel.folds],
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
    return Placement(_mirror_vector(placement.translation), (x, -y, -z), wrap)


def mirror_features(panel: Panel, features: Sequence[Feature]) -> list[Feature]:
    """Return the darts and pleats of a panel, which is not mirrored yet, on the mirrored one."""
    k = len(panel.corners)
    return [((k - 2 - e) % k, _reverse_feature(f)) for e, f in features]


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
    corners = _points(panel.corners)
    a, b = corners[fold], corners[(fold + 1) % k]
    if panel.edges[fold].curve is not BorderCurve.LINE:
        raise PatternError(
            f"panel {panel.name}: fold",
            got=panel.edges[fold].curve.name.lower(),
            expected="a straight edge",
        )
    axis = (b - a) / max(float(np.linalg.norm(b - a)), 1e-300)

    def across(points: ArrayLike) -> Floats:
        p = _points(points) - a
        return np.asarray(a + 2 * (p @ axis)[:, None] * axis - p)

    order = [(fold + 1 + i) % k for i in range(k - 1)]  # edges other than the fold
    own = [corners[i] for i in [*order, fold]]
    other = across(corners[order[:0:-1]]) if k > 2 else np.zeros((0, 2))
    edges = [panel.edges[i] for i in order]
    for i in order[::-1]:
        edge = reverse_edge(panel.edges[i])
        name = panel.edges[i].name or str(i)
        meets = i in (order[0], order[-1])
        controls = across(edge.controls)
        edges.append(replace(edge, controls=controls, name=name if meets else name + MIRRORED))
    edges[: k - 1] = [replace(e, name=e.name or str(i)) for e, i in zip(edges, order)]
    whole = replace(
        panel,
        corners=np.concatenate([own, other]),
        edges=edges,
        holes=[*panel.holes, *(across(h) for h in panel.holes)],
        lines=[*panel.lines, *(across(line) for line in panel.lines)],
        folds=[
            *panel.folds,
            *(PatternFold(across(f.points), f.angle, f.stiffness) for f in panel.folds),
        ],
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
        twin = replace(_reverse_feature(f), name=f.name + MIRRORED)
        both += [(j, f), (2 * len(order) - 1 - j, twin)]
    return both


def _reverse_feature(feature: Dart | Pleat) -> Dart | Pleat:
    """Return the feature on an edge that runs in the other direction."""
    if isinstance(feature, Pleat):
        return replace(feature, at=1 - feature.at, to_end=not feature.to_end)
    return replace(feature, at=1 - feature.at)


def _scale_edge(edge: Edge, flip: Floats) -> Edge:
    return replace(edge, controls=_points(edge.controls) * flip)


def _points(given: ArrayLike) -> Floats:
    return np.asarray(given, dtype=np.float64).reshape(-1, 2)


def _mirror_vector(v: tuple[float, float, float]) -> tuple[float, float, float]:
    return (-v[0], v[1], v[2])
