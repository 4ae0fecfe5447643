"""Cloth of an asset: a mesh in a file of somebody's, which the cloth of a run moves."""

from dataclasses import dataclass, field

import numpy as np

from weft.base.arrays import Floats, Positions, Velocities
from weft.plugins.film.surface_embedding import SurfaceEmbedding


@dataclass(frozen=True, eq=False)
class AssetCloth:
    """A mesh of an asset, and how it follows the cloth of a run.

    Args:
        prim: its path or name; None: the only mesh of the file.
        surface: its vertices, in meters, y up, on the triangles of the run.
        to_file: (3,3) takes row vectors in meters, y up, to those of the file, if the file does not
            say its axes and units.
    """

    prim: str | None
    surface: SurfaceEmbedding
    to_file: Floats = field(default_factory=lambda: np.eye(3))

    def positions(self, x: Positions) -> Positions:
        """Return the vertices (n,3) of the asset for the cloth at positions x [m]."""
        return self.surface.positions(x) @ self.to_file

    def velocities(self, x: Positions, v: Velocities) -> Velocities:
        """Return the velocities (n,3) of these vertices [1/s]."""
        return self.surface.velocities(x, v) @ self.to_file
