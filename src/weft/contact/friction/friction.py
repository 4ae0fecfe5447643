"""Coulomb friction as a potential of a step (Li et al. 2020, section 5).

These are frozen at the start of a step (lagged): the pairs in contact, their normal force lambda,
the weights of their closest points and the plane in which they may slide. With u the displacement
in that plane of one closest point relative to the other, in the step and, elastically, before it,
E = lambda f(|u|). ``law`` states f: below e = speed * step the pair sticks, like a spring, and
beyond it slides. The Hessian in the plane is f'' along u, clamped at 0 where friction falls, and
f'/|u| across u.

Steps that may end early have f'/|u| along u as well. Where a pair slides, f'' is 0: a model with it
does not know that friction turns around where the pair comes to rest, so that directions go far
beyond that place and the line search takes an eighth of them. f'/|u| never grows with |u|, so the
quadratic function with f'/|u| is nowhere below E, and its minimum is where the pair rests. Steps
that have to converge keep f'': with f'/|u| what begins to slide takes many small increments.

The displacement before the step is saved from step to step, in units of e, so that a load is held
without any motion (a spring that slides when it is stretched by e, as the tangential contact of
Cundall & Strack 1979). Because pairs come and go, it is saved at the vertices: q_v is the slip of
the side of v relative to what it touches. A pair begins with e sum w_a q_a (half of it if both
sides have one). After the step q_v changes by the mean of the slips of its pairs, weighted with
their loads, and is cut to length 1. If nothing moves, nothing changes, whatever the pairs are.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.contact.contact_set import ContactSet, PairSet
from weft.contact.friction.kernels import (
    FrictionKernels,
    NormalForces,
    freeze_slides,
    friction_kernels,
    normal_loads,
    slips,
    update_slips,
)
from weft.contact.friction.law import COULOMB, FrictionLaw, FrictionTable, SlidingPair
from weft.kernel import (
    Scalar,
    WarpArray,
    mat33,
    vec3,
    vec4,
)


class FrictionInputs(NamedTuple):
    """Data from which the friction of a step is frozen, besides the contacts."""

    origin: WarpArray  # (n,) vec3 [m] positions from which sliding is measured
    table: FrictionTable
    smooth: float  # [m] e, the slip below which pairs stick
    slip: WarpArray  # (k,) vec3, q of the vertices that belong to no body
    law: FrictionLaw = COULOMB


@dataclass(frozen=True, eq=False)
class FrictionSet(PairSet):
    """Pairs that may slide, with the data that are frozen for a step."""

    device: tuple[WarpArray, WarpArray]  # (m,4) int32 vertices, (m,) SlidingPair
    origin: WarpArray  # (n,) vec3 [m] positions from which sliding is measured
    law: FrictionLaw = COULOMB

    @property
    def kernels(self) -> FrictionKernels:
        """The kernels of the law."""
        return friction_kernels(self.law)

    @staticmethod
    def of(
        contacts: ContactSet,
        x: Positions | WarpArray,
        origin: Positions | WarpArray,
        table: FrictionTable,
        smooth: float,
        slip: Positions | WarpArray | None = None,
        law: FrictionLaw = COULOMB,
    ) -> "FrictionSet":
        """Return the pairs that push, from the contacts at x.

        Args:
            contacts: pairs with their barrier.
            x: (n,3) [m] positions at which normal forces and planes are evaluated.
            origin: (n,3) [m] positions from which sliding is measured.
            table: coefficients of friction.
            smooth: [m] e, the slip below which pairs stick.
            slip: (k,3) q of the first k vertices, those that belong to no body; None: 0.
            law: the law of friction.
        """
        m, y = len(contacts), kernel.points(x)
        forces = forces_of_pairs(contacts, y, contacts.gradients(y))
        place = kernel.empty(m, wp.int32)
        count = kernel.scan(forces.pushes, place)
        pairs, slide = kernel.empty((count, 4), wp.int32), kernel.empty(count, SlidingPair)
        before = kernel.zeros(0, vec3) if slip is None else kernel.points(slip)
        about = (forces, place, table, Scalar(smooth), before, pairs, slide)
        kernel.launch(freeze_slides, m, *contacts.device, *about)
        return FrictionSet((pairs, slide), kernel.points(origin), law)

    def energies(self, x: WarpArray) -> WarpArray:
        """Return the friction potential [J] of each pair at x, (m,); a pair without slip has the
        constant lambda mu_s e/3.
        """
        return self.evaluate(self.kernels.energy, x, kernel.empty(len(self)), (self.origin,))

    def gradient(self, x: WarpArray) -> WarpArray:
        """Return dE/dx of every pair at x, (m,4) vec3 [N]."""
        return self.evaluate(
            self.kernels.gradient, x, kernel.empty((len(self), 4), vec3), (self.origin,)
        )

    def work(self, x: WarpArray) -> float:
        """Return the work [J] that friction takes on the way from the origin to x (n,), with its
        force at x.
        """
        u = kernel.numpy(x) - kernel.numpy(self.origin)
        return float((kernel.numpy(self.gradient(x)) * u[self.stencil]).sum())

    def changes(self, x: WarpArray) -> WarpArray:
        """Return the slip of each pair in a step that ended at x, in units of e, (m,) vec3."""
        return self.evaluate(slips, x, kernel.empty(len(self), vec3), (self.origin,))

    def update_slips(self, x: WarpArray, slip: WarpArray) -> WarpArray:
        """Return the slips q after a step that ended at x, (k,) vec3, if it began with the slips
        ``slip`` (k,).
        """
        change, out = self.changes(x), kernel.empty(slip.shape[0], vec3)
        i = self.incidence(slip.shape[0])
        arrays = (i.start, i.element, i.place, self.device[1], change, slip, out)
        kernel.launch(update_slips, slip.shape[0], *arrays)
        return out

    def factors(self, x: WarpArray, *, bound: bool = False) -> WarpArray:
        """Return the factors f_r of the projected Hessian at x, (m,3,4) vec3.

        With ``bound`` they are those of a quadratic model that is nowhere below the energy.
        """
        out = kernel.empty((len(self), 3, 4), vec3)
        return self.evaluate(self.kernels.factors, x, out, (self.origin,), (int(bound),))

    def hessians(self, x: WarpArray) -> WarpArray:
        """Return the exact Hessian of every pair at x, (m,4,4) mat33 [N/m]."""
        out = kernel.empty((len(self), 4, 4), mat33)
        return self.evaluate(self.kernels.hessians, x, out, (self.origin,))


def forces_of_pairs(contacts: ContactSet, x: WarpArray, gradient: WarpArray) -> NormalForces:
    """Return the normal force of every pair of a set at x (n,), from the gradient (m,4) vec3 [N]
    of its barrier.
    """
    m, out = len(contacts), NormalForces()
    out.load, out.weights = kernel.empty(m), kernel.empty(m, vec4)
    out.normal, out.pushes = kernel.empty(m, vec3), kernel.empty(m, wp.int32)
    contacts.evaluate(normal_loads, x, out, after=(gradient,))
    return out


def normal_forces(
    contacts: ContactSet, x: Positions | WarpArray
) -> tuple[Ints, Floats, Floats, Floats]:
    """Return the normal forces of the pairs that push, on the host.

    Args:
        contacts: pairs with their barrier.
        x: (n,3) [m] positions.

    Returns:
        Indices (m,) in the set, weights (m,4) of the closest points, unit normals (m,3), and
        normal forces (m,) [N].
    """
    y = kernel.points(x)
    out = forces_of_pairs(contacts, y, contacts.gradients(y))
    arrays = (out.load, out.weights, out.normal, out.pushes)
    force, w, normal, pushes = (kernel.numpy(a) for a in arrays)
    push = np.flatnonzero(pushes).astype(np.int32)
    return push, w[push], normal[push], force[push]
