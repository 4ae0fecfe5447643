"""Pairs that edges of the mesh connect meet from a smaller gap on: which, from where, how stiff."""

import numpy as np
import pytest

import weft
from tests.checks import scatter
from tests.engine.contact.test_neighborhood import every_pair, named
from tests.reference.contact_sets import candidates_of, energies
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SceneError
from weft.contact.broad_phase.candidate_search import CandidateCache, find_candidates
from weft.contact.collision_groups import CollisionGroups
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.contact_term import ContactTerm
from weft.contact.distance.distance import PairKind, distances_of
from weft.contact.narrow_phase.adjacent_pairs import LEAST, PART, Adjacency
from weft.contact.narrow_phase.classify import contacts
from weft.discretization.mesh import grid
from weft.kernel import vec3
from weft.scene.prepare import prepare

EDGE = 5e-3  # [m] of the sheets here
HEIGHT = EDGE / np.sqrt(2)


def surface(n=8, gap=4e-3, sewn=None, thickness=0.0):
    """A sheet of edges of 5 mm."""
    mesh = grid(n, n, EDGE * (n - 1), EDGE * (n - 1))
    sides = CollisionGroups.one(mesh.n_vertices, thickness)
    if sewn is not None:
        sides.__dict__["sewn"] = sewn
    return CollisionMesh(mesh.faces, np.array(mesh.vertices), sides, gap), np.array(mesh.vertices)


def crumpled(x, rng, size=1.2e-3):
    """Folded over itself, so that neighbors and others come near, and shaken."""
    out = np.array(x)
    out[:, 0] = np.abs(x[:, 0] - x[:, 0].mean()) * 0.6
    out[:, 1] += 2.5e-3 * (x[:, 0] > x[:, 0].mean())
    return out + size * rng.normal(size=x.shape)


@pytest.mark.parametrize(("gap", "edges"), [(4e-3, 1), (9e-3, 2), (15e-3, 3)])
@pytest.mark.parametrize("sewn", [False, True])
def test_which_pairs_edges_connect(gap, edges, sewn):
    """Against powers of the mesh's graph; vertices that are sewn together are one."""
    same = None
    if sewn:
        same = np.arange(64, dtype=np.int32)
        same[56:] = same[:8]
    mesh, _ = surface(gap=gap, sewn=same)
    every, kinds = every_pair(mesh)
    points = int((kinds == PairKind.POINT_TRIANGLE).sum())
    candidates = candidates_of(every, points)
    less, marks = mesh.adjacency.gap_among(candidates, gap), candidates.adjacent
    assert less == pytest.approx(max(PART * HEIGHT, LEAST * gap), rel=1e-6)
    graph = np.eye(64, dtype=int)
    ends = mesh.edges if same is None else same[mesh.edges]
    graph[ends[:, 0], ends[:, 1]] = graph[ends[:, 1], ends[:, 0]] = 1
    near = np.linalg.matrix_power(graph, edges) > 0
    np.fill_diagonal(near, False)
    ids = every if same is None else same[every]
    a, b, c, d = ids.T
    sides = near[a, b] | near[a, c] | near[a, d]
    pairs = near[a, c] | near[a, d] | near[b, c] | near[b, d]
    expected = np.where(np.arange(len(every)) < points, sides, pairs)
    if edges == 1:
        np.testing.assert_array_equal(kernel.numpy(marks) == 1, expected)
    else:  # a vertex is its own neighbor over two edges; such pairs share it, and are no pairs
        assert (kernel.numpy(marks)[expected] == 1).all()
    assert 0.05 < kernel.numpy(marks).mean() < 0.95


@pytest.mark.parametrize("gap", [2e-3, 4e-3, 6e-3, 12e-3])
def test_flat_cloth_does_not_touch_itself(gap):
    """Nor does it where the gap is longer than its edges; without bodies nothing pushes it."""
    cloth = weft.sheet(12, 12, 11 * EDGE, 11 * EDGE, pattern="alternating")
    contact = prepare(weft.Scene(cloth, contact=weft.SelfContact(gap))).model.contact
    x = np.array(cloth.vertices)
    near = find_candidates(contact.mesh, x, gap)
    found = contacts(contact.mesh, kernel.points(x), near, 1.0, gap)
    assert len(found) == 0
    plain = CollisionMesh(contact.mesh.faces, contact.mesh.rest, contact.mesh.sides)
    assert (len(contacts(plain, kernel.points(x), near, 1.0, gap)) > 0) is bool(gap > HEIGHT)


def test_a_gap_of_many_edges_and_a_thickness_of_one_are_refused():
    cloth = weft.sheet(12, 12, 11 * EDGE, 11 * EDGE)
    for name, got, most, gap, thickness in (
        ("gap", "0.02 m", "0.01909 m", 0.02, 0.0),
        ("thickness", "0.006 m", "0.005 m", 1e-3, 6e-3),
    ):
        with refused(SceneError, f"contact.{name}", got=got, expected=most):
            prepare(weft.Scene(cloth, contact=weft.SelfContact(gap, thickness)))


def test_forces_are_slopes_of_one_energy(rng):
    """In crumpled cloth with both gaps at once; and every pair holds the load at half of its own
    gap.
    """
    cloth = weft.sheet(8, 8, 7 * EDGE, 7 * EDGE)
    scene = weft.Scene(cloth, contact=weft.SelfContact(4e-3, resolve=True))
    contact = prepare(scene).model.contact
    term = ContactTerm(contact)
    mesh = contact.mesh
    for _ in range(20):
        x = crumpled(np.array(cloth.vertices), rng)
        if len(contact.crossings(x)) == 0:
            break
    y = kernel.points(x)
    found = term.workspace.search.contacts(y)
    gaps = np.unique(found.parameters["gap"])
    np.testing.assert_allclose(gaps, [PART * HEIGHT, 4e-3], rtol=1e-6)
    own = found.parameters["gap"] < 4e-3
    assert 5 < own.sum() < len(found) - 5
    ratio = found.parameters["stiffness"][own].min() / found.parameters["stiffness"][~own].min()
    assert ratio == pytest.approx((4e-3 / (PART * HEIGHT)) ** 3, rel=1e-6)
    force = scatter(found, x)
    d = rng.normal(size=x.shape)

    def energy(h):
        at = kernel.points(x + h * d)
        near = find_candidates(mesh, at, 4e-3)
        found = contacts(mesh, at, near, contact.stiffness, 4e-3)
        return energies(found, x + h * d).sum()

    h = 1e-9
    slope = (8 * (energy(h) - energy(-h)) - energy(2 * h) + energy(-2 * h)) / (12 * h)
    assert slope == pytest.approx((force * d).sum(), rel=1e-6)


@pytest.mark.parametrize("gap", [4e-3, 8e-3])
def test_candidates_of_ways_hold_every_pair_that_comes_within_its_own_gap(rng, gap):
    """One way after another; what edges connect is left out where it stays farther than that."""
    mesh, flat = surface(gap=gap)
    every, kinds = every_pair(mesh)
    points = int((kinds == PairKind.POINT_TRIANGLE).sum())
    candidates = candidates_of(every, points)
    less = mesh.adjacency.gap_among(candidates, gap)
    own = np.where(kernel.numpy(candidates.adjacent) == 1, less, gap)
    near, all_of = CandidateCache(mesh, gap, mesh.adjacency.closer(gap)), CandidateCache(mesh, gap)
    x, fewer, known = crumpled(flat, rng), 0, 0
    for k in range(12):
        d = 4e-4 * rng.normal(size=x.shape)
        d[rng.integers(0, len(x), 4)] *= 8
        if k == 6:
            d += 4 * d
        y, end = kernel.points(x), kernel.points(x + d)
        found, whole = near.along(y, end), all_of.along(y, end)
        listed = named(found.pairs, found.points)
        assert listed <= named(whole.pairs, whole.points) or k > 0
        fewer += len(whole) - len(found)
        for part in (0.0, 0.5, 1.0):
            close = distances_of(x + part * d, every, kinds) < own
            assert named(every[close], int(close[:points].sum())) <= listed
        if found.adjacent is not None:  # kept and taken anew: the same as for all
            kept = kernel.numpy(found.adjacent)
            anew = mesh.adjacency.find_adjacent(candidates_of(found.pairs, found.points))
            np.testing.assert_array_equal(kept, kernel.numpy(anew))
            known += 1
        mesh.adjacency.gap_among(found, gap)
        x = x + d
    assert fewer > 0 and known > 2


def test_gaps_of_neighbors_by_thickness_and_gap():
    """At least a tenth of the gap; derivatives as differences."""
    none = kernel.empty(0, vec3)
    for thickest in (0.0, 1e-3, 1.7e-3, 5e-3):
        for gap in (1e-3, 1.5e-3, 4e-3):
            less = Adjacency(HEIGHT, thickest, none, none).gap(gap)
            assert LEAST * gap <= less <= gap
            by_gap, by_thickness = Adjacency(HEIGHT, thickest, none, none).slope(gap)
            h = 1e-9
            up = Adjacency(HEIGHT, thickest, none, none).gap(gap + h)
            thicker = Adjacency(HEIGHT, thickest + h, none, none).gap(gap)
            assert (up - less) / h == pytest.approx(by_gap, abs=1e-5)
            assert (thicker - less) / h == pytest.approx(by_thickness, abs=1e-5)


@pytest.mark.parametrize("gap", [4e-3, 7e-3])
def test_fine_cloth_that_is_folded_does_not_pass_through_itself(gap, tmp_path):
    """A strip of edges of 5 mm falls on a thin rod with its whole weight on one fold, and on
    itself; nothing intersects in any frame, and where it lies on the floor it keeps its gap.
    """
    strip = weft.sheet(8, 40, 7 * EDGE, 39 * EDGE, fabric="silk").move((0, 0.06, 0))
    rod = weft.contact.capsule(4e-3, 0.1, 2e-3).move((0, 0.03, 0.02), rotation=(0, 0, 90))
    floor = weft.contact.plate(0.4, 0.4)
    scene = weft.Scene(
        strip, bodies=[rod, floor], contact=weft.SelfContact(gap, friction=0.2), step=0.01
    )
    run = weft.simulate(scene, frames=15, fps=50, out=tmp_path / "run", progress=False)
    contact = prepare(scene).model.contact
    for k in range(len(run)):
        assert len(contact.crossings(run.positions(k), k / 50)) == 0
    height = run.positions(-1)[:, 1]
    assert height.min() > 0.2 * gap and height.max() < 0.05


def test_ways_of_many_edges_are_safe():
    """What may be gone of a way on which cloth tilts and shears is safe, and most of what the table
    leaves; nothing is left out where nothing meets.
    """
    cloth = weft.sheet(10, 10, 9 * EDGE, 9 * EDGE)
    flat = np.array(cloth.vertices)
    table = weft.contact.plate(0.3, 0.3, size=0.3).move((0, -0.01, 0))
    contact = prepare(
        weft.Scene(cloth, bodies=[table], contact=weft.SelfContact(4e-3))
    ).model.contact
    search = ContactTerm(contact).workspace.search
    y = np.concatenate([flat, contact.body_positions(0.0)])
    way = np.zeros_like(y)
    way[: len(flat), 1] = -0.08 - 3.0 * flat[:, 0]  # 0.01 to the table: one side falls faster
    way[: len(flat), 0] = 3.0 * flat[:, 2]  # and all is sheared
    at, along = kernel.points(y), kernel.points(way)
    part = search.max_step(at, along)
    assert 0.05 < part <= 0.01 / 0.1475 + 1e-9
    assert len(contact.crossings((y + part * way)[: len(flat)])) == 0
    assert search.max_step(at, kernel.points(-way)) == 1.0
