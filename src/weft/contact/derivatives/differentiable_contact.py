"""Contact as a term with derivatives, which ``weft.adjoint`` takes from ``ContactDerivative``."""

from collections.abc import Mapping

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.contact.assembly.contact_matrix import PairBlocks
from weft.contact.barrier.kinks import places_around
from weft.contact.contact_workspace import ContactWorkspace
from weft.contact.derivatives.contact_derivative import ContactDerivative
from weft.contact.frozen_contact import FrozenContact
from weft.energies.by_constants import ByName
from weft.energies.derivative import DifferentiableTerm
from weft.energies.rest_mesh import RestMesh, by_areas
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray, mat33
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr


class DifferentiableContact(DifferentiableTerm):
    """The derivatives of contact in a step."""

    workspace: ContactWorkspace
    frozen: FrozenContact  # contact in the step
    _derivative: ContactDerivative | None = None  # the last one

    def derivative(self, step: Step, x: WarpArray, at: Positions | None) -> ContactDerivative:
        """Return the derivatives at the end x (n,) of the step, with friction evaluated at ``at``.

        They are those of the last call as long as x is the same array, and the step and its
        friction are the same.
        """
        last = self._derivative
        if last is None or not last.is_of(self.frozen, x):
            last = self._derivative = ContactDerivative(self.frozen, step, x, at)
        return last

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by the start of the step, bodies and the memory before."""
        self.derivative(step, x, into.at).pull(by, into)

    def pull_back_memory(
        self, step: Step, x: WarpArray, memory: Mapping[str, Floats], into: StepCotangents
    ) -> Floats:
        """Return derivatives by the end x, from those by elastic slip and stiffness."""
        return self.derivative(step, x, into.at).pull_back_memory(memory, into)

    def along_constants(
        self, step: Step, x: WarpArray, change: ByName, at: Positions | None
    ) -> tuple[Floats, ByName]:
        """Return the changes of dE/dx and of the elastic slip along a change of constants."""
        return self.derivative(step, x, at).along_constants(change)

    def pull_back_constants(
        self,
        step: Step,
        x: WarpArray,
        by: Floats,
        change: ByName,
        memory: ByName,
        into: StepCotangents,
    ) -> float:
        """Return the change of s and of the elastic slip along a change of constants, by what
        ``pull_back`` and ``pull_back_memory`` of this step found.
        """
        return self.derivative(step, x, into.at).pull_back_constants(change)

    def zero_tables(self) -> dict[str, Floats]:
        """Return zeros for the mass of all cloth, and for rest positions (mollifier)."""
        return {
            "total mass": np.zeros(()),
            "rest": np.zeros((len(self.workspace.contact.mesh.rest), 3)),
        }

    def by_tables(self, step: Step, x: WarpArray, by: Floats, at: Positions | None) -> ByName:
        """Return what ``pull_back`` and ``pull_back_memory`` of this step found by tables.

        The stiffness is proportional to the mean mass.
        """
        found = self.derivative(step, x, at)
        by_mass = np.asarray(found.by_stiffness() / float(self.workspace.contact.mass.sum()))
        return {"total mass": by_mass, "rest": found.by_rest_positions()}

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the mass of all faces, and by flat positions."""
        out = by_areas(rest.mesh, rest.density * float(by["total mass"]))
        if rest.mesh.vertex_uv is not None:
            flat = by["rest"][: rest.mesh.n_vertices, :2]
            np.add.at(out.reshape(-1, 2), rest.corner, flat)
        return out

    def pull_back_place(self, step: Step, x: WarpArray, by: Floats, at: Positions) -> Floats:
        """Return (n,3) derivatives by the positions at which friction was evaluated."""
        return self.derivative(step, x, at).by_place(by)

    def add_mean_hessian(self, x: WarpArray, A: BlockCsr) -> BlockCsr:
        """Return A plus the exact Hessian of all pairs at x; at a kink the mean of both sides
        (``barrier.kinks``).
        """
        frozen = self.frozen
        y = frozen.workspace.update_vertices(x)
        places = places_around(frozen.search, y)
        if len(places) == 1:
            return self.add_hessian(x, Psd.EXACT, A)
        blocks = []
        for place in places:
            contacts = frozen.search.contacts(place)
            local = np.array(kernel.numpy(contacts.exact(place))) / len(places)
            blocks.append(PairBlocks(contacts, kernel.array(local, mat33)))
        if frozen.friction:
            blocks.append(PairBlocks(frozen.friction, frozen.friction.hessians(y)))
        return frozen.embedding.add_hessian(
            A.finish(), blocks, lambda: frozen.search.pattern_pairs(y)
        )
