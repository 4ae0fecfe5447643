"""The rigid bodies of a scene, as contact and the integrator use them.

Contact numbers the vertices of the cloth first, then those of rigid bodies, then those of all other
bodies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.bodies.body import Body
from weft.bodies.rigid.affine_body import AffineBody
from weft.discretization.embedding import Embedding
from weft.discretization.samples import Samples

PRESCRIBED = 1e-9  # [kg] mass of a prescribed point: any, because nothing moves it


@dataclass(frozen=True, eq=False)
class RigidBodies:
    """The rigid bodies of a scene.

    Args:
        affine: the bodies, with their points one body after another. Then follow four points for
            each finger of an arm, where the arm drives it (``targets``).
        n_points: number of points of the whole simulation.
    """

    affine: Sequence[AffineBody] = ()
    n_points: int = 0

    def __len__(self) -> int:
        return len(self.affine)

    @staticmethod
    def of(bodies: Sequence[Body], first: int) -> "RigidBodies":
        """Build the rigid bodies among ``bodies``, with their points numbered from ``first`` on.

        Raises:
            SceneError: a rigid body has no volume.
        """
        found = [b for b in bodies if b.rigid is not None]
        affine = [AffineBody(b, b.rigid, first + 4 * k) for k, b in enumerate(found) if b.rigid]
        fingers = sum(b.link is not None for b in found)
        return RigidBodies(affine, first + 4 * (len(found) + fingers))

    def now(self, bodies: Sequence[Body]) -> "RigidBodies":
        """Return these rigid bodies with the settings and links of ``bodies``, for example at
        another time.
        """
        given = [b for b in bodies if b.rigid is not None]
        affine = [a.with_(body=b, rigid=b.rigid) for a, b in zip(self.affine, given, strict=True)]
        return RigidBodies(affine, self.n_points)

    @property
    def bodies(self) -> Sequence[Body]:
        """The surfaces of the rigid bodies, in the order in which the scene lists them."""
        return [a.body for a in self.affine]

    @cached_property
    def targets(self) -> Sequence[AffineBody]:
        """The fingers of arms where their arm drives them: their points are prescribed."""
        fingers = [a for a in self.affine if a.body.link is not None]
        first = self.n_points - 4 * len(fingers)
        return [a.with_(first=first + 4 * k) for k, a in enumerate(fingers)]

    @property
    def points(self) -> Positions:
        """(4k,3) [m] points of all bodies at the start, then of ``targets``."""
        every = (*self.affine, *self.targets)
        return np.concatenate([np.zeros((0, 3)), *(a.points for a in every)])

    @property
    def point_mass(self) -> Floats:
        """(4k,) [kg] masses of the points."""
        own = [a.mass / 4 for a in self.affine] + [PRESCRIBED] * len(self.targets)
        return np.repeat(own, 4).astype(np.float64)

    @cached_property
    def count(self) -> Ints:
        """(k,) number of vertices of each body."""
        return np.array([len(b.vertices) for b in self.bodies], dtype=np.int64)

    @property
    def shares(self) -> Floats:
        """(n,) [kg] mass that each vertex represents: the body's mass over its number of
        vertices.
        """
        return np.repeat([a.mass for a in self.affine] / np.maximum(self.count, 1), self.count)

    def embedding(self, cloth: Embedding | None, n_cloth: int) -> Embedding | None:
        """Return the vertices of the cloth (n_cloth,), then those of the rigid bodies, as linear
        combinations of the points.

        Args:
            cloth: embedding of the cloth; None: its vertices are its points.
            n_cloth: number of vertices of the cloth.
        """
        if not self.affine:
            return cloth
        own = single(n_cloth, self.n_points) if cloth is None else cloth.wider(self.n_points)
        return Embedding.concatenate(
            [own, *(a.embedding(self.n_points) for a in self.affine)], self.n_points
        )

    @property
    def blown(self) -> Samples | None:
        """The faces of bodies on which air acts, as samples of their points; None: no such faces.

        Every face counts with half of its area, so that the two sides of a plate act like one sheet
        of the plate's area.
        """
        made = [a.samples(self.n_points) for a in self.affine if a.rigid.air]
        return Samples.concatenate(made) if made else None

    def apart(self, sewn: Ints, n: int) -> Ints:
        """Return numbers (n,) of all vertices; contact ignores pairs of primitives that share a
        number.

        Every rigid body gets one number, because it does not meet itself.

        Args:
            sewn: numbers of the vertices of the cloth.
            n: number of all vertices.
        """
        each = np.repeat(n + np.arange(len(self)), self.count)
        others = np.arange(len(sewn) + len(each), n)
        return np.concatenate([sewn, each, others]).astype(np.int32)


NONE = RigidBodies()


def single(n: int, n_points: int) -> Embedding:
    """Return the embedding of ``n`` vertices that are the first ``n`` of ``n_points`` points."""
    return Embedding(np.arange(n, dtype=np.int32)[:, None], np.ones((n, 1)), n_points)


def all_vertices(bodies: Sequence[Body], rigid_bodies: Positions, t: float) -> Positions:
    """Return the vertices (b,3) [m] of all bodies in the order of ``bodies``.

    Args:
        bodies: all bodies of the scene.
        rigid_bodies: (l,3) [m] vertices of the rigid bodies, one body after another.
        t: [s] time, for the other bodies.
    """
    placed, first = [np.zeros((0, 3))], 0
    for body in bodies:
        if body.rigid is None:
            placed.append(body.at(t))
        else:
            placed.append(rigid_bodies[first : first + len(body.vertices)])
            first += len(body.vertices)
    return np.concatenate(placed)
