"""Bending by the predicted buckled shape. Choi & Ko 2003, section 3.2.

The two vertices opposite an inner edge, at rest a distance L apart, are assumed to lie on an arc of
constant curvature once they come closer (eq. 6), with the energy (eqs. 7-8, M = k kappa)

    E = 1/2 (A_i + A_l) k kappa^2,   kappa = (2/L) sinc^-1(d/L),   d < L
    k = sqrt((k_u^2 u^2 + k_v^2 v^2)/(u^2 + v^2)),   (u, v) the pair in material coordinates

and no energy if d > L: with a law of tension only (``ImmediateBuckling``), cloth that is pushed
buckles at once. At d = L the force of the arc jumps to -12 k (A_i + A_l)/L^3, Euler's load of the
pair. Choi & Ko (2002) therefore begin with a spring, c (A_i + A_l)/(2 L^2) (d - L)^2, as long as it
pushes less; ``compression`` is its c, "comparable" to the stretch stiffness.

An arc of curvature kappa is only kappa^2 L^2/24 shorter than L, and cloth of stretch stiffness K
would rather stretch by that amount than push with 12 k/L^2: below a curvature of about 17
sqrt(k/K)/L^2 this model hardly resists bending (``python -m studies buckling-compression``).

The exact Hessian of a pair that pushes has the eigenvalue dE/dd / d < 0 across the pair. PROJECTED
and GAUSS_NEWTON leave it out and keep the (positive) one along the pair, as Choi & Ko do; this is
the exact eigenvalue clamp of a pair. EXACT keeps both.

``stiffness`` is a flexural rigidity D, as a laboratory measures it on a strip. The resistance of a
mesh of pairs depends on their directions: k = D for equilateral triangles, 1.74 D on a grid
(``strip_factor`` derives it). ``calibrate=False`` takes k = D as the paper has it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft import kernel
from weft.base.arrays import AnyArray, Bools, Floats, Ints, Positions
from weft.base.errors import MeshError, SceneError
from weft.base.runtime_types import checked
from weft.base.settings import MATERIAL, documented, setting
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import TINY, ByName, damping_rate
from weft.energies.elastic.buckled_arc import arc_energy, inverse_sinc
from weft.energies.elastic.pair_geometry import (
    material_pairs,
    strip_factor,
    strip_slopes,
    unfold_pairs,
)
from weft.energies.elastic.pair_kernels import (
    Pair,
    freeze_pairs,
    pair_energy,
    pair_gradient,
    pair_hessian,
)
from weft.energies.element_energy import ElementEnergy, ElementKernels
from weft.energies.rest_mesh import RestMesh, by_areas
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd


@checked(SceneError, "buckling")
@documented
@dataclass(frozen=True)
class BucklingForm:
    """Bending by predicted buckled shapes (Choi & Ko 2003), in place of hinges."""

    compression: float | None = setting(
        None,
        "stiffness of the spring before a pair buckles; none: the fabric's mean stretch; "
        "infinite (in Python): no spring, the force jumps at d = L",
        "N/m",
        above=0,
        finite=False,
        constant=MATERIAL,
    )
    calibrate: bool = setting(
        True, "bend a strip of this mesh with the fabric's rigidity; false: k = D"
    )


@dataclass(frozen=True, eq=False)
class BucklingBending(ElementEnergy):
    """Bending energy of the pairs of vertices opposite the inner edges of a mesh.

    Energies are given per pair, for the vertices ``pairs``; ``area`` is A_i + A_l. Damping is
    beta/(2h) K_n (d - d_n)^2, K_n the stiffness along the pair at the start of the step; a pair
    that is longer there than at rest is not damped.
    """

    pairs: Ints  # (m,2)
    length: Floats  # (m,) [m] L
    area: Floats  # (m,) [m^2]
    stiffness: Floats  # (m,) [N m] k
    compression: Floats  # (m,) [N/m] c; infinite: the arc from the start
    n_vertices: int
    name: str = "bending"
    damping: float = 0.0  # [s]
    calibrated: bool = True  # whether ``stiffness`` is that of strips of the whole mesh

    rest_tables = ("length", "area", "stiffness")
    kernels = ElementKernels(
        pair_energy, pair_gradient, {psd: pair_hessian(psd) for psd in Psd}, freeze_pairs
    )

    @staticmethod
    def of(
        mesh: TriangleMesh,
        stiffness: tuple[float, float],
        compression: float = np.inf,
        rest: str = "flat",
        calibrate: bool = True,
        damping: float = 0.0,
    ) -> "BucklingBending":
        """Build the pairs of a mesh with flexural rigidity (D_warp, D_weft) [N m].

        Args:
            mesh: the mesh.
            stiffness: D of bending the warp yarns and the weft yarns, >= 0.
            compression: c [N/m] of the spring with which a pair begins; infinite: without.
            rest: L in the plane (``"flat"``), or between ``mesh.vertices`` (``"as-given"``).
            calibrate: choose k so that a strip of this mesh bends with D; False: k = D.
            damping: [s] time constant of stiffness-proportional damping.

        Raises:
            MeshError: a value out of range.
        """
        if not all(np.isfinite(d) and d >= 0 for d in stiffness):
            raise MeshError("bending stiffness", got=stiffness, expected="must be >= 0 [N m]")
        if not compression > 0:
            raise MeshError("compression", got=compression, expected="must be > 0 [N/m]")
        if rest not in ("flat", "as-given"):
            raise MeshError("rest lengths", got=repr(rest), expected="flat or as-given")
        pairs = np.ascontiguousarray(mesh.hinges[:, 2:])
        flat, along = material_pairs(mesh)
        given = np.linalg.norm(mesh.vertices[pairs[:, 1]] - mesh.vertices[pairs[:, 0]], axis=1)
        length = flat if rest == "flat" else given
        area = mesh.rest_area[mesh.hinge_faces].sum(1)
        factor = strip_factor(along, area) if calibrate else (1.0, 1.0)
        k = np.array([factor[0] * stiffness[0], factor[1] * stiffness[1]])
        bend = np.sqrt(along[:, :2] @ (k * k))  # eq. 8
        springs = np.full(len(pairs), compression)
        return BucklingBending(
            pairs,
            length,
            area,
            bend,
            springs,
            mesh.n_vertices,
            damping=damping,
            calibrated=calibrate,
        )

    @property
    def stencil(self) -> Ints:
        """Vertices of each pair, (m,2)."""
        return self.pairs

    @property
    def _bounded(self) -> Bools:
        """Mask of the pairs that have springs, (m,)."""
        return np.isfinite(self.compression)

    @cached_property
    def start(self) -> Floats:
        """Ratio d/L below which the arc replaces the spring, (m,): there both push alike."""
        return arc_starts(self.stiffness, self.compression, self.length)

    @cached_property
    def records(self) -> AnyArray:
        """Parameters as (m,) records of ``Pair``, without damping."""
        bounded = self._bounded
        spring = np.where(bounded, self.compression, 0.0) * self.area
        e = self.stiffness * self.area / self.length**2
        at_start = arc_energy(np.maximum(self.start, 0.0))[:, 0]
        return kernel.records(
            Pair,
            len(self.pairs),
            length=self.length,
            arc=e,
            spring=spring,
            rest=np.where(bounded, 1.0, 0.0),
            start=self.start,
            offset=0.5 * spring * (1 - self.start) ** 2 - e * at_start,
        )

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by lengths, areas and stiffness.

        The stiffness is a rigidity that depends on the direction of a pair and, if it is
        calibrated, on all pairs of the mesh.

        Raises:
            NotImplementedError: pairs of several fabrics.
        """
        of = [(h, D) for h, D in rest.fabrics if np.array_equal(h[:, 2:], self.pairs)]
        if not of:
            raise NotImplementedError
        hinges, D = of[0]
        _, along = unfold_pairs(rest.hinge_corners(hinges))
        factor = strip_factor(along, self.area) if self.calibrated else (1.0, 1.0)
        k, by_k = np.array(factor) * D, by["stiffness"] / np.maximum(self.stiffness, 1e-300)
        by_along = np.zeros_like(along)
        by_along[:, :2] = by_k[:, None] * k**2 / 2
        by_area = by["area"]
        if self.calibrated:
            more = strip_slopes(along, self.area, (by_k @ along[:, :2]) * k * D)
            by_along, by_area = by_along + more[0], by_area + more[1]
        by_face = np.zeros(len(rest.mesh.faces))
        np.add.at(by_face, rest.faces_at(hinges), by_area[:, None])
        tables = rest.by_hinge_tables(hinges, unfold_pairs, (by["length"], by_along))
        return tables + by_areas(rest.mesh, by_face)

    def parameters(self) -> WarpArray:
        """Return (m,) ``Pair`` on the device, without damping."""
        return kernel.array(self.records.copy(), Pair)

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N m], compression [N/m], damping [s], length, area."""
        m, springs = len(self.pairs), np.where(self._bounded, self.compression, 0.0)
        sizes = {"length": self.length, "area": self.area, "damping": np.full(m, self.damping)}
        return {"stiffness": self.stiffness, "compression": springs, **sizes}

    @property
    def structure(self) -> object:
        """Data besides the constants: the pairs, and which of them have springs."""
        return self.pairs, self._bounded, self.n_vertices

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (m,), for ``by`` (m,2,3).

        Forces are continuous where an arc replaces a spring, so the change of the ratio ``start``
        itself contributes nothing.
        """
        p = self.track(self.parameters_in(step))
        viscous = kernel.numpy(p)["viscous"].copy()
        self.pull_back_gradient(x, by, p)
        beta = max(self.damping, TINY)
        damping = kernel.derivatives(p)["viscous"] * viscous / beta
        if step is not None and damping_rate(step) > 0:
            self.pull_back_freeze(step, beta * damping_rate(step), p)
        by_p, sq = kernel.derivatives(p), self.length**2
        by_arc, by_spring = by_p["arc"], np.where(self._bounded, by_p["spring"], 0.0)
        springs = self.constants["compression"]
        return {
            "stiffness": by_arc * self.area / sq,
            "compression": by_spring * self.area,
            "damping": damping,
            "length": by_p["length"] - 2 * by_arc * self.records["arc"] / self.length,
            "area": by_arc * self.stiffness / sq + by_spring * springs,
        }

    def curvature(self, x: Positions) -> Floats:
        """Return the curvature of the predicted arcs at positions x, (m,) [1/m]. Eq. 6.

        It is 0 where a pair is not compressed.
        """
        d = np.linalg.norm(x[self.pairs[:, 1]] - x[self.pairs[:, 0]], axis=1)
        return 2 / self.length * inverse_sinc(np.minimum(d / self.length, 1.0))


def arc_starts(stiffness: Floats, compression: Floats, length: Floats) -> Floats:
    """Return d/L at which a spring c (A/L^2) (L - d) pushes as much as the arc, (m,), by bisection.

    It is 1 without a spring, and 0 if the spring is the weaker one down to d = 0.
    """
    with np.errstate(divide="ignore"):
        ratio = compression * length**2 / stiffness  # the spring's stiffness over the arc's e
    low, high = np.zeros(len(ratio)), np.ones(len(ratio))
    bounded = np.isfinite(ratio)
    ratio = np.where(bounded, ratio, 0.0)
    for _ in range(54):
        r = (low + high) / 2
        weaker = ratio * (1 - r) < -arc_energy(r)[:, 1]
        low, high = np.where(weaker, low, r), np.where(weaker, r, high)
    start = np.where(high < 1e-12, 0.0, high)
    return np.where(bounded, start, 1.0)
