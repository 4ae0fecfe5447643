"""Candidates that are kept along one way after another, against searches of their own."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.contact.test_barrier import GAP, sheets
from weft import kernel
from weft.bodies.shapes.primitives import sphere
from weft.contact.broad_phase import candidate_search as neighborhood
from weft.contact.broad_phase.aabb import MovingPoints
from weft.contact.broad_phase.candidate_search import CandidateCache, find_candidates
from weft.contact.broad_phase.candidates import UNKNOWN
from weft.contact.ccd.conservative_advancement import max_step, max_step_of
from weft.contact.collision_groups import CollisionGroups
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.distance.distance import PairKind, distances_of, separation
from weft.contact.narrow_phase.classify import NarrowPhase
from weft.contact.narrow_phase.distance_bounds import DisplacementBound
from weft.discretization.mesh import grid


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
    """Pairs as a set, whichever side of two edges stands first."""
    out = set()
    for k, row in enumerate(stencil.tolist()):
        ids = (
            (row[0], frozenset(row[1:]))
            if k < points
            else frozenset((tuple(row[:2]), tuple(row[2:])))
        )
        out.add(ids)
    return out


class Ways:
    """One way after another: most vertices hardly move, some do, and now and then all do."""

    def __init__(self, seed):
        x, rest, faces = sheets(seed, n=6)
        self.mesh, self.x, self.rng = (
            CollisionMesh(faces, rest, CollisionGroups.one(len(x))),
            x,
            np.random.default_rng(seed),
        )

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


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_candidates_of_ways_that_stay_near_hold_every_pair_that_comes_near(seed, fine, monkeypatch):
    """Against all pairs there are: none that comes within reach on a way is missing, whether the
    candidates are kept, renewed where something left, or found anew; each stands there once. Boxes
    fly together, or move each along its way and candidates are chosen by their distances.
    """
    monkeypatch.setattr(neighborhood, "FINE", 0.0 if fine else np.inf)
    ways, renewed = Ways(seed), []
    near = CandidateCache(ways.mesh, GAP)
    every, kinds = every_pair(ways.mesh)
    points = int((kinds == PairKind.POINT_TRIANGLE).sum())
    renew = near._renew_candidates
    near._renew_candidates = lambda found: renewed.append(1) or renew(found)
    for x, d in ways:
        found = near.along(kernel.points(x), kernel.points(x + d))
        listed = named(found.pairs, found.points)
        assert len(listed) == len(found)
        for part in (0.0, 0.3, 0.7, 1.0):
            close = distances_of(x + part * d, every, kinds) < GAP
            assert named(every[close], int(close[:points].sum())) <= listed
    assert 10 < len(renewed) < 29  # most ways are served by looking around what left


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


@pytest.mark.parametrize("fine", [False, True])
def test_what_flies_together_is_not_near_all_it_flies_past(fine, monkeypatch):
    """A sheet that falls three times its edges' length in a step has the candidates of one that
    hangs; if boxes held all that cloth flies past, it would have several times as many.
    """
    monkeypatch.setattr(neighborhood, "FINE", 0.0 if fine else np.inf)
    mesh = grid(12, 12, 1, 1)
    x = np.array(mesh.vertices)
    surface = CollisionMesh(mesh.faces, x)
    fall = kernel.points(x - [0.2, 0.3, 0.1])
    y = kernel.points(x)
    still = len(CandidateCache(surface, 1e-3).along(y, y))
    falling = len(CandidateCache(surface, 1e-3).along(y, fall))
    assert falling == still or (fine and falling < still)
    low, high = np.minimum(x, x - [0.2, 0.3, 0.1]), np.maximum(x, x - [0.2, 0.3, 0.1])
    swept = MovingPoints(kernel.points(low), kernel.points(high))
    assert len(find_candidates(surface, swept, 1e-3)) > 5 * max(still, 100)


def test_what_swings_is_not_near_all_it_swings_past(monkeypatch):
    """A sheet that turns about its edge, in one step: boxes that move, each along its way, meet
    no more than those of one that hangs, and less than a fifth of what boxes of whole ways meet.
    """
    mesh = grid(30, 30, 1, 1)
    x = np.array(mesh.vertices)
    surface = CollisionMesh(mesh.faces, x)
    axis = int(np.argmin(np.ptp(x, axis=0)))
    a, b = (axis + 1) % 3, (axis + 2) % 3
    c, s = np.cos(0.6), np.sin(0.6)
    end = x.copy()
    end[:, a], end[:, axis] = c * x[:, a] - s * x[:, axis], s * x[:, a] + c * x[:, axis]
    end[:, b] += 0.3 * x[:, a]
    y, z = kernel.points(x), kernel.points(end)
    monkeypatch.setattr(neighborhood, "FINE", 0.0)
    still = len(CandidateCache(surface, 1e-3).along(y, y))
    assert len(CandidateCache(surface, 1e-3).along(y, z)) < still
    swept = MovingPoints(kernel.points(np.minimum(x, end)), kernel.points(np.maximum(x, end)))
    assert len(find_candidates(surface, swept, 1e-3)) > 5 * still


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


def test_bounds_are_kept_where_they_are_measured_from_anew(rng):
    """Less how much nearer each other the sides of a pair may have come, in every pair of two
    sheets that fly together by far and beside one another by little.
    """
    x, X, faces = sheets(4)
    mesh = CollisionMesh(faces, X)
    found = find_candidates(mesh, x, 0.5)
    kinds = kernel.numpy(found.device[1])
    before = distances_of(x, found.pairs, kinds)
    found.bound.assign(before)
    moved = x + [3.0, -1.0, 2.0] + 0.02 * rng.normal(size=x.shape)
    y, since = kernel.points(moved), DisplacementBound.at(kernel.points(x), kernel.points(x))
    since.measure(y, y)
    since.begin(y, found.struct)
    bound, now = kernel.numpy(found.bound), distances_of(moved, found.pairs, kinds)
    assert len(found) > 100 and (bound <= now + 1e-12).all()
    assert (bound > before - 0.3).all() and (bound < before).all()
    assert kernel.total(since.motion.away) == 0.0
    np.testing.assert_array_equal(kernel.numpy(since.motion.origin), moved)
