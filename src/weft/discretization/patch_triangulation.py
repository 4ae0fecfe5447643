"""Triangles on a patch with given parameters, instead of triangles between its samples.

A garment's panel has such triangles, because seams join the vertices on its border.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Faces, Floats, Ints
from weft.discretization.bspline import Patch, grid
from weft.discretization.embedding import Embedding
from weft.discretization.mesh import unique_edges
from weft.discretization.surface import Tessellation

_STARTS, _ROUNDS = 3, 30  # starting points in each span, and most iterations of Newton's method
_SAME = 1e-13  # step over the largest parameter at which the iteration has converged


@dataclass(frozen=True, eq=False)
class PatchTriangulation:
    """Triangles on a patch, which are drawn and collide."""

    uv: Floats  # (n,2) parameters of the vertices
    faces: Faces  # (m,3)

    def tessellation(self, patch: Patch, ids: Ints, n_points: int) -> Tessellation:
        """Return the triangles, embedded in the control points ``ids`` (n1,n2) of ``n_points``."""
        rest, embedding = patch.material(self.uv), embed(patch, ids, self.uv, n_points)
        which = np.zeros(len(self.faces), dtype=np.int32)
        return Tessellation(embedding, self.faces, rest[self.faces], which)

    def between(self, patch: Patch, ids: Ints, pinned: Bools, n_points: int) -> Embedding:
        """Return the midpoints of edges whose ends are both pinned, for a mask ``pinned`` (n,)."""
        edges, _ = unique_edges(self.faces)
        held = edges[pinned[edges].all(1)]
        return embed(patch, ids, self.uv[held].mean(1), n_points)


def embed(patch: Patch, ids: Ints, uv: Floats, n_points: int) -> Embedding:
    """Return the points at parameters uv (n,2) as combinations of the control points ``ids``."""
    f = patch.functions(uv)
    return Embedding(ids.reshape(-1)[f.stencil], f.value, n_points)


def parameters_at(patch: Patch, places: Floats) -> Floats:
    """Return the parameters of the points of a patch that are nearest to material places.

    Newton's method, started at the nearest of a grid of points; parameters outside the patch are
    clamped to its border.

    Args:
        patch: the patch.
        places: (n,2) [m] in the material.

    Returns:
        (n,2) parameters.
    """
    from scipy.spatial import cKDTree

    m = np.array(patch.spans, dtype=np.float64)
    start = grid(*(np.arange(_STARTS * k + 1) / _STARTS for k in patch.spans))
    _, near = cKDTree(patch.material(start)).query(places)
    uv = start[near]
    for _ in range(_ROUNDS):
        off = places - patch.material(uv)
        step = np.linalg.solve(patch.jacobian(uv), off[:, :, None])[:, :, 0]
        after = np.clip(uv + np.clip(step, -0.5, 0.5), 0.0, m)
        moved = float(np.abs(after - uv).max(initial=0.0))
        uv = after
        if moved <= _SAME * float(m.max()):
            break
    return np.asarray(uv)
