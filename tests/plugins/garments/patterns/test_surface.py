"""Surfaces of patterns: prints in panel coordinates, stitches, and what is refused."""

import numpy as np
import pytest
from PIL import Image

from tests.plugins.garments.builders import changed
from tests.refusals import refused
from weft.base.errors import WeftError
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.panel_appearance import panel_appearances

PATTERN = """
surface: {image: print.png, repeat: 6 cm, back: navy}
hems: {left.top: 1 cm}
panels:
  left:
    surface: SURFACE
    outline:
      - {at: [0, 0], edge: hem}
      - {at: [30 cm, 0], edge: side}
      - {at: [30 cm, 40 cm], edge: top}
      - {at: [0, 40 cm], edge: middle}
  right: {mirror: left}
seams:
  middle: {join: [left.middle, right.middle], topstitch: 5 mm}
"""


def garment(folder, surface="{}", pattern=PATTERN):
    Image.new("RGB", (30, 60), "white").save(folder / "print.png")
    (folder / "coat.yaml").write_text(pattern.replace("SURFACE", surface))
    return cut(read_pattern(folder / "coat.yaml"), 0.05)


def coordinates(made, panel):
    """Return places on paper (n,2) [m] of a panel's corners of triangles, and in the image."""
    look, own = panel_appearances(made)[panel], made.faces[panel]
    faces = slice(own.start, own.stop)
    st = look.image_coordinates(made.mesh.corner_uv[faces])
    return made.flat[made.mesh.faces[faces]].reshape(-1, 2), st.reshape(-1, 2)


def test_the_print_follows_the_panel(tmp_path):
    """Without more said, s and t are x and y over the repeat, of mirrored panels too: one cloth."""
    made = garment(tmp_path)
    for panel in ("left", "right"):
        on_paper, st = coordinates(made, panel)
        np.testing.assert_allclose(st, on_paper / [0.06, 0.12], atol=1e-12)
    assert panel_appearances(made)["left"].back == "000080"


@pytest.mark.parametrize("grain", [90, 30])
def test_rotation_is_from_the_grain_and_the_offset_on_the_panel(tmp_path, grain):
    surface = "{rotation: 20 deg, offset: [5 cm, 3 cm], repeat: [4 cm, 8 cm]}\n    grain: G deg"
    on_paper, st = coordinates(garment(tmp_path, surface.replace("G", str(grain))), "left")
    turn = np.radians(grain - 90 + 20)  # of the image's right side from the panel's x
    c, s = np.cos(turn), np.sin(turn)
    from_corner = on_paper - [0.05, 0.03]
    expected = from_corner @ np.array([[c, -s], [s, c]]) / [0.04, 0.08]
    np.testing.assert_allclose(st, expected, atol=1e-12)


def test_stitches_keep_their_distance_from_edges(tmp_path):
    made = garment(tmp_path)
    own = made.faces["left"]
    faces = slice(own.start, own.stop)
    fit = np.column_stack([made.mesh.corner_uv[faces].reshape(-1, 2), np.ones(3 * len(own))])
    back = np.linalg.lstsq(fit, coordinates(made, "left")[0], rcond=None)[0]
    look = panel_appearances(made)["left"]
    seam, top, hem = (np.column_stack([np.array(s), np.ones(len(s))]) @ back for s in look.stitches)
    np.testing.assert_allclose(seam[:, 0], 0.005, atol=2e-6)
    np.testing.assert_allclose(top[:, 1], 0.39, atol=2e-6)
    np.testing.assert_allclose(hem[:, 1], 0.02, atol=2e-6)
    assert len(panel_appearances(made)["right"].stitches) == 1  # the hem: topstitches have one side
    dashes = look.dashes()
    np.testing.assert_allclose(np.linalg.norm(dashes[:, 1] - dashes[:, 0], axis=1), 0.004, 1e-3)


@pytest.mark.parametrize(
    "surface, what",
    [
        ("{image: coat.yaml, repeat: 2 cm}", ("image", "coat.yaml")),
        ("{image: prnt.png, repeat: 2 cm}", ("image", "print.png")),
        ("{image: cut.png, repeat: 2 cm}", ("image", "cut.png")),
        ("{image: deep.png, repeat: 2 cm}", ("image", "8 bits")),
        ("{image: new.webp, repeat: 2 cm}", ("image", "WEBP")),
        ("{image: print.png}", "repeat"),
        ("{image: print.png, repeat: 0 cm}", "repeat"),
        ("{color: nocolor}", ("color", "nocolor")),
    ],
)
def test_bad_surfaces_are_named_with_their_line(tmp_path, surface, what):
    Image.effect_noise((60, 60), 50).save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:1000])
    Image.new("I;16", (8, 8)).save(tmp_path / "deep.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "new.webp")
    with refused(WeftError, what, where="coat.yaml:6"):
        garment(tmp_path, surface)


@pytest.mark.parametrize(
    "old, new, what",
    [
        ("topstitch: 5 mm", "topstitch: -5 mm", "topstitch"),
        ("left.top: 1 cm", "left.top: -1 cm", "left.top"),
        ("left.top", "left.tip", "hems.left.tip"),
    ],
)
def test_bad_stitches_are_refused(tmp_path, old, new, what):
    with refused(WeftError, what, where="coat.yaml"):
        garment(tmp_path, pattern=changed(PATTERN, old, new))
