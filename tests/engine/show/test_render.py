"""Pictures: what is where, against analytic coverage; and files that open."""

import numpy as np
import pytest
import warp as wp
from PIL import Image

import weft
from tests.engine.show.pictures import SMALL, sewn, upright
from tests.refusals import refused
from weft import kernel
from weft.base.errors import RunError, WeftError
from weft.cli.options import LOOK_NAMES
from weft.cloth.fields import largest_strain
from weft.cloth.regions import material_pieces
from weft.show import looks
from weft.show.picture.camera import frame_points
from weft.show.picture.rasterize import DepthBuffer, rasterize
from weft.show.picture.renderer import Renderer, Style, save_png, save_webp

pytestmark = pytest.mark.quick


def raster(points, faces, width=64, height=48):
    faces = np.asarray(faces, dtype=np.int32)
    b = DepthBuffer.of(width, height)
    rasterize(np.asarray(points, dtype=float), faces, kernel.array(faces, wp.int32), b)
    return np.array(kernel.numpy(b.face)), np.array(kernel.numpy(b.nearness))


def test_coverage_is_that_of_the_triangle():
    """Pixels whose centers lie inside, on both windings; against a brute-force test."""
    p = np.array([[5.2, 3.1, 1], [60.7, 20.3, 1], [22.4, 45.9, 1]])
    y, x = np.mgrid[0:48, 0:64] + 0.5
    inside = np.ones((48, 64), dtype=bool)
    for a, b in zip(p, np.roll(p, -1, axis=0)):
        inside &= (b - a)[0] * (y - a[1]) - (b - a)[1] * (x - a[0]) >= 0
    for faces in ([[0, 1, 2]], [[0, 2, 1]]):
        face, _ = raster(p, faces)
        np.testing.assert_array_equal(face == 0, inside)


def test_nearest_wins():
    far = [[0, 0, 1], [64, 0, 1], [0, 48, 1]]
    near = [[0, 0, 2], [30, 0, 2], [0, 30, 2]]
    for points, nearest in ((far + near, 1), (near + far, 0)):
        face, nearness = raster(points, [[0, 1, 2], [3, 4, 5]])
        assert face[3, 3] == nearest and nearness[3, 3] == 2
        assert face[3, 45] == 1 - nearest


def test_camera_frames_all_points(rng):
    x = rng.normal(size=(500, 3)) * [3, 1, 0.5]
    for azimuth, elevation in ((0, 0), (30, 15), (200, -40), (90, 88)):
        p = frame_points(x, 16 / 9, azimuth, elevation).project(x, 1600, 900)[:, :2]
        room = np.minimum(p, [1600, 900] - p).min()
        assert 0 <= room < 90  # some point comes near a border: the cloth fills the picture


def test_antialiasing_makes_edges_soft():
    mesh, x = upright()
    tilted = x + [0.2, 0, 0] * x[:, [1, 0, 0]]
    rough, soft = (
        Renderer(mesh, [x], Style(**SMALL, look="plain", ground=False, samples=n)).image(tilted)
        for n in (1, 3)
    )
    colors = [len(np.unique(image.reshape(-1, 3), axis=0)) for image in (rough, soft)]
    assert colors[1] > 1.5 * colors[0]


def test_strain_is_shown_with_its_scale():
    """10 % along the warp: the scale holds it, and the mean strain is it."""
    mesh, x = upright()
    stretched = x * [1.1, 1, 1]
    np.testing.assert_allclose(largest_strain(mesh, stretched), 10.0, atol=1e-9)
    r = Renderer(mesh, [stretched], Style(**SMALL, look="strain"))
    assert (r.scale.low, r.scale.high, r.scale.unit) == (-10, 10, "%")
    red, green, blue = r.image(stretched)[80:100, 150:170].mean((0, 1))
    assert red > green + 40 and red > blue + 40  # the red end


def test_panels_are_the_pieces_of_the_pattern():
    mesh = weft.join([weft.sheet(3, 3), weft.sheet(3, 3).move((1, 0, 0))]).mesh
    label = material_pieces(mesh)
    assert len(set(label[:8])) == len(set(label[8:])) == 1 and label[0] != label[8]
    # One vertex on a seam with two material coordinates parts its faces, too.
    assert len(set(material_pieces(sewn()))) == 2


def test_marked_faces_are_red():
    mesh, x = upright(5)
    image = Renderer(mesh, [x], Style(**SMALL), marked=np.array([0, 7])).image(x).astype(int)
    red = image[..., 0] > image[..., 1:].max(-1) + 60
    assert 200 < red.sum() < 0.2 * red.size


@pytest.mark.parametrize("look", looks.LOOKS)
def test_every_look_draws(look, tmp_path):
    mesh, x = upright(9)
    x = x + 0.05 * np.sin(9 * x[:, ::-1])
    numbers = x[:, 0] if looks.LOOKS[look].needs_run else None  # in place of those of a run
    image = Renderer(mesh, [x], Style(**SMALL, look=look), loads=numbers).image(x, numbers)
    save_png(tmp_path / "a.png", image)
    with Image.open(tmp_path / "a.png") as opened:
        assert opened.size == (320, 180)
        np.testing.assert_array_equal(np.asarray(opened), image)
    assert image.std() > 5


def test_help_of_commands_names_every_look():
    assert LOOK_NAMES.replace(" or ", ", ").split(", ") == list(looks.LOOKS)


@pytest.mark.parametrize("fps", [30.0, 48.0])
def test_an_animated_webp_lasts_as_long_as_its_run(tmp_path, fps):
    """Its frames last whole milliseconds: 21 for 20.8 would make a second of 48 frames 1.008 s."""
    x = np.zeros((8, 8, 3), dtype=np.uint8)
    save_webp(tmp_path / "a.webp", (x + np.uint8(5 * k) for k in range(int(fps))), fps=fps)
    total = 0
    with Image.open(tmp_path / "a.webp") as opened:
        for k in range(opened.n_frames):
            opened.seek(k)
            opened.load()
            total += opened.info["duration"]
    assert total == 1000


def test_run_render(tmp_path):
    scene = weft.Scene(weft.sheet(6, 6))
    run = weft.simulate(scene, frames=2, out=tmp_path / "run", progress=False)
    style, done = Style(**SMALL), []
    run.render(tmp_path / "a.webp", style=style, on_frame=lambda k, n: done.append((k, n)))
    assert done == [(1, 3), (2, 3), (3, 3)]
    with Image.open(tmp_path / "a.webp") as opened:
        assert opened.n_frames == 3 and opened.is_animated
    with refused(RunError, "picture", got=".gif", expected=".png, .mp4, .webp"):
        run.render(tmp_path / "a.gif")
    with refused(WeftError, "look", got="'strian'", hint="'strain'"):
        run.render(tmp_path / "a.png", look="strian")


def test_scale_is_round():
    assert looks.nice_limit(np.array([0.0])) == 1.0
    assert looks.nice_limit(np.linspace(-3.4, 1, 1000)) == 5.0
    assert looks.nice_limit(np.full(10, 0.002)) == 0.002
