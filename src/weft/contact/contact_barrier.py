"""Limits of steps by contact: how far points may go before a pair collides."""

from weft import kernel
from weft.base.arrays import Positions
from weft.contact.frozen_contact import FrozenContact
from weft.energies.barrier import Barrier
from weft.energies.obstacle import Obstacle
from weft.energies.step import Step
from weft.kernel import WarpArray

SETTLED = 0.5  # of the room of a pair: largest change by the last increment of a minimization


class ContactBarrier(Barrier):
    """The limits that contact sets to the displacements of a step."""

    frozen: FrozenContact  # contact in the step

    @property
    def blocked(self) -> Obstacle | None:
        """The obstacle that left no room for the step."""
        return self.frozen.obstacle

    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Return the part of the displacement d, in [0, 1], that points may go from x before a pair
        collides.
        """
        workspace = self.frozen.workspace
        y, dy = workspace.update_vertices(x), workspace.update_displacements(d)
        return self.frozen.search.max_step(y, dy)

    def truncate(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return d with the displacement of every vertex cut to the part that its near pairs leave
        it.
        """
        workspace, embedding = self.frozen.workspace, self.frozen.embedding
        y, dy = workspace.update_vertices(x), workspace.update_displacements(d)
        bound = embedding.bounds(d, y.shape[0])
        return embedding.shorten_displacements(d, self.frozen.search.parts(y, dy, bound))

    def is_settled(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether d changes the distance of no pair by more than ``SETTLED`` of its room.

        Newton's increment at most doubles the room of a pair that is far too near, so for such a
        pair a small increment does not mean that the balance is near.
        """
        y, contacts = self.frozen.contacts_at(x)
        changes = contacts.changes_of_room(y, self.frozen.workspace.update_displacements(d))
        return kernel.largest(changes) <= SETTLED

    def carry(self, goal: Positions, step: Step) -> Positions | None:
        """Move from the start of the step towards ``goal`` as far as contact allows, with pins and
        bodies at their prescribed places.

        If these would collide with free cloth, they carry it along (``ccd.carry_along``).

        Args:
            goal: (N,3) [m] points, with prescribed ones at their places.
            step: the step, with which the term was frozen.

        Returns:
            (N,3) [m] points; None if pins and bodies cannot get there without passing through
            something.
        """
        frozen, excluded = self.frozen, self.frozen.excluded
        found = frozen.carry_along.carry(goal)
        if frozen.excluded is not excluded and frozen.has_friction:  # cloth was released
            frozen.freeze_friction(frozen.start)
        return found

    def has_new_intersections(self, x: WarpArray) -> bool:
        """Return whether surfaces intersect at x that did not intersect at the start of the
        step.
        """
        frozen, check = self.frozen, self.frozen.workspace.intersection_check
        y = frozen.workspace.update_vertices(x)
        if frozen.contact.mesh.cores is not None:
            _, contacts = frozen.contacts_at(x)
            if len(contacts) and frozen.least_distance(y, contacts) < 0:
                return True
        with frozen.phases("intersections"):
            now = check.pairs(y, frozen.excluded)
            if len(now) == 0:
                return False
            before = check.pairs(frozen.start, frozen.excluded)
            return not set(map(tuple, now.tolist())) <= set(map(tuple, before.tolist()))
