"""Welding: vertices of a mesh that coincide become one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import half_edges

ROUND_OFF = 1e-6  # distance of vertices that coincide, over the size of the mesh
# True: vertices that coincide; a number: those at a distance up to it [m]; False or None: none
Weld: TypeAlias = bool | float | None


@dataclass(frozen=True, eq=False)
class Welded:
    """A mesh whose vertices are joined; faces of which two corners become one are left out.

    Args:
        number: (n,) new number of each vertex.
        first: (k,) the lowest vertex of each new one, whose position it has.
        remaining: (m,) faces that remain.
        faces: (m,3) these faces, by the new numbers.
    """

    number: Ints
    first: Ints
    remaining: Ints
    faces: Faces

    def of_faces(self, ids: Ints) -> Ints:
        """Return the new numbers of those of some faces that remain."""
        return np.flatnonzero(np.isin(self.remaining, ids)).astype(np.int32)


def weld_vertices(
    x: Positions, faces: Faces, weld: Weld, where: str, frames: Floats | Sequence[Positions] = ()
) -> Welded:
    """Join vertices of a mesh.

    Args:
        x: (n,3) [m] positions.
        faces: (m,3).
        weld: which vertices.
        where: the mesh, for messages.
        frames: (k,n,3) [m] positions at other times, at which joined vertices are together too.

    Raises:
        MeshError: a distance as long as the edges.
    """
    if weld is None or weld is False:
        every = np.arange(len(x), dtype=np.int32)
        return Welded(every, every, np.arange(len(faces), dtype=np.int32), faces)
    distance = round_off(x)
    if not isinstance(weld, bool):
        distance = weld
        a, b = half_edges(faces).T
        usual = float(np.median(np.linalg.norm(x[a] - x[b], axis=1)))
        if not 0 < weld < usual:
            raise MeshError(
                "weld",
                got=f"{weld:g} m",
                where=where,
                expected=f"less than the edges of the mesh, which are {usual:.3g} m long",
            )
    left = np.arange(len(x), dtype=np.int32)
    lowest = left.copy()
    while len(left):
        one = left[join_vertices(x[left], distance)]
        apart = np.zeros(len(left), dtype=bool)
        for y in frames:
            apart |= np.linalg.norm(y[left] - y[one], axis=1) > max(distance, round_off(y))
        lowest[left[~apart]] = one[~apart]
        left = left[apart]
    first, inverse = np.unique(lowest, return_inverse=True)
    number: Ints = inverse.reshape(-1).astype(np.int32)
    new: Faces = number[faces]
    kept = np.flatnonzero((new != np.roll(new, 1, axis=1)).all(axis=1)).astype(np.int32)
    return Welded(number, first.astype(np.int32), kept, new[kept])


def join_vertices(x: Positions, distance: float) -> Ints:
    """Return the lowest vertex (n,) of those that each vertex is to be joined with.

    Args:
        x: (n,3) [m] positions.
        distance: [m] up to which vertices are joined, also by way of others.
    """
    from scipy.spatial import cKDTree

    # Vertices at the very same place first: many of them would make too many pairs.
    _, first, at = np.unique(x, axis=0, return_index=True, return_inverse=True)
    pairs = cKDTree(x[first]).query_pairs(distance, output_type="ndarray")
    label = component_labels(pairs.reshape(-1, 2), len(first))[at.reshape(-1)]
    lowest = np.full(len(first), len(x), dtype=np.int32)
    np.minimum.at(lowest, label, np.arange(len(x), dtype=np.int32))
    return lowest[label]


def round_off(x: Positions) -> float:
    """Return the distance [m] up to which vertices x (n,3) coincide."""
    return ROUND_OFF * float(np.ptp(x, axis=0).max(initial=0.0))


def merge_vertices(sewn: Ints, x: Positions) -> tuple[Positions, Ints]:
    """Merge vertices, and return (m,3) [m] their positions and (n,) the new id of every old vertex.

    Args:
        sewn: (n,) vertices with the same number become one, at the mean of their positions.
        x: (n,3) [m] positions.
    """
    old, new = np.unique(sewn, return_inverse=True)
    total = np.zeros((len(old), 3))
    np.add.at(total, new, x)
    return total / np.bincount(new)[:, None], new.astype(np.int32)
