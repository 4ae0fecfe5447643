"""Segmentation of cloth in a photograph: the pixels that show it, and their distance in color from
the background.

The background color is the median of the picture's border. A pixel is classified by the distance of
its color from this one, in linear light, where shading only scales a color. Shadows on the
background are scaled copies of it, so they count as background, provided that the cloth can be told
from them. If not (gray cloth on gray), the plain distance is used. Otsu's threshold separates the
two classes of pixels (1979, IEEE Trans. SMC 9(1) 62-66; by scikit-image). A mask, or a picture with
an alpha channel, makes the segmentation unnecessary.

Shaded folds of cloth whose hue is close to the background's are as near to it as its shadows. So
the threshold is also lowered to the limit set by the noise of the background; pixels that then join
the cloth are in doubt.
"""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Bools, Floats
from weft.base.errors import PictureError
from weft.base.input_file import is_file
from weft.io.images import open_image
from weft.plugins.lab.fitting.edges import scikit_image

if TYPE_CHECKING:
    from PIL.Image import Image

LEAST = 64  # pixels, smallest side
ENOUGH = 2400  # pixels, largest side: larger pictures are reduced
BORDER = 0.02  # of a side: width of the border that gives the background color
DARKEST = 0.3  # of the background's light: the darkest shadow
APART = 0.6  # of the variance: least part that the two classes must explain (Otsu's eta)
CONTRAST = 0.05  # of white: least distance between the means of the classes
PIECE = 1e-2  # of the largest piece: a larger one is another piece of cloth
BLUR = 1.5  # [pixels] standard deviation of the blur before the threshold is lowered
LOWEST = 1 / 6  # of the threshold: below it are the mixed pixels of an edge
RIM = 5  # [pixels] least thickness of a doubtful region; a thinner one is a blurred edge
DOUBTED = 0.01  # of the cloth's area: a larger doubtful region causes a warning
FULL = 0.97  # of the picture: a larger cloth leaves no background


@dataclass(frozen=True, eq=False)
class ClothPicture:
    """Segmented picture of a cloth.

    Attributes:
        mask: (h,w) the cloth with everything that lies on it: holes are filled.
        edge: (h,w,c) the channels that change at its border: the color, or the gray of a mask.
        color: (h,w,3) in linear light, 0 to 1.
        where: the file, for messages.
        shadows: true if shadows on the background were told from cloth.
        reduced: number of pixels of the file per pixel of this picture, along a side.
        unsure: (h,w) pixels that count as background but may be shaded cloth.
    """

    mask: Bools
    edge: Floats
    color: Floats
    where: str
    shadows: bool = True
    reduced: int = 1
    unsure: Bools | None = None

    @property
    def doubt(self) -> float:
        """Return the area of the doubtful pixels over that of the cloth."""
        return 0.0 if self.unsure is None else float(self.unsure.sum() / self.mask.sum())


def segment_cloth(path: Path, mask: Path | None = None) -> ClothPicture:
    """Return the one piece of cloth in a picture; warn if much of it may be taken for background.

    Args:
        path: the picture: cloth before a background of one color.
        mask: a picture that is white where the cloth is, and black elsewhere.

    Raises:
        PictureError: the file is no picture, or shows no cloth, several pieces, or a piece that its
            border cuts.
    """
    image, reduced = load_picture(path)
    found = replace(_segment(image, path, mask), reduced=reduced)
    if found.doubt > DOUBTED:
        warnings.warn(
            f"{path.name}: shaded or noisy cloth may be taken for background, {found.doubt:.0%} "
            "of its area: the fit is less certain by this area; give `mask: FILE`, white where "
            "the cloth is, or take the picture in front of another color and in even light",
            stacklevel=2,
        )
    return found


def _segment(image: Floats, path: Path, mask: Path | None) -> ClothPicture:
    """Return the cloth by its mask, by the alpha channel, or by its color."""
    color = _linear(image[..., :3])
    if mask is not None:
        given, _ = load_picture(mask)
        if given.shape != image.shape:
            expected = f"{_size(image)}, the size of the picture"
            raise PictureError("mask", got=_size(given), expected=expected, where=mask)
        return _segment_by_mask(given[..., :3].mean(2) * given[..., 3], color, str(mask))
    if image[..., 3].min() < 0.5:
        return _segment_by_mask(image[..., 3], color, str(path))
    return _segment_by_color(color, str(path))


def load_picture(path: Path) -> tuple[Floats, int]:
    """Return the pixels of a file, and the whole factor by which pictures above ``ENOUGH`` are
    reduced.

    Returns:
        (h,w,4) red, green, blue and alpha, 0 to 1, oriented as its EXIF data say; and the factor.

    Raises:
        PictureError: the file does not exist, is no picture, or is too small or too large.
    """
    from PIL import ImageOps

    where = str(path)
    if not is_file(path):
        raise PictureError("picture", got="no such file", where=where)
    try:
        with open_image(path) as opened:
            width, height = opened.size
            if min(width, height) < LEAST:
                raise PictureError(
                    "picture",
                    got=f"{width} x {height} pixels",
                    where=where,
                    expected=f"{LEAST} pixels a side or more",
                )
            reduced = -(-max(width, height) // ENOUGH)
            turned = ImageOps.exif_transpose(_to_eight_bits(opened)).convert("RGBA").reduce(reduced)
            return np.asarray(turned, dtype=np.float64) / 255, reduced
    except (OSError, ValueError, SyntaxError) as error:
        raise PictureError(
            "picture",
            got=str(error) or type(error).__name__,
            where=where,
            expected="a PNG, JPEG, TIFF, WebP or BMP",
        ) from error


def _to_eight_bits(image: "Image") -> "Image":
    """Return a picture of Pillow with 8 bits per channel.

    Gray pictures of 16 bits keep their high bits, because Pillow itself would clip them.
    """
    from PIL import Image as Pillow

    if image.mode == "CMYK":
        return image.convert("RGB")
    if image.mode not in ("I", "F") and not image.mode.startswith("I;16"):
        return image
    gray = np.asarray(image)
    if gray.min() < 0 or gray.max() >= 1 << 16 or image.mode == "F":
        raise ValueError("gray of 32 bits, or with fractions")
    return Pillow.fromarray((gray.astype(np.uint32) >> 8).astype(np.uint8))


def otsu(values: Floats) -> tuple[float, float]:
    """Return Otsu's threshold between two classes of values, half way between their means, and the
    part of the variance that they explain.
    """
    split = scikit_image().filters.threshold_otsu(values)
    upper = values > split
    part = float(upper.mean())
    if part == 0.0:
        return float(split), 0.0
    low, high = float(values[~upper].mean()), float(values[upper].mean())
    return 0.5 * (low + high), part * (1 - part) * (high - low) ** 2 / float(values.var())


def largest_piece(mask: Bools, where: str) -> Bools:
    """Return the one piece of a mask, without dust and with its holes filled.

    Raises:
        PictureError: the mask has no piece, several pieces, or one that the picture's border cuts.
    """
    from scipy import ndimage

    label, count = ndimage.label(mask)
    if count == 0:
        raise _not_found(where)
    size = np.bincount(label.ravel())[1:]
    best = int(np.argmax(size))
    filled = np.asarray(ndimage.binary_fill_holes(label == best + 1))
    outside = np.bincount(np.where(filled, 0, label).ravel(), minlength=count + 1)[1:]
    others = int((outside > PIECE * size[best]).sum())
    if others:
        hint = "remove the other pieces, or give `mask: FILE`, white where the cloth is"
        raise _cloth_error(f"{others + 1} pieces", "one", where, hint)
    edge = np.concatenate([filled[0], filled[-1], filled[:, 0], filled[:, -1]])
    if edge.any():
        hint = "take the picture from farther away"
        raise _cloth_error("the border cuts the cloth", "background all around", where, hint)
    return filled


def _linear(srgb: Floats) -> Floats:
    """Return linear light from the sRGB values of a file (IEC 61966-2-1)."""
    high = ((srgb + 0.055) / 1.055) ** 2.4
    return np.where(srgb <= 0.04045, srgb / 12.92, high)


def _segment_by_color(color: Floats, where: str) -> ClothPicture:
    """Return the cloth by the distance of its colors from that of the border.

    Shadows are excluded first; if this finds no cloth, the plain distance is used.
    """
    rows, columns = (max(1, round(BORDER * n)) for n in color.shape[:2])
    border = np.ones(color.shape[:2], dtype=bool)
    border[rows:-rows, columns:-columns] = False
    behind = np.median(color[border], axis=0)
    problem: PictureError | None = None
    for shadows in (True, False):
        far = _distance(color, behind, shadows)
        threshold, explained = otsu(far[::2, ::2])
        cloth = far > threshold
        contrast = float(far[cloth].mean() - far[~cloth].mean()) if cloth.any() else 0.0
        if explained < APART or contrast < CONTRAST:
            continue
        try:
            piece = _single_piece(cloth, where)
            unsure = _doubtful_pixels(piece, color, behind, border, threshold, shadows)
            return ClothPicture(piece, color, color, where, shadows, unsure=unsure)
        except PictureError as error:
            problem = problem or error
    raise problem or _not_found(where)


def _distance(color: Floats, behind: Floats, shadows: bool) -> Floats:
    """Return the distance of colors (h,w,3) from a background (3,), or from its nearest shadow,
    (h,w).
    """
    if not shadows:
        return np.asarray(np.linalg.norm(color - behind, axis=2))
    part = np.clip(color @ behind / max(float(behind @ behind), 1e-6), DARKEST, 1.0)
    return np.asarray(np.linalg.norm(color - part[..., None] * behind, axis=2))


def _doubtful_pixels(
    cloth: Bools, color: Floats, behind: Floats, border: Bools, threshold: float, shadows: bool
) -> Bools:
    """Return the pixels that join the cloth at the lowest threshold that noise and edges allow,
    (h,w).
    """
    from scipy import ndimage

    far = _distance(ndimage.gaussian_filter(color, (BLUR, BLUR, 0)), behind, shadows)
    low = max(1.5 * float(np.percentile(far[border], 99)), LOWEST * threshold)
    more = ndimage.binary_opening((far > low) & ~cloth, np.ones((RIM, RIM)))
    label, _ = ndimage.label(cloth | more)
    whole = ndimage.binary_fill_holes(label == label[cloth][0])
    return np.asarray(whole & ~cloth)


def _segment_by_mask(gray: Floats, color: Floats, where: str) -> ClothPicture:
    """Return the cloth of a gray mask."""
    return ClothPicture(_single_piece(gray > 0.5, where), gray[..., None], color, where)


def _single_piece(cloth: Bools, where: str) -> Bools:
    """Return the one piece of cloth of a mask, which must leave some background."""
    if cloth.mean() > FULL:
        raise _cloth_error(f"{cloth.mean():.0%} of it", "cloth in front of a background", where)
    return largest_piece(cloth, where)


def _not_found(where: str) -> PictureError:
    expected = "one piece with another color than the border of the picture"
    hint = "give `mask: FILE`, a picture that is white where the cloth is and black elsewhere"
    return _cloth_error("none found", expected, where, hint)


def _cloth_error(got: str, expected: str, where: str, hint: str | None = None) -> PictureError:
    return PictureError("cloth in the picture", got=got, expected=expected, where=where, hint=hint)


def _size(image: Floats) -> str:
    return f"{image.shape[1]} x {image.shape[0]} pixels"
