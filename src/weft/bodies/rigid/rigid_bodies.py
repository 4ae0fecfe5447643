"""Rigid bodies in contact: their vertices follow those of the cloth, and those of bodies that
nothing moves follow theirs.
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


@dataclass(frozen=True, eq=False)
class RigidBodies:
    """All rigid bodies of a scene.

    Args:
        affine: the bodies, their points one after the other.
        n_points: points of the whole simulation.
    """

    affine: Sequence[AffineBody] = ()
    n_points: int = 0

    def __len__(self) -> int:
        return len(self.affine)

    @staticmethod
    def of(bodies: Sequence[Body], first: int) -> "RigidBodies":
        """Those of the bodies that are rigid, their points from number ``first`` on.

        Raises:
            SceneError: a body without volume.
        """
        found = [b for b in bodies if b.rigid is not None]
        affine = [AffineBody(b, b.rigid, first + 4 * k) for k, b in enumerate(found) if b.rigid]
        return RigidBodies(affine, first + 4 * len(found))

    def now(self, bodies: Sequence[Body]) -> "RigidBodies":
        """The same with the settings that the bodies of the scene have at another time."""
        settings = [b.rigid for b in bodies if b.rigid is not None]
        affine = [a.with_settings(rigid) for a, rigid in zip(self.affine, settings, strict=True)]
        return RigidBodies(affine, self.n_points)

    @property
    def bodies(self) -> Sequence[Body]:
        """As they were given."""
        return [a.body for a in self.affine]

    @property
    def points(self) -> Positions:
        """(4k,3) [m] at the start."""
        return np.concatenate([np.zeros((0, 3)), *(a.points for a in self.affine)])

    @property
    def point_mass(self) -> Floats:
        """(4k,) [kg]."""
        return np.repeat([a.mass / 4 for a in self.affine], 4).astype(np.float64)

    @cached_property
    def count(self) -> Ints:
        """(k,) vertices of each."""
        return np.array([len(b.vertices) for b in self.bodies], dtype=np.int64)

    @property
    def shares(self) -> Floats:
        """(n,) [kg] of each body by the number of its vertices: what a vertex stands for."""
        return np.repeat([a.mass for a in self.affine] / np.maximum(self.count, 1), self.count)

    def embedding(self, cloth: Embedding | None, n_cloth: int) -> Embedding | None:
        """Vertices of the cloth (n_cloth,) and then of the bodies, in the points."""
        if not self.affine:
            return cloth
        own = single(n_cloth, self.n_points) if cloth is None else cloth.wider(self.n_points)
        return Embedding.joined(
            [own, *(a.embedding(self.n_points) for a in self.affine)], self.n_points
        )

    @property
    def blown(self) -> Samples | None:
        """Faces of the bodies on which air acts, as samples of their points: half of each, so that
        the two sides of a plate are a sheet of its area; None where there are none.
        """
        made = [a.samples(self.n_points) for a in self.affine if a.rigid.air]
        return Samples.joined(made) if made else None

    def apart(self, sewn: Ints, n_cloth: int, n: int) -> Ints:
        """(n,) numbers of what does not meet: one for each of these bodies, which does not meet
        itself, between those that are given for the cloth and, after it, bodies that nothing moves
        and, where the cloth does not meet all of these bodies, these.
        """
        still = n - n_cloth - int(self.count.sum())
        own: Ints = n + np.arange(len(self), dtype=np.int32)
        if len(sewn) > n_cloth + still:
            sewn, own = sewn[: n_cloth + still], sewn[n_cloth + still :]
        others = np.concatenate([sewn, np.arange(len(sewn), n)])[: n_cloth + still]
        each = np.repeat(own, self.count)
        return np.concatenate([others[:n_cloth], each, others[n_cloth:]]).astype(np.int32)


NONE = RigidBodies()


def single(n: int, n_points: int) -> Embedding:
    """Vertices that are the first points, beside more of these."""
    return Embedding(np.arange(n, dtype=np.int32)[:, None], np.ones((n, 1)), n_points)


def shown(bodies: Sequence[Body], loose: Positions, t: float) -> Positions:
    """(b,3) [m] vertices of all bodies in their order: those of rigid ones, one body after the
    other, are ``loose``, the others' those of time t.
    """
    placed, first = [np.zeros((0, 3))], 0
    for body in bodies:
        if body.rigid is None:
            placed.append(body.at(t))
        else:
            placed.append(loose[first : first + len(body.vertices)])
            first += len(body.vertices)
    return np.concatenate(placed)
