"""Signs of determinants in integers of any size, many at a time.

A float64 is an integer times a power of two. The numbers of one determinant, times one power of
two, are integers. Here they are rows of limbs of 24 bits in int64, so that the determinants of n
sets of points take a few hundred operations on arrays of length n: about 1 us each, a third of the
time of Python's integers, and no more if one number is far smaller than the others.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from weft.base.arrays import Bools, Floats, Ints

Wide = npt.NDArray[np.int64]

BITS = 24
MASK = (1 << BITS) - 1
WIDTHS = (3, 4, 6, 8, 12, 18, 27, 40, 60, 96)  # numbers of limbs; 96 hold the bits of any float64
ROOM = 1 << 17  # limbs of a block of rows, which bounds the memory


def det3_signs(a: Floats, b: Floats, c: Floats, d: Floats) -> Ints:
    """Return the signs of (a-d).(b-d)x(c-d), (n,), for points (n,3)."""
    return _by_width(np.stack([a, b, c, d], axis=1), _det3)


def det2_signs(a: Floats, b: Floats, c: Floats) -> Ints:
    """Return the signs of (b-a)x(c-a), (n,), for points (n,2)."""
    return _by_width(np.stack([a, b, c], axis=1), _det2)


def _by_width(points: Floats, det: Callable[[Wide], Ints]) -> Ints:
    """Return the signs of the determinants of points (n,k,d), computed in blocks of rows that need
    about as many limbs.
    """
    n = len(points)
    if n == 0:
        return np.zeros(0, dtype=np.int32)
    flat = points.reshape(n, -1)
    mantissa, exponent = np.frexp(flat)
    whole = (mantissa * 2.0**53).astype(np.int64)
    low = exponent.astype(np.int64) - 53 + _trailing(whole)
    nothing = whole == 0
    least = np.where(nothing, 1 << 30, low).min(1)
    most = np.where(nothing, -(1 << 30), exponent).max(1)
    bits = np.maximum(most - least, 1) + 1
    shift = exponent - 53 - least[:, None]
    signs = np.zeros(n, dtype=np.int32)
    first = 0
    for width in WIDTHS:
        rows = np.flatnonzero((bits > first * BITS) & (bits <= width * BITS) & ~nothing.all(1))
        first = width
        block = max(1, ROOM // (width * 24))
        for start in range(0, len(rows), block):
            some = rows[start : start + block]
            limbs = _limbs(whole[some], shift[some], width)
            shaped = limbs.reshape(width, len(some), *points.shape[1:])
            signs[some] = det(shaped)
    return signs


def _trailing(whole: Wide) -> Wide:
    """Return the number of zero bits at the end of integers; 0 for 0."""
    lowest = (whole & -whole).astype(np.float64)
    return np.where(whole == 0, 0, np.frexp(lowest)[1] - 1).astype(np.int64)


def _limbs(whole: Wide, shift: Wide, width: int) -> Wide:
    """Return the limbs of whole * 2^shift, (width, ...), lowest first, each with the sign of the
    number. Shifts below 0 drop zero bits only.
    """
    size = np.abs(whole).astype(np.uint64)
    result = np.empty((width, *whole.shape), dtype=np.int64)
    for k in range(width):
        t = shift - BITS * k
        left = np.clip(t, 0, 63).astype(np.uint64)
        right = np.clip(-t, 0, 63).astype(np.uint64)
        part = np.where(t >= BITS, 0, (size >> right << left) & np.uint64(MASK))
        result[k] = np.where(-t > 63, 0, part).astype(np.int64)
    return np.asarray(result * np.sign(whole))


def _det3(p: Wide) -> Ints:
    """Return the signs of the determinants of limbs (w,n,4,3)."""
    A, B, C = (p[:, :, k] - p[:, :, 3] for k in range(3))
    terms = []
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        minor = _times(B[..., j], C[..., k]) - _times(B[..., k], C[..., j])
        terms.append(_times(_carried(minor), A[..., i]))
    return _sign(terms[0] + terms[1] + terms[2])


def _det2(p: Wide) -> Ints:
    """Return the signs of the determinants of limbs (w,n,3,2)."""
    A, B = p[:, :, 0] - p[:, :, 2], p[:, :, 1] - p[:, :, 2]
    return _sign(_times(A[..., 0], B[..., 1]) - _times(A[..., 1], B[..., 0]))


def _times(a: Wide, b: Wide) -> Wide:
    """Return the products of limbs (u,n) and (v,n), without carrying: |limbs| < 2^25, so the sums
    fit into int64.
    """
    out = np.zeros((len(a) + len(b), a.shape[1]), dtype=np.int64)
    for i in range(len(a)):
        out[i : i + len(b)] += a[i] * b
    return out


def _carried(limbs: Wide) -> Wide:
    """Return the same numbers with limbs from 0 to 2^24 - 1, except the last one, which has the
    sign.
    """
    out = np.empty((len(limbs) + 2, limbs.shape[1]), dtype=np.int64)
    carry = np.zeros(limbs.shape[1], dtype=np.int64)
    for k in range(len(limbs)):
        carry = carry + limbs[k]
        out[k] = carry & MASK
        carry = carry >> BITS
    out[-2] = carry & MASK
    out[-1] = carry >> BITS
    return out


def _sign(limbs: Wide) -> Ints:
    """Return the signs of numbers from their limbs."""
    carried = _carried(limbs)
    negative: Bools = carried[-1] < 0
    return np.where(negative, -1, (carried != 0).any(0).astype(np.int64)).astype(np.int32)
