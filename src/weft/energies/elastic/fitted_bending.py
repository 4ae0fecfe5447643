"""Bending by the quadric that fits the cloth around each vertex best: one that depends little on
the mesh.

Toward a neighbor at d in the material, a vertex has the curvature (each of x, y, z by itself)

    kappa_j = 2 (x_j - x - g.d)/|d|^2,   which of a quadric is t^T H t,   t = d/|d|.

Least squares over its neighbors give the slopes g and second derivatives H, and with the area A
around the vertex

    E = A/2 [D_warp |H_uu|^2 + D_weft |H_vv|^2 + 2 sqrt(D_warp D_weft) |H_uv|^2
             + D_mean/k sum_j |kappa_j - t^T H t|^2].

The first terms are a thin plate's without Poisson's effect, as those of splines. The last one is
zero for every quadric; without it, ripples as short as the edges would cost nothing. Neighbors are
the vertices that share an edge, and where they do not determine a quadric (at borders, or four
around a vertex), those across the triangles' far sides, too.

Like ``quadratic_bending`` this form is linear in the positions inside the squares: the Hessian is
constant and never indefinite, cloth is flat at rest, and hardly stretches. Across seams, where
material coordinates jump, edges bend by that model.

Least squares fits are those of Cazals & Pouget (2003, "Estimating differential quantities using
polynomial fitting of osculating jets"). The choice of weights and the last term are weft's own.
``python -m studies bending`` compares the result with models of the literature.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from weft.base.arrays import Bools, Floats, Ints
from weft.discretization.mesh import TriangleMesh
from weft.energies.elastic.hinge_bending import (
    check_stiffness,
    material_corners,
    rest_angles,
)
from weft.energies.elastic.quadratic_bending import QuadraticBending, require_flat

# Ratio of singular values below which neighbors do not determine a combination of second
# derivatives. From 0.05 to 0.2 the results of ``python -m studies bending`` differ by 2 %.
DETERMINED = 0.1
SAME = 1e-9  # [m] difference between material coordinates that is rounding


_Rows = tuple[Ints, Floats, Floats]  # stencil (q,k), coefficient (q,k), slope (q,k,2)


class Quadrics(NamedTuple):
    """Rows of the fits: second derivatives of each vertex, then what no quadric explains."""

    stencil: Ints  # (q,k) vertices
    coefficient: Floats  # (q,k) [1/m^2]
    slope: Floats  # (q,k,2) [1/m] for the first derivatives there
    kind: Ints  # (q,) 0, 1, 2: uu, vv, uv; 3: what remains
    area: Floats  # (q,) [m^2]; of the last kind over the number of neighbors


@dataclass(frozen=True, eq=False)
class FittedBending(QuadraticBending):
    """Bending energy of the quadrics around the vertices of a mesh, and its damping."""

    rest_tables = None  # type: ignore[assignment]  # the fits are not differentiated

    @staticmethod
    def of(
        mesh: TriangleMesh,
        stiffness: tuple[float, float],
        rest: str | Floats = "flat",
        damping: float = 0.0,
    ) -> "FittedBending":
        """Build the bending energy of a mesh with flexural rigidity (D_warp, D_weft) [N m].

        Arguments and errors are those of ``QuadraticBending.of``.
        """
        check_stiffness(stiffness)
        require_flat(rest_angles(mesh, rest))
        fits, (warp, weft) = fit_quadrics(mesh), stiffness
        rigidity = np.array([warp, weft, 2 * np.sqrt(warp * weft), (warp + weft) / 2])
        weight = rigidity[fits.kind] * fits.area
        rows = [(fits.stencil, fits.coefficient, fits.slope)]
        if (seams := _seams(mesh)).any():
            edges = QuadraticBending.of(mesh, stiffness)
            rows.append((edges.stencil[seams], edges.coefficient[seams], edges.frame[seams]))
            weight = np.concatenate([weight, edges.weight[seams]])
        stencil, coefficient, frame = _stack(rows)
        return FittedBending(
            stencil,
            coefficient,
            weight,
            damping=damping,
            frame=frame,
            n_vertices=mesh.n_vertices,
        )


def fit_quadrics(mesh: TriangleMesh) -> Quadrics:
    """Fit a quadric around every vertex of a mesh, in every piece of the material that it is in."""
    vertex, places = mesh.faces.reshape(-1), mesh.corner_uv.reshape(-1, 2)
    key = np.round(np.column_stack([vertex, places / SAME]))
    _, first, faces = np.unique(key, axis=0, return_index=True, return_inverse=True)
    vertex, uv = vertex[first], places[first]
    flat = np.column_stack([uv, np.zeros(len(uv))])
    pieces = TriangleMesh(flat, faces.reshape(-1, 3).astype(np.int32), mesh.corner_uv)
    none = np.zeros((0, 1), np.int32), np.zeros((0, 1)), np.zeros((0, 1, 2))
    rows, kind, share = [none], [np.zeros(0, int)], [np.zeros(0)]
    for fit in _fits(pieces, uv):
        k, extra = fit.around.shape[1], fit.remains.shape[1]
        table = _with_center(np.concatenate([fit.second, fit.remains], axis=1))
        slope = np.swapaxes(_with_center(fit.slope), 1, 2)
        each = np.repeat(np.arange(len(fit.ids)), 3 + extra)
        stencil = vertex[np.column_stack([fit.ids, fit.around])]
        rows.append((stencil[each], table.reshape(-1, k + 1), slope[each]))
        kind.append(np.tile([0, 1, 2] + [3] * extra, len(fit.ids)))
        share.append(pieces.vertex_area[fit.ids[each]] / np.where(kind[-1] == 3, k, 1))
    stencil, coefficient, slopes = _stack(rows)
    return Quadrics(stencil, coefficient, slopes, np.concatenate(kind), np.concatenate(share))


def _with_center(factors: Floats) -> Floats:
    """Return factors (m,r,k) with that of the vertex itself before them: constants cost nothing."""
    return np.concatenate([-factors.sum(2, keepdims=True), factors], axis=2)


class _Fit(NamedTuple):
    """Fits of m vertices with k neighbors: factors of the positions of these."""

    ids: Ints  # (m,)
    around: Ints  # (m,k)
    slope: Floats  # (m,2,k)
    second: Floats  # (m,3,k) uu, vv, uv
    remains: Floats  # (m,e,k)


def _fits(mesh: TriangleMesh, uv: Floats) -> Iterator[_Fit]:
    """Fit quadrics around vertices at uv (n,2), in groups of as many neighbors."""
    pairs = mesh.edges, np.concatenate([mesh.edges, mesh.hinges[:, 2:]])
    one_way = [sp.csr_matrix((np.ones(len(p)), p.T), (len(uv), len(uv))) for p in pairs]
    ring, wide = ((graph + graph.T).tocsr() for graph in one_way)
    todo = np.arange(len(uv))
    for graph in (ring, wide):
        count, left = np.diff(graph.indptr), []
        for k in np.unique(count[todo][count[todo] > 2]):
            ids = todo[count[todo] == k]
            around = graph.indices[graph.indptr[ids][:, None] + np.arange(k)]
            fit, fine = _fit(uv, ids, around)
            fine |= graph is wide
            left.append(ids[~fine])
            tables = fit.slope[fine], fit.second[fine], fit.remains[fine]
            yield _Fit(ids[fine], around[fine], *tables)
        todo = np.concatenate([*left, todo[count[todo] <= 2]])


def _fit(uv: Floats, ids: Ints, around: Ints) -> tuple[_Fit, Bools]:
    """Fit quadrics, and say where the neighbors determine one.

    Slopes are eliminated first, so that planes cost nothing also where second derivatives are not
    determined; of these the smallest ones that fit are taken.
    """
    d = uv[around] - uv[ids, None]
    sq = (d**2).sum(2, keepdims=True)
    squares = np.stack([d[..., 0] ** 2, d[..., 1] ** 2, 2 * d[..., 0] * d[..., 1]], axis=-1) / sq
    linear, to_curvature = 2 * d / sq, 2 / np.swapaxes(sq, 1, 2)
    free = np.swapaxes(np.linalg.qr(linear, mode="complete").Q[:, :, 2:], 1, 2)
    U, S, Vt = np.linalg.svd(free @ squares)
    known, rank = DETERMINED * S[:, :1] < S, S.shape[1]
    S = np.divide(1.0, S, out=np.zeros_like(S), where=known)
    along = np.swapaxes(U, 1, 2) @ free * to_curvature
    second = np.swapaxes(Vt[:, :rank], 1, 2) @ (S[..., None] * along[:, :rank])
    slope = np.linalg.pinv(linear) * to_curvature
    return _Fit(ids, around, slope, second, along[:, rank:]), known.sum(1) == 3


def _seams(mesh: TriangleMesh) -> Bools:
    """Return which hinges have an edge at two places of the material, (h,)."""
    ends = material_corners(mesh)[:, :, :2]
    return np.asarray(np.abs(ends[:, 0] - ends[:, 1]).max((1, 2)) > SAME)


def _stack(tables: Sequence[_Rows]) -> _Rows:
    """Stack tables of rows, with repeated points and factors 0 up to the largest k."""
    most = max(stencil.shape[1] for stencil, _, _ in tables)
    padded = []
    for stencil, coefficient, slope in tables:
        more = (0, most - stencil.shape[1])
        points = np.pad(stencil, ((0, 0), more), mode="edge")
        slopes = np.pad(slope, ((0, 0), more, (0, 0)))
        padded.append((points, np.pad(coefficient, ((0, 0), more)), slopes))
    a, b, c = zip(*padded)
    return np.concatenate(a), np.concatenate(b), np.concatenate(c)
