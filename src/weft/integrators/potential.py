"""The incremental potential of one step: Phi(x) = |x - y|_M^2 / (2 s) + sum E(x).

The public methods take and return NumPy and SciPy arrays, for plots, checks and other minimizers;
the methods that end in ``_at`` take device arrays and serve the minimizer. Pinned vertices are
eliminated: Phi is a function of the free vertices, and the pinned ones are at their targets
whatever x says.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NewType

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Floats, Forces, Positions
from weft.base.timing import Phases
from weft.base.trees import Json
from weft.energies.barrier import Barrier, StepLimit
from weft.energies.by_constants import ByName, by_constants, has_mixed
from weft.energies.obstacle import Obstacle
from weft.energies.step import Step
from weft.energies.term import Term
from weft.integrators.assembly import sum_energies, sum_gradients
from weft.integrators.model import Model
from weft.kernel import IntArray, Vec3Array, WarpArray, vec3
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.linear.solver import Outcome
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, close
from weft.solve.sparse.vectors import max_norm

if TYPE_CHECKING:
    import scipy.sparse as sp

Reached = NewType("Reached", Positions)
"""Positions (n,3) [m] that ``Potential.reach`` returned.

Continuous collision detection has checked the motion to them. Searches start nowhere else.
"""


@wp.kernel(module=wp.get_module("weft.potential"))
def zero_at_fixed(o: int, fixed: IntArray, value: int, g: Vec3Array):
    """Set g to zero at vertices that are fixed (value 1), or at those that are not (value 0)."""
    v = o + wp.tid()
    if fixed[v] == value:
        g[v] = vec3(wp.float64(0.0))


class Potential:
    """The potential Phi [J] of one step.

    It is valid until another potential of the model is made, because both share work arrays.

    Args:
        model: energies, pins and contact.
        step: the step (``model.step``).
        psd: which Hessian the minimizer gets.
        terms: terms that replace those of the model; None: the model's.
    """

    def __init__(
        self,
        model: Model,
        step: Step,
        psd: Psd = Psd.PROJECTED,
        terms: Sequence[Term] | None = None,
    ) -> None:
        assembly = model.assembly
        assembly.take(step.t)
        self.step, self.psd, self.mass = step, psd, assembly.device_mass
        self.model = model
        self.terms_of_phi = assembly.terms if terms is None else tuple(terms)
        self.barriers = [term for term in self.terms_of_phi if isinstance(term, Barrier)]
        self.phases: Phases = assembly.phases
        self.phases.clear()
        self._matrix, self._energies = assembly.matrix, model.energies
        self.lag_points: list[Positions] = []  # (n,3) each, arguments of ``update_lagged_terms``
        self._exceeded: Obstacle | None = None  # limit that the last start would exceed
        self._last: tuple[Positions, WarpArray] | None = None  # argument and result of ``point``
        self._fixed = kernel.array(step.fixed.astype(np.int32), wp.int32)
        for term in self.terms_of_phi:
            term.freeze(step)

    def with_elastic(self, elastic: Term) -> "Potential":
        """Return a copy in which ``elastic`` replaces all terms but contact."""
        other = copy.copy(self)
        other.terms_of_phi = (elastic, *self.barriers)
        return other

    @property
    def free(self) -> Bools:
        """Mask (n,) of the vertices that Phi depends on: those that are not pinned."""
        return self.step.free

    @property
    def start(self) -> Positions:
        """Inertial prediction y (n,3) [m], with pinned vertices at their targets."""
        return self.step.start

    def value(self, x: Positions) -> float:
        """Return Phi [J] at x (n,3) [m]."""
        return self.value_at(self.point(x))

    def gradient(self, x: Positions) -> Forces:
        """Return dPhi/dx (n,3) [N] at x (n,3) [m]; it is zero at pinned vertices."""
        out = kernel.empty(len(self.free), vec3)
        self.gradient_at(self.point(x), out)
        return np.array(kernel.numpy(out))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> "sp.spmatrix":
        """Return d2Phi/dx2 as a SciPy CSR matrix (3n,3n) [N/m].

        Rows and columns of pinned vertices are zero: restrict the matrix to
        ``np.repeat(potential.free, 3)`` to solve with it.
        """
        matrix = self.matrix_at(self.point(x), psd).to_scipy().tocsr().copy()
        diagonal = matrix.diagonal()
        diagonal[np.repeat(~self.free, 3)] = 0.0
        matrix.setdiag(diagonal)
        return matrix

    def terms(self, x: Positions) -> dict[str, float]:
        """Return the terms of Phi [J] at x (n,3) by name; they sum to ``value(x)``.

        The names are ``inertia``, every energy and its damping, ``contact`` and ``friction``.
        """
        return sum_energies(self.terms_of_phi, self.point(x))

    def by_constants(self, x: Positions, by: Floats) -> "list[ByName]":
        """Return d(by . dE/dx)/dc for the constants c of every energy of the model.

        An energy that does not know its derivatives by constants gives an empty dictionary. Inertia
        and contact have no constants here. See ``energies.by_constants``.

        Args:
            x: (n,3) [m] positions.
            by: (n,3) vector that the gradient is multiplied with.

        Returns:
            For every energy in turn, the derivatives by name of the constant.
        """
        at = np.asarray(x, dtype=np.float64)
        return [by_constants(e, at, by, self.step) if has_mixed(e) else {} for e in self._energies]

    def reaction(self, x: Positions) -> Forces:
        """Return the force (n,3) [N] that each pin exerts at x (n,3) [m]; zero at free vertices."""
        g = sum_gradients(self.terms_of_phi, self.point(x))
        return np.where(self.free[:, None], 0.0, g)

    def load_gradient_into(self, x: WarpArray, out: WarpArray) -> None:
        """Write the gradient of the loads (weight, pressure) into out, (n,) vec3 [N].

        The gradient is minus the force.
        """
        out.zero_()
        for term in self.terms_of_phi:
            if term.is_load:
                term.add_gradient(x, out)

    def largest_pin_force(self, x: WarpArray, out: WarpArray) -> float:
        """Return the largest force [N] of a pin at x; out (n,) vec3 is scratch."""
        if not self.step.fixed.any():
            return 0.0
        out.zero_()
        self._add_gradients(x, out)
        kernel.launch(zero_at_fixed, x.shape[0], self._fixed, 0, out)
        return max_norm(out)

    def report(self, x: Positions) -> Json:
        """Return the reports of all terms after a step that ended at x (n,3), by name.

        See ``contact.contact_report``.
        """
        point = self.point(x)
        return {k: v for term in self.terms_of_phi for k, v in term.report(point).items()}

    def forces(self, x: Positions) -> Json:
        """Return the forces of attachments after a step that ended at x (n,3), by name."""
        point = self.point(x)
        return {k: v for term in self.terms_of_phi for k, v in term.forces(point).items()}

    def remember(self, x: Positions) -> dict[str, Floats]:
        """Return what terms keep for the next step after one that ended at x (n,3) [m], by name.

        See ``Term.remember``.
        """
        point = self.point(x)
        return {k: v for term in self.terms_of_phi for k, v in term.remember(point).items()}

    @property
    def blocked(self) -> Obstacle | None:
        """The obstacle for which a term found no room for the step; None if there was room."""
        found = (t.blocked for t in self.barriers if t.blocked is not None)
        return next(found, self._exceeded)

    @property
    def refusal(self) -> Outcome:
        """The outcome of a step that has no start."""
        passes = self.blocked is not None and self.blocked.passes
        return Outcome.PASSES if passes else Outcome.BLOCKED

    def reach(self, goal: Positions) -> Reached | None:
        """Move from the beginning of the step towards ``goal`` (n,3) [m] until something collides.

        Prescribed vertices and bodies go to their ends and carry along the cloth that they meet.
        Every search starts from positions that this function returned.

        Returns:
            (n,3) [m] the positions reached; None if pins or bodies would have to pass through
            something.
        """
        reached = goal
        # Contact, the last term, comes first: bodies may carry cloth towards another barrier.
        for barrier in reversed(self.barriers):
            carried = barrier.carry(reached, self.step)
            if carried is None:
                return None
            reached = carried
        return Reached(reached)

    def _goals(self) -> Iterator[Positions]:
        """Yield the goals (n,3) [m] towards which a search may start, the best one first.

        These are the inertial prediction, the positions at the beginning of the step, and these
        moved by the mean displacement of the prescribed vertices. All goals have prescribed
        vertices at their targets.
        """
        step, x = self.step, np.asarray(self.step.state.x)
        yield self.start
        yield step.move_pins(x)
        if step.fixed.any():
            mean = (step.target - x)[step.fixed].mean(0)
            yield step.move_pins(x + mean)

    def first_start(self) -> tuple[Reached, float] | None:
        """Return the positions (n,3) [m] from which a search starts, and Phi there [J].

        None: pins and bodies cannot get to the end of the step without passing through cloth, or
        without stretching it past a limit.
        """
        beyond = None
        for goal in self._goals():
            start = self.reach(goal)
            if start is not None:
                value = self.value_at(self.point(start))
                if is_start(value):
                    return start, value
                beyond = start
        if beyond is not None:
            self._exceeded = self._exceeded_limit(beyond)
        return None

    def _exceeded_limit(self, x: Positions) -> Obstacle | None:
        """Return the first limit that is exceeded at x (n,3), where the potential is infinite."""
        point = self.point(x)
        for term in self.terms_of_phi:
            if isinstance(term, StepLimit) and not np.isfinite(term.value(point)):
                first = int(np.argmin(np.isfinite(kernel.numpy(term.energies(point)))))
                a, b, c = x[term.energy.stencil[first]].mean(0).tolist()
                return Obstacle((a, b, c), (), (), self.step.t, False, limit=term.name)
        return None

    def is_contact_free(self, goal: Positions) -> bool:
        """Return whether the motion to ``goal`` is free of collisions and ends without contact.

        Every barrier (contact with friction, limits) has to be zero there.
        """
        reached, point = self.reach(goal), self.point(goal)
        return (
            reached is not None
            and np.array_equal(reached, goal)
            and all(barrier.value(point) == 0.0 for barrier in self.barriers)
        )

    def has_new_intersections(self, x: Positions) -> bool:
        """Return whether surfaces intersect at x (n,3) that do not at the beginning of the step."""
        point = self.point(x)
        return any(barrier.has_new_intersections(point) for barrier in self.barriers)

    # The minimizer calls the methods below (``solve.newton.problem.Problem``) with device arrays
    # x whose pinned vertices are at their targets.

    def value_at(self, x: WarpArray) -> float:
        """Return Phi [J] at a device array (n,) vec3 whose pinned vertices are at their targets."""
        with self.phases("elastic"):
            return sum(term.value(x) for term in self.terms_of_phi)

    def gradient_at(self, x: WarpArray, out: WarpArray) -> None:
        """Write dPhi/dx [N] at x into out, (n,) vec3."""
        with self.phases("elastic"):
            out.zero_()
            self._add_gradients(x, out)
            kernel.launch(zero_at_fixed, x.shape[0], self._fixed, 1, out)

    def matrix_at(self, x: WarpArray, psd: Psd | None = None) -> BlockCsr:
        """Return the Hessian [N/m] of the kind ``psd`` at x, with identity blocks at pins.

        The matrix is valid until the next call; with EXACT it may be indefinite.
        """
        with self.phases("elastic"):
            A = self._matrix.begin()
            for term in self.terms_of_phi:
                A = term.add_hessian(x, self.psd if psd is None else psd, A)
            close(A.finish(), self._fixed)
        return A

    def updates_at(self, x: WarpArray) -> list[LowRankUpdate]:
        """Return the rank-one parts of the Hessian that ``matrix_at`` leaves out.

        They are zero at pinned vertices.
        """
        updates = [update for term in self.terms_of_phi for update in term.updates(x)]
        for update in updates:
            kernel.launch(zero_at_fixed, x.shape[0], self._fixed, 1, update.u)
        return updates

    def max_step_at(self, x: WarpArray, d: WarpArray) -> float:
        """Return the part of the direction d, in [0, 1], that is free of collisions.

        Values, gradients and matrices along the direction use the contact pairs that this search
        finds.
        """
        return min((barrier.max_step(x, d) for barrier in self.barriers), default=1.0)

    def truncate_direction(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """Return a direction free of collisions: each vertex is limited by its neighbors alone.

        None: no term limits the direction in this way.
        """
        held = None
        for barrier in self.barriers:
            shorter = barrier.truncate(x, d if held is None else held)
            held = held if shorter is None else shorter
        return held

    def is_settled_at(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether d, as the last displacement of a search, is small to every barrier."""
        return all(barrier.is_settled(x, d) for barrier in self.barriers)

    def update_lagged_terms(self, x: WarpArray, *, rubs: bool = True, blows: bool = True) -> bool:
        """Evaluate again at x what terms keep constant during a search.

        Args:
            x: (n,) vec3 positions; free of intersections if friction is evaluated.
            rubs: evaluate friction from the contacts at x.
            blows: evaluate the other terms that are kept constant: wind.

        Returns:
            True if a term has changed.
        """
        wanted = [t for t in self.terms_of_phi if (rubs if t in self.barriers else blows)]
        changed = [term.lag(x) for term in wanted]
        if any(changed):
            self.lag_points.append(np.array(kernel.numpy(x)))
        return any(changed)

    def _add_gradients(self, x: WarpArray, g: WarpArray) -> None:
        for term in self.terms_of_phi:
            term.add_gradient(x, g)

    def point(self, x: Positions) -> WarpArray:
        """Return x (n,3) [m] on the device, with pinned vertices at their targets.

        The last point is uploaded once, whatever is asked about it.
        """
        pinned = np.array(self.step.move_pins(x))
        if self._last is None or not np.array_equal(pinned, self._last[0]):
            self._last = pinned, kernel.points(pinned)
        return self._last[1]


def is_start(value: float) -> bool:
    """Return whether a search may start where the potential has this value [J].

    An infinite value means that the start is beyond a barrier through which the motion was not
    checked. NaN does not come from a barrier; the search itself reports it.
    """
    return value != float("inf")
