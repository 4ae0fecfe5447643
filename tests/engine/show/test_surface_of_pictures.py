"""Smooth and thick cloth, yarns, alpha and cameras that move, against closed forms."""

import numpy as np
import pytest
from PIL import Image

import weft
from tests.engine.show.pictures import SMALL, sewn, upright
from tests.refusals import refused
from weft.base.errors import RunError, WeftError
from weft.bodies.shapes.primitives import sphere
from weft.contact.exact.intersections import intersections
from weft.discretization.mesh import grid
from weft.show.picture.camera import CameraPath, read_keys, turntable
from weft.show.picture.drawing import Drawing, Shell
from weft.show.picture.loop_subdivision import LoopSubdivision
from weft.show.picture.renderer import Renderer, save_webp
from weft.show.picture.style import Style
from weft.show.picture.weave import Weave, WeavePattern

pytestmark = pytest.mark.quick

FRONT = {**SMALL, "azimuth": 0.0, "elevation": 0.0, "ground": False, "look": "plain"}


def test_the_smooth_surface_of_a_sphere_is_nearer_to_it_than_facets():
    coarse = sphere(1.0, 0.6)
    faces, x = coarse.faces, np.array(coarse.vertices)
    fine = LoopSubdivision(faces, np.zeros((len(faces), 3, 2)), len(x), 2)
    smooth = np.abs(np.linalg.norm(fine.positions(x), axis=1) - 1)
    flat = np.stack([fine.values(x[:, i]) for i in range(3)], axis=1)
    facets = np.abs(np.linalg.norm(flat, axis=1) - 1)
    assert smooth.mean() < 0.35 * facets.mean() and smooth.max() < 0.55 * facets.max()
    # It passes where the vertices are.
    assert smooth[: len(x)].max() < 0.1 * facets.max()


def test_smooth_keeps_planes_corners_borders_and_the_material():
    mesh = grid(6, 5, 1.0, 0.8)
    fine = LoopSubdivision(mesh.faces, mesh.corner_uv, mesh.n_vertices, 2)
    x = fine.positions(np.array(mesh.vertices))
    assert len(fine.faces) == 16 * len(mesh.faces) and fine.n_fine == len(x)
    np.testing.assert_allclose(x[:, 1], 0, atol=1e-12)
    ends = [mesh.vertices.min(0), mesh.vertices.max(0)]
    np.testing.assert_allclose([x.min(0), x.max(0)], ends, atol=2e-3)
    corners = [0, 5, 24, 29]
    np.testing.assert_allclose(x[corners], mesh.vertices[corners], atol=1e-12)
    # The sheet is its own material: lines of it stay where they are.
    np.testing.assert_allclose(np.ptp(fine.uv[..., 0] - x[fine.faces, 0]), 0, atol=1e-9)
    (a, b), (c, d) = np.diff(fine.uv, axis=1).transpose(1, 2, 0)
    assert np.abs(a * d - b * c).sum() / 2 == pytest.approx(0.8, rel=1e-3)
    np.testing.assert_array_equal(np.bincount(fine.parent), 16)


@pytest.mark.parametrize("smooth", [0, 2])
def test_cloth_has_a_kink_at_a_sharp_edge(smooth):
    """A sheet folded by 90 degrees lies in two planes, and each side has its own normal."""
    mesh = grid(5, 4, 1.0, 0.8)
    x = np.array(mesh.vertices)
    edges = mesh.hinges[:, :2]
    sharp = edges[(np.abs(x[edges, 0]) < 1e-9).all(axis=1)]
    x[:, :2] = np.where(x[:, :1] > 0, x[:, 1::-1], x[:, :2])
    drawing = Drawing(mesh, len(mesh.faces), len(x), smooth, None, sharp)
    there, normal = drawing.at(x)
    assert np.abs(there[:, :2]).min(axis=1).max() < 1e-12
    assert np.abs(normal).max(axis=1).min() > 1 - 1e-9
    assert len(drawing.values(x[:, 0])) == len(there)
    one, two = there[drawing.faces].mean(axis=1)[:, :2].T
    flat = np.where(np.abs(one) > np.abs(two), 1, 0)
    assert (np.abs(normal[drawing.faces]).argmax(axis=2) == flat[:, None]).all()


def test_a_thick_sheet_has_its_volume_and_a_round_rim():
    """Volume of a square of side a and thickness t with half-octagonal rims, by Gauss's theorem."""
    mesh = grid(9, 9, 1.0, 1.0)
    n, t = mesh.n_vertices, 0.04
    shell = Shell(mesh.faces, mesh.corner_uv, n)
    up = np.tile([0.0, 1.0, 0.0], (n, 1))  # as the faces of a grid look
    x, normal = shell.around(np.array(mesh.vertices), up, t)
    faces = np.array(shell.faces)
    m = len(mesh.faces)
    faces[m : 2 * m] = faces[m : 2 * m, ::-1]  # backs are wound as fronts are
    a, b, c = (x[faces[:, i]] for i in range(3))
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    half_octagon = 0.5 * 8 * 0.5 * (t / 2) ** 2 * np.sin(np.pi / 4)
    assert volume == pytest.approx(t + 4 * half_octagon, rel=2e-3)  # corners are cut
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(np.abs(x[: 2 * n, 1]), t / 2, atol=1e-12)
    edges = np.sort(np.stack([faces, np.roll(faces, -1, 1)], 2).reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()  # closed


def drawn(x, mesh, **style):
    """A renderer of a sheet, its picture, and the box (left, top, right, low) of it [pixels]."""
    r = Renderer(mesh, [x], Style(**{**FRONT, **style}))
    p = r.camera.project(x, r.style.width, r.style.height)[:, :2]
    return r.image(x), (*p.min(0), *p.max(0))


def test_yarns_are_counted_per_cm():
    """The strongest frequency of brightness across the yarns, of a sheet of 10 cm seen from the
    front, is that of a pair of yarns, or of one.
    """
    mesh, x = upright(5, 0.1)
    ends, picks = 4, 2.5  # pairs per cm
    weave = Weave(WeavePattern.PLAIN, 100 * ends, 100 * picks)
    image, (left, top, right, low) = drawn(x, mesh, width=1200, height=1200, weave=weave)
    lines = image[int(top) + 20 : int(low) - 20, int(left) + 20 : int(right) - 20, 0].astype(float)
    u_goes_right = np.ptp(mesh.corner_uv[:, :, 0]) > 0
    for axis, length in ((0, low - top), (1, right - left)):
        spectrum = np.abs(np.fft.rfft(lines - lines.mean(axis=axis, keepdims=True), axis=axis))
        power = (spectrum**2).sum(axis=1 - axis)
        size = 10.0 * lines.shape[axis] / length
        count = ends if (axis == 0) == u_goes_right else picks
        frequency = np.argmax(power[2:]) + 2
        off = min(abs(frequency / size - count), abs(frequency / size - count / 2))
        assert off < 1.01 / size


@pytest.mark.parametrize("azimuth", [0.0, 180.0])
def test_alpha_is_coverage(tmp_path, azimuth):
    mesh, x = upright()
    image, (left, top, right, low) = drawn(x, mesh, transparent=True, azimuth=azimuth)
    assert image.shape == (180, 320, 4)
    assert (image[int(top) + 2 : int(low) - 2, int(left) + 2 : int(right) - 2, 3] == 255).all()
    outside = np.ones((180, 320), dtype=bool)
    outside[int(top) - 1 : int(low) + 2, int(left) - 1 : int(right) + 2] = False
    assert (image[..., 3][outside] == 0).all()
    area = image[..., 3].astype(float).sum() / 255
    assert area == pytest.approx((right - left) * (low - top), rel=5e-3)
    save_webp(tmp_path / "a.webp", [image, image[:, ::-1]], 25)
    with Image.open(tmp_path / "a.webp") as opened:
        got = np.asarray(opened.convert("RGBA"))
    assert got[90, 160, 3] == 255 and got[5, 5, 3] == 0
    # Laid over the backdrop, it is the opaque picture (where colors are not mixed).
    opaque, _ = drawn(x, mesh, azimuth=azimuth)
    whole = image[..., 3] == 255
    np.testing.assert_array_equal(image[whole][:, :3], opaque[whole])


@pytest.mark.parametrize("soft", [False, True])
def test_the_shadow_on_the_ground_below_is_black_with_alpha(soft):
    mesh = grid(15, 15, 1, 1)
    x, low = np.array(mesh.vertices) + [0, 0.6, 0], np.array(mesh.vertices) * 0.01
    style = Style(**SMALL, elevation=25.0, transparent=True, soft=soft)
    image = Renderer(mesh, [x, low], style).image(x).astype(int)
    shade = (image[..., 3] > 0) & (image[..., 3] < 200) & (image[..., :3].max(-1) == 0)
    assert shade.sum() > 300 and np.flatnonzero(shade.any(1)).mean() > 90


def test_a_turntable_sees_everything_from_everywhere(rng):
    x = rng.normal(size=(300, 3)) * [2, 1, 0.3]
    way = CameraPath(turntable(36, 10.0, 12.0, 360.0), x, 16 / 9)
    for k in range(36):
        camera = way.camera(k)
        assert np.linalg.norm(camera.eye - way.target) == pytest.approx(way.far, rel=1e-9)
        p = camera.project(x, 1600, 900)[:, :2]
        assert (p >= 0).all() and (p <= [1600, 900]).all()
        right, _, back = camera.axes
        angle = np.radians(10 + 10 * k)
        there = back[[0, 2]] / np.hypot(back[0], back[2])
        np.testing.assert_allclose(there, [np.sin(angle), np.cos(angle)], atol=1e-12)
        assert right[1] == pytest.approx(0)


def test_keys_are_met_and_never_overshot():
    keys = read_keys("0:30,15 20:90,15,0.5 30:90,60")
    way = CameraPath(keys, np.eye(3), 1.0)
    far = [np.linalg.norm(way.camera(f).eye - way.target) / way.far for f in range(-2, 40)]
    assert far[2] == far[0] == pytest.approx(1) and far[22] == pytest.approx(0.5)
    assert min(far) >= 0.5 - 1e-9 and max(far) <= 1 + 1e-9
    assert way.camera(30).axes[2][1] == pytest.approx(np.sin(np.radians(60)))


def test_a_weave_is_read():
    assert Weave.read("twill:24x18") == Weave(WeavePattern.TWILL, 2400.0, 1800.0)


@pytest.mark.parametrize(
    "read, text, what",
    [
        (read_keys, "0:1,2", "camera"),
        (read_keys, "5:1,2 4:3,4", "camera"),
        (read_keys, "a:1,2 3:4,5", "camera"),
        (read_keys, "0:1,99 3:1,1", "camera"),
        (Weave.read, "plain:x", "weave"),
        (Weave.read, "satin:20", "weave"),
        (Weave.read, "plain:0", "yarns per cm"),
    ],
)
def test_bad_choices_are_named(read, text, what):
    with refused(WeftError, what):
        read(text)


@pytest.mark.parametrize(
    "wrong", [{"width": 3}, {"smooth": 4}, {"thickness": 0.0}, {"distance": 0.0}, {"samples": 5}]
)
def test_styles_that_cannot_be(wrong):
    with pytest.raises(WeftError):
        Style(**wrong)


@pytest.mark.parametrize("cloth", [weft.sheet(6, 6), weft.spline_sheet(5, 5)])
def test_a_run_with_everything(cloth, tmp_path):
    run = weft.simulate(weft.Scene(cloth), frames=2, out=tmp_path / "run", progress=False)
    style = Style(
        **SMALL,
        soft=True,
        smooth=1,
        thickness=4e-3,
        weave=Weave(),
        transparent=True,
        motion=turntable(3, 0, 20, 90),
    )
    first, again = (
        run.render(tmp_path / f"{name}.png", style=style, look="panels").read_bytes()
        for name in "ab"
    )
    assert first == again
    with refused(RunError, "picture", got=".mp4", expected="alpha"):
        run.render(tmp_path / "a.mp4", style=style)


def test_seams_stay_whole():
    """A vertex with two material coordinates: the surface stays one, the material two."""
    mesh = sewn()
    fine = LoopSubdivision(mesh.faces, mesh.corner_uv, 4, 1)
    assert fine.n_fine == 9
    split = fine.uv[..., 0] > 2
    assert (split.all(axis=1) | ~split.any(axis=1)).all()


def test_a_smooth_surface_does_not_pass_through_itself():
    """Two layers closer to one another than a crease rounds off."""
    mesh = grid(13, 3, 1.2, 0.2)
    x = np.array(mesh.vertices)
    along = x[:, 0] - x[:, 0].min()
    turn = np.array([0, 1, 2, 3, 3.02, 3.04, 4, 5, 6, 7, 8, 9, 10])
    k = np.round(along / 0.1).astype(int)
    x = np.stack([0.1 * turn[k], np.where(k == 4, 0.09, 0), x[:, 2]], axis=1)
    assert len(intersections(x, mesh.faces)) == 0
    fine = LoopSubdivision(mesh.faces, mesh.corner_uv, len(x), 2)
    assert len(intersections(fine.positions(x), fine.faces)) > 0
    drawing = Drawing(mesh, len(mesh.faces), len(x), 2, None)
    shown, _ = drawing.at(x)
    assert len(intersections(shown, drawing.faces)) == 0
