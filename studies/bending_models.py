"""Discrete bending energies of the literature, each as a quadratic form of positions.

Of cloth that is flat at rest and does not stretch, every model below has E = 1/2 sum_q w_q |sum_a
c_qa x_a|^2. For small deflections z this also holds for models that are written with angles. So one
table of rows stands for each model, and ``weft.energies.elastic.quadratic_form`` computes its
value, forces and Hessian. A model may have points of its own besides the vertices.

| name | source |
|---|---|
| hinges, 3 l^2/A | Grinspun et al. 2003, Tamstorf & Grinspun 2013; constant of Bergou et al. 2006 |
| hinges, 5/4 l^2/A | ``hinges`` and ``quadratic`` of weft (Bridson et al. 2003: any constant) |
| triangle average | Gingold et al. 2004: half of each hinge's angle counts in both triangles |
| triangle quadrics | through a triangle and its neighbors: Onate & Cervera 1993, Liang 2025 |
| midedge normals | Grinspun et al. 2006: a free normal at each edge; linearly Morley's element |
| cotangent | Meyer et al. 2003 on Voronoi areas of inner vertices, kept from the rest shape |
| piecewise linear | QB-PL of Chen, Kaufman & Vouga 2026, "Better Bending" |
| vertex quadrics | weft's ``fitted`` (``weft.energies.elastic.fitted_bending``) |
| vertex Hessians | Stein et al. 2018, with the boundary terms of QB-PL |
| pairs | Choi & Ko 2003, of triangles that keep their shape (``pairs``); not in ``MODELS`` |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from studies.bending_meshes import areas, delaunay
from weft.base.arrays import Bools, Floats, Ints
from weft.discretization.mesh import TriangleMesh, unique_edges
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.fitted_bending import fit_quadrics
from weft.energies.elastic.hinge_bending import material_corners
from weft.energies.elastic.quadratic_bending import coefficients
from weft.energies.elastic.quadratic_form import QuadraticForm

HESSIAN = (1.0, 1.0, 2.0)  # how often z_uu^2, z_vv^2 and z_uv^2 stand in |Hessian|^2


@dataclass(frozen=True)
class Form:
    """A bending energy of unit rigidity: rows of linear conditions, and their weights."""

    rows: "sp.csr_matrix"  # (q,n) of the vertices, then of points of the model's own
    weight: Floats  # (q,)
    edges: Ints | None = None  # (p,2) the edges that have points of their own

    def matrix(self) -> "sp.csc_matrix":
        """Return the Hessian of one coordinate, (n,n)."""
        return (self.rows.T @ sp.diags(self.weight) @ self.rows).tocsc()

    def fixed(self, held: Bools) -> Bools:
        """Return which points are fixed, (n,), if vertices are: with those of edges in between."""
        return held if self.edges is None else np.concatenate([held, held[self.edges].all(1)])

    def complete(self, x: Floats) -> Floats:
        """Return vertices (v,d) and the points of the model's own that cost least, (n,d)."""
        if self.edges is None:
            return x
        K, v = self.matrix(), len(x)
        return np.concatenate([x, spla.splu(K[v:, v:]).solve(-K[v:, :v] @ x)])

    def energy(self, rigidity: float, name: str = "bending") -> QuadraticForm:
        """Return the energy [J] with a rigidity [N m]; rows are padded to the longest one."""
        rows = self.rows.tocsr()
        rows.eliminate_zeros()
        full = np.diff(rows.indptr) > 0
        rows, weight = rows[full], self.weight[full]
        count = np.diff(rows.indptr)
        place = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], count)
        line = np.repeat(np.arange(len(count)), count)
        stencil = np.repeat(rows.indices[rows.indptr[:-1], None], count.max(), axis=1)
        coefficient = np.zeros(stencil.shape)
        stencil[line, place], coefficient[line, place] = rows.indices, rows.data
        return QuadraticForm(stencil.astype(np.int32), coefficient, rigidity * weight, name)


Model = Callable[[TriangleMesh, float], Form]  # of a flat mesh, and Poisson's ratio


def clamp_of(model: Model) -> float:
    """Return where a clamp is in the last row of fixed cells: 0 at its end, 1/2 in its middle."""
    return 0.0 if model is midedge_normals else 0.5


def hinges(weight: float) -> Model:
    """Return hinges with ``weight`` D l^2/A, in which Poisson's ratio has no place."""

    def build(mesh: TriangleMesh, _: float) -> Form:
        area = mesh.rest_area[mesh.hinge_faces].sum(1)
        return Form(_hinge_angles(mesh), weight * _squared_lengths(mesh) / area)

    return build


def pairs(mesh: TriangleMesh, _: float) -> Form:
    """Build Choi & Ko's pairs with weft's factor, of triangles that keep their shape.

    A hinge of small angle t and heights h, h' brings the pair of length L closer by h h' t^2/(2 L).
    The arc over the pair then has kappa^2 = 24 (1 - d/L)/L^2 = 12 h h' t^2/L^4.
    """
    found = BucklingBending.of(mesh, (1.0, 1.0))
    heights = 4 * mesh.rest_area[mesh.hinge_faces].prod(1) / _squared_lengths(mesh)
    weight = found.stiffness * found.area * 12 * heights / found.length**4
    return Form(_hinge_angles(mesh), weight)


def _hinge_angles(mesh: TriangleMesh) -> "sp.csr_matrix":
    """Return the rows that give the angles of hinges, if they are small."""
    coefficient, _ = coefficients(material_corners(mesh))
    return sparse_rows(mesh.hinges, coefficient, mesh.n_vertices)


def _squared_lengths(mesh: TriangleMesh) -> Floats:
    """Return the squared lengths of the edges of hinges, (m,)."""
    ends = mesh.vertices[mesh.hinges[:, :2]]
    return np.asarray(((ends[:, 1] - ends[:, 0]) ** 2).sum(1))


def triangle_average(mesh: TriangleMesh, poisson: float) -> Form:
    """Build the shape operator of triangles from the angles of their three hinges, half of each."""
    return _triangles(mesh, poisson, own_normals=False)


def midedge_normals(mesh: TriangleMesh, poisson: float) -> Form:
    """Build the shape operator of triangles with a free normal at every edge (an own point)."""
    return _triangles(mesh, poisson, own_normals=True)


def _triangles(mesh: TriangleMesh, poisson: float, own_normals: bool) -> Form:
    """Build S = sum_i s_i t_i t_i^T/(A l_i) of every face, t_i of length l_i across edge i.

    s_i is the slope across the edge there, less that of the triangle itself: half the angle of the
    hinge, or the edge's own point less the triangle's slope.
    """
    m, n = len(mesh.faces), mesh.n_vertices
    edges, of_half = unique_edges(mesh.faces)
    area, outward, slope = hats(plane(mesh), mesh.faces)
    length = np.linalg.norm(outward, axis=-1)
    across = np.einsum("mic,mjc->mij", outward / length[..., None], slope)  # of hat j, at edge i
    own = sparse_rows(np.repeat(mesh.faces, 3, axis=0), across.reshape(-1, 3), n)
    # The point of an edge is the slope along the outward normal of the half-edge that goes up.
    up = edges[of_half, 0] == mesh.faces.reshape(-1)
    gather = sparse_rows(of_half[:, None], np.where(up, 1.0, -1.0)[:, None], len(edges))
    if own_normals:
        jump = sp.hstack([-own, gather]).tocsr()
    else:
        jump = gather @ (0.5 * gather.T @ own) - own
        jump = sp.diags((np.bincount(of_half) == 2)[of_half].astype(float)) @ jump
    tensor = outward[..., [0, 1, 0]] * outward[..., [0, 1, 1]] / (length * area[:, None])[..., None]
    side = np.repeat(np.arange(3 * m, dtype=np.int32).reshape(m, 3), 3, axis=0)
    pick = sparse_rows(side, np.swapaxes(tensor, 1, 2).reshape(-1, 3), 3 * m)
    form = kirchhoff(pick @ jump, area, poisson)
    return replace(form, edges=edges) if own_normals else form


def vertex_hessians(mesh: TriangleMesh, poisson: float) -> Form:
    """Build the weak Hessian of piecewise linear positions at every vertex."""
    rows, area = _weak_hessian(plane(mesh), mesh.faces)
    return kirchhoff(rows, area, poisson)


def piecewise_linear(mesh: TriangleMesh, _: float) -> Form:
    """Build QB-PL: the weak Laplacian at every vertex of the Delaunay triangles of the vertices."""
    uv = plane(mesh)
    rows, area = _weak_hessian(uv, mesh.faces if _is_delaunay(mesh) else delaunay(uv))
    return Form(rows[0::3] + rows[1::3], area)


def cotangent(mesh: TriangleMesh, _: float) -> Form:
    """Build the cotangent Laplacian of inner vertices over their Voronoi areas."""
    uv, faces = plane(mesh), mesh.faces
    rows, area = _weak_hessian(uv, faces)
    voronoi = _voronoi_areas(uv, faces)
    inner = np.setdiff1d(np.arange(len(uv)), _border(mesh))
    laplacian = sp.diags(area / voronoi) @ (rows[0::3] + rows[1::3])
    return Form(laplacian[inner], voronoi[inner])


def _weak_hessian(uv: Floats, faces: Ints) -> tuple["sp.csr_matrix", Floats]:
    """Return (3n,n) rows z_uu, z_vv, z_uv of every vertex, and their barycentric areas (n,).

    H_v = (1/A_v) (sum over faces of -A grad(hat_v) (x) grad z + sum over border edges of l/2 n (x)
    grad z), made symmetric.
    """
    n = len(uv)
    face_area, outward, slope = hats(uv, faces)
    flux = -face_area[:, None, None] * slope
    _, of_half = unique_edges(faces)
    lone = (np.bincount(of_half) == 1)[of_half].reshape(faces.shape)
    border = np.where(lone[..., None], outward / 2, 0.0)  # of each edge, to both of its ends
    flux += border + np.roll(border, 1, axis=1)
    area = np.asarray(np.bincount(faces.reshape(-1), np.repeat(face_area / 3, 3), n), float)
    parts = []
    for a, b in ((0, 0), (1, 1), (0, 1)):
        local = flux[:, :, None, a] * slope[:, None, :, b]
        local = (local + flux[:, :, None, b] * slope[:, None, :, a]) / 2
        each = sparse_rows(np.repeat(faces, 3, axis=0), local.reshape(-1, 3), n)
        parts.append(sparse_rows(faces.reshape(-1, 1), np.ones((3 * len(faces), 1)), n).T @ each)
    stacked = sp.vstack(parts).tocsr()[np.arange(3 * n).reshape(3, n).T.reshape(-1)]
    return (sp.diags(np.repeat(1 / area, 3)) @ stacked).tocsr(), area


def kirchhoff(rows: "sp.csr_matrix", area: Floats, poisson: float) -> Form:
    """Return 1/2 A ((1 - nu) |H|^2 + nu (tr H)^2) for rows z_uu, z_vv, z_uv of every area."""
    rows = rows.tocsr()
    each = np.repeat(area, 3) * np.tile(HESSIAN, len(area)) * (1 - poisson)
    if poisson == 0:
        return Form(rows, each)
    trace = rows[0::3] + rows[1::3]
    return Form(sp.vstack([rows, trace]).tocsr(), np.concatenate([each, poisson * area]))


def sparse_rows(stencil: Ints, coefficient: Floats, n: int) -> "sp.csr_matrix":
    """Return the matrix (q,n) of coefficients (q,k) of the points (q,k)."""
    line = np.repeat(np.arange(len(stencil)), stencil.shape[1])
    return sp.csr_matrix((coefficient.reshape(-1), (line, stencil.reshape(-1))), (len(stencil), n))


def hats(uv: Floats, faces: Ints) -> tuple[Floats, Floats, Floats]:
    """Return areas (m,), normals of edge c to c+1 as long as it, and slopes of hats (m,3,2)."""
    corners = uv[faces]
    along = np.roll(corners, -1, axis=1) - corners
    outward = np.stack([along[..., 1], -along[..., 0]], axis=-1)
    area = areas(corners)
    return area, outward, -np.roll(outward, -1, axis=1) / (2 * area[:, None, None])


def plane(mesh: TriangleMesh) -> Floats:
    """Return the material coordinates of the vertices, (n,2)."""
    uv = mesh.vertex_uv
    assert uv is not None
    return uv


def _border(mesh: TriangleMesh) -> Ints:
    """Return the vertices of the border."""
    _, of_half = unique_edges(mesh.faces)
    return np.unique(mesh.edges[np.bincount(of_half) == 1])


def _is_delaunay(mesh: TriangleMesh) -> bool:
    """Return whether both angles opposite every inner edge sum up to at most 180 degrees."""
    x = mesh.vertices[mesh.hinges]
    arms = x[:, :2, None] - x[:, None, 2:]
    norm = np.linalg.norm(arms, axis=-1)
    cosine = (arms[:, 0] * arms[:, 1]).sum(-1) / (norm[:, 0] * norm[:, 1])
    return bool((np.arccos(cosine).sum(1) < np.pi + 1e-6).all())


def _voronoi_areas(uv: Floats, faces: Ints) -> Floats:
    """Return the mixed Voronoi areas of vertices (Meyer et al. 2003, section 3.3)."""
    corners = uv[faces]
    area = areas(corners)
    to_next = np.roll(corners, -1, axis=1) - corners
    to_last = np.roll(corners, -2, axis=1) - corners
    dot = (to_next * to_last).sum(-1)
    cot = dot / (2 * area[:, None])
    sq_next, sq_last = (to_next**2).sum(-1), (to_last**2).sum(-1)
    round_ = (sq_next * np.roll(cot, -2, axis=1) + sq_last * np.roll(cot, -1, axis=1)) / 8
    obtuse = (dot < 0).any(1)
    share = np.where(dot < 0, 0.5, 0.25) * area[:, None]
    share = np.where(obtuse[:, None], share, round_)
    return np.asarray(np.bincount(faces.reshape(-1), share.reshape(-1), len(uv)), float)


def triangle_quadrics(mesh: TriangleMesh, poisson: float) -> Form:
    """Build the second derivatives of the quadric through each triangle and its three neighbors.

    At the border, where points are missing, the smallest second derivatives that fit.
    """
    uv, faces = plane(mesh), mesh.faces
    _, of_half = unique_edges(faces)
    third = np.full((len(mesh.edges), 2), -1)  # of the triangles on both sides of an edge
    up = mesh.edges[of_half, 0] == faces.reshape(-1)
    third[of_half, np.where(up, 0, 1)] = np.roll(faces, -2, axis=1).reshape(-1)
    far = third[of_half, np.where(up, 1, 0)].reshape(faces.shape)
    area, _, slope = hats(uv, faces)
    center, size = uv[faces].mean(1)[:, None], np.sqrt(area)[:, None, None]
    share = np.einsum("mkx,mjx->mkj", uv[far] - center, slope) + 1 / 3  # of corner j at point k
    seen = _products((uv[far] - center) / size) - share @ _products((uv[faces] - center) / size)
    seen[far < 0] = 0.0
    solve = np.linalg.pinv(seen, rcond=0.02) / size**2 * (far >= 0)[:, None]
    stencil = np.concatenate([faces, np.where(far < 0, faces, far)], axis=1)
    coefficient = np.concatenate([-solve @ share, solve], axis=2)
    rows = sparse_rows(np.repeat(stencil, 3, axis=0), coefficient.reshape(-1, 6), len(uv))
    return kirchhoff(rows, area, poisson)


def vertex_quadrics(mesh: TriangleMesh, poisson: float) -> Form:
    """Build weft's quadrics that fit the neighbors of each vertex best."""
    fit, n = fit_quadrics(mesh), mesh.n_vertices
    rows = sparse_rows(fit.stencil, fit.coefficient, n)
    plain = fit.kind < 3
    order = np.flatnonzero(plain)
    form = kirchhoff(rows[order], fit.area[order[::3]], poisson)
    both = sp.vstack([form.rows, rows[~plain]]).tocsr()
    return Form(both, np.concatenate([form.weight, fit.area[~plain]]))


def _products(d: Floats) -> Floats:
    """Return the factors of z_uu, z_vv and z_uv in a quadric at d (...,2)."""
    u, v = d[..., 0], d[..., 1]
    return np.stack([u * u / 2, v * v / 2, u * v], axis=-1)


MODELS: Mapping[str, Model] = {
    "hinges, 3 l^2/A": hinges(3.0),
    "hinges, 5/4 l^2/A": hinges(1.25),
    "triangle average": triangle_average,
    "triangle quadrics": triangle_quadrics,
    "midedge normals": midedge_normals,
    "cotangent": cotangent,
    "piecewise linear": piecewise_linear,
    "vertex Hessians": vertex_hessians,
    "vertex quadrics": vertex_quadrics,
}
