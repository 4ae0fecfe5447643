"""Native functions that look at many boxes or candidates at once, against plain NumPy."""

import numpy as np
import pytest
import warp as wp

from tests.engine.contact.test_barrier import sheets
from tests.reference.contact_sets import step_lengths
from tests.structs import struct_of
from weft import kernel
from weft.contact.broad_phase.aabb import (
    beside,
    overlap_mask,
    overlap_mask_of_box,
    sharing,
    shrunk_overlap_mask,
)
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.broad_phase.candidates import UNKNOWN, mark_unmoved
from weft.contact.broad_phase.tree_order import LEAF
from weft.contact.ccd.conservative_advancement import FRACTION
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.detector import ContactDetector
from weft.contact.distance.distance import Pairs, Separation, separation
from weft.contact.narrow_phase.distance_bounds import (
    DisplacementBound,
    VertexMotion,
    apart_by_lengths,
    apart_by_places,
)
from weft.kernel import Scalar, vec3
from weft.kernel.bitmask import mask_below
from weft.kernel.granularity import WORD

_module = wp.get_module("tests.bits")
GAP = 0.03


@wp.kernel(module=_module)
def meet(
    o: int,
    boxes: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    corners: wp.array(dtype=wp.int32),
    start: wp.array(dtype=wp.int32),
    neighbors: wp.array(dtype=wp.int32),
    by: wp.float32,
    out: wp.array2d(dtype=wp.uint32),
):
    """Whom box i of leaf 0 meets in leaf 1, twice, and if boxes are nearer; with whom it shares a
    vertex, and whose neighbor it is.
    """
    i = o + wp.tid()
    low = wp.vec3f(boxes[i], boxes[i + 8], boxes[i + 16])
    high = wp.vec3f(boxes[i + 24], boxes[i + 32], boxes[i + 40])
    last_low = low
    last_high = high
    if ends.shape[0] > 0:
        last_low = wp.vec3f(ends[i], ends[i + 8], ends[i + 16])
        last_high = wp.vec3f(ends[i + 24], ends[i + 32], ends[i + 40])
    out[i, 0] = overlap_mask(boxes, ends, 1, boxes, ends, 0, i)
    out[i, 1] = overlap_mask_of_box(boxes, ends, 1, low, high, last_low, last_high)
    out[i, 2] = sharing(corners, 1, corners, 0, i)
    out[i, 3] = shrunk_overlap_mask(boxes, ends, 1, boxes, ends, 0, i, by)
    out[i, 4] = beside(corners, 1, corners, 0, i, start, neighbors)


@wp.kernel(module=_module)
def ask(
    o: int,
    pairs: Pairs,
    separation: Separation,
    motion: VertexMotion,
    stride: int,
    left: wp.array(dtype=wp.int32),
    out: wp.array2d(dtype=wp.uint32),
):
    w = o + wp.tid()
    first = 32 * w
    count = wp.min(32, (pairs.stencil.shape[0] + stride - 1) / stride - first)
    out[w, 0] = apart_by_lengths(pairs, separation, motion, first, count, stride)
    asked = mask_below(count)
    out[w, 1] = apart_by_places(pairs, separation, motion, first, asked, stride, Scalar(0.5))
    if stride == 1:
        out[w, 2] = mark_unmoved(pairs.stencil, first, count, left)


def eights(low, high):
    """(2,6,8) of boxes (2,m,3), and empty ones after them."""
    out = np.full((2, 6, LEAF), np.inf, dtype=np.float32)
    out[:, 3:] = -np.inf
    out[:, :3, : low.shape[1]] = low.transpose(0, 2, 1)
    out[:, 3:, : low.shape[1]] = high.transpose(0, 2, 1)
    return out


def flags(words, count):
    """Bits of words, one after the other."""
    bits = np.asarray(words)[:, None] >> np.arange(WORD, dtype=np.uint32) & 1
    return bits.reshape(-1)[:count].astype(bool)


@pytest.mark.parametrize("m", [1, 3, LEAF])
@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_eight_boxes_at_once(rng, m, shift):
    """Boxes that touch, boxes that move, leaves that are not full; points, edges and triangles that
    share a vertex, or whose vertices are neighbors. Where boxes are made smaller: never fewer than
    those that are that near in doubles, and hardly more.
    """
    seen = np.zeros(3)
    for trial in range(200):
        low, size = rng.random((2, 2, m, 3)) * [[[[1.0]]], [[[0.5]]]]
        if trial % 2:  # many that touch
            low, size = np.floor(3 * low), np.floor(4 * size)
        boxes = np.array([low + shift, low + size + shift]).astype(np.float32)
        way = (trial % 3 == 0) * rng.normal(size=low.shape)
        last = np.sort(boxes + [way, 2 * way], axis=0).astype(np.float32)
        by = np.float32(0.4 * rng.random())
        corners = np.full((2, 3, LEAF), -1)
        corners[:, :, :m] = rng.integers(0, 30, (2, 3, m))
        if trial % 4:
            corners[:, trial % 4 :] = corners[:, trial % 4 - 1, None]
        linked = np.triu(rng.random((30, 30)) < 0.03, 1)
        linked = linked | linked.T
        start = np.concatenate([[0], np.cumsum(linked.sum(1))])
        out = kernel.empty((LEAF, 5), wp.uint32)
        ends = [kernel.array(eights(*p).reshape(-1), wp.float32) for p in (boxes, last)]
        ends[1] = kernel.empty(0, wp.float32) if trial % 3 else ends[1]
        arrays = [
            kernel.array(np.asarray(a, np.int32).reshape(-1), wp.int32)
            for a in (corners, start, np.nonzero(linked)[1])
        ]
        kernel.launch(meet, m, *ends, *arrays, by, out)
        words = kernel.numpy(out)[:m]
        found = (words[:, :, None] >> np.arange(LEAF, dtype=np.uint32) & 1) == 1
        assert (words[:, :3] < 1 << LEAF).all() and not found[:, :3, m:].any()
        rooms = (
            np.stack([p[0, :, None] - q[1], p[1] - q[0, :, None]])
            for p, q in (boxes.astype(float), last.astype(float))
        )
        room = np.minimum(*rooms).max((0, 3))  # apart where they are so at both ends
        a, b = corners[0, :, :m].T[:, None, :, None], corners[1, :, :m].T[None, :, None]
        exact = [room <= 0, room <= 0, (a == b).any((2, 3)), linked[a, b].any((2, 3))]
        np.testing.assert_array_equal(found[:, [0, 1, 2, 4], :m], np.stack(exact, 1))
        assert (found[:, 3, :m] >= (room + by <= 0)).all()
        assert (found[:, 3, :m] <= (room + by <= 1e-6 * (1 + shift))).all()
        seen += [np.sum(e) for e in exact[1:]]
    assert (seen > 10).all()


def seminorm(d, edges):
    """[m] how much nearer displacements (m,4,3) bring both sides of a pair."""
    size = np.linalg.norm(d - d.mean(1, keepdims=True), axis=2)
    return np.where(edges, size[:, :2].max(1) + size[:, 2:].max(1), size[:, 0] + size[:, 1:].max(1))


@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize(("m", "stride"), [(1, 1), (32, 1), (1000, 1), (1000, 7)])
def test_candidates_known_to_be_apart(rng, m, stride, one):
    """What single precision says is never more than what doubles say, and hardly less; thickness of
    each vertex, or one for all; a gap for all, or a smaller one for some.
    """
    n, points = 40, m // 3
    origin, x, end = (rng.normal(size=(n, 3)) * s for s in (0.15, 0.01, 0.02))
    x, end = origin + x, origin + x + end
    stencil = np.stack([rng.permutation(n)[:4] for _ in range(m)]).astype(np.int32)
    edges = np.arange(m) >= points
    thickness = np.full(1, 0.01) if one else 0.02 * rng.random(n)
    bound = np.where(rng.random(m) < 0.1, UNKNOWN, 0.2 * rng.random(m))
    bound[:: max(m // 5, 1)] = 0.2
    adjacent = rng.integers(0, 2, m if m > 32 else 0).astype(np.uint8)
    left = (rng.random(n) < 0.1).astype(np.int32)
    since = DisplacementBound(n)
    wp.copy(since.motion.origin, kernel.array(origin, vec3))
    since.measure(kernel.array(x, vec3), kernel.array(end, vec3))
    away = np.maximum(*(np.linalg.norm(p - origin, axis=1) for p in (x, end)))
    np.testing.assert_allclose(kernel.numpy(since.motion.away), away, rtol=1e-14)
    asked = -(-m // stride)
    out, bounds = (
        kernel.zeros((-(-asked // WORD), 3), wp.uint32),
        kernel.array(bound.copy(), Scalar),
    )
    pairs = struct_of(Pairs, stencil=stencil, points=points, bound=bounds, adjacent=adjacent)
    kept = separation(kernel.array(0.5 * np.asarray(thickness), Scalar), GAP, 0.3 * GAP)
    about = (pairs, kept, since.motion, stride, kernel.array(left, wp.int32), out)
    kernel.launch(ask, len(out), *about)
    kept = np.full(n, thickness[0]) if one else thickness
    T = kept[stencil]
    sides = T[:, :2].max(1) + T[:, 2:].max(1), T[:, 0] + T[:, 1:].max(1)
    reach = 0.25 * np.where(edges, *sides)
    reach += np.where(adjacent == 1, 0.3 * GAP, GAP) if len(adjacent) else GAP
    far = away[stencil]
    lengths = np.where(edges, far[:, :2].max(1) + far[:, 2:].max(1), far[:, 0] + far[:, 1:].max(1))
    before, ahead = (seminorm(d[stencil], edges) for d in (x - origin, end - x))
    room = separations(x[stencil], edges)
    found = [flags(kernel.numpy(out)[:, k], asked) for k in range(3)]
    np.testing.assert_array_equal(found[0], (bound - lengths > reach)[::stride])
    more, size = 1e-5 * far.max(), 3e-6 * np.abs(x - x[0]).max()
    known, line = bound - before - 0.5 * ahead > reach, room - 0.5 * ahead > reach
    assert (found[1] <= (known | line)[::stride]).all()
    known = bound - before - 0.5 * ahead - more > reach
    line = room - 0.5 * ahead - more - size > reach
    assert (found[1] >= (known | line)[::stride]).all()
    renewed = kernel.numpy(bounds)
    assert (renewed >= bound).all() and (renewed <= np.maximum(bound, room - before)).all()
    if stride == 1:
        changed = renewed > bound
        assert (renewed[changed] >= (room - before - more - size)[changed]).all()
        np.testing.assert_array_equal(found[2], left[stencil].sum(1) == 0)
    if m == 1000:
        assert all(0.05 < f.mean() < 0.95 for f in found[: 3 if stride == 1 else 2])
        assert line.mean() > 0.05 and (renewed > bound).any()


def separations(x, edges):
    """(m,) [m] of pairs (m,4,3) along the line through their middles."""
    one, two, three = (x[:, k] - x[:, 0] for k in (1, 2, 3))
    axis = two + three + np.where(edges[:, None], -one, one)
    p, q, r = ((v * axis).sum(1) / np.linalg.norm(axis, axis=1) for v in (one, two, three))
    least = np.minimum(q, r)
    return np.where(edges, least - np.maximum(p, 0), np.minimum(p, least))


def test_pairs_in_the_way_are_those_that_may_not_go_all_of_it(rng):
    """``ContactDetector.blocking_pairs`` against every pair alone; small steps are free."""
    x, rest, faces = sheets(3, n=6)
    surface = CollisionMesh(faces, rest)
    detector = ContactDetector(surface, 1.0, 0.02)
    for size in (0.05, 0.02, 1e-4):
        dx = size * rng.normal(size=x.shape)
        candidates = find_candidates(surface, x, 0.02, x + dx)
        kept = separation(surface.device_thickness, FRACTION * 0.02)
        expected = candidates.pairs[step_lengths(x, dx, candidates, kept) < 1.0]
        found = detector.blocking_pairs(kernel.points(x), kernel.points(dx)).pairs
        assert sorted(map(tuple, found)) == sorted(map(tuple, expected))
        assert (len(found) > 0) == (size > 1e-3)
