"""The narrow waist: what a term of the potential is.

An ``Energy`` has two faces. Local arrays (``value``, ``gradient``, ``hessian``) are NumPy, for
tests and research. ``bind(pattern)`` gives the production face, a ``Bound``: it adds into shared
device arrays. Inertia and contact have the second face alone, as they belong to a step.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import LawError, SceneError
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


class Bound(ABC):
    """A term of the potential, on device arrays of all vertices: positions x are (n,) vec3."""

    name: str
    blocked: Positions | None = None  # (3,) [m] where it found no room for a step
    limits = False  # whether it may bound steps: barriers do
    is_load = False  # whether its forces are given, and what others balance at rest
    damping = 0.0  # [s] time constant of its stiffness-proportional damping
    is_elastic = False  # whether it resists a change of shape
    is_condition = False  # whether it is 1/2 k C^T C of conditions C (``add_condition_hessian``)

    @abstractmethod
    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""

    @abstractmethod
    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx [N], (n,) vec3."""

    @abstractmethod
    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A + d2E/dx2 [N/m]: A itself, or a matrix on a pattern that holds more.

        The first term to write into A clears it (``BlockCsr.claim``).
        """

    def freeze(self, step: Step) -> None:  # noqa: B027 (nothing, unless a term says otherwise)
        """Begin a step: take what stays as it is while it is solved (damping, lagged friction)."""

    def retake(self, energy: Any) -> None:
        """Take the constants of another energy of the same kind and stencil, from the next step on:
        constants that change in time.

        Raises:
            SceneError: an energy whose constants stay as they are.
        """
        raise SceneError(
            f"energy {self.name}", got="keyframes", expected="numbers that stay as they are"
        )

    def reweigh(self, mass: Floats) -> None:  # noqa: B027 (nothing, unless a term weighs)
        """Take masses (n,) [kg] of the points that have changed, from the next step on."""

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """[J] of its parts by name; they sum to ``value``."""
        return {self.name: self.value(x)}

    def updates(self, x: WarpArray) -> Sequence[LowRankUpdate]:
        """Dense parts c u u^T of the Hessian, which no pattern holds."""
        return ()

    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Part of the displacement d, in [0, 1], on which the energy stays finite."""
        return 1.0

    def truncated(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """A displacement in place of d that may be gone to the end; None: d itself will do."""
        return None

    def carried(self, x: Positions, goal: Positions, step: Step) -> Positions | None:
        """Return how far a step may go from x towards ``goal``, with what is prescribed at its end.

        Returns:
            (n,3) [m]; None where that is not possible. The energy may be infinite there if other
            terms changed the goal: ``Potential.starts`` tries another one then.
        """
        return goal

    def intersects_anew(self, x: WarpArray) -> bool:
        """Whether surfaces intersect at x that did not intersect where the step begins."""
        return False

    def settled(self, x: WarpArray, d: WarpArray) -> bool:
        """Whether d, the last displacement of a search, is small to this term too: one that rises
        without bound may be far from balance where nothing moves far.
        """
        return True

    def lag(self, x: WarpArray) -> bool:
        """Take what is frozen anew at x, where a step has led; whether that changes anything."""
        return False

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """What the next step has to know of one that ended at x (``Step.kept``), by name; saved
        with the state.
        """
        return {}

    def report(self, x: WarpArray) -> Mapping[str, Any]:
        """What a step that ended at x says of this term, besides its energy."""
        return {}

    def forces(self, x: WarpArray) -> Mapping[str, Any]:
        """By name, what attachments hold with after a step that ended at x."""
        return {}

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """A += k [(1 + beta/h) dC dC^T + (C + beta dC/dt) d2C], with the step's velocity and h.

        Raises:
            LawError: an energy that is not written in conditions.
        """
        raise LawError(
            f"damping of conditions of {self.name}",
            got="an energy that is none",
            expected="the energy of a condition: stretch, shear or bend",
            hint="leave its name out of Settings1998.damping",
        )


@runtime_checkable
class Energy(Protocol):
    """A sum of m local energies, each over k vertices."""

    @property
    def name(self) -> str:
        """What metrics and ``potential.terms`` call it."""

    @property
    def stencil(self) -> Ints:
        """(m,k) vertices of each local energy; k = 1 adds no block off the diagonal."""

    def value(self, x: Positions) -> Floats:
        """(m,) [J]."""

    def gradient(self, x: Positions) -> Floats:
        """(m,k,3) [N]."""

    def hessian(self, x: Positions, psd: Psd) -> Floats:
        """(m,k,k,3,3) [N/m]: [e,a,b] is the block of vertices a and b."""


@runtime_checkable
class FastEnergy(Energy, Protocol):
    """An energy with kernels. One without is run in NumPy (``numpy_energy``)."""

    def bind(self, pattern: BlockPattern) -> Bound:
        """The production face on a pattern that holds this energy's stencils."""
