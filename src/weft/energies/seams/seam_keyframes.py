"""Numbers of seams that change in the times of the animation: how they fold, and when they tear."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.keyframes import Keys


@dataclass(frozen=True, eq=False)
class FoldingKeys:
    """Hinges of one seam, as they fold.

    Args:
        rows: of them among the hinges.
        angle: [rad] at rest, by the time of the animation [s].
        length: (r,) [m] of each.
        stiffness: [N m/rad per m] likewise; None: as the fabrics bend.
        begin: [s] when the animation begins.
    """

    rows: Ints
    angle: Keys
    length: Floats
    stiffness: Keys | None = None
    begin: float = 0.0

    def put(self, t: float, weight: Floats, angle: Floats) -> None:
        """Weights [J] and angles [rad] of all hinges at the time t [s], in place."""
        angle[self.rows] = self.angle.at(t - self.begin)
        if self.stiffness is not None:
            weight[self.rows] = self.stiffness.at(t - self.begin) * self.length


@dataclass(frozen=True, eq=False)
class TearingKeys:
    """Bonds of one seam, as it tears.

    Args:
        rows: of them among the bonds.
        share: (r,) [m] of the seam that each holds.
        strength: [N/m] at which it tears, by the time of the animation [s].
        begin: [s] when the animation begins.
    """

    rows: Ints
    share: Floats
    strength: Keys
    begin: float = 0.0

    def strengths(self, t: float) -> Floats:
        """(r,) [N] of the bonds at the time t [s]; infinite where one holds nothing of the seam."""
        held = self.strength.at(t - self.begin) * self.share
        return np.asarray(np.where(self.share > 0, held, np.inf))


def folded(
    foldings: Sequence[FoldingKeys], t: float, weight: Floats, angle: Floats
) -> tuple[Floats, Floats]:
    """Weights [J] and angles [rad] of hinges with those of the time t [s]."""
    weight, angle = np.array(weight), np.array(angle)
    for folding in foldings:
        folding.put(t, weight, angle)
    return weight, angle
