"""Drag on every mass, at a given rate: it brings cloth to rest while it is sewn and settles.

    E = c m |x - x_n|^2 / (2 h),   force -c m v

A velocity decays as exp(-c t). This is not the drag of air (``wind``, which uses the directions of
faces) but a way to a state of rest, at which it vanishes. While seams close, the rate is higher: a
sleeve that is drawn up to its armhole would slide on along the arm. At a very high rate the drag
freezes garments that are sewn already, while others close over them.
"""

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName, damping_rate, repeat_per_element
from weft.energies.inertia import DiagonalQuadratic
from weft.energies.point_masses import MassEnergy
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray
from weft.solve.sparse.block_csr import BlockPattern

CLOSING = 4.0  # rate while seams close, over the rate while the garment settles
FROZEN = 1e7  # [1/s] holds a vertex of cloth ten times as firmly as the cloth's own stiffness


@dataclass(frozen=True, eq=False)
class Drag(MassEnergy):
    """Drag of masses (n,) [kg], at a rate c [1/s], until a time [s].

    Args:
        mass: (n,) [kg].
        rate: [1/s].
        until: [s].
        closing: (k,2) [s] times between which the seams of each turn close.
        turn: (n,) the turn in which each vertex is sewn, 0 first; -1: it is not sewn. None: no
            vertex is.

    Raises:
        SceneError: a rate that is negative or not finite.
    """

    mass: Floats
    rate: float
    until: float = np.inf
    closing: Floats = field(default_factory=lambda: np.empty((0, 2)))
    turn: Ints | None = None
    name: str = "drag"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate >= 0):
            raise SceneError("drag.rate", got=self.rate, expected="must be >= 0 [1/s]")

    def rates(self, t: float) -> Floats:
        """Return the rates, (n,) [1/s], in a step that ends at time t [s]."""
        factors, held = self._factors(t)
        return np.where(held, FROZEN, self.rate * factors)

    def _factors(self, t: float) -> tuple[Floats, Bools]:
        """Return the factors (n,) of the rate, and whether each vertex is held (n,)."""
        factors, held = np.ones(len(self.mass)), np.zeros(len(self.mass), bool)
        for k, (begin, end) in enumerate(self.closing):
            # The tolerance keeps a step that ends at begin or end, up to round-off, before it.
            if self.turn is not None and begin * (1 + 1e-9) < t <= end * (1 + 1e-9):
                factors[self.turn == k] = CLOSING
                held |= (self.turn >= 0) & (self.turn < k)
        return factors, held

    def recut(self, mesh: TriangleMesh, mass: Floats) -> "Drag":
        """Return the drag of masses (n,) [kg] of cloth with another cut."""
        return dataclasses.replace(self, mass=mass)

    @property
    def constants(self) -> ByName:
        """Constants by name: masses [kg], and the rate [1/s]."""
        return {"mass": self.mass, "rate": repeat_per_element(self.rate, len(self.mass))}

    @property
    def structure(self) -> object:
        """Data besides the constants: the end, and when the seams of each vertex close."""
        return self.until, self.closing, self.turn

    def mixed_derivatives(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by ``mass`` and ``rate``, (n,1,3) each; zero without a step."""
        n = len(self.mass)
        if step is None or damping_rate(step) == 0 or step.t > self.until:
            return {"mass": np.zeros((n, 1, 3)), "rate": np.zeros((n, 1, 3))}
        v = np.where(step.fixed[:n, None], 0.0, step.velocity(x)[:n])[:, None]
        factors, held = self._factors(step.t)
        by_rate = np.where(held, 0.0, factors * self.mass)[:, None, None] * v
        return {"mass": self.rates(step.t)[:, None, None] * v, "rate": by_rate}

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
