"""What notebooks show."""

import base64
import html
import io
import re

import numpy as np
from PIL import Image

import weft
from tests.engine.show.pictures import copy_run
from tests.engine.show.reading import Page
from weft.run.run import Run


def picture(text):
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
    assert said["last step"].endswith(last["outcome"])
    assert said["iterations"] == str(last["iterations"])
    first = Run(seen.path)  # its picture is that of its last frame
    first.positions = lambda frame=-1, density=None: seen.positions(0)
    assert (picture(first._repr_html_()) != image).any()


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
    text = Run(copy_run(seen, tmp_path / "run", damaged=6))._repr_html_()
    assert "no picture: " in text and table(text)["frames"] == "7"
