"""Do splines hang like more triangles, and how much faster (Meng et al. 2025, FBW1)?

A sheet of 0.8 m falls from its upper corners, which come together by 0.1 m in 0.1 s.
"""

from collections.abc import Sequence

from studies.meng_runs import PAIRS, compared
from studies.study import Say, Study
from weft.show.picture.renderer import Style

SECONDS = 0.4  # of the test's time
STYLE = Style(width=560, height=520, azimuth=20.0, elevation=4.0)


def study(say: Say, pairs: Sequence[tuple[int, int]] = PAIRS, seconds: float = SECONDS) -> Study:
    """Pictures and a table of all grids."""
    return compared(
        "hanging", "meng2025-hanging", "FBW1, hanging, after 0.4 s", seconds, STYLE, 2, say, pairs
    )
