"""Subdivision surfaces: closed forms, and positions of OpenSubdiv (in Blender 5.0)."""

import itertools

import numpy as np
import pytest

from tests.plugins.film.film_assets import CUBE
from weft.plugins.film.catmull_clark import INFINITE, cage


def cage_of(polygons, n, creases=(), corners=()):
    at = np.zeros(n)
    for vertex, sharpness in corners:
        at[vertex] = sharpness
    edges = np.array([e for e, _ in creases], dtype=int).reshape(-1, 2)
    counts, ids = np.array([len(p) for p in polygons]), np.concatenate(polygons)
    return cage(counts, ids, n, edges, np.array([s for _, s in creases]), at)


def refined(made, levels):
    for _ in range(levels):
        made = made.refine()
    return made


def test_a_cube_of_unequal_creases_is_that_of_opensubdiv():
    """Whole and fractional creases, and a corner: moments of the positions at level 2."""
    creases = [((4, 5), 1.6), ((5, 7), 0.5), ((0, 1), INFINITE)]
    made = refined(cage_of(CUBE[1], 8, creases, [(6, 0.7)]), 2)
    x = made.points @ CUBE[0]
    found = [x.mean(0), (x**2).mean(0), (x**3).mean(0), x.max(0), x.min(0)]
    expected = [
        [0.49939244985580444, 0.4903992712497711, 0.5103080868721008],
        [0.3206239342689514, 0.3182641267776489, 0.3408840596675873],
        [0.2313579022884369, 0.2311505675315857, 0.25625714659690857],
        [0.9458550214767456, 0.9416667222976685, 0.9674478769302368],
        [0.05833333358168602, 0.0365668423473835, 0.0434027761220932],
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert x.prod(1).mean() == pytest.approx(0.12302574, abs=1e-6)


@pytest.mark.parametrize("sharpness", [0.0, INFINITE])
def test_regular_quads_are_a_b_spline(rng, sharpness):
    """Where nothing is sharp a bicubic one: two levels keep the masks of its knots. A crease for
    ever is the cubic one of its own vertices.
    """
    n = 7
    quads = [
        [i + n * j, i + 1 + n * j, i + 1 + n * j + n, i + n * j + n]
        for j in range(n - 1)
        for i in range(n - 1)
    ]
    line = [n * 3 + i for i in range(n)]
    made = cage_of(quads, n * n, [(pair, sharpness) for pair in itertools.pairwise(line)])
    x = rng.normal(size=(n, n))
    once = (refined(made, 1).points @ x.reshape(-1))[3 * n + 3]
    mask = np.array([1, 6, 1]) / 8
    smooth, crease = mask @ x[2:5, 2:5] @ mask, mask @ x[3, 2:5]
    assert once == pytest.approx(crease if sharpness else smooth)


def test_what_a_refinement_keeps(rng):
    """Constants, affine maps, the cage's vertices by number, polygons and linear values."""
    made = cage_of([[0, 1, 4, 3], [1, 2, 4], [5, 4, 2]], 7, corners=[(6, INFINITE)])
    x = np.column_stack([rng.normal(size=(7, 2)), np.ones(7)])
    fine = refined(made, 2)
    assert len(fine.counts) == 4 * (4 + 3 + 3) and (fine.counts == 4).all()
    np.testing.assert_allclose((fine.points @ x)[:, 2], 1.0)
    assert np.bincount(fine.polygon).tolist() == [16, 12, 12]
    values = made.ids.astype(float)  # at corners; the first polygon's are bilinear
    found = (fine.values @ values)[np.repeat(fine.polygon, 4) == 0]
    assert found.min() == 0.0 and found.max() == 4.0 and len(set(found.round(9))) > 9
    np.testing.assert_allclose(found.mean(), 2.0)
    assert refined(made, 1).points.toarray()[6].tolist() == np.eye(7)[6].tolist()
