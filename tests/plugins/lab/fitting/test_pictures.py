"""Cloth and disk in pictures of known shapes; outlines that do not depend on how they lie; what is
wrong with pictures and polygons, by name.
"""

import warnings

import numpy as np
import pytest

from tests.plugins.lab.fitting.drawn import BLUE, GRAY, GROUND, STAR_AREA, drawn, saved, star
from tests.refusals import refused
from weft.base.errors import PictureError
from weft.discretization.polygon import signed_area, unit_vectors
from weft.plugins.lab.fitting.drape import DrapeSettings, build_drape
from weft.plugins.lab.fitting.drape_equilibrium import Eye
from weft.plugins.lab.fitting.edges import trace_outline
from weft.plugins.lab.fitting.outline import (
    RadialOutline,
    radial_outline,
)
from weft.plugins.lab.fitting.photograph import (
    check_polygon,
    detect_disk,
    measure_outline,
    read_polygon,
)
from weft.plugins.lab.fitting.picture import LEAST, segment_cloth
from weft.plugins.lab.laboratory.cusick import DISK, SPECIMEN
from weft.plugins.lab.laboratory.shadow import ray_angles

CENTER = (212.3, 205.8)


def area_of(cloth):
    return abs(signed_area(trace_outline(cloth.edge, cloth.mask)))


@pytest.mark.parametrize(
    "look",
    [
        {},
        {"shaded": 0.4},
        {"noise": 0.01},
        {"shadow": True, "shaded": 0.3},
        {"colors": ((40, 40, 40), (235, 232, 225), GRAY)},
        {"colors": (GROUND, (120,) * 3, GRAY)},
        {"noise": 0.05},
    ],
    ids=["plain", "shaded", "noise", "shadow", "white on black", "gray on gray", "loud"],
)
def test_area_to_a_fraction_of_a_pixel(look, tmp_path):
    """Within 0.2 % (half of a tenth of a pixel) of the closed form; counted pixels of a mask are
    as good as they can be here, a radius read to a pixel would be off by 1 %. Nothing is in doubt.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cloth = segment_cloth(saved(tmp_path / "star.png", drawn(**look)))
    assert cloth.doubt < 1e-3 and cloth.mask.sum() == pytest.approx(STAR_AREA, rel=5e-3)
    assert area_of(cloth) == pytest.approx(STAR_AREA, rel=2e-3)
    disk = detect_disk(cloth)
    assert (disk.column, disk.row) == pytest.approx(CENTER, abs=0.1)
    assert disk.radius == pytest.approx(115.0, abs=0.15)


BEIGE, STEEL = (150, 130, 110), (110, 120, 140)  # nearly the hue of the gray behind them


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("color, shaded", [(BEIGE, 0.3), (BEIGE, 0.8), (STEEL, 0.6)])
def test_shaded_cloth_that_is_taken_for_background_is_told(tmp_path, color, shaded, noise):
    """Up to 42 % of the area is lost; what is in doubt covers it, within a twentieth of the cloth,
    a mask is asked for, and the standard deviations of the drape are as much wider.
    """
    look = {"colors": (GROUND, color, (60, 160, 60)), "shaded": shaded, "noise": noise}
    path = saved(tmp_path / "star.png", drawn(**look, shadow=True))
    with pytest.warns(UserWarning, match="star.png: shaded or noisy cloth.*`mask: FILE`"):
        cloth = segment_cloth(path)
    area = cloth.mask.sum()
    assert area < 0.95 * STAR_AREA
    assert area * (1 + cloth.doubt) == pytest.approx(STAR_AREA, rel=0.05)
    radius = 1.25 * DISK * (1 + 0.1 * np.cos(6 * ray_angles()))
    outlines, eyes = [RadialOutline(radius)], [Eye()]
    settings = DrapeSettings(kind="drape", warp=[0.0])
    plain, wide = (build_drape(settings, outlines, eyes, p) for p in ([], [cloth]))
    assert (wide.sigma > plain.sigma).all()
    lost = cloth.doubt * outlines[0].area / (np.pi * (SPECIMEN**2 - DISK**2))
    assert wide.sigma[0] ** 2 == pytest.approx(plain.sigma[0] ** 2 + lost**2)


def test_mask_and_alpha(tmp_path):
    image = drawn(shadow=True, disk=0)
    white = drawn(disk=0, colors=((0, 0, 0), (255, 255, 255), GRAY))
    path, mask = saved(tmp_path / "p.png", image), saved(tmp_path / "m.png", white)
    alpha = saved(tmp_path / "a.png", np.dstack([image, white[..., 0]]))
    for cloth in (segment_cloth(path, mask), segment_cloth(alpha)):
        assert cloth.doubt == 0
        assert area_of(cloth) == pytest.approx(STAR_AREA, rel=6e-3)  # its gray is not linear
    with refused(PictureError, "mask", expected="420 x 420"):
        segment_cloth(path, saved(tmp_path / "s.png", white[:300]))


def flower(turn=0.0):
    return RadialOutline(0.1 * star(ray_angles(), 1.25, turn))


def moved(turn, shift):
    points = flower(turn).points + shift
    return radial_outline(points, np.roll(points, -1, axis=0))


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.234, 4.0])
@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.013, -0.021)])
def test_numbers_do_not_depend_on_how_it_lies(turn, shift):
    got, expected = moved(turn, np.array(shift)), flower()
    assert got.numbers[:3] == pytest.approx(expected.numbers[:3], rel=2e-3)
    assert got.rotate(-turn).along == pytest.approx(expected.along, rel=2e-2)
    assert got.nodes == expected.nodes == 6
    assert np.sort(got.amplitude)[-3:] == pytest.approx([0.00625, 0.015, 0.125], rel=2e-3)


def test_numbers_in_closed_form():
    o = flower()
    assert o.area == pytest.approx(np.pi * 0.125**2 * (1 + 0.5 * (0.12**2 + 0.05**2)), rel=1e-4)
    assert o.depth == pytest.approx(0.125 * np.sqrt(0.5 * (0.12**2 + 0.05**2)), rel=1e-6)
    assert o.waves == pytest.approx((6 * 0.12**2 + 2 * 0.05**2) / (0.12**2 + 0.05**2), rel=1e-6)
    assert o.along == pytest.approx(0.125 * 0.05, rel=1e-6)
    circle = RadialOutline(np.full(720, 0.12))
    assert (circle.depth, circle.waves) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_disk_belongs_to_the_outline():
    """A square that hangs inside of the disk on two sides: the disk is what is seen there."""
    p = np.array([[-0.15, -0.05], [0.15, -0.05], [0.15, 0.05], [-0.15, 0.05]])
    got = radial_outline(p, np.roll(p, -1, axis=0), 0.09)
    half = np.arcsin(0.05 / 0.09)
    outside = 2 * (2 * (0.15 - 0.09 * np.cos(half)) * 0.05) - 0.09**2 * (
        2 * half - np.sin(2 * half)
    )
    assert got.area == pytest.approx(np.pi * 0.09**2 + outside, rel=2e-3)


def test_scales(tmp_path):
    """From the disk, from a circle that is given, and from pixels: the same."""
    cloth = segment_cloth(saved(tmp_path / "star.png", drawn()))
    found, eye = measure_outline(cloth)
    assert eye.height is None
    assert found.area == pytest.approx(STAR_AREA * (DISK / 115) ** 2, rel=4e-3)
    again, _ = measure_outline(cloth, pixel=DISK / 115)
    assert again.numbers[:3] == pytest.approx(found.numbers[:3], rel=0.02)
    _, eye = measure_outline(cloth, height=0.9)
    lens = np.array([210 - CENTER[0], CENTER[1] - 210]) * DISK / 115
    assert (eye.x, eye.y) == pytest.approx(tuple(lens), abs=1e-4)


def test_perspective():
    """A ring of points 5 cm below the disk is seen smaller, about the lens."""
    x = np.array([[0.1, -0.05, 0.0], [0.0, -0.05, -0.1], [0.1, 0.0, 0.0]])
    flat = Eye(0.95, 0.02, 0.0).flat(x)
    assert flat == pytest.approx(
        np.array([[0.02 + 0.08 * 0.95, 0.0], [0.02 - 0.02 * 0.95, 0.095], [0.1, 0.0]])
    )
    assert Eye().flat(x) == pytest.approx(np.array([[0.1, 0.0], [0.0, 0.1], [0.1, 0.0]]))


def bare(color, size=200):
    return np.broadcast_to(np.array(color, np.uint8), (size, size, 3)).copy()


def two_pieces():
    image = bare(GROUND)
    image[20:80, 20:80], image[120:180, 120:180] = BLUE, BLUE
    return image


def cut():
    image = bare(GROUND)
    image[60:140, 120:] = BLUE
    return image


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (bare(GROUND), ("cloth in the picture", "none")),
        (two_pieces(), ("cloth in the picture", "2")),
        (cut(), ("cloth in the picture", "border")),
        (bare(GROUND, LEAST - 1), ("picture", "64")),
        (bare(GROUND, 1), ("picture", "64")),
    ],
    ids=["empty", "two", "cut", "small", "a pixel"],
)
def test_no_cloth(image, said, tmp_path):
    with refused(PictureError, said):
        segment_cloth(saved(tmp_path / "p.png", image))


@pytest.mark.parametrize("left", [0, 2000])
@pytest.mark.parametrize("kind", ["png", "jpg"])
def test_cut_short(kind, left, tmp_path):
    """A download that broke off."""
    path = saved(tmp_path / f"p.{kind}", drawn())
    path.write_bytes(path.read_bytes()[:left])
    with refused(PictureError, "picture"):
        segment_cloth(path)


def test_dust_and_holes(tmp_path):
    image = bare(GROUND, 300)
    image[50:250, 50:250] = BLUE
    image[100:120, 100:120] = GROUND
    image[10:13, 10:13] = BLUE
    cloth = segment_cloth(saved(tmp_path / "p.png", image))
    assert cloth.mask.sum() == 200 * 200


def square_disk():
    image = drawn(disk=0.0).copy()
    image[120:290, 130:300] = GRAY
    return image


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (drawn(disk=40.0), ""),
        (drawn(colors=(GROUND, BLUE, BLUE)), ""),
        (square_disk(), "differs from a circle"),
    ],
    ids=["a coin", "of the cloth's color", "square"],
)
def test_no_disk(image, said, tmp_path):
    cloth = segment_cloth(saved(tmp_path / "p.png", image))
    with refused(PictureError, "disk in the picture", got=said):
        measure_outline(cloth)


def corners(count=200, scale=1.0):
    angle = 2 * np.pi * np.arange(count) / count
    return scale * 0.1 * star(angle, 1.25)[:, None] * unit_vectors(angle)


def written(path, points, head="x [m],y [m]"):
    rows = [f"{x!r},{y!r}" for x, y in points.tolist()]
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_polygon(tmp_path):
    """In any unit, from any origin, closed by a last corner or not, in either sense."""
    expected = flower().numbers[:3]
    for points, head in (
        (corners(), "x [m],y [m]"),
        (np.concatenate([corners(), corners()[:1]]), "x [m],y [m]"),
        (1e3 * corners()[::-1] + 400, "x [mm],y [mm]"),
        (np.column_stack([100 * corners()]), "X (cm),Y (cm)"),
    ):
        got = read_polygon(written(tmp_path / "p.csv", points, head))
        assert got.numbers[:3] == pytest.approx(expected, rel=3e-3)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (corners(12), ("outline", "12")),
        (corners()[:120], ("outline", "last corner")),
        (corners()[[*range(50), *range(80, 49, -1), *range(81, 200)]], ("outline", "cross")),
        (corners(scale=10), "draped specimen"),
    ],
    ids=["few", "open", "crossing", "meters"],
)
def test_no_outline(points, said):
    with refused(PictureError, said):
        check_polygon(points, "p.csv")
