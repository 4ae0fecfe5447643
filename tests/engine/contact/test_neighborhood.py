"""Candidates that are kept along one way after another, against searches of their own."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.contact.test_barrier import GAP, sheets
from tests.reference.contact_sets import candidates_of
from weft import kernel
from weft.bodies.shapes.primitives import sphere
from weft.contact.broad_phase import candidate_search as neighborhood
from weft.contact.broad_phase.candidate_search import CandidateCache, find_candidates
from weft.contact.broad_phase.candidates import UNKNOWN
from weft.contact.ccd.conservative_advancement import max_step, max_step_of
from weft.contact.collision_groups import CollisionGroups
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.distance.distance import PairKind, distances_of, separation
from weft.contact.narrow_phase.classify import NarrowPhase

MOST = 1000  # vertices of the meshes


def every_pair(mesh):
    """All pairs of a point and a triangle, and of two edges, that share no vertex."""
    f, e = mesh.faces, mesh.edges
    points = np.repeat(mesh.vertices[:, 0], len(f))
    point = np.column_stack([points, np.tile(f, (len(mesh.vertices), 1))])
    i, j = np.triu_indices(len(e), 1)
    edge = np.column_stack([e[i], e[j]])
    point = point[(point[:, 1:] != point[:, :1]).all(1)]
    edge = edge[(edge[:, :2, None] != edge[:, None, 2:]).all((1, 2))]
    kinds = [PairKind.POINT_TRIANGLE] * len(point) + [PairKind.EDGE_EDGE] * len(edge)
    return np.concatenate([point, edge]).astype(np.int32), np.array(kinds, np.int32)


def named(stencil, points):
    """Pairs as a set of numbers, whichever side of two edges stands first."""
    sides = np.asarray(stencil, np.int64)
    faces = np.column_stack([sides[:points, :1], np.sort(sides[:points, 1:], axis=1)])
    edges = np.sort(np.sort(sides[points:].reshape(-1, 2, 2), axis=2) @ [MOST, 1], axis=1)
    return {*(faces @ MOST ** np.arange(4)).tolist(), *(-1 - edges @ [MOST**2, 1]).tolist()}


class Ways:
    """One way after another: most vertices hardly move, some do, and now and then all do."""

    def __init__(self, seed, gap=0.0):
        self.x, rest, faces = sheets(seed, n=6)
        self.mesh = CollisionMesh(faces, rest, CollisionGroups.one(len(rest)), gap)
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        x, n = self.x, len(self.x)
        for k in range(30):
            d = 2e-3 * self.rng.normal(size=(n, 3))
            few = self.rng.integers(0, n, 3)
            d[few] += 0.06 * self.rng.normal(size=(3, 3))
            if k % 10 == 9:
                d += self.rng.normal(size=3) + 0.05 * self.rng.normal(size=(n, 3))
            yield x, d
            x = x + self.rng.random() * d


@pytest.mark.parametrize("gap", [0.0, 0.15], ids=["", "neighbors"])
@pytest.mark.parametrize("fine", [0.0, np.inf])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_candidates_of_ways_that_stay_near_hold_every_pair_that_comes_near(
    seed, fine, gap, monkeypatch
):
    """Against all pairs there are: none that comes within reach on a way is missing, whether the
    candidates are kept, renewed where something left, or found anew; each stands there once. Boxes
    fly together, or move each along its way and candidates are chosen by their distances. What
    edges connect may have a gap of its own: it is left out where it stays farther than that.
    """
    monkeypatch.setattr(neighborhood, "FINE", fine)
    ways, renewed, reach = Ways(seed, gap), [], gap or GAP
    adjacency = ways.mesh.adjacency if gap else None
    near = CandidateCache(ways.mesh, reach, adjacency and adjacency.closer(reach))
    every, kinds = every_pair(ways.mesh)
    points = int((kinds == PairKind.POINT_TRIANGLE).sum())
    own, known = np.full(len(every), reach), 0
    if gap:
        candidates = candidates_of(every, points)
        less = adjacency.gap_among(candidates, gap)
        own = np.where(kernel.numpy(candidates.adjacent) == 1, less, gap)
    renew = near._renew_candidates
    near._renew_candidates = lambda found: renewed.append(1) or renew(found)
    for x, d in ways:
        found = near.along(kernel.points(x), kernel.points(x + d))
        listed = named(found.pairs, found.points)
        assert len(listed) == len(found)
        for part in (0.0, 0.3, 0.7, 1.0):
            close = distances_of(x + part * d, every, kinds) < own
            assert named(every[close], int(close[:points].sum())) <= listed
        if gap:
            if found.adjacent is not None:  # kept and taken anew: the same as for all
                anew = adjacency.find_adjacent(candidates_of(found.pairs, found.points))
                np.testing.assert_array_equal(kernel.numpy(found.adjacent), kernel.numpy(anew))
                known += 1
            adjacency.gap_among(found, gap)
    assert 10 < len(renewed) < 29  # most ways are served by looking around what left
    assert known > 2 or not gap


def test_bounds_of_distances_never_exceed_them():
    """After each narrow phase, at later points: bound - approach <= distance; and what a fresh
    search finds in contact is what is found with bounds.
    """
    ways = Ways(7)
    near, narrow = CandidateCache(ways.mesh, GAP), NarrowPhase(ways.mesh)
    known = 0
    for x, d in ways:
        y, end = kernel.points(x), kernel.points(x + d)
        found = near.along(y, end)
        about = (separation(gap=GAP), near.since, kernel.empty(1))
        with_bounds = max_step_of(y, kernel.points(d), found, *about)
        assert with_bounds >= max_step(y, kernel.points(d), found) - 1e-12
        found = near.along(end, end)
        kept = ways.mesh.separation(found, GAP, 1.0)
        contacts = narrow.contacts(end, found, kept, near.since)
        anew = NarrowPhase(ways.mesh).contacts(end, find_candidates(ways.mesh, end, GAP), kept)
        assert {tuple(sorted(set(p))) for p in contacts.stencil.tolist()} == {
            tuple(sorted(set(p))) for p in anew.stencil.tolist()
        }
        bound, kinds = kernel.numpy(found.bound), kernel.numpy(found.device[1])
        known += int((bound > UNKNOWN).sum())
        shift = (x + d - kernel.numpy(near.since.motion.origin))[found.pairs]
        shift = np.linalg.norm(shift - shift.mean(1, keepdims=True), axis=2)
        pair = np.where(
            kinds == PairKind.POINT_TRIANGLE,
            shift[:, 0] + shift[:, 1:].max(1),
            shift[:, :2].max(1) + shift[:, 2:].max(1),
        )
        distance = distances_of(x + d, found.pairs, kinds)
        assert (bound - pair <= distance + 1e-12).all()
    assert known > 1000


def test_edges_of_bodies_are_found_by_those_of_cloth():
    """Prescribed edges do not ask, at the end or before free ones: no pair is lost by that."""
    cloth, ball = weft.sheet(8, 8, width=0.2, height=0.2), sphere(0.05, 0.02)
    n = cloth.n_vertices
    x = np.concatenate([cloth.vertices, ball.vertices])
    faces = np.concatenate([cloth.faces, ball.faces + n])
    sides = dataclasses.replace(CollisionGroups.one(len(x)), first_body=n)
    mesh = CollisionMesh(faces, x, sides)
    for fixed in ([], [0, 1, 2, 8, 9], range(n - 9, n)):
        held = np.zeros(n, dtype=bool)
        held[list(fixed)] = True
        out = mesh.excluded(held)
        assert 0 < out.free <= (mesh.edges[:, 0] < n).sum() < len(mesh.edges)
        every = find_candidates(mesh, x, 0.03, None, dataclasses.replace(out, free=None))
        few = find_candidates(mesh, x, 0.03, None, out)
        assert len(few) > 500
        assert np.array_equal(few.pairs, every.pairs)
