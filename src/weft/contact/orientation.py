"""Exact signs of determinants: on which side of a plane or line a point lies.

A floating point filter (Shewchuk 1997, its first stage) decides almost always; where it cannot, the
same determinant is taken in integers of any size, to which all float64 numbers scale exactly.
"""

from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ints

EPSILON = float(np.finfo(np.float64).eps) / 2
SPACE_BOUND = (7 + 56 * EPSILON) * EPSILON
TINY = 1e-90
PLANE_BOUND = (3 + 16 * EPSILON) * EPSILON


def orient3d(a: Floats, b: Floats, c: Floats, d: Floats) -> Ints:
    """(n,) sign of (a-d).(b-d)x(c-d): 1 where d is below the plane of a, b, c seen from where they
    run counter-clockwise, 0 where the four are coplanar, exactly.
    """
    A, B, C = a - d, b - d, c - d
    det, size = _det3(A, B, C), _det3(np.abs(A), np.abs(B), np.abs(C), permanent=True)
    sign: Ints = np.sign(det).astype(np.int32)
    small = _may_underflow(A) | _may_underflow(B) | _may_underflow(C)
    unsure = np.flatnonzero(((np.abs(det) <= SPACE_BOUND * size) & (size > 0)) | small)
    if len(unsure):
        A, B, C, D = (_integers(p[unsure], (a, b, c, d)) for p in (a, b, c, d))
        sign[unsure] = _signs(_det3(A - D, B - D, C - D))
    return sign


def orient2d(a: Floats, b: Floats, c: Floats) -> Ints:
    """(n,) sign of (b-a)x(c-a) in the plane: 1 where a, b, c run counter-clockwise, exactly."""
    left = (a[:, 0] - c[:, 0]) * (b[:, 1] - c[:, 1])
    right = (a[:, 1] - c[:, 1]) * (b[:, 0] - c[:, 0])
    det, size = left - right, np.abs(left) + np.abs(right)
    sign = np.sign(det).astype(np.int32)
    small = _may_underflow(a - c) | _may_underflow(b - c)
    unsure = np.flatnonzero(((np.abs(det) <= PLANE_BOUND * size) & (size > 0)) | small)
    if len(unsure):
        A, B, C = (_integers(p[unsure], (a, b, c)) for p in (a, b, c))
        A, B = A - C, B - C
        sign[unsure] = _signs(A[:, 0] * B[:, 1] - A[:, 1] * B[:, 0])
    return sign


def _may_underflow(differences: Floats) -> Bools:
    """(n,) rows with a number whose cube may not be a float64."""
    return np.asarray(((np.abs(differences) < TINY) & (differences != 0)).any(1))


def _det3(A: Any, B: Any, C: Any, permanent: bool = False) -> Any:
    """Determinant of rows A, B, C (n,3), or the same sum without minus signs."""
    s = 1 if permanent else -1
    return (
        A[:, 0] * (B[:, 1] * C[:, 2] + s * B[:, 2] * C[:, 1])
        + A[:, 1] * (B[:, 2] * C[:, 0] + s * B[:, 0] * C[:, 2])
        + A[:, 2] * (B[:, 0] * C[:, 1] + s * B[:, 1] * C[:, 0])
    )


def _integers(p: Floats, all_points: tuple[Floats, ...]) -> Any:
    """The numbers times one power of two that makes all of them integers."""
    values = np.concatenate([q.reshape(-1) for q in all_points])
    values = np.abs(values[values != 0])
    if len(values) == 0:
        return np.zeros(p.shape, dtype=object)
    _, exponent = np.frexp(values.min())
    shift = 53 - int(exponent)
    mantissa, exponents = np.frexp(p)
    whole = (mantissa * 2.0**53).astype(np.int64).astype(object)
    return whole * (2 ** (exponents - 53 + shift).astype(object))


def _signs(values: Any) -> Ints:
    return np.array([(v > 0) - (v < 0) for v in values], dtype=np.int32)
