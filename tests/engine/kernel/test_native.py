"""Native functions against plain NumPy: each function of the headers is compared once, here or
where ``ELSEWHERE`` says.
"""

import linecache
from pathlib import Path

import numpy as np
import pytest
import warp as wp

from tests.structs import struct_of
from weft.contact.broad_phase import aabb, candidates, overlap_query
from weft.contact.broad_phase.tree_order import TreeLayout
from weft.contact.distance.distance import Pairs
from weft.contact.narrow_phase import adjacent_pairs, distance_bounds
from weft.kernel.cpu import native_code
from weft.kernel.cpu.native_code import FOLDER, constants, header, native
from weft.solve.sparse import block_arithmetic

HEADERS = sorted(
    p.name for p in FOLDER.glob("*.h") if p.name not in ("types.h", "contact_structs.h")
)
ELSEWHERE = {
    "engine/contact/test_bits.py": (
        "overlap_mask_of_box overlap_mask shrunk_overlap_mask beside sharing mark_unmoved "
        "apart_by_lengths apart_by_places"
    ),
    "test_team.py": "open_and_work open_one_by_one work_along wait_for_others",
    # By what they make: matrices of energies, contact and multigrid, and candidates of contact.
    "engine/energies/test_energies.py": "add_packed add_factor add_full add_sampled add_shared",
    "engine/contact/test_contact.py": "copy_row add_factored add_given",
    "engine/contact/test_neighborhood.py": "are_neighbors note write_noted write_met",
    "engine/solve/test_multigrid.py": (
        "row_times row_times_double clear_blocks add_to_many add_many"
    ),
}
STUBS = {
    "aabb.h": [aabb.write_rounded, aabb.write_leaf],
    "block_arithmetic.h": [block_arithmetic.take_block, block_arithmetic.move_block],
    "compaction.h": [candidates.keep_some],
    "distance_bounds.h": [distance_bounds.lessen],
    "separating_axis.h": [
        overlap_query._edges,
        overlap_query._faces,
        overlap_query._points,
    ],
}
_module = wp.get_module("tests.native")


def _kernel_of(stub):
    """A kernel that calls a native function once, and writes what it returns."""
    names, kind = list(stub.input_types), stub.func.__annotations__.get("return")
    filename = f"<kernel of {stub.key}>"
    parameters = ", ".join(f"{n}: types['{n}']" for n in names)
    call = f"stub({', '.join(names)})"
    lines = [f"def call_{stub.func.__name__}(o: int, {parameters}, returned: result):\n"]
    lines.append(f"    {call}\n" if kind is None else f"    returned[0] = {call}\n")
    linecache.cache[filename] = (len(lines), None, lines, filename)
    scope = {"stub": stub, "types": stub.input_types, "result": wp.array(dtype=kind or int)}
    exec(compile("".join(lines), filename, "exec"), scope)
    return wp.kernel(module=_module)(scope[f"call_{stub.func.__name__}"]), kind


KERNELS = {stub.key: _kernel_of(stub) for stubs in STUBS.values() for stub in stubs}


def call(stub, *arguments):
    """Call a native function; NumPy arrays are shared with it, and changed in place."""
    made, kind = KERNELS[stub.key]
    inputs = []
    for value, (name, of) in zip(arguments, stub.input_types.items(), strict=True):
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous, name
            value = wp.array(value, dtype=of.dtype, ndim=of.ndim, device="cpu", copy=False)
        inputs.append(value)
    out = wp.zeros(1, dtype=kind or int, device="cpu")
    wp.launch(made, 1, inputs=[0, *inputs, out], device="cpu")
    return None if kind is None else out.numpy()[0]


def bits(mask):
    return [k for k in range(32) if int(mask) >> k & 1]


def mask_of(places):
    return int(sum(1 << int(k) for k in places))


def single(a):
    return np.ascontiguousarray(a, dtype=np.float32)


def integers(a):
    return np.ascontiguousarray(a, dtype=np.int32)


def test_every_function_is_compared():
    """The names of its parameters are those of the stub, too."""
    there = {f.name for h in HEADERS for f in header(h).functions.values() if not f.is_helper}
    listed = {name for text in ELSEWHERE.values() for name in text.split()}
    here = Path(__file__).read_text()
    for name, stubs in STUBS.items():
        for stub in stubs:
            plain = stub.func.__name__
            assert here.count(f".{plain}") > 1, f"{plain} is compared with nothing"
            function = "apart_along_line" if name == "separating_axis.h" else plain
            assert tuple(stub.input_types) == header(name).functions[function].names
            listed.add(function)
    assert listed == there


def test_a_header_is_read_as_it_is_written(tmp_path, monkeypatch):
    """Helpers come before the body, comments are left out, and templates get values."""
    (tmp_path / "one.h").write_text(
        """// A header.
#pragma once
#include "types.h"

constexpr int SIZE = 3; // of all

// Not called.
inline int none(int a) {
    return a;
}

// Called by twice.
inline Scalar* once(Scalar* a, int k) {
    return a + k;
}

inline auto twice(Scalar* a) {
    return once(a, 1) + 1;
}

// Return one.
template <int K, typename Real>
Real one(wp::array_t<Scalar> a, int* b) {
    // why
    if (K > 0) {
        return *twice(a.data); // this
    }
    return SIZE;
}
"""
    )
    monkeypatch.setattr(native_code, "FOLDER", tmp_path)
    text = native("one.h", "one", K=2, Real="float")
    assert "none" not in text and "//" not in text and "#" not in text
    parts = [
        "using Scalar = wp::float64;",
        "constexpr int K = 2;",
        "using Real = float;",
        "constexpr int SIZE = 3;",
        "auto once = [=](Scalar* a, int k) -> Scalar* {",
        "auto twice = [=](Scalar* a) {",
        "    if (K > 0) {",
        "    return SIZE;",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert header("one.h").functions["one"].names == ("a", "b")
    assert constants("one.h") == {"SIZE": 3}
    with pytest.raises(TypeError, match="template <int K, typename Real>"):
        native("one.h", "one", K=2)
    with pytest.raises(KeyError):
        native("one.h", "two")
    header.cache_clear()


def test_the_text_is_part_of_the_hash_of_modules():
    """Else a changed header would run as it was compiled before."""
    stub = adjacent_pairs.are_neighbors
    before = stub.native_snippet
    made = wp.get_module("tests.native_hash")

    def hash_of_module():
        made.mark_modified()
        return made.get_module_hash(1)

    @wp.kernel(module=made)
    def use(o: int, a: wp.array(dtype=wp.int32), out: wp.array(dtype=wp.uint32)):
        out[0] = stub(a, a, 0, 0, 0, 0)

    first = hash_of_module()
    try:
        stub.native_snippet = before.replace("out = 0", "out = 1")
        assert stub.native_snippet != before and hash_of_module() != first
    finally:
        stub.native_snippet = before
    assert hash_of_module() == first


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("balls", [False, True])
def test_boxes_of_points(rng, moves, balls):
    """They hold the points, or balls around them, and are larger by a few rounding errors only."""
    n, room = 20, 0.01
    radius = rng.random(n if balls else 0)
    below = rng.normal(size=(n, 3))
    above = below + rng.random((n, 3))
    way = rng.normal(size=(n if moves else 0, 3))
    low, high, middle = (np.zeros((n, 4), np.float32) for _ in range(3))
    for v in range(n):
        out = struct_of(aabb.PointBoxes, low=low, high=high, middle=middle)
        call(aabb.write_rounded, v, below, above, way, radius, room, out)
    along = way if moves else 0.0
    own = radius if balls else np.zeros(n)
    grow = room + own[:, None]
    least, most = below + along - grow, above + along + grow
    assert (low[:, :3] <= least).all() and (high[:, :3] >= most).all()
    np.testing.assert_allclose(low[:, :3], least, atol=5e-7, rtol=3e-7)
    np.testing.assert_allclose(high[:, :3], most, atol=5e-7, rtol=3e-7)
    center, half = (below + above) / 2 + along, np.linalg.norm(above - below, axis=1) / 2
    np.testing.assert_allclose(middle[:, :3], center, rtol=1e-7, atol=1e-7)
    size = half + own + 2e-6 * np.abs(center).max(1)
    assert (middle[:, 3] >= size).all()
    np.testing.assert_allclose(middle[:, 3], size, rtol=1e-6)


@pytest.mark.parametrize("corners", [1, 2, 3])
def test_boxes_of_a_leaf(rng, corners):
    """Those whose bits are set, empty ones behind, and the one around all of them."""
    n, count, leaf, node, first = 15, 6, 1, 2, 3
    low = single(rng.normal(size=(n, 4)))
    high = low + single(rng.random((n, 4)))
    middle = single(rng.random((n, 4)))
    ids = integers(rng.integers(0, n, (12, corners)))
    boxes = single(rng.normal(size=(2, 6, 8)))
    places = np.zeros((2, 3 * corners + 1, 8), np.float32)
    node_low, node_high = np.zeros((3, 3), np.float32), np.zeros((3, 3), np.float32)
    before, some = boxes.copy(), [0, 2, 3, 5, 6, 7]
    layout = struct_of(
        TreeLayout, start=integers([0, first, first + count]), node=integers([0, node])
    )
    points = struct_of(aabb.PointBoxes, low=low, high=high, middle=middle)
    tree = struct_of(aabb.TreeBoxes, layout=layout, ids=ids)
    out = struct_of(
        aabb.Bounds,
        boxes=boxes.reshape(-1),
        places=places.reshape(-1),
        low=node_low,
        high=node_high,
    )
    call(aabb.write_leaf, leaf, mask_of(some), points, tree, out)
    expected = before.copy()
    for k in some:
        v = ids[first + k] if k < count else None
        expected[leaf, :3, k] = np.inf if v is None else low[v, :3].min(0)
        expected[leaf, 3:, k] = -np.inf if v is None else high[v, :3].max(0)
        if v is not None:
            np.testing.assert_array_equal(places[leaf, :-1, k], middle[v, :3].ravel())
            assert places[leaf, -1, k] == middle[v, 3].max()
    np.testing.assert_array_equal(boxes, expected)
    np.testing.assert_array_equal(node_low[node], expected[leaf, :3].min(1))
    np.testing.assert_array_equal(node_high[node], expected[leaf, 3:].max(1))


@pytest.mark.parametrize("marked", [False, True])
def test_candidates_that_are_kept(rng, marked):
    """Points of triangles first, pairs of edges further on, with what is known of them."""
    m, points, first, shift = 40, 20, 5, 3
    stencil, bound = integers(rng.integers(0, 99, (m, 4))), rng.random(m)
    adjacent = rng.integers(0, 2, m if marked else 0).astype(np.uint8)
    for mask in (0xFFFFFFFF, 1, 0x80000000, *rng.integers(0, 2**32, 20)):
        out, bounds = np.full((m, 4), -1, np.int32), np.full(m, -1.0)
        marks = np.full(m if marked else 0, 9, np.uint8)
        pairs = struct_of(Pairs, stencil=stencil, bound=bound, points=points, adjacent=adjacent)
        to = struct_of(Pairs, stencil=out, bound=bounds, adjacent=marks)
        call(candidates.keep_some, pairs, first, int(mask), 2, shift, to)
        expected = np.full((m, 4), -1), np.full(m, -1.0), np.full(m if marked else 0, 9)
        for s, k in enumerate(bits(mask)):
            i = first + k
            row = 2 + s + (shift if i >= points else 0)
            expected[0][row], expected[1][row] = stencil[i], bound[i]
            if marked:
                expected[2][row] = adjacent[i]
        for one, other in zip((out, bounds, marks), expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_bounds_are_lessened(rng):
    """By how much displacements bring both sides of a pair nearer, and a little more."""
    n, m, points = 30, 25, 10
    d, bound = 0.1 * rng.normal(size=(n, 3)), rng.random(m)
    stencil = integers([rng.permutation(n)[:4] for _ in range(m)])
    shift = single(np.column_stack([d, 1.000001 * np.linalg.norm(d, axis=1)]))
    out = bound.copy()
    pairs = struct_of(Pairs, stencil=stencil, points=points, bound=out)
    motion = struct_of(distance_bounds.VertexMotion, shift=shift)
    call(distance_bounds.lessen, pairs, motion, 3, m)
    s = d[stencil]
    size = np.linalg.norm(s - s.mean(1, keepdims=True), axis=2)
    edges = np.arange(m) >= points
    nearer = np.where(
        edges, size[:, :2].max(1) + size[:, 2:].max(1), size[:, 0] + size[:, 1:].max(1)
    )
    np.testing.assert_array_equal(out[:3], bound[:3])
    less = bound[3:] - out[3:]
    assert (less >= nearer[3:]).all()
    np.testing.assert_allclose(less, nearer[3:], atol=3e-6)


def distance_along(theirs, mine, axis):
    """[m] by which primitives (8,k,3) are beyond another one (m,3) along axes (8,3)."""
    size = np.linalg.norm(axis, axis=1)
    low = np.einsum("nki,ni->nk", theirs, axis).min(1)
    return (low - np.einsum("ki,ni->nk", mine, axis).max(1)) / size


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize(
    ("stub", "K", "M"),
    [
        (overlap_query._edges, 2, 2),
        (overlap_query._faces, 3, 1),
        (overlap_query._points, 1, 3),
    ],
)
def test_lines_that_keep_primitives_apart(rng, stub, K, M, moves):
    """Along the line through the centers of both, at the begin and at the end of their ways."""
    wanted, by, seen = 0.05, 0.03, 0
    for _ in range(30):
        x = [rng.normal(size=(2, 8, k, 3)) * 0.1 for k in (K, M)]
        x[0] += 0.2 * rng.normal(size=(8, 1, 3))  # of the leaf
        if not moves:
            x = [a[:1] for a in x]
        radius = [0.01 * rng.random((len(a), 8)) for a in x]
        rows = [
            single(
                np.concatenate([a.transpose(0, 2, 3, 1).reshape(len(a), -1, 8), r[:, None]], axis=1)
            )
            for a, r in zip(x, radius, strict=True)
        ]
        number, nothing = int(rng.integers(8)), np.zeros(0, np.float32)
        ends = [r[1].reshape(-1) if moves else nothing for r in rows]
        arguments = (rows[0][0].reshape(-1), ends[0], 0, rows[1][0].reshape(-1), ends[1], 0)
        found = call(stub, *arguments, number, wp.float32(wanted), wp.float32(by))
        mine = x[1][:, number]
        axis = sum(a.mean(1) - b.mean(0) for a, b in zip(x[0], mine, strict=True))
        room = np.min(
            [
                distance_along(a, b, axis) - r - s[number]
                for a, b, r, s in zip(x[0], mine, *radius, strict=True)
            ],
            axis=0,
        )
        for shift, distance in ((0, wanted), (8, wanted - by)):
            apart = room > distance
            sure = np.abs(room - distance) > 1e-5
            told = np.array([bool(int(found) >> shift + k & 1) for k in range(8)])
            np.testing.assert_array_equal(told[sure], apart[sure])
            assert not (told & ~apart)[room < distance - 1e-12].any()
            seen += int(apart.sum())
    assert 20 < seen < 460


def test_blocks_that_move(rng):
    """To float32 and along a list; who is zero says so, each of the nine numbers counts."""
    values = np.concatenate([np.zeros((1, 3, 3)), np.eye(9).reshape(9, 3, 3)])
    out = single(rng.normal(size=(10, 3, 3)))
    for b in range(10):
        assert bool(call(block_arithmetic.take_block, values, b, out, 9 - b)) == (b > 0)
    np.testing.assert_array_equal(out[::-1], values)
    for b in range(2, 10):
        assert bool(call(block_arithmetic.move_block, out, b, b - 2)) == (b < 9)
    np.testing.assert_array_equal(out[7::-1], values[:8])
