"""Exact signs of determinants: on which side of a plane or line a point lies.

A floating point filter (Shewchuk 1997, its first stage) decides nearly always. Where it cannot, the
same determinant is computed in integers of any size (``det3_signs``), to which all float64
numbers scale exactly.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from weft.base.arrays import Bools, Floats, Ints

# Relative bounds of the round-off of a determinant in space and in the plane (Shewchuk 1997).
EPSILON = float(np.finfo(np.float64).eps) / 2
SPACE_BOUND = (7 + 56 * EPSILON) * EPSILON
TINY = 1e-90  # products of three smaller numbers may underflow, where the bounds do not hold
PLANE_BOUND = (3 + 16 * EPSILON) * EPSILON


def orient3d(a: Floats, b: Floats, c: Floats, d: Floats) -> Ints:
    """Return on which side of the plane of a, b, c the point d lies, exactly.

    Args:
        a, b, c, d: (n,3) points.

    Returns:
        (n,) sign of (a-d).(b-d)x(c-d): 1 if d is below the plane, seen from where a, b, c run
        counter-clockwise; 0 if the four points are coplanar.
    """
    A, B, C = a - d, b - d, c - d
    det, size = _det3(A, B, C), _det3(np.abs(A), np.abs(B), np.abs(C), permanent=True)
    sign: Ints = np.sign(det).astype(np.int32)
    small = _may_underflow(A) | _may_underflow(B) | _may_underflow(C)
    unsure = np.flatnonzero(((np.abs(det) <= SPACE_BOUND * size) & (size > 0)) | small)
    if len(unsure):
        points = [p[unsure] for p in (a, b, c, d)]
        # Two equal points make the determinant zero: no integers are needed.
        alike = np.zeros(len(unsure), dtype=bool)
        for i, j in combinations(range(4), 2):
            alike |= (points[i] == points[j]).all(1)
        rest = np.flatnonzero(~alike)
        sign[unsure] = 0
        sign[unsure[rest]] = det3_signs(*(p[rest] for p in points))
    return sign


def orient2d(a: Floats, b: Floats, c: Floats) -> Ints:
    """Return the sign of (b-a)x(c-a) for points (n,2) of a plane, (n,): 1 where a, b, c run
    counter-clockwise, exactly.
    """
    left = (a[:, 0] - c[:, 0]) * (b[:, 1] - c[:, 1])
    right = (a[:, 1] - c[:, 1]) * (b[:, 0] - c[:, 0])
    det, size = left - right, np.abs(left) + np.abs(right)
    sign = np.sign(det).astype(np.int32)
    small = _may_underflow(a - c) | _may_underflow(b - c)
    unsure = np.flatnonzero(((np.abs(det) <= PLANE_BOUND * size) & (size > 0)) | small)
    if len(unsure):
        sign[unsure] = det2_signs(*(p[unsure] for p in (a, b, c)))
    return sign


def det3_signs(a: Floats, b: Floats, c: Floats, d: Floats) -> Ints:
    """Return the signs of (a-d).(b-d)x(c-d), (n,), for points (n,3), in integers."""
    A, B, C, D = _integers([a, b, c, d])
    return _signs(_det3(A - D, B - D, C - D))


def det2_signs(a: Floats, b: Floats, c: Floats) -> Ints:
    """Return the signs of (b-a)x(c-a), (n,), for points (n,2), in integers."""
    A, B, C = _integers([a, b, c])
    p, q = A - C, B - C
    return _signs(p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0])


def _integers(points: Sequence[Floats]) -> Any:
    """Return arrays of points (n,d), times one power of two for each row, as Python's integers.

    A float64 is an integer of 53 bits times a power of two, so this is exact. The numbers of a row
    are relative to its smallest exponent; they have 2100 bits if one is far smaller than another.
    """
    mantissa, exponent = np.frexp(np.asarray(points))
    whole = (mantissa * 2.0**53).astype(np.int64)
    least = np.where(whole == 0, np.iinfo(exponent.dtype).max, exponent).min((0, 2))
    shift = np.where(whole == 0, 0, exponent - least[:, None])
    return whole.astype(object) << shift.astype(object)


def _signs(det: Any) -> Ints:
    """Return the signs of Python's integers (n,)."""
    return np.asarray(det > 0, dtype=np.int32) - np.asarray(det < 0, dtype=np.int32)


def _may_underflow(differences: Floats) -> Bools:
    """Return the rows with a number whose cube may underflow in float64, (n,)."""
    return np.asarray(((np.abs(differences) < TINY) & (differences != 0)).any(1))


def _det3(A: Any, B: Any, C: Any, permanent: bool = False) -> Any:
    """Return the determinant of the rows A, B, C (n,3), or the same sum without minus signs."""
    s = 1 if permanent else -1
    return (
        A[:, 0] * (B[:, 1] * C[:, 2] + s * B[:, 2] * C[:, 1])
        + A[:, 1] * (B[:, 2] * C[:, 0] + s * B[:, 0] * C[:, 2])
        + A[:, 2] * (B[:, 0] * C[:, 1] + s * B[:, 1] * C[:, 0])
    )
