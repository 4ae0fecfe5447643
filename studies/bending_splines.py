"""Small deflections of quadratic B-splines: what ``studies.bending_plates`` does with triangles.

A sheet has a knot span for every cell of a grid. Its energy is that of weft's spline surfaces: a
thin plate without Poisson's ratio, one point in every span. A clamp fixes two rows of control
points, which are the position and the slope of the border.
"""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from studies.bending_meshes import cells
from studies.bending_models import Form, kirchhoff, sparse_rows
from studies.bending_plates import CLAMPED, cantilever_stress, heights, least_load
from weft.base.arrays import Floats, Ints
from weft.discretization.basis import greville
from weft.discretization.bspline import Patch, grid, rectangle
from weft.discretization.quadrature import bending_points, gauss_points

EXACT = 4  # Gauss points a span and direction, for loads and membrane stresses


def spline_surface_energy(kind: str, k: int, surface: str) -> float:
    """Return the energy of a shallow surface over D a^2/2 times its area.

    The spline has the heights of the surface at the Greville points, as many as control points.
    """
    patch = _sheet(kind, k, k, 1.0)
    f = patch.functions(grid(*(greville(n) for n in patch.shape)))
    uv = f.of(patch.rest.reshape(-1, 2))
    values = _matrix(f.stencil, f.value[..., None], patch)
    z = spla.spsolve(values.tocsc(), heights(uv, surface))
    return float(z @ (_form(patch).matrix() @ z))


def clamped_spline(kind: str, k: int) -> float:
    """Return the deflection at the middle of a clamped square plate, over the exact one."""
    patch = _sheet(kind, k, k, 1.0)
    free = np.zeros(patch.shape, dtype=bool)
    free[2:-2, 2:-2] = True
    inner, points = free.reshape(-1), gauss_points(patch, EXACT)
    f = patch.functions(points.uv)
    load = _matrix(f.stencil, f.value[..., None], patch).T @ points.weight
    z = np.zeros(len(load))
    z[inner] = spla.spsolve(_form(patch).matrix()[inner][:, inner], load[inner])
    middle = patch.functions(np.array([patch.spans]) / 2)
    return float(middle.of(z[:, None])[0, 0] / CLAMPED)


def spline_buckling(kind: str, k: int, width: float) -> float:
    """Return the load rho g L^3/D at which a cantilever strip on edge buckles sideways.

    Args:
        kind: of the grid.
        k: spans across the width, if they are square.
        width: over the length.
    """
    patch = _sheet(kind, round(k / width), k, width)
    free = np.repeat(np.arange(patch.shape[0]) > 1, patch.shape[1])
    points = gauss_points(patch, EXACT)
    d, N = patch.derivatives(points.uv), cantilever_stress(patch.material(points.uv), 0.0, width)
    slopes = _matrix(d.functions.stencil, d.gradient, patch)
    G = slopes.T @ sp.block_diag(N * points.weight[:, None, None], format="csr") @ slopes
    return least_load(_form(patch).matrix()[free][:, free].tocsc(), G[free][:, free])


def _sheet(kind: str, nx: int, ny: int, height: float) -> Patch:
    """Return a sheet of length 1 with as many spans as a sheet of triangles has cells."""
    nx, ny = cells(kind, nx, ny)
    return rectangle(nx + 2, ny + 2, 1.0, height)


def _form(patch: Patch) -> Form:
    """Return the bending energy of unit rigidity."""
    points = bending_points(patch)
    d = patch.derivatives(points.uv)
    return kirchhoff(_matrix(d.functions.stencil, d.second, patch), points.weight, 0.0)


def _matrix(stencil: Ints, value: Floats, patch: Patch) -> "sp.csr_matrix":
    """Return the matrix (q*d,n) of values (q,9,d) of the shape functions at q points."""
    each = np.swapaxes(value, 1, 2).reshape(-1, stencil.shape[1])
    return sparse_rows(np.repeat(stencil, value.shape[2], axis=0), each, patch.rest[..., 0].size)
