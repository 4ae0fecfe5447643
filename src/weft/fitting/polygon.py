"""Reader of a drape's outline as a polygon: corners in order, as a CSV with units in its head."""

from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PictureError
from weft.discretization.polygon import first_crossing
from weft.fitting.outline import RadialOutline, radial_outline
from weft.fitting.photograph import check_size
from weft.fitting.table import read_table

LEAST = 24  # corners: four for each of six folds
MOST = 20_000  # corners
GAP = 0.1  # of the perimeter: a polygon whose closing edge is longer counts as open


def read_polygon(path: Path) -> RadialOutline:
    """Read the outline of a file with columns x and y.

    Raises:
        PictureError: the file is no such table, has too few corners, or its outline is open,
            crosses itself or does not have the size of a specimen of 30 cm.
        UnitError: a column has no unit of length.
    """
    table = read_table(path, PictureError)
    return check_polygon(np.stack([table.column(c, "m") for c in "xy"], axis=1), path.name)


def check_polygon(corners: Floats, where: str) -> RadialOutline:
    """Return the outline of corners in order, after checks of its validity.

    Args:
        corners: (k,2) [m]; the first may be repeated at the end.
        where: the file, for messages.

    Raises:
        PictureError: as for ``read_polygon``.
    """
    step = np.linalg.norm(np.diff(corners, axis=0, append=corners[:1]), axis=1)
    corners = corners[step > 0]
    if not LEAST <= len(corners) <= MOST:
        raise PictureError(
            "outline", got=f"{len(corners)} corners", where=where, expected=f"{LEAST} to {MOST}"
        )
    after = np.roll(corners, -1, axis=0)
    step = np.linalg.norm(after - corners, axis=1)
    usual = float(np.median(step))
    if step[-1] > GAP * step.sum() and step[-1] > 5 * usual:
        raise PictureError(
            "outline",
            got=f"open: its last corner is {step[-1]:.3g} m from its first",
            expected="closed",
            where=where,
            hint="corners of all of it, in turn",
        )
    pair = first_crossing([corners], touching=False)
    if pair is not None:
        raise PictureError(
            "outline",
            got=f"edges {pair[0][1] + 1} and {pair[1][1] + 1} cross",
            where=where,
            expected="an outline that does not cross itself",
            hint="corners in turn",
        )
    middle = 0.5 * (corners.min(0) + corners.max(0))
    outline = radial_outline(corners - middle, after - middle)
    check_size(outline, where)
    return outline
