"""What notebooks show."""

import base64
import html
import io
import re
import time

import numpy as np
import pytest

import weft
from tests.engine.show.reading import Page
from weft.run.run import Run


def picture(text):
    from PIL import Image

    data = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", text)[1])
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image)


def table(text):
    rows = re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td></tr>", text)
    return {html.unescape(k): html.unescape(v) for k, v in rows}


def test_run(seen):
    text = seen._repr_html_()
    image, said = picture(text), table(text)
    assert image.shape == (300, 480, 3) and np.ptp(image.astype(int), axis=(0, 1)).min() > 60
    assert said["frames"] == "7" and said["frame rate"] == "30 fps, 0.2 s"
    assert said["vertices"] == "88, 130 triangles"
    last = seen.metrics[-1]
    assert said["last step"].endswith(last["outcome"]) and said["iterations"] == str(
        last["iterations"]
    )


def test_picture_of_a_run_is_of_its_last_frame(seen):
    first = Run(seen.path)
    first.positions = lambda frame=-1, density=None: seen.positions(0)
    assert (picture(first._repr_html_()) != picture(seen._repr_html_())).any()


def test_scene():
    cloth = weft.sheet(6, 6, fabric="cotton")
    scene = weft.Scene(cloth, pins=[weft.Pin([0, 5])], bodies=[weft.contact.sphere(0.1, 0.05)])
    text = scene._repr_html_()
    said = table(text)
    assert picture(text).shape == (300, 480, 3)
    assert said["vertices"].startswith("36, 50") and said["pinned"] == "2 points"
    assert said["fabric"].startswith("cotton") and "backward_euler" in said["integrator"]
    assert said["contact"] == "itself and bodies"


def test_view_is_a_page_in_a_frame(seen):
    view = seen.view("::3", height=300)
    text = view._repr_html_()
    assert 'height="300"' in text and "3 frames" in repr(view)
    inside = html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)"[^>]*></iframe>', text)[1])
    assert Page(inside).about["numbers"] == [0, 3, 6]


def test_damaged_run_is_shown_with_what_is_wrong(seen, tmp_path):
    import shutil

    shutil.copytree(seen.path, tmp_path / "run")
    (tmp_path / "run" / "frames" / "000006.npz").write_bytes(b"no archive")
    text = Run(tmp_path / "run")._repr_html_()
    assert "no picture: " in text and table(text)["frames"] == "7"
    shutil.rmtree(tmp_path / "run" / "frames")
    (tmp_path / "run" / "frames").mkdir()
    assert "no picture" in Run(tmp_path / "run")._repr_html_()


@pytest.mark.slow
def test_it_is_quick(seen):
    seen._repr_html_()
    start = time.process_time()
    seen._repr_html_()
    assert time.process_time() - start < 1.0  # of the processor: a thirtieth of it here
