"""Do splines wrinkle in shear like more triangles, and how much faster (Meng et al. 2025, FBW3)?

Two opposite edges of a sheet of 0.8 m move along themselves, 50 mm in 0.1 s; its shear stiffness is
that of stretch.
"""

from collections.abc import Sequence

from studies.meng_runs import PAIRS, compared
from studies.study import Say, Study
from weft.show.picture.renderer import Style

SECONDS = 0.15  # of the test's time
STYLE = Style(width=560, height=520, azimuth=0.0, elevation=55.0)


def study(say: Say, pairs: Sequence[tuple[int, int]] = PAIRS, seconds: float = SECONDS) -> Study:
    """Pictures and a table of all grids."""
    return compared(
        "shear", "meng2025-shear", "FBW3, shear, after 0.15 s", seconds, STYLE, 1, say, pairs
    )
