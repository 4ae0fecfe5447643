"""Do splines drape like more triangles, and how much faster (Meng et al. 2025, FBW2)?

A level sheet of 0.8 m falls, held at two edges that meet.
"""

from collections.abc import Sequence

from studies.meng_runs import PAIRS, compared
from studies.study import Say, Study
from weft.show.picture.renderer import Style

SECONDS = 0.6  # of the test's time
STYLE = Style(width=560, height=520, azimuth=35.0, elevation=25.0)


def study(say: Say, pairs: Sequence[tuple[int, int]] = PAIRS, seconds: float = SECONDS) -> Study:
    """Pictures and a table of all grids."""
    return compared(
        "drape", "meng2025-drape", "FBW2, drape, after 0.6 s", seconds, STYLE, 2, say, pairs
    )
