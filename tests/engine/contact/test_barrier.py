"""Distances, barrier and continuous collision detection against ipctk and against differences."""

import ipctk
import numpy as np
import pytest

from tests.checks import assert_derivative, clamp, dense, rotations, scatter
from tests.reference.barrier import barrier_hessian
from tests.reference.contact_sets import (
    candidates_of,
    contact_set,
    distances,
    energies,
    parallel_threshold,
    step_lengths,
)
from weft import kernel
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.ccd.conservative_advancement import FRACTION, max_step
from weft.contact.collision_groups import CollisionGroups
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.distance.distance import PairKind, closest_of, separation
from weft.contact.narrow_phase.classify import contacts as contacts_of
from weft.discretization.mesh import grid
from weft.laws import Psd

GAP = 0.08


def sheets(seed, n=7, apart=0.05, noise=0.01):
    """Two crumpled sheets near each other: positions, rest positions and faces."""
    rng = np.random.default_rng(seed)
    mesh = grid(n, n, 1, 1, "random", seed)
    flat = np.array(mesh.vertices)
    layers = [flat + noise * rng.normal(size=flat.shape) for _ in range(2)]
    layers[1] += [0.03, apart, 0.02]
    faces = np.concatenate([mesh.faces, mesh.faces + len(flat)])
    return np.concatenate(layers), np.concatenate([flat, flat]), faces


def parallel(shift):
    """Two flat grids above each other: all edges are parallel to many."""
    mesh = grid(6, 6, 1, 1)
    flat = np.array(mesh.vertices)
    faces = np.concatenate([mesh.faces, mesh.faces + len(flat)])
    x = np.concatenate([flat, flat + shift])
    return x, x.copy(), faces


SCENES = {
    "crumpled": sheets(3),
    "close": sheets(5, apart=0.03, noise=0.003),
    "parallel": parallel([0.013, 0.04, 0.007]),
    "aligned": parallel([0.0, 0.04, 0.0]),
}


def oracle(x, X, faces):
    return ipctk.CollisionMesh(X, ipctk.edges(faces), faces)


def contacts(x, X, faces, stiffness=3.0, gap=GAP, thickness=0.0):
    mesh = CollisionMesh(faces, X, CollisionGroups.one(len(X), thickness))
    candidates = find_candidates(mesh, x, gap + thickness)
    return contacts_of(mesh, x, candidates, stiffness, gap)


@pytest.mark.parametrize("thickness", [0.0, 0.013])
@pytest.mark.parametrize("scene", SCENES)
def test_energy_gradient_and_hessian_are_ipctk_s(scene, thickness):
    x, X, faces = SCENES[scene]
    mesh = oracle(x, X, faces)
    collisions = ipctk.NormalCollisions()
    collisions.build(mesh, x, GAP, thickness)
    potential = ipctk.BarrierPotential(GAP, 3.0)
    ours = contacts(x, X, faces, thickness=thickness)
    assert 0 < len(ours) <= len(collisions)
    assert energies(ours, x).sum() == pytest.approx(potential(collisions, mesh, x), rel=1e-12)
    g = scatter(ours, x)
    expected = potential.gradient(collisions, mesh, x).reshape(-1, 3)
    np.testing.assert_allclose(g, expected, atol=1e-10 * np.abs(expected).max())
    if scene == "aligned":
        return  # every pair is on a boundary between two cases, where second derivatives jump
    H = dense(ours, x)
    expected = potential.hessian(collisions, mesh, x).toarray()
    np.testing.assert_allclose(H, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("scene", SCENES)
def test_candidates_contain_ipctk_s(scene):
    """Every pair that ipctk finds near is among ours."""
    x, X, faces = SCENES[scene]
    mesh, surface = oracle(x, X, faces), CollisionMesh(faces, X)
    theirs = ipctk.Candidates()
    theirs.build(mesh, x, GAP / 2, ipctk.BruteForce())
    ours = find_candidates(surface, x, GAP)
    edges, E, F = surface.edges, mesh.edges, mesh.faces
    np.testing.assert_array_equal(np.sort(E, axis=1)[np.lexsort(E.T[::-1])], edges)
    points, pairs = (a.tolist() for a in np.split(ours.pairs, [ours.points]))
    faces_found = {(a, tuple(sorted(f))) for a, *f in points}
    for c in theirs.fv_candidates:
        assert (c.vertex_id, tuple(sorted(F[c.face_id].tolist()))) in faces_found
    found = {frozenset([tuple(sorted(p[:2])), tuple(sorted(p[2:]))]) for p in pairs}
    for c in theirs.ee_candidates:
        pair = [tuple(sorted(E[k].tolist())) for k in (c.edge0_id, c.edge1_id)]
        assert frozenset(pair) in found


def test_distances_of_random_and_degenerate_pairs(rng):
    """All regions, points on edges and vertices, parallel and collinear edges, no area."""
    whole = rng.integers(-2, 3, size=(4000, 4, 3)).astype(float)
    loose = rng.normal(size=(4000, 4, 3))
    for kind, function in (
        (PairKind.POINT_TRIANGLE, ipctk.point_triangle_distance),
        (PairKind.EDGE_EDGE, ipctk.edge_edge_distance),
    ):
        for corners in (loose, whole):
            a, b, c, d = np.moveaxis(corners, 1, 0)
            if kind == PairKind.POINT_TRIANGLE:
                corners = corners[np.cross(c - b, d - b).any(1)]
            else:
                corners = corners[(b != a).any(1) & (d != c).any(1)]
            n = len(corners)
            stencil = np.arange(4 * n).reshape(n, 4)
            distance, w, *_ = closest_of(corners.reshape(-1, 3), stencil, np.full(n, kind))
            expected = np.sqrt([function(*p) for p in corners])
            np.testing.assert_allclose(distance, expected, atol=1e-7)
            vector = np.einsum("ma,mai->mi", w, corners)
            np.testing.assert_allclose(np.linalg.norm(vector, axis=1), distance, atol=1e-12)
            np.testing.assert_allclose(w.sum(1), 0, atol=1e-12)


def test_a_triangle_without_area_is_its_nearest_edge():
    x = np.array([[0.3, 1, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0.0]])
    distance, *_ = closest_of(x, np.array([[0, 1, 2, 3]]), np.array([PairKind.POINT_TRIANGLE]))
    assert distance[0] == pytest.approx(1.0)
    same = np.zeros((4, 3))
    same[0, 1] = 2.0
    assert closest_of(same, np.array([[0, 1, 2, 3]]), np.array([0]))[0][0] == pytest.approx(2.0)


@pytest.mark.parametrize("thickness", [0.0, 0.01])
def test_derivatives(thickness, rng):
    """Of the set at one x, whose pairs do not change along the way."""
    x, X, faces = sheets(3)
    set_ = contacts(x, X, faces, thickness=thickness)
    d = 1e-3 * rng.normal(size=x.shape)
    slope = (scatter(set_, x) * d).sum()
    assert_derivative(lambda y: energies(set_, y).sum(), slope, x, d, 1e-6)
    exact = (dense(set_, x) @ d.reshape(-1)).reshape(-1, 3)
    difference = (scatter(set_, x + 1e-4 * d) - scatter(set_, x - 1e-4 * d)) / 2e-4
    np.testing.assert_allclose(exact, difference, atol=1e-5 * np.abs(exact).max())


@pytest.mark.parametrize("thickness", [0.0, 0.01])
@pytest.mark.parametrize("name", SCENES)
def test_hessians_in_numpy_say_the_same(name, thickness):
    x, X, faces = SCENES[name]
    found = contacts(x, X, faces, thickness=thickness)
    points = closest_of(x, found.stencil, found.parameters["kind"])
    expected = barrier_hessian(x[found.stencil], found.parameters, points)
    got = found.hessian(x)
    size = np.abs(expected).max(axis=(1, 2, 3, 4), keepdims=True)
    assert len(found) > 100 and np.abs((got - expected) / size).max() < 1e-11


@pytest.mark.parametrize("thickness", [0.0, 0.01])
def test_change_of_room(thickness, rng):
    """The largest change of a distance beyond the thickness, against differences."""
    x, X, faces = SCENES["close"]
    found = contacts(x, X, faces, thickness=thickness)
    d, e = rng.normal(size=x.shape), 1e-7
    ahead, behind = (distances(found, x + s * e * d) for s in (1, -1))
    rates = np.abs(ahead - behind) / (2 * e) / (distances(found, x) - thickness)
    assert len(found) > 100
    got = kernel.largest(found.changes_of_room(kernel.points(x), kernel.points(d)))
    assert got == pytest.approx(rates.max(), rel=1e-5)


def test_projected_hessian():
    """Positive semi-definite; equal to the exact one's clamp up to a few per cent; never softer
    than the exact one where the mollifier is 1.
    """
    x, X, faces = sheets(3)
    set_ = contacts(x, X, faces)
    exact, projected, gauss_newton = (
        set_.hessian(x, psd).transpose(0, 1, 3, 2, 4).reshape(-1, 12, 12) for psd in Psd
    )
    scale = np.abs(exact).max()
    for H in (projected, gauss_newton, projected - gauss_newton):
        assert np.linalg.eigvalsh(H).min() > -1e-12 * scale
    smooth = set_.parameters["parallel"] == 0
    assert np.linalg.eigvalsh((projected - exact)[smooth]).min() > -1e-11 * scale
    clamped = clamp(exact)[smooth]
    off = np.linalg.norm(projected[smooth] - clamped, axis=(1, 2))
    assert np.median(off / np.linalg.norm(clamped, axis=(1, 2))) < 0.03


@pytest.mark.parametrize("psd", [Psd.PROJECTED, Psd.EXACT])
def test_hessians_turn_with_the_body(psd):
    x, X, faces = sheets(4)
    R = rotations(1, 8)[0]
    one, two = contacts(x, X, faces), contacts(x @ R.T + [1.0, 2, 3], X, faces)
    a, b = one.hessian(x, psd), two.hessian(x @ R.T + [1.0, 2, 3], psd)
    turned = np.einsum("ij,mabjk,lk->mabil", R, a, R)
    order = [np.lexsort((s.parameters["kind"], *s.stencil.T)) for s in (one, two)]
    np.testing.assert_allclose(turned[order[0]], b[order[1]], atol=1e-8 * np.abs(a).max())


def test_momentum_and_moment_balance():
    x, X, faces = sheets(6)
    set_ = contacts(x, X, faces)
    g = set_.gradient(x)
    np.testing.assert_allclose(g.sum(1), 0, atol=1e-12 * np.abs(g).max())
    moment = np.cross(x[set_.stencil], g).sum(1)
    np.testing.assert_allclose(moment, 0, atol=1e-11 * np.abs(g).max())


def test_energy_is_infinite_at_the_thickness_and_zero_at_the_gap():
    x = np.array([[0.2, 0, 0.2], [0, 0, 0], [0, 0, 1.0], [1, 0, 0]])
    for height, expected in zip((0.01, 0.0101, 0.05, 0.061, 0.1), (np.inf, None, None, 0.0, 0.0)):
        x[0, 1] = height
        set_ = contact_set(np.array([[0, 1, 2, 3]]), np.array([0]), 1.0, 0.05, 0.01)
        value = energies(set_, x)[0]
        assert value == expected if expected is not None else 0 < value < np.inf


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("thickness", [0.0, 0.004])
def test_ccd_never_allows_what_tight_inclusion_forbids(seed, thickness):
    """Random violent steps: no further than ipctk's conservative CCD; clear at the end of it."""
    x, X, faces = sheets(seed, apart=0.06, noise=0.005)
    rng = np.random.default_rng(seed + 100)
    dx = 0.08 * rng.normal(size=x.shape)
    dx[: len(x) // 2, 1] += 0.1
    surface = CollisionMesh(faces, X)
    candidates = find_candidates(surface, x, thickness, x + dx)
    t = max_step(x, dx, candidates, separation(thickness))
    assert 0 < t < 1
    assert t == step_lengths(x, dx, candidates, separation(thickness)).min()
    mesh = oracle(x, X, faces)
    assert ipctk.is_step_collision_free(mesh, x, x + t * dx, thickness)
    theirs = ipctk.Candidates()
    theirs.build(mesh, x, x + dx, thickness / 2, ipctk.BruteForce())
    tight = theirs.compute_collision_free_stepsize(mesh, x, x + dx, thickness)
    assert t <= tight * (1 + 1e-9)
    assert t > 0.5 * tight
    before = candidates.distances(x).min() - thickness
    after = candidates.distances(x + t * dx).min() - thickness
    assert after >= 0.999 * FRACTION * before


def test_ccd_of_common_and_of_separating_motion():
    x, X, faces = sheets(2)
    surface = CollisionMesh(faces, X)
    shift = np.broadcast_to([5.0, -3.0, 1.0], x.shape)
    assert max_step(x, shift, find_candidates(surface, x, 0.0, x + shift)) == 1.0
    apart = np.where(np.arange(len(x))[:, None] < len(x) // 2, [0, -1.0, 0], [0, 1.0, 0])
    assert max_step(x, apart, find_candidates(surface, x, 0.0, x + apart)) == 1.0
    none = candidates_of(np.zeros((0, 4)), 0)
    assert max_step(x, apart, none) == 1.0 and len(none.distances(x)) == 0


def test_ccd_of_a_fast_point():
    """A point that crosses a triangle a thousand times its size away stops just before it."""
    x = np.array([[0.3, 1.0, 0.3], [0, 0, 0], [0, 0, 1.0], [1, 0, 0]])
    dx = np.zeros((4, 3))
    dx[0, 1] = -1000.0
    pair = candidates_of([[0, 1, 2, 3]], 1)
    t = max_step(x, dx, pair)
    assert 0.85 / 1000 < t <= (1 - FRACTION) / 1000 * (1 + 1e-9)


def test_parallel_threshold_is_ipctk_s(rng):
    X = rng.normal(size=(4, 3))
    expected = ipctk.edge_edge_mollifier_threshold(*X)
    assert parallel_threshold(X, np.array([[0, 1, 2, 3]]))[0] == pytest.approx(expected, rel=1e-12)


def test_a_slow_approach_while_sliding_does_not_pass_through():
    """Vertices 4e-11 m from faces that slide a million times as fast as they come nearer: sums of
    that many tiny steps were off by more than the gap, and most of these passed through.
    """
    rng, n = np.random.default_rng(0), 50
    tri = 0.05 * rng.normal(size=(n, 3, 3)) + [0.03, 0.4, 0.01]
    normal = np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    vertex = np.einsum("na,nai->ni", rng.dirichlet([2, 2, 2], n), tri) + 4e-11 * normal
    slide = 1e-5 * rng.normal(size=(n, 3))
    slide -= (slide * normal).sum(1, keepdims=True) * normal
    d = slide[:, None] * rng.normal(size=(n, 3, 1)) + 8e-11 * normal[:, None]
    x = np.concatenate([vertex[:, None], tri], axis=1)
    dx = np.concatenate([np.zeros((n, 1, 3)), d], axis=1)
    pairs = candidates_of(np.arange(4 * n).reshape(n, 4), n)
    part = step_lengths(x.reshape(-1, 3), dx.reshape(-1, 3), pairs)

    def height(y):
        m = np.cross(y[:, 2] - y[:, 1], y[:, 3] - y[:, 1])
        return ((y[:, 0] - y[:, 1]) * m).sum(1) / np.linalg.norm(m, axis=1)

    left = height(x + part[:, None, None] * dx) / height(x)
    assert left.min() > 0.99 * FRACTION and part.min() > 0.2
