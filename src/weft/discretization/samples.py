"""Quadrature points of the membrane: stencils, gradients of shape functions, and weights.

One table serves triangles (k = 3) and splines (k = 9).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Gradients, Ints, Positions


@dataclass(frozen=True, eq=False)
class Samples:
    """Quadrature points, with F_q = sum_a x[stencil[q,a]] gradient[q,a]^T."""

    stencil: Ints  # (q,k) vertices or control points on which sample q depends
    gradient: Floats  # (q,k,2) [1/m] dN_a/dX
    weight: Floats  # (q,) [m^2] rest area that the sample represents
    n_vertices: int
    value: Floats | None = None  # (q,k) N_a; None: all 1/k, the center of a triangle

    def __post_init__(self) -> None:
        object.__setattr__(self, "stencil", np.ascontiguousarray(self.stencil, dtype=np.int32))
        object.__setattr__(self, "gradient", np.ascontiguousarray(self.gradient, dtype=np.float64))
        object.__setattr__(self, "weight", np.ascontiguousarray(self.weight, dtype=np.float64))

    @staticmethod
    def concatenate(parts: "Sequence[Samples]") -> "Samples":
        """Concatenate samples whose stencils already use common vertex indices."""
        if len(parts) == 1:
            return parts[0]
        stencil, gradient = as_wide([p.stencil for p in parts], [p.gradient for p in parts])
        weight = np.concatenate([p.weight for p in parts])
        _, value = as_wide([p.stencil for p in parts], [p.shares for p in parts])
        return Samples(stencil, gradient, weight, parts[0].n_vertices, value)

    @property
    def shares(self) -> Floats:
        """Return the weights of the vertices in the position of each sample, (q,k)."""
        if self.value is not None:
            return self.value
        return np.full(self.stencil.shape, 1.0 / self.stencil.shape[1])

    def mean(self, values: Floats) -> Floats:
        """Return (q,3) the values at every sample, of values (n,3) at vertices."""
        return np.asarray(np.einsum("qa,qai->qi", self.shares, values[self.stencil]))

    def deformation_gradient(self, x: Positions) -> Gradients:
        """Return the deformation gradient F at every sample, (q,3,2), for positions x (n,3) [m]."""
        F: Gradients = np.einsum("qai,qaj->qij", x[self.stencil], self.gradient)
        return F


def as_wide(stencils: Sequence[Ints], values: Sequence[Floats]) -> tuple[Ints, Floats]:
    """Concatenate stencils of different widths.

    Narrower stencils are padded to the widest: they repeat their last vertex, with zero values.

    Args:
        stencils: (q,k) vertex indices each.
        values: (q,k,...) values for each stencil.
    """
    k = max(s.shape[1] for s in stencils)
    ids = [np.pad(s, ((0, 0), (0, k - s.shape[1])), mode="edge") for s in stencils]
    each = [np.pad(v, ((0, 0), (0, k - v.shape[1]), *[(0, 0)] * (v.ndim - 2))) for v in values]
    return np.concatenate(ids), np.concatenate(each)


def principal_stretches(F: Gradients) -> tuple[Floats, Floats]:
    """Return the largest and the smallest singular value of each F, (n,), for F (n,3,2)."""
    # Eigenvalues of C = F^T F in closed form.
    C = np.einsum("qki,qkj->qij", F, F)
    mean, half = 0.5 * (C[:, 0, 0] + C[:, 1, 1]), 0.5 * (C[:, 0, 0] - C[:, 1, 1])
    radius = np.hypot(half, C[:, 0, 1])
    return np.sqrt(mean + radius), np.sqrt(np.maximum(mean - radius, 0.0))


def stretch_text(high: Floats, low: Floats) -> str:
    """Return text with the median, smallest and largest principal stretch (q,)."""
    median = np.median(high + low) / 2
    return f"median stretch {median:.4g}, from {low.min():.4g} to {high.max():.4g}"
