"""The look ``surface``: prints of the right size, wrong sides, stitches and thickness."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

import weft
from tests.engine.show.pictures import upright
from tests.refusals import refused
from weft.base.errors import RunError
from weft.fabric.appearance import Appearance
from weft.show.looks import default_look
from weft.show.picture.fabric_look import KINDS, look_of_fabric
from weft.show.picture.paint import Paint
from weft.show.picture.renderer import Renderer, Style

FRONT = {"look": "surface", "width": 640, "height": 640, "azimuth": 0.0, "elevation": 0.0}


def checkerboard(path):
    """Write an image of two by two squares, black at the upper left."""
    image = Image.new("RGB", (64, 64), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 31, 31), fill="black")
    draw.rectangle((32, 32, 63, 63), fill="black")
    image.save(path)
    return path


def renderer(appearance, stitches=(), x=None, **style):
    mesh, flat = upright(11, 0.4)
    x = flat if x is None else x
    look = appearance.on_part(stitches=stitches)
    paint = Paint(mesh, [("cloth", len(mesh.faces))], {"cloth": look})
    return Renderer(mesh, [x], Style(**{**FRONT, **style}, ground=False), paint=paint), x


def pixels(made, *places):
    """Return the pixels (column, row) of places (x, y) [m] in the plane of the sheet."""
    points = np.array([[*p, 0.0] for p in places])
    return made.camera.project(points, 640, 640)[:, :2]


def test_squares_of_a_checkerboard_have_their_size(tmp_path):
    """Of 2 cm: their borders along rows and columns of the picture, to a pixel of 0.7 mm."""
    image = checkerboard(tmp_path / "check.png")
    made, x = renderer(Appearance(image=str(image), repeat=0.04), samples=1)
    green = made.image(x)[..., 1].astype(int)
    (left, low), (right, high) = pixels(made, (-0.2, -0.2), (0.2, 0.2))
    row, column = pixels(made, (0.01, 0.01))[0][::-1].astype(int)
    for line, start, end in ((green[row], left, right), (green[:, column], high, low)):
        inner = line[round(start) + 3 : round(end) - 3] > 0.5 * line.max()
        borders = np.flatnonzero(np.diff(inner)) + round(start) + 4
        size = (end - start) / 20
        assert len(borders) == 19
        np.testing.assert_allclose(np.diff(borders), size, atol=1.5)
        np.testing.assert_allclose(borders, start + size * np.arange(1, 20), atol=0.8)


def test_the_top_of_an_image_points_along_the_warp(tmp_path):
    """The warp of the sheet runs to the right, so that the image lies on its side."""
    image = Image.new("RGB", (8, 8), "white")
    image.paste("red", (0, 0, 8, 4))
    image.save(tmp_path / "top.png")
    look = Appearance(image=str(tmp_path / "top.png"), repeat=0.4)
    made, x = renderer(look)
    drawn = made.image(x)
    for (c, r), red in zip(pixels(made, (0.1, 0.05), (-0.1, 0.05)).astype(int), (True, False)):
        assert (int(drawn[r, c, 0]) - int(drawn[r, c, 1]) > 100) == red


@pytest.mark.parametrize("thickness", [None, 0.01])
def test_wrong_side_and_thickness(thickness):
    look = Appearance(color="lime", back="red", thickness=thickness)
    for azimuth, channel in ((0.0, 1), (180.0, 0)):
        made, x = renderer(look, azimuth=azimuth)
        middle = made.image(x)[320, 320].astype(int)
        assert middle[channel] > middle[1 - channel] + 100
    made, x = renderer(look, azimuth=90.0)  # from the side, only thick cloth is seen
    drawn = made.image(x).astype(int)
    green = (drawn[..., 1] - drawn[..., 0] > 60).sum(axis=1).max()
    pixel = np.ptp(pixels(renderer(look)[0], (0, -0.2), (0, 0.2))[:, 1]) / 0.4
    assert green == (0 if thickness is None else pytest.approx(thickness * pixel, rel=0.35))


def test_stitches_are_where_they_are_sewn():
    """A line across the sheet: stitches of 4 mm, 2.5 mm apart, one color from both ends."""
    line = [(0.2, 0.1), (0.2, 0.3)]  # material coordinates begin at a corner of the sheet
    made, x = renderer(Appearance(color="white", thread="red"), [line], distance=0.5)
    drawn = made.image(x).astype(int)
    red = drawn[..., 0] - drawn[..., 1] > 60
    ends = pixels(made, (0.0, -0.1), (0.0, 0.1))
    rows, columns = np.nonzero(red)
    assert abs(columns.mean() + 0.5 - ends[0, 0]) < 1
    assert np.ptp(columns) <= 3
    share = len(np.unique(rows)) / abs(ends[0, 1] - ends[1, 1])
    visible = min(1.0, 640 / abs(ends[0, 1] - ends[1, 1]))
    assert share / visible == pytest.approx(4 / 6.5, abs=0.12)


def test_cloth_without_a_surface_is_refused():
    mesh, _ = upright(3)
    with refused(RunError, "look surface"):
        Paint(mesh, [("cloth", len(mesh.faces))], {})


def woven(fabric, side=640, bend=0.0):
    """Return a renderer of a sheet of a fabric without a surface, and its positions."""
    mesh, x = upright(41, 0.4)
    if bend:
        x = np.stack([bend * np.sin(x[:, 0] / bend), x[:, 1], bend * np.cos(x[:, 0] / bend)], 1)
    paint = Paint(mesh, [("cloth", len(mesh.faces))], {}, {"cloth": fabric})
    style = Style(**{**FRONT, "look": "fabric", "width": side, "height": side}, ground=False)
    return Renderer(mesh, [x], style, paint=paint), x


def middle(image):
    """Return the brightness of the middle of a picture, where the sheet is."""
    n = len(image) // 4
    return image[n:-n, n:-n].mean(axis=2)


def test_denim_has_a_diagonal_of_one_size_and_none_below_a_pixel():
    made, x = woven("denim")
    gray = middle(made.image(x))
    power = np.abs(np.fft.rfft2(gray - gray.mean()))
    power[:3, :3] = power[-2:, :3] = 0  # the light
    row, column = np.unravel_index(power.argmax(), power.shape)
    (a, b) = pixels(made, (0.0, 0.0), (0.1, 0.0))
    found = np.array([min(row, len(gray) - row), column]) / len(gray) * (b - a)[0] / 0.1
    np.testing.assert_allclose(found, 1 / KINDS["denim"].line, rtol=0.1)
    small, _ = woven("denim", 48)
    assert middle(small.image(x)).std() < 0.2 * gray.std()


def test_silk_shines_and_cotton_does_not():
    shine = {}
    for fabric in ("silk", "cotton"):
        made, x = woven(fabric, 160, bend=0.3)
        gray = middle(made.image(x)) ** 2
        shine[fabric] = np.percentile(gray, 99) / np.median(gray)
    assert shine["silk"] > 1.1 * shine["cotton"]


def test_fabrics_are_known_by_a_word_of_their_name():
    assert look_of_fabric("silk-83") is KINDS["silk"] and look_of_fabric("mine") is KINDS[""]
    assert len({look.color for look in KINDS.values()}) == len(KINDS)


@pytest.mark.parametrize("style", [None, Style(width=320, height=240)], ids=["none", "size only"])
def test_pictures_of_a_run_show_its_fabric(tmp_path, style):
    """Without a choice; in a surface of its own it keeps its color."""
    images = []
    for fabric in ("silk", "denim"):
        scene = weft.Scene(weft.sheet(4, 4, fabric=fabric))
        run = weft.simulate(scene, frames=1, fps=100, out=tmp_path / fabric, progress=False)
        run.render(tmp_path / "a.png", style=style)
        images.append(np.asarray(Image.open(tmp_path / "a.png"), dtype=float))
        assert default_look(run) == "fabric"
        with refused(RunError, "look surface"):
            run.render(tmp_path / "b.png", look="surface")
    assert np.abs(images[0] - images[1]).max() > 40
