"""What pins and bodies take along where they cannot go without meeting cloth.

What is prescribed goes all its way; a free vertex that would be met takes the motion of what meets
it, and so on, until nothing is met any more.
"""

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.contact.assembly.embedding import ContactEmbedding
from weft.contact.detector import ContactDetector
from weft.energies.step import Step

MOST_ROUNDS = 60  # in which free vertices take the motion of what meets them


class CarryAlong:
    """The ways of points and bodies in one step.

    Args:
        search: what knows who meets whom.
        embedded: from points to vertices.
        step: with what is prescribed, and where bodies are before and after.
        x: (n,3) [m] points where it begins.
    """

    def __init__(
        self, search: ContactDetector, embedded: ContactEmbedding, step: Step, x: Positions
    ) -> None:
        self.search, self.embedded, self.step, self.x = search, embedded, step, x
        self.blocked: Positions | None = None  # (3,) [m] the last place where something was met

    def everything(self, way: Floats) -> tuple[Positions, Floats]:
        """(n+b,3) vertices and those of bodies when the step begins, and their displacements."""
        before, after = self.step.bodies
        return (
            np.concatenate([self.embedded.of(self.x), before]),
            np.concatenate([self.embedded.of(way), after - before]),
        )

    def reachable(self, way: Floats) -> float:
        """Part of the way (n,3), in [0, 1], that may be gone before anything meets."""
        y, dy = self.everything(way)
        return self.search.max_step(kernel.points(y), kernel.points(dy))

    def prescribes(self, way: Floats) -> bool:
        """Whether bodies or pins move."""
        moving = np.where(self.step.free[:, None], 0.0, way)
        return self.step.moves_bodies or bool(moving.any())

    def carried(self, way: Floats) -> Positions | None:
        """x + way, with free points whose vertices would be met carried along by what meets them.

        A free vertex in a pair that would meet takes the displacement of the pair's prescribed
        vertices (or of those that are carried already), or, where there are none, the pair's mean.
        None where that does not come to an end: something is caught between what is prescribed.
        """
        way, leads, held = np.array(way), self.step.fixed.copy(), self.step.fixed
        bodies = np.ones(len(self.step.bodies[1]), dtype=bool)
        for _ in range(MOST_ROUNDS):
            y, dy = self.everything(way)
            pairs = self.search.meeting(kernel.points(y), kernel.points(dy))
            if len(pairs) == 0:
                return np.asarray(self.x + way)
            self.blocked = y[pairs[0]].mean(0)
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
        """Give points of vertices that follow the mean displacement of those that lead."""
        share = np.where(leading.any(1, keepdims=True), leading, True)
        mean = np.einsum("ma,mai->mi", share, dy[pairs]) / share.sum(1, keepdims=True)
        pair, place = np.nonzero(~still & (pairs < self.embedded.n))
        points, moves = self.embedded.points_of(pairs[pair, place])
        moves = moves & ~self.step.fixed[points]
        way[points[moves]] = np.broadcast_to(mean[pair][:, None, :], (*points.shape, 3))[moves]
        pulled: Bools = np.any(leading, axis=1)
        leads[points[moves & pulled[pair][:, None]]] = True
