"""The incremental potential of one step: Phi(x) = |x - y|_M^2 / (2 s) + sum E(x).

It can be taken in hand, for plots, checks and other minimizers: the public face is NumPy and SciPy.
Pinned vertices are eliminated: Phi is a function of the free ones, and reads the pinned ones from
their targets whatever x says.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NewType

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Floats, Forces, Positions
from weft.base.timing import Phases
from weft.energies.base import Bound
from weft.energies.by_constants import ByName, Differentiable, by_constants
from weft.energies.step import Step
from weft.integrators.assembly import summed
from weft.integrators.model import Model
from weft.kernel import WarpArray, vec3
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, close
from weft.solve.sparse.vectors import max_norm

Reached = NewType("Reached", Positions)
"""(n,3) [m] positions that ``Potential.reach`` returned: continuous collision detection has seen
the way to them. Searches begin nowhere else.
"""


@wp.kernel(module=wp.get_module("weft.potential"))
def zero_where(o: int, fixed: wp.array(dtype=wp.int32), value: int, g: wp.array(dtype=vec3)):
    """g = 0 at vertices that are fixed (1), or at those that are not (0)."""
    v = o + wp.tid()
    if fixed[v] == value:
        g[v] = vec3(wp.float64(0.0))


class Potential:
    """Phi of one step. [J]

    Valid until another potential of the model is made: they share work arrays.

    Args:
        model: energies, pins and contact.
        step: what it is the potential of (``model.step``).
        psd: which Hessian the minimizer gets.
        terms: in place of the model's.
    """

    def __init__(
        self,
        model: Model,
        step: Step,
        psd: Psd = Psd.PROJECTED,
        terms: Sequence[Bound] | None = None,
    ) -> None:
        assembly = model.assembly
        assembly.take(step.t)
        self.step, self.psd, self.mass = step, psd, assembly.device_mass
        self.terms_of_phi = assembly.terms if terms is None else tuple(terms)
        self.phases: Phases = assembly.phases
        self.phases.clear()
        self._matrix, self._energies = assembly.matrix, model.energies
        self.anew: list[Positions] = []  # (n,3) each, where what is frozen was taken anew
        self._fixed = kernel.array(step.fixed.astype(np.int32), wp.int32)
        for term in self.terms_of_phi:
            term.freeze(step)

    def modeled(self, elastic: Bound) -> "Potential":
        """The same with a model in place of all terms but contact, which goes on as it is."""
        other = copy.copy(self)
        other.terms_of_phi = (elastic, *(t for t in self.terms_of_phi if t.limits))
        return other

    @property
    def free(self) -> Bools:
        """(n,) what Phi is a function of."""
        return self.step.free

    @property
    def start(self) -> Positions:
        """(n,3) the inertial prediction y, with pins at their targets."""
        return self.step.start

    def value(self, x: Positions) -> float:
        """Phi [J] at x (n,3)."""
        return self.value_at(self._point(x))

    def gradient(self, x: Positions) -> Forces:
        """dPhi/dx, (n,3) [N]; zero at pinned vertices."""
        out = kernel.empty(len(self.free), vec3)
        self.gradient_at(self._point(x), out)
        return np.array(kernel.numpy(out))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Any:
        """d2Phi/dx2 as a SciPy CSR matrix (3n,3n) [N/m]; rows and columns of pinned vertices are
        zero.

        Restrict it to ``np.repeat(potential.free, 3)`` to solve with it.
        """
        matrix = self.matrix_at(self._point(x), psd).to_scipy().tocsr().copy()
        diagonal = matrix.diagonal()
        diagonal[np.repeat(~self.free, 3)] = 0.0
        matrix.setdiag(diagonal)
        return matrix

    def terms(self, x: Positions) -> dict[str, float]:
        """[J] by name: ``inertia``, every energy and its damping, ``contact``, ``friction``.

        They sum to ``value(x)``.
        """
        return summed(self.terms_of_phi, self._point(x))

    def by_constants(self, x: Positions, by: Floats) -> "list[ByName]":
        """Of every energy of the model in turn, by name of its constants c, d(by . dE/dx)/dc in the
        step (``energies.by_constants``); nothing of one that does not know them. Inertia and
        contact have none here.

        Args:
            x: (n,3) [m].
            by: (n,3).
        """
        known = (isinstance(e, Differentiable) for e in self._energies)
        at = np.asarray(x, dtype=np.float64)
        return [
            by_constants(e, at, by, self.step) if k else {} for e, k in zip(self._energies, known)
        ]

    def reaction(self, x: Positions) -> Forces:
        """(n,3) [N] force that each pin exerts; zero at free vertices."""
        g = kernel.zeros(len(self.free), vec3)
        self._add_gradients(self._point(x), g)
        return np.where(self.free[:, None], 0.0, np.array(kernel.numpy(g)))

    def loads_at(self, x: WarpArray, out: WarpArray) -> None:
        """What cloth is loaded with (weight, pressure) into out, (n,) vec3 [N]: minus the force."""
        out.zero_()
        for term in self.terms_of_phi:
            if term.is_load:
                term.add_gradient(x, out)

    def reaction_at(self, x: WarpArray, out: WarpArray) -> float:
        """[N] largest force of a pin; out is scratch, (n,) vec3."""
        if not self.step.fixed.any():
            return 0.0
        out.zero_()
        self._add_gradients(x, out)
        kernel.launch(zero_where, x.shape[0], self._fixed, 0, out)
        return max_norm(out)

    def report(self, x: Positions) -> dict[str, Any]:
        """What a step that ended at x (n,3) says besides energies: see ``ContactTerm.report``."""
        point = self._point(x)
        return {k: v for term in self.terms_of_phi for k, v in term.report(point).items()}

    def forces(self, x: Positions) -> dict[str, Any]:
        """What attachments hold with after a step that ended at x (n,3), by name."""
        point = self._point(x)
        return {k: v for term in self.terms_of_phi for k, v in term.forces(point).items()}

    def remember(self, x: Positions) -> dict[str, Floats]:
        """What the next step has to know of one that ended at x (n,3): see ``Bound.remember``."""
        point = self._point(x)
        return {k: v for term in self.terms_of_phi for k, v in term.remember(point).items()}

    @property
    def blocked(self) -> tuple[float, float, float] | None:
        """[m] where there was no room for something; None where there was."""
        for term in self.terms_of_phi:
            if term.blocked is not None:
                x, y, z = np.asarray(term.blocked).tolist()
                return x, y, z
        return None

    def reach(self, goal: Positions) -> Reached | None:
        """Go from where the step begins towards ``goal`` (n,3) [m] as far as nothing is in the way.

        Prescribed vertices and bodies go all their way, and carry along what they meet. This is the
        one function through which the start of every search goes.

        Returns:
            (n,3) [m] the positions reached; None where pins or bodies would have to pass through
            something.
        """
        reached = goal
        for term in self.terms_of_phi:
            carried = term.carried(np.asarray(self.step.state.x), reached, self.step)
            if carried is None:
                return None
            reached = carried
        return Reached(reached)

    def starts(self) -> Iterator[Reached]:
        """Yield positions at which a search may begin; the caller takes the first ``is_start``.

        The goals are, in turn, the inertial prediction, the positions at which the step begins, and
        these moved by the mean displacement of the prescribed vertices. All have prescribed
        vertices at their targets.
        """
        step, x = self.step, np.asarray(self.step.state.x)
        yield from self._reached(self.start)
        yield from self._reached(step.pinned(x))
        if step.fixed.any():
            mean = (step.target - x)[step.fixed].mean(0)
            yield from self._reached(step.pinned(x + mean))

    def _reached(self, goal: Positions) -> Iterator[Reached]:
        reached = self.reach(goal)
        if reached is not None:
            yield reached

    def first_start(self) -> tuple[Reached, float] | None:
        """Return where a search begins, and the value there [J].

        None: pins and bodies cannot get to the end of the step without passing through cloth, or
        without stretching it past a limit.
        """
        for start in self.starts():
            value = self.value_at(kernel.points(start))
            if is_start(value):
                return start, value
        return None

    def passes_free(self, goal: Positions) -> bool:
        """Whether the way to ``goal`` is free, and nothing presses or rubs there."""
        reached, point = self.reach(goal), self._point(goal)
        return (
            reached is not None
            and np.array_equal(reached, goal)
            and all(term.value(point) == 0.0 for term in self.terms_of_phi if term.limits)
        )

    def intersects_anew(self, x: Positions) -> bool:
        """Whether surfaces intersect at x (n,3) that did not intersect where the step begins."""
        point = self._point(x)
        return any(term.intersects_anew(point) for term in self.terms_of_phi)

    # What the minimizer calls (solve.minimize.Problem): device arrays, x already pinned.

    def value_at(self, x: WarpArray) -> float:
        """Phi at a device array whose pinned vertices are at their targets."""
        with self.phases("elastic"):
            return sum(term.value(x) for term in self.terms_of_phi)

    def gradient_at(self, x: WarpArray, out: WarpArray) -> None:
        """dPhi/dx into out."""
        with self.phases("elastic"):
            out.zero_()
            self._add_gradients(x, out)
            kernel.launch(zero_where, x.shape[0], self._fixed, 1, out)

    def matrix_at(self, x: WarpArray, psd: Psd | None = None) -> BlockCsr:
        """The Hessian that ``psd`` asks for, identity at pinned vertices.

        Valid until the next call; EXACT may be indefinite.
        """
        with self.phases("elastic"):
            A = self._matrix.begin()
            for term in self.terms_of_phi:
                A = term.add_hessian(x, self.psd if psd is None else psd, A)
            close(A.finish(), self._fixed)
        return A

    def updates_at(self, x: WarpArray) -> list[LowRankUpdate]:
        """Dense parts of rank one that ``matrix_at`` leaves out, zero at pinned vertices."""
        updates = [update for term in self.terms_of_phi for update in term.updates(x)]
        for update in updates:
            kernel.launch(zero_where, x.shape[0], self._fixed, 1, update.u)
        return updates

    def limit_at(self, x: WarpArray, d: WarpArray) -> float:
        """Part of the direction d, in [0, 1], that may be gone before anything would meet.

        Values, gradients and matrices on the way are then those of the pairs found on it.
        """
        return min((term.max_step(x, d) for term in self.terms_of_phi), default=1.0)

    def truncated_at(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """A direction that may be gone to the end, each vertex held by its own neighbors alone.

        None where no term holds any.
        """
        held = None
        for term in self.terms_of_phi:
            shorter = term.truncated(x, d if held is None else held)
            held = held if shorter is None else shorter
        return held

    def settled_at(self, x: WarpArray, d: WarpArray) -> bool:
        """Whether d, as the last displacement of a search, is small to every term."""
        return all(term.settled(x, d) for term in self.terms_of_phi)

    def lag_at(self, x: WarpArray, *, rubs: bool = True, blows: bool = True) -> bool:
        """Take what is frozen anew at x; False where there is none.

        Args:
            x: (n,) vec3; where no contact is passed, if friction is taken.
            rubs: friction, from the contacts at x.
            blows: what else is frozen: wind.
        """
        wanted = [term for term in self.terms_of_phi if (rubs if term.limits else blows)]
        changed = [term.lag(x) for term in wanted]
        if any(changed):
            self.anew.append(np.array(kernel.numpy(x)))
        return any(changed)

    def _add_gradients(self, x: WarpArray, g: WarpArray) -> None:
        for term in self.terms_of_phi:
            term.add_gradient(x, g)

    def _point(self, x: Positions) -> WarpArray:
        return kernel.points(self.step.pinned(x))


def is_start(value: float) -> bool:
    """Whether a search may begin where the potential has this value [J].

    An infinite value means that the start is beyond a barrier, which nothing has led the step
    through. A value that is not a number is no barrier: the search itself reports it.
    """
    return value != float("inf")
