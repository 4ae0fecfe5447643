"""Ropes and springs as they are seen: their ends, their lengths at rest, and which of them hold."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.energies.base import Energy
from weft.energies.springs.point_springs import PointSprings

NAMES = ("strand_ends", "strand_lengths", "strand_kinds")  # arrays of a frame
LOOSE, ROPE, SPRING = 0, 1, 2  # kinds: one that has let go is drawn no more


def strands(
    energies: Sequence[Energy], x: Positions, bodies: Positions, t: float, kept: Mapping[str, Any]
) -> dict[str, Floats]:
    """Ropes and springs of the cloth and of rigid bodies, for frames; none where there are none.

    Args:
        energies: of the time.
        x: (N,3) [m] points.
        bodies: (b,3) [m] vertices of bodies that nothing moves.
        t: [s].
        kept: what the step remembers, of which when they let go.

    Returns:
        ``strand_ends`` (k,2,3) [m], ``strand_lengths`` (k,) [m] at rest and ``strand_kinds`` (k,).
    """
    found = [e for e in energies if isinstance(e, PointSprings) and e.strand]
    if not found:
        return {}
    ends = [_ends(e, x, bodies, t) for e in found]
    kinds = [np.where(_holds(e, t, kept), ROPE if e.pulls else SPRING, LOOSE) for e in found]
    arrays = (ends, [e.lengths(t) for e in found], kinds)
    return {name: np.concatenate(part).astype(np.float64) for name, part in zip(NAMES, arrays)}


def _ends(tie: PointSprings, x: Positions, bodies: Positions, t: float) -> Positions:
    """(m,2,3) [m]."""
    k = tie.strand
    first = np.einsum("ma,mai->mi", tie.c[:, :k], x[tie.stencil[:, :k]])
    if tie.place is not None:
        other = tie.place.at(bodies, t)
    else:
        other = -np.einsum("ma,mai->mi", tie.c[:, k:], x[tie.stencil[:, k:]])
    return np.stack([first, other], axis=1)


def _holds(tie: PointSprings, t: float, kept: Mapping[str, Any]) -> Floats:
    released = np.asarray(kept.get(f"{tie.name} released", np.full(len(tie), np.inf)))
    return np.asarray(np.isinf(released) & (not tie.release.expired(t)))
