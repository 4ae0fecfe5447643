"""A rigid body as four points: an affine frame with the body's own inertia.

Affine body dynamics (Lan et al. 2022) with other unknowns. A body that moves affinely, x = A X + b,
is moved by any four points of it that are not in a plane, and everything in it is a fixed
combination of these: as of a spline's control points. Four equal masses at

    p_a = c + S^(1/2) t_a,   t = (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1)

have its mass, its center c and its second moments S, and so its kinetic energy in every affine
motion (equimomental points, Routh). Inertia and weight are therefore those of four
points like any others; what keeps the frame rigid is an energy (``bodies.rigid.rigidity``).
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Json, Positions, Velocities
from weft.bodies.body import Body
from weft.bodies.rigid.mass_properties import MassProperties, mass_properties
from weft.bodies.rigid.settings import Rigid
from weft.discretization.embedding import Embedding
from weft.discretization.samples import Samples

CORNERS = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])  # t_a


@dataclass(frozen=True, eq=False)
class AffineBody:
    """A rigid body and its four points, which are numbers ``first`` to ``first`` + 3.

    Raises:
        SceneError: a body without volume.
    """

    body: Body
    rigid: Rigid
    first: int

    def __post_init__(self) -> None:
        _ = self.solid

    @cached_property
    def solid(self) -> MassProperties:
        """Volume, center and second moments where it starts."""
        return mass_properties(self.body.vertices, self.body.faces, self.body.name)

    def with_settings(self, rigid: Rigid) -> "AffineBody":
        """The same with other settings; its shape is not measured again."""
        made = copy(self)
        object.__setattr__(made, "rigid", rigid)
        return made

    @property
    def mass(self) -> float:
        """[kg]."""
        if self.rigid.mass is not None:
            return self.rigid.mass
        assert self.rigid.density is not None
        return self.rigid.density * self.solid.volume

    @cached_property
    def _roots(self) -> tuple[Floats, Floats]:
        """S^(1/2) and S^(-1/2)."""
        values, turn = np.linalg.eigh(self.solid.second)
        root = np.sqrt(values)
        return (turn * root) @ turn.T, (turn / root) @ turn.T

    @property
    def points(self) -> Positions:
        """(4,3) [m] at the start."""
        return np.asarray(self.solid.center + CORNERS @ self._roots[0])

    @property
    def gradients(self) -> Floats:
        """(4,3) [1/m] g_a: A = sum_a p_a g_a^T."""
        return np.asarray(CORNERS @ self._roots[1] / 4)

    def weights(self, places: Positions) -> Floats:
        """(k,4) with which the points make places (k,3) [m] of the body where it starts."""
        return np.asarray(0.25 + (places - self.solid.center) @ self.gradients.T)

    def embedding(self, n_points: int) -> Embedding:
        """Of its vertices, in all points of a simulation."""
        weight = self.weights(self.body.vertices)
        stencil = np.broadcast_to(np.arange(4), weight.shape).astype(np.int32)
        return Embedding(stencil + np.int32(self.first), weight, n_points)

    def samples(self, n_points: int) -> Samples:
        """Its faces, of half their area, in all points of a simulation: their middles, and how they
        are stretched along two directions (4,2) [1/m] in each.
        """
        corners = self.body.vertices[self.body.faces]
        a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        normal = np.cross(a, b)
        size = np.linalg.norm(normal, axis=1)
        used = size > 0
        length = np.linalg.norm(a, axis=1, keepdims=True)
        along = (a / np.maximum(length, 1e-300))[used]
        over = np.cross(normal[used] / size[used, None], along)
        shape = np.einsum("ai,qik->qak", self.gradients, np.stack([along, over], axis=2))
        stencil = np.broadcast_to(np.arange(4, dtype=np.int32), (int(used.sum()), 4)) + self.first
        middle = self.weights(corners[used].mean(1))
        return Samples(stencil, shape, size[used] / 4, n_points, middle)

    @property
    def own(self) -> slice:
        """Its points among all."""
        return slice(self.first, self.first + 4)

    @property
    def start_velocity(self) -> Velocities:
        """(4,3) [m/s] of the points at the start."""
        arm = self.points - self.solid.center
        return np.asarray(np.asarray(self.rigid.velocity) + np.cross(self.rigid.spin, arm))

    def momentum(self, x: Positions, v: Velocities) -> tuple[Floats, Floats]:
        """Linear [kg m/s], and angular about its center [kg m^2/s]: of all points (N,3) x and v."""
        p, u = x[self.own], v[self.own]
        m = self.mass / 4
        spin = m * np.cross(p - p.mean(0), u).sum(0)
        return np.asarray(m * u.sum(0)), np.asarray(spin)

    def shape(self, x: Positions) -> tuple[Floats, Floats]:
        """Rotation (3,3) from where it started, and principal stretches (3,), of points (N,3)."""
        U, stretches, V = np.linalg.svd(x[self.own].T @ self.gradients)
        return np.asarray(U @ V), stretches

    def spin(self, x: Positions, v: Velocities) -> Floats:
        """(3,) [rad/s] angular velocity that has its angular momentum."""
        rotation, _ = self.shape(x)
        inertia = self.mass * rotation @ self.solid.gyration @ rotation.T
        return np.asarray(np.linalg.solve(inertia, self.momentum(x, v)[1]))

    def told(self, x: Positions, v: Velocities) -> Json:
        """Where it is and how it moves, for metrics: of all points' positions and velocities."""
        p, u = x[self.own], v[self.own]
        rotation, stretches = self.shape(x)
        return {
            "name": self.body.name,
            "center": p.mean(0).tolist(),
            "rotation": rotation.tolist(),
            "velocity": u.mean(0).tolist(),
            "spin": self.spin(x, v).tolist(),
            "kinetic": 0.5 * self.mass / 4 * float((u * u).sum()),
            "strain": float(np.abs(stretches - 1).max()),
        }
