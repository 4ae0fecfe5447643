"""Outline in meters, and camera position, from a photograph of a draped specimen.

The scale is that of the disk's plane. Cloth that hangs is farther from the lens and looks smaller:
from 90 cm, rims that hang 5 cm low look 5 % smaller, which changes the coefficient by ten points.
So the height of the lens belongs to the picture, and the data are compared with what the camera
would see of a simulated drape. The lens is assumed to be above the middle of the picture.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.base.errors import PictureError
from weft.fitting.block import DataBlock
from weft.fitting.disk import Disk, disk_in
from weft.fitting.draped import Eye
from weft.fitting.edges import around
from weft.fitting.outline import RadialOutline, outline_of, ray_angles, unit
from weft.fitting.picture import ClothPicture, cloth_in
from weft.laboratory.cusick import DISK, SPECIMEN

FIELDS = {
    "mask": "a picture that is white where the cloth is, or a list; none: by color, before the "
    "background",
    "disk": "[column, row, radius] of the disk in pixels; none: it is looked for",
    "pixel": "size of a pixel in the disk's plane, 0.3 mm, where no disk is to be seen",
    "camera": "height of the lens above the disk; none: parallel light, or from far away",
}
SLACK = 1.02  # of the flat specimen's radius: largest radius that is accepted
# [m] accepted heights of a camera: a height outside is a wrong unit, and that of a camera farther
# away can be left out.
LOWEST, HIGHEST = 0.2, 20.0


def photographed_all(
    block: DataBlock, most: int
) -> Sequence[tuple[RadialOutline, Eye, ClothPicture]]:
    """Return the outline, the camera position and the cloth of each photograph of a block.

    Args:
        block: with the field ``picture`` and some of ``FIELDS``.
        most: largest number of pictures.

    Raises:
        PictureError: a picture shows no cloth or no disk, or its scale is impossible.
        FabricError: fields of the block contradict each other.
    """
    paths = block.files("picture", most)
    masks: Sequence[Path | None] = block.files("mask", most) if block.has("mask") else ()
    if masks and len(masks) != len(paths):
        raise block.error("mask", f"{len(masks)} files", f"{len(paths)}, as there are pictures")
    given = None
    if block.has("disk"):
        if len(paths) > 1:
            raise block.error("disk", f"one, for {len(paths)} pictures", "a block for each picture")
        numbers = block.numbers("disk", "1", 3, above=0)
        given = Disk(*(float(v) for v in numbers))
    pixel = block.number("pixel", "m", above=0) if block.has("pixel") else None
    if given is not None and pixel is not None:
        raise block.error("pixel", "a scale beside the disk's", "one of disk, pixel")
    height = None
    if block.has("camera"):
        height = block.number("camera", "m", above=LOWEST, most=HIGHEST)
    cloths = [cloth_in(path, mask) for path, mask in zip(paths, masks or [None] * len(paths))]
    return [(*outline_in(cloth, given, pixel, height), cloth) for cloth in cloths]


def outline_in(
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
        disk = disk_in(cloth)
    if disk is not None:
        pixel = DISK / disk.radius
        center = np.array([disk.column, disk.row])
    else:
        rows, columns = np.nonzero(cloth.mask)
        center = np.array([columns.mean(), rows.mean()]) + 0.5
    assert pixel is not None
    radius = pixel * around(cloth.edge, cloth.mask, center)
    points = radius[:, None] * unit(ray_angles(len(radius)))
    outline = outline_of(points, np.roll(points, -1, axis=0))
    check_size(outline, Path(cloth.where).name)
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
