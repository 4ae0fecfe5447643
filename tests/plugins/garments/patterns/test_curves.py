"""Edges by arc length against dense polygons, circles and closed forms; cut and reversed."""

import numpy as np
import pytest

from weft.plugins.garments.patterns.curves import EdgeCurve, reverse_edge
from weft.plugins.garments.patterns.pattern import BorderCurve

KINDS = {kind: 5 if kind.n_controls is None else kind.n_controls for kind in BorderCurve}
S = np.linspace(0, 1, 23)


def some(kind, seed=0):
    rng = np.random.default_rng(seed)
    return EdgeCurve(kind, rng.normal(size=(KINDS[kind] + 2, 2)))


def dense(curve):
    """Points and lengths along a fine polygon, with all points of polylines."""
    t = np.linspace(0, 1, 200001)
    if curve.polyline is not None:
        t = np.unique(np.concatenate([t, curve.polyline]))
    points = curve.at(t)
    return points, np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_points_by_arc_length(kind, seed):
    curve = some(kind, seed)
    points, along = dense(curve)
    assert curve.length == pytest.approx(along[-1], rel=1e-7)
    wanted = np.stack([np.interp(S * along[-1], along, c) for c in points.T], axis=1)
    np.testing.assert_allclose(curve.points(S), wanted, atol=2e-6 * along[-1])
    assert np.array_equal(curve.points(S)[0], curve.start)
    assert np.array_equal(curve.points(S)[-1], curve.end)


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_is_the_same_curve_and_goes_backward(kind):
    curve = some(kind, 7)
    part, back = curve.cut(0.2, 0.7), curve.reverse()
    assert part.length == pytest.approx(0.5 * curve.length, rel=1e-7)
    np.testing.assert_allclose(part.points(S), curve.points(0.2 + 0.5 * S), atol=1e-7)
    np.testing.assert_array_equal(back.edge.controls, reverse_edge(curve.edge).controls)
    np.testing.assert_allclose(back.points(S), curve.points(1 - S), atol=1e-8)


def test_quarter_circle_and_its_curvature():
    """Radius 2, through the middle of the quarter; and on the other side of its chord."""
    r = np.sqrt(0.5)
    quarter = EdgeCurve(BorderCurve.ARC, 2 * np.array([[1, 0], [r, r], [0, 1]]))
    assert quarter.length == pytest.approx(np.pi, rel=1e-14)
    np.testing.assert_allclose(np.linalg.norm(quarter.points(S), axis=1), 2, rtol=1e-14)
    np.testing.assert_allclose(quarter.turning(S), 0.5)
    rest = EdgeCurve(BorderCurve.ARC, 2 * np.array([[1, 0], [-r, -r], [0, 1]]))
    assert rest.length == pytest.approx(3 * np.pi, rel=1e-14)
    parabola = EdgeCurve(BorderCurve.QUADRATIC, np.array([[0, 0], [0.5, 0], [1, 1]]))
    assert parabola.turning(np.zeros(1))[0] == pytest.approx(2.0)


def test_a_flat_arc_is_a_line():
    edge = EdgeCurve(BorderCurve.ARC, np.array([[0, 0], [0.5, 0], [1, 0]]))
    assert edge.length == 1 and edge.arc is None


def test_kinks_of_polylines():
    edge = EdgeCurve(BorderCurve.POLYLINE, np.array([[0, 0], [1, 0], [1, 1], [2, 1.2]]))
    np.testing.assert_allclose(edge.kinks * edge.length, [1, 2])
