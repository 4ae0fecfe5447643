"""What lines through middles leave out, against all pairs there are."""

import numpy as np
import pytest

from tests.engine.contact.test_neighborhood import every_pair, named
from tests.reference.contact_sets import candidates_of
from weft import kernel
from weft.contact.broad_phase.aabb import MovingPoints
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.collision_groups import CollisionGroups
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.distance.distance import PairKind, distances_of
from weft.discretization.mesh import grid

REACH = 0.04  # [m]


def soup(rng):
    """Triangles of all sizes and shapes, and a sheet among them."""
    size = 0.01 * 10 ** rng.uniform(0, 1.5, (30, 1, 1))
    loose = rng.uniform(0, 0.4, (30, 1, 3)) + size * rng.normal(size=(30, 3, 3))
    sheet = grid(6, 6, 0.2, 0.2)
    x = np.concatenate([np.array(sheet.vertices) + 0.1, loose.reshape(-1, 3)])
    faces = np.concatenate([sheet.faces, 36 + np.arange(90).reshape(-1, 3)]).astype(np.int32)
    return CollisionMesh(faces, x, CollisionGroups.one(len(x)), gap=REACH), x


@pytest.mark.parametrize("away", [0.0, 100.0, -3e5])
@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_pair_is_left_out_that_comes_within_reach(seed, moves, away):
    """Wherever points are in their boxes, at all times of their ways, and however far from the
    origin; what edges connect has a reach of its own.
    """
    rng = np.random.default_rng(seed)
    mesh, x = soup(rng)
    x = x + away
    half = 0.003 * rng.random(x.shape) * (rng.random((len(x), 1)) < 0.5)
    way = 0.05 * rng.normal(size=x.shape) + rng.normal(size=3) if moves else np.zeros_like(x)
    arrays = (kernel.points(np.ascontiguousarray(a)) for a in (x - half, x + half, way))
    low, high, ways = arrays
    places = MovingPoints(low, high, ways if moves else None)
    closer = mesh.adjacency.closer(REACH)
    assert closer is not None
    found = find_candidates(mesh, places, REACH, closer=closer, lines=True)
    every, kinds = every_pair(mesh)
    points, listed = int((kinds == PairKind.POINT_TRIANGLE).sum()), named(found.pairs, found.points)
    connected = kernel.numpy(mesh.adjacency.find_adjacent(candidates_of(every, points))) != 0
    reach = np.where(connected, REACH - closer.by, REACH)
    close = np.zeros(len(every), dtype=bool)
    for t in np.linspace(0.0, 1.0, 9):
        at = x + t * way + half * rng.choice([-1.0, 0.0, 1.0], x.shape)
        close |= distances_of(at, every, kinds) < reach
    assert close.sum() > 150
    assert named(every[close], int(close[:points].sum())) <= listed
