"""MP4 and contact sheets."""

import numpy as np
import pytest
from PIL import Image as Pillow

import weft
from tests.refusals import refused
from weft.base.errors import RunError
from weft.show.picture.picture_sheet import PictureSheet
from weft.show.picture.renderer import Style
from weft.show.picture.video import save_mp4

pytestmark = pytest.mark.quick


def test_mp4(tmp_path):
    """Decoded: size made even by repeating, rate, number of frames, and colors to a few levels."""
    av = pytest.importorskip("av")
    colors = [(200, 60, 40), (40, 160, 90), (70, 80, 200), (128, 128, 128)]
    images = [np.full((61, 81, 3), c, dtype=np.uint8) for c in colors]
    path = tmp_path / "a.mp4"
    save_mp4(path, images, 24)
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (82, 62, 24)
        assert stream.codec_context.name == "h264" and stream.codec_context.pix_fmt == "yuv420p"
        assert stream.codec_context.colorspace == 1  # BT.709
        frames = list(file.decode(video=0))
    assert len(frames) == 4
    bt709 = av.video.reformatter.Colorspace.ITU709
    for frame, color in zip(frames, colors):
        seen = frame.reformat(format="rgb24", src_colorspace=bt709).to_ndarray()
        assert np.abs(seen.reshape(-1, 3).mean(0) - color).max() < 6
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"]
    with refused(RunError, "cannot write a.mp4"):
        save_mp4(tmp_path / "none" / "a.mp4", images, 24)


@pytest.mark.parametrize("count, frames, shape", [(12, 60, (4, 3)), (1, 9, (1, 1)), (7, 7, (4, 2))])
def test_places_of_a_sheet(count, frames, shape):
    sheet = PictureSheet.of(Style(width=1280, height=720), count, frames)
    assert sheet.numbers[0] == 0 and len(sheet.numbers) == count
    assert count == 1 or sheet.numbers[-1] == frames - 1
    assert (sheet.columns, sheet.rows) == shape
    high, wide = sheet.cell.height, sheet.cell.width
    images = [np.full((high, wide, 3), 10 * k, np.uint8) for k in range(count)]
    whole = sheet.join_images(images, [""] * count)
    assert whole.shape[0] <= 720 and whole.shape[1] <= 1280
    row, column = divmod(count - 1, shape[0])
    last = whole[row * (high + 2) + high // 2, column * (wide + 2) + wide // 2]
    assert (last == 10 * (count - 1)).all()


def test_sheet_of_a_run(tmp_path):
    scene = weft.Scene(weft.sheet(4, 4))
    run = weft.simulate(scene, frames=5, out=tmp_path / "r", progress=False)
    run.render(tmp_path / "a.png", sheet=4, style=Style(width=320, height=180, samples=1))
    picture = np.asarray(Pillow.open(tmp_path / "a.png"))
    assert 170 <= picture.shape[0] <= 180 and 310 <= picture.shape[1] <= 320
    first, last = picture[20:80, 30:130], picture[110:170, 190:290]
    assert (first != last).any()
    with refused(RunError, ("sheet", 401, "1 to 400")):
        run.render(tmp_path / "a.png", sheet=401)
    with refused(RunError, "picture", got=".webp", expected=".png"):
        run.render(tmp_path / "a.webp", sheet=4)
