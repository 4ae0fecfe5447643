"""Outline in meters, and camera position, from a photograph of a draped specimen.

The scale is that of the disk's plane. Cloth that hangs is farther from the lens and looks smaller:
from 90 cm, rims that hang 5 cm low look 5 % smaller, which changes the coefficient by ten points.
So the height of the lens belongs to the picture, and the data are compared with what the camera
would see of a simulated drape. The lens is assumed to be above the middle of the picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.base.errors import PictureError
from weft.base.settings import setting
from weft.fitting.block import MeasurementBlock, MeasurementSettings
from weft.fitting.disk import Disk, detect_disk
from weft.fitting.drape_equilibrium import Eye
from weft.fitting.edges import trace_outline
from weft.fitting.outline import RadialOutline, radial_outline, radii
from weft.fitting.picture import ClothPicture, segment_cloth
from weft.laboratory.cusick import DISK, SPECIMEN

SLACK = 1.02  # of the flat specimen's radius: largest radius that is accepted
# [m] accepted heights of a camera: a height outside is a wrong unit, and that of a camera farther
# away can be left out.
LOWEST, HIGHEST = 0.2, 20.0


@dataclass(frozen=True, kw_only=True)
class PhotographSettings(MeasurementSettings):
    """Photographs of a draped specimen."""

    picture: Sequence[str] | None = setting(
        None,
        "a photograph of the draped specimen from straight above, or a list: of its drapings, six "
        "better than one; in place of `outline`",
    )
    mask: Sequence[str] | None = setting(
        None,
        "a picture that is white where the cloth is, or a list; none: by color, before the "
        "background",
    )
    disk: tuple[float, float, float] | None = setting(
        None,
        "[column, row, radius] of the disk in pixels; none: it is looked for",
        above=0,
    )
    pixel: float | None = setting(
        None,
        "size of a pixel in the disk's plane, 0.3 mm, where no disk is to be seen",
        "m",
        above=0,
    )
    camera: float | None = setting(
        None,
        "height of the lens above the disk; none: parallel light, or from far away",
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
        raise block.error("mask", f"{len(masks)} files", f"{len(paths)}, as there are pictures")
    if given.disk is not None and len(paths) > 1:
        raise block.error("disk", f"one, for {len(paths)} pictures", "a block for each picture")
    if given.disk is not None and given.pixel is not None:
        raise block.error("pixel", "a scale beside the disk's", "one of disk, pixel")
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
            got="a disk beside it",
            where=where,
            expected="its disk in its middle",
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
            hint="the scale or the unit is wrong, or the outline is not that of the specimen",
        )
