"""Carry free vertices along with pins and bodies that would collide with them.

Prescribed vertices go all their way. A free vertex that would be hit takes the motion of what hits
it, and so on, until no pair collides.
"""

from functools import cached_property

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.contact.assembly.embedding import ContactEmbedding
from weft.contact.detector import ContactDetector
from weft.energies.step import Step
from weft.kernel import WarpArray

MOST_ROUNDS = 60  # in which free vertices take the motion of what hits them


class CarryAlong:
    """The displacements of points and bodies in one step, with free vertices that are carried
    along.

    Args:
        search: finds candidates and collisions.
        embedded: maps points to vertices.
        step: the step, with prescribed points, and the positions of bodies before and after.
        x: (n,3) [m] points at the start of the step.
    """

    def __init__(
        self, search: ContactDetector, embedded: ContactEmbedding, step: Step, x: Positions
    ) -> None:
        self.search, self.embedded, self.step, self.x = search, embedded, step, x
        self.blocked: Positions | None = None  # (3,) [m] place of the last collision
        self._last: tuple[Floats, Floats, WarpArray] | None = None  # argument, displacements

    @cached_property
    def y(self) -> Positions:
        """The vertices of cloth and bodies at the start of the step, (n+b,3) [m]."""
        return np.concatenate([self.embedded.of(self.x), self.step.bodies[0]])

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
            before, after = self.step.bodies
            dy = np.concatenate([self.embedded.of(way), after - before])
            self._last = np.array(way), dy, kernel.points(dy)
        return self._last[1:]

    def reachable(self, way: Floats) -> float:
        """Return the part of the displacement ``way`` (n,3) [m], in [0, 1], that may be gone before
        a pair collides.
        """
        return self.search.max_step(self.start, self.displacements(way)[1])

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
        for _ in range(MOST_ROUNDS):
            dy, device_dy = self.displacements(way)
            pairs = self.search.meeting(self.start, device_dy)
            if len(pairs) == 0:
                return self.x + way
            self.blocked = self.y[pairs[0]].mean(0)
            leading: Bools
            still: Bools
            leading, still = (
                np.concatenate([self.embedded.whole(p), bodies])[pairs] for p in (leads, held)
            )
            if still.all(1).any():
                return None
            self._follow(pairs, leading, still, dy, way, leads)
        return None

    def _follow(
        self, pairs: Ints, leading: Bools, still: Bools, dy: Floats, way: Floats, leads: Bools
    ) -> None:
        """Give the points of vertices that follow the mean displacement of the vertices that lead,
        in ``way``.
        """
        share = np.where(leading.any(1, keepdims=True), leading, True)
        mean = np.einsum("ma,mai->mi", share, dy[pairs]) / share.sum(1, keepdims=True)
        pair, place = np.nonzero(~still & (pairs < self.embedded.n))
        points, moves = self.embedded.points_of(pairs[pair, place])
        moves = moves & ~self.step.fixed[points]
        way[points[moves]] = np.broadcast_to(mean[pair][:, None, :], (*points.shape, 3))[moves]
        pulled: Bools = np.any(leading, axis=1)
        leads[points[moves & pulled[pair][:, None]]] = True
