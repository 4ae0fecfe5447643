"""Hinges that keep creases: bending whose rest angles yield past a curvature, harden, and recover.

The model of yielding is in ``plasticity``. Cloth rolled onto a cylinder of curvature c has the
angles c A/l at the hinges along its axis, A the area of both faces and l the edge's length
(``docs/explanations/bending.md``). So the yield curvature y is the yield angle y A/l, whatever the
stiffness and the size of the mesh. For a sharp fold, which is one row of hinges on any mesh, the
yield angle is the smaller the finer the mesh is; on a fine mesh a closed fold keeps the angle pi/(1
+ h), h the hardening.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError
from weft.discretization.mesh import TriangleMesh
from weft.energies.condition_term import no_conditions
from weft.energies.elastic.hinge_bending import (
    HingeBending,
    hinge_weight,
    material_edges,
    rest_angles,
)
from weft.energies.elastic.plasticity import Plasticity
from weft.energies.element_energy import ElementTerm
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

TURN = 2 * np.pi


@dataclass(frozen=True, eq=False)
class Creases(HingeBending):
    """Bending energy of hinges that yield.

    Its NumPy methods are those of hinges that have not yielded.
    """

    limit: Floats = field(default_factory=lambda: np.zeros(0))  # (h,) [rad] of the elastic angle
    plasticity: Plasticity = field(default_factory=Plasticity)

    rest_tables: ClassVar[Sequence[str] | None] = None

    @staticmethod
    def yielding(
        mesh: TriangleMesh,
        stiffness: tuple[float, float],
        curvature: float | Floats,
        plasticity: Plasticity,
        rest: str | Floats = "flat",
        damping: float = 0.0,
    ) -> "Creases":
        """Build the bending energy of a mesh that yields at a curvature.

        Args:
            mesh: the mesh.
            stiffness: flexural rigidity (D_warp, D_weft) [N m], >= 0.
            curvature: y [1/m] >= 0, one number or one for every hinge (h,).
            plasticity: hardening and recovery.
            rest: as of ``HingeBending.of``.
            damping: [s].

        Raises:
            FabricError: a negative curvature.
            MeshError: as ``HingeBending.of``.
        """
        if not (np.isfinite(curvature) & (np.asarray(curvature) >= 0)).all():
            raise FabricError("crease_yield", got=curvature, expected="must be >= 0 [1/m]")
        return Creases(
            mesh.hinges,
            hinge_weight(mesh, stiffness),
            rest_angles(mesh, rest),
            mesh.n_vertices,
            damping=damping,
            limit=curvature * angle_per_curvature(mesh),
            plasticity=plasticity,
        )

    @property
    def key(self) -> str:
        """Name under which the plastic angles are kept from step to step."""
        return f"{self.name}.set"

    @property
    def structure(self) -> tuple[object, ...]:
        """Data besides the constants: the hinges, the limits and the plasticity."""
        return *super().structure, self.limit, self.plasticity

    def parameters_in(self, step: Step | None) -> WarpArray:
        """Return the parameters with damping and plastic angles at the start of a step."""
        if step is None or self.key not in step.memory:
            return super().parameters_in(step)
        plastic = Plasticity.plastic_strain(np.asarray(step.memory[self.key]))
        return HingeBending.parameters_in(replace(self, rest_angle=self.rest_angle + plastic), step)

    def bind(self, pattern: BlockPattern) -> "CreasesTerm":
        """Bind the energy to the block pattern of a matrix."""
        return CreasesTerm(self, pattern)


class CreasesTerm(ElementTerm):
    """Term of hinges with the rest angles of the start of the step."""

    energy: Creases
    is_condition = False  # Baraff & Witkin's (1998) step has no conditions with a memory

    @cached_property
    def _memory(self) -> Floats:
        return Plasticity.initial_memory(len(self.energy.hinges))

    def freeze(self, step: Step) -> None:
        """Take the plastic angles at the start of the step, and freeze damping."""
        e = self.energy
        self._memory = np.asarray(step.memory.get(e.key, Plasticity.initial_memory(len(e.hinges))))
        self._dt = step.dt
        rest = e.rest_angle + Plasticity.plastic_strain(self._memory)
        self.parameters = replace(e, rest_angle=rest).parameters()
        super().freeze(step)

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the plastic angles after a step that ended at x, by name."""
        e, already = self.energy, Plasticity.plastic_strain(self._memory)
        off = e.angles_at(x) - e.rest_angle - already
        off -= TURN * np.round(off / TURN)  # wrap to [-pi, pi]
        after = e.plasticity.after(off + already, self._memory, e.limit, self._dt)
        return {e.key: after}

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Raise an error: hinges with creases are no conditions.

        Raises:
            LawError: always.
        """
        raise no_conditions(self)


def angle_per_curvature(mesh: TriangleMesh) -> Floats:
    """Return the angle of every hinge per curvature of the surface, A/l, (h,) [m]."""
    length = np.linalg.norm(material_edges(mesh), axis=-1).mean(1)
    return np.asarray(mesh.rest_area[mesh.hinge_faces].sum(1) / length)


def crease_angles(memory: Mapping[str, Floats], name: str = "bending") -> Floats:
    """Return the plastic angles of an energy's hinges, (h,) [rad], from the memory of a state.

    Args:
        memory: memory of a state or frame, by name.
        name: of the energy.
    """
    return Plasticity.plastic_strain(np.asarray(memory[f"{name}.set"]))
