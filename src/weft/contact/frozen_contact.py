"""Contact in one step: what is constant while the step is solved.

These are the pairs that are left out, the stiffness, the part of the thickness that is kept, and
friction. Each client of contact takes this value: the minimizer by ``contact_energy``, step lengths
by ``contact_barrier``, gradients of runs by ``derivatives.contact_derivative``.

Three events within a step change it: friction is evaluated again (``lag``), and, while a start is
found, bodies that leave no room reduce the thickness, or release cloth (``ccd.carry_along``).
"""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.contact.barrier.stiffness import AdaptiveStiffness
from weft.contact.ccd.carry_along import CarryAlong
from weft.contact.ccd.obstacles import near_sides
from weft.contact.collision_mesh import Excluded
from weft.contact.contact_set import ContactSet
from weft.contact.contact_workspace import ContactWorkspace
from weft.contact.friction.friction import FrictionInputs, FrictionSet
from weft.contact.memory import RELEASED, SLIP, STIFFNESS
from weft.contact.released import released_levels, still_released
from weft.energies.obstacle import Obstacle
from weft.energies.step import Step
from weft.kernel import WarpArray, vec3
from weft.solve.sparse.vectors import max_norm

PART = 0.9  # of the room between bodies that pinch the cloth: the thickness that is kept


class FrozenContact:
    """Contact and friction in one step. The next value of the same workspace ends its use.

    Bodies are set to their positions at the end of the step. Friction, and the thickness for which
    bodies leave room, are evaluated at the positions at which the step begins.

    Args:
        workspace: contact of the simulation.
        step: the step.
    """

    def __init__(self, workspace: ContactWorkspace, step: Step) -> None:
        self.workspace, self.step, self.contact = workspace, step, workspace.contact
        self.search, self.embedding = workspace.search, workspace.embedding
        self.phases = workspace.phases
        self.adaptive_stiffness = AdaptiveStiffness.of(step.memory.get(STIFFNESS))
        self.has_friction = workspace.has_friction and self._has_started_friction()
        self.friction: FrictionSet | None = None  # None: no pair slides
        released = released_levels(step.memory, len(self.contact.mesh.rest))
        excluded = workspace.begin(step, released)
        settings, motion = self.contact.settings, workspace.motion
        self.carry_along = CarryAlong(
            self.search, self.embedding, step, motion, settings, released, excluded
        )
        if settings.pinch == "thin" and self.contact.mesh.sides.thickest > 0:
            self._leave_room()
        if self.has_friction:
            # The candidates of the path that is tried first also serve the contacts at its start.
            # These push with the stiffness of the step that led there.
            _, dy = self.carry_along.displacements(step.start - self.carry_along.x)
            self.search.find_candidates_along(self.start, dy)
            self.set_stiffness(before=True)
            self.freeze_friction(self.start)
        self.set_stiffness(before=False)

    @property
    def start(self) -> WarpArray:
        """The vertices of cloth and bodies at the start of the step, (n+b,) vec3 [m]."""
        return self.carry_along.start

    @property
    def excluded(self) -> Excluded:
        """The pairs that are left out."""
        return self.carry_along.excluded

    @property
    def obstacle(self) -> Obstacle | None:
        """The obstacle that left no room for the step, or for the whole thickness."""
        return self.carry_along.obstacle

    @cached_property
    def friction_inputs(self) -> FrictionInputs:
        """The data from which friction is frozen, besides the contacts."""
        slip, smooth, n = self.step.memory.get(SLIP), self.step.slip, self.embedding.n
        before = kernel.zeros(n, vec3) if slip is None else kernel.points(np.array(slip))
        if smooth is None:
            smooth = self.workspace.stick * self.step.dt
        return FrictionInputs(self.start, self.workspace.table, smooth, before)

    def _has_started_friction(self) -> bool:
        """Return whether friction acts at the time of the step."""
        step, begin = self.step, self.contact.settings.friction_from
        if step.scale is None:
            return step.slip is not None and step.t >= begin
        return bool(np.isfinite(step.span)) and step.t > begin * (1 - 1e-12)

    def _leave_room(self) -> None:
        """Keep only a part of the thickness if there is less room at the start, because bodies
        pinch the cloth.
        """
        y, sides = self.start, self.contact.mesh.sides
        near = self.search.near(y, sides.thickest)
        if len(near) == 0:
            return
        pairs, kinds = (kernel.numpy(a) for a in near.device)
        radius = sides.radius_of(pairs, kinds)
        keep = np.maximum(sides.thickness_of(pairs, kinds) - radius, 1e-300)
        part = (near.distances(y) - radius) / keep
        k = int(np.argmin(part))
        if part[k] <= 1.0:
            self.search.set_thickness_scale(PART * float(part[k]))
            at = np.array(kernel.numpy(y))
            self.carry_along.obstacle = near_sides(at, pairs[k], self.step.t, sides.cores)

    def set_stiffness(self, *, before: bool) -> None:
        """Set the stiffness of the step before this one, or of this one."""
        factor = self.adaptive_stiffness.before if before else self.adaptive_stiffness.now
        self.search.set_stiffness(self.contact.stiffness * factor)

    def freeze_friction(self, y: WarpArray) -> None:
        """Evaluate the friction of the step from the contacts at y (n+b,)."""
        contacts = self.search.contacts(y)
        with self.phases("friction"):
            self.friction = FrictionSet.of(contacts, y, *self.friction_inputs) or None

    def lag(self, x: WarpArray) -> bool:
        """Evaluate friction again from the contacts at points x (N,), where the step has led.

        Returns:
            False if the step has no friction, or there is no contact now and was no friction
            before.
        """
        if not self.has_friction:
            return False
        y, contacts = self.contacts_at(x)
        had_friction = self.friction is not None
        self.freeze_friction(y)
        return had_friction or len(contacts) > 0

    def contacts_at(self, x: WarpArray) -> tuple[WarpArray, ContactSet]:
        """Return the vertices (n+b,) of points x (N,), and the contacts there."""
        y = self.workspace.update_vertices(x)
        return y, self.search.contacts(y)

    def measure_pressing(self, x: WarpArray) -> tuple[float, float]:
        """Return the largest force on a vertex and the least room, which the stiffness follows.

        The force of contact is relative to the force that the stiffness without factor holds; the
        room is relative to the gap, for the largest thickness.
        """
        y, contacts = self.contacts_at(x)
        if len(contacts) == 0:
            return 0.0, 1.0
        g = kernel.zeros(self.embedding.n, vec3)
        contacts.add_forces(contacts.gradients(y), g, self.embedding.n)
        thickness = self.search.thickness_part * self.contact.mesh.sides.thickest
        room = (self.least_distance(y, contacts) - thickness) / self.search.gap
        return max_norm(g) / self.contact.force_at_half_gap, room

    def least_distance(self, y: WarpArray, contacts: ContactSet) -> float:
        """Return the least distance [m] between surfaces in contact at y (n+b,)."""
        return contacts.least_distance(y, self.contact.mesh.core_radius)

    def memory(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the values that the next step needs, after this one ended at x (N,).

        These are the released vertices, the adaptive stiffness (``barrier.stiffness``) and the
        elastic slip of friction (``friction``).
        """
        found: dict[str, Floats] = {}
        if self.carry_along.released.any():
            y = np.array(kernel.numpy(self.workspace.update_vertices(x)))
            left = still_released(self.contact.mesh, y, self.carry_along.released)
            found[RELEASED] = left.astype(np.float64)
        if self.step.scale is not None:
            after = self.adaptive_stiffness.after(*self.measure_pressing(x))
            found[STIFFNESS] = after.memory()
        if self.has_friction:
            found[SLIP] = np.zeros((self.embedding.n, 3))
            if self.friction:
                y = self.workspace.update_vertices(x)
                slip = self.friction.update_slips(y, self.friction_inputs.slip)
                found[SLIP] = np.array(kernel.numpy(slip))
        return found
