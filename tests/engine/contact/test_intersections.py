"""Exact triangle intersections: against rational arithmetic, against ipctk, and by hand."""

import time
from fractions import Fraction
from itertools import combinations

import ipctk
import numpy as np
import pytest
from igl.predicates import orient3d

from tests.checks import rotations
from tests.refusals import refused
from weft.base.errors import MeshError
from weft.contact import intersections
from weft.contact.broad_phase.aabb import Boxes, MovingPoints, Primitives
from weft.contact.broad_phase.bvh import BoundingVolumeHierarchy, Overlaps
from weft.contact.broad_phase.tree_order import LEAF, TreeOrder, pieces_of
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
    whole = rng.integers(-3, 4, size=(4, 500, 3)).astype(float)
    np.testing.assert_array_equal(orient3d(*whole), [rational_sign(*p) for p in zip(*whole)])
    assert (orient3d(*whole) == 0).any()
    np.testing.assert_array_equal(orient3d(*(2.0**-250 * whole)), orient3d(*whole))


def brute(x, faces):
    """All pairs by the separating planes of small rational triangles: another algorithm."""
    hits = []
    for i, j in combinations(range(len(faces)), 2):
        if set(faces[i]) & set(faces[j]):
            continue
        if overlap(x[faces[i]], x[faces[j]]):
            hits.append((i, j))
    return hits


def overlap(A, B):
    """Whether two triangles with integer corners meet: linear programming by brute force over
    the separating axes of two convex sets (normals and cross products of edges).
    """
    A, B = A.astype(int), B.astype(int)
    ea, eb = (np.roll(T, -1, axis=0) - T for T in (A, B))
    na, nb = np.cross(ea[0], ea[1]), np.cross(eb[0], eb[1])
    axes = [na, nb, *(np.cross(u, v) for u in ea for v in eb)]
    axes += [np.cross(na, u) for u in ea] + [np.cross(nb, v) for v in eb]
    for axis in axes:
        if not axis.any():
            continue
        p, q = A @ axis, B @ axis
        if p.max() < q.min() or q.max() < p.min():
            return False
    return True


@pytest.mark.parametrize("seed", range(3))
def test_against_separating_axes_on_a_small_lattice(seed):
    """Corners on a lattice of 5^3: touching, coplanar and crossing pairs all occur."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, size=(120, 3)).astype(float)
    faces = np.arange(120).reshape(40, 3)
    a, b, c = np.moveaxis(x[faces], 1, 0)
    faces = faces[np.cross(b - a, c - a).any(1)]
    expected = brute(x, faces)
    assert [tuple(p) for p in intersections(x, faces).tolist()] == expected
    assert 10 < len(expected) < 0.9 * len(faces) * (len(faces) - 1) / 2


def test_flat_and_folded_sheets():
    mesh = grid(12, 12, 1, 1)
    R = rotations(1, 4)[0]
    assert len(intersections(mesh.vertices, mesh.faces)) == 0
    assert len(intersections(mesh.vertices @ R.T, mesh.faces)) == 0
    folded = np.array(mesh.vertices)
    folded[:, 0] = np.abs(folded[:, 0])  # half of it lies exactly on the other half
    assert len(intersections(folded, mesh.faces)) >= len(mesh.faces) // 2
    lifted = folded + np.where(mesh.vertices[:, :1] > 0, [0, 1e-12, 0], 0)
    middle = np.abs(mesh.vertices[mesh.faces][:, :, 0]).min(1) > 0.05
    hits = intersections(lifted, mesh.faces[middle])
    assert len(hits) == 0


def test_a_face_that_is_there_twice():
    """Whatever way round, and whichever vertex comes first."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    for twin in ([0, 1, 2], [1, 2, 0], [2, 1, 0]):
        assert intersections(x, np.array([[0, 1, 2], twin])).tolist() == [[0, 1]]


def test_neighbors_that_pass_through_each_other():
    """Two triangles at one vertex, and two at one edge."""
    x = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [1, 0.5, 1], [1, 0.5, -1.0]])
    assert intersections(x, np.array([[0, 1, 2], [0, 3, 4]])).tolist() == [[0, 1]]
    x[3:, 1] -= 3
    assert len(intersections(x, np.array([[0, 1, 2], [0, 3, 4]]))) == 0
    x = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.4, 0.7, 0], [0.5, -1, 0.0]])
    assert intersections(x, np.array([[0, 1, 2], [1, 0, 3]])).tolist() == [[0, 1]]
    assert len(intersections(x, np.array([[0, 1, 2], [1, 0, 4]]))) == 0


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_ipctk(seed):
    """Two crumpled sheets, near enough to pass through each other in some cases."""
    rng = np.random.default_rng(seed)
    mesh = grid(9, 9, 1, 1)
    one = np.array(mesh.vertices) + 0.02 * rng.normal(size=mesh.vertices.shape)
    two = np.array(mesh.vertices) + 0.02 * rng.normal(size=mesh.vertices.shape)
    two += [0.01, 0.02 + 0.03 * seed, 0.02]
    x = np.concatenate([one, two])
    faces = np.concatenate([mesh.faces, mesh.faces + mesh.n_vertices])
    oracle = ipctk.has_intersections(ipctk.CollisionMesh(x, ipctk.edges(faces), faces), x)
    assert (len(intersections(x, faces)) > 0) == oracle


def test_broad_phase_is_complete(rng):
    """Against all pairs of boxes, in float64; also where boxes left the places of their layout."""
    points = rng.uniform(size=(300, 3, 3)) * 0.1 + rng.uniform(size=(300, 1, 3))
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
        assert {tuple(p) for p in other.tolist()} >= {
            (i, j) for i, j in np.argwhere(meets[:50]).tolist()
        }


@pytest.mark.parametrize("n", [0, 1, LEAF, LEAF + 1, 37, 500])
def test_a_layout_is_a_tree_over_everything(rng, n):
    """Each box is in one leaf, each leaf below its nodes, and pieces share none."""
    points, piece = rng.normal(size=(n, 3)), rng.integers(0, 4, n)
    layout = TreeOrder.of(points, piece)
    assert sorted(layout.order) == list(range(n))
    assert layout.start[0] == 0 and layout.start[-1] == n
    assert (np.diff(layout.start) <= LEAF).all()
    for a, b in zip(layout.start[:-1], layout.start[1:]):
        assert len(set(piece[layout.order[a:b]])) <= 1

    def leaves(node):
        if layout.leaf[node] >= 0:
            assert layout.beyond[node] == node + 1
            return [layout.leaf[node]]
        left, right = node + 1, layout.beyond[node + 1]
        assert layout.beyond[node] == layout.beyond[right]
        assert layout.depth[left] == layout.depth[right] == layout.depth[node] + 1
        return leaves(left) + leaves(right)

    assert leaves(0) == list(range(len(layout)))
    assert layout.beyond[0] == len(layout.leaf) == 2 * len(layout) - 1
    inner, ends = layout.inner
    assert len(inner) == ends[-1] == len(layout) - 1 if len(layout) > 1 else len(inner) == 0


def test_leaves_of_a_sheet_are_compact():
    """No more than half as many leaves met as there would be of boxes one by one."""
    mesh = grid(40, 40, 1.0, 1.0)
    centers = np.array(mesh.vertices)[mesh.faces].mean(1)
    layout = TreeOrder.of(centers, pieces_of(mesh.faces, mesh.n_vertices)[mesh.faces[:, 0]])
    spans = [
        np.ptp(centers[layout.order[a:b]], axis=0).max()
        for a, b in zip(layout.start[:-1], layout.start[1:])
    ]
    assert max(spans) < 4 / 39


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


def coincident(copies, turn, n=20):
    """Copies of a tilted sheet in one place."""
    mesh = grid(n, n, 1, 1)
    x = mesh.vertices @ turn.T
    faces = np.concatenate([mesh.faces + k * len(x) for k in range(copies)])
    return np.tile(x, (copies, 1)), faces


def test_coincident_surfaces_are_answered_in_time():
    """Eight sheets in one place: 28 x 242 pairs of equal faces at least, in seconds."""
    x, faces = coincident(8, rotations(1, 4)[0], 12)
    clock = time.process_time()
    assert len(intersections(x, faces)) > 28 * 242
    assert time.process_time() - clock < 7  # of the processor: a twentieth of it here
    quiet = np.arange(len(faces)) >= 242
    hits = intersections(x, faces, quiet)
    assert len(hits) and (hits[:, 0] < 242).all()  # bodies among themselves are not looked at


def test_too_many_in_one_place_are_named():
    x, faces = coincident(60, rotations(1, 4)[0])
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
