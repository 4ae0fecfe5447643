"""Derivatives of a loss by everything that one step was made from."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.energies.step import Step


@dataclass(eq=False)
class StepCotangents:
    """Derivatives of a loss by the inputs of one step; terms add to them in place.

    ``state_x`` and ``state_v`` hold the derivatives by x_n and v_n of terms that read these
    themselves. The dependence by way of ``predicted`` and ``origin`` is not included.
    """

    predicted: Floats  # (n,3)
    origin: Floats  # (n,3)
    state_x: Floats  # (n,3)
    state_v: Floats  # (n,3)
    past: Floats  # (n,3) by x_(n-1)
    target: Floats  # (n,3) by targets of pinned vertices; zeros elsewhere
    before: Floats  # (b,3) by vertices of bodies at the start of the step
    after: Floats  # (b,3) by vertices of bodies at the end of the step
    memory: dict[str, Floats]  # by what terms remember from the step before
    place: Floats  # (n,3) by ``at``
    at: Positions | None  # (n,3) [m] where lagged data are evaluated; None: at the start
    # by term: derivatives by constants (``DifferentiableTerm.pull_back_constants``)
    constants: dict[object, Mapping[str, Floats]] = field(default_factory=dict)
    stiffness_adapted: bool = False  # contact's stiffness adapted, and its derivative is left out

    @staticmethod
    def zeros(step: Step, at: Positions | None = None) -> "StepCotangents":
        """Return zero derivatives for a step whose lagged data were evaluated at ``at``."""
        n, b = len(step.state.x), len(step.bodies[0])
        p, o, x, v, past, target, place = (np.zeros((n, 3)) for _ in range(7))
        before, after = np.zeros((b, 3)), np.zeros((b, 3))
        return StepCotangents(p, o, x, v, past, target, before, after, {}, place, at)

    @staticmethod
    def total(several: "Sequence[StepCotangents]") -> "StepCotangents":
        """Return the sum over several minimizations of one step.

        ``place`` and ``at`` are not added; they are those of the first.
        """
        first, *others = several
        out = dataclasses.replace(first, memory=dict(first.memory))
        inputs = [f.name for f in dataclasses.fields(first)][:8]
        for p in others:
            for name in inputs:
                setattr(out, name, getattr(out, name) + getattr(p, name))
            for name, by in p.memory.items():
                out.keep(name, by)
        return out

    def keep(self, name: str, by: Floats) -> None:
        """Add ``by`` to the derivative by a remembered array."""
        self.memory[name] = self.memory[name] + by if name in self.memory else by
