"""Coulomb friction as a potential of a step. Li et al. 2020, section 5.

Frozen at the start of a step (lagged): the pairs in contact, their normal force, the weights of
their closest points and the plane in which they may slide. With u the displacement of the one
closest point against the other in that plane, in the step and, elastically, before it,

    E = lambda f(|u|),   f' = mu_s (2 |u|/e - |u|^2/e^2) for |u| < e = speed * step

so friction grows smoothly from rest to mu_s lambda: until e it sticks, as a spring. From e to 2 e
the coefficient falls from the static mu_s to the kinetic mu_k as a cubic without corners, and stays
there. The Hessian in the plane is f'' along u, clamped at 0 where friction falls, and f'/|u|
across.

What u was before the step is kept from step to step, in parts of e, so that a load is held without
any motion (a spring that slides when it is stretched by e: Cundall & Strack 1979's tangential
contact). It is kept at the vertices, q_v for the slip of v's side against what it touches, as pairs
come and go: a pair begins with e sum w_a q_a (half of it where both sides have one), and after the
step q_v changes by the mean of its pairs' slips, weighted with what they carry, and is cut to
length 1. Where nothing moves nothing changes, whatever the pairs are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.contact.barrier.barrier import barrier_gradient
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import vec4
from weft.contact.friction.kernels import (
    SlidingPair,
    freeze_slides,
    friction_energy,
    friction_factors,
    friction_gradient,
    friction_hessians,
    keep_slips,
    normal_loads,
    slips,
)
from weft.kernel import Scalar, WarpArray, mat33, vec3
from weft.solve.sparse.incidence import Incidence


@dataclass(frozen=True, eq=False)
class FrictionTable:
    """Coefficients of friction on the device, by what the two sides of a pair belong to."""

    part: WarpArray  # (n,) int32 number of a vertex's piece or body
    static: WarpArray  # (k,k)
    kinetic: WarpArray  # (k,k)

    @staticmethod
    def of(static: Floats, kinetic: Floats, part: Ints) -> "FrictionTable":
        """From NumPy arrays."""
        mu = (kernel.array(np.asarray(m, dtype=np.float64), Scalar) for m in (static, kinetic))
        return FrictionTable(kernel.array(np.asarray(part, np.int32), wp.int32), *mu)

    @staticmethod
    def uniform(static: float, kinetic: float | None = None) -> "FrictionTable":
        """The same for all pairs."""
        kinetic = static if kinetic is None else kinetic
        none = np.zeros(1, dtype=np.int32)
        return FrictionTable.of(np.full((1, 1), static), np.full((1, 1), kinetic), none)


@dataclass(frozen=True, eq=False)
class FrictionSet:
    """Pairs that may slide, frozen for a step."""

    pairs: WarpArray  # (m,4) int32
    slide: WarpArray  # (m,) Slide
    origin: WarpArray  # (n,) vec3 from which sliding is measured

    @staticmethod
    def of(
        contacts: ContactSet,
        x: Positions | WarpArray,
        origin: Positions | WarpArray,
        table: FrictionTable,
        smooth: float,
        slip: Positions | WarpArray | None = None,
    ) -> "FrictionSet":
        """From the contacts at x.

        Args:
            contacts: pairs with their barrier.
            x: (n,3) [m] where normal forces and planes are taken.
            origin: (n,3) [m] from which sliding is measured.
            table: coefficients of friction.
            smooth: [m] of sliding below which pairs stick.
            slip: (k,3) q of the vertices that are of no body, the first ones; None: 0.
        """
        m, loads = len(contacts), _loads(contacts, kernel.points(x))
        place = kernel.empty(m, wp.int32)
        count = kernel.scan(loads[-1], place)
        pairs, slide = kernel.empty((count, 4), wp.int32), kernel.empty(count, SlidingPair)
        before = kernel.zeros(0, vec3) if slip is None else kernel.points(slip)
        mu = (table.part, table.static, table.kinetic, Scalar(smooth), before)
        kernel.launch(freeze_slides, m, *contacts.device, *loads, place, *mu, pairs, slide)
        return FrictionSet(pairs, slide, kernel.points(origin))

    def __len__(self) -> int:
        return int(self.pairs.shape[0])

    @property
    def stencil(self) -> Ints:
        """(m,4) on the host."""
        return kernel.numpy(self.pairs)

    def incidence(self, n: int) -> Incidence:
        """Pairs of each of the first n vertices; made once."""
        if "_incidence" not in self.__dict__:
            self.__dict__["_incidence"] = Incidence.on_device(self.pairs, n)
        found: Incidence = self.__dict__["_incidence"]
        return found

    def _launch(self, evaluate: Any, x: WarpArray, out: WarpArray) -> WarpArray:
        kernel.launch(evaluate, len(self), x, self.origin, self.pairs, self.slide, out)
        return out

    def value(self, x: WarpArray) -> float:
        """[J] of all pairs: less the constant that they have at rest."""
        return kernel.total(self._launch(friction_energy, x, kernel.empty(len(self))))

    def gradient(self, x: WarpArray) -> WarpArray:
        """(m,4) vec3 [N]."""
        return self._launch(friction_gradient, x, kernel.empty((len(self), 4), vec3))

    def work(self, x: WarpArray) -> float:
        """[J] that friction takes on the way from the origin to x (n,)."""
        u = kernel.numpy(x) - kernel.numpy(self.origin)
        return float((kernel.numpy(self.gradient(x)) * u[self.stencil]).sum())

    def kept(self, x: WarpArray, slip: WarpArray) -> WarpArray:
        """(k,) vec3 q after a step that ended at x, which began with ``slip`` (k,)."""
        change, out = kernel.empty(len(self), vec3), kernel.empty(slip.shape[0], vec3)
        self._launch(slips, x, change)
        i = self.incidence(slip.shape[0])
        arrays = (i.start, i.element, i.place, self.slide, change, slip, out)
        kernel.launch(keep_slips, slip.shape[0], *arrays)
        return out

    def factors(self, x: WarpArray) -> WarpArray:
        """(m,3,4) factors of the projected Hessian."""
        return self._launch(friction_factors, x, kernel.empty((len(self), 3, 4), vec3))

    def hessians(self, x: WarpArray) -> WarpArray:
        """(m,4,4) exact Hessians."""
        return self._launch(friction_hessians, x, kernel.empty((len(self), 4, 4), mat33))


def _loads(
    contacts: ContactSet, x: WarpArray, gradient: WarpArray | None = None
) -> tuple[WarpArray, ...]:
    """Normal force, weights, normal and whether it pushes, of every pair; of the barrier, or of
    another gradient.
    """
    m = len(contacts)
    if gradient is None:
        gradient = kernel.empty((m, 4), vec3)
        kernel.launch(barrier_gradient, m, x, *contacts.device, gradient)
    out = (kernel.empty(m), kernel.empty(m, vec4), kernel.empty(m, vec3), kernel.empty(m, wp.int32))
    kernel.launch(normal_loads, m, x, *contacts.device, gradient, *out)
    return out


def normal_forces(
    contacts: ContactSet, x: Positions | WarpArray
) -> tuple[Ints, Floats, Floats, Floats]:
    """Numbers (m,) in the set, weights (m,4) of the closest points, unit normals (m,3), and normal
    forces (m,) [N] of the pairs that push; on the host.
    """
    force, w, normal, pushes = (kernel.numpy(a) for a in _loads(contacts, kernel.points(x)))
    push = np.flatnonzero(pushes).astype(np.int32)
    return push, w[push], normal[push], force[push]


def changed_loads(contacts: ContactSet, x: Positions | WarpArray, change: WarpArray) -> Floats:
    """(m,) [N] change of all normal forces with one of the barrier's gradient (m,4) vec3."""
    return np.array(kernel.numpy(_loads(contacts, kernel.points(x), change)[0]))
