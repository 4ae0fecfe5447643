"""Surfaces in pages: images once, colors by region, and stitches that lie on the cloth."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from tests.engine.show.reading import Page
from tests.engine.show.test_browser import HIGH, browser, run_browser  # noqa: F401
from tests.together.io.test_surfaces import coat  # noqa: F401
from weft.show.viewer.page import content_of
from weft.show.viewer.page_text import page


def test_a_page_holds_images_once_and_stitches_on_the_cloth(coat):  # noqa: F811
    found = Page(page(content_of(coat)))
    about = found.about
    assert about["looks"][0] == "surface" and not found.asks
    left, right = about["surfaces"]
    assert (left["back"], right["back"]) == ("ff0000", "ff0000")  # mirrored panels inherit
    assert left["image"] == right["image"] == 0
    (url,) = about["images"]
    with Image.open(io.BytesIO(base64.b64decode(url.partition("base64,")[2]))) as image:
        assert image.getpixel((0, 0)) == (0, 200, 0)
    weight = found.array("stitch_weight", "<f4").reshape(-1, 3)
    vertex = found.array("stitch_vertex", "<u4").reshape(-1, 3)
    assert len(weight) == left["stitches"] + right["stitches"]
    x = np.einsum("ek,ekc->ec", weight, coat.positions(0)[vertex])
    looks = [coat.appearances[name].dashes() for name in ("left", "right")]
    size = np.concatenate([np.linalg.norm(d[:, 1] - d[:, 0], axis=1) for d in looks])
    np.testing.assert_allclose(np.linalg.norm(x[1::2] - x[::2], axis=1), size, atol=1e-6)
    own = np.ptp(x[: left["stitches"]], axis=0)
    assert own.max() == pytest.approx(0.4, abs=0.02)  # the seam at the middle is as long


@pytest.mark.browser
def test_a_browser_shows_print_and_wrong_side(browser, coat, tmp_path):  # noqa: F811
    file = tmp_path / "page.html"
    file.write_text(page(content_of(coat)))
    for azimuth, channel in ((0, 1), (180, 0)):
        out, address = tmp_path / "shot.png", f"{file.as_uri()}#azimuth={azimuth}&elevation=0"
        run_browser(browser, tmp_path, address, f"--screenshot={out}")
        with Image.open(out) as image:
            drawn = np.asarray(image.convert("RGB")).astype(int)[: HIGH - 150]
        assert (drawn[..., channel] - drawn[..., 1 - channel] > 60).mean() > 0.1
