"""Contacts as data: pairs with their parameters, and the barrier of each as local arrays."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.contact.barrier import (
    PARALLEL_PART,
    Touch,
    barrier_energy,
    barrier_factors,
    barrier_gradient,
    closest_points,
    pair_distances,
)
from weft.contact.distance import vec4
from weft.kernel import WarpArray, vec3
from weft.laws.base import Psd


@dataclass(frozen=True, eq=False)
class ContactSet:
    """Pairs that are closer than their thickness and gap, as data; the barrier of it is an Energy's
    local face (value, gradient, Hessian).
    """

    stencil: Ints  # (m,4) point, triangle; or edge, edge
    touch: "np.ndarray[tuple[int], np.dtype[np.void]]"  # (m,) records of ``Touch``
    name: str = "contact"

    @staticmethod
    def of(
        stencil: Ints,
        kind: Ints,
        stiffness: float | Floats,
        gap: float,
        thickness: float | Floats = 0.0,
        parallel: Floats | float = 0.0,
    ) -> "ContactSet":
        """From pairs.

        Args:
            stencil: (m,4).
            kind: (m,) of ``distance``.
            stiffness: [J/m^4] of all, or (m,).
            gap: [m] dhat.
            thickness: [m] xi of all, or (m,).
            parallel: (m,) [m^4] thresholds of the mollifier (``parallel_threshold``); 0: none.
        """
        dtype = Touch.numpy_dtype()  # type: ignore[attr-defined]
        touch = np.zeros(len(stencil), dtype)
        touch["kind"], touch["parallel"] = kind, parallel
        touch["stiffness"], touch["thickness"], touch["gap"] = stiffness, thickness, gap
        return ContactSet(np.ascontiguousarray(stencil, dtype=np.int32), touch)

    def __len__(self) -> int:
        return len(self.stencil)

    @cached_property
    def device(self) -> tuple[WarpArray, WarpArray]:
        """Stencils and parameters on the device."""
        return kernel.array(self.stencil, wp.int32), kernel.array(self.touch, Touch)

    def distances(self, x: Positions) -> Floats:
        """(m,) [m]."""
        return distances_of(x, self.stencil, self.touch["kind"])

    def value(self, x: Positions) -> Floats:
        """(m,) [J]."""
        out = kernel.empty(len(self))
        kernel.launch(barrier_energy, len(self), kernel.array(x, vec3), *self.device, out)
        return np.array(kernel.numpy(out))

    def gradient(self, x: Positions) -> Floats:
        """(m,4,3) [N]."""
        out = kernel.empty((len(self), 4), vec3)
        kernel.launch(barrier_gradient, len(self), kernel.array(x, vec3), *self.device, out)
        return np.array(kernel.numpy(out))

    def factors(self, x: Positions, psd: Psd = Psd.PROJECTED) -> Floats:
        """(m,3,4,3) f_r; GAUSS_NEWTON has one, the others are zero."""
        out = kernel.zeros((len(self), 3, 4), vec3)
        turn = int(psd != Psd.GAUSS_NEWTON)
        kernel.launch(barrier_factors, len(self), kernel.array(x, vec3), *self.device, turn, out)
        return np.array(kernel.numpy(out))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(m,4,4,3,3) [N/m]."""
        if psd == Psd.EXACT:
            from weft.contact.second_derivatives import barrier_hessian

            y = np.asarray(x, dtype=np.float64)
            points = closest_of(y, self.stencil, self.touch["kind"])
            return barrier_hessian(y[self.stencil], self.touch, points)
        f = self.factors(x, psd)
        return np.asarray(np.einsum("mrai,mrbj->mabij", f, f))


def closest_of(x: Positions, stencil: Ints, kind: Ints) -> tuple[Floats, Floats, Ints, Floats]:
    """Distance (m,), weights (m,4), number of free parameters (m,) and dw (m,2,4) of pairs."""
    m = len(stencil)
    distance, weights = kernel.empty(m), kernel.empty(m, vec4)
    free, dw = kernel.empty(m, wp.int32), kernel.empty((m, 2), vec4)
    pairs = (kernel.array(stencil, wp.int32), kernel.array(np.asarray(kind, np.int32), wp.int32))
    kernel.launch(closest_points, m, kernel.array(x, vec3), *pairs, distance, weights, free, dw)
    return tuple(np.array(kernel.numpy(a)) for a in (distance, weights, free, dw))  # type: ignore[return-value]


def distances_of(x: Positions, stencil: Ints, kind: Ints) -> Floats:
    """Distance (m,) of pairs."""
    out = kernel.empty(len(stencil))
    pairs = (kernel.array(stencil, wp.int32), kernel.array(np.asarray(kind, np.int32), wp.int32))
    kernel.launch(pair_distances, len(stencil), kernel.array(x, vec3), *pairs, out)
    return np.array(kernel.numpy(out))


def parallel_threshold(X: Positions, edge_edge: Ints) -> Floats:
    """(e,) [m^4] C below which edges count as nearly parallel: 1e-3 of their squared rest lengths
    multiplied (Li et al. 2020). X are positions at rest (n,3).
    """
    a, b, c, d = (X[edge_edge[:, i]] for i in range(4))
    return np.asarray(float(PARALLEL_PART) * ((b - a) ** 2).sum(1) * ((d - c) ** 2).sum(1))
