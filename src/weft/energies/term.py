"""A term of the potential, on shared device arrays.

``Energy.bind(pattern)`` (``energies.energy``) returns the term of an energy. Inertia and contact
are terms without an energy, because they depend on a step.

``Term`` is what a minimizer needs. A term that bounds steps is also a ``Barrier``
(``energies.barrier``), one with derivatives for ``weft.adjoint`` a ``DifferentiableTerm``
(``energies.derivative``), and one that is written in conditions a ``ConditionTerm``
(``energies.condition_term``).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from weft import kernel
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.trees import Json
from weft.energies.step import Step
from weft.kernel import Kernel, WarpArray
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


class Term(ABC):
    """A term of the potential, on device arrays of all vertices.

    Positions x and displacements d are (n,) vec3 [m].
    """

    name: str
    energy: Kernel = None  # that it is bound from; None: there is no such object
    is_load = False  # whether its forces are external loads, which other terms balance at rest
    is_elastic = False  # whether it resists a change of shape

    @abstractmethod
    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""

    @abstractmethod
    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx [N] to g, (n,) vec3."""

    @abstractmethod
    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add d2E/dx2 [N/m] to A.

        The first term that writes into A clears it (``BlockCsr.claim``).

        Args:
            x: (n,) vec3 positions.
            psd: which Hessian to add.
            A: the matrix.

        Returns:
            A itself, or a matrix on a pattern that has more blocks.
        """

    def freeze(self, step: Step) -> None:  # noqa: B027 (most terms have nothing to do)
        """Begin a step: store what is constant while it is solved (damping, lagged friction)."""

    def update_constants(self, energy: Any) -> None:
        """Take the constants of another energy of the same kind and stencil, from the next step on.

        This is how constants change in time.

        Raises:
            SceneError: an energy whose constants cannot change.
        """
        raise SceneError(
            f"energy {self.name}", got="keyframes", expected="numbers that stay as they are"
        )

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energies [J] of its parts by name; they sum to ``value``."""
        return {self.name: self.value(x)}

    def updates(self, x: WarpArray) -> Sequence[LowRankUpdate]:
        """Return dense parts c u u^T of the Hessian, which do not fit the sparsity pattern."""
        return ()

    def lag(self, x: WarpArray) -> bool:
        """Evaluate lagged quantities again at x, and return whether this may change the potential.

        x is the end of a solve; an integrator may then solve the step again.
        """
        return False

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the memory that the next step needs, by name, after a step that ended at x.

        It is saved with the state, and the next step has it as ``Step.memory``.
        """
        return {}

    def report(self, x: WarpArray) -> Json:
        """Return numbers for the report of a step that ended at x, besides the energy."""
        return {}

    def forces(self, x: WarpArray) -> Json:
        """Return the forces of attachments after a step that ended at x, by name."""
        return {}


class SummedTerm(Term):
    """A term whose energy is the sum of an array on the device: of elements, samples or points.

    Args:
        energy: the energy that it is bound from.
        pattern: block pattern of the matrix.
    """

    acts = True  # whether it has any energy in the step that is solved

    def __init__(self, energy: Any, pattern: BlockPattern) -> None:
        self.energy, self.name, self.scratch = energy, energy.name, pattern.scratch

    @abstractmethod
    def energies(self, x: WarpArray) -> WarpArray:
        """Return the energy of every element [J], one number, or an elastic and a dissipated part.

        The array is valid until the next one is taken from the scratch memory.
        """

    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""
        return kernel.total(self.energies(x)) if self.acts else 0.0


class DampedTerm(SummedTerm):
    """A term whose elements have an elastic and a dissipated energy, (m,) vec2."""

    @property
    def dissipates(self) -> bool:
        """Whether metrics name the dissipated part."""
        return bool(self.energy.damping > 0)

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energy [J] of the elastic part and of damping, by name."""
        elastic, lost = kernel.columns(self.energies(x)) if self.acts else (0.0, 0.0)
        return {self.name: elastic, **({damping_of(self.name): lost} if self.dissipates else {})}


def damping_of(name: str) -> str:
    """Return the name of an energy's damping in metrics.

    For example, the damping of ``bending 2`` is ``bending damping 2``.
    """
    first, _, number = name.rpartition(" ")
    return f"{first} damping {number}" if number.isdigit() else f"{name} damping"
