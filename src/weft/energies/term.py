"""A term of the potential, on shared device arrays.

``Energy.bind(pattern)`` (``energies.energy``) returns the term of an energy. Inertia and contact
are terms without an energy, because they depend on a step.

Derivatives of runs (``weft.adjoint``) ask the terms for the derivatives of s = by . dE/dx, with x
the end of a step and ``by`` (n,3) a given vector. ``pull_back`` gives those by everything that the
term took from the start of the step, ``pull_back_memory`` those by what it remembers. A term that
does not know them is refused by name (``check_derivatives``). Numbers that an energy computed from
the rest shape are its tables: ``by_tables`` gives derivatives by them, and ``by_corner_uv``
takes these on to the material coordinates of triangles (``energies.rest_mesh``).
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import LawError, SceneError
from weft.base.trees import Json
from weft.energies.by_constants import ByName, along_constants, by_constants
from weft.energies.obstacle import Obstacle
from weft.energies.rest_mesh import RestMesh
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import Kernel, Reductions, WarpArray
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


class Term(ABC):
    """A term of the potential, on device arrays of all vertices.

    Positions x and displacements d are (n,) vec3 [m].
    """

    name: str
    energy: Kernel = None  # that it is bound from; None: there is no such object
    blocked: Obstacle | None = None  # that left no room for the step
    limits = False  # whether the term may bound steps, as barriers do
    is_load = False  # whether its forces are external loads, which other terms balance at rest
    damping = 0.0  # [s] time constant of its stiffness-proportional damping
    is_elastic = False  # whether it resists a change of shape
    is_condition = False  # whether it is 1/2 k C^T C of conditions C (``add_condition_hessian``)
    has_exact_hessian = True  # whether EXACT adds all of d2E/dx2, not its Gauss-Newton part only
    # whether its memory changes by jumps only (what has torn), so that derivatives by it are zero
    remembers_jumps = False

    @abstractmethod
    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""

    def add_value(self, x: WarpArray, numbers: Reductions) -> int:
        """Add the total energy [J] to the numbers that the host reads together; return its place.

        By default ``value`` is read at once. Terms that sum an array on the device override this.
        """
        return numbers.add(self.value(x))

    def confirm(self, numbers: Reductions) -> bool:
        """Return whether the number that was added last is the energy.

        A term that launches kernels before it knows the lengths of its lists may find that they
        were longer than assumed. It corrects the lengths, and the value is computed again.
        """
        return True

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

    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Return the part of the displacement d, in [0, 1], on which the energy stays finite."""
        return 1.0

    def propose_max_step(
        self, x: WarpArray, d: WarpArray, numbers: Reductions
    ) -> Callable[[], float]:
        """Return a function that returns ``max_step``, which is to be called before the term is
        asked anything else, or never.

        What decides the step is added to ``numbers``, which the host reads when the function is
        called. By default ``max_step`` reads for itself.
        """
        return lambda: self.max_step(x, d)

    def truncate(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """Return a displacement that may be taken in full, in place of d; None: d itself may."""
        return None

    def carry(self, goal: Positions, step: Step) -> Positions | None:
        """Return how far a step may go from its start towards ``goal``, with prescribed motion at
        its end.

        Returns:
            (n,3) [m]; None where that is not possible. The energy may be infinite there if other
            terms changed the goal: ``Potential.starts`` tries another one then.
        """
        return goal

    def has_new_intersections(self, x: WarpArray) -> bool:
        """Return whether surfaces intersect at x that did not when the step began."""
        return False

    def is_settled(self, x: WarpArray, d: WarpArray, numbers: Reductions) -> Callable[[], bool]:
        """Return a function that says whether d, the last displacement of a search, is small for
        this term too.

        A term that rises without bound may be far from balance although no point moves far. What
        decides that is added to ``numbers``, which the host reads when the function is called.
        """
        return lambda: True

    def lag(self, x: WarpArray) -> bool:
        """Evaluate lagged quantities again at x, and return whether this may change the potential.

        x is the end of a solve; an integrator may then solve the step again.
        """
        return False

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the memory that the next step needs, by name, after a step that ended at x.

        It is saved with the state, and the next step has it as ``Step.kept``.
        """
        return {}

    def check_derivatives(self, in_time: Sequence[object] = ()) -> None:
        """Raise an error if derivatives of a run through this term are not known.

        Args:
            in_time: its energy with the constants of every keyframe, if these change in time.

        Raises:
            SceneError: a term that takes something from the start of a step (``freeze``), or
                remembers something, and does not say how its gradient depends on it.
        """
        kind = type(self)
        if kind.freeze is not Term.freeze and kind.pull_back is Term.pull_back:
            raise SceneError(
                f"energy {self.name}",
                got=f"{kind.__name__}, which takes something from the start of a step",
                expected="one whose derivatives by that are known (Term.pull_back)",
                hint="write them, or leave the energy out",
            )
        knows_memory = kind.pull_back_memory is not Term.pull_back_memory or self.remembers_jumps
        if kind.remember is not Term.remember and not knows_memory:
            raise SceneError(
                f"energy {self.name}",
                got="what it keeps from step to step",
                expected="no creases, and no fibers that are drawn out, with derivatives",
            )

    def pull_back(  # noqa: B027 (a term that takes nothing from a step has nothing to do)
        self, step: Step, x: WarpArray, by: Floats, into: StepCotangents
    ) -> None:
        """Add the derivatives of s = by . dE/dx by what ``freeze`` and ``lag`` took from a step.

        The default adds nothing: the term depends on the end of the step only.

        Args:
            step: the step that the term is frozen for.
            x: (n,) vec3 end of the step.
            by: (n,3), zero at prescribed vertices.
            into: derivatives by the inputs of the step.
        """

    def pull_back_memory(
        self, step: Step, x: WarpArray, kept: Mapping[str, Floats], into: StepCotangents
    ) -> Floats | float:
        """Return derivatives by the end x, from those by what the term remembers there.

        It is called before ``pull_back`` of the same step, and adds derivatives by bodies and by
        the memory before to ``into``.

        Args:
            step: the step that the term is frozen for.
            x: (n,) vec3 end of the step.
            kept: derivatives by all memory at the end of the step, by name.
            into: derivatives by the inputs of the step.

        Returns:
            (n,3), or zero.
        """
        return 0.0

    def pull_back_place(
        self, step: Step, x: WarpArray, by: Floats, at: Positions
    ) -> Floats | float:
        """Return the derivatives of s by the positions at (n,3) where ``lag`` was called last.

        Returns:
            (n,3), or zero.
        """
        if type(self).lag is Term.lag:
            return 0.0
        into = StepCotangents.zeros(step, at)
        self.pull_back(step, x, by, into)
        return into.place

    def along_constants(
        self, step: Step, x: WarpArray, change: ByName, at: Positions | None
    ) -> tuple[Floats, ByName]:
        """Return the change of dE/dx along a change of its energy's constants.

        Args:
            step: the step that the term is frozen for.
            x: (n,) vec3 end of the step.
            change: by name, (m,...) of some constants.
            at: (n,3) where ``lag`` was called last; None: nowhere.

        Returns:
            (n,3) [N], and the changes of what the term remembers, by name.
        """
        lagged = dataclasses.replace(step, anew=at)
        return along_constants(self.energy, np.array(kernel.numpy(x)), change, lagged), {}

    def pull_back_constants(
        self,
        step: Step,
        x: WarpArray,
        by: Floats,
        change: ByName,
        kept: ByName,
        into: StepCotangents,
    ) -> float:
        """Return the change of s, and of what the term remembers, along a change of constants.

        Args:
            step: the step that the term is frozen for.
            x: (n,) vec3 end of the step.
            by: (n,3).
            change: by name, (m,...) of some constants.
            kept: derivatives of the loss by all memory at the end of the step, by name.
            into: derivatives by the inputs of the step; those by constants are stored here, because
                many changes share them.
        """
        if self not in into.constants:
            lagged = dataclasses.replace(step, anew=into.at)
            found = by_constants(self.energy, np.array(kernel.numpy(x)), by, lagged)
            into.constants[self] = found
        return sum(float((into.constants[self][name] * c).sum()) for name, c in change.items())

    def zero_tables(self) -> dict[str, Floats] | None:
        """Return zeros in the shapes of ``by_tables``; None: the tables are not known.

        The default are the constants that ``rest_tables`` of the energy names.
        """
        names = getattr(self.energy, "rest_tables", None)
        if names is None:
            return None
        constants = self.energy.constants if names else {}
        return {name: np.zeros(np.shape(constants[name])) for name in names}

    def by_tables(self, step: Step, x: WarpArray, by: Floats, at: Positions | None) -> ByName:
        """Return the derivatives of s by the tables, by name.

        Args:
            step: the step that the term is frozen for.
            x: (n,) vec3 end of the step.
            by: (n,3), zero at prescribed vertices.
            at: (n,3) where ``lag`` was called last; None: nowhere.
        """
        names = self.energy.rest_tables
        found = by_constants(self.energy, np.array(kernel.numpy(x)), by, step) if names else {}
        return {name: found[name] for name in names}

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape of triangles, from those by tables.

        Raises:
            NotImplementedError: a cloth for which they are not known.
        """
        found: Floats = self.energy.by_corner_uv(by, rest)
        return found

    def add_mean_hessian(self, x: WarpArray, A: BlockCsr) -> BlockCsr:
        """Add the exact d2E/dx2 to A and return A; at a kink it is the mean of both sides."""
        return self.add_hessian(x, Psd.EXACT, A)

    def report(self, x: WarpArray) -> Json:
        """Return numbers for the report of a step that ended at x, besides the energy."""
        return {}

    def forces(self, x: WarpArray) -> Json:
        """Return the forces of attachments after a step that ended at x, by name."""
        return {}

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Add k [(1 + beta/h) dC dC^T + (C + beta dC/dt) d2C] to A, with the step's velocity and h.

        Raises:
            LawError: an energy that is not written in conditions.
        """
        raise LawError(
            f"damping of conditions of {self.name}",
            got="an energy that is none",
            expected="the energy of a condition: stretch, shear or bend",
            hint="leave its name out of Settings1998.damping",
        )


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

    def add_value(self, x: WarpArray, numbers: Reductions) -> int:
        """Add the total energy [J] to the numbers that the host reads together."""
        return numbers.add_sum(self.energies(x)) if self.acts else numbers.add(0.0)


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
