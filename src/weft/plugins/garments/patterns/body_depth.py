"""BodyDepth of a standing body: how deep it is along z at each place of the plane of x and y.

Seams of a pattern whose panels start in front of and behind a body close through the plane of x
and y. Their ways are free where the body has no depth.
"""

from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Bools, Faces, Floats, Ints, Positions
from weft.discretization.mesh import sample_faces

CELL = 0.006  # size of a cell over the height of the body
WAY_SAMPLES = 17  # points of a way at which it is compared with the body
FARTHEST = 0.1  # distance, over the body's height, up to which a free way is searched outwards
NEARBY = 0.025  # the same inwards: the inner seams of wide legs overlap between the legs


@dataclass(frozen=True, eq=False)
class BodyDepth:
    """The extent of a body along z over cells of the plane of x and y.

    Args:
        origin: (2,) [m] lower corner of the first cell.
        cell: [m] size of the cells.
        back: (nx,ny) [m] least z of the body in each cell; infinite where there is none.
        front: (nx,ny) [m] largest z; minus infinity where there is none.
    """

    origin: Floats
    cell: float
    back: Floats
    front: Floats

    @staticmethod
    def of(vertices: Positions, faces: Faces, height: float | None = None) -> "BodyDepth":
        """Return the silhouette of a surface that looks along z.

        Args:
            vertices: (b,3) [m].
            faces: (m,3).
            height: [m] of the largest body beside it, which decides the cells; None: its own.
        """
        x = np.asarray(vertices, dtype=np.float64)
        cell = CELL * (float(np.ptp(x[:, 1])) if height is None else height)
        points = sample_faces(x[faces], cell)[0]
        pad = round(2 * FARTHEST / CELL)
        origin = points[:, :2].min(0) - pad * cell
        ids = np.floor((points[:, :2] - origin) / cell).astype(np.int64)
        nx, ny = (ids.max(0) + 1 + pad).tolist()
        back, front = np.full((nx, ny), np.inf), np.full((nx, ny), -np.inf)
        np.minimum.at(back, tuple(ids.T), points[:, 2])
        np.maximum.at(front, tuple(ids.T), points[:, 2])
        return BodyDepth(origin, cell, back, front)

    @property
    def height(self) -> float:
        """Return the height [m] of the body."""
        return self.cell / CELL

    @property
    def farthest(self) -> float:
        """Return the distance [m] up to which free ways are searched."""
        return FARTHEST * self.height

    def grow(self, margin: float) -> "BodyDepth":
        """Return the silhouette of a body that is thicker by ``margin`` [m] on all sides."""
        from scipy.ndimage import maximum_filter, minimum_filter

        size = 2 * int(np.ceil(margin / self.cell)) + 1
        back = minimum_filter(self.back, size, mode="constant", cval=np.inf) - margin
        front = maximum_filter(self.front, size, mode="constant", cval=-np.inf) + margin
        return replace(self, back=back, front=front)

    def cells(self, points: Floats) -> tuple[Ints, Ints]:
        """Return the cells of points (...,2) [m]; those outside belong to the border's cells."""
        ids = np.floor((points - self.origin) / self.cell).astype(np.int32)
        ids = np.clip(ids, 0, np.array(self.back.shape) - 1)
        return ids[..., 0], ids[..., 1]

    def contains(self, points: Positions) -> Bools:
        """Return whether points (...,3) [m] are inside the body."""
        at = self.cells(points[..., :2])
        return (self.back[at] < points[..., 2]) & (points[..., 2] < self.front[at])

    def obstruction(self, first: Positions, second: Positions, outward: Positions) -> Floats:
        """Return the distance (k,) [m] by which straight ways have to move to miss the body.

        The distance is 0 for a free way, and at most ``FARTHEST`` of the body's height.

        Args:
            first, second: (k,3) [m] ends of the ways.
            outward: (k,3) unit directions in which the ways move.
        """
        at = np.linspace(0, 1, WAY_SAMPLES)[:, None, None]
        points = first + at * (second - first)  # (s,k,3)
        steps = np.arange(-round(NEARBY / CELL), round(FARTHEST / CELL) + 1)
        moved = points + (self.cell * steps)[:, None, None, None] * outward
        free = ~self.contains(moved).any(axis=1)  # (steps,k)
        return np.asarray(self.cell * np.where(free, np.abs(steps)[:, None], steps[-1]).min(axis=0))
