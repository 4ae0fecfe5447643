"""Elastic bands: rows of bonds whose rest length and stiffness change in time.

They take in a seam, or let it out.
"""

from dataclasses import dataclass

from weft.base.arrays import Floats, Ints
from weft.base.keyframes import Keys


@dataclass(frozen=True, eq=False)
class ElasticBand:
    """Bonds in a row along a seam or an edge, of one elastic.

    Args:
        rows: indices of its bonds among all bonds.
        full: (r,) [m] length of the cloth along each.
        ratio: rest length over that length, by the time of the animation [s].
        stiffness: [N] tension at a strain of 1, by the time of the animation [s].
        begin: [s] when the animation begins.
    """

    rows: Ints
    full: Floats
    ratio: Keys
    stiffness: Keys
    begin: float = 0.0

    def lengths(self, t: float) -> Floats:
        """Return the rest lengths, (r,) [m], at the time t [s]."""
        return self.ratio.at(t - self.begin) * self.full

    def stiffnesses(self, t: float) -> Floats:
        """Return the stiffness of the bonds, (r,) [N/m], at the time t [s]."""
        return self.stiffness.at(t - self.begin) / self.lengths(t)
