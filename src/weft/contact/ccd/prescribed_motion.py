"""Collisions among prescribed surfaces: pinned cloth against bodies and against other pinned cloth.

The search of a step leaves such pairs out, because no force changes them. So their motion is
followed here, before the step is solved. Only pinned cloth that moves relative to something
prescribed is looked at. Thickness does not count: prescribed surfaces may be as near as they like.
"""

from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.broad_phase.candidates import Candidates
from weft.contact.ccd.conservative_advancement import max_step
from weft.contact.collision_mesh import CollisionMesh

REACH = 1e-6  # [m] search distance around the paths
MOST = 15  # advances, each to a tenth of the distance of the nearest pair
MEET = 1e-9  # [m] distance of surfaces that meet; of nearer ones round-off decides


@dataclass(frozen=True, eq=False)
class Collision:
    """The first collision of prescribed surfaces in a step.

    Args:
        part: of the step, in [0, 1], after which the surfaces meet.
        pairs: (m,4) vertices of the pairs that meet then.
    """

    part: float
    pairs: Ints


class PrescribedMotion:
    """The motion of pinned cloth among bodies and other pinned cloth.

    Args:
        mesh: the surfaces.
    """

    def __init__(self, mesh: CollisionMesh) -> None:
        self.mesh, self._near = mesh, mesh

    def collision(
        self, y: Positions, dy: Floats, pinned: Bools, released: Ints
    ) -> Collision | None:
        """Return the first collision of a step; None if there is none.

        Args:
            y: (n+b,3) [m] vertices at the start of the step.
            dy: (n+b,3) [m] displacements of prescribed vertices.
            pinned: (n+b,) pinned vertices of the cloth.
            released: (n+b,) levels of released vertices.
        """
        near = self._close_to(y, dy, pinned)
        if near is None:
            return None
        if self._near.only is None or not np.array_equal(near, self._near.only):
            self._near = self.mesh.restricted(near)
        excluded = self._near.excluded(np.zeros(0, dtype=bool), released)
        at, way = kernel.points(y), kernel.points(np.where(near[:, None], dy, 0.0))
        found = find_candidates(self._near, at, REACH, kernel.points(y + dy), excluded)
        return _first_collision(y, np.array(kernel.numpy(way)), found) if len(found) else None

    def _close_to(self, y: Positions, dy: Floats, pinned: Bools) -> Bools | None:
        """Return the prescribed vertices on whose motion a collision depends, (n+b,); None if
        nothing can collide.
        """
        if not (pinned.any() and dy.any()):
            return None
        n, ends = self.mesh.sides.first_body, np.stack([y, y + dy])
        low, high = (f(ends[:, pinned], axis=(0, 1)) for f in (np.min, np.max))
        near, bodies = pinned.copy(), ends[:, n:].reshape(-1, 3)
        if len(bodies) and ((bodies.min(0) <= high) & (bodies.max(0) >= low)).all():
            faces = self.mesh.faces[self.mesh.faces[:, 0] >= n]
            corners = ends[:, faces]
            lowest, highest = corners.min((0, 2)), corners.max((0, 2))
            near[faces[((lowest <= high) & (highest >= low)).all(1)]] = True
        moves = dy[near]
        return None if (np.ptp(moves, axis=0) == 0).all() else near


def _first_collision(y: Positions, dy: Floats, found: Candidates) -> Collision | None:
    """Follow the paths of candidate pairs to their first collision."""
    done = 0.0
    for _ in range(MOST):
        part = max_step(y + done * dy, (1 - done) * dy, found)
        if part == 1.0:
            return None
        done += part * (1 - done)
        distances = found.distances(y + done * dy)
        if distances.min() <= MEET:
            break
    meet = distances <= 2 * distances.min()
    return Collision(done, found.pairs[meet])
