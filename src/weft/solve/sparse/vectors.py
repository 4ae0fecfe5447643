"""Operations on (n,) vec3 arrays whose results do not depend on the number of threads.

Sums run in NumPy if the device is the CPU, else in kernels.
"""

from collections.abc import Sequence

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats
from weft.kernel import IntArray, Reductions, Scalar, ScalarArray, Vec3Array, WarpArray

_module = wp.get_module("weft.vectors")


@wp.kernel(module=_module)
def add_multiple(o: int, x: Vec3Array, a: Scalar, d: Vec3Array, out: Vec3Array):
    """Compute out = x + a d."""
    i = o + wp.tid()
    out[i] = x[i] + a * d[i]


@wp.kernel(module=_module)
def products(o: int, a: Vec3Array, b: Vec3Array, out: ScalarArray):
    """Compute the dot product of corresponding entries, out[i] = a[i].b[i]."""
    i = o + wp.tid()
    out[i] = wp.dot(a[i], b[i])


@wp.kernel(module=_module)
def negate_entries(o: int, a: Vec3Array):
    """Compute a = -a."""
    i = o + wp.tid()
    a[i] = -a[i]


@wp.kernel(module=_module)
def compare_entries(o: int, a: Vec3Array, b: Vec3Array, out: IntArray):
    """Set out[0] = 1 if any entry differs."""
    i = o + wp.tid()
    for k in range(3):
        if a[i][k] != b[i][k]:
            out[0] = 1


def combine(x: WarpArray, a: float, d: WarpArray, out: WarpArray) -> None:
    """Write x + a d into ``out``, which may be x."""
    kernel.launch(add_multiple, x.shape[0], x, a, d, out)


def negate(a: WarpArray) -> None:
    """Negate a in place."""
    kernel.launch(negate_entries, a.shape[0], a)


def equal(a: WarpArray, b: WarpArray, begin: int = 0, end: int | None = None) -> bool:
    """Return whether two arrays of one length are equal.

    On the CPU only the range from ``begin`` to before ``end`` is compared.
    """
    if a.device.is_cpu:
        return bool((kernel.view(a)[begin:end] == kernel.view(b)[begin:end]).all())
    flag = kernel.zeros(1, wp.int32)
    kernel.launch(compare_entries, a.shape[0], a, b, flag)
    return int(kernel.scalar(flag)) == 0


def _products(a: WarpArray, b: WarpArray) -> WarpArray:
    """Return the dot products of corresponding entries."""
    out = kernel.empty(a.shape[0])
    kernel.launch(products, a.shape[0], a, b, out)
    return out


def dot(a: WarpArray, b: WarpArray) -> float:
    """Return the dot product a.b."""
    if a.device.is_cpu:
        return float(np.einsum("ni,ni->", kernel.view(a), kernel.view(b)))
    return kernel.total(_products(a, b))


def norm(a: Floats) -> float:
    """Return the 2-norm of a host array (n,3).

    ``np.linalg.norm`` is not used because it calls BLAS, whose idle threads then spin beside those
    of the direct solver (3 ms a call instead of 10 us, and factorizations half as fast).
    """
    return float(np.sqrt(np.einsum("ni,ni->", a, a)))


def max_norm(a: WarpArray) -> float:
    """Return the largest length of a vector in a; NaN if any component is NaN."""
    if a.shape[0] == 0:
        return 0.0
    if a.device.is_cpu:
        values = kernel.view(a)
        return float(np.sqrt(np.einsum("ni,ni->n", values, values).max()))
    squares = _products(a, a)
    # The maximum of a device array may skip NaN; the sum does not.
    lengths = kernel.total(squares)
    return lengths if lengths != lengths else float(kernel.largest(squares) ** 0.5)


def largest_part(a: WarpArray) -> float:
    """Return the largest absolute component of a; NaN if any component is NaN.

    On devices other than the CPU the result is the largest length instead.
    """
    if a.device.is_cpu and a.shape[0]:
        return float(np.abs(kernel.view(a)).max())
    return max_norm(a)


@wp.kernel(module=_module)
def weighted_squares(o: int, a: Vec3Array, b: Vec3Array, weight: ScalarArray, out: ScalarArray):
    """Compute w |a - b|^2 of every entry."""
    i = o + wp.tid()
    d = a[i] - b[i]
    out[i] = weight[i] * wp.dot(d, d)


def weighted_distances(a: WarpArray, b: WarpArray, weight: WarpArray, out: WarpArray) -> WarpArray:
    """Write w |a - b|^2 of every entry to ``out``, (n,), and return it."""
    kernel.launch(weighted_squares, a.shape[0], a, b, weight, out, work=kernel.TRIVIAL)
    return out


@wp.kernel(module=_module)
def mark_longer(o: int, a: Vec3Array, least: Scalar, out: ScalarArray):
    """Write 1 for entries longer than ``least``, else 0."""
    i = o + wp.tid()
    out[i] = Scalar(0.0)
    if wp.dot(a[i], a[i]) > least * least:
        out[i] = Scalar(1.0)


def size_and_slope(d: WarpArray, g: WarpArray) -> tuple[float, float]:
    """Return the largest length of a vector in d, NaN if any component is NaN, and d.g."""
    if d.device.is_cpu:
        return max_norm(d), dot(g, d)
    numbers, squares = Reductions(), _products(d, d)
    numbers.add_largest(squares)
    numbers.add_sum(squares)
    numbers.add_sum(_products(g, d))
    largest, total, slope = numbers.read()
    # The maximum of a device array may skip NaN; the sum does not.
    return (total if total != total else largest**0.5), slope


def fractions_longer_and_mean_square(
    a: WarpArray, bounds: Sequence[float]
) -> tuple[list[float], float]:
    """Return the fractions of vectors that are longer than each of ``bounds``, and the mean square
    length.
    """
    n, numbers = max(int(a.shape[0]), 1), Reductions()
    for least in bounds:
        out = kernel.empty(a.shape[0])
        kernel.launch(mark_longer, a.shape[0], a, Scalar(least), out)
        numbers.add_sum(out)
    if a.device.is_cpu:
        return [number / n for number in numbers.read()], dot(a, a) / n
    numbers.add_sum(_products(a, a))
    *longer, square = (number / n for number in numbers.read())
    return longer, square
