"""Exact triangle intersections: against rational arithmetic, separating axes, and by hand."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from igl.predicates import orient3d

from tests.checks import rotations
from tests.refusals import refused
from weft.base.errors import MeshError
from weft.contact import intersections
from weft.contact.broad_phase.aabb import Boxes, MovingPoints, Primitives
from weft.contact.broad_phase.bvh import BoundingVolumeHierarchy, Overlaps
from weft.contact.broad_phase.tree_order import LEAF, TreeOrder
from weft.discretization.mesh import grid


def rational_sign(a, b, c, d):
    """orient3d in fractions."""
    a, b, c, d = ([Fraction(float(v)) for v in p] for p in (a, b, c, d))
    A, B, C = ([p[i] - d[i] for i in range(3)] for p in (a, b, c))
    det = sum(A[i] * (B[j] * C[k] - B[k] * C[j]) for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
    return (det > 0) - (det < 0)


def test_orient3d_is_exact(rng):
    """Coplanar points, and the same moved by one unit in the last place."""
    n = 300
    u, v, o = rng.normal(size=(3, n, 3))
    s, t = rng.integers(-8, 9, size=(2, n, 1)) / 8
    d = o + s * u + t * v
    nudged = d.copy()
    nudged[::2, 0] = np.nextafter(nudged[::2, 0], np.inf)
    for last in (d, nudged):
        got = orient3d(o, o + u, o + v, last)
        expected = [rational_sign(*p) for p in zip(o, o + u, o + v, last)]
        np.testing.assert_array_equal(got, expected)


def overlap(A, B):
    """Whether two triangles with integer corners meet, by the separating axes of two convex sets:
    normals, and cross products of edges and of these.
    """
    A, B = A.astype(int), B.astype(int)
    ea, eb = (np.roll(T, -1, axis=0) - T for T in (A, B))
    na, nb = np.cross(ea[0], ea[1]), np.cross(eb[0], eb[1])
    axes = [na, nb, *(np.cross(u, v) for u in ea for v in eb)]
    axes += [np.cross(na, u) for u in ea] + [np.cross(nb, v) for v in eb]
    shadows = ((A @ axis, B @ axis) for axis in axes if axis.any())
    return all(p.max() >= q.min() and q.max() >= p.min() for p, q in shadows)


@pytest.mark.parametrize("seed", range(3))
def test_against_separating_axes_on_a_small_lattice(seed):
    """Corners on a lattice of 5^3: touching, coplanar and crossing pairs all occur."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, size=(120, 3)).astype(float)
    faces = np.arange(120).reshape(40, 3)
    a, b, c = np.moveaxis(x[faces], 1, 0)
    faces = faces[np.cross(b - a, c - a).any(1)]
    pairs = combinations(range(len(faces)), 2)
    expected = [(i, j) for i, j in pairs if overlap(x[faces[i]], x[faces[j]])]
    assert [tuple(p) for p in intersections(x, faces).tolist()] == expected
    assert 10 < len(expected) < 0.9 * len(faces) * (len(faces) - 1) / 2


FLAT = [[0, 0, 0], [2, 0, 0], [0, 2, 0]]
PAIRS = {
    "twins": (FLAT, [2, 1, 0], True),
    "at a vertex, through": ([*FLAT, [1, 0.5, 1], [1, 0.5, -1]], [0, 3, 4], True),
    "at a vertex, beside": ([*FLAT, [1, -2.5, 1], [1, -2.5, -1]], [0, 3, 4], False),
    "at an edge, folded over": ([*FLAT, [0.5, 1.2, 0]], [1, 0, 3], True),
    "at an edge, flat": ([*FLAT, [0.5, -1, 0]], [1, 0, 3], False),
}


@pytest.mark.parametrize("name", PAIRS)
def test_neighbors(name):
    """Two triangles with the same vertices, with one or with two in common."""
    x, other, meet = PAIRS[name]
    found = intersections(np.array(x, float), np.array([[0, 1, 2], other]))
    assert found.tolist() == ([[0, 1]] if meet else [])


@pytest.mark.parametrize("n", [1, LEAF + 1, 300])
def test_broad_phase_is_complete(n, rng):
    """Against all pairs of boxes, in float64; also where boxes left the places of their layout."""
    points = rng.uniform(size=(n, 3, 3)) * 0.1 + rng.uniform(size=(n, 1, 3))
    first = Boxes.around(points)
    tree = BoundingVolumeHierarchy(first)
    mixed = points[rng.permutation(len(points))]
    for moved in (points, 1.01 * points, 4.0 * points, mixed):
        tree.update(Boxes(MovingPoints.of(moved.reshape(-1, 3)), first.inside))
        low, high = moved.min(1), moved.max(1)
        meets = ((low[:, None] <= high) & (low <= high[:, None])).all(2)
        expected = {(i, j) for i, j in np.argwhere(meets).tolist() if i < j}
        got = [tuple(p) for p in Overlaps(tree).read_pairs().tolist()]
        assert len(got) == len(set(got)) and set(got) >= expected
        assert len(got) <= 1.02 * len(expected) + 2
        other = Overlaps(tree, Boxes.around(moved[:50])).read_pairs()
        assert set(map(tuple, other.tolist())) >= set(map(tuple, np.argwhere(meets[:50])))


def test_moving_boxes(rng):
    """At every time of their ways they are between the boxes at both ends."""
    start, end = rng.normal(size=(2, 20, 3, 3))
    inside = Primitives.of(TreeOrder.of(start.mean(1)), np.arange(60).reshape(20, 3))
    boxes = Boxes(MovingPoints.of(start.reshape(-1, 3), end.reshape(-1, 3)), inside, 0.1)
    order, size = inside.layout.order, np.diff(inside.layout.start)
    filled = np.arange(LEAF) < size[:, None]
    sides = []
    for bounds in boxes.bounds:
        eights = bounds.boxes.numpy().reshape(-1, 6, LEAF)
        assert (eights[:, :3].transpose(0, 2, 1)[~filled] == np.inf).all()
        assert (eights[:, 3:].transpose(0, 2, 1)[~filled] == -np.inf).all()
        eights = eights.astype(float)
        sides.append([eights[:, k : k + 3].transpose(0, 2, 1)[filled] for k in (0, 3)])
    for t in np.linspace(0, 1, 5):
        now = (start + t * (end - start))[order]
        lower, upper = (a + t * (b - a) for a, b in zip(*sides, strict=True))
        assert (lower <= now.min(1) - 0.1 + 1e-15).all()
        assert (upper >= now.max(1) + 0.1 - 1e-15).all()


def test_errors():
    mesh = grid(3, 3, 1, 1)
    with refused(MeshError, "faces"):
        intersections(mesh.vertices, mesh.faces + 5)
    x = np.array(mesh.vertices)
    x[0, 0] = np.nan
    with refused(MeshError, "intersections.x", got="nan"):
        intersections(x, mesh.faces)
    assert len(intersections(mesh.vertices, np.zeros((0, 3), int))) == 0


def test_too_many_in_one_place_are_named():
    """Copies of a tilted sheet."""
    mesh = grid(20, 20, 1, 1)
    x = np.tile(mesh.vertices @ rotations(1, 4)[0].T, (60, 1))
    faces = np.concatenate([mesh.faces + 400 * k for k in range(60)])
    with refused(MeshError, "faces", got="15796740 pairs of 43320 faces", expected="4000000"):
        intersections(x, faces)


def test_quiet_faces(rng):
    """The same pairs as without, less those of two quiet faces."""
    x = rng.uniform(size=(150, 3))
    faces = np.arange(150).reshape(50, 3)
    quiet = rng.random(50) < 0.5
    every = intersections(x, faces)
    expected = every[~quiet[every].all(1)]
    np.testing.assert_array_equal(intersections(x, faces, quiet), expected)
    assert len(intersections(x, faces, np.ones(50, dtype=bool))) == 0
