"""Assembly.

All terms of a model's potential on one block pattern, with the arrays that every step reuses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from weft import kernel
from weft.base.arrays import Floats
from weft.base.timing import Phases
from weft.contact.contact import Contact, SelfContact
from weft.contact.contact_energy import ContactEnergy
from weft.energies.base import Bound, Energy, FastEnergy
from weft.energies.inertia import Inertia
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.step import Step
from weft.kernel import Scalar, WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


@dataclass(frozen=True, eq=False)
class Changed:
    """What a model has at some time in place of what it was built with."""

    energies: Mapping[int, Energy]  # by number in the model, each of the same kind and stencil
    contact: SelfContact | None = None  # of which friction counts
    mass: Floats | None = None  # (n,) [kg]; None: that of the model
    thickness: Floats | None = None  # (k,) [m] of pieces of cloth and bodies; None: it stays


class Changing(Protocol):
    """Constants by time."""

    @property
    def times(self) -> Sequence[float]:
        """[s] of the keys of all of them."""

    def __call__(self, t: float) -> Changed:
        """Those of a time [s]; the same object for the same numbers."""

    def mass_at(self, t: float) -> Floats:
        """(n,) [kg] at the time t [s]."""


@dataclass(frozen=True, eq=False)
class Assembly:
    """Bound terms. Built once per model; holds work arrays, so one step at a time may use it."""

    energies: Sequence[Energy]
    mass: Floats  # (n,) [kg]
    contact: Contact | None = None
    changing: Changing | None = None  # constants by time

    def take(self, t: float) -> None:
        """Take the constants of the time t [s], where these change."""
        if self.changing is None:
            return
        now = self.changing(t)
        if now is self._taken[-1]:
            return
        self._taken[:] = [now]
        for k, energy in now.energies.items():
            self.bound[k].retake(energy)
        if now.contact is not None and self.touching is not None:
            self.touching.retake(now.contact)
            self.touching.thicken(now.thickness)
        if now.mass is not None:
            for term in self.terms:
                term.reweigh(now.mass)

    @cached_property
    def _taken(self) -> list[Changed | None]:
        return [None]

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.mass)

    @cached_property
    def phases(self) -> Phases:
        """Seconds of the step that is being solved."""
        return Phases()

    @cached_property
    def pattern(self) -> BlockPattern:
        """The union of all stencils."""
        wide = [e.stencil for e in self.energies if e.stencil.shape[1] > 1]
        return BlockPattern.of(self.n, wide)

    @cached_property
    def bound(self) -> tuple[Bound, ...]:
        """The energies, in their order."""
        return tuple(
            e.bind(self.pattern) if isinstance(e, FastEnergy) else NumpyEnergy(e, self.pattern)
            for e in self.energies
        )

    @cached_property
    def inertia(self) -> Inertia:
        """Of the masses."""
        return Inertia(self.mass)

    @cached_property
    def touching(self) -> ContactEnergy | None:
        """Contact and friction; None without."""
        return None if self.contact is None else ContactEnergy(self.contact, self.phases)

    @cached_property
    def terms(self) -> tuple[Bound, ...]:
        """All that adds to the potential of a step."""
        contact = () if self.touching is None else (self.touching,)
        return (*self.bound, self.inertia, *contact)

    @cached_property
    def matrix(self) -> BlockCsr:
        """The one matrix that is assembled into."""
        return BlockCsr.zeros(self.pattern)

    @property
    def mass_now(self) -> Floats:
        """(n,) [kg] of the constants taken last."""
        now = self._taken[-1]
        return self.mass if now is None or now.mass is None else now.mass

    @property
    def device_mass(self) -> WarpArray:
        """``mass_now`` on the device."""
        of, made = self._on_device[-1]
        if of is not self.mass_now:
            made = kernel.array(self.mass_now, Scalar)
            self._on_device[:] = [(self.mass_now, made)]
        return made

    @cached_property
    def _on_device(self) -> list[tuple[Floats, WarpArray]]:
        return [(self.mass, kernel.array(self.mass, Scalar))]

    def freeze(self, step: Step) -> None:
        """Begin a step: the energies take what they need of it."""
        self.take(step.t)
        for term in self.bound:
            term.freeze(step)

    def energy_terms(self, x: WarpArray) -> dict[str, float]:
        """[J] of every energy at x, and of its damping in the step."""
        return summed(self.bound, x)

    def value(self, x: WarpArray) -> float:
        """[J] of all energies at x."""
        return sum(b.value(x) for b in self.bound)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx of all energies."""
        for b in self.bound:
            b.add_gradient(x, g)

    def hessian(self, x: WarpArray, psd: Psd) -> BlockCsr:
        """d2E/dx2 of all energies, in ``matrix``: valid until the next call."""
        A = self.matrix.begin()
        for b in self.bound:
            A = b.add_hessian(x, psd, A)
        return A.finish()


def summed(terms: Sequence[Bound], x: WarpArray) -> dict[str, float]:
    """[J] by name; terms of one name are added."""
    total: dict[str, float] = {}
    for term in terms:
        for name, value in term.terms(x).items():
            total[name] = total.get(name, 0.0) + value
    return total
