"""Seam keyframes: fold angles, fold stiffness and strength of seams that change in time.

Times of keyframes are those of the animation, which begins after the garment is sewn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.keyframes import Keys


@dataclass(frozen=True, eq=False)
class FoldingKeys:
    """Keyframes of the hinges of one seam.

    Args:
        rows: indices of its hinges among all hinges.
        angle: [rad] at rest, by the time of the animation [s].
        length: (r,) [m] of each.
        stiffness: [N m/rad per m] by the time of the animation [s]; None: as the fabrics bend.
        begin: [s] when the animation begins.
    """

    rows: Ints
    angle: Keys
    length: Floats
    stiffness: Keys | None = None
    begin: float = 0.0

    @property
    def replaced(self) -> Sequence[str]:
        """Names of the hinges' constants that are those of keyframes."""
        return ["rest_angle"] if self.stiffness is None else ["rest_angle", "weight"]

    def put(self, t: float, weight: Floats, angle: Floats) -> None:
        """Write weights [J] and angles [rad] at the time t [s] into the arrays of all hinges."""
        angle[self.rows] = self.angle.at(t - self.begin)
        if self.stiffness is not None:
            weight[self.rows] = self.stiffness.at(t - self.begin) * self.length


@dataclass(frozen=True, eq=False)
class TearingKeys:
    """Keyframes of the strength of the bonds of one seam.

    Args:
        rows: indices of its bonds among all bonds.
        share: (r,) [m] of the seam that each holds.
        strength: [N/m] at which it tears, by the time of the animation [s].
        begin: [s] when the animation begins.
    """

    rows: Ints
    share: Floats
    strength: Keys
    begin: float = 0.0

    def strengths(self, t: float) -> Floats:
        """Return the strength of the bonds, (r,) [N], at the time t [s].

        It is infinite for bonds without a share of the seam.
        """
        held = self.strength.at(t - self.begin) * self.share
        return np.asarray(np.where(self.share > 0, held, np.inf))


def folded(
    foldings: Sequence[FoldingKeys], t: float, weight: Floats, angle: Floats
) -> tuple[Floats, Floats]:
    """Return copies of weights [J] and angles [rad] of hinges, with those of the time t [s]."""
    weight, angle = np.array(weight), np.array(angle)
    for folding in foldings:
        folding.put(t, weight, angle)
    return weight, angle
