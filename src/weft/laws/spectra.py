"""Closed-form eigensystems of the Baraff-Witkin terms. Kim 2020, section 4 and Appendix B."""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import ArrayArgument, ArrayOf, Floats, Gradients
from weft.base.errors import LawError

UNIT = 1e-6  # tolerance for the length of a unit vector


class Spectrum(NamedTuple):
    """Eigenpairs of a (6,6) Hessian: ``vectors[:, :, i]`` belongs to ``values[:, i]``."""

    values: Floats  # (n,6) [N/m]
    vectors: Floats  # (n,6,6) orthonormal columns


class Eigensystem(NamedTuple):
    """Closed-form spectra of Kim 2020, one per term. Their sum has no closed form."""

    warp: Spectrum
    weft: Spectrum
    shear: Spectrum


# A direction in the material: one for all samples (2,), or one for each (q,2).
Direction = Annotated[ArrayArgument, ArrayOf("numbers", ((2,), (None, 2)))]


def directions(name: str, given: ArrayLike) -> Floats:
    """Return unit directions (2,) or (q,2), normalized to round-off.

    Raises:
        LawError: vectors that are no unit vectors.
    """
    a = np.asarray(given, dtype=np.float64)
    length = np.linalg.norm(a, axis=-1, keepdims=True)
    if np.abs(length - 1).max(initial=0.0) > UNIT:
        worst = a.reshape(-1, 2)[np.argmax(np.abs(length - 1))]
        size = float(np.linalg.norm(worst))
        hint = f"divide by the length: {(worst / size).round(6).tolist()}" if size > 0 else None
        raise LawError(name, got=worst.tolist(), expected="a vector of length 1", hint=hint)
    return np.asarray(a / length)


def fiber_spectrum(F: Gradients, a: Floats, k: float, b: float) -> Spectrum:
    """Return the spectrum of k/2 (|F a| - b)^2. Kim 2020, eqs. 21-24.

    The eigenvalues are k along the fiber, k (1 - b/|F a|) twice across it, and zero three times
    (for the fiber at right angles in the material).

    Args:
        F: (n,3,2) deformation gradients.
        a: (n,2) unit direction of the fiber in the material.
        k: [N/m] stiffness.
        b: [1] rest stretch.
    """
    f = np.einsum("nij,nj->ni", F, a)
    r = np.linalg.norm(f, axis=1)
    across = k * (1 - b / r)
    zero = np.zeros(len(F))
    values = np.stack([np.full(len(F), k), across, across, zero, zero, zero], axis=1)
    other = np.stack([-a[:, 1], a[:, 0]], axis=1)
    base = frame(f / r[:, None])
    vectors = np.concatenate([_outer(base, a), _outer(base, other)], axis=2)
    return Spectrum(values, vectors)


def shear_spectrum(F: Gradients, a: Floats, b: Floats, k: float) -> Spectrum:
    """Return the spectrum of k/2 (I6 - a.b)^2. Kim 2020, eqs. 34-39 and 45-52.

    With c = I6 - a.b the eigenvalues are k times (lambda0, c (a.b+1) twice, lambda3, c (a.b-1)
    twice). In the frame e along a + b, q along a - b of the material the Hessian couples only F e
    and F q: lambda0 and lambda3 are the eigenvalues of [[s^2 |p|^2 + c s, s t |p||m|], [., t^2
    |m|^2 + c t]], s = a.b + 1, t = a.b - 1, p = F e, m = F q.

    Args:
        F: (n,3,2) deformation gradients.
        a: (n,2) unit direction of the warp in the material.
        b: (n,2) unit direction of the weft.
        k: [N/m] stiffness.
    """
    sum_, apart = a + b, a - b
    s, t = 0.5 * (sum_**2).sum(1), -0.5 * (apart**2).sum(1)
    across = np.stack([-apart[:, 1], apart[:, 0]], axis=1)
    e = np.where((s >= -t)[:, None], sum_, across)
    e = e / np.linalg.norm(e, axis=1, keepdims=True)
    q = np.stack([-e[:, 1], e[:, 0]], axis=1)
    p, m = np.einsum("nij,nj->ni", F, e), np.einsum("nij,nj->ni", F, q)
    c = np.einsum("ni,ni->n", np.einsum("nij,nj->ni", F, a), np.einsum("nij,nj->ni", F, b))
    c = c - (a * b).sum(1)
    pl, ml = np.linalg.norm(p, axis=1), np.linalg.norm(m, axis=1)
    x, y, z = s * s * pl * pl + c * s, s * t * pl * ml, t * t * ml * ml + c * t
    angle = 0.5 * np.arctan2(2 * y, x - z)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    mean, radius = (x + z) / 2, np.hypot((x - z) / 2, y)
    values = k * np.stack([mean + radius, c * s, c * s, mean - radius, c * t, c * t], axis=1)
    along_p, along_m = _outer(frame(_unit(p)), e), _outer(frame(_unit(m)), q)
    first = cos * along_p[:, :, 0] + sin * along_m[:, :, 0]
    last = -sin * along_p[:, :, 0] + cos * along_m[:, :, 0]
    vectors = np.stack(
        [first, along_p[:, :, 1], along_p[:, :, 2], last, along_m[:, :, 1], along_m[:, :, 2]],
        axis=2,
    )
    return Spectrum(values, vectors)


def _outer(base: Floats, a: Floats) -> Floats:
    """Return (n,6,3) vec(d a^T) for the columns d of (n,3,3)."""
    return np.concatenate([base * a[:, None, None, 0], base * a[:, None, None, 1]], axis=1)


def _unit(a: Floats) -> Floats:
    """Return unit vectors (n,3); a vector of length zero becomes the x axis."""
    length = np.linalg.norm(a, axis=1, keepdims=True)
    fallback = np.array([1.0, 0.0, 0.0])
    return np.where(length > 0, a / np.where(length > 0, length, 1.0), fallback)


def frame(n: Floats) -> Floats:
    """Return (n,3,3) orthonormal columns, the first along the unit vectors n."""
    axis = np.eye(3)[np.argmin(np.abs(n), axis=1)]
    second = _unit(np.cross(n, axis))
    return np.stack([n, second, np.cross(n, second)], axis=2)
