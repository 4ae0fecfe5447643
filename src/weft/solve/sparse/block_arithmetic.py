"""Sums over 3x3 blocks with explicit vector instructions.

The compiler does not find these instructions by itself. The nine numbers of a block are read as
they are stored in memory. Eight of them are multiplied at once by the vector, repeated three times,
and added to one of two sums that do not depend on each other. On devices other than the CPU plain
loops add the same numbers.
"""

import warp as wp

from weft.kernel import mat33, vec3

ints = wp.array(dtype=wp.int32)
slots = wp.array(dtype=wp.uint16)
floats = wp.array(dtype=float)
vectors = wp.array(dtype=wp.vec3f)
blocks = wp.array(dtype=wp.mat33f)

_ROW = """
const SCALAR* B = (const SCALAR*)values.data;
const SCALAR* X = (const SCALAR*)x.data;
const int* J = (const int*)column.data;
#if defined(__clang__) && !defined(__CUDA_ARCH__)
typedef SCALAR Four __attribute__((vector_size(4 * sizeof(SCALAR)), aligned(sizeof(SCALAR))));
typedef SCALAR Eight __attribute__((vector_size(8 * sizeof(SCALAR)), aligned(sizeof(SCALAR))));
Eight sum = {0}, other = {0};
SCALAR last = 0, last_other = 0;
int k = first;
for (; k + 1 < end; k += 2) {
    const SCALAR* p = X + 3 * (long long)J[k];
    const SCALAR* q = X + 3 * (long long)J[k + 1];
    const SCALAR* A = B + 9 * (long long)(AT);
    const SCALAR* C = B + 9 * (long long)(NEXT);
    const Four u = {p[0], p[1], p[2], 0}, v = {q[0], q[1], q[2], 0};
    sum += *(const Eight*)A * __builtin_shufflevector(u, u, 0, 1, 2, 0, 1, 2, 0, 1);
    other += *(const Eight*)C * __builtin_shufflevector(v, v, 0, 1, 2, 0, 1, 2, 0, 1);
    last += A[8] * p[2];
    last_other += C[8] * q[2];
}
if (k < end) {
    const SCALAR* p = X + 3 * (long long)J[k];
    const SCALAR* A = B + 9 * (long long)(AT);
    const Four u = {p[0], p[1], p[2], 0};
    sum += *(const Eight*)A * __builtin_shufflevector(u, u, 0, 1, 2, 0, 1, 2, 0, 1);
    last += A[8] * p[2];
}
sum += other;
return wp::vec_t<3, SCALAR>(
    sum[0] + sum[1] + sum[2], sum[3] + sum[4] + sum[5], sum[6] + sum[7] + (last + last_other));
#else
SCALAR y0 = 0, y1 = 0, y2 = 0;
for (int k = first; k < end; k++) {
    const SCALAR* p = X + 3 * (long long)J[k];
    const SCALAR* A = B + 9 * (long long)(AT);
    y0 += A[0] * p[0] + A[1] * p[1] + A[2] * p[2];
    y1 += A[3] * p[0] + A[4] * p[1] + A[5] * p[2];
    y2 += A[6] * p[0] + A[7] * p[1] + A[8] * p[2];
}
return wp::vec_t<3, SCALAR>(y0, y1, y2);
#endif
"""

_in_turn = _ROW.replace("AT", "k").replace("NEXT", "k + 1")
_by_index = _ROW.replace("AT", "((const int*)index.data)[k]").replace(
    "NEXT", "((const int*)index.data)[k + 1]"
)


@wp.func_native(_in_turn.replace("SCALAR", "float"))
def row_times(first: int, end: int, column: ints, values: blocks, x: vectors) -> wp.vec3f:
    """The sum of values[k] x[column[k]], k from ``first`` to before ``end``."""


@wp.func_native(_by_index.replace("SCALAR", "double"))
def row_times_double(
    first: int,
    end: int,
    column: ints,
    index: ints,
    values: wp.array(dtype=mat33),
    x: wp.array(dtype=vec3),
) -> vec3:
    """The sum of values[index[k]] x[column[k]], k from ``first`` to before ``end``."""


@wp.func_native("""
const double* B = (const double*)values.data + 9 * (long long)b;
float* F = (float*)out.data + 9 * (long long)at;
#if defined(__clang__) && !defined(__CUDA_ARCH__)
typedef double Eight __attribute__((vector_size(64), aligned(8), may_alias));
typedef float Single __attribute__((vector_size(32), aligned(4), may_alias));
const Eight part = *(const Eight*)B;
const double last = B[8];
*(Single*)F = __builtin_convertvector(part, Single);
F[8] = (float)last;
return (__builtin_reduce_or(part != 0.0) != 0) | (last != 0.0);
#else
int any = 0;
for (int i = 0; i < 9; i++) {
    any |= B[i] != 0.0;
    F[i] = (float)B[i];
}
return any;
#endif
""")
def take_block(values: wp.array(dtype=mat33), b: int, out: blocks, at: int) -> int:  # type: ignore[empty-body]
    """out[at] = values[b] in float32; 0 where it is a block of zeros."""


@wp.func_native("""
const float* B = (const float*)values.data + 9 * (long long)b;
float* F = (float*)values.data + 9 * (long long)at;
#if defined(__clang__) && !defined(__CUDA_ARCH__)
typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
const Eight part = *(const Eight*)B;
const float last = B[8];
*(Eight*)F = part;
F[8] = last;
return (__builtin_reduce_or(part != 0.0f) != 0) | (last != 0.0f);
#else
int any = 0;
for (int i = 0; i < 9; i++) {
    const float part = B[i];
    any |= part != 0.0f;
    F[i] = part;
}
return any;
#endif
""")
def move_block(values: blocks, b: int, at: int) -> int:  # type: ignore[empty-body]
    """values[at] = values[b], at <= b; 0 where it is a block of zeros."""


@wp.func_native("""
float* F = (float*)values.data + 9 * (long long)first;
const int n = 9 * (end - first);
for (int i = 0; i < n; i++) F[i] = 0.0f;
""")
def clear_blocks(values: blocks, first: int, end: int):
    """values[k] = 0, k from ``first`` to before ``end``."""


_ADD = """
    float* F = (float*)out.data + 9 * (long long)(base + S[p]);
#if defined(__clang__) && !defined(__CUDA_ARCH__)
    *(Eight*)F += w * *(const Eight*)B;
    F[8] += w * B[8];
#else
    for (int i = 0; i < 9; i++) F[i] += w * B[i];
#endif
"""
_EIGHT = """
#if defined(__clang__) && !defined(__CUDA_ARCH__)
typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
#endif
const unsigned short* S = (const unsigned short*)slot.data;
"""


@wp.func_native(f"""{_EIGHT}
const float* W = (const float*)weight.data;
const float* B = (const float*)values.data + 9 * (long long)b;
int p = product;
for (int k = first; k < end; k++, p++) {{
    const float w = W[k];
    {_ADD}
}}
""")
def add_to_many(
    b: int,
    values: blocks,
    first: int,
    end: int,
    weight: floats,
    product: int,
    slot: slots,
    base: int,
    out: blocks,
):
    """Add weight[k] values[b], k from ``first`` to before ``end``, each where its slot says."""


@wp.func_native(f"""{_EIGHT}
int p = product;
for (int k = first; k < end; k++, p++) {{
    const float* B = (const float*)values.data + 9 * (long long)k;
    {_ADD}
}}
""")
def add_many(
    w: float,
    values: blocks,
    first: int,
    end: int,
    product: int,
    slot: slots,
    base: int,
    out: blocks,
):
    """Add w values[k], k from ``first`` to before ``end``, each where its slot says."""
