"""Pictures as an MP4 file: H.264, 4:2:0, which browsers, phones and editors play."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np

from weft.base.errors import RunError
from weft.io.extra import optional
from weft.io.files import atomic_path
from weft.show.picture.renderer import Image

QUALITY = "18"  # of x264's constant rate factor: 0 is lossless, 23 its default
BT709 = 1  # code of the primaries, transfer and matrix of high definition
FINEST = 1001_000  # denominator of frame rates: 24000/1001 is one


def save_mp4(path: str | Path, images: Iterable[Image], fps: float) -> None:
    """Write pictures (h,w,3) at ``fps`` per second; an odd last row or column is repeated.

    Raises:
        RunError: ``av`` is missing, or the file cannot be written.
    """
    av = optional("av", "video", "MP4 video", RunError)
    rate = Fraction(fps).limit_denominator(FINEST)
    with atomic_path(path) as new:
        try:
            with av.open(str(new), "w", format="mp4", options={"movflags": "+faststart"}) as file:
                stream = file.add_stream("libx264", rate=rate, options={"crf": QUALITY})
                for number, image in enumerate(images):
                    even = np.pad(image, [(0, n % 2) for n in image.shape[:2]] + [(0, 0)], "edge")
                    if number == 0:
                        _describe(stream, even)
                    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(even), format="rgb24")
                    frame = frame.reformat(
                        format="yuv420p", dst_colorspace=av.video.reformatter.Colorspace.ITU709
                    )
                    file.mux(stream.encode(frame))
                file.mux(stream.encode())
        except av.FFmpegError as error:
            raise RunError(
                f"cannot write {Path(path).name}", got=str(error), where=Path(path).parent
            ) from error


def _describe(stream: object, image: Image) -> None:
    """Set size, pixel format and colors of the video."""
    context = stream.codec_context  # type: ignore[attr-defined]
    context.height, context.width = image.shape[:2]
    context.pix_fmt = "yuv420p"
    context.color_primaries = context.color_trc = context.colorspace = BT709
