"""Operations on (n,) vec3 arrays whose results do not depend on the number of threads.

Sums run on the host where the device shares its memory, in kernels elsewhere.
"""

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats
from weft.kernel import Scalar, WarpArray, vec3

_module = wp.get_module("weft.vectors")


@wp.kernel(module=_module)
def add_multiple(
    o: int,
    x: wp.array(dtype=vec3),
    a: Scalar,
    d: wp.array(dtype=vec3),
    out: wp.array(dtype=vec3),
):
    """out = x + a d."""
    i = o + wp.tid()
    out[i] = x[i] + a * d[i]


@wp.kernel(module=_module)
def products(o: int, a: wp.array(dtype=vec3), b: wp.array(dtype=vec3), out: wp.array(dtype=Scalar)):
    """out = a . b of every entry."""
    i = o + wp.tid()
    out[i] = wp.dot(a[i], b[i])


@wp.kernel(module=_module)
def negated(o: int, a: wp.array(dtype=vec3)):
    """a = -a."""
    i = o + wp.tid()
    a[i] = -a[i]


@wp.kernel(module=_module)
def differing(
    o: int, a: wp.array(dtype=vec3), b: wp.array(dtype=vec3), out: wp.array(dtype=wp.int32)
):
    """out[0] = 1 where any entry differs."""
    i = o + wp.tid()
    for k in range(3):
        if a[i][k] != b[i][k]:
            out[0] = 1


def combine(x: WarpArray, a: float, d: WarpArray, out: WarpArray) -> None:
    """out = x + a d; out may be x."""
    kernel.launch(add_multiple, x.shape[0], x, a, d, out)


def negate(a: WarpArray) -> None:
    """a = -a."""
    kernel.launch(negated, a.shape[0], a)


def equal(a: WarpArray, b: WarpArray, begin: int = 0, end: int | None = None) -> bool:
    """Whether two arrays of one length hold the same numbers; on the CPU those of a range only."""
    if a.device.is_cpu:
        return bool((kernel.view(a)[begin:end] == kernel.view(b)[begin:end]).all())
    flag = kernel.zeros(1, wp.int32)
    kernel.launch(differing, a.shape[0], a, b, flag)
    return int(kernel.scalar(flag)) == 0


def _products(a: WarpArray, b: WarpArray) -> WarpArray:
    out = kernel.empty(a.shape[0])
    kernel.launch(products, a.shape[0], a, b, out)
    return out


def dot(a: WarpArray, b: WarpArray) -> float:
    """a . b."""
    if a.device.is_cpu:
        return float(np.einsum("ni,ni->", kernel.view(a), kernel.view(b)))
    return kernel.total(_products(a, b))


def norm(a: Floats) -> float:
    """The 2-norm of a host array (n,3).

    Not ``np.linalg.norm``: that calls BLAS, whose idle threads then spin beside those of the direct
    solver (3 ms a call instead of 10 us, and factorizations half as fast).
    """
    return float(np.sqrt(np.einsum("ni,ni->", a, a)))


def max_norm(a: WarpArray) -> float:
    """The largest length of a vector in a; NaN if any component is."""
    if a.shape[0] == 0:
        return 0.0
    if a.device.is_cpu:
        values = kernel.view(a)
        return float(np.sqrt(np.einsum("ni,ni->n", values, values).max()))
    squares = _products(a, a)
    lengths = kernel.total(squares)
    return lengths if lengths != lengths else float(kernel.largest(squares) ** 0.5)


def largest_part(a: WarpArray) -> float:
    """The largest component of a in size, or where sums run on the device the largest length; NaN
    if any component is.
    """
    if a.device.is_cpu and a.shape[0]:
        return float(np.abs(kernel.view(a)).max())
    return max_norm(a)


@wp.kernel(module=_module)
def weighted_squares(
    o: int,
    a: wp.array(dtype=vec3),
    b: wp.array(dtype=vec3),
    weight: wp.array(dtype=Scalar),
    out: wp.array(dtype=Scalar),
):
    """out = w |a - b|^2 of every entry."""
    i = o + wp.tid()
    d = a[i] - b[i]
    out[i] = weight[i] * wp.dot(d, d)


def weighted_distance(a: WarpArray, b: WarpArray, weight: WarpArray, scratch: WarpArray) -> float:
    """The sum of w |a - b|^2; scratch (n,)."""
    kernel.launch(weighted_squares, a.shape[0], a, b, weight, scratch, slice_above=kernel.TRIVIAL)
    return kernel.total(scratch)


@wp.kernel(module=_module)
def mark_longer(o: int, a: wp.array(dtype=vec3), least: Scalar, out: wp.array(dtype=Scalar)):
    """1 for entries longer than ``least``, else 0."""
    i = o + wp.tid()
    out[i] = Scalar(0.0)
    if wp.dot(a[i], a[i]) > least * least:
        out[i] = Scalar(1.0)


def part_above(a: WarpArray, least: float) -> float:
    """Part of the entries that are longer than ``least``."""
    out = kernel.empty(a.shape[0])
    kernel.launch(mark_longer, a.shape[0], a, Scalar(least), out)
    return kernel.total(out) / max(int(a.shape[0]), 1)
