"""Images that a user names, opened with a bound on their size."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.input_file import IMAGE_PIXELS, open_input

if TYPE_CHECKING:
    from PIL.Image import Image


@contextmanager
def open_image(path: Path) -> "Iterator[Image]":
    """Open an image with Pillow; its pixels are not decoded yet.

    Raises:
        OSError: no ordinary file, or no image.
        ValueError: more pixels than ``IMAGE_PIXELS``.
    """
    from PIL import Image

    with open_input(path) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            image = Image.open(file)
        except Image.DecompressionBombError as error:
            raise ValueError(f"more than {IMAGE_PIXELS:.0e} pixels") from error
        with image:
            if image.width * image.height > IMAGE_PIXELS:
                raise ValueError(
                    f"{image.width} x {image.height}, more than {IMAGE_PIXELS:.0e} pixels"
                )
            yield image
