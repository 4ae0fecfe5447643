"""Patterns drawn flat: nothing overlaps, seams have one color on both sides, wrong ones too."""

import numpy as np
import pytest

from tests.plugins.garments.patterns.patterns import panel, rectangle, seam, tube
from weft.discretization.polygon import arc_lengths
from weft.plugins.garments.patterns.check import examine_pattern
from weft.plugins.garments.patterns.pattern import Pattern
from weft.plugins.garments.sheets.layout import arrange, seam_color
from weft.plugins.garments.sheets.pattern_sheet import WRONG, draw_pattern


def test_boxes_do_not_overlap():
    rng = np.random.default_rng(0)
    outlines = {f"p{i}": rng.uniform(-1, 1, (7, 2)) * rng.uniform(0.05, 1) for i in range(14)}
    places, extent = arrange(outlines, 0.05)
    boxes = [((outlines[n] + places[n]).min(0), (outlines[n] + places[n]).max(0)) for n in outlines]
    for i, (low, high) in enumerate(boxes):
        assert (low >= -1e-12).all() and (high <= extent + 1e-12).all()
        for other_low, other_high in boxes[:i]:
            assert ((low > other_high + 0.049) | (other_low > high + 0.049)).any()


def lines_of(figure, color):
    """Points of all lines of a color."""
    (axes,) = figure.axes
    return [line.get_xydata() for line in axes.lines if line.get_color() == color]


def test_both_sides_of_a_seam_have_its_color():
    """A line inside beside each side, as long as the edge, and one row of the list."""
    report = examine_pattern(tube())
    figure = draw_pattern(report)
    (axes,) = figure.axes
    fills = [patch.get_path() for patch in axes.patches]
    for i, match in enumerate(report.seams):
        drawn = lines_of(figure, seam_color(i))
        assert [arc_lengths(x)[-1] for x in drawn] == pytest.approx(
            [match.first.length, match.second.length], rel=1e-6
        )
        for x in drawn:
            assert any(fill.contains_points(x[1:-1]).all() for fill in fills)
    assert len(axes.get_legend().get_texts()) == len(report.seams)
    assert len({seam_color(i) for i in range(24)}) == 24


def test_what_is_wrong_is_red_and_what_cannot_be_drawn_is_left_out(tmp_path):
    bow = panel("bow", [[0, 0], [0.4, 0.4], [0.4, 0], [0, 0.4]])
    nan = panel("nan", [[0, 0], [np.nan, 0.4], [0.4, 0]])
    good = panel("good", rectangle(0.3, 0.3))
    pattern = Pattern("bad", [bow, nan, good], [seam("s", ("bow", 0), ("good", 0))])
    assert len(lines_of(draw_pattern(examine_pattern(pattern)), WRONG)) == 1
    assert not lines_of(draw_pattern(examine_pattern(Pattern("good", [good]))), WRONG)
    (axes,) = draw_pattern(examine_pattern(Pattern("none", [nan]))).axes
    assert "no panel" in axes.get_title()
