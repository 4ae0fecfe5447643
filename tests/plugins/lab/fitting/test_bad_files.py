"""Files as people have them: pictures of any depth, turned, huge or broken; tables of any country.
Each is read right, or refused by name.
"""

import numpy as np
import pytest
from PIL import Image

from tests.plugins.lab.fitting.drawn import BLUE, GRAY, GROUND, STAR_AREA, drawn, saved
from tests.plugins.lab.fitting.files import fit_file
from tests.refusals import refused
from weft.base.errors import PictureError, WeftError
from weft.plugins.lab.fitting import picture
from weft.plugins.lab.fitting.file import read_fit
from weft.plugins.lab.fitting.photograph import Disk, measure_outline
from weft.plugins.lab.fitting.picture import load_picture, segment_cloth
from weft.plugins.lab.fitting.table import read_table

CENTER = (212.3, 205.8)
NUMBERS = slice(0, 3)  # of an outline: those that do not depend on how it lies
ORIENTATION = 0x0112  # in EXIF
# What each EXIF orientation says was done to a picture before it was saved (EXIF 2.32, 4.6.4 A).
TURNED = {3: 2, 6: 1, 8: 3}  # quarters of a turn, counter-clockwise


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """What is in a plain picture."""
    path = saved(tmp_path_factory.mktemp("p") / "p.png", drawn())
    return measure_outline(segment_cloth(path))[0]


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_rotated(quarters, straight, tmp_path):
    """A photograph that lies on its side says the same, and how its warp lies has turned along."""
    path = saved(tmp_path / "r.png", np.rot90(drawn(), quarters))
    got, _ = measure_outline(segment_cloth(path))
    assert got.numbers[NUMBERS] == pytest.approx(straight.numbers[NUMBERS], rel=1e-3)
    back = got.rotate(-quarters * np.pi / 2)
    assert back.radius == pytest.approx(straight.radius, abs=3e-4)
    assert back.along == pytest.approx(straight.along, abs=2e-5)


@pytest.mark.parametrize("orientation", TURNED)
def test_exif(orientation, tmp_path):
    """A camera held sideways: the picture is as viewers show it."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    stored = Image.fromarray(np.ascontiguousarray(np.rot90(drawn(), TURNED[orientation])))
    stored.save(tmp_path / "e.jpg", exif=exif, quality=95)
    upright, _ = load_picture(saved(tmp_path / "p.png", drawn()))
    assert np.abs(load_picture(tmp_path / "e.jpg")[0] - upright).mean() < 0.02


def test_sixteen_bits(straight, tmp_path):
    """Gray of 16 bits, which Pillow would clip to white, and a mask of it."""
    gray = drawn(colors=(GROUND, (90, 90, 90), GRAY))[..., 0]
    one = saved(tmp_path / "g8.png", gray)
    two = saved(tmp_path / "g16.png", gray.astype(np.uint16) * 257)
    assert np.array_equal(load_picture(one)[0], load_picture(two)[0])
    got, _ = measure_outline(segment_cloth(two))
    assert got.area == pytest.approx(straight.area, rel=5e-3)
    white = drawn(disk=0, colors=((0, 0, 0), (255, 255, 255), GRAY))[..., 0] > 99
    mask = saved(tmp_path / "mask.png", white.astype(np.uint16) * 65535)
    cloth = segment_cloth(saved(tmp_path / "p.png", drawn()), mask)
    assert cloth.mask.sum() == pytest.approx(STAR_AREA, rel=6e-3)


@pytest.mark.parametrize("mode", ["RGBA", "P", "CMYK", "LA"])
def test_modes(mode, straight, tmp_path):
    """As a program saved it: with an alpha channel that says nothing, a palette, inks, gray."""
    colors = ((40, 40, 40), (235, 232, 225), GRAY) if mode == "LA" else (GROUND, BLUE, GRAY)
    image = Image.fromarray(drawn(colors=colors)).convert(mode)
    path = tmp_path / ("p.tiff" if mode == "CMYK" else "p.png")
    image.save(path)
    got, _ = measure_outline(segment_cloth(path))
    assert got.area == pytest.approx(straight.area, rel=2e-2)


def test_huge(monkeypatch, straight, tmp_path):
    """Larger than enough: reduced by a whole number; what is said in its pixels holds."""
    path = saved(tmp_path / "p.png", drawn())
    monkeypatch.setattr(picture, "ENOUGH", 210)
    cloth = segment_cloth(path)
    assert cloth.reduced == 2 and cloth.mask.shape == (210, 210)
    for scale in ({}, {"disk": Disk(*CENTER, 115.0)}, {"pixel": 0.09 / 115}):
        got, _ = measure_outline(cloth, **scale)
        assert got.coefficient == pytest.approx(straight.coefficient, abs=0.01)
    monkeypatch.setattr("weft.io.images.IMAGE_PIXELS", 100_000)
    with refused(PictureError, "picture", got="420 x 420"):
        segment_cloth(path)


def test_two_disks_on_the_cloth(straight, tmp_path):
    """One of them is in the middle; the other, on a fold, is cloth."""
    image = drawn().copy()
    row, column = np.indices(image.shape[:2])
    image[np.hypot(row - CENTER[1], column - CENTER[0] - 132) < 12] = GRAY
    got, _ = measure_outline(segment_cloth(saved(tmp_path / "p.png", image)))
    assert got.area == pytest.approx(straight.area, rel=5e-3)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("picture: [a.png, folder]", ("measurements.0.picture", "folder")),
        ("picture: []", ("measurements.0.picture", "0")),
        ("picture: [a.png, a.png]", ("measurements.0.picture", "a.png")),
        ('picture: "a\\0b.png"', ("YAML", "character")),
        ("picture: [a.png, b.png], mask: a.png", ("measurements.0.mask", "1 files", "2")),
        ("picture: [a.png, b.png], disk: [210, 205, 115]", ("measurements.0.disk", "2 pictures")),
        ("picture: a.png, disk: [212, 206, 0.115]", "draped specimen"),
        ("picture: a.png, camera: 900 m", ("measurements.0.camera", "'900 m'", "20")),
        ("picture: a.png, pixel: 0.8 m", "draped specimen"),
        ("picture: [a.png, b.png], warp: [1 deg, 2 deg, 3 deg]", ("measurements.0.warp", "3", "2")),
        ("picture: none.png", ("measurements.0.picture", "none.png")),
        ("seed: 1", "measurements.0"),
        ("picture: a.png, outline: p.csv", "measurements.0"),
        ("picture: a.png, pixel: 0.4 mm, disk: [1, 2, 3]", "measurements.0.pixel"),
        ("picture: a.png, mask: q.png", ("measurements.0.mask", "q.png")),
        ("picture: plain.png", "disk in the picture"),
    ],
)
def test_bad_blocks(block, said, tmp_path):
    """Each says what is wrong, and in which line."""
    saved(tmp_path / "a.png", drawn())
    saved(tmp_path / "plain.png", drawn(disk=0))
    saved(tmp_path / "b.png", drawn(shaded=0.2))
    (tmp_path / "folder").mkdir()
    with refused(WeftError, said) as caught:
        read_fit(fit_file(tmp_path, f"kind: drape, size: 15 mm, {block}"))
    assert "fit.yaml" in str(caught.value) or "png" in str(caught.value)


def test_several_pictures(tmp_path):
    """Their means count, and their scatter; where warp lies in each is taken away."""
    images = {"a": drawn(), "b": np.rot90(drawn(noise=0.01))}
    for name, image in images.items():
        saved(tmp_path / f"{name}.png", np.ascontiguousarray(image))
    block = (
        "kind: drape, picture: [a.png, b.png], warp: [10 deg, 100 deg], camera: 1 m, size: 15 mm"
    )
    (one,) = read_fit(fit_file(tmp_path, block)).measurements
    a, b = one.seen
    assert a.radius == pytest.approx(b.radius, abs=1e-3)
    assert (one.eyes[0].x, one.eyes[0].y) == pytest.approx((one.eyes[1].x, one.eyes[1].y), abs=2e-4)
    assert one.numbers == pytest.approx(0.5 * (a.numbers + b.numbers))
    assert one.following.count == 4
    # Two alike: the usual scatter counts for two more, of 1/2 + 1/4 of its square.
    assert one.sigma[0] == pytest.approx(0.02 * np.sqrt(2 / 3 * 0.75), rel=0.01)


TABLES = {
    "strain [%],force [gf/cm]\n0.5,20\n1,40\n": None,
    "\ufeffstrain [%],force [gf/cm]\r\n0.5,20\r\n1,40\r\n": None,
    "strain [%];force [gf/cm]\n0,5;20\n1;40,0\n": None,
    "strain [%]\tforce [gf/cm]\n0,5\t20\n1\t40\n": None,
    '"strain [%]","force [gf/cm]"\n"0.5","20"\n"1","40"\n': None,
    "strain [%],force [gf/cm]\n0,5,20\n": ("table", "3"),
    "strain [%];force [gf/cm]\n0,5;1.234,5\n": ("table", "'1.234,5'"),
    "strain [%],force [gf/cm]\n1,40\n2,nan\n": ("table", "'nan'", "t.csv:3"),
    "strain [%],force [gf/cm]\n0.5,1_000\n": ("table", "'1_000'"),
    "strain [%],force [gf/cm]\n0.5,\n": ("table", "''"),
    "strain [%],force [gf/cm]\n": ("table", "1"),
    "": ("table", "0"),
    "strain [%],force [gf/cm]\n0.5,20\n1,8\n": "tensile warp: force",
    "strain [%],force [gf/cm]\n1,20\n0.5,40\n": ("tensile warp: strain", "t.csv:3"),
    "cut,strain [%],force [N/m]\nweft,1,40\n": "measurements.0.file",
    "strain [%],force [gf/cm]\n-0.5,20\n": "tensile warp: strain",
    "strain [%],force [kgf/mm]\n0.5,20\n1,40\n": "stretch_warp",
    "strain [%],force [N/m]\n0.5,1e30\n": ("column 'force'", "t.csv:2"),
    "strain [%],force\n0.5,20\n": ("column 'force'", "no unit", "t.csv:1"),
    "strain [mm],force [gf/cm]\n0.5,20\n": "unit",
    "strain [%],load [N/m]\n0.5,20\n": ("table", "force [N/m]"),
}


@pytest.mark.parametrize("text", TABLES, ids=lambda t: ascii(t)[:40])
def test_tables(text, tmp_path):
    """Commas, semicolons or tabs; marks of UTF-8; empty lines; numbers that are none; curves that
    fall; a unit a thousand times off.
    """
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    path = fit_file(tmp_path, "kind: tensile, cut: warp, file: t.csv")
    if TABLES[text] is None:
        (one,) = read_fit(path).measurements
        assert one.strain == pytest.approx([0.005, 0.01])
        assert one.data == pytest.approx(np.array([20, 40]) * 0.980665)
        return
    with refused(WeftError, TABLES[text]):
        read_fit(path)


def test_encodings(tmp_path):
    """Excel's 'Unicode text' is UTF-16 with tabs."""
    path = tmp_path / "t.txt"
    path.write_text("time [s]\tx [mm]\n0,5\t20\n", encoding="utf-16")
    table = read_table(path, PictureError)
    assert [table.column("time", "s"), table.column("x", "m")] == [[0.5], [0.02]]
    path.write_bytes("time [s],x [\xb5m]\n0.5,20\n".encode("latin-1"))
    with refused(PictureError, "table", got="UTF-8"):
        read_table(path, PictureError)
