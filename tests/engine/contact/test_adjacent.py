"""Pairs that edges of the mesh connect meet from a smaller gap on: which, from where, how stiff."""

import numpy as np
import pytest

import weft
from tests.checks import scatter
from tests.engine.contact.builders import parts_of
from tests.engine.contact.test_neighborhood import every_pair
from tests.reference.contact_sets import candidates_of, energies
from tests.stepping import nothing_crosses
from weft import kernel
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.collision_groups import CollisionGroups
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.contact_term import ContactTerm
from weft.contact.distance.distance import PairKind
from weft.contact.narrow_phase.adjacent_pairs import LEAST, PART, Adjacency
from weft.contact.narrow_phase.classify import contacts
from weft.discretization.mesh import grid
from weft.kernel import vec3
from weft.scene.prepare import prepare

EDGE = 5e-3  # [m] of the sheets here
HEIGHT = EDGE / np.sqrt(2)


def crumpled(x, rng):
    """Folded over itself, so that neighbors and others come near, and shaken."""
    out = np.array(x)
    out[:, 0] = np.abs(x[:, 0] - x[:, 0].mean()) * 0.6
    out[:, 1] += 2.5e-3 * (x[:, 0] > x[:, 0].mean())
    return out + 1.2e-3 * rng.normal(size=x.shape)


@pytest.mark.parametrize(("gap", "edges"), [(4e-3, 1), (9e-3, 2), (15e-3, 3)])
@pytest.mark.parametrize("sewn", [False, True])
def test_which_pairs_edges_connect(gap, edges, sewn):
    """Against powers of the mesh's graph; vertices that are sewn together are one."""
    same = None
    if sewn:
        same = np.arange(64, dtype=np.int32)
        same[56:] = same[:8]
    flat = grid(8, 8, 7 * EDGE, 7 * EDGE)
    sides = CollisionGroups.one(64)
    if sewn:
        sides.__dict__["sewn"] = same
    mesh = CollisionMesh(flat.faces, np.array(flat.vertices), sides, gap)
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
def test_fine_cloth_that_is_folded_does_not_pass_through_itself(gap):
    """A strip of edges of 5 mm falls on a thin rod with its whole weight on one fold, and on
    itself; where it lies on the floor it keeps its gap.
    """
    strip = weft.sheet(6, 32, 5 * EDGE, 31 * EDGE, fabric="silk").move((0, 0.06, 0))
    rod = weft.contact.capsule(4e-3, 0.1, 2e-3).move((0, 0.03, 0.02), rotation=(0, 0, 90))
    bodies, contact = [rod, weft.contact.plate(0.4, 0.4)], weft.SelfContact(gap, friction=0.2)
    scene = weft.Scene(strip, bodies=bodies, contact=contact, step=0.01)
    for part in parts_of(scene, 30):
        nothing_crosses(prepare(scene).model, part.state, part.report)
    height = part.state.x[:, 1]
    assert height.min() > 0.2 * gap and height.max() < 0.05
