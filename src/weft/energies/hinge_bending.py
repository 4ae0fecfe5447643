"""Hinge bending: discrete shells (Grinspun et al. 2003; Kim 2020, section 5), one per inner edge.

    E = 1/2 w (theta - theta_0)^2,   w = 5/4 D l^2 / A

with l the rest length of the edge, A the sum of the two rest areas, theta the signed dihedral angle
(0 when flat) and D the flexural rigidity [N m] of the fabric. The 5/4 makes a *strip* cut along the
warp or weft of a grid bend with exactly D, as the strips of a laboratory do: ``docs/bending.md``
derives it, and says what other meshes do. In Grinspun's form ``1/2 k (3 l^2/A)`` that is
k = 5 D/12; in Kim's, without 1/2, k_theta = 5 D/24.

Along an edge whose normal in material space makes the angle phi with the warp, D is
``D_warp cos^2 phi + D_weft sin^2 phi``.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.energies.base import RowMap, gather_blocks, gather_gradient
from weft.errors import MeshError
from weft.kernel import Scalar, WarpArray, mat33, vec3
from weft.laws.base import Psd
from weft.mesh import TriangleMesh
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.incidence import Incidence

_module = wp.get_module("weft.hinge")

STRIP = 1.25  # D l^2/A to hinge weight: a free strip of a grid relaxes to 4/5 (docs/bending.md)
COLLAPSED_SQ = Scalar(
    1e-30
)  # [m^4] square of twice a face's area, below which the face has no normal


@wp.func
def dihedral(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """Signed dihedral angle of faces (x0,x1,x2) and (x1,x0,x3).

    Positive when they fold towards their front.
    """
    e = x1 - x0
    n = wp.cross(e, x2 - x0)
    m = wp.cross(x3 - x0, e)
    return wp.atan2(wp.dot(e, wp.cross(m, n)) / wp.max(wp.length(e), Scalar(1e-30)), wp.dot(n, m))


@wp.func
def angle_difference(theta: Scalar, rest: Scalar):
    """theta - rest, taken the short way round, in (-pi, pi]."""
    two_pi = Scalar(6.283185307179586)
    d = theta - rest
    if d > Scalar(0.5) * two_pi:
        d -= two_pi
    if d <= -Scalar(0.5) * two_pi:
        d += two_pi
    return d


@wp.func
def flap(e: vec3, d: vec3, n: vec3):
    """Gradient of theta with respect to the tip of one flap, up to its sign, and the foot of the
    tip on the edge.

    The tip moves the angle by n^/height; d is the tip seen from the start of the edge e.
    """
    g = (wp.length(e) / wp.max(wp.dot(n, n), COLLAPSED_SQ)) * n
    t = wp.dot(d, e) / wp.max(wp.dot(e, e), Scalar(1e-30))
    return g, t


@wp.func
def dihedral_gradient(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """d theta/dx of the four vertices.

    Tips move along their normals; the edge balances force and moment.
    """
    e = x1 - x0
    g2, t2 = flap(e, x2 - x0, wp.cross(e, x2 - x0))
    g3, t3 = flap(e, x3 - x0, wp.cross(x3 - x0, e))
    one = Scalar(1.0)
    g0 = -((one - t2) * g2 + (one - t3) * g3)
    g1 = -(t2 * g2 + t3 * g3)
    return g0, g1, g2, g3


@wp.func
def flap_derivative(e: vec3, d: vec3, n: vec3, N: mat33, length_gradient: vec3):
    """dg/dx_j of ``flap``'s g = |e| n/|n|^2, given N = dn/dx_j and d|e|/dx_j."""
    n_sq = wp.max(wp.dot(n, n), COLLAPSED_SQ)
    reflect = (wp.identity(n=3, dtype=Scalar) - (Scalar(2.0) / n_sq) * wp.outer(n, n)) / n_sq
    return wp.length(e) * (reflect * N) + wp.outer(n, length_gradient) / n_sq


@wp.kernel(module=_module)
def angles(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    out: wp.array(dtype=Scalar),
):
    """theta of every hinge."""
    i = o + wp.tid()
    out[i] = dihedral(x[stencil[i, 0]], x[stencil[i, 1]], x[stencil[i, 2]], x[stencil[i, 3]])


@wp.kernel(module=_module)
def hinge_energy(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    rest: wp.array(dtype=Scalar),
    out: wp.array(dtype=Scalar),
):
    """1/2 w (theta - theta_0)^2 of every hinge."""
    i = o + wp.tid()
    theta = dihedral(x[stencil[i, 0]], x[stencil[i, 1]], x[stencil[i, 2]], x[stencil[i, 3]])
    d = angle_difference(theta, rest[i])
    out[i] = Scalar(0.5) * weight[i] * d * d


@wp.kernel(module=_module)
def hinge_gradient(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    rest: wp.array(dtype=Scalar),
    out: wp.array2d(dtype=vec3),
):
    """w (theta - theta_0) d theta/dx of every hinge."""
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    moment = weight[i] * angle_difference(dihedral(x0, x1, x2, x3), rest[i])
    g0, g1, g2, g3 = dihedral_gradient(x0, x1, x2, x3)
    out[i, 0] = moment * g0
    out[i, 1] = moment * g1
    out[i, 2] = moment * g2
    out[i, 3] = moment * g3


@wp.kernel(module=_module)
def hinge_factor(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    out: wp.array2d(dtype=vec3),
):
    """sqrt(w) d theta/dx: the Gauss-Newton Hessian is the outer product of this with itself."""
    i = o + wp.tid()
    g0, g1, g2, g3 = dihedral_gradient(
        x[stencil[i, 0]], x[stencil[i, 1]], x[stencil[i, 2]], x[stencil[i, 3]]
    )
    s = wp.sqrt(weight[i])
    out[i, 0] = s * g0
    out[i, 1] = s * g1
    out[i, 2] = s * g2
    out[i, 3] = s * g3


@wp.kernel(module=_module)
def add_factor_rows(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    block: wp.array2d(dtype=wp.int32),
    factor: wp.array2d(dtype=vec3),
    row_start: wp.array(dtype=wp.int32),
    clear: int,
    values: wp.array(dtype=mat33),
):
    """Row v += sum over the hinges around v of g_v g_b^T."""
    v = o + wp.tid()
    if clear != 0:
        for b in range(row_start[v], row_start[v + 1]):
            values[b] = mat33(Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        i = element[m]
        g = factor[i, place[m]]
        for b in range(factor.shape[1]):
            values[block[m, b]] += wp.outer(g, factor[i, b])


@wp.kernel(module=_module)
def hinge_hessian(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    rest: wp.array(dtype=Scalar),
    out: wp.array3d(dtype=mat33),
):
    """w [d theta d theta^T + (theta - theta_0) d2 theta].

    The exact Hessian of every hinge, 4 x 4 blocks.
    """
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    e = x1 - x0
    d2 = x2 - x0
    d3 = x3 - x0
    n2 = wp.cross(e, d2)
    n3 = wp.cross(d3, e)
    g2, t2 = flap(e, d2, n2)
    g3, t3 = flap(e, d3, n3)
    e_sq = wp.max(wp.dot(e, e), Scalar(1e-30))
    along = e / wp.sqrt(e_sq)
    zero = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    one = Scalar(1.0)
    moment = weight[i] * angle_difference(dihedral(x0, x1, x2, x3), rest[i])
    for j in range(4):
        N2 = mat33(Scalar(0.0))
        N3 = mat33(Scalar(0.0))
        length_gradient = zero
        dt2 = zero
        dt3 = zero
        if j == 0:
            N2 = wp.skew(d2 - e)
            N3 = wp.skew(e - d3)
            length_gradient = -along
            dt2 = ((Scalar(2.0) * t2 - one) * e - d2) / e_sq
            dt3 = ((Scalar(2.0) * t3 - one) * e - d3) / e_sq
        if j == 1:
            N2 = -wp.skew(d2)
            N3 = wp.skew(d3)
            length_gradient = along
            dt2 = (d2 - Scalar(2.0) * t2 * e) / e_sq
            dt3 = (d3 - Scalar(2.0) * t3 * e) / e_sq
        if j == 2:
            N2 = wp.skew(e)
            dt2 = e / e_sq
        if j == 3:
            N3 = -wp.skew(e)
            dt3 = e / e_sq
        G2 = flap_derivative(e, d2, n2, N2, length_gradient)
        G3 = flap_derivative(e, d3, n3, N3, length_gradient)
        slide = wp.outer(g2, dt2) + wp.outer(g3, dt3)
        out[i, 0, j] = moment * (slide - (one - t2) * G2 - (one - t3) * G3)
        out[i, 1, j] = moment * (-slide - t2 * G2 - t3 * G3)
        out[i, 2, j] = moment * G2
        out[i, 3, j] = moment * G3
    g0, g1, h2, h3 = dihedral_gradient(x0, x1, x2, x3)
    for a in range(4):
        ga = g0
        if a == 1:
            ga = g1
        if a == 2:
            ga = h2
        if a == 3:
            ga = h3
        out[i, a, 0] += weight[i] * wp.outer(ga, g0)
        out[i, a, 1] += weight[i] * wp.outer(ga, g1)
        out[i, a, 2] += weight[i] * wp.outer(ga, h2)
        out[i, a, 3] += weight[i] * wp.outer(ga, h3)


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
    edge = np.stack(
        [_material_edge(mesh, mesh.hinges, mesh.hinge_faces[:, side]) for side in (0, 1)], axis=1
    )
    # At a seam the two sides may differ in length and direction: each contributes its half.
    length_sq = (edge**2).sum(-1)
    share = edge**2 / length_sq[..., None]
    D = share[..., 1] * stiffness[0] + share[..., 0] * stiffness[1]
    area = mesh.rest_area[mesh.hinge_faces].sum(1)
    return np.asarray(STRIP * (D * length_sq).mean(1) / area)


def _material_edge(mesh: TriangleMesh, hinges: Ints, face: Ints) -> Floats:
    """(h,2) the hinge's edge in the material coordinates of one of its faces."""
    corners = mesh.faces[face]
    uv = mesh.corner_uv[face]
    rows = np.arange(len(face))
    start = np.argmax(corners == hinges[:, 0:1], axis=1)
    end = np.argmax(corners == hinges[:, 1:2], axis=1)
    return np.asarray(uv[rows, end] - uv[rows, start])


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
        kernel.launch(hinge_energy, len(self.weight), _positions(x), *b.parameters, b.energy)
        return np.array(kernel.numpy(b.energy))

    def gradient(self, x: Positions) -> Floats:
        """(h,4,3) [N]."""
        b = self._bound()
        kernel.launch(hinge_gradient, len(self.weight), _positions(x), *b.parameters, b.local)
        return np.array(kernel.numpy(b.local))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(h,4,4,3,3) [N/m]."""
        b = self._bound()
        if psd == Psd.EXACT:
            out = kernel.empty((len(self.weight), 4, 4), mat33)
            kernel.launch(hinge_hessian, len(self.weight), _positions(x), *b.parameters, out)
            return np.array(kernel.numpy(out))
        kernel.launch(hinge_factor, len(self.weight), _positions(x), b.stencil, b.weight, b.local)
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
        )


@dataclass(frozen=True, eq=False)
class BoundHinges:
    """Hinges on a pattern."""

    n_vertices: int
    stencil: WarpArray
    weight: WarpArray
    rest: WarpArray
    rows: RowMap

    @property
    def parameters(self) -> tuple[WarpArray, WarpArray, WarpArray]:
        """Stencil, weight and rest angle, as the kernels take them."""
        return self.stencil, self.weight, self.rest

    @cached_property
    def energy(self) -> WarpArray:
        """(h,) work array."""
        return kernel.empty(self.weight.shape[0])

    @cached_property
    def local(self) -> WarpArray:
        """(h,4) vec3 work array: local gradients, or factors of the Gauss-Newton Hessian."""
        return kernel.empty((self.weight.shape[0], 4), vec3)

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        kernel.launch(hinge_energy, self.weight.shape[0], x, *self.parameters, self.energy)
        return kernel.total(self.energy)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        i = self.rows.incidence
        kernel.launch(hinge_gradient, self.weight.shape[0], x, *self.parameters, self.local)
        kernel.launch(gather_gradient, self.n_vertices, i.start, i.element, i.place, self.local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """A += d2E/dx2."""
        i, h = self.rows.incidence, self.weight.shape[0]
        row = (A.pattern.device_row_start, int(clear), A.values)
        entries = (i.start, i.element, i.place, self.rows.block)
        if psd == Psd.EXACT:
            local = kernel.empty((h, 4, 4), mat33)
            kernel.launch(hinge_hessian, h, x, *self.parameters, local)
            kernel.launch(gather_blocks, self.n_vertices, *entries, local, *row)
        else:
            kernel.launch(hinge_factor, h, x, self.stencil, self.weight, self.local)
            kernel.launch(add_factor_rows, self.n_vertices, *entries, self.local, *row)


def dihedral_angles(x: Positions, hinges: Ints) -> Floats:
    """(h,) signed dihedral angles [rad] of hinges (h,4) at positions (n,3); 0 when flat."""
    out = kernel.empty(len(hinges))
    kernel.launch(angles, len(hinges), _positions(x), kernel.array(hinges, wp.int32), out)
    return np.array(kernel.numpy(out))


def _positions(x: Positions) -> WarpArray:
    return kernel.array(np.asarray(x, dtype=np.float64), vec3)
