"""Whether two sets of positions are those of one mesh: the order of vertices, the unit, the axes.

Programs write the positions of a mesh into several files: a mesh and a point cache, the frames of a
sequence, a mesh and its rest shape. Numbers of vertices alone do not show that the files agree:

- Order: the edges of the mesh have similar lengths in both, also if the mesh deforms or moves. If
  vertices are in another order, edges connect distant points, and no rotation brings one file near
  the other (Kabsch 1976).
- Unit: if the edges of one file are 10, 25.4, 100 or 1000 times as long, its unit is another one.
- Axes: a mesh that is only turned about the origin by a right angle which moves the vertical axis,
  or mirrored, is a mesh of other axes. A turn about the vertical axis is a motion.
"""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from scipy.spatial import cKDTree

from weft.base.arrays import Faces, Floats, Positions
from weft.discretization.mesh import unique_edges

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}  # [m]
SAME = 0.02  # change of an edge, relative to the median, up to which a mesh is not deformed
# ratios of the lengths of an edge, over the median ratio, that only MOST_UNLIKE of the edges reach:
# in any pose, and in a pose that is otherwise UNALIKE
UNLIKE, UNLIKE_AND_ELSEWHERE, MOST_UNLIKE = 2.5, 1.2, 0.25
UNALIKE = 0.5  # correlation of positions below which poses are unlike
NEAR = 0.1  # distance, over the size of the mesh, that a body moves between two frames at most
CLOSE = 1e-3  # distance, over the size of the mesh, of positions that agree
UNIT_ERROR = 0.1  # largest deviation of a ratio of lengths from that of two units
MOST_SEARCHED = 20_000  # vertices among which places are searched in each pair of poses


@dataclass(frozen=True)
class Mismatch:
    """A difference between two files that are to agree.

    Args:
        kind: ``order``, ``unit`` or ``axes``.
        text: the difference, for messages.
        factor: lengths of the second file over those of the first.
    """

    kind: str
    text: str
    factor: float = 1.0


def find_mismatch(
    first: Positions, second: Positions, faces: Faces, *, consecutive: bool = False
) -> Mismatch | None:
    """Return the difference between two sets of positions of one mesh; None: they may agree.

    Args:
        first: (n,3) positions.
        second: (n,3) positions, in another pose or not.
        faces: (m,3).
        consecutive: the positions are those of two frames, between which the mesh moves little.
    """
    edges = unique_edges(faces)[0]
    old, new = (np.linalg.norm(np.diff(x[edges], axis=1)[:, 0], axis=1) for x in (first, second))
    good = (old > 0) & (new > 0)
    if not good.any():
        return None
    ratio = new[good] / old[good]
    scale = float(np.median(ratio))
    change = np.abs(np.log(ratio / scale))
    unlike = float((change > np.log(UNLIKE)).mean())
    moved = (change > np.log(UNLIKE_AND_ELSEWHERE)).mean() > MOST_UNLIKE
    if unlike > MOST_UNLIKE or (moved and _correlation(first, second) < UNALIKE):
        return Mismatch("order", "vertices in another order: edge lengths differ")
    if change.max() > SAME and _same_places(first, second):
        return Mismatch("order", "vertices in another order, at the same places")
    unit = unit_mismatch(scale)
    if unit is not None or change.max() > SAME:
        return unit
    axes = find_axes(first * scale, second, NEAR if consecutive else CLOSE)
    return None if axes is None else Mismatch("axes", f"other axes: {axes}")


def unit_mismatch(factor: float) -> Mismatch | None:
    """Return the difference of two files if lengths differ by the ratio of two units."""
    for name, meters in UNITS.items():
        for other, others in UNITS.items():
            error = abs(np.log(factor * others / meters))
            if name != other and error < (UNIT_ERROR if not 0.2 < others / meters < 5 else SAME):
                text = f"another unit: lengths are {factor:.4g} times as large ({name} and {other})"
                return Mismatch("unit", text, factor)
    return None


def find_axes(first: Positions, second: Positions, near: float) -> str | None:
    """Return the axes that turn ``first`` into ``second``; None: they are not of other axes.

    Args:
        first: (n,3) positions.
        second: (n,3) positions.
        near: distance, over the size of ``first``, of positions that agree.
    """
    most = near * float(np.ptp(first, axis=0).max())
    few = np.linspace(0, len(first) - 1, min(len(first), 1000)).astype(int)
    found = None
    for turn, name, is_motion in turns_of_axes():
        if np.abs(first[few] @ turn.T - second[few]).max() <= most:
            if is_motion:
                return None
            found = found or name
    return found


def turns_of_axes() -> list[tuple[Floats, str, bool]]:
    """Return the 48 turns of the axes, with their names, and whether y stays the vertical axis."""
    turns = []
    for order in permutations(range(3)):
        for signs in product((1, -1), repeat=3):
            turn = np.zeros((3, 3))
            turn[np.arange(3), order] = signs
            name = ", ".join(
                f"{'xyz'[k]} is {'-' * (s < 0)}{'xyz'[o]}"
                for k, (o, s) in enumerate(zip(order, signs))
                if o != k or s < 0
            )
            turns.append((turn, name, turn[1, 1] == 1 and np.linalg.det(turn) > 0))
    return turns


def _correlation(first: Positions, second: Positions) -> float:
    """Return the correlation of positions (n,3) after the best rotation or reflection, 0 to 1."""
    x, y = (p - p.mean(0) for p in (first, second))
    size = np.linalg.norm(x) * np.linalg.norm(y)
    return float(np.linalg.svd(x.T @ y, compute_uv=False).sum() / size) if size > 0 else 1.0


def _same_places(first: Positions, second: Positions) -> bool:
    """Return whether both are the same places in another order, up to their size and place."""
    if len(first) > MOST_SEARCHED:
        return False
    x, y = (p - p.mean(0) for p in (first, second))
    old, new = np.sqrt((x**2).sum()), np.sqrt((y**2).sum())
    if not (old > 0 and new > 0):
        return False
    x, y = x / old, y / new
    most = CLOSE * float(np.ptp(x, axis=0).max())
    far, nearest = cKDTree(x).query(y)
    return bool(far.max() <= most and len(np.unique(nearest)) == len(x))
