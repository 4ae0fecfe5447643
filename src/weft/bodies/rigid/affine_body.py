"""A rigid body as four points: an affine frame with the body's own inertia.

The method is affine body dynamics (Lan et al. 2022) with other unknowns. An affine motion,
x = A X + b, is determined by the positions of any four points that are not in a plane, and every
point of the body is a fixed linear combination of them, as a point of a spline is one of its
control points. Four equal masses at

    p_a = c + S^(1/2) t_a,   t = (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1)

have the body's mass, its center c and its second moments S, and therefore its kinetic energy in
every affine motion (equimomental points, Routh). Inertia and weight are thus those of four ordinary
points; an energy keeps the frame rigid (``bodies.rigid.rigidity``).
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Positions, Velocities
from weft.base.trees import Json
from weft.bodies.body import Body
from weft.bodies.rigid.affine_frame import AffineFrame
from weft.bodies.rigid.mass_properties import MassProperties, mass_properties
from weft.bodies.rigid.settings import Rigid
from weft.discretization.embedding import Embedding
from weft.discretization.polygon import triangle_sides
from weft.discretization.samples import Samples


@dataclass(frozen=True, eq=False)
class AffineBody:
    """A rigid body and its four points, which have the indices ``first`` to ``first`` + 3.

    Args:
        body: the surface.
        rigid: the settings.
        first: index of the first point among all points of the simulation.

    Raises:
        SceneError: the body has no volume.
    """

    body: Body
    rigid: Rigid
    first: int

    def __post_init__(self) -> None:
        _ = self.solid

    @cached_property
    def solid(self) -> MassProperties:
        """The volume, center and second moments of the body at the start."""
        return mass_properties(self.body.vertices, self.body.faces, self.body.name)

    def with_(self, **changes: object) -> "AffineBody":
        """Return the body with other settings, targets of its link, or another first point; its
        mass properties are not computed again.
        """
        made = copy(self)
        vars(made).update(changes)
        return made

    @property
    def mass(self) -> float:
        """The mass [kg]."""
        if self.rigid.mass is not None:
            return self.rigid.mass
        assert self.rigid.density is not None
        return self.rigid.density * self.solid.volume

    @cached_property
    def frame(self) -> AffineFrame:
        """The four points at the start; of a link of an arm with the axes of the link."""
        link = self.body.link
        return AffineFrame(self.solid, np.eye(3) if link is None else link.frame[:3, :3])

    @property
    def points(self) -> Positions:
        """(4,3) [m] positions of the four points at the start."""
        return self.frame.points

    @property
    def gradients(self) -> Floats:
        """(4,3) [1/m] vectors g_a, with which A = sum_a p_a g_a^T."""
        return self.frame.gradients

    def target(self, t: float) -> Positions:
        """Return where the arm of a finger drives its four points, (4,3) [m], at time t [s]."""
        link = self.body.link
        assert link is not None
        frame = link.frame
        return link.place((self.points - frame[:3, 3]) @ frame[:3, :3], t)

    def weights(self, places: Positions) -> Floats:
        """Return the weights (k,4) of the points that give places (k,3) [m] of the body at its
        start.
        """
        return self.frame.weights(places)

    def embedding(self, n_points: int) -> Embedding:
        """Return the body's vertices as linear combinations of all points of a simulation."""
        weight = self.weights(self.body.vertices)
        stencil = np.broadcast_to(np.arange(4), weight.shape).astype(np.int32)
        return Embedding(stencil + np.int32(self.first), weight, n_points)

    def samples(self, n_points: int) -> Samples:
        """Return samples at the middles of the body's faces, weighted by half of their area.

        The gradients (4,2) [1/m] give the deformation along two orthonormal directions in each
        face. Faces without area are left out.

        Args:
            n_points: number of points of the whole simulation.
        """
        corners = self.body.vertices[self.body.faces]
        a, b = triangle_sides(corners)
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
        """The slice of the body's points among all points."""
        return slice(self.first, self.first + 4)

    @property
    def start_velocity(self) -> Velocities:
        """(4,3) [m/s] velocities of the points at the start."""
        arm = self.points - self.solid.center
        return np.asarray(np.asarray(self.rigid.velocity) + np.cross(self.rigid.spin, arm))

    def momentum(self, x: Positions, v: Velocities) -> tuple[Floats, Floats]:
        """Return linear (3,) [kg m/s] and angular momentum (3,) [kg m^2/s], the latter about the
        center.

        Args:
            x: (N,3) [m] all points.
            v: (N,3) [m/s] their velocities.
        """
        p, u = x[self.own], v[self.own]
        m = self.mass / 4
        spin = m * np.cross(p - p.mean(0), u).sum(0)
        return np.asarray(m * u.sum(0)), np.asarray(spin)

    def shape(self, x: Positions) -> tuple[Floats, Floats]:
        """Return the rotation (3,3) since the start, and the principal stretches (3,).

        ``x`` are all points (N,3) [m].
        """
        U, stretches, V = np.linalg.svd(x[self.own].T @ self.gradients)
        return np.asarray(U @ V), stretches

    def spin(self, x: Positions, v: Velocities) -> Floats:
        """Return the angular velocity (3,) [rad/s] that belongs to the angular momentum."""
        rotation, _ = self.shape(x)
        inertia = self.mass * rotation @ self.solid.unit_inertia @ rotation.T
        return np.asarray(np.linalg.solve(inertia, self.momentum(x, v)[1]))

    def describe_motion(self, x: Positions, v: Velocities) -> Json:
        """Return position and motion of the body for metrics.

        ``x`` (N,3) [m] are all points, ``v`` (N,3) [m/s] their velocities.
        """
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
