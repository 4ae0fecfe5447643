"""Whether sewing gets on: the processor time of its steps, and the seam that is behind.

Cloth that is caught between a body and a seam makes steps many times as costly as others, while the
seam stays open.
"""

from collections.abc import Sequence

import numpy as np

from weft.base.arrays import Positions
from weft.base.errors import point_text
from weft.cloth.cloth import Cloth
from weft.energies.embedded import EmbeddedEnergy
from weft.energies.energy import Energy
from weft.energies.springs.bonds import Bonds
from weft.run.plausibility import sewn_gaps

PATIENCE = 60.0  # [s] of processor time after which a run that does not get on says so
SLOWER = 8.0  # processor time of the last steps over that of the run's quick steps, from which on
QUICK = 25  # [%] of the steps of a run that are quick


class SewingPace:
    """The processor times of the steps of a run while its seams close."""

    def __init__(self) -> None:
        self.seconds: list[float] = []  # of each step
        self.warned = False

    def add(self, seconds: float) -> int:
        """Add a step's processor time [s].

        Returns:
            How many last steps took ``PATIENCE``, the first time that sewing does not get on; 0:
            it does, or it was said before.
        """
        self.seconds.append(seconds)
        spent = np.cumsum(self.seconds[::-1])
        last = int(np.searchsorted(spent, PATIENCE)) + 1
        if self.warned or last > len(self.seconds):
            return 0
        usual = float(np.percentile(self.seconds, QUICK))
        self.warned = bool(spent[last - 1] > SLOWER * last * usual)
        return last if self.warned else 0


def about_slow_sewing(
    cloth: Cloth, energies: Sequence[Energy], x: Positions, t: float, steps: int
) -> str:
    """Return the warning that sewing does not get on, with the seam that is farthest behind.

    Args:
        cloth: the garment.
        energies: with the bonds of its seams.
        x: (n,3) [m] positions of its vertices.
        t: [s] time.
        steps: how many last steps took ``PATIENCE``.
    """
    planned = dict[tuple[int, int], float]()  # distance [m] of the points of each pair
    for energy in energies:
        bonds = energy.source if isinstance(energy, EmbeddedEnergy) else energy
        if isinstance(bonds, Bonds):
            planned |= zip(map(tuple, bonds.pairs.tolist()), bonds.lengths(t).tolist())
    behind = list[tuple[float, str]]()
    for name, pairs, gap in sewn_gaps(cloth, x):
        lag = gap - [planned.get((a, b), 0.0) for a, b in pairs.tolist()]
        k = int(np.argmax(lag))
        behind.append(
            (
                float(lag[k]),
                f"; seam {name} is farthest behind, open by {1e3 * gap[k]:.3g} mm near "
                f"({point_text(x[pairs[k, 0]])})",
            )
        )
    return (
        f"sewing does not get on: the last {steps} steps until t = {t:.3g} s took {PATIENCE:.0f} s "
        f"of processor time{max(behind, default=(0.0, ''))[1]}: see where the cloth is caught "
        "(`weft render`), and place these panels in a side-car file"
    )
