"""The terms of a model's potential on one block pattern, with work arrays that steps reuse."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.timing import Phases
from weft.bodies.motion.step_division import KinematicMotion
from weft.contact.contact import Contact
from weft.contact.contact_term import ContactTerm
from weft.contact.settings import SelfContact
from weft.energies.energy import Energy, FastEnergy
from weft.energies.inertia import Inertia, Masses
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.step import Step
from weft.energies.term import Term
from weft.kernel import Scalar, WarpArray, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


@dataclass(frozen=True, eq=False)
class Changed:
    """Energies and contact that replace those of a model at one time."""

    energies: Mapping[str, Energy]  # by name; kind and stencil are those of the model's energy
    contact: SelfContact | None = None  # its friction is used

    def update(self, terms: Iterable[Term]) -> None:
        """Update terms to these constants."""
        for term in terms:
            if term.name in self.energies:
                term.update_constants(self.energies[term.name])
            if self.contact is not None and isinstance(term, ContactTerm):
                term.update_constants(self.contact)


class Changing(Protocol):
    """Protocol of constants that change in time."""

    @property
    def times(self) -> Sequence[float]:
        """Times [s] of all keyframes."""

    @property
    def motions(self) -> Sequence[KinematicMotion]:
        """The motions of motors and drives that have keyframes."""

    def __call__(self, t: float) -> Changed:
        """Return the replacements at time t [s]; equal constants give the same object."""


@dataclass(frozen=True, eq=False)
class Assembly:
    """The terms of a potential, bound to device arrays.

    An assembly is built once per model. It holds work arrays, so only one step at a time may use
    it.
    """

    energies: Sequence[Energy]
    mass: Floats  # (n,) [kg]
    contact: Contact | None = None
    changing: Changing | None = None  # constants as functions of time

    def take(self, t: float) -> None:
        """Update all terms to the constants of time t [s], if constants change in time."""
        if self.changing is None:
            return
        now = self.changing(t)
        if now is self._taken[-1]:
            return
        self._taken[:] = [now]
        now.update(self.terms)

    @cached_property
    def _taken(self) -> list[Changed | None]:
        return [None]

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.mass)

    @cached_property
    def phases(self) -> Phases:
        """Wall time [s] by phase of the step that is being solved."""
        return Phases()

    @cached_property
    def pattern(self) -> BlockPattern:
        """The block pattern: the union of all stencils."""
        wide = [e.stencil for e in self.energies if e.stencil.shape[1] > 1]
        return BlockPattern.of(self.n, wide)

    @cached_property
    def bound(self) -> tuple[Term, ...]:
        """The energies, bound to the pattern, in the order of ``energies``."""
        return tuple(bind_term(e, self.pattern) for e in self.energies)

    @cached_property
    def inertia(self) -> Inertia:
        """The inertial term with the masses of the model."""
        return Inertia(self.mass)

    @cached_property
    def contact_term(self) -> ContactTerm | None:
        """Contact and friction; None if the model has no contact."""
        return None if self.contact is None else ContactTerm(self.contact, self.phases)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """All terms of the potential of a step: energies, inertia, contact."""
        contact = () if self.contact_term is None else (self.contact_term,)
        return (*self.bound, self.inertia, *contact)

    @cached_property
    def matrix(self) -> BlockCsr:
        """The one matrix that Hessians are assembled into."""
        return BlockCsr.zeros(self.pattern)

    @cached_property
    def device_mass(self) -> WarpArray:
        """``mass`` on the device, (n,) [kg]."""
        return kernel.array(self.mass, Scalar)

    def freeze(self, step: Step) -> None:
        """Begin a step: update the constants, and let every energy store what it needs of it."""
        self.take(step.t)
        for term in self.bound:
            term.freeze(step)

    def value(self, x: WarpArray) -> float:
        """Return the sum [J] of all energies at x (n,) vec3."""
        return sum(b.value(x) for b in self.bound)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx [N] of all energies to g (n,) vec3."""
        for b in self.bound:
            b.add_gradient(x, g)

    def hessian(self, x: WarpArray, psd: Psd) -> BlockCsr:
        """Assemble d2E/dx2 [N/m] of all energies into ``matrix``.

        The matrix is valid until the next call.
        """
        A = self.matrix.begin()
        for b in self.bound:
            A = b.add_hessian(x, psd, A)
        return A.finish()


def bind_term(part: Energy | Masses | Contact, pattern: BlockPattern) -> Term:
    """Return the term of a part of a model; an energy without kernels runs in NumPy."""
    if isinstance(part, Contact):
        return ContactTerm(part)
    if isinstance(part, Masses):
        return Inertia(part.mass)
    return part.bind(pattern) if isinstance(part, FastEnergy) else NumpyEnergy(part, pattern)


def sum_gradients(terms: Iterable[Term | Assembly], x: Positions | WarpArray) -> Floats:
    """Return the sum (n,3) [N] of the gradients of terms at positions x (n,3) [m]."""
    at = kernel.points(x)
    g = kernel.zeros(len(at), vec3)
    for term in terms:
        term.add_gradient(at, g)
    return np.array(kernel.numpy(g))


def sum_energies(terms: Sequence[Term], x: WarpArray) -> dict[str, float]:
    """Return the energies [J] of terms at x by name; terms with equal names are added."""
    total: dict[str, float] = {}
    for term in terms:
        for name, value in term.terms(x).items():
            total[name] = total.get(name, 0.0) + value
    return total
