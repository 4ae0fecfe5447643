"""The incremental potential of one step: Phi(x) = |x - y|_M^2 / (2 s) + sum E(x).

It can be taken in hand, for plots, checks and other minimizers: the public face is NumPy and SciPy.
Pinned vertices are eliminated: Phi is a function of the free ones, and reads the pinned ones from
their targets whatever x says.
"""

from functools import cached_property
from typing import Any, Protocol

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Bools, Floats, Forces, Positions
from weft.contact.pulled_back import PulledBack, search_of
from weft.contact.search import ContactSearch
from weft.kernel import Scalar, WarpArray, vec3
from weft.laws.base import Psd
from weft.model import Model
from weft.phases import Phases
from weft.solve.block_csr import BlockCsr, close_rows
from weft.solve.updates import Update
from weft.state import State

_module = wp.get_module("weft.potential")
THINNER, MOST_THINNER = 0.7, 8  # of the thickness, where bodies leave no room for it


@wp.kernel(module=_module)
def inertia_gradient(
    o: int,
    x: wp.array(dtype=vec3),
    y: wp.array(dtype=vec3),
    shift: wp.array(dtype=Scalar),
    g: wp.array(dtype=vec3),
):
    """g = (m/s) (x - y)."""
    v = o + wp.tid()
    g[v] = shift[v] * (x[v] - y[v])


@wp.kernel(module=_module)
def inertia_energy(
    o: int,
    x: wp.array(dtype=vec3),
    y: wp.array(dtype=vec3),
    shift: wp.array(dtype=Scalar),
    out: wp.array(dtype=Scalar),
):
    """(m/2s) |x - y|^2 per vertex."""
    v = o + wp.tid()
    d = x[v] - y[v]
    out[v] = Scalar(0.5) * shift[v] * wp.dot(d, d)


@wp.kernel(module=_module)
def zero_fixed(o: int, fixed: wp.array(dtype=wp.int32), g: wp.array(dtype=vec3)):
    """g = 0 at fixed vertices."""
    v = o + wp.tid()
    if fixed[v] != 0:
        g[v] = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))


class Elastic(Protocol):
    """What a potential needs of energies; ``Assembly`` is one."""

    def value(self, x: WarpArray) -> float:
        """[J]."""

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""

    def hessian(self, x: WarpArray, psd: Psd) -> BlockCsr:
        """d2E/dx2, valid until the next call."""

    def terms(self, x: WarpArray) -> dict[str, float]:
        """[J] by name."""

    def updates(self, x: WarpArray) -> list[Update]:
        """Dense parts of the Hessian."""


class Potential:
    """Phi of one step. [J]

    Args:
        model: energies and pins; its step terms must have been frozen for this step.
        predicted: y (n,3) [m], where inertia alone would lead.
        scale: s [s^2]; None leaves inertia out (quasi-static).
        fixed: (n,) bool, pinned vertices.
        target: (n,3) [m], where those are.
        psd: which Hessian the minimizer gets.
        t: [s] at which bodies are where they are.
        elastic: in place of the model's energies: a model of them.
        search: contact of an earlier potential with the same pins and time, whose candidates and
            pattern are kept.
    """

    def __init__(
        self,
        model: Model,
        predicted: Positions,
        scale: float | None,
        fixed: Bools,
        target: Positions,
        psd: Psd = Psd.PROJECTED,
        t: float = 0.0,
        elastic: "Elastic | None" = None,
        search: ContactSearch | PulledBack | None = None,
    ) -> None:
        self.free = ~fixed  # (n,) bool: what Phi is a function of
        self.target = target
        self.psd = psd
        self._assembly: Elastic = elastic or model.assembly
        self._before: Positions | None = None  # (b,3) of bodies when the step began
        self.phases = Phases()  # seconds of this step
        self._contact: ContactSearch | PulledBack | None = None
        if search is not None:
            self._contact, self.phases = search, search.phases
        elif model.contact is not None:
            self._contact = search_of(model.contact, t, fixed, self.phases)
        self._y = kernel.array(predicted, vec3)
        shift = np.zeros(len(fixed)) if scale is None else model.mass / scale
        self._shift = kernel.array(np.where(fixed, 0.0, shift), Scalar)
        self._fixed = kernel.array(fixed.astype(np.int32), wp.int32)
        self._inertia = kernel.empty(len(fixed))

    def pinned(self, x: Positions) -> Positions:
        """A copy of x with pinned vertices at their targets."""
        return np.where(self.free[:, None], np.asarray(x, dtype=np.float64), self.target)

    def value(self, x: Positions) -> float:
        """Phi [J] at x (n,3)."""
        self._look(x)
        return self.value_at(kernel.array(self.pinned(x), vec3))

    def gradient(self, x: Positions) -> Forces:
        """dPhi/dx, (n,3) [N]; zero at pinned vertices."""
        out = kernel.empty(len(self.free), vec3)
        self._look(x)
        self.gradient_at(kernel.array(self.pinned(x), vec3), out)
        return np.array(kernel.numpy(out))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Any:
        """d2Phi/dx2 as a SciPy CSR matrix (3n,3n) [N/m]; rows and columns of pinned vertices are
        zero.

        Restrict it to ``np.repeat(potential.free, 3)`` to solve with it.
        """
        self._look(x)
        matrix = self.matrix_with(kernel.array(self.pinned(x), vec3), psd).to_scipy().tocsr().copy()
        diagonal = matrix.diagonal()
        diagonal[np.repeat(~self.free, 3)] = 0.0
        matrix.setdiag(diagonal)
        return matrix

    def terms(self, x: Positions) -> dict[str, float]:
        """[J] by name: ``inertia``, every energy, every step term. They sum to ``value(x)``."""
        x_device = kernel.array(self.pinned(x), vec3)
        terms = {"inertia": self._inertia_at(x_device), **self._assembly.terms(x_device)}
        if self._contact is not None:
            self._look(x)
            terms["contact"] = self._contact.value(x_device)
            if self._contact.friction:
                terms["friction"] = self._contact.friction_value(x_device)
        return terms

    def reaction(self, x: Positions) -> Forces:
        """(n,3) [N] force that each pin exerts; zero at free vertices."""
        g = kernel.zeros(len(self.free), vec3)
        x_device = kernel.array(self.pinned(x), vec3)
        self._assembly.add_gradient(x_device, g)
        if self._contact is not None:
            self._look(x)
            self._contact.add_gradient(x_device, g)
        return np.where(self.free[:, None], 0.0, np.array(kernel.numpy(g)))

    # What the minimizer calls (solve.newton.Problem): device arrays, x already pinned.

    def value_at(self, x: WarpArray) -> float:
        """Phi at a device array whose pinned vertices are at their targets."""
        with self.phases("elastic"):
            value = self._inertia_at(x) + self._assembly.value(x)
        if self._contact is None:
            return value
        return value + self._contact.value(x) + self._contact.friction_value(x)

    def gradient_at(self, x: WarpArray, out: WarpArray) -> None:
        """dPhi/dx into out."""
        n = len(self.free)
        with self.phases("elastic"):
            kernel.launch(inertia_gradient, n, x, self._y, self._shift, out)
            self._assembly.add_gradient(x, out)
        if self._contact is not None:
            self._contact.add_gradient(x, out)
        kernel.launch(zero_fixed, n, self._fixed, out)

    def matrix_at(self, x: WarpArray) -> BlockCsr:
        """The Hessian that ``psd`` asks for, identity at pinned vertices.

        Valid until the next call.
        """
        return self.matrix_with(x, self.psd)

    def matrix_with(self, x: WarpArray, psd: Psd) -> BlockCsr:
        """The same with another Hessian; EXACT may be indefinite."""
        with self.phases("elastic"):
            A = self._assembly.hessian(x, psd)
        if self._contact is not None:
            A = self._contact.add_hessian(x, psd, A)
        p = A.pattern
        rows = (p.device_row_start, p.device_column, p.device_diagonal)
        worth = kernel.slice_above(p.n_blocks / p.n)
        kernel.launch(close_rows, p.n, *rows, self._shift, self._fixed, A.values, slice_above=worth)
        return A

    def updates_at(self, x: WarpArray) -> list[Update]:
        """Dense parts of rank one that ``matrix_at`` leaves out, zero at pinned vertices."""
        updates = self._assembly.updates(x)
        for update in updates:
            kernel.launch(zero_fixed, len(self.free), self._fixed, update.u)
        return updates

    def begin(self, state: State, dt: float, origin: Positions, span: float) -> None:
        """Tell contact that a step of dt [s] comes from ``state``, with the velocity (x' -
        origin)/span: bodies start where they were, and friction is taken from there.
        """
        if self._contact is not None:
            self._before = self._contact.contact.body_positions(state.t)
            self._contact.begin(state.x, origin, self._before, dt, span)

    def lag(self, x: Positions) -> bool:
        """Take friction anew from the contacts at x (n,3); False where there is none."""
        return self._contact is not None and self._contact.lag(x)

    def report(self, x: Positions, dt: float) -> dict[str, Any]:
        """What a step of dt [s] that ended at x (n,3) says of contact; empty without."""
        return {} if self._contact is None else self._contact.report(x, dt)

    @property
    def tight(self) -> tuple[float, float, float] | None:
        """[m] where there was no room for something; None where there was."""
        found = self._contact.tight if self._contact is not None else None
        if found is None:
            return None
        x, y, z = found[1].tolist()
        return x, y, z

    @property
    def search(self) -> ContactSearch | PulledBack | None:
        """Contact of this search, for potentials that follow; None without."""
        return self._contact

    def limit_at(self, x: WarpArray, d: WarpArray) -> float:
        """Part of the direction d, in [0, 1], that may be gone before anything would meet.

        Values, gradients and matrices on the way are then those of the pairs found on it.
        """
        if self._contact is None:
            return 1.0
        return self._contact.limit(kernel.numpy(x), kernel.numpy(d))

    def truncated_at(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """A direction that may be gone to the end, each vertex held by its own neighbors alone.

        None without contact.
        """
        if self._contact is None:
            return None
        return kernel.array(self._contact.truncated(kernel.numpy(x), kernel.numpy(d)), vec3)

    def feasible(self, x: Positions) -> Positions | None:
        """(n,3) as far from x towards ``start`` as contact lets it, with pins and bodies where they
        have to be; None where they cannot get there without passing through something.

        Where these cannot go without meeting cloth, they carry it along.
        """
        if self._contact is None:
            return self.start
        x = np.asarray(x, dtype=np.float64)
        way = self.start - x
        before = self._before
        part = self._contact.limit(x, way, before)
        moving = np.where(self.free[:, None], 0.0, way)
        still = before is None or np.array_equal(before, self._contact.body)
        if part == 1.0 or (still and not moving.any()):
            return np.asarray(x + part * way)
        with self.phases("carry"):
            carried = self._contact.carried(x, way, self.free, before)
            if self._contact.contact.settings.pinch == "thin":
                for _ in range(MOST_THINNER):
                    if carried is not None:
                        break
                    self._contact.pinch(THINNER * self._contact.thin)
                    carried = self._contact.carried(x, way, self.free, before)
        return carried

    def _look(self, x: Positions) -> None:
        """Find what is near at x (public faces: x may be anywhere)."""
        if self._contact is not None:
            self._contact.look(self.pinned(x))

    def _inertia_at(self, x: WarpArray) -> float:
        kernel.launch(inertia_energy, len(self.free), x, self._y, self._shift, self._inertia)
        return kernel.total(self._inertia)

    @cached_property
    def start(self) -> Floats:
        """(n,3) the inertial prediction y, with pins at their targets."""
        return self.pinned(kernel.numpy(self._y))
