"""Overlap tests of one box with the eight boxes of a leaf, in a few vector instructions.

The boxes of a leaf are stored coordinate by coordinate, eight numbers each, which fit into one or
two registers of a CPU; a leaf with fewer boxes is filled up with empty ones. Results are bit masks.
The tests are native C++, because Warp's compiler does not vectorize a loop over eight boxes, which
takes four times as long.
"""

import warp as wp

from weft.contact.broad_phase.tree_order import LEAF

ROWS = 6  # numbers of a box: lower x, y, z, upper x, y, z
BOX = ROWS * LEAF  # numbers of a leaf
CORNERS = 3 * LEAF  # vertices of a leaf
NONE = -1  # stands for a vertex where a leaf has no primitive

# A moving box is known at the start and at the end of its path. In between it lies inside the
# linear interpolation of both, because vertices move on straight lines. Two boxes that are apart
# along one axis, on the same side, at the start and at the end are therefore apart all the time.
_MET = """
#if defined(__clang__) && !defined(__CUDACC__)
    typedef float eight __attribute__((vector_size(32), aligned(4)));
    typedef bool bits __attribute__((ext_vector_type(8)));
    const eight* p = (const eight*)(boxes.data + 48 * (size_t)leaf);
    auto found = (p[0] <= q[3 * s]) & (p[3] >= q[0]) & (p[1] <= q[4 * s]) & (p[4] >= q[s])
        & (p[2] <= q[5 * s]) & (p[5] >= q[2 * s]);
    if (ends.shape[0]) {
        const eight* e = (const eight*)(ends.data + 48 * (size_t)leaf);
        found = ((p[0] <= q[3 * s]) | (e[0] <= r[3 * s])) & ((p[3] >= q[0]) | (e[3] >= r[0]))
            & ((p[1] <= q[4 * s]) | (e[1] <= r[4 * s])) & ((p[4] >= q[s]) | (e[4] >= r[s]))
            & ((p[2] <= q[5 * s]) | (e[2] <= r[5 * s])) & ((p[5] >= q[2 * s]) | (e[5] >= r[2 * s]));
    }
    return __builtin_bit_cast(unsigned char, __builtin_convertvector(found, bits));
#else
    const float* p = boxes.data + 48 * (size_t)leaf;
    const bool moving = ends.shape[0] > 0;
    const float* e = moving ? ends.data + 48 * (size_t)leaf : p;
    const float* f = moving ? r : q;
    unsigned int out = 0;
    for (int k = 0; k < 8; ++k) {
        bool meets = true;
        for (int c = 0; c < 3; ++c) {
            const int low = k + 8 * c, high = k + 8 * (c + 3);
            meets = meets && (p[low] <= q[(c + 3) * s] || e[low] <= f[(c + 3) * s])
                && (p[high] >= q[c * s] || e[high] >= f[c * s]);
        }
        out |= (unsigned int)meets << k;
    }
    return out;
#endif
"""
_GIVEN = """
    const float q[] = {low[0], low[1], low[2], high[0], high[1], high[2]};
    const float r[] = {last_low[0], last_low[1], last_low[2],
                       last_high[0], last_high[1], last_high[2]};
    const int s = 1;
"""
_STORED = """
    const float* q = others.data + 48 * (size_t)other + number;
    const float* r = ends.shape[0] ? other_ends.data + 48 * (size_t)other + number : q;
    const int s = 8;
"""

# The shrunk box is rounded outwards, so that no pair is lost: a float32 sum has a relative error of
# 6e-8, and four times that is added.
_CLOSER = """
    const float* stored = others.data + 48 * (size_t)other + number;
    const float* last = ends.shape[0] ? other_ends.data + 48 * (size_t)other + number : stored;
    float q[6], r[6];
    const int s = 1;
    auto shrink = [by](const float* in, float* out) {
        for (int k = 0; k < 3; ++k) {
            const float a = in[8 * k], b = in[8 * (k + 3)];
            out[k] = a + by - 2.4e-7f * (wp::abs(a) + by);
            out[k + 3] = b - by + 2.4e-7f * (wp::abs(b) + by);
        }
    };
    shrink(stored, q);
    shrink(last, r);
"""

_BESIDE = """
    const int* q = others.data + 24 * (size_t)other + number;
#if defined(__clang__) && !defined(__CUDACC__)
    typedef int eight __attribute__((vector_size(32), aligned(4)));
    typedef bool bits __attribute__((ext_vector_type(8)));
    const eight* p = (const eight*)(corners.data + 24 * (size_t)leaf);
    eight found = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int c = 0; c < 3; ++c) {
        const int v = q[8 * c];
        if (c > 0 && v == q[8 * (c - 1)])
            continue;  // it has fewer than three
        for (int k = start.data[v]; k < start.data[v + 1]; ++k) {
            const int w = neighbors.data[k];
            found |= (p[0] == w) | (p[1] == w) | (p[2] == w);
        }
    }
    return __builtin_bit_cast(unsigned char, __builtin_convertvector(found != 0, bits));
#else
    const int* p = corners.data + 24 * (size_t)leaf;
    unsigned int out = 0;
    for (int c = 0; c < 3; ++c)
        for (int k = start.data[q[8 * c]]; k < start.data[q[8 * c] + 1]; ++k)
            for (int j = 0; j < 24; ++j)
                if (p[j] == neighbors.data[k])
                    out |= 1u << (j % 8);
    return out;
#endif
"""

_SHARING = """
    const int* q = others.data + 24 * (size_t)other + number;
    const int a = q[0], b = q[8], c = q[16];
#if defined(__clang__) && !defined(__CUDACC__)
    typedef int eight __attribute__((vector_size(32), aligned(4)));
    typedef bool bits __attribute__((ext_vector_type(8)));
    const eight* p = (const eight*)(corners.data + 24 * (size_t)leaf);
    const bits out = __builtin_convertvector(
        (p[0] == a) | (p[0] == b) | (p[0] == c) | (p[1] == a) | (p[1] == b) | (p[1] == c)
        | (p[2] == a) | (p[2] == b) | (p[2] == c), bits);
    return __builtin_bit_cast(unsigned char, out);
#else
    const int* p = corners.data + 24 * (size_t)leaf;
    unsigned int out = 0;
    for (int k = 0; k < 24; ++k)
        if (p[k] == a || p[k] == b || p[k] == c)
            out |= 1u << (k % 8);
    return out;
#endif
"""


@wp.func_native(_GIVEN + _MET)
def overlap_mask_of_box(
    boxes: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    low: wp.vec3f,
    high: wp.vec3f,
    last_low: wp.vec3f,
    last_high: wp.vec3f,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap the box from ``low`` to ``high``, which
    moves to the box from ``last_low`` to ``last_high`` if ``ends`` is not empty.
    """


@wp.func_native(_STORED + _MET)
def overlap_mask(
    boxes: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap box ``number`` of the leaf ``other``.

    If ``ends`` is not empty, boxes move, and overlap only if they do at the same time of their
    paths.
    """


@wp.func_native(_CLOSER + _MET)
def shrunk_overlap_mask(
    boxes: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
    by: wp.float32,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap box ``number`` of the leaf ``other``
    after that is shrunk by ``by`` [m] on every side.
    """


@wp.func_native(_BESIDE)
def beside(
    corners: wp.array(dtype=wp.int32),
    leaf: int,
    others: wp.array(dtype=wp.int32),
    other: int,
    number: int,
    start: wp.array(dtype=wp.int32),
    neighbors: wp.array(dtype=wp.int32),
) -> wp.uint32:
    """Return the bits of the primitives of a leaf that contain a mesh neighbor of a vertex of
    another one.

    The other primitive is number ``number`` of the leaf ``other``. The neighbors of vertex v begin
    at ``neighbors[start[v]]``.
    """


@wp.func_native(_SHARING)
def sharing(
    corners: wp.array(dtype=wp.int32),
    leaf: int,
    others: wp.array(dtype=wp.int32),
    other: int,
    number: int,
) -> wp.uint32:
    """Return the bits of the primitives of a leaf that share a vertex with primitive ``number`` of
    the leaf ``other``.
    """


@wp.func
def box_of(boxes: wp.array(dtype=wp.float32), leaf: int, k: int):
    """Return the lower and upper corner of box k of a leaf."""
    p = BOX * leaf + k
    low = wp.vec3f(boxes[p], boxes[p + LEAF], boxes[p + 2 * LEAF])
    return low, wp.vec3f(boxes[p + 3 * LEAF], boxes[p + 4 * LEAF], boxes[p + 5 * LEAF])


@wp.func
def corners_of(corners: wp.array(dtype=wp.int32), leaf: int, k: int):
    """Return the three vertices of primitive k of a leaf (the last one repeated if it has
    fewer).
    """
    p = CORNERS * leaf + k
    return wp.vec3i(corners[p], corners[p + LEAF], corners[p + 2 * LEAF])


@wp.func
def put_box(boxes: wp.array(dtype=wp.float32), leaf: int, k: int, low: wp.vec3f, high: wp.vec3f):
    """Write box k of a leaf."""
    p = BOX * leaf + k
    for a in range(3):
        boxes[p + LEAF * a] = low[a]
        boxes[p + LEAF * (3 + a)] = high[a]


@wp.func
def united(ids: wp.vec3i, sewn: wp.array(dtype=wp.int32)):
    """Return the numbers of three vertices, equal for vertices that are sewn together."""
    return wp.vec3i(sewn[ids[0]], sewn[ids[1]], sewn[ids[2]])


@wp.func
def shares(a: wp.vec3i, b: wp.vec3i):
    """Return whether two triples of vertices have one in common."""
    if a[0] == b[0] or a[0] == b[1] or a[0] == b[2]:
        return True
    if a[1] == b[0] or a[1] == b[1] or a[1] == b[2]:
        return True
    return a[2] == b[0] or a[2] == b[1] or a[2] == b[2]
