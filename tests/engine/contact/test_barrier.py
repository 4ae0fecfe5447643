"""Distances, barrier and continuous collision detection against ipctk and against differences."""

from dataclasses import replace

import ipctk
import numpy as np
import pytest

from tests.checks import clamp, dense, scatter
from tests.reference.contact_sets import (
    candidates_of,
    contact_set,
    distances,
    energies,
    step_lengths,
)
from weft import kernel
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.broad_phase.candidates import UNKNOWN, Candidates
from weft.contact.ccd.conservative_advancement import FRACTION, max_step, max_step_of
from weft.contact.collision_groups import CollisionGroups
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.distance.distance import PairKind, closest_of, separation
from weft.contact.narrow_phase.classify import contacts as contacts_of
from weft.contact.narrow_phase.distance_bounds import DisplacementBound
from weft.discretization.mesh import grid
from weft.kernel import Scalar
from weft.kernel.granularity import WORD
from weft.laws import Psd

GAP = 0.08


def layers(mesh, one, other):
    """Positions, rest positions and faces of two layers of a mesh."""
    flat = np.array(mesh.vertices)
    faces = np.concatenate([mesh.faces, mesh.faces + len(flat)])
    return np.concatenate([flat + one, flat + other]), np.concatenate([flat, flat]), faces


def sheets(seed, n=7, apart=0.05, noise=0.01):
    """Two crumpled sheets near each other."""
    rng = np.random.default_rng(seed)
    mesh = grid(n, n, 1, 1, "random", seed)
    one, other = noise * rng.normal(size=(2, n * n, 3))
    return layers(mesh, one, other + [0.03, apart, 0.02])


def parallel(*shift):
    """Two flat grids above each other: all edges are parallel to many."""
    return layers(grid(6, 6, 1, 1), 0.0, shift)


SCENES = {
    "crumpled": sheets(3),
    "close": sheets(5, apart=0.03, noise=0.003),
    "parallel": parallel(0.013, 0.04, 0.007),
    "aligned": parallel(0.0, 0.04, 0.0),
}


def contacts(x, X, faces, thickness=0.0):
    mesh = CollisionMesh(faces, X, CollisionGroups.one(len(X), thickness))
    return contacts_of(mesh, x, find_candidates(mesh, x, GAP + thickness), 3.0, GAP)


@pytest.mark.parametrize("thickness", [0.0, 0.013])
@pytest.mark.parametrize("scene", SCENES)
def test_energy_gradient_and_hessian_are_ipctk_s(scene, thickness):
    x, X, faces = SCENES[scene]
    mesh = ipctk.CollisionMesh(X, ipctk.edges(faces), faces)
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
            distance, w = closest_of(corners.reshape(-1, 3), stencil, np.full(n, kind))
            expected = np.sqrt([function(*p) for p in corners])
            np.testing.assert_allclose(distance, expected, atol=1e-7)
            vector = np.einsum("ma,mai->mi", w, corners)
            np.testing.assert_allclose(np.linalg.norm(vector, axis=1), distance, atol=1e-12)
            np.testing.assert_allclose(w.sum(1), 0, atol=1e-12)


def test_a_triangle_without_area_is_its_nearest_edge():
    x = np.array([[0.3, 1, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0.0]])
    distance, _ = closest_of(x, np.array([[0, 1, 2, 3]]), np.array([PairKind.POINT_TRIANGLE]))
    assert distance[0] == pytest.approx(1.0)


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


@pytest.mark.parametrize("scene", ["sheets", "parallel", "aligned"])
def test_projected_hessian(scene):
    """Positive semi-definite; never softer than the exact Hessian but for a few per cent of pairs
    of nearly parallel edges; near the clamp of the exact one.
    """
    x, X, faces = sheets(3) if scene == "sheets" else SCENES[scene]
    set_ = contacts(x, X, faces)
    exact, projected, gauss_newton = (
        set_.hessian(x, psd).transpose(0, 1, 3, 2, 4).reshape(-1, 12, 12) for psd in Psd
    )
    scale = np.abs(exact).max()
    for H in (projected, gauss_newton):
        assert np.linalg.eigvalsh(H).min() > -1e-12 * scale
    smooth = set_.parameters["parallel"] == 0
    assert smooth.any() and not smooth.all()
    for softer in (exact, gauss_newton):
        assert np.linalg.eigvalsh((projected - softer)[smooth]).min() > -1e-11 * scale
    size = np.linalg.norm(exact, axis=(1, 2))
    softer = np.linalg.eigvalsh(projected - exact)[:, 0] / np.maximum(size, 1e-12 * scale)
    assert softer.min() > -0.03
    clamped = clamp(exact)
    off = np.linalg.norm(projected - clamped, axis=(1, 2)) / np.linalg.norm(clamped, axis=(1, 2))
    assert np.nanmedian(off[smooth]) < 0.05 and np.nanmedian(off[~smooth]) < 0.05


def test_energy_is_continuous_if_thickness_varies_within_faces(rng):
    """Along a line, against the gradient: pairs that reduce to fewer vertices keep the thickness
    of their faces and edges.
    """
    x, X, faces = SCENES["close"]
    groups = replace(CollisionGroups.one(len(X)), thickness=rng.choice([0.0, 0.01], len(X)))
    mesh, d, step = CollisionMesh(faces, X, groups), rng.normal(size=x.shape), 2e-5

    def found(a):
        y = x + a * d
        return contacts_of(mesh, y, find_candidates(mesh, y, GAP + 0.01), 3.0, GAP), y

    ends = [energies(*found(k * step)).sum() for k in range(101)]
    slopes = [np.vdot(scatter(*found((k + 0.5) * step)), d) for k in range(100)]
    jumps = np.diff(ends) - step * np.array(slopes)
    assert np.abs(jumps).max() < 1e-3 * np.abs(np.diff(ends)).max()


def test_energy_is_infinite_at_the_thickness_and_zero_at_the_gap():
    pair = contact_set(np.array([[0, 1, 2, 3]]), np.array([0]), 1.0, 0.05, 0.01)
    face, values = [[0, 0, 0], [0, 0, 1.0], [1, 0, 0]], []
    for height in (0.01, 0.0101, 0.05, 0.061, 0.1):
        values.append(float(energies(pair, np.array([[0.2, height, 0.2], *face]))[0]))
    assert values == sorted(values, reverse=True) and values[2] > 0
    assert values[0] == np.inf > values[1] and values[3:] == [0, 0]
    for height in (0.01, 0.005):  # forces point outwards there, and are numbers
        g = scatter(pair, np.array([[0.2, height, 0.2], *face]))
        assert np.isfinite(g).all() and g[0, 1] < 0


def test_edges_that_are_no_longer_parallel_have_no_mollifier():
    """Those of a set that was found where they were."""
    x = np.array([[-1, 0, 0], [1, 0, 0], [0, 0.03, -1], [0, 0.03, 1.0]])
    kept, plain = (
        contact_set(np.array([[0, 1, 2, 3]]), np.array([1]), 1.0, 0.05, parallel=threshold)
        for threshold in (1e-3, 0.0)
    )
    np.testing.assert_array_equal(scatter(kept, x), scatter(plain, x))


def test_distances_of_cores_are_those_of_their_surfaces():
    x = np.array([[0.2, 0.5, 0.2], [0, 0, 0], [0, 0, 1.0], [1, 0, 0]])
    pair = contact_set(np.array([[0, 1, 2, 3]]), np.array([0]), 1.0, 0.05)
    y, radius = kernel.points(x), kernel.array(np.array([0.1, 0.2, 0.2, 0.2]), Scalar)
    assert kernel.numpy(pair.distances(y))[0] == pytest.approx(0.5)
    assert kernel.numpy(pair.distances(y, radius))[0] == pytest.approx(0.2)


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
    mesh = ipctk.CollisionMesh(X, ipctk.edges(faces), faces)
    assert ipctk.is_step_collision_free(mesh, x, x + t * dx, thickness)
    theirs = ipctk.Candidates()
    theirs.build(mesh, x, x + dx, thickness / 2, ipctk.BruteForce())
    tight = theirs.compute_collision_free_stepsize(mesh, x, x + dx, thickness)
    assert t <= tight * (1 + 1e-9)
    assert t > 0.5 * tight
    before = candidates.distances(x).min() - thickness
    after = candidates.distances(x + t * dx).min() - thickness
    assert after >= 0.999 * FRACTION * before


@pytest.mark.parametrize("way", [[0, -3, 0], [4, -3, 0]], ids=["straight", "oblique"])
def test_ccd_goes_until_a_part_of_the_room_is_left(way):
    """In one advance towards a face, or in many along it; the pair need not be the first."""
    face = [[-50, 0, -50], [50, 0, -50], [0, 0, 50]]
    x = np.array([[0, 0.1, 0], *face, [0, 40, 0]], float)
    dx = np.array([way, *np.zeros((4, 3))], float)
    pairs = candidates_of([[4, 1, 2, 3], [0, 1, 2, 3], [4, 1, 2, 3]], 3)
    part = (1 - FRACTION) * 0.1 / 3
    assert part * (1 - 2e-4) < max_step(x, dx, pairs) <= part * (1 + 1e-12)


def test_ccd_follows_no_pairs_beyond_its_list():
    """Of a list that is the beginning of an array and ends within a word."""
    x = np.array([[0, 0.1, 0], [-1, 0, -1], [1, 0, -1], [0, 0, 1], [0, 40, 0]])
    dx = np.array([[0, -3.0, 0], *np.zeros((4, 3))])
    stencil, n = np.array([[4, 1, 2, 3]] * (WORD + 8) + [[0, 1, 2, 3]] * (WORD - 8)), WORD + 8
    whole, bounds = candidates_of(stencil, len(stencil)), kernel.empty(len(stencil))
    bounds.fill_(UNKNOWN)
    y, end, dy = kernel.points(x), kernel.points(x + dx), kernel.points(dx)
    about = separation(), DisplacementBound.at(y, end), kernel.empty(1)
    assert max_step_of(y, dy, whole, *about) < 0.1
    part = Candidates(whole.stencil[:n], whole.points, bounds[:n])
    assert max_step_of(y, dy, part, *about) == 1.0


def test_ccd_of_common_and_of_separating_motion():
    x, X, faces = sheets(2)
    surface, shift = CollisionMesh(faces, X), np.broadcast_to([5.0, -3.0, 1.0], x.shape)
    apart = np.where(np.arange(len(x))[:, None] < len(x) // 2, [0, -1.0, 0], [0, 1.0, 0])
    for way in (shift, apart):
        assert max_step(x, way, find_candidates(surface, x, 0.0, x + way)) == 1.0


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
