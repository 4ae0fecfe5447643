"""Outlines of draped specimens in meters: from photographs, with the position of the camera, and
from the corners in a CSV with units in its head.

The tester's disk in a photograph gives the scale. It lies on the cloth and has one color, and its
rim is a circle if the camera looks straight down.

The scale is that of the disk's plane. Cloth that hangs is farther from the lens and looks smaller:
from 90 cm, rims that hang 5 cm low look 5 % smaller, which changes the coefficient by ten points.
So the height of the lens belongs to the picture, and the data are compared with what the camera
would see of a simulated drape. The lens is assumed to be above the middle of the picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PictureError
from weft.base.settings import setting
from weft.discretization.polygon import crossing_point, first_crossing, signed_area
from weft.plugins.lab.fitting.block import MeasurementBlock, MeasurementSettings
from weft.plugins.lab.fitting.drape_equilibrium import Eye
from weft.plugins.lab.fitting.edges import scikit_image, trace_outline
from weft.plugins.lab.fitting.outline import RadialOutline, radial_outline
from weft.plugins.lab.fitting.picture import ClothPicture, otsu, segment_cloth
from weft.plugins.lab.fitting.table import read_table
from weft.plugins.lab.laboratory.cusick import DISK, SPECIMEN
from weft.plugins.lab.laboratory.shadow import radii

PATCH = 0.1  # of the cloth's radius: radius of the patch whose color is the disk's
RATIOS = (0.45, 0.99)  # radius of the disk over that of the cloth: 0.6 when flat
# Of its radius: largest root mean square deviation of the rim from a circle; points of the rim with
# a larger deviation do not move the circle.
ROUND = 0.015
TRIALS = 100  # circles through three points of the rim that are tried
DIFFERS = 0.01  # of white: smallest distance in color between cloth and disk
LEAST = 24  # corners: four for each of six folds
MOST = 20_000  # corners
GAP = 0.1  # of the perimeter: a polygon whose closing edge is longer counts as open
SLACK = 1.02  # of the flat specimen's radius: largest radius that is accepted
# [m] accepted heights of a camera: a height outside is a wrong unit, and that of a camera farther
# away can be left out.
LOWEST, HIGHEST = 0.2, 20.0


@dataclass(frozen=True)
class Disk:
    """A circle in a picture."""

    column: float  # [pixels] of its center
    row: float
    radius: float


@dataclass(frozen=True, kw_only=True)
class PhotographSettings(MeasurementSettings):
    """Photographs of a draped specimen."""

    picture: Sequence[str] | None = setting(
        None,
        "a photograph of the draped specimen from straight above, or a list with one photograph "
        "per draping (better six than one); in place of `outline`",
    )
    mask: Sequence[str] | None = setting(
        None,
        "a picture that is white where the cloth is, or a list; none: by color, before the "
        "background",
    )
    disk: tuple[float, float, float] | None = setting(
        None,
        "[column, row, radius] of the disk in pixels; none: weft finds the disk",
        above=0,
    )
    pixel: float | None = setting(
        None,
        "size of a pixel in the plane of the disk, 0.3 mm, if the disk is not visible",
        "m",
        above=0,
    )
    camera: float | None = setting(
        None,
        "height of the lens above the disk; none: parallel light, or a camera that is far away",
        "m",
        above=LOWEST,
        most=HIGHEST,
    )


def read_photographs(
    block: MeasurementBlock, most: int
) -> Sequence[tuple[RadialOutline, Eye, ClothPicture]]:
    """Return the outline, the camera position and the cloth of each photograph of a block.

    Args:
        block: of ``PhotographSettings``, with ``picture``.
        most: largest number of pictures.

    Raises:
        PictureError: a picture shows no cloth or no disk, or its scale is impossible.
        FabricError: fields of the block contradict each other.
    """
    paths, given = block.files("picture", most), block.given
    masks: Sequence[Path | None] = () if given.mask is None else block.files("mask", most)
    if masks and len(masks) != len(paths):
        raise block.error("mask", f"{len(masks)} files", f"{len(paths)}, the number of pictures")
    if given.disk is not None and len(paths) > 1:
        raise block.error(
            "disk", f"one value, for {len(paths)} pictures", "a block for each picture"
        )
    if given.disk is not None and given.pixel is not None:
        raise block.error("pixel", "two scales", "one of disk, pixel")
    disk = None if given.disk is None else Disk(*given.disk)
    cloths = [segment_cloth(path, mask) for path, mask in zip(paths, masks or [None] * len(paths))]
    return [(*measure_outline(cloth, disk, given.pixel, given.camera), cloth) for cloth in cloths]


def measure_outline(
    cloth: ClothPicture,
    disk: Disk | None = None,
    pixel: float | None = None,
    height: float | None = None,
) -> tuple[RadialOutline, Eye]:
    """Return the outline [m] of a cloth in a picture, and the camera position.

    Args:
        cloth: the cloth in the picture.
        disk: circle of the tester's disk in pixels of the file; None: it is detected, unless
            ``pixel`` is given.
        pixel: [m] size of a pixel of the file in the disk's plane.
        height: [m] of the lens above the disk; None: far away.

    Raises:
        PictureError: there is no disk, or the scale gives a specimen of another size.
    """
    if disk is not None:  # disk and pixel refer to the file, before the picture was reduced
        disk = Disk(*(v / cloth.reduced for v in (disk.column, disk.row, disk.radius)))
    if pixel is not None:
        pixel *= cloth.reduced
    if disk is None and pixel is None:
        disk = detect_disk(cloth)
    if disk is not None:
        pixel = DISK / disk.radius
        center = np.array([disk.column, disk.row])
    else:
        rows, columns = np.nonzero(cloth.mask)
        center = np.array([columns.mean(), rows.mean()]) + 0.5
    assert pixel is not None
    points = pixel * (trace_outline(cloth.edge, cloth.mask) - center) * [1, -1]
    after, where = np.roll(points, -1, axis=0), Path(cloth.where).name
    if not radii(points, after).all():
        raise PictureError(
            "draped specimen",
            got="a disk, too",
            where=where,
            expected="the disk in the middle of the cloth",
            hint="`disk` is [column, row, radius] in pixels of the file",
        )
    outline = radial_outline(points, after)
    check_size(outline, where)
    if height is None:
        return outline, Eye()
    middle = 0.5 * np.array(cloth.mask.shape[::-1])
    lens = pixel * (middle - center) * [1, -1]
    return outline, Eye(height, float(lens[0]), float(lens[1]))


def check_size(outline: RadialOutline, where: str) -> None:
    """Check that an outline has a possible size for a specimen of 30 cm on a disk of 18 cm.

    Raises:
        PictureError: the size is impossible; the message has it.
    """
    reach, area = float(outline.radius.max()), outline.area
    low, high = np.pi * DISK**2, np.pi * SPECIMEN**2
    got = None
    if reach > SLACK * SPECIMEN or area > SLACK * high:
        got = f"{2 * max(reach, float(np.sqrt(area / np.pi))):.3g} m across"
    elif area < low / SLACK:
        got = f"{2 * float(np.sqrt(area / np.pi)):.3g} m across"
    if got is not None:
        raise PictureError(
            "draped specimen",
            got=got,
            where=where,
            expected=f"{2 * DISK:g} m (all hangs) to {2 * SPECIMEN:g} m (flat)",
            hint="the scale, the unit or the outline is wrong",
        )


def detect_disk(cloth: ClothPicture) -> Disk:
    """Return the disk on a cloth.

    Raises:
        PictureError: no round region of one color is in the middle of the cloth.
    """
    from scipy import ndimage

    mask = cloth.mask
    row, column = (float(v) + 0.5 for v in ndimage.center_of_mass(mask))
    radius = float(np.sqrt(mask.sum() / np.pi))
    rows, columns = np.indices(mask.shape) + 0.5
    patch = np.hypot(columns - column, rows - row) < PATCH * radius
    middle = np.median(cloth.color[patch], axis=0)
    unlike = np.linalg.norm(cloth.color - middle, axis=2)
    threshold, _ = otsu(unlike[mask][::2])
    same = mask & (unlike < threshold)
    label, _ = ndimage.label(same)
    here = label[int(row), int(column)]
    if here == 0 or threshold < DIFFERS:
        raise _not_found(cloth.where, "all of one color" if threshold < DIFFERS else "")
    found = np.asarray(ndimage.binary_fill_holes(label == here))
    disk, off = _fit_circle(trace_outline(cloth.color, found))
    ratio = disk.radius / radius
    if not RATIOS[0] < ratio < RATIOS[1]:
        raise _not_found(cloth.where, f"one color up to {ratio:.0%} of the cloth's radius")
    if off > ROUND:
        raise _not_found(
            cloth.where, f"a shape that differs from a circle by {off:.1%} of its radius"
        )
    return disk


def _fit_circle(rim: Floats) -> tuple[Disk, float]:
    """Return the circle of a rim (k,2), and the root mean square deviation of the rim over its
    radius.

    A part of the rim that is no circle, such as a highlight, does not move the circle.
    """
    measure = scikit_image().measure
    near = ROUND * float(np.sqrt(abs(signed_area(rim)) / np.pi))
    circle, _ = measure.ransac(
        rim, measure.CircleModel, min_samples=3, residual_threshold=near, max_trials=TRIALS, rng=0
    )
    (column, row), radius = circle.center, float(circle.radius)
    off = np.minimum(circle.residuals(rim), 0.2 * radius)
    return Disk(float(column), float(row), radius), float(np.sqrt(np.mean(off**2)) / radius)


def _not_found(where: str, got: str) -> PictureError:
    return PictureError(
        "disk in the picture",
        got=got or "none found",
        where=where,
        expected="a circle of one color in the middle of the cloth, seen from straight above",
        hint="give `disk: [column, row, radius]` in pixels, or `pixel: 0.3 mm`",
    )


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
            hint="all corners of the outline, in order",
        )
    pair = first_crossing([corners], touching=False)
    if pair is not None:
        at = np.round(crossing_point([corners], pair), 4).tolist()
        raise PictureError(
            "outline",
            got=f"edges {pair[0][1] + 1} and {pair[1][1] + 1} cross near {at}",
            where=where,
            expected="an outline that does not cross itself",
            hint="list the corners in order",
        )
    middle = 0.5 * (corners.min(0) + corners.max(0))
    outline = radial_outline(corners - middle, after - middle)
    check_size(outline, where)
    return outline
