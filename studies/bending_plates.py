"""Small deflections of plates by every bending energy: given surfaces, a clamped plate, and the
load at which a strip on edge buckles sideways.

Membrane stresses are closed forms here, so that results depend on bending alone. A strip or plate
begins in the middle of the last row of fixed cells (``clamp_of``), as everywhere in weft.
"""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from studies.bending_meshes import cells, sheet
from studies.bending_models import Model, clamp_of, hats, plane
from weft.base.arrays import Floats
from weft.discretization.mesh import TriangleMesh

# Deflection at the middle of a clamped square plate over q a^4/D: Timoshenko & Woinowsky-Krieger,
# Theory of Plates and Shells, table 35, has 0.00126; more digits by a Ritz series.
CLAMPED = 0.0012653
# rho g L^3/D of a narrow strip on edge, a cantilever under its weight, without Poisson's effect:
# 12.85 sqrt(B C)/D (Timoshenko & Gere, Theory of Elastic Stability, 6.3), B = D w, C = 2 D w.
NARROW_LOAD = 12.85 * np.sqrt(2.0)


def surface_energy(model: Model, kind: str, k: int, surface: str, poisson: float = 0.0) -> float:
    """Return the energy of a shallow surface over D a^2/2 times its area.

    a is the curvature of a cylinder with the given angle to x ("cylinder 30"), of both directions
    of a "cap", or the twist of a "saddle".
    """
    mesh = sheet(kind, *cells(kind, k, k), 1.0, 1.0)
    form = model(mesh, poisson)
    z = form.complete(heights(plane(mesh), surface)[:, None])[:, 0]
    return float(z @ (form.matrix() @ z))


def heights(uv: Floats, surface: str) -> Floats:
    """Return the heights of a surface of unit curvature at points of the unit square, (n,)."""
    u, v = (uv - 0.5).T
    if surface.startswith("cylinder"):
        angle = np.radians(float(surface.split()[1]))
        return np.asarray((u * np.cos(angle) + v * np.sin(angle)) ** 2 / 2)
    return np.asarray(u * v if surface == "saddle" else (u * u + v * v) / 2)


def clamped_plate(model: Model, kind: str, k: int) -> float:
    """Return the deflection at the middle of a clamped square plate, over the exact one."""
    nx, ny = cells(kind, k, k)
    size = 1 / (np.array([nx, ny]) + 2 * clamp_of(model))
    whole, border = size * [nx + 4, ny + 4], size * 2.01
    mesh = sheet(kind, nx + 4, ny + 4, whole[0], whole[1], straight=(3, 3))
    uv = plane(mesh)
    form = model(mesh, 0.0)
    free = ~form.fixed(np.any((uv < border) | (uv > whole - border), axis=1))
    load, z = np.zeros(len(free)), np.zeros(len(free))
    load[: len(uv)] = mesh.vertex_area
    z[free] = spla.spsolve(form.matrix()[free][:, free], load[free])
    return float(z[np.argmin(((uv - whole / 2) ** 2).sum(1))] / CLAMPED)


def lateral_buckling(model: Model, kind: str, k: int, width: float, poisson: float) -> float:
    """Return the load rho g L^3/D at which a cantilever strip on edge buckles sideways.

    Args:
        model: bending energy.
        kind: of triangles.
        k: cells across the width, if they are square.
        width: over the length.
        poisson: Poisson's ratio.
    """
    nx, ny = cells(kind, round(k / width), k)
    size = 1 / (nx + clamp_of(model))
    mesh = sheet(kind, nx + 2, ny, size * (nx + 2), width, straight=(3, 1))
    form = model(mesh, poisson)
    free = ~form.fixed(plane(mesh)[:, 0] < 2.01 * size)
    G = _stress_stiffness(mesh, size * (2 - clamp_of(model)), width, len(free))
    return least_load(form.matrix()[free][:, free].tocsc(), G[free][:, free])


def least_load(K: "sp.csc_matrix", G: "sp.csr_matrix") -> float:
    """Return the least load p > 0 at which K + p G is singular; 0 if K is singular itself."""
    K = K + 1e-14 * sp.diags(K.diagonal() + K.diagonal().max() * 1e-3)
    factor = spla.splu(K)
    inverse = spla.LinearOperator(K.shape, matvec=factor.solve)
    try:
        most = spla.eigsh(
            -G, k=1, M=K, Minv=inverse, which="LA", return_eigenvectors=False, tol=1e-6
        )
    except spla.ArpackError:
        return 0.0
    return float(1 / most[0])


def _stress_stiffness(mesh: TriangleMesh, start: float, width: float, n: int) -> "sp.csr_matrix":
    """Return the matrix (n,n) of the integral of grad z . N grad z at unit weight per area."""
    area, _, slope = hats(plane(mesh), mesh.faces)
    corners, total = plane(mesh)[mesh.faces], np.zeros((len(area), 3, 3))
    for share in np.ones((3, 3)) / 2 - np.eye(3) / 2:  # middles of the edges: exact for quadrics
        N = cantilever_stress(np.einsum("mcx,c->mx", corners, share), start, width)
        total += slope @ N @ np.swapaxes(slope, 1, 2) * area[:, None, None] / 3
    line, at = np.repeat(mesh.faces, 3, axis=1).ravel(), np.tile(mesh.faces, (1, 3)).ravel()
    return sp.csr_matrix((total.ravel(), (line, at)), (n, n))


def cantilever_stress(points: Floats, start: float, width: float) -> Floats:
    """Return the membrane stresses N (q,2,2) of a cantilever at points (q,2), per weight per area.

    N is the elastic solution of a cantilever under its weight: polynomials that satisfy equilibrium
    and compatibility, with no load on the edges (after Timoshenko & Goodier, section 22).
    """
    c, (x, y) = width / 2, points.T
    along, y = np.where(x > start, 1 + start - x, 0.0), y - c
    pull = 1.5 * along**2 * y / c**2 - (y**3 / c**2 - 0.6 * y)
    shear = -1.5 * along * (1 - y**2 / c**2)
    press = (y**3 / c**2 - y) / 2
    N = np.moveaxis(np.array([[pull, shear], [shear, press]]), -1, 0)
    N[x <= start] = 0.0
    return N
