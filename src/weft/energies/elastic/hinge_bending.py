"""Hinge bending: discrete shells (Grinspun et al. 2003; Kim 2020, section 5), one per inner edge.

    E = 1/2 w (theta - theta_0)^2,   w = 5/4 D l^2 / A

with l the rest length of the edge, A the sum of the two rest areas, theta the signed dihedral angle
(0 when flat) and D the flexural rigidity [N m] of the fabric. The factor 5/4 makes a *strip* cut
along the warp or weft of a grid bend with exactly D, as the strips of a laboratory do:
``docs/explanations/bending.md`` derives it, and says what other meshes do. In Grinspun's form
``1/2 k (3 l^2/A)`` this is k = 5 D/12; in Kim's, without 1/2, k_theta = 5 D/24.

Along an edge whose normal in material space makes the angle phi with the warp, D is ``D_warp cos^2
phi + D_weft sin^2 phi``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName, damping_rate, repeat_per_element
from weft.energies.elastic.hinge_kernels import HINGE_KERNELS, Hinge, angles
from weft.energies.elastic.hinge_weights import HingeGeometry
from weft.energies.element_energy import ElementEnergy
from weft.energies.rest_mesh import RestMesh
from weft.energies.step import Step
from weft.kernel import WarpArray


def hinge_weight(mesh: TriangleMesh, stiffness: tuple[float, float]) -> Floats:
    """Return the weight w = 5/4 D l^2/A of every hinge, (h,) [J], from material coordinates.

    Args:
        mesh: the mesh.
        stiffness: flexural rigidity (D_warp, D_weft) [N m], both >= 0: of bending the warp yarns,
            and the weft yarns.

    Raises:
        MeshError: a negative or infinite stiffness.
    """
    check_stiffness(stiffness)
    return HingeGeometry.of(mesh.hinges, mesh.hinge_faces, stiffness).weights(mesh)


def check_stiffness(stiffness: tuple[float, float]) -> None:
    """Raise a MeshError if a stiffness is negative or infinite."""
    if not all(np.isfinite(d) and d >= 0 for d in stiffness):
        raise MeshError("bending stiffness", got=stiffness, expected="must be >= 0 [N m]")


def rest_angles(mesh: TriangleMesh, rest: str | Floats) -> Floats:
    """Return the rest angles of the hinges, (h,) [rad].

    Args:
        mesh: the mesh.
        rest: ``"flat"``, ``"as-given"`` (the angles of ``mesh.vertices``), or (h,) angles [rad].

    Raises:
        MeshError: another word, or angles of another shape.
    """
    if isinstance(rest, str):
        if rest not in ("flat", "as-given"):
            raise MeshError("rest angles", got=repr(rest), expected="flat, as-given or an array")
        if rest == "flat":
            return np.zeros(len(mesh.hinges))
        return dihedral_angles(mesh.vertices, mesh.hinges)
    angle = np.asarray(rest, dtype=np.float64)
    if angle.shape != (len(mesh.hinges),) or not np.isfinite(angle).all():
        expected = f"finite, ({len(mesh.hinges)},)"
        raise MeshError("rest angles", got=angle.shape, expected=expected)
    return angle


def material_edges(mesh: TriangleMesh) -> Floats:
    """Return each hinge's edge in the material coordinates of its two faces, (h,2,2) [m].

    At a seam the two may differ in length and direction.
    """
    return HingeGeometry.of(mesh.hinges, mesh.hinge_faces, (0.0, 0.0)).along(mesh)


def material_share(mesh: TriangleMesh) -> Floats:
    """Return the squared direction cosines (u, v) of each hinge's edge in both faces, (h,2,2)."""
    edge_sq = material_edges(mesh) ** 2
    return np.asarray(edge_sq / edge_sq.sum(-1, keepdims=True))


def material_corners(mesh: TriangleMesh) -> Floats:
    """Return each hinge's start, end and tip in the material, for both faces, (h,2,3,2) [m]."""
    row = np.arange(len(mesh.hinges))
    found = []
    for side in (0, 1):
        face = mesh.hinge_faces[:, side]
        corners, uv = mesh.faces[face], mesh.corner_uv[face]
        ends = (0, 1, 2 + side)
        places = (np.argmax(corners == mesh.hinges[:, [a]], axis=1) for a in ends)
        found.append(np.stack([uv[row, p] for p in places], axis=1))
    return np.stack(found, axis=1)


@dataclass(frozen=True, eq=False)
class HingeBending(ElementEnergy):
    """Bending energy of the hinges of a mesh.

    EXACT is the full second derivative; PROJECTED and GAUSS_NEWTON both keep ``w d theta d
    theta^T`` only, which is positive semi-definite.
    """

    hinges: Ints  # (h,4)
    weight: Floats  # (h,) [J] w
    rest_angle: Floats  # (h,) [rad]
    n_vertices: int
    name: str = "bending"
    damping: float = 0.0  # [s]

    is_condition = True
    rest_tables: ClassVar[Sequence[str] | None] = ("weight",)
    kernels = HINGE_KERNELS

    @staticmethod
    def of(
        mesh: TriangleMesh,
        stiffness: tuple[float, float],
        rest: str | Floats = "flat",
        damping: float = 0.0,
    ) -> "HingeBending":
        """Build the bending energy of a mesh with flexural rigidity (D_warp, D_weft) [N m].

        Args:
            mesh: the mesh.
            stiffness: D of bending the warp yarns and the weft yarns, >= 0.
            rest: ``"flat"``, ``"as-given"`` (angles of ``mesh.vertices``), or (h,) angles [rad].
            damping: [s] time constant of stiffness-proportional damping.

        Raises:
            MeshError: a negative stiffness, or rest angles of another shape.
        """
        weight, angle = hinge_weight(mesh, stiffness), rest_angles(mesh, rest)
        return HingeBending(mesh.hinges, weight, angle, mesh.n_vertices, damping=damping)

    @property
    def stencil(self) -> Ints:
        """Vertices of each hinge, (h,4): both ends of the edge, and both tips."""
        return self.hinges

    def angles_at(self, x: WarpArray) -> Floats:
        """Return the signed dihedral angles at positions x (n,) vec3, (h,) [rad]."""
        out = kernel.empty(len(self.hinges))
        kernel.launch(angles, len(self.hinges), x, self.device_stencil, out)
        return np.array(kernel.numpy(out))

    def parameters(self) -> WarpArray:
        """Return (h,) ``Hinge`` on the device, without damping."""
        fields = {"weight": self.weight, "rest": self.rest_angle}
        return kernel.array(kernel.records(Hinge, len(self.weight), **fields), Hinge)

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by the weights."""
        return HingeGeometry.between(rest, self.hinges).by_corner(rest.mesh, by["weight"])

    @property
    def constants(self) -> ByName:
        """Constants by name: weights [J], rest angles [rad], time constant of damping [s]."""
        beta = repeat_per_element(self.damping, len(self.weight))
        return {"weight": self.weight, "rest_angle": self.rest_angle, "damping": beta}

    @property
    def structure(self) -> tuple[object, ...]:
        """Data besides the constants: the hinges and the number of vertices."""
        return self.hinges, self.n_vertices

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (h,), for ``by`` (h,4,3)."""
        p = self.track(self.parameters_in(step))
        self.pull_back_gradient(x, by, p)
        found = kernel.derivatives(p)
        damping = damping_rate(step) * found["rate"]
        weights = {n: found[n] for n in self.constants if n in (found.dtype.names or ())}
        return {**weights, "rest_angle": found["rest"], "damping": damping}


def dihedral_angles(x: Positions, hinges: Ints) -> Floats:
    """Return the signed dihedral angles of hinges, (h,) [rad]; 0 when flat.

    Args:
        x: (n,3) [m] positions.
        hinges: (h,4) vertices.
    """
    out = kernel.empty(len(hinges))
    kernel.launch(angles, len(hinges), kernel.points(x), kernel.array(hinges, wp.int32), out)
    return np.array(kernel.numpy(out))
