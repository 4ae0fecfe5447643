"""Reverse mode of the kernels of contact and friction.

The kernels are those of a step, run backwards (``kernel.reverse``). ``pull_back_barrier`` goes from
forces of the barrier to vertices and parameters of pairs, ``FrictionReverse`` from forces and slips
of friction through the whole chain of kernels by which friction is frozen.
"""

from typing import NamedTuple

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.contact.barrier.barrier import barrier_gradient
from weft.contact.contact_set import ContactSet, Records
from weft.contact.friction.friction import FrictionInputs, FrictionSet, forces_of_pairs
from weft.contact.friction.kernels import (
    freeze_slides,
    friction_kernels,
    normal_loads,
    slips,
    update_slips,
)
from weft.contact.narrow_phase.classify import parallel_thresholds
from weft.kernel import Scalar, WarpArray, WarpStruct, vec3


def pull_back_barrier(contacts: ContactSet, y: WarpArray, by: Floats) -> tuple[Floats, Records]:
    """Return the derivatives of by . dE/dx of the barrier.

    Args:
        contacts: pairs with their barrier.
        y: (n,) vec3 [m] vertices.
        by: (n,3).

    Returns:
        Derivatives by the vertices (n,3), and by the parameters of the pairs, (m,) records of
        ``BarrierParameters``.
    """
    return _back_through_barrier(contacts, y, by[contacts.stencil])


def _back_through_barrier(contacts: ContactSet, y: WarpArray, by: Floats) -> tuple[Floats, Records]:
    """Return the derivatives of ``pull_back_barrier``, for ``by`` (m,4,3) of every pair."""
    stencil, touch = contacts.device
    x, touch = kernel.track(kernel.points(np.array(kernel.numpy(y)))), kernel.track(touch)
    out = kernel.track(kernel.empty((len(contacts), 4), vec3), by)
    kernel.pull_back(barrier_gradient, len(contacts), x, stencil, touch, out)
    return kernel.derivatives(x), kernel.derivatives(touch)


def pull_back_thresholds(rest: Positions, stencil: Ints, by: Floats) -> Floats:
    """Return derivatives by rest positions (n,3), from those by the mollifier's thresholds (m,) of
    pairs ``stencil`` (m,4).
    """
    at = kernel.track(kernel.points(np.array(rest, dtype=np.float64)))
    out = kernel.track(kernel.empty(len(stencil)), by)
    pairs = kernel.array(np.array(stencil, np.int32), wp.int32)
    kernel.pull_back(parallel_thresholds, len(stencil), at, pairs, out)
    return kernel.derivatives(at)


class FrictionCotangents(NamedTuple):
    """Derivatives by everything that the friction of a step depends on."""

    start: Floats  # (n,3) by the vertices at which it is frozen
    origin: Floats  # (n,3) by the positions from which sliding is measured
    end: Floats  # (n,3) by the vertices at the end of the step
    slip: Floats  # (k,3) by the slip before
    parameters: Records  # (m,) by the parameters of the barrier of the pairs at which it is frozen
    static: Floats  # by the table of coefficients, in its shape
    kinetic: Floats
    smooth: float  # by e


class FrictionReverse:
    """Friction of a step as a function of the data that it is frozen from.

    Args:
        contacts: pairs in contact at ``start``, with their barrier.
        start: (n,) vec3 [m] vertices at which friction is frozen.
        end: (n,) vec3 [m] vertices at the end of the step.
        inputs: the other data.
    """

    def __init__(
        self, contacts: ContactSet, start: WarpArray, end: WarpArray, inputs: FrictionInputs
    ) -> None:
        self.contacts, self.start, self.inputs = contacts, start, inputs
        self._end = kernel.points(np.array(kernel.numpy(end)))
        self._origin = kernel.points(np.array(kernel.numpy(inputs.origin)))
        self._slip = kernel.points(np.array(kernel.numpy(inputs.slip)))
        self._gradient = contacts.gradients(start)
        self._forces = forces_of_pairs(contacts, start, self._gradient)
        self._place = kernel.empty(len(contacts), wp.int32)
        kernel.scan(self._forces.pushes, self._place)
        self.friction = FrictionSet.of(contacts, start, *inputs)
        self._pairs, self._slide = self.friction.device

    def pull_back(
        self, force: Floats | None = None, slip: Floats | None = None
    ) -> FrictionCotangents:
        """Return derivatives of force . (friction's dE/dx) + slip . (slip q after the step).

        Args:
            force: (n,3); None: zeros.
            slip: (k,3) of the first k vertices; None: zeros.
        """
        m, n_slips = len(self.friction), self._slip.shape[0]
        arrays = (self._end, self._origin, self._slip, self._slide)
        end, origin, before, slide = (kernel.track(a) for a in arrays)
        at = (end, origin, self._pairs, slide)
        if force is not None:
            out = kernel.track(kernel.empty((m, 4), vec3), force[self.friction.stencil])
            kernel.pull_back(friction_kernels(self.inputs.law).gradient, m, *at, out)
        if slip is not None:
            change = kernel.track(self.friction.changes(self._end))
            after = kernel.track(kernel.empty(n_slips, vec3), slip)
            i = self.friction.incidence(n_slips)
            lists = (i.start, i.element, i.place)
            kernel.pull_back(update_slips, n_slips, *lists, slide, change, before, after)
            kernel.pull_back(slips, m, *at, change)
        smooth = float(kernel.derivatives(slide)["smooth"].sum())  # zero after the next line
        table, touch, start = self._pull_back_freeze(slide, before)
        by_origin, by_end, by_slip, static, kinetic = (
            kernel.derivatives(a) for a in (origin, end, before, table.mu_static, table.mu_kinetic)
        )
        return FrictionCotangents(start, by_origin, by_end, by_slip, touch, static, kinetic, smooth)

    def _pull_back_freeze(
        self, slide: WarpArray, before: WarpArray
    ) -> tuple[WarpStruct, Records, Floats]:
        """Go back through the kernels that freeze friction, from the derivatives by its pairs.

        Returns:
            The table with derivatives by its coefficients, derivatives by the parameters of the
            barriers (m,), and derivatives by the vertices (n,3).
        """
        m, contacts = len(self.contacts), self.contacts
        stencil, touch = contacts.device
        forces = kernel.track_fields(self._forces, "load", "weights", "normal")
        table = kernel.track_fields(self.inputs.table, "mu_static", "mu_kinetic")
        numbers = (self._place, table, Scalar(self.inputs.smooth), before)
        kernel.pull_back(freeze_slides, m, stencil, touch, forces, *numbers, self._pairs, slide)
        start = kernel.track(kernel.points(np.array(kernel.numpy(self.start))))
        gradient = kernel.track(self._gradient)
        kernel.pull_back(normal_loads, m, start, stencil, touch, gradient, forces)
        by_start, by_touch = _back_through_barrier(
            contacts, self.start, kernel.derivatives(gradient)
        )
        return table, by_touch, by_start + kernel.derivatives(start)
