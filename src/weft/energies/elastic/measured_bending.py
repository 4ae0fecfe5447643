"""Hinges whose rigidity depends on curvature and direction: the bending tables of ARCSim.

    E = int_0^d w(|t|) t dt,   w = 5/4 D l^2/A

with d = theta - theta_0 and the other letters as in ``hinge_bending``. D is linear between
curvatures that are STEP apart, and constant beyond the last one; a hinge has the curvature d l/A,
that of the cylinder on which the hinges along its axis have this angle. Along an edge at an angle
to the warp D is linear between 0, 45 and 90 degrees. So the moment is that of ARCSim's forces for
cloth that is flat at rest; ARCSim counts curvature from flat cloth and one way only (bent back, D
is extrapolated), and takes the smaller D of both faces, where weft takes the mean. Damping is that
of D at rest.
"""

from dataclasses import dataclass, field

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName
from weft.energies.elastic.creases import angle_per_curvature
from weft.energies.elastic.hinge_bending import HingeBending, material_edges, rest_angles
from weft.energies.elastic.hinge_kernels import (
    HingeLaw,
    angle_difference,
    angle_kernels,
    dihedral,
    dihedral_gradient,
    hinge_hessian,
)
from weft.energies.elastic.hinge_weights import STRIP
from weft.kernel import Scalar, WarpArray, vec2, vec4

STEP = 10.0  # [1/m] between the columns of a table
_module = wp.get_module("weft.measured_hinge")


@wp.struct
class MeasuredHinge:
    """A ``Hinge`` whose weight changes with its angle."""

    weight: Scalar  # [J] at rest
    bent: vec4  # [J] less ``weight``, at 1 to 4 steps of curvature
    turn: Scalar  # [rad] angle of a step of curvature
    rest: Scalar
    start: Scalar
    rate: Scalar
    lead: Scalar
    slip: Scalar  # > 0: the stiffness depends on the angle


@wp.func
def change(h: MeasuredHinge, d: Scalar):
    """Return what w is more than at rest at the angle d from rest, its slope over |d|, and the
    integral of it times t from 0 to |d|.
    """
    zero = Scalar(0.0)
    half = Scalar(0.5)
    size = wp.abs(d)
    slope = zero
    low = zero
    now = h.bent[3]
    work = half * now * wp.max(size * size - Scalar(16.0) * h.turn * h.turn, zero)
    for k in range(4):
        a = Scalar(k) * h.turn
        steep = (h.bent[k] - low) / h.turn
        t = wp.min(size - a, h.turn)
        if t >= zero:
            work += t * (a * low + t * (half * (low + a * steep) + steep * t / Scalar(3.0)))
            if t < h.turn:
                slope = steep
                now = low + steep * t
        low = h.bent[k]
    return now, slope, work


@wp.func
def energies(h: MeasuredHinge, theta: Scalar):
    """Return the elastic and the dissipated energy."""
    half = Scalar(0.5) * h.weight
    d = angle_difference(theta, h.rest)
    _w, _s, work = change(h, d)
    r = angle_difference(theta, h.start) + h.lead
    return vec2(half * d * d + work, half * h.rate * r * r)


@wp.func
def deviation(h: MeasuredHinge, theta: Scalar):
    """Return the moment over the weight at rest."""
    d = angle_difference(theta, h.rest)
    w, _s, _e = change(h, d)
    return d * (Scalar(1.0) + w / h.weight) + h.rate * (angle_difference(theta, h.start) + h.lead)


@wp.func
def stiffness(h: MeasuredHinge, theta: Scalar):
    """Return the derivative of the moment by theta."""
    d = angle_difference(theta, h.rest)
    w, slope, _e = change(h, d)
    return h.weight * (Scalar(1.0) + h.rate) + w + slope * wp.abs(d)


_LAW = HingeLaw(MeasuredHinge, energies, deviation, stiffness)


@dataclass(frozen=True, eq=False)
class MeasuredBending(HingeBending):
    """Bending energy of hinges of a table."""

    # (h,4) [J] weights at 1 to 4 steps of curvature, less those at rest
    bent: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    turn: Floats = field(default_factory=lambda: np.zeros(0))  # (h,) [rad] angle of a step

    is_condition = False
    rest_tables = None
    kernels = angle_kernels(
        _module, dihedral, dihedral_gradient, hinge_hessian(_module, _LAW), _LAW
    )

    @staticmethod
    def of_table(
        mesh: TriangleMesh, rigidity: Floats, rest: str | Floats = "flat", damping: float = 0.0
    ) -> "MeasuredBending":
        """Build the bending energy of a mesh.

        Args:
            mesh: the mesh.
            rigidity: (3,5) [N m] D of edges at 0, 45 and 90 degrees to the warp, at curvatures of
                0 to 4 steps.
            rest: as of ``HingeBending.of``.
            damping: [s].

        Raises:
            MeshError: rest angles of another shape.
        """
        edge = material_edges(mesh)
        place = np.arctan2(abs(edge[..., 1]), abs(edge[..., 0])) / (np.pi / 4)
        D = np.stack([np.interp(place, range(3), column) for column in rigidity.T], axis=-1)
        length_sq = (edge**2).sum(-1)[..., None]
        area = mesh.rest_area[mesh.hinge_faces].sum(1)[:, None]
        weights = STRIP * (D * length_sq).mean(1) / area
        return MeasuredBending(
            mesh.hinges,
            weights[:, 0],
            rest_angles(mesh, rest),
            mesh.n_vertices,
            damping=damping,
            bent=weights[:, 1:] - weights[:, :1],
            turn=STEP * angle_per_curvature(mesh),
        )

    def parameters(self) -> WarpArray:
        """Return (h,) ``MeasuredHinge`` on the device, without damping."""
        fields = {"weight": self.weight, "rest": self.rest_angle, "bent": self.bent}
        fields |= {"turn": self.turn, "slip": np.ones_like(self.turn)}
        return kernel.array(kernel.records(MeasuredHinge, len(self.turn), **fields), MeasuredHinge)

    @property
    def constants(self) -> ByName:
        """Constants by name: those of ``HingeBending``, and the weights of bent cloth [J]."""
        return {**super().constants, "bent": self.bent}

    @property
    def structure(self) -> tuple[object, ...]:
        """Data besides the constants."""
        return *super().structure, self.turn
