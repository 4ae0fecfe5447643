"""Hinge bending: discrete shells (Grinspun et al. 2003; Kim 2020, section 5), one per inner edge.

    E = 1/2 w (theta - theta_0)^2,   w = 5/4 D l^2 / A

with l the rest length of the edge, A the sum of the two rest areas, theta the signed dihedral angle
(0 when flat) and D the flexural rigidity [N m] of the fabric. The 5/4 makes a *strip* cut along the
warp or weft of a grid bend with exactly D, as the strips of a laboratory do: ``docs/bending.md``
derives it, and says what other meshes do. In Grinspun's form ``1/2 k (3 l^2/A)`` that is k = 5
D/12; in Kim's, without 1/2, k_theta = 5 D/24.

Along an edge whose normal in material space makes the angle phi with the warp, D is ``D_warp cos^2
phi + D_weft sin^2 phi``.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.energies.base import RowMap, gather_gradient, gather_symmetric, on_device, unpacked
from weft.energies.hinge_kernels import (
    add_factor_rows,
    angles,
    deviations,
    hinge_energy,
    hinge_factor,
    hinge_gradient,
    hinge_hessian,
)
from weft.errors import MeshError
from weft.kernel import Scalar, Scratch, WarpArray, mat33, vec3
from weft.laws.base import Psd
from weft.mesh import TriangleMesh, non_manifold_warning
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.incidence import Incidence

STRIP = 1.25  # D l^2/A to hinge weight: a free strip of a grid relaxes to 4/5 (docs/bending.md)


def hinge_weight(mesh: TriangleMesh, stiffness: tuple[float, float]) -> Floats:
    """(h,) [J] weight w = 5/4 D l^2/A of every hinge, from material coordinates.

    Args:
        mesh: the mesh. stiffness: flexural rigidity (D_warp, D_weft) [N m], both >= 0: of bending
        the warp yarns, and the weft yarns.

    Raises:
        MeshError: a negative or infinite stiffness.
    """
    if not all(np.isfinite(d) and d >= 0 for d in stiffness):
        raise MeshError("bending stiffness", got=stiffness, expected="must be >= 0 [N m]")
    edge = material_edges(mesh)
    length_sq = (edge**2).sum(-1)
    share = material_share(mesh)
    D = share[..., 1] * stiffness[0] + share[..., 0] * stiffness[1]
    area = mesh.rest_area[mesh.hinge_faces].sum(1)
    return np.asarray(STRIP * (D * length_sq).mean(1) / area)


def material_edges(mesh: TriangleMesh) -> Floats:
    """(h,2,2) each hinge's edge in the material coordinates of its two faces.

    At a seam the two may differ in length and direction.
    """
    sides = [_material_edge(mesh, mesh.hinges, mesh.hinge_faces[:, side]) for side in (0, 1)]
    return np.stack(sides, axis=1)


def material_share(mesh: TriangleMesh) -> Floats:
    """(h,2,2) squared direction cosines (u, v) of each hinge's edge, in both faces."""
    edge_sq = material_edges(mesh) ** 2
    return np.asarray(edge_sq / edge_sq.sum(-1, keepdims=True))


def _material_edge(mesh: TriangleMesh, hinges: Ints, face: Ints) -> Floats:
    """(h,2) the hinge's edge in the material coordinates of one of its faces."""
    corners = mesh.faces[face]
    uv = mesh.corner_uv[face]
    rows = np.arange(len(face))
    start = np.argmax(corners == hinges[:, 0:1], axis=1)
    end = np.argmax(corners == hinges[:, 1:2], axis=1)
    return np.asarray(uv[rows, end] - uv[rows, start])


@dataclass(frozen=True)
class HingeKernels:
    """How the angle of a hinge is differentiated."""

    gradient: Any  # (o, x, stencil, weight, rest, out (h,4) vec3)
    factor: Any  # (o, x, stencil, weight, out (h,4) vec3)
    deviations: Any  # (o, x, v, stencil, rest, keep, beta, out (h,))
    hessian: Any  # (o, x, stencil, weight, deviation, out (h,10) mat33)


@dataclass(frozen=True, eq=False)
class HingeBending:
    """Bending energy of the hinges of a mesh.

    EXACT is the full second derivative; PROJECTED and GAUSS_NEWTON both keep ``w d theta d
    theta^T`` only, which is positive semi-definite and exact at rest.
    """

    hinges: Ints  # (h,4)
    weight: Floats  # (h,) [J]
    rest_angle: Floats  # (h,) [rad]
    n_vertices: int
    name: str = "bending"

    kernels: ClassVar = HingeKernels(hinge_gradient, hinge_factor, deviations, hinge_hessian)

    @staticmethod
    def of(
        mesh: TriangleMesh, stiffness: tuple[float, float], rest: str | Floats = "flat"
    ) -> "HingeBending":
        """Bending of a mesh with flexural rigidity (D_warp, D_weft) [N m].

        Args:
            mesh: the mesh.
            stiffness: D of bending the warp yarns and the weft yarns, >= 0.
            rest: ``"flat"``, ``"as-given"`` (angles of ``mesh.vertices``), or (h,) angles [rad].

        Raises:
            MeshError: a negative stiffness, or rest angles of another shape.
        """
        if len(mesh.non_manifold_edges):
            warnings.warn(non_manifold_warning(mesh), stacklevel=2)
        weight = hinge_weight(mesh, stiffness)
        if isinstance(rest, str):
            if rest not in ("flat", "as-given"):
                raise MeshError(
                    "rest angles", got=repr(rest), expected="flat, as-given or an array"
                )
            angle = (
                np.zeros(len(weight))
                if rest == "flat"
                else dihedral_angles(mesh.vertices, mesh.hinges)
            )
        else:
            angle = np.asarray(rest, dtype=np.float64)
            if angle.shape != weight.shape or not np.isfinite(angle).all():
                raise MeshError(
                    "rest angles", got=angle.shape, expected=f"finite, ({len(weight)},)"
                )
        return HingeBending(mesh.hinges, weight, angle, mesh.n_vertices)

    @property
    def stencil(self) -> Ints:
        """(h,4)."""
        return self.hinges

    @cached_property
    def device_hinges(self) -> WarpArray:
        """(h,4) int32."""
        return kernel.array(self.hinges, wp.int32)

    @cached_property
    def incidence(self) -> Incidence:
        """Hinges of each vertex."""
        return Incidence.of(self.hinges, self.n_vertices)

    def value(self, x: Positions) -> Floats:
        """(h,) [J]."""
        b = self._bound()
        kernel.launch(hinge_energy, len(self.weight), on_device(x), *b.parameters, b.energy)
        return np.array(kernel.numpy(b.energy))

    def gradient(self, x: Positions) -> Floats:
        """(h,4,3) [N]."""
        b = self._bound()
        kernel.launch(b.kernels.gradient, len(self.weight), on_device(x), *b.parameters, b.local)
        return np.array(kernel.numpy(b.local))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(h,4,4,3,3) [N/m]."""
        b = self._bound()
        if psd == Psd.EXACT:
            out = kernel.empty((len(self.weight), 10), mat33)
            b.local_hessian(on_device(x), None, 1.0, 0.0, out)
            return unpacked(kernel.numpy(out))
        n, stencil = len(self.weight), b.stencil
        kernel.launch(b.kernels.factor, n, on_device(x), stencil, b.weight, b.local)
        factor = kernel.numpy(b.local)
        return np.asarray(np.einsum("hai,hbj->habij", factor, factor))

    def _bound(self) -> "BoundHinges":
        pattern = BlockPattern(0, np.zeros(1, np.int32), np.zeros(0, np.int32))
        return self._bind(RowMap(self.incidence, None), pattern)

    def bind(self, pattern: BlockPattern) -> "BoundHinges":
        """The production face."""
        return self._bind(RowMap.of(self.hinges, self.incidence, pattern), pattern)

    def _bind(self, rows: RowMap, pattern: BlockPattern) -> "BoundHinges":
        return BoundHinges(
            self.n_vertices,
            self.device_hinges,
            kernel.array(self.weight, Scalar),
            kernel.array(self.rest_angle, Scalar),
            rows,
            pattern.scratch,
            self.kernels,
        )


@dataclass(frozen=True, eq=False)
class BoundHinges:
    """Hinges on a pattern."""

    n_vertices: int
    stencil: WarpArray
    weight: WarpArray
    rest: WarpArray
    rows: RowMap
    scratch: Scratch
    kernels: HingeKernels = HingeBending.kernels

    @property
    def parameters(self) -> tuple[WarpArray, WarpArray, WarpArray]:
        """Stencil, weight and rest angle, as the kernels take them."""
        return self.stencil, self.weight, self.rest

    @property
    def energy(self) -> WarpArray:
        """(h,) scratch."""
        return self.scratch.take(self.weight.shape[0])

    @property
    def local(self) -> WarpArray:
        """(h,4) vec3 scratch: local gradients, or factors of the Gauss-Newton Hessian."""
        return self.scratch.take((self.weight.shape[0], 4), vec3)

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        kernel.launch(hinge_energy, self.weight.shape[0], x, *self.parameters, self.energy)
        return kernel.total(self.energy)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        i = self.rows.incidence
        h = self.weight.shape[0]
        kernel.launch(self.kernels.gradient, h, x, *self.parameters, self.local)
        kernel.launch(gather_gradient, self.n_vertices, i.start, i.element, i.place, self.local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """A += d2E/dx2."""
        self._add_rows(x, None, 1.0, 0.0, psd, A, clear)

    def add_condition_hessian(
        self, x: WarpArray, v: WarpArray, keep: float, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """A += w [d theta d theta^T + keep (theta - theta_0 + beta dtheta/dt) d2 theta]."""
        self._add_rows(x, v, keep, beta, psd, A, clear=False)

    def local_hessian(
        self, x: WarpArray, v: WarpArray | None, keep: float, beta: float, out: WarpArray
    ) -> None:
        """(h,10) mat33 of the above, for Psd.EXACT: blocks on and above the diagonal."""
        h, k = self.weight.shape[0], self.kernels
        deviation, v = kernel.empty(h), x if v is None else v
        kernel.launch_each(
            h,
            (k.deviations, x, v, self.stencil, self.rest, keep, beta, deviation),
            (k.hessian, x, self.stencil, self.weight, deviation, out),
        )

    def _add_rows(
        self,
        x: WarpArray,
        v: WarpArray | None,
        keep: float,
        beta: float,
        psd: Psd,
        A: BlockCsr,
        clear: bool,
    ) -> None:
        i, h = self.rows.incidence, self.weight.shape[0]
        row = (A.pattern.device_row_start, int(clear), A.values)
        entries = (i.start, i.element, i.place, self.rows.block)
        if psd == Psd.EXACT:
            local = self.scratch.take((h, 10), mat33)
            self.local_hessian(x, v, keep, beta, local)
            kernel.launch(gather_symmetric, self.n_vertices, *entries, local, *row)
        else:
            kernel.launch(self.kernels.factor, h, x, self.stencil, self.weight, self.local)
            kernel.launch(add_factor_rows, self.n_vertices, *entries, self.local, *row)


def dihedral_angles(x: Positions, hinges: Ints) -> Floats:
    """(h,) signed dihedral angles [rad] of hinges (h,4) at positions (n,3); 0 when flat."""
    out = kernel.empty(len(hinges))
    kernel.launch(angles, len(hinges), on_device(x), kernel.array(hinges, wp.int32), out)
    return np.array(kernel.numpy(out))
