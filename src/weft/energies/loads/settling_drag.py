"""Drag on every mass, at a given rate: it brings cloth to rest while it is sewn and settles.

    E = c m |x - x_n|^2 / (2 h),   force -c m v

A velocity decays as exp(-c t). This is not the drag of air (``wind``, which uses the directions of
faces) but a way to a state of rest, at which it vanishes. At a very high rate it freezes garments
that are sewn already, while others close over them.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Positions
from weft.base.errors import SceneError
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName, damping_rate, repeat_per_element
from weft.energies.inertia import DiagonalQuadratic
from weft.energies.point_masses import MassEnergy
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray
from weft.solve.sparse.block_csr import BlockPattern

FROZEN = 1e7  # [1/s] holds a vertex of cloth ten times as firmly as the cloth's own stiffness


@dataclass(frozen=True, eq=False)
class Drag(MassEnergy):
    """Drag of masses (n,) [kg], at a rate c [1/s], until a time [s].

    Args:
        mass: (n,) [kg].
        rate: [1/s].
        until: [s].
        frozen: k times after which, and until which (k,2) [s], and the vertices (k,n) that are held
            where they are meanwhile; None: never.

    Raises:
        SceneError: a rate that is negative or not finite.
    """

    mass: Floats
    rate: float
    until: float = np.inf
    frozen: tuple[Floats, Bools] | None = None
    name: str = "drag"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate >= 0):
            raise SceneError("drag.rate", got=self.rate, expected="must be >= 0 [1/s]")

    def rates(self, t: float) -> Floats:
        """Return the rates, (n,) [1/s], in a step that ends at time t [s]."""
        rates = np.full(len(self.mass), self.rate)
        if self.frozen is not None:
            for (begin, end), held in zip(*self.frozen):
                # The tolerance keeps a step that ends at begin or end, up to round-off, before it.
                if begin * (1 + 1e-9) < t <= end * (1 + 1e-9):
                    rates[held] = FROZEN
        return rates

    def recut(self, mesh: TriangleMesh, mass: Floats) -> "Drag":
        """Return the drag of masses (n,) [kg] of cloth with another cut."""
        return dataclasses.replace(self, mass=mass)

    @property
    def constants(self) -> ByName:
        """Constants by name: masses [kg], and the rate [1/s]."""
        return {"mass": self.mass, "rate": repeat_per_element(self.rate, len(self.mass))}

    @property
    def structure(self) -> object:
        """Data besides the constants: the end, and the frozen vertices."""
        return self.until, self.frozen

    def mixed_derivatives(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by ``mass`` and ``rate``, (n,1,3) each; zero without a step."""
        n = len(self.mass)
        if step is None or damping_rate(step) == 0 or step.t > self.until:
            return {"mass": np.zeros((n, 1, 3)), "rate": np.zeros((n, 1, 3))}
        v = np.where(step.fixed[:n, None], 0.0, step.velocity(x)[:n])[:, None]
        rates = self.rates(step.t)
        same = rates == self.rate if self.frozen is not None else np.ones(n, bool)
        by_rate = np.where(same, self.mass, 0.0)[:, None, None] * v
        return {"mass": rates[:, None, None] * v, "rate": by_rate}

    def bind(self, pattern: BlockPattern) -> "DragTerm":
        """Return the term for simulations."""
        return DragTerm(self)


class DragTerm(DiagonalQuadratic):
    """Drag in a step."""

    def __init__(self, energy: Drag) -> None:
        super().__init__(energy.mass)
        self.energy, self.name = energy, energy.name

    def freeze(self, step: Step) -> None:
        """Measure velocities as the step does; there is no drag in an equilibrium."""
        drag = self.energy
        rates = drag.rates(step.t)
        self.acts = bool(np.isfinite(step.span) and rates.any() and step.t <= drag.until)
        if self.acts:
            self._hold(step, step.device_origin, rates * drag.mass / step.span)

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivative of s = by . c m (x - origin)/h by the origin."""
        if self.acts:
            into.origin -= np.array(kernel.numpy(self._shift))[:, None] * by
