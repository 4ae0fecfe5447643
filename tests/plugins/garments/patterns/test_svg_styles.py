"""SVG drawings as FreeSewing, Inkscape, Seamly2D and Valentina write them."""

import warnings

import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import PatternError
from weft.discretization.polygon import signed_area
from weft.plugins.garments.patterns.check import examine_pattern
from weft.plugins.garments.patterns.curves import edge_length, outline_polygon
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.pattern import BorderCurve

PAGE = '<svg width="900mm" height="900mm" viewBox="0 0 900 900">{}</svg>'


def read(tmp_path, body, car=None):
    """Return the pattern, which has no errors, and the texts of its warnings."""
    (tmp_path / "shape.svg").write_text(PAGE.format(body))
    if car is not None:
        (tmp_path / "shape.seams.yaml").write_text(car)
    with warnings.catch_warnings(record=True, action="always") as caught:
        pattern = read_pattern(tmp_path / "shape.svg")
    assert not examine_pattern(pattern).errors
    return pattern, "\n".join(str(w.message) for w in caught)


# Half of a bodice on its fold at x = 0: neck, shoulder, an armhole of two curves, side and hem.
NECK, ARMHOLE = "M0,80 C40,80 70,50 70,0", "C170,90 170,110 175,140 C180,170 190,180 230,180"
HALF = f"{NECK} L180,40 {ARMHOLE} L240,500 L0,500"
FREESEWING = """<g id="fs-container"><g id="fs-stack-aaron.front">
<g id="fs-stack-aaron.front-part-aaron.front" class="part">
<path class="fabric" id="fs-1" d="{half} z"/>
<path class="fabric sa" id="fs-2" d="M0,70 L300,70 L300,520 L0,520 z"/>
<path class="note" id="fs-3" marker-start="url(#cutonfoldFrom)" marker-end="url(#cutonfoldTo)"
 d="M0,101 L15,101 L15,479 L0,479"/>
<path class="fabric help dashed" id="fs-5" d="M10,300 L200,300"/>
<use x="0" y="100" xlink:href="#notch"/><text id="fs-4"><tspan>Cut 1</tspan></text></g></g></g>"""


@pytest.mark.parametrize("half", [f"{HALF}", f"{HALF} L0,80"])
def test_freesewing_with_a_fold(tmp_path, half):
    """The whole is twice its half; curves end at corners, and the seam allowance is left out."""
    pattern, _ = read(tmp_path, FREESEWING.format(half=half))
    (panel,) = pattern.panels
    assert panel.name == "front"
    lengths = sorted(edge_length(panel, k) for k in range(len(panel.edges)))
    assert len(lengths) == 8, "neck and hem, two shoulders, armholes and sides"
    assert lengths[-1] == pytest.approx(0.48)
    assert lengths[0] == pytest.approx(np.hypot(0.11, 0.04)) == lengths[1]
    assert np.ptp(outline_polygon(panel)[0][:, 0]) == pytest.approx(0.48)
    assert abs(np.sin(panel.grain)) == pytest.approx(1.0)


def test_a_part_of_freesewing_without_a_class(tmp_path):
    """Its outline is the largest line; the open one along it, and the line of a scale, are not."""
    open_line = (
        '<path class="fabric" d="M0,200 L100,200"/><path class="scalebox" d="M9,300 h9 v9 z"/>'
    )
    body = FREESEWING.format(half=f"{HALF} L0,500").replace('class="fabric" ', "", 1)
    body = body.replace('<path class="note"', f'{open_line}<path class="note"', 1)
    pattern, told = read(tmp_path, body)
    assert [len(p.edges) for p in pattern.panels] == [8] and "not read" not in told


def test_an_open_half_and_layers_of_inkscape_in_french(tmp_path):
    body = f"""<g inkscape:groupmode="layer" inkscape:label="Dos">
<path inkscape:label="Ligne de couture" d="{HALF}"/>
<path inkscape:label="Pliure" d="M0,80 V500"/>
<path inkscape:label="Droit fil" d="M100,200 V400"/>
<path inkscape:label="Ligne de coupe" d="M0,0 H300 V600 H0 Z"/></g>"""
    pattern, _ = read(tmp_path, body)
    (panel,) = pattern.panels
    assert panel.name == "Dos" and len(panel.edges) == 8
    bad = body.replace("M0,80 V500", "M-9,80 V500")
    with refused(PatternError, "outline of 'Dos'", got="does not end on its fold line"):
        read(tmp_path, bad)


def test_long_curves_end_at_corners(tmp_path):
    """A circle of 400 lines with a corner cut out: three edges; with names: one for each line."""
    t = np.linspace(0, 1.5 * np.pi, 301)
    arc = " ".join(f"{100 + 90 * np.cos(a):.4f},{100 + 90 * np.sin(a):.4f}" for a in t)
    body = f'<g id="disk"><path class="outline" d="M{arc} L100,100 Z"/></g>'
    panel = read(tmp_path, body)[0].panels[0]
    kinds = sorted(e.curve.name for e in panel.edges)
    assert kinds == [BorderCurve.LINE.name] * 2 + [BorderCurve.POLYLINE.name]
    words = " ".join(["-"] * 302)
    named = body.replace('class="outline"', f'class="outline" data-edges="{words}"')
    assert len(read(tmp_path, named)[0].panels[0].edges) == 302


SEAMLY = """<g fill="none" stroke="#000" transform="matrix(1,0,0,1,0,0)">
<path fill-rule="evenodd" d="M0,0 L300,0 L300,400 L0,400 L0,0"/>
<path fill-rule="evenodd" d="M10,10 L290,10 L290,380 L10,380 L10,10"/>
<path fill-rule="evenodd" d="M350,0 L600,0 L600,400 L350,400 L350,0"/>
<path d="M150,50 L150,300"/><text x="100" y="100" font-size="9">Rückenteil</text></g>"""


def test_closed_lines_without_names_are_pieces(tmp_path):
    """As Seamly2D and Valentina write them: the inner one of two is the seam line."""
    pattern, told = read(tmp_path, SEAMLY)
    assert [p.name for p in pattern.panels] == ["Rückenteil", "piece 2"]
    areas = [signed_area(outline_polygon(p)[0]) for p in pattern.panels]
    assert areas == pytest.approx([0.28 * 0.37, 0.25 * 0.4])
    assert [len(p.lines) for p in pattern.panels] == [1, 0]
    assert "the 2 outermost closed ones are" in told


def test_units_of_a_side_car_file(tmp_path):
    panel = read(tmp_path, SEAMLY, "units: cm")[0].panels[1]
    assert np.ptp(panel.corners, axis=0) == pytest.approx([2.5, 4.0])
