"""Meshes that never meet, searched together: each has its own pairs, in the order that they have
alone.
"""

import dataclasses

import numpy as np
import pytest

import weft
from weft import kernel
from weft.contact import sphere
from weft.contact.broad_phase.aabb import MovingPoints
from weft.contact.broad_phase.candidate_search import Trees, find_candidates
from weft.contact.collision_groups import CollisionGroups
from weft.contact.collision_mesh import CollisionMesh, MeshesSideBySide
from weft.contact.exact.intersection_check import IntersectionCheck
from weft.contact.narrow_phase.adjacent_pairs import AdjacentPairGap

GAP = 0.03


def crumpled(rng, n, ball, sewn=False):
    """A small sheet at the place of all others, beside a ball, with adjacent pairs."""
    cloth = weft.sheet(n, n, width=0.2, height=0.2)
    rest, faces = cloth.vertices, cloth.faces
    if ball:
        body = sphere(0.05, 0.02)
        rest = np.concatenate([rest, body.vertices])
        faces = np.concatenate([faces, body.faces + cloth.n_vertices])
    same = np.arange(len(rest), dtype=np.int32)
    same[1] = 0
    groups = dataclasses.replace(
        CollisionGroups.one(len(rest)), first_body=cloth.n_vertices, sewn=same if sewn else None
    )
    mesh = CollisionMesh(faces, rest, groups, GAP)
    x = 0.4 * rest + rng.normal(scale=4e-3, size=rest.shape)
    return mesh, x, x + rng.normal(scale=2e-2, size=x.shape)


@pytest.mark.parametrize("sewn", [False, True])
@pytest.mark.parametrize("moves", [False, True])
def test_each_mesh_has_its_own_pairs_in_their_order(rng, moves, sewn):
    """Meshes and bodies differ, one has no body; some vertices are pinned in one of them."""
    parts = [crumpled(rng, 7, True), crumpled(rng, 9, False), crumpled(rng, 5, True, sewn)]
    meshes, starts, ends = zip(*parts)
    both = MeshesSideBySide(meshes)
    out = [m.excluded_without_pins for m in meshes]
    out[1] = meshes[1].excluded(np.arange(81) < 20)
    places = MovingPoints.of(np.concatenate(starts), np.concatenate(ends) if moves else None)
    closer = AdjacentPairGap(both.adjacency, 0.01)
    trees = Trees()
    for _ in range(2):  # the second time in the same trees
        about = (None, both.excluded(out), trees, closer, True)
        found = find_candidates(both, places, GAP, *about)
    pairs, first = found.pairs, 0
    for mesh, x, end, excluded in zip(meshes, starts, ends, out):
        own = AdjacentPairGap(mesh.adjacency, 0.01)
        alone = find_candidates(mesh, x, GAP, end if moves else None, excluded, None, own, True)
        mine = (pairs[:, 0] >= first) & (pairs[:, 0] < first + len(x))
        assert len(alone) > 100
        assert np.array_equal(pairs[mine] - first, alone.pairs)
        assert mine[: found.points].sum() == alone.points
        first += len(x)


def test_intersections_are_those_of_each_mesh(rng):
    """Meshes lie in the same place, and triangles of two meshes never count."""
    parts = [crumpled(rng, 6, True), crumpled(rng, 8, False)]
    meshes, _, starts = zip(*parts)
    both = MeshesSideBySide(meshes)
    found = IntersectionCheck(both).pairs(
        kernel.points(np.concatenate(starts)),
        both.excluded([m.excluded_without_pins for m in meshes]),
    )
    first, expected = 0, []
    for mesh, x in zip(meshes, starts):
        alone = IntersectionCheck(mesh).pairs(kernel.points(x), mesh.excluded_without_pins)
        assert len(alone) > 0
        expected.append(alone + first)
        first += len(x)
    assert np.array_equal(found, np.concatenate(expected))
