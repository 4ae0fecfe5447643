"""The corners of the cloth's faces, arranged for a graphics card."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import AnyArray, Faces, Floats
from weft.io.animation import SurfaceTopology
from weft.show.viewer.packing import pack


@dataclass(frozen=True, eq=False)
class Corners:
    """Vertices for a graphics card: each one has one material coordinate and one region."""

    faces: Faces  # (m,3) indices into the arrays below
    vertex: AnyArray  # (r,) vertex of the mesh
    region: AnyArray  # (r,) index of the region
    uv: Floats  # (r,2) [m]
    side: float  # [m] of the longer side of the cloth

    @staticmethod
    def of(cloth: SurfaceTopology) -> "Corners":
        """Split the vertices of the cloth along seams and region borders."""
        m = len(cloth.faces)
        uv = np.zeros((m, 3, 2)) if cloth.corner_uv is None else cloth.corner_uv
        region = np.zeros(m, np.int64)
        for k, (_, ids) in enumerate(cloth.regions):
            region[ids] = k
        vertex, regions, uvs = cloth.faces.reshape(-1), np.repeat(region, 3), uv.reshape(-1, 2)
        columns: list[AnyArray] = [vertex[:, None], regions[:, None], np.round(uvs * 1e7)]
        _, first, back = np.unique(
            np.concatenate(columns, axis=1), axis=0, return_index=True, return_inverse=True
        )
        side = float(np.ptp(uvs, axis=0).max()) or 1.0
        faces = back.reshape(m, 3).astype(np.int32)
        return Corners(faces, vertex[first], regions[first], uvs[first], side)

    def blocks(self) -> dict[str, str]:
        """Return the arrays of a page, packed, by name."""
        return {
            "corner_faces": pack(self.faces.astype(np.uint32)),
            "corner_vertex": pack(self.vertex.astype(np.uint32)),
            "corner_region": pack(self.region.astype(np.uint16)),
            "corner_uv": pack(self.uv.astype(np.float32)),
        }
