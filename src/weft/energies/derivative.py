"""Derivatives of terms, for gradients of runs (``weft.adjoint``).

The adjoint asks the terms for the derivatives of s = by . dE/dx, with x the end of a step and
``by`` (n,3) a given vector. ``pull_back`` gives those by everything that the term took from the
start of the step (``freeze``), ``pull_back_memory`` those by its memory (``remember``). Numbers
that an energy computed from the rest shape are its tables: ``by_tables`` gives derivatives by them,
and ``by_corner_uv`` takes these on to the material coordinates of triangles
(``energies.rest_mesh``).
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import SceneError
from weft.energies.by_constants import ByName, along_constants, by_constants
from weft.energies.rest_mesh import RestMesh
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import Term
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr


class DifferentiableTerm(Term):
    """A term with the derivatives that gradients of runs need.

    The methods here are those of a term that takes nothing from the start of a step.
    """

    has_exact_hessian = True  # whether EXACT adds all of d2E/dx2, not its Gauss-Newton part only
    # whether its memory changes by jumps only (what has torn), so that derivatives by it are zero
    remembers_jumps = False

    def check_derivatives(self, in_time: Sequence[object] = ()) -> None:
        """Raise an error if derivatives of a run through this term are not known.

        Args:
            in_time: its energy with the constants of every keyframe, if these change in time.

        Raises:
            SceneError: a term that takes something from the start of a step (``freeze``), or
                remembers something, and does not say how its gradient depends on it.
        """
        kind = type(self)
        if kind.freeze is not Term.freeze and kind.pull_back is DifferentiableTerm.pull_back:
            raise SceneError(
                f"energy {self.name}",
                got=f"{kind.__name__}, which takes something from the start of a step",
                expected="derivatives by that quantity (DifferentiableTerm.pull_back)",
                hint="write these derivatives, or leave the energy out",
            )
        knows_memory = kind.pull_back_memory is not DifferentiableTerm.pull_back_memory
        if kind.remember is not Term.remember and not (knows_memory or self.remembers_jumps):
            raise SceneError(
                f"energy {self.name}",
                got="memory from step to step",
                expected="energies without creases and permanent stretch, for derivatives",
            )

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives of s = by . dE/dx by what ``freeze`` and ``lag`` took from a step.

        The default adds nothing: the term depends on the end of the step only.

        Args:
            step: the step that the term is frozen for.
            x: (n,) vec3 end of the step.
            by: (n,3), zero at prescribed vertices.
            into: derivatives by the inputs of the step.
        """

    def pull_back_memory(
        self, step: Step, x: WarpArray, memory: Mapping[str, Floats], into: StepCotangents
    ) -> Floats | float:
        """Return derivatives by the end x, from those by what the term remembers there.

        It is called before ``pull_back`` of the same step, and adds derivatives by bodies and by
        the memory before to ``into``.

        Args:
            step: the step that the term is frozen for.
            x: (n,) vec3 end of the step.
            memory: derivatives by all memory at the end of the step, by name.
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
        lagged = dataclasses.replace(step, lag_point=at)
        return along_constants(self.energy, np.array(kernel.numpy(x)), change, lagged), {}

    def pull_back_constants(
        self,
        step: Step,
        x: WarpArray,
        by: Floats,
        change: ByName,
        memory: ByName,
        into: StepCotangents,
    ) -> float:
        """Return the change of s, and of what the term remembers, along a change of constants.

        Args:
            step: the step that the term is frozen for.
            x: (n,) vec3 end of the step.
            by: (n,3).
            change: by name, (m,...) of some constants.
            memory: derivatives of the loss by all memory at the end of the step, by name.
            into: derivatives by the inputs of the step; those by constants are stored here, because
                many changes share them.
        """
        if self not in into.constants:
            lagged = dataclasses.replace(step, lag_point=into.at)
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


def differentiable(terms: Iterable[Term]) -> list[DifferentiableTerm]:
    """Return the terms, all of which have derivatives.

    Raises:
        SceneError: a term without derivatives.
    """
    found = []
    for term in terms:
        if not isinstance(term, DifferentiableTerm):
            raise SceneError(
                f"energy {term.name}",
                got=f"{type(term).__name__}, a term without derivatives",
                expected="a weft.energies.derivative.DifferentiableTerm",
                hint="write the derivatives, or leave the energy out",
            )
        found.append(term)
    return found
