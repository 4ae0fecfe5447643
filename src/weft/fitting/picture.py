"""Cloth in a photograph: which pixels show it, and how far every pixel is from what is behind it.

The background is what the picture's border shows. A pixel is as much cloth as its color is far from
that, in linear light, where shading only scales a color: so shadows on the background, scaled
copies of it, count as background, if the cloth can be told from them; if not (gray cloth on gray),
plain distances have to do. Between the two kinds of pixels lies Otsu's threshold (1979, IEEE Trans.
SMC 9(1) 62-66). A mask, or a picture with an alpha channel, leaves nothing to be decided.

Shaded folds of cloth that has nearly the background's hue are as near to it as its shadows. So the
threshold is lowered to what the background's noise allows: what then joins the cloth is in doubt.
"""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from weft.base.arrays import Bools, Floats
from weft.base.errors import PictureError
from weft.base.input_file import is_file
from weft.io.images import open_image

LEAST = 64  # pixels of a side
ENOUGH = 2400  # pixels of a side: larger pictures are reduced
BORDER = 0.02  # of a side: what is taken for background
DARKEST = 0.3  # of the background's light, in shadows on it
APART = 0.6  # of the variance, that two kinds of pixels have to explain (Otsu's eta)
CONTRAST = 0.05  # of white, least distance between their means
SPECK = 1e-3  # of the largest piece: what is smaller is dust
PIECE = 1e-2  # what is larger is another piece of cloth
BLUR = 1.5  # [pixels] over which colors are averaged before the threshold is lowered
LOWEST = 1 / 6  # of the threshold: an edge whose pixels are mixtures begins there
RIM = 5  # pixels across: what is in doubt is as thick, or it is a blurred edge
DOUBTED = 0.01  # of the cloth's area: from there on a mask is asked for
FULL = 0.97  # of the picture: cloth that leaves no background


@dataclass(frozen=True, eq=False)
class ClothPicture:
    """What a picture shows of a cloth.

    Attributes:
        mask: (h,w) the cloth, with what lies upon it: holes are filled.
        edge: (h,w,c) what changes at its border: the color, or a mask's gray.
        color: (h,w,3) in linear light, 0 to 1.
        where: the file, for messages.
        shadows: whether shadows on the background were told from cloth.
        reduced: how many pixels of the file a side of one of these is.
        unsure: (h,w) pixels that may be cloth in shade, taken for background.
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
        """Area of the pixels that may be cloth, over that of the cloth."""
        return 0.0 if self.unsure is None else float(self.unsure.sum() / self.mask.sum())


def cloth_in(path: Path, mask: Path | None = None) -> ClothPicture:
    """The one piece of cloth in a picture; warns where much of it may be taken for background.

    Args:
        path: the picture: cloth before a background of one color.
        mask: a picture that is white where the cloth is, and black elsewhere.

    Raises:
        PictureError: a file that is no picture, or shows no cloth, several pieces, or a piece that
            its border cuts.
    """
    image, reduced = load_picture(path)
    found = replace(_found(image, path, mask), reduced=reduced)
    if found.doubt > DOUBTED:
        warnings.warn(
            f"{path.name}: shaded or noisy cloth may be taken for background, {found.doubt:.0%} of "
            "its area: what is fitted is as much less sure; give `mask: FILE`, white where the "
            "cloth is, or take the picture before another color and in even light",
            stacklevel=2,
        )
    return found


def _found(image: Floats, path: Path, mask: Path | None) -> ClothPicture:
    color = _linear(image[..., :3])
    if mask is not None:
        given, _ = load_picture(mask)
        if given.shape != image.shape:
            raise PictureError(
                "mask",
                got=_size(given),
                expected=f"{_size(image)}, as the picture",
                where=str(mask),
            )
        return _of_mask(given[..., :3].mean(2) * given[..., 3], color, str(mask))
    if image[..., 3].min() < 0.5:
        return _of_mask(image[..., 3], color, str(path))
    return _before_background(color, str(path))


def load_picture(path: Path) -> tuple[Floats, int]:
    """(h,w,4) red, green, blue and alpha of a file, 0 to 1, turned as its EXIF data say; and by how
    much it was reduced, if it is larger than ``ENOUGH``.

    Raises:
        PictureError: no such file, no picture, or one that is too small or large.
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
            turned = ImageOps.exif_transpose(_eight_bits(opened)).convert("RGBA").reduce(reduced)
            return np.asarray(turned, dtype=np.float64) / 255, reduced
    except (OSError, ValueError, SyntaxError) as error:
        raise PictureError(
            "picture",
            got=str(error) or type(error).__name__,
            where=where,
            expected="a PNG, JPEG, TIFF, WebP or BMP",
        ) from error


def _eight_bits(image: Any) -> Any:
    """A picture of Pillow's; gray of 16 bits, which Pillow would clip, with its high bits."""
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
    """The threshold between two kinds of values, and the part of the variance that they explain."""
    flat = np.sort(values.ravel())
    n, total = len(flat), flat.sum()
    count = np.arange(1, n)
    below = np.cumsum(flat)[:-1]
    low, high = below / count, (total - below) / (n - count)
    between = count * (n - count) / n**2 * (high - low) ** 2
    best = int(np.argmax(between))
    variance = float(flat.var())
    return float(0.5 * (low[best] + high[best])), float(between[best] / max(variance, 1e-300))


def largest_piece(mask: Bools, where: str) -> Bools:
    """The one piece of a mask, without dust and with its holes filled.

    Raises:
        PictureError: nothing, several pieces, or one that the picture's border cuts.
    """
    from scipy import ndimage

    label, count = ndimage.label(mask)
    if count == 0:
        raise _none(where)
    size = np.bincount(label.ravel())[1:]
    best = int(np.argmax(size))
    filled = np.asarray(ndimage.binary_fill_holes(label == best + 1))
    outside = np.bincount(np.where(filled, 0, label).ravel(), minlength=count + 1)[1:]
    others = int((outside > PIECE * size[best]).sum())
    if others:
        raise PictureError(
            "cloth in the picture",
            got=f"{others + 1} pieces",
            expected="one",
            where=where,
            hint="cut the others away, or give `mask: FILE`, white where the cloth is",
        )
    edge = np.concatenate([filled[0], filled[-1], filled[:, 0], filled[:, -1]])
    if edge.any():
        raise PictureError(
            "cloth in the picture",
            got="the border cuts it",
            expected="background all around",
            where=where,
            hint="take the picture from farther away",
        )
    return filled


def _linear(srgb: Floats) -> Floats:
    """Light, from the numbers of a file (IEC 61966-2-1)."""
    high = ((srgb + 0.055) / 1.055) ** 2.4
    return np.asarray(np.where(srgb <= 0.04045, srgb / 12.92, high))


def _before_background(color: Floats, where: str) -> ClothPicture:
    """By distance from what the border shows: without shadows, if there is more than shadows."""
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
            piece = _piece_of(cloth, where)
            unsure = _unsure(piece, color, behind, border, threshold, shadows)
            return ClothPicture(piece, color, color, where, shadows, unsure=unsure)
        except PictureError as error:
            problem = problem or error
    raise problem or _none(where)


def _distance(color: Floats, behind: Floats, shadows: bool) -> Floats:
    """(h,w) how far colors (h,w,3) are from a background's (3,), or from it in a shadow."""
    if not shadows:
        return np.asarray(np.linalg.norm(color - behind, axis=2))
    part = np.clip(color @ behind / max(float(behind @ behind), 1e-6), DARKEST, 1.0)
    return np.asarray(np.linalg.norm(color - part[..., None] * behind, axis=2))


def _unsure(
    cloth: Bools, color: Floats, behind: Floats, border: Bools, threshold: float, shadows: bool
) -> Bools:
    """(h,w) what would join the cloth if the threshold were as low as noise and edges allow."""
    from scipy import ndimage

    far = _distance(ndimage.gaussian_filter(color, (BLUR, BLUR, 0)), behind, shadows)
    low = max(1.5 * float(np.percentile(far[border], 99)), LOWEST * threshold)
    more = ndimage.binary_opening((far > low) & ~cloth, np.ones((RIM, RIM)))
    label, _ = ndimage.label(cloth | more)
    whole = ndimage.binary_fill_holes(label == label[cloth][0])
    return np.asarray(whole & ~cloth)


def _of_mask(gray: Floats, color: Floats, where: str) -> ClothPicture:
    return ClothPicture(_piece_of(gray > 0.5, where), gray[..., None], color, where)


def _piece_of(cloth: Bools, where: str) -> Bools:
    if cloth.mean() > FULL:
        raise PictureError(
            "cloth in the picture",
            got=f"{cloth.mean():.0%} of it",
            expected="cloth before a background",
            where=where,
        )
    return largest_piece(cloth, where)


def _none(where: str) -> PictureError:
    return PictureError(
        "cloth in the picture",
        got="none found",
        where=where,
        expected="one piece that differs in color from what the picture's border shows",
        hint="give `mask: FILE`, a picture that is white where the cloth is and black elsewhere",
    )


def _size(image: Floats) -> str:
    return f"{image.shape[1]} x {image.shape[0]} pixels"
