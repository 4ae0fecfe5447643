"""Contact of a simulation on the device: everything that one step after another uses again.

These are the search with its trees, the map from points to vertices with its matrix patterns, the
table of friction, and work arrays. ``frozen_contact`` is contact in one of the steps.
"""

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Ints
from weft.base.timing import Phases
from weft.contact.assembly.lumped_pairs import LumpedPairs
from weft.contact.ccd.prescribed_motion import PrescribedMotion
from weft.contact.collision_groups import friction_of
from weft.contact.collision_mesh import Excluded
from weft.contact.contact import Contact
from weft.contact.detector import ContactDetector
from weft.contact.exact.intersection_check import IntersectionCheck
from weft.contact.friction.law import friction_coefficients
from weft.contact.settings import SelfContact
from weft.energies.step import Step
from weft.kernel import WarpArray, vec3


class ContactWorkspace:
    """Search, embedding, friction table and work arrays of a contact. It serves one step at a time.

    Args:
        contact: the surfaces, the settings and the stiffness.
        phases: counts the seconds of each phase.
    """

    def __init__(self, contact: Contact, phases: Phases | None = None) -> None:
        self.contact, self.embedding = contact, contact.build_embedding()
        self.phases = Phases() if phases is None else phases
        self.search = ContactDetector(contact.mesh, contact.stiffness, contact.gap, self.phases)
        n, sides = len(contact.mesh.rest), contact.mesh.sides
        self._vertices, self._displacements = kernel.zeros(n, vec3), kernel.zeros(n, vec3)
        self.factors = kernel.GrowingArray(vec3, 5, 4)  # of Hessians
        self.late_pairs = LumpedPairs(self.embedding.n, n, sides.thickest)
        self.motion = PrescribedMotion(contact.mesh)
        self.intersection_check = IntersectionCheck(contact.mesh)
        # Whether anything has friction, and the time [s] that turns a velocity into elastic slip.
        self.has_friction, self.stick = sides.has_friction, contact.settings.stick
        self.table = friction_coefficients(
            sides.static, sides.kinetic, sides.part, sides.friction_factor
        )
        # Fixed points and released vertices, with the pairs that are left out because of them.
        self._last_excluded: tuple[Bools, Ints, Excluded] | None = None
        bodies = (*contact.rigid_bodies.bodies, *contact.bodies, *contact.cores)
        first = len(sides.names) - len(bodies)
        links = [(k, b.name) for k, b in enumerate(bodies, first) if b.link is not None]
        # (k,) vertices of each link of an arm, by name
        self.links = {name: np.flatnonzero(sides.part == k).astype(np.int32) for k, name in links}

    def update_constants(self, energy: SelfContact) -> None:
        """Use the friction of these settings from the next step on; other settings stay."""
        sides = self.contact.mesh.sides
        static, kinetic = friction_of(energy, sides.names)
        self.has_friction, self.stick = bool((static > 0).any()), energy.stick
        self.table = friction_coefficients(static, kinetic, sides.part, sides.friction_factor)

    def begin(self, step: Step, released: Ints) -> Excluded:
        """Begin a step without candidates, with bodies at their positions at its end.

        Args:
            step: the step.
            released: (n+b,) level of each vertex at the start of the step (``contact.released``).

        Returns:
            The pairs that are left out of searches.
        """
        excluded = self._excluded(np.array(step.fixed), released)
        self.search.begin(excluded)
        self.embedding.begin(step)
        self.late_pairs.begin()
        if len(step.bodies[1]):
            bodies = kernel.points(np.array(step.bodies[1]))
            wp.copy(self._vertices, bodies, dest_offset=self.embedding.n)
        return excluded

    def _excluded(self, fixed: Bools, released: Ints) -> Excluded:
        """Return the pairs that are left out because of these prescribed points and released
        vertices.
        """
        last = self._last_excluded
        same = last is not None and np.array_equal(fixed, last[0])
        if last is None or not (same and np.array_equal(released, last[1])):
            last = fixed, released, self.contact.excluded(fixed, released)
            self._last_excluded = last
        return last[2]

    def update_vertices(self, x: WarpArray) -> WarpArray:
        """Return the vertices (n+b,) of points x (N,); those of bodies stay. The array is valid
        until the next call.
        """
        self.embedding.to_surface(x, self._vertices)
        return self._vertices

    def update_displacements(self, d: WarpArray) -> WarpArray:
        """Return the displacements (n+b,) of vertices if points move by d (N,); those of bodies are
        zero. The array is valid until the next call.
        """
        self.embedding.to_surface(d, self._displacements)
        return self._displacements
