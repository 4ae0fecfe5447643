"""Contact sets: pairs in contact as data, and the barrier energy of each pair as local arrays."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.contact.barrier.barrier import (
    PARALLEL_PART,
    BarrierParameters,
    barrier_energy,
    barrier_factors,
    barrier_gradient,
    closest_points,
    pair_distances,
    relative_distance_changes,
    set_distances,
)
from weft.contact.barrier.exact_hessian import barrier_hessians
from weft.contact.distance.distance import vec4
from weft.kernel import WarpArray, mat33, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.incidence import Incidence

Records: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.void]]"


@dataclass(frozen=True, eq=False)
class ContactSet:
    """Pairs that are closer than their thickness plus gap, with the parameters of their barrier.

    Its methods evaluate the barrier of each pair: value, gradient and Hessian. Arrays are on the
    device or on the host.
    """

    pairs: WarpArray  # (m,4) int32 vertices, in the order that ``PairKind`` gives
    records: WarpArray  # (m,) ``BarrierParameters`` parameters
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
        """Return a contact set of given pairs.

        Args:
            stencil: (m,4) vertices.
            kind: (m,) of ``PairKind``.
            stiffness: [J/m^4] of all, or (m,).
            gap: [m] dhat.
            thickness: [m] xi of all, or (m,).
            parallel: (m,) [m^4] thresholds of the mollifier (``parallel_threshold``); 0: none.
        """
        dtype = BarrierParameters.numpy_dtype()  # type: ignore[attr-defined]
        touch = np.zeros(len(stencil), dtype)
        touch["kind"], touch["parallel"] = kind, parallel
        touch["stiffness"], touch["thickness"], touch["gap"] = stiffness, thickness, gap
        return ContactSet(np.ascontiguousarray(stencil, dtype=np.int32), touch)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self.pairs.shape[0])

    @cached_property
    def device(self) -> tuple[WarpArray, WarpArray]:
        """Return the vertices (m,4) int32 and the ``BarrierParameters`` (m,) of the pairs, on the
        device.
        """
        if isinstance(self.pairs, wp.array):
            return self.pairs, self.records
        return kernel.array(self.pairs, wp.int32), kernel.array(self.records, BarrierParameters)

    @property
    def stencil(self) -> Ints:
        """Return the vertices of the pairs, (m,4) on the host."""
        return kernel.numpy(self.device[0])

    @property
    def touch(self) -> Records:
        """Return the parameters of the pairs, (m,) records of ``BarrierParameters`` on the host."""
        return kernel.numpy(self.device[1])

    def incidence(self, n: int) -> Incidence:
        """Return the pairs of each of the first n vertices; computed once."""
        if "_incidence" not in self.__dict__:
            self.__dict__["_incidence"] = Incidence.on_device(self.device[0], n)
        found: Incidence = self.__dict__["_incidence"]
        return found

    def distances(self, x: Positions) -> Floats:
        """Return the distance of each pair at x (n,3) [m], (m,) [m]."""
        return distances_of(x, self.stencil, self.touch["kind"])

    def least_distance(self, x: WarpArray) -> float:
        """Return the distance [m] of the nearest pair at x (n,) vec3; infinity without pairs."""
        out = kernel.empty(len(self))
        kernel.launch(set_distances, len(self), x, *self.device, out)
        return kernel.least(out)

    def change_of_room(self, x: WarpArray, d: WarpArray) -> float:
        """Return the largest relative change of a pair's room by the displacement d, to first
        order.

        The room of a pair is its distance beyond its thickness. The result is 0 without pairs.
        """
        out = kernel.empty(len(self))
        kernel.launch(relative_distance_changes, len(self), x, d, *self.device, out)
        return kernel.largest(out)

    def value(self, x: Positions) -> Floats:
        """Return the barrier energy of each pair at x (n,3), (m,) [J]."""
        out = kernel.empty(len(self))
        kernel.launch(barrier_energy, len(self), kernel.points(x), *self.device, out)
        return np.array(kernel.numpy(out))

    def gradient(self, x: Positions) -> Floats:
        """Return the gradient of each pair's energy at x (n,3), (m,4,3) [N]."""
        out = kernel.empty((len(self), 4), vec3)
        kernel.launch(barrier_gradient, len(self), kernel.points(x), *self.device, out)
        return np.array(kernel.numpy(out))

    def factors(self, x: Positions, psd: Psd = Psd.PROJECTED) -> Floats:
        """Return the factors f_r of each pair's projected Hessian at x (n,3), (m,3,4,3); for
        GAUSS_NEWTON only the first is not zero.
        """
        out = kernel.empty((len(self), 3, 4), vec3)
        turn = int(psd != Psd.GAUSS_NEWTON)
        kernel.launch(barrier_factors, len(self), kernel.points(x), *self.device, turn, out)
        return np.array(kernel.numpy(out))

    def exact(self, x: WarpArray) -> WarpArray:
        """Return the exact Hessian of each pair at x (n,) vec3, (m,4,4) mat33 [N/m] on the
        device.
        """
        out = kernel.zeros((len(self), 4, 4), mat33)
        kernel.launch(barrier_hessians, len(self), x, *self.device, out)
        return out

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the Hessian of each pair at x (n,3), exact or projected, (m,4,4,3,3) [N/m]."""
        if psd == Psd.EXACT:
            return np.array(kernel.numpy(self.exact(kernel.points(x)))).reshape(-1, 4, 4, 3, 3)
        f = self.factors(x, psd)
        return np.asarray(np.einsum("mrai,mrbj->mabij", f, f))


def closest_of(x: Positions, stencil: Ints, kind: Ints) -> tuple[Floats, Floats, Ints, Floats]:
    """Return the closest points of pairs at x (n,3).

    Returns:
        Distances (m,) [m], weights (m,4), numbers of free parameters (m,), and derivatives dw of
        the weights by these, (m,2,4).
    """
    m = len(stencil)
    distance, weights = kernel.empty(m), kernel.empty(m, vec4)
    free, dw = kernel.empty(m, wp.int32), kernel.empty((m, 2), vec4)
    pairs = (kernel.array(stencil, wp.int32), kernel.array(np.asarray(kind, np.int32), wp.int32))
    kernel.launch(closest_points, m, kernel.points(x), *pairs, distance, weights, free, dw)
    return tuple(np.array(kernel.numpy(a)) for a in (distance, weights, free, dw))  # type: ignore[return-value]


def distances_of(x: Positions, stencil: Ints, kind: Ints) -> Floats:
    """Return the distances of pairs at x (n,3), (m,) [m]."""
    out = kernel.empty(len(stencil))
    pairs = (kernel.array(stencil, wp.int32), kernel.array(np.asarray(kind, np.int32), wp.int32))
    kernel.launch(pair_distances, len(stencil), kernel.points(x), *pairs, out)
    return np.array(kernel.numpy(out))


def parallel_threshold(X: Positions, edge_edge: Ints) -> Floats:
    """Return the value of |e x f|^2 [m^4] below which edges count as nearly parallel, (e,).

    It is 1e-3 times the product of their squared rest lengths (Li et al. 2020).

    Args:
        X: (n,3) [m] rest positions.
        edge_edge: (e,4) vertices of pairs of edges.
    """
    a, b, c, d = (X[edge_edge[:, i]] for i in range(4))
    return np.asarray(float(PARALLEL_PART) * ((b - a) ** 2).sum(1) * ((d - c) ** 2).sum(1))
