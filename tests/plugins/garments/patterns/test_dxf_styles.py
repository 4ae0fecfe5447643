"""DXF files as pattern programs write them: inner lines across the outline, edges of rounding
errors, units that are missing or wrong, seam lines on layer 8, outlines without blocks.
"""

import warnings

import numpy as np
import pytest

from tests.plugins.garments.patterns.dxf_writer import (
    block,
    drawing,
    line,
    point,
    polyline,
    text,
    turns,
)
from weft.discretization.polygon import signed_area
from weft.plugins.garments.patterns.check import examine_pattern
from weft.plugins.garments.patterns.curves import edge_length, outline_polygon
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.formats import read_pattern

BOX = [(0, 0), (300, 0), (300, 500), (0, 500)]


def read(tmp_path, content, car=None, size=0.03):
    """Return the pattern and the texts of its warnings; it has no errors and can be cut."""
    (tmp_path / "shape.dxf").write_text(content)
    if car is not None:
        (tmp_path / "shape.seams.yaml").write_text(car)
    with warnings.catch_warnings(record=True, action="always") as caught:
        pattern = read_pattern(tmp_path / "shape.dxf")
    assert not examine_pattern(pattern).errors
    cut(pattern, size)
    return pattern, "\n".join(str(w.message) for w in caught)


def piece(*parts, corners=BOX):
    return drawing([block("p", polyline(corners), turns(*corners), *parts)])


@pytest.mark.parametrize(
    "points, lengths, said",
    [
        ([(150, -50), (150, 250)], [0.25], "cut there: 1"),  # leaves
        ([(-50, 200), (350, 210)], [0.3 * np.hypot(1, 10 / 400)], "cut there: 1"),  # crosses
        ([(0, 100), (0, 400)], [], "left out: 1"),  # along an edge
        ([(-9, 100), (-9, 400)], [], "left out: 1"),  # outside
        ([(50, 100), (-20, 200), (50, 300)], [0.087] * 2, "cut there: 1"),  # in two parts
        ([(150, 0), (150, 500)], [0.5], ""),  # from edge to edge
        ([(100, 100), (0, 200), (100, 300)], [0.14] * 2, "cut there: 1"),  # touches
    ],
)
def test_inner_lines_end_at_the_outline(tmp_path, points, lengths, said):
    pattern, told = read(tmp_path, piece(polyline(points, 8, False)))
    found = [np.linalg.norm(np.diff(p, axis=0), axis=1).sum() for p in pattern.panels[0].lines]
    assert sorted(found) == pytest.approx(lengths, abs=3e-3)
    assert said in told and ("inner lines" in told) == bool(said)


def test_edges_of_rounding_errors_vanish(tmp_path):
    """Three points 0.06 mm apart at a corner, each of which is a turn point."""
    corners = [*BOX[:2], (300.0, 0.06), (300.0, 0.12), *BOX[2:]]
    pattern, _ = read(tmp_path, piece(corners=corners))
    panel = pattern.panels[0]
    lengths = sorted(edge_length(panel, k) for k in range(len(panel.edges)))
    assert [k for k in lengths if k > 2e-4] == pytest.approx([0.3, 0.3, 0.5, 0.5], abs=2e-4)
    assert min(lengths) > 1e-4
    tiny = [(0, 0), (150, 0), (150.09, 0.0), (300, 0), (300.05, 0.08), *BOX[2:]]
    assert len(read(tmp_path, piece(corners=tiny))[0].panels[0].edges) < len(tiny)


@pytest.mark.parametrize(
    "scale, unit", [(1.0, "millimeters"), (0.1, "centimeters"), (1 / 25.4, "inches")]
)
def test_missing_units_are_found_from_the_size(tmp_path, scale, unit):
    corners = [(1.4 * scale * x, 1.4 * scale * y) for x, y in BOX]
    content = drawing([block("p", polyline(corners), turns(*corners))], ())
    pattern, told = read(tmp_path, content)
    np.testing.assert_allclose(np.ptp(pattern.panels[0].corners, axis=0), [0.42, 0.7])
    assert f"taken in {unit}, so that the largest piece is 42 x 70 cm" in told
    pattern, told = read(tmp_path, content, "units: in", 1.0)
    np.testing.assert_allclose(
        np.ptp(pattern.panels[0].corners, axis=0), [0.0254 * side * scale for side in (420, 700)]
    )
    assert "taken in" not in told


def test_a_piece_of_an_implausible_size_is_asked_about(tmp_path):
    """Centimeters that are called METRIC, which means millimeters."""
    corners = [(0, 0), (26, 0), (26, 70), (0, 70)]
    pattern, told = read(tmp_path, piece(corners=corners))
    assert "largest piece is 2.6 x 7 cm, with a unit of mm" in told and "`units: cm`" in told
    pattern, told = read(tmp_path, piece(corners=corners), "units: cm")
    np.testing.assert_allclose(np.ptp(pattern.panels[0].corners, axis=0), [0.26, 0.7])
    assert "largest piece" not in told


def test_a_seam_line_on_layer_8_is_the_outline(tmp_path):
    """Ten millimeters inside of the cut line, but 20 at the hem; drill holes and an open cutout."""
    seam = [(10, 20), (290, 20), (290, 490), (10, 490)]
    more = [point(100, 100, 13), line((50, 300), (90, 300), 11)]
    pattern, told = read(tmp_path, piece(polyline(seam, 8), turns(*seam), *more))
    panel = pattern.panels[0]
    assert signed_area(outline_polygon(panel)[0]) == pytest.approx(0.28 * 0.47)
    assert len(panel.lines) == 1, "the cutout"
    assert "10 mm inside, is the seam line" in told
    assert "drill holes, which are marks (1)" in told and "do not cut: 1" in told


def test_open_seam_lines_and_wide_gaps(tmp_path):
    pattern, told = read(tmp_path, piece(line((10, 10), (290, 10), 14)))
    assert "the seam line of layer 14 is open: weft takes the cut line" in told
    open_ = [*BOX, (0.8, 0.7)]
    content = drawing([block("p", polyline(open_, 1, False), turns(*BOX))])
    pattern, told = read(tmp_path, content)
    assert "open by less than 2 mm" in told
    assert signed_area(outline_polygon(pattern.panels[0])[0]) == pytest.approx(0.15, rel=0.01)


def test_a_half_that_ends_beside_its_mirror_line(tmp_path):
    """By 0.6 mm, as after rounding to 0.01 in and a turn."""
    half = [(0.6, 0), (300, 0), (300, 500), (0.5, 500)]
    pattern, _ = read(tmp_path, piece(line((0, 0), (0, 500), 6), corners=half))
    assert signed_area(outline_polygon(pattern.panels[0])[0]) == pytest.approx(0.3, rel=1e-2)


def test_a_drawing_without_blocks(tmp_path):
    """Two outlines in model space, one with an inner line; texts are their names."""
    second = [(x + 400, y) for x, y in BOX]
    first = [BOX[0], (150, 0), *BOX[1:]]
    own = [polyline(first, "cut"), polyline(second, "cut"), line((50, 50), (50, 400), "marks")]
    own.append(turns(*BOX, *second, (150, 0)))
    names = [text("Vorderteil", "text"), text("2", "text")]
    names[0] = names[0].replace("10\n0\n20\n0\n", "10\n150\n20\n250\n")
    content = drawing([], ("Units: METRIC",))
    content = content.replace("0\nENDSEC\n0\nEOF", "".join([*own, names[0]]) + "0\nENDSEC\n0\nEOF")
    pattern, told = read(tmp_path, content)
    assert [p.name for p in pattern.panels] == ["Vorderteil", "piece 2"]
    assert [len(p.lines) for p in pattern.panels] == [1, 0]
    assert [len(p.edges) for p in pattern.panels] == [5, 4], "from turn point to turn point"
    assert "2 outermost closed lines are the pieces" in told
