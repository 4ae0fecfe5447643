"""Internal friction: moments of bending and forces of shear that yarns' friction adds.

A strain e (the angle of a hinge, the shear of a sample) has a Jenkin element beside its elasticity:
a spring in series with a slider, whose place p is remembered from step to step. The spring carries
k (e - p), and the slider moves where that would exceed M = k s, with s the slip. A step that begins
with p_n minimizes the incremental potential

    min over p of  k/2 (e - p)^2 + M |p - p_n|  =  k (c^2/2 + c (d - c)),
                   d = e - p_n,  c = d cut off at +- s,

which is convex in e with a continuous derivative k c, whatever the length of the step. At its end
p = e - c (closest-point projection). A cycle between -e_max and e_max follows a loop of the width
2 M, Kawabata's 2HB and 2HG, and costs 4 M (e_max - s). Grosberg (1966) has s -> 0. Miguel et al.
(2013), "Modeling and Estimation of Internal Friction in Cloth", take Dahl's model in place of
Jenkin's.

Bending has M = HB l on an edge of the length l: a sheet of a grid that is rolled onto a cylinder
pays HB per area and curvature. Along an edge HB is that of its normal, as D is (``hinge_bending``).
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import FabricError
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName
from weft.energies.derivative import DifferentiableTerm
from weft.energies.elastic.creases import TURN, angle_per_curvature
from weft.energies.elastic.hinge_bending import (
    HingeBending,
    hinge_weight,
    rest_angles,
)
from weft.energies.elastic.hinge_kernels import Hinge, angles
from weft.energies.elastic.hinge_weights import STRIP
from weft.energies.elastic.membrane import Membrane, MembraneTerm
from weft.energies.element_energy import ElementTerm
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import SummedTerm
from weft.kernel import Scalar, WarpArray
from weft.solve.sparse.block_csr import BlockPattern

# Half of the change of strain over which a loop changes sides, where the fabric does not say it.
# Loops of KES-FB2 do within 0.2 to 0.5 /cm, those of KES-FB4 within about a degree (estimated).
BENDING_SLIP = 15.0  # [1/m]
SHEAR_SLIP = float(np.radians(0.5))  # [rad]


class FrictionTerm(SummedTerm, DifferentiableTerm):
    """The memory of internal friction, and derivatives by it: a base of bound energies."""

    energy: "HingeFriction | ShearFriction"
    period = 0.0  # of strains that are angles

    @abstractmethod
    def strain(self, x: WarpArray) -> Floats:
        """Return the strain of every element, (m,)."""

    @abstractmethod
    def pull_back_strain(self, x: WarpArray, by: Floats) -> Floats:
        """Return derivatives (n,3) by x, from those by the strains, (m,)."""

    def beyond(self, step: Step, x: WarpArray) -> Floats:
        """Return e - p_n of elements that slip in a step that ends at x, (m,); 0 of the others."""
        d = self.strain(x) - self.energy.places(step)
        if self.period:
            d -= self.period * np.round(d / self.period)
        return np.where(np.abs(d) > self.energy.slip, d, 0.0)

    def freeze(self, step: Step) -> None:
        """Take the sliders' places at the start of the step."""
        self._step = step

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the sliders' places after a step that ended at x, by name."""
        e, d = self.energy, self.beyond(self._step, x)
        moved = self.strain(x) - np.sign(d) * e.slip
        return {e.key: np.where(d == 0, e.places(self._step), moved)}

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by the sliders' places at the start."""
        into.keep(self.energy.key, self.energy.by_places(np.array(kernel.numpy(x)), by, step))

    def pull_back_memory(
        self, step: Step, x: WarpArray, memory: Mapping[str, Floats], into: StepCotangents
    ) -> Floats | float:
        """Return derivatives by the end x: sliders that move follow it, the others stay."""
        key = self.energy.key
        if key not in memory:
            return 0.0
        slips = self.beyond(step, x) != 0
        into.keep(key, np.where(slips, 0.0, memory[key]))
        return self.pull_back_strain(x, np.where(slips, memory[key], 0.0))

    def zero_tables(self) -> None:
        """Return None: how the term depends on the rest shape is not known."""


class Sliding:
    """A base of both energies of friction: the places of their sliders."""

    name: str
    rest_angle: Floats | float = 0.0  # places in the first step

    @property
    def key(self) -> str:
        """Name under which the sliders' places are kept from step to step."""
        return f"{self.name}.slider"

    def places(self, step: Step | None) -> Floats:
        """Return the sliders' places at the start of a step, one for every element or one for all;
        None: at rest.
        """
        return np.asarray(({} if step is None else step.memory).get(self.key, self.rest_angle))


@dataclass(frozen=True, eq=False)
class HingeFriction(Sliding, HingeBending):
    """Friction in the bending of hinges. Its NumPy methods are those of sliders at rest."""

    name: str = "bending friction"
    slip: Floats = field(default_factory=lambda: np.zeros(0))  # (h,) [rad] s

    rest_tables: ClassVar[Sequence[str] | None] = None

    @staticmethod
    def from_hysteresis(
        mesh: TriangleMesh,
        hysteresis: tuple[float, float],
        curvature: float = BENDING_SLIP,
        rest: str | Floats = "flat",
    ) -> "HingeFriction":
        """Build the friction in the bending of a mesh.

        Args:
            mesh: the mesh.
            hysteresis: width of the loop of moment per width over curvature (2HB of KES) [N], of
                bending the warp yarns and the weft yarns.
            curvature: s [1/m] > 0.
            rest: as of ``HingeBending.of``.

        Raises:
            FabricError: a slip that is not above 0.
            MeshError: a negative hysteresis, or rest angles of another shape.
        """
        if not curvature > 0:
            raise FabricError("bending_slip", got=curvature, expected="must be > 0 [1/m]")
        # a cylinder of a grid costs HB per area and curvature; the factor of strips is not for it
        weight = hinge_weight(mesh, hysteresis) / (2 * STRIP * curvature)
        slip = curvature * angle_per_curvature(mesh)
        return HingeFriction(
            mesh.hinges, weight, rest_angles(mesh, rest), mesh.n_vertices, slip=slip
        )

    @property
    def constants(self) -> ByName:
        """Constants by name: weights k [J]."""
        return {"weight": self.weight}

    @property
    def structure(self) -> tuple[object, ...]:
        """Data besides the constants."""
        return *super().structure, self.rest_angle, self.slip

    def parameters(self) -> WarpArray:
        """Return (h,) ``Hinge`` on the device, with sliders at rest."""
        fields = {"weight": self.weight, "rest": self.rest_angle, "slip": self.slip}
        return kernel.array(kernel.records(Hinge, len(self.weight), **fields), Hinge)

    def parameters_in(self, step: Step | None) -> WarpArray:
        """Return the parameters with the sliders where they are at the start of a step."""
        return replace(self, rest_angle=self.places(step)).parameters()

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (h,), for ``by`` (h,4,3)."""
        return {"weight": super().contract(x, by, step)["weight"]}

    def by_places(self, x: Positions, by: Floats, step: Step) -> Floats:
        """Return d(by . gradient)/dp, (h,), for ``by`` (n,3)."""
        return np.asarray(super().contract(x, by[self.hinges], step)["rest_angle"])

    def bind(self, pattern: BlockPattern) -> "HingeFrictionTerm":
        """Bind the energy to the block pattern of a matrix."""
        return HingeFrictionTerm(self, pattern)


class HingeFrictionTerm(FrictionTerm, ElementTerm):
    """Term of friction of hinges; ``terms`` tell what sliders lose from what springs hold."""

    energy: HingeFriction
    period = TURN
    dissipates = True
    is_condition = False  # Baraff & Witkin's (1998) step has no conditions with a memory

    def strain(self, x: WarpArray) -> Floats:
        """Return the angles of the hinges, (h,) [rad]."""
        return self.energy.angles_at(x)

    def pull_back_strain(self, x: WarpArray, by: Floats) -> Floats:
        """Return derivatives (n,3) by x, from those by the angles, (h,)."""
        e, at = self.energy, kernel.track(kernel.points(np.array(kernel.numpy(x))))
        out = kernel.track(kernel.empty(len(by), Scalar), by)
        kernel.pull_back(angles, len(by), at, e.device_stencil, out)
        return kernel.derivatives(at)

    def freeze(self, step: Step) -> None:
        """Take the sliders' places at the start of the step."""
        super().freeze(step)
        self.parameters = self.energy.parameters_in(step)


@dataclass(frozen=True, eq=False)
class ShearFriction(Sliding, Membrane):
    """Friction in shear at the samples of a surface, with the law ``DotShear`` and its slip.

    Its NumPy methods are those of sliders at rest.
    """

    name: str = "shear friction"

    @property
    def slip(self) -> Floats:
        """The slips of the samples, (q,)."""
        return np.asarray(self.records()[0]["slip"])

    @property
    def constants(self) -> ByName:
        """Stiffnesses of the samples [N/m], by name."""
        return {"law.shear": super().constants["law.shear"]}

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (q,), for ``by`` (q,k,3)."""
        return {"law.shear": super().contract(x, by, step)["law.shear"]}

    def by_places(self, x: Positions, by: Floats, step: Step) -> Floats:
        """Return d(by . gradient)/dp, (q,), for ``by`` (n,3)."""
        return np.asarray(super().contract(x, by[self.stencil], step)["law.rest"])

    def parameters_in(self, step: Step | None) -> tuple[WarpArray, ...]:
        """Return the parameters with the sliders where they are at the start of a step."""
        records = np.array(self.records()[0])
        records["rest"] = self.places(step)
        return (kernel.array(records, self.law.parts[0].functions.Params),)

    def bind(self, pattern: BlockPattern) -> "ShearFrictionTerm":
        """Bind the energy to the block pattern of a matrix."""
        return ShearFrictionTerm(self, pattern)


class ShearFrictionTerm(FrictionTerm, MembraneTerm):
    """Term of friction in shear."""

    energy: ShearFriction

    def strain(self, x: WarpArray) -> Floats:
        """Return the dot products of the fibers, (q,)."""
        F = self.energy.samples.deformation_gradient(np.array(kernel.numpy(x)))
        return np.asarray(np.einsum("qi,qi->q", F[:, :, 0], F[:, :, 1]))

    def pull_back_strain(self, x: WarpArray, by: Floats) -> Floats:
        """Return derivatives (n,3) by x, from those by the dot products, (q,)."""
        s, at = self.energy.samples, np.array(kernel.numpy(x))
        F, out = s.deformation_gradient(at), np.zeros_like(at)
        by_F = by[:, None, None] * F[:, :, ::-1]
        np.add.at(out, s.stencil, np.einsum("qij,qaj->qai", by_F, s.gradient))
        return out

    def freeze(self, step: Step) -> None:
        """Take the sliders' places at the start of the step."""
        super().freeze(step)
        self._elastic = self._now = self.energy.law, self.energy.parameters_in(step)
