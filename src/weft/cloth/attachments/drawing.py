"""Ropes and springs for pictures: their ends, their rest lengths, and whether they are released."""

from collections.abc import Mapping, Sequence

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.energies.energy import Energy
from weft.energies.springs.point_springs import PointSprings

NAMES = ("strand_ends", "strand_lengths", "strand_kinds")  # arrays of a frame
LOOSE, ROPE, SPRING = 0, 1, 2  # kinds; LOOSE is a released one, which is not drawn


def strands(
    energies: Sequence[Energy],
    x: Positions,
    bodies: Positions,
    t: float,
    kept: Mapping[str, Floats],
) -> dict[str, Floats]:
    """Return the ropes and springs of cloth and rigid bodies for a frame; empty if there are none.

    Args:
        energies: energies at this time.
        x: (N,3) [m] points.
        bodies: (b,3) [m] vertices of bodies that are not rigid.
        t: [s] time.
        kept: the integrator's memory, which holds the times of releases.

    Returns:
        ``strand_ends`` (k,2,3) [m], ``strand_lengths`` (k,) [m] at rest and ``strand_kinds`` (k,).
    """
    found = [e for e in energies if isinstance(e, PointSprings) and e.strand]
    if not found:
        return {}
    ends = [_ends(e, x, bodies, t) for e in found]
    kinds = [np.where(e.holding(t, kept), ROPE if e.pulls else SPRING, LOOSE) for e in found]
    arrays = (ends, [e.lengths(t) for e in found], kinds)
    return {name: np.concatenate(part).astype(np.float64) for name, part in zip(NAMES, arrays)}


def _ends(tie: PointSprings, x: Positions, bodies: Positions, t: float) -> Positions:
    """Return both ends of every strand (m,2,3) [m]."""
    k = tie.strand
    first = np.einsum("ma,mai->mi", tie.c[:, :k], x[tie.stencil[:, :k]])
    if tie.place is not None:
        other = tie.places(bodies, t)
    else:
        other = -np.einsum("ma,mai->mi", tie.c[:, k:], x[tie.stencil[:, k:]])
    return np.stack([first, other], axis=1)
