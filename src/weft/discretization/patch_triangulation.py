"""Triangles of one's own on a patch, in place of those between its samples: those of a garment's
panel, whose vertices on the border are what seams bring together.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from weft.base.arrays import Bools, Faces, Floats, Ints
from weft.discretization.bspline import Patch
from weft.discretization.embedding import Embedding
from weft.discretization.mesh import edges_of
from weft.discretization.surface import Tessellation

_STARTS, _ROUNDS = 3, 30  # places a span to begin at, and rounds of Newton's method
_SAME = 1e-13  # of the largest parameter: steps that lead nowhere


@dataclass(frozen=True, eq=False)
class Touched:
    """Triangles on a patch."""

    uv: Floats  # (n,2) parameters of the vertices
    faces: Faces  # (m,3)

    def tessellation(self, patch: Patch, ids: Ints, n_points: int) -> Tessellation:
        """The triangles, moved by control points with numbers ``ids`` (n1,n2) below n_points."""
        f = patch.functions(self.uv)
        rest = f.of(patch.rest.reshape(-1, 2))
        embedding = Embedding(ids.reshape(-1)[f.stencil], f.value, n_points)
        which = np.zeros(len(self.faces), dtype=np.int32)
        return Tessellation(embedding, self.faces, rest[self.faces], which)

    def between(self, patch: Patch, ids: Ints, pinned: Bools, n_points: int) -> Embedding:
        """Places halfway along edges of which both ends are pinned (n,)."""
        edges, _ = edges_of(self.faces)
        held = edges[pinned[edges].all(1)]
        f = patch.functions(self.uv[held].mean(1))
        return Embedding(ids.reshape(-1)[f.stencil], f.value, n_points)


def parameters_at(patch: Patch, places: Floats) -> Floats:
    """(n,2) parameters of the places of a patch that are nearest to (n,2) [m] in the material, by
    Newton's method; places outside are taken to a border.
    """
    m = np.array(patch.spans, dtype=np.float64)
    grid = [np.arange(_STARTS * k + 1) / _STARTS for k in patch.spans]
    start = np.stack(np.meshgrid(*grid, indexing="ij"), axis=2).reshape(-1, 2)
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
