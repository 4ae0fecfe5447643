"""Patterns drawn flat: nothing overlaps, seams have one color on both sides, wrong ones too."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.plugins.garments.patterns.patterns import disc, panel, rectangle, seam, tube
from tests.refusals import refused
from weft.base.errors import RunError
from weft.plugins.garments.patterns.check import examine_pattern
from weft.plugins.garments.patterns.pattern import Closing, Elastic, Pattern, PatternFold, SeamSide
from weft.plugins.garments.sheets.layout import arrange, roomiest
from weft.plugins.garments.sheets.pattern_sheet import (
    FABRIC,
    WRONG,
    PatternSheet,
    save_pattern,
    seam_color,
)

pytestmark = pytest.mark.quick


def pixels(image, color):
    return int((np.abs(image.astype(int) - color).max(axis=2) < 12).sum())


def test_boxes_do_not_overlap():
    rng = np.random.default_rng(0)
    outlines = {f"p{i}": rng.uniform(-1, 1, (7, 2)) * rng.uniform(0.05, 1) for i in range(14)}
    places, extent = arrange(outlines, 0.05)
    boxes = [((outlines[n] + places[n]).min(0), (outlines[n] + places[n]).max(0)) for n in outlines]
    for i, (low, high) in enumerate(boxes):
        assert (low >= -1e-12).all() and (high <= extent + 1e-12).all()
        for other_low, other_high in boxes[:i]:
            assert ((low > other_high + 0.049) | (other_low > high + 0.049)).any()


def test_room_of_an_annulus_is_not_in_its_hole():
    t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    circle = np.stack([np.cos(t), np.sin(t)], axis=1)
    point, room = roomiest([circle, 0.5 * circle])
    assert 0.65 < np.linalg.norm(point) < 0.85 and room == pytest.approx(0.25, abs=0.04)


def test_both_sides_of_a_seam_have_its_color():
    """As long a line on the front as on the back, and nowhere else but in the list."""
    sheet = PatternSheet(examine_pattern(tube()))
    image = sheet.image()
    middle = sheet.at("back", np.array([[-0.25, 0.0]]))[0, 0] - 50
    for i in range(2):
        color = seam_color(i)
        left = pixels(image[:, : int(middle)], color)
        right = pixels(image[:, int(middle) : -sheet.list_width], color)
        assert min(left, right) > 500 and 0.4 < left / right < 2.5  # lines may blend with paper
    assert pixels(image, FABRIC) > 2 * 0.5 * 0.6 * sheet.scale**2 * 0.7
    assert len({seam_color(i) for i in range(24)}) == 24


def test_everything_is_drawn(tmp_path):
    base = tube()
    hole = [[0.1, 0.1], [0.2, 0.1], [0.1, 0.2]]
    front = replace(
        base.panels[0],
        holes=[hole],
        lines=[[[0, 0.3], [0.1, 0.3]]],
        folds=[PatternFold(np.array([[0, 0.4], [0.1, 0.4]]), -1.0)],
        fabric={"preset": "silk"},
    )
    ways = [
        replace(base.seams[0], closing=Closing.ZIP),
        replace(base.seams[1], closing=Closing.BUTTONS),
    ]
    band = Elastic("e", [SeamSide("front", 2)], 0.8, 30.0)
    tiny = panel("tiny", rectangle(0.01, 0.005))
    pattern = Pattern("all", [front, base.panels[1], disc(), tiny], ways, [band])
    save_pattern(tmp_path / "a.png", examine_pattern(pattern))
    with Image.open(tmp_path / "a.png") as image:
        assert image.width > 500 and image.height > 300


def test_what_is_wrong_is_red_and_what_cannot_be_drawn_is_left_out(tmp_path):
    bow = panel("bow", [[0, 0], [0.4, 0.4], [0.4, 0], [0, 0.4]])
    nan = panel("nan", [[0, 0], [np.nan, 0.4], [0.4, 0]])
    good = panel("good", rectangle(0.3, 0.3))
    pattern = Pattern("bad", [bow, nan, good], [seam("s", ("bow", 0), ("good", 0))])
    image = PatternSheet(examine_pattern(pattern)).image()
    assert pixels(image, WRONG) > 300
    assert pixels(PatternSheet(examine_pattern(Pattern("good", [good]))).image(), WRONG) == 0
    PatternSheet(examine_pattern(Pattern("none", [nan]))).image()


def test_a_missing_matplotlib_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with refused(RunError, "drawing of a pattern", got="no package", hint="weft[plots]"):
        save_pattern(tmp_path / "a.png", examine_pattern(tube()))
