"""Directions cut vertex by vertex: closed forms for one pair, and what holds for any pair."""

import numpy as np
import pytest

from tests.reference.contact_sets import candidates_of
from weft import kernel
from weft.contact.ccd.planar_truncation import KEEP, cut_ways, least_parts
from weft.contact.distance.distance import PairKind, distances_of, separation
from weft.contact.narrow_phase.distance_bounds import DisplacementBound
from weft.kernel import Scalar, vec3
from weft.kernel.granularity import WORD

FARTHEST = 1e9  # [m] pairs that stay so far apart are left alone: none


def parts(x, d, kind, thickness=0.0, bound=None):
    """(n,) of one pair, or of many (m,4,3) one after another."""
    x, d = np.asarray(x, float).reshape(-1, 3), np.asarray(d, float).reshape(-1, 3)
    m = len(x) // 4
    rows, out = kernel.empty((2, len(x))), kernel.empty(len(x))  # of two slices
    rows.fill_(1.0)
    points = m if kind is PairKind.POINT_TRIANGLE else 0
    pairs = candidates_of(np.arange(4 * m).reshape(m, 4), points)
    kept = separation(kernel.array(np.array([thickness]), Scalar), 1.0, FARTHEST)
    since = DisplacementBound.at(kernel.array(x, vec3), kernel.array(x + d, vec3))
    bound = kernel.empty(0) if bound is None else kernel.array(bound, Scalar)
    about = (bound, pairs.struct, kept, since.motion, WORD, -(-m // (2 * WORD)), rows)
    kernel.launch(cut_ways, 2, kernel.array(x, vec3), kernel.array(d, vec3), *about)
    kernel.launch(least_parts, len(x), rows, out)
    return np.array(kernel.numpy(out))


TRIANGLE = [[-1, 0, -1], [1, 0, -1], [0, 0, 1]]
DOWN, UP, ALONG = [0, -1, 0], [0, 1, 0], [5, 0, 3]
STILL = [[0, 0, 0]] * 3


def above(way, others=STILL, thickness=0.0):
    """(4,) of a point 0.1 over a face."""
    return parts([[0, 0.1, 0], *TRIANGLE], [way, *others], PairKind.POINT_TRIANGLE, thickness)


@pytest.mark.parametrize("thickness", [0.0, 0.04])
def test_a_body_that_stands_still_leaves_all_the_room(thickness):
    """A point 0.1 over a face goes down until KEEP of the room is left; the face is not held."""
    room = (1 - KEEP) * (0.1 - thickness)
    np.testing.assert_allclose(above(DOWN, STILL, thickness), [room, 1, 1, 1], rtol=1e-12)


def test_room_is_shared_as_sides_approach():
    """Ways of 1 and 3 towards each other: a quarter and three quarters of the room."""
    fast, x = [0, 3, 0], [[-1, 0.1, 0], [1, 0.1, 0], [0, 0, -1], [0, 0, 1]]
    edges = parts(x, [DOWN, DOWN, fast, fast], PairKind.EDGE_EDGE)
    for t in (above(DOWN, [fast] * 3), edges):
        np.testing.assert_allclose(t, np.full(4, (1 - KEEP) * 0.1 / 4), rtol=1e-12)


@pytest.mark.parametrize("way", [ALONG, UP, [0, -0.07, 0]])
def test_what_cannot_meet_is_not_cut(way):
    """Along the plane, away from it, or not far enough; the isotropic bound cuts all of these."""
    assert (above(way) == 1).all()
    assert np.linalg.norm(way) > 0.45 * 0.1


@pytest.mark.parametrize("kind", [PairKind.POINT_TRIANGLE, PairKind.EDGE_EDGE])
@pytest.mark.parametrize("free", [False, True])
def test_pairs_keep_their_room_whatever_else_cuts_their_vertices(kind, free, rng):
    """Random pairs, ways and further cuts: no nearer than what is kept, on all the way.

    ``free``: vertices go anywhere within their bounds.
    """
    m, thickness = 2000, 0.05
    x = rng.normal(size=(m, 4, 3))
    stencil, kinds = np.arange(4 * m, dtype=np.int32).reshape(m, 4), np.full(m, int(kind))
    before = distances_of(x.reshape(-1, 3), stencil, kinds)
    wide = before > thickness
    d = rng.normal(size=(m, 4, 3))
    length = np.linalg.norm(d, axis=2)
    t = parts(x, d, kind, thickness, length.ravel() if free else None).reshape(m, 4)
    assert (t < 1).any() and (t >= 0).all() and (t[wide] > 0).all()
    if free:
        turned = rng.normal(size=(m, 4, 3))
        d = turned * (length / np.linalg.norm(turned, axis=2))[..., None]
    kept = thickness + KEEP * (before - thickness)
    for _ in range(20):
        z = x + (t * rng.uniform(size=(m, 4)) ** 0.2)[..., None] * d
        after = distances_of(z.reshape(-1, 3), stencil, kinds)
        assert (after[wide] >= kept[wide] * (1 - 1e-9)).all()
    uncut = distances_of((x + d).reshape(-1, 3), stencil, kinds)
    assert (uncut[wide] < kept[wide]).any()
