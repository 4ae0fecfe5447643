"""Gravity: E = -sum_v m_v g . x_v. It is linear, so it adds nothing to the Hessian."""

from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions, Vector
from weft.energies.by_constants import ByName, repeat_per_element
from weft.energies.derivative import DifferentiableTerm
from weft.energies.point_masses import MassEnergy
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import SummedTerm
from weft.kernel import Scalar, ScalarArray, Vec3Array, WarpArray, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

_module = wp.get_module("weft.gravity")


@wp.kernel(module=_module)
def weights(o: int, mass: ScalarArray, acceleration: vec3, x: Vec3Array, out: ScalarArray):
    """Compute -m g.x of every vertex."""
    v = o + wp.tid()
    out[v] = -mass[v] * wp.dot(acceleration, x[v])


@wp.kernel(module=_module)
def add_weight(o: int, mass: ScalarArray, acceleration: vec3, g: Vec3Array):
    """Add the gradient of -m g.x."""
    v = o + wp.tid()
    g[v] = g[v] - mass[v] * acceleration


@dataclass(frozen=True, eq=False)
class Gravity(MassEnergy):
    """A uniform field of acceleration g [m/s^2] on masses (n,) [kg].

    Gravity grows from zero between the two times ``onset`` [s], (2,) for all or (n,2) for each
    vertex.
    """

    mass: Floats
    acceleration: Vector = (0.0, -9.81, 0.0)
    onset: tuple[float, float] | Floats = (0.0, 0.0)
    name: str = "gravity"

    @property
    def grows(self) -> bool:
        """True if gravity does not act fully from t = 0 on."""
        return bool(np.any(np.asarray(self.onset) != 0))

    def part(self, t: float) -> Floats:
        """Return the part of the acceleration in a step that ends at time t [s], () or (n,)."""
        begin, end = np.moveaxis(np.asarray(self.onset, dtype=np.float64), -1, 0)
        grown = np.clip((t - begin) / np.where(end > begin, end - begin, 1.0), 0.0, 1.0)
        # An onset without duration switches gravity on for steps that end after it.
        return np.asarray(np.where(end > begin, grown, t > end * (1 + 1e-9)), dtype=np.float64)

    def value(self, x: Positions) -> Floats:
        """Return the energies, (n,) [J], zero at the origin."""
        return np.asarray(-self.mass * np.einsum("ni,i->n", x, np.asarray(self.acceleration)))

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (n,1,3) [N]."""
        return np.asarray(-self.mass[:, None, None] * np.asarray(self.acceleration)[None, None, :])

    @property
    def constants(self) -> ByName:
        """Constants by name: masses [kg], and the acceleration [m/s^2]."""
        return {
            "mass": self.mass,
            "acceleration": repeat_per_element(self.acceleration, len(self.mass)),
        }

    @property
    def structure(self) -> object:
        """Data besides the constants: the onset."""
        return (self.onset,)

    def mixed_derivatives(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by ``mass`` (n,1,3), and by ``acceleration`` (n,1,3,3)."""
        n = len(self.mass)
        part = self.part(step.t) if step is not None and self.grows else np.ones(())
        part = np.broadcast_to(part, (n,))[:, None, None]
        by_mass = -part * np.asarray(self.acceleration)
        by_acceleration = -(part * self.mass[:, None, None])[..., None] * np.eye(3)
        return {"mass": by_mass, "acceleration": by_acceleration}

    def bind(self, pattern: BlockPattern) -> "GravityTerm":
        """Return the term for simulations."""
        return GravityTerm(self, pattern)


class GravityTerm(SummedTerm, DifferentiableTerm):
    """Gravity on device arrays."""

    is_load = True

    energy: Gravity

    def __init__(self, energy: Gravity, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern)
        self._field = kernel.array(energy.mass, Scalar), vec3(*energy.acceleration)

    def update_constants(self, energy: Gravity) -> None:
        """Take acceleration and masses of another energy."""
        mass = self._field[0]
        if energy.mass is not self.energy.mass:
            mass = kernel.array(energy.mass, Scalar)
        self.energy, self._field = energy, (mass, vec3(*energy.acceleration))

    def freeze(self, step: Step) -> None:
        """Take the part of gravity that acts at the end of the step."""
        if self.energy.grows:
            mass = self.energy.mass * self.energy.part(step.t)
            self._field = kernel.array(mass, Scalar), self._field[1]

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add nothing: gravity takes only the time from a step."""

    def energies(self, x: WarpArray) -> WarpArray:
        """Return the energy [J] of every point."""
        out = self.scratch.take(x.shape[0])
        kernel.launch(weights, x.shape[0], *self._field, x, out, work=kernel.TRIVIAL)
        return out

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        kernel.launch(add_weight, x.shape[0], *self._field, g, work=kernel.TRIVIAL)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Return A unchanged, because the Hessian is zero."""
        return A
