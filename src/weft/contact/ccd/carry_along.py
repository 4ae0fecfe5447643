"""Carry free vertices along with pins and bodies that would collide with them.

Prescribed vertices go all their way. A free vertex that would be hit takes the motion of the
vertices that hit it, and so on, until no pair collides. Prescribed vertices must not pass through
one another, and bodies must leave room for the cloth: otherwise there is an obstacle, or cloth is
released (``contact.released``), as the settings of contact say.
"""

from functools import cached_property

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.contact.assembly.embedding import ContactEmbedding
from weft.contact.broad_phase.candidates import Candidates
from weft.contact.ccd.obstacles import (
    ClosingSurfaces,
    PrescribedContacts,
    middle_of,
    near_sides,
    passing_sides,
)
from weft.contact.ccd.prescribed_motion import PrescribedMotion
from weft.contact.collision_groups import THROUGH_BODIES, THROUGH_CLOTH
from weft.contact.collision_mesh import Excluded
from weft.contact.detector import ContactDetector
from weft.contact.distance.distance import closest_of
from weft.contact.settings import SelfContact
from weft.energies.obstacle import Obstacle
from weft.energies.step import Step
from weft.kernel import WarpArray

MOST_ROUNDS = 60  # in which free vertices take the motion of the vertices that hit them
MOST_RELEASES = 30  # rounds in which cloth is released in one step
THINNER, MOST_THINNER = 0.7, 8  # factor on the thickness, and tries, if bodies leave no room


class CarryAlong:
    """The displacements of points and bodies in one step, with free vertices that are carried
    along.

    Args:
        search: finds candidates and collisions.
        embedding: maps points to vertices.
        step: the step, with prescribed points, and the positions of bodies before and after.
        motion: follows the prescribed vertices.
        settings: of contact.
        released: (n+b,) level of each vertex at the start of the step (``contact.released``).
        excluded: pairs that are left out at the start; ``excluded`` changes if cloth is released.
    """

    def __init__(
        self,
        search: ContactDetector,
        embedding: ContactEmbedding,
        step: Step,
        motion: PrescribedMotion,
        settings: SelfContact,
        released: Ints,
        excluded: Excluded,
    ) -> None:
        self.search, self.embedding, self.step = search, embedding, step
        self.motion, self.settings = motion, settings
        self.released, self.excluded = released, excluded
        self.x = np.asarray(step.state.x)  # (n,3) [m] points at the start of the step
        self._is_clear: bool | None = None  # whether prescribed vertices collide with none; unknown
        self.obstacle: Obstacle | None = None  # that kept points from being carried
        self._closing: ClosingSurfaces | None = None  # the surfaces that did so
        self._last: tuple[Floats, Floats, WarpArray] | None = None  # argument, displacements

    @cached_property
    def y(self) -> Positions:
        """The vertices of cloth and bodies at the start of the step, (n+b,3) [m]."""
        return np.concatenate([self.embedding.of(self.x), self.step.bodies[0]])

    @cached_property
    def start(self) -> WarpArray:
        """These vertices on the device, where they are uploaded once."""
        return kernel.points(self.y)

    def displacements(self, way: Floats) -> tuple[Floats, WarpArray]:
        """Return the displacements of the vertices of cloth and bodies if points move by ``way``
        (n,3) [m]: (n+b,3) [m], and the same on the device.

        Those of the last ``way`` are uploaded once.
        """
        if self._last is None or not np.array_equal(way, self._last[0]):
            dy = self._vertex_displacements(way)
            self._last = np.array(way), dy, kernel.points(dy)
        return self._last[1:]

    def _vertex_displacements(self, way: Floats) -> Floats:
        before, after = self.step.bodies
        return np.concatenate([self.embedding.of(way), after - before])

    def reachable(self, way: Floats) -> float:
        """Return the part of the displacement ``way`` (n,3) [m], in [0, 1], that may be gone before
        a pair collides.
        """
        return self.search.max_step(self.start, self.displacements(way)[1])

    def carry(self, goal: Positions) -> Positions | None:
        """Return the points (n,3) [m] that are reached towards ``goal`` (n,3) [m]; None if pins and
        bodies cannot get to their places: ``obstacle`` says why.
        """
        if not self._prescribed_is_clear():
            return None
        way = goal - self.x
        part = self.reachable(way)
        if part == 1.0 or not self.prescribes(way):
            return np.asarray(self.x + part * way)
        with self.search.phases("carry"):
            found = self.carry_points(way)
            for _ in range(MOST_THINNER if self.settings.pinch == "thin" else 0):
                if found is not None:
                    break
                self.search.set_thickness_scale(THINNER * self.search.thickness_part)
                found = self.carry_points(way)
            for _ in range(MOST_RELEASES):
                if found is not None or not self._release_caught():
                    break
                found = self.carry_points(way)
        return found

    def _prescribed_is_clear(self) -> bool:
        """Return whether prescribed vertices pass through no other ones in this step; cloth that
        may pass is released.
        """
        if self._is_clear is None:
            self._is_clear = self._follow_prescribed()
        return self._is_clear

    def _follow_prescribed(self) -> bool:
        step, n = self.step, self.embedding.n
        pinned = np.zeros(len(self.y), dtype=bool)
        pinned[:n] = self.embedding.whole(step.fixed)
        if not pinned.any():
            return True
        way = np.where(step.fixed[:, None], step.target - self.x, 0.0)
        dy = self._vertex_displacements(way)
        for _ in range(MOST_RELEASES):
            found = self.motion.collision(self.y, dy, pinned, self.released)
            if found is None:
                return True
            if self.settings.prescribed == "stop" or not self._release(found.pairs, found.pairs):
                t = step.state.t + found.part * step.dt
                self.obstacle = passing_sides(self.y + found.part * dy, found.pairs[0], n, t)
                return False
        return False

    def _release_caught(self) -> bool:
        """Let one of the surfaces that close on cloth pass through it, if the settings say so;
        return whether that changes anything.
        """
        if self._closing is None or self._last is None:
            return False
        sides, held = self.search.mesh.sides, np.concatenate(self._closing.sides)
        pinned = bool((sides.part[held] < sides.pieces).any())
        if not (self.settings.prescribed == "pass" if pinned else self.settings.pinch == "release"):
            return False
        return self._release(self._closing.cloth, self._closing.passing_side(self._last[1]))

    def _release(self, cloth: Ints, passing: Ints) -> bool:
        """Let prescribed vertices and vertices of the cloth pass through each other; return whether
        that changes anything.

        Of bodies all vertices pass, unless the same body has cloth between two of its parts.
        """
        sides, before = self.search.mesh.sides, self.released
        is_cloth = sides.part < sides.pieces
        level = np.where(is_cloth[passing].any(), THROUGH_CLOTH, THROUGH_BODIES)
        cloth, passing = np.unique(cloth), np.unique(passing)
        parts = np.unique(sides.part[passing[~is_cloth[passing]]])
        closing = self._closing.sides if self._closing is not None else ()
        if len(closing) < 2 or not np.isin(sides.part[np.concatenate(closing)], parts).all():
            passing = np.union1d(passing, np.flatnonzero(np.isin(sides.part, parts)))
        self.released = before.copy()
        bodies = passing[passing >= sides.first_body]
        self.released[bodies] = np.maximum(before[bodies], THROUGH_BODIES)
        free = np.union1d(cloth, passing)
        free = free[is_cloth[free]]
        self.released[free] = np.maximum(before[free], level)
        if np.array_equal(self.released, before):
            return False
        fixed = self.embedding.whole(self.step.fixed)
        self.excluded = self.search.mesh.excluded(fixed, self.released)
        self.search.begin(self.excluded, self.search.thickness_part)
        return True

    def prescribes(self, way: Floats) -> bool:
        """Return whether bodies move, or pins with the displacement ``way``."""
        moving = np.where(self.step.free[:, None], 0.0, way)
        return self.step.moves_bodies or bool(moving.any())

    def carry_points(self, way: Floats) -> Positions | None:
        """Return x + way (n,3) [m], after free points that would be hit are carried along.

        A free vertex of a pair that would collide takes the displacement of the pair's prescribed
        vertices (or of those that are carried already), or, if there are none, the mean of the
        pair.

        Returns:
            The positions; None if that does not end, because something is caught between prescribed
            vertices.
        """
        way, leads, held = np.array(way), self.step.fixed.copy(), self.step.fixed
        bodies = np.ones(len(self.step.bodies[1]), dtype=bool)
        met: list[tuple[Candidates, Bools]] = []  # and which of their vertices are prescribed
        for _ in range(MOST_ROUNDS):
            dy, device_dy = self.displacements(way)
            found = self.search.blocking_pairs(self.start, device_dy)
            pairs = found.pairs
            if len(pairs) == 0:
                return self.x + way
            leading: Bools
            still: Bools
            leading, still = (
                np.concatenate([self.embedding.whole(p), bodies])[pairs] for p in (leads, held)
            )
            met.append((found, still))
            if still.all(1).any():
                break
            self._follow(found, leading, still, dy, way, leads)
        every = PrescribedContacts.join(
            [PrescribedContacts.of(self.y, *m, self.search.mesh.cores) for m in met]
        )
        if len(every.at):
            place = middle_of(self.y + dy, pairs[0], self.search.mesh.cores)
            self._closing = ClosingSurfaces.of(
                self.search.mesh, dy, pairs, every, place, self.step.t
            )
            self.obstacle = self._closing.obstacle
        else:  # free cloth that does not come apart
            self.obstacle = near_sides(self.y + dy, pairs[0], self.step.t, self.search.mesh.cores)
        return None

    def _follow(
        self,
        found: Candidates,
        leading: Bools,
        still: Bools,
        dy: Floats,
        way: Floats,
        leads: Bools,
    ) -> None:
        """Give the points of vertices that follow the displacement of the vertices that lead, in
        ``way``: at the closest points of a pair, because bodies turn.
        """
        pairs, weights = found.pairs, np.abs(closest_of(self.start, *found.device)[1])
        share = np.where(leading.any(1, keepdims=True), leading, True) * (weights + 1e-9)
        mean = np.einsum("ma,mai->mi", share, dy[pairs]) / share.sum(1, keepdims=True)
        pair, place = np.nonzero(~still & (pairs < self.embedding.n))
        points, moves = self.embedding.points_of(pairs[pair, place])
        moves = moves & ~self.step.fixed[points]
        way[points[moves]] = np.broadcast_to(mean[pair][:, None, :], (*points.shape, 3))[moves]
        pulled: Bools = np.any(leading, axis=1)
        leads[points[moves & pulled[pair][:, None]]] = True
