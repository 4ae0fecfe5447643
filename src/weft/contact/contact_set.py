"""Contact sets: pairs in contact as data, and the barrier energy of each pair as local arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Ints, Positions
from weft.contact.barrier.barrier import (
    BarrierParameters,
    barrier_energy,
    barrier_factors,
    barrier_gradient,
    relative_distance_changes,
    set_distances,
)
from weft.contact.barrier.exact_hessian import barrier_hessians
from weft.energies.gather import gather_gradient
from weft.kernel import Kernel, WarpArray, mat33, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.incidence import Incidence

Records: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.void]]"


class PairSet:
    """Pairs of four vertices each, on the device."""

    device: tuple[WarpArray, WarpArray]  # vertices (m,4) int32, and parameters (m,) of each pair

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self.device[0].shape[0])

    @property
    def stencil(self) -> Ints:
        """Return the vertices of the pairs, (m,4) on the host."""
        return kernel.numpy(self.device[0])

    def evaluate(
        self,
        kernel_of_pair: Kernel,
        x: WarpArray,
        out: WarpArray,
        before: Sequence[WarpArray] = (),
        after: Sequence[object] = (),
    ) -> WarpArray:
        """Run a kernel for all pairs at x, and return its output ``out``; further arguments of the
        kernel stand before and after the pairs.
        """
        kernel.launch(kernel_of_pair, len(self), x, *before, *self.device, *after, out)
        return out

    def incidence(self, n: int) -> Incidence:
        """Return the pairs of each of the first n vertices; computed once."""
        if "_incidence" not in self.__dict__:
            self.__dict__["_incidence"] = Incidence.on_device(self.device[0], n)
        found: Incidence = self.__dict__["_incidence"]
        return found

    def add_forces(self, forces: WarpArray, g: WarpArray, n: int) -> None:
        """Add the forces of pairs (m,4) vec3 to those of the first n vertices, g (n,) vec3."""
        i = self.incidence(n)
        kernel.launch(gather_gradient, n, i.start, i.element, i.place, forces, g)


@dataclass(frozen=True, eq=False)
class ContactSet(PairSet):
    """Pairs that are closer than their thickness plus gap, with the parameters of their barrier.

    Its methods evaluate the barrier of each pair: value, gradient and Hessian.
    """

    # Vertices (m,4) int32, in the order that ``PairKind`` gives, and ``BarrierParameters`` (m,).
    device: tuple[WarpArray, WarpArray]

    @property
    def parameters(self) -> Records:
        """Return the parameters of the pairs, (m,) records of ``BarrierParameters`` on the host."""
        return kernel.numpy(self.device[1])

    def among(self, rows: AnyArray) -> "ContactSet":
        """Return some of the pairs, by their numbers (k,) or a mask (m,)."""
        pairs = kernel.array(np.ascontiguousarray(self.stencil[rows]), wp.int32)
        return ContactSet((pairs, kernel.array(self.parameters[rows], BarrierParameters)))

    def with_parameters(self, touch: Records) -> "ContactSet":
        """Return the same pairs with other parameters, (m,) records of ``BarrierParameters``."""
        return ContactSet((self.device[0], kernel.array(touch, BarrierParameters)))

    def distances(self, x: WarpArray, radius: WarpArray | None = None) -> WarpArray:
        """Return the distance [m] between the surfaces of each pair at x (n,) vec3, (m,).

        Args:
            x: [m] positions.
            radius: (n,) [m] of cores, in whose place a surface is; None: the vertices themselves.
        """
        around = kernel.empty(0) if radius is None else radius
        return self.evaluate(set_distances, x, kernel.empty(len(self)), after=(around,))

    def least_distance(self, x: WarpArray, radius: WarpArray | None = None) -> float:
        """Return the distance [m] of the nearest pair; infinity without pairs. Arguments as for
        ``distances``.
        """
        return kernel.least(self.distances(x, radius))

    def changes_of_room(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return the relative change of each pair's room by the displacement d, to first order,
        (m,).

        The room of a pair is its distance beyond its thickness.
        """
        return self.evaluate(relative_distance_changes, x, kernel.empty(len(self)), (d,))

    def energies(self, x: WarpArray) -> WarpArray:
        """Return the barrier energy of each pair at x (n,) vec3, (m,) [J]."""
        return self.evaluate(barrier_energy, x, kernel.empty(len(self)))

    def gradients(self, x: WarpArray) -> WarpArray:
        """Return the gradient of each pair's energy at x (n,) vec3, (m,4) vec3 [N]."""
        return self.evaluate(barrier_gradient, x, kernel.empty((len(self), 4), vec3))

    def gradient(self, x: Positions) -> Floats:
        """Return the gradient of each pair's energy at x (n,3), (m,4,3) [N]."""
        return np.array(kernel.numpy(self.gradients(kernel.points(x))))

    def factors(self, x: WarpArray, psd: Psd, out: WarpArray | None = None) -> WarpArray:
        """Return the factors f_r of each pair's projected Hessian at x (n,) vec3, (m,5,4) vec3; for
        GAUSS_NEWTON only the first is not zero.
        """
        out = kernel.empty((len(self), 5, 4), vec3) if out is None else out
        return self.evaluate(barrier_factors, x, out, after=(int(psd != Psd.GAUSS_NEWTON),))

    def exact(self, x: WarpArray) -> WarpArray:
        """Return the exact Hessian of each pair at x (n,) vec3, (m,4,4) mat33 [N/m]."""
        return self.evaluate(barrier_hessians, x, kernel.zeros((len(self), 4, 4), mat33))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the Hessian of each pair at x (n,3), exact or projected, (m,4,4,3,3) [N/m]."""
        if psd == Psd.EXACT:
            return np.array(kernel.numpy(self.exact(kernel.points(x)))).reshape(-1, 4, 4, 3, 3)
        f = kernel.numpy(self.factors(kernel.points(x), psd))
        return np.asarray(np.einsum("mrai,mrbj->mabij", f, f))
