"""Patterns drawn as SVG: units, classes, curves, transforms, seams, and what is refused."""

import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.plugins.garments.patterns.mutations import count_readable
from tests.refusals import refused
from weft.base.errors import PatternError
from weft.discretization.polygon import signed_area
from weft.plugins.garments.patterns.curves import EdgeCurve, edge_length, outline_polygon
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.pattern import BorderCurve, Placement, SeamSide, Wrap

FILE = Path(__file__).parent / "files" / "two_pieces.svg"
SQUARE = '<path id="p" class="outline" d="M0,0 H100 V100 H0 Z"/>'


def read(tmp_path, body, head='width="100mm" height="100mm" viewBox="0 0 100 100"', car=None):
    (tmp_path / "shape.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" {head}>{body}</svg>'
    )
    if car is not None:
        (tmp_path / "shape.seams.yaml").write_text(car)
    return read_pattern(tmp_path / "shape.svg")


@pytest.fixture
def pattern():
    with pytest.warns(UserWarning, match="1 shapes without a class"):
        return read_pattern(FILE)


def test_pieces_and_seams(pattern):
    """In the order of the outline counter-clockwise from its first point, y up, in meters."""
    front, back = pattern.panels
    assert (front.name, back.name) == ("front", "back")
    assert [(e.name, e.curve) for e in front.edges] == [
        ("center", BorderCurve.LINE),
        ("hem", BorderCurve.ARC),
        ("side", BorderCurve.CUBIC),
        ("waist", BorderCurve.QUADRATIC),
    ]
    np.testing.assert_allclose(np.ptp(back.corners, axis=0), [0.10, 0.18], atol=1e-12)
    assert [(s.name, s.first[0], s.second[0], s.flip) for s in pattern.seams] == [
        ("center", SeamSide("front", 0), SeamSide("back", 1), True),
        ("side", SeamSide("front", 2), SeamSide("back", 3), True),
    ]
    assert (front.grain, back.grain) == pytest.approx((np.pi / 2, np.arctan2(-1, -1)))
    (hole,), (line,) = front.holes, front.lines
    np.testing.assert_allclose(np.ptp(hole, axis=0), 0.02, rtol=1e-12)
    waist = front.corners[0]  # drawn at (0, 0); the line inside begins at (20, 30)
    np.testing.assert_allclose(line[0] - waist, [0.02, -0.03], atol=1e-12)


def test_lengths(pattern):
    side = EdgeCurve(BorderCurve.CUBIC, np.array([[0, 0], [10, 60], [10, 120], [0, 180]]) / 1000)
    waist = EdgeCurve(BorderCurve.QUADRATIC, np.array([[0, 0], [50, 20], [100, 0]]) / 1000)
    hem = 0.10 * np.pi / 3  # a chord as long as the radius
    found = [edge_length(pattern.panel("front"), i) for i in range(4)]
    np.testing.assert_allclose(found, [0.18, hem, side.length, waist.length], rtol=1e-9)


@pytest.mark.parametrize(
    "head, meters",
    [
        ('width="10cm" height="20cm" viewBox="5 5 100 200"', 1e-3),
        ('width="2in" height="2in" viewBox="0 0 100 100"', 0.0508 / 100),
        ('width="72pt" viewBox="0 0 72 72"', 0.0254 / 72),
        ('width="100mm" height="100mm"', 0.0254 / 96),  # units, but coordinates in pixels
    ],
)
def test_units(tmp_path, head, meters):
    panel = read(tmp_path, SQUARE, head).panels[0]
    np.testing.assert_allclose(np.ptp(panel.corners, axis=0), 100 * meters, rtol=1e-12)


@pytest.mark.parametrize("head", ["", 'viewBox="0 0 9 9" width="100%"'])
def test_pixels_are_warned_of(tmp_path, head):
    with pytest.warns(UserWarning, match="96 pixels per inch"):
        test_units(tmp_path, head, 0.0254 / 96)


@pytest.mark.parametrize(
    "text",
    [
        '<path class="outline" id="a" d="M10,50 A40,20 0 0 0 90,50 Z" data-edges="bow line"/>',
        '<g transform="translate(10,40) scale(1,0.5)"><path class="outline" id="a" '
        'd="M0,20 a40,40 0 0 0 80,0 z" data-edges="bow line"/></g>',
    ],
)
def test_arcs_that_are_no_circles_become_cubics(tmp_path, text):
    """The area of a half ellipse, drawn as one and as a circle under an uneven scale."""
    panel = read(tmp_path, text).panels[0]
    kinds = [BorderCurve.CUBIC, BorderCurve.CUBIC, BorderCurve.LINE]
    assert [(e.curve, e.name) for e in panel.edges] == list(zip(kinds, ["bow", "bow", "line"]))
    points, _ = outline_polygon(panel, np.radians(0.5))
    assert signed_area(points) == pytest.approx(np.pi / 2 * 0.04 * 0.02, rel=1e-3)


def test_a_turned_and_mirrored_circle_stays_an_arc(tmp_path):
    path = '<path id="a" class="outline" d="M0,0 A50,50 0 1 1 50,50 Z"/>'
    panel = read(tmp_path, f'<g transform="rotate(30) scale(-0.5,0.5)">{path}</g>').panels[0]
    lengths = sorted(edge_length(panel, i) for i in range(2))
    np.testing.assert_allclose(lengths, [0.025 * np.sqrt(2), 0.025 * 1.5 * np.pi], rtol=1e-9)


def test_roles_by_id_label_and_layer(tmp_path):
    """Layers by role, pieces named by their paths, marks where they lie; the sew line counts."""
    text = """
      <g inkscape:groupmode="layer" inkscape:label="cut" xmlns:inkscape="urn:x">
        <rect id="a" x="0" y="0" width="40" height="40"/></g>
      <g class="sew"><rect id="a" x="2" y="2" width="36" height="36"/>
        <polygon id="b" points="60,10 90,10 90,40"/></g>
      <g id="grain"><path d="M10,30 L20,20"/><path d="M80,15 L85,15"/></g>
      <path id="internal-2" d="M85,12 L85,20"/>
      <path class="outline-not" d="M1,1 L2,2"/>"""
    with pytest.warns(UserWarning, match="1 shapes without a class"):
        pattern = read(tmp_path, text)
    a, b = pattern.panel("a"), pattern.panel("b")
    assert np.ptp(a.corners, axis=0) == pytest.approx([0.036, 0.036])
    assert (a.grain, b.grain) == (pytest.approx(np.pi / 4), pytest.approx(0.0))
    assert (len(a.lines), len(b.lines)) == (0, 1)


def test_parts_of_one_edge_and_an_origin(tmp_path):
    """``+`` makes one polyline of straight parts; the origin is where its mark is."""
    text = """<g id="a"><path class="outline" data-edges="low + + high - -"
      d="M0,50 L10,60 L30,60 L40,50 L40,0 L0,0 Z"/>
      <circle class="origin" cx="20" cy="0" r="1"/><text class="note">a</text></g>"""
    panel = read(tmp_path, text).panels[0]
    assert [e.name for e in panel.edges] == ["low", "high", "", ""]
    assert panel.edges[0].curve is BorderCurve.POLYLINE and len(panel.edges[0].controls) == 2
    np.testing.assert_allclose(panel.corners[0], [-0.02, -0.05], atol=1e-12)


@pytest.mark.parametrize(
    "shape",
    [
        '<path class="outline" d="M0.,0 H90. V90.H0Z"/>',
        '<polygon class="outline" points="0,0 90.,0 90.,90. 0,90"/>',
        '<path class="outline" d="M40,40h10v10h-10z M0,0H90V90H0Z"/>',
    ],
    ids=["path", "polygon", "a hole before its outline"],
)
def test_numbers_and_order_of_points(tmp_path, shape):
    (panel,) = read(tmp_path, shape).panels
    assert np.ptp(panel.corners, axis=0) == pytest.approx([0.09, 0.09])
    assert len(panel.holes) == ("h10" in shape)


CAR = """
fabric: denim
panels:
  left: {piece: p, placement: {translation: [10 cm, 1.2 m, 0], rotation: [0, 90, 0]}, layer: 1,
         thickness: 2 mm}
  right: {piece: p, mirrored: true, fabric: silk,
          placement: {wrap: {center: [0, 1 m, 0], radius: 15 cm}}}
seams:
  side: [left.2, -right.slant]
  top: {join: [[left.0, left.1], right.straight], flip: false}
elastics:
  - {edges: left.3, ratio: 0.8, stiffness: 30 N}
"""
SLANTED = """<path id="p" class="outline" data-edges="straight straight slant low"
  d="M0,0 L0,50 L0,100 L80,100 Z"/>"""


def test_the_side_car_file(tmp_path):
    pattern = read(tmp_path, SLANTED, car=CAR)
    left, right = pattern.panels
    assert (pattern.fabric, left.fabric, right.fabric) == ("denim", None, "silk")
    assert (left.layer, left.thickness) == (1, pytest.approx(0.002))
    assert left.placement == Placement((0.1, 1.2, 0.0), (0.0, 90.0, 0.0))
    assert right.placement.wrap == Wrap((0.0, 1.0, 0.0), 0.15)
    np.testing.assert_allclose(right.corners[0], left.corners[0] * [-1, 1])
    assert [e.name for e in right.edges] == ["low", "slant", "straight", "straight"]
    side, top = pattern.seams
    assert (*side.first, *side.second) == (SeamSide("left", 2), SeamSide("right", 1, True))
    assert (top.name, top.flip, [s.edge for s in top.second]) == ("top", False, [2, 3])
    assert pattern.elastics[0].ratio == 0.8
    assert pattern.places["seam side"] == "shape.seams.yaml:9"
    assert pattern.places["panel left"] == "shape.svg:1"


def with_words(kind, words):
    return SQUARE.replace(" d=", f' data-{kind}="{words}" d=')


REFUSED = [
    (
        '<path class="outline" d="M0,0 L9,0 L9,9"/>',
        "outline = open: from .*shape.svg:1.*a closed path; end it with Z",
    ),
    (
        '<path class="outline" data-edges="a - - b" d="M0,0 L9,0 L9,0 L9,9 Z"/>',
        "edge 1 has no length",
    ),
    ('<path class="outline" d="M0,0 L9,0 foo Z"/>', "M0,0 L9,0 foo Z .*SVG path data"),
    ('<path class="outline" d="L9,0 L9,0 Z"/>', "SVG path data"),
    ('<path class="outline" d=""/>', "nothing drawn"),
    ('<path class="outline" d="M0,0 L1e999,0 L9,9 Z"/>', "finite coordinates"),
    ('<rect class="outline" width="3"/>', "<rect> = no height"),
    ('<rect class="outline" width="3" height="-2"/>', "must be > 0"),
    ('<rect class="outline" width="3 apples" height="2"/>', "a length"),
    ('<circle class="outline" r="0"/>', "radius = 0"),
    ('<polygon class="outline" points="1,2,3"/>', "pairs of numbers"),
    ('<g transform="scale(0)">' + SQUARE + "</g>", "keeps areas above zero"),
    ('<g transform="evil(1)">' + SQUARE + "</g>", "transform = evil"),
    ('<use class="outline" href="#a"/>', "unlink clones"),
    ("<svg>" + SQUARE + "</svg>", "inside another"),
    (SQUARE + SQUARE, "piece 'p' = twice"),
    ("", "no path of class outline"),
    (with_words("seams", "a b"), "data-seams = 2 words .*one for each of the 4 edges"),
    (with_words("seams", "a b c -"), "seam 'c' of data-seams = 1 sides: p.1"),
    (with_words("edges", "+ - - -"), "data-edges = '\\+' at edge 0"),
    ("<g id='q'>" + SQUARE + 2 * "<path class='grain' d='M1,1L2,2'/>" + "</g>", "a second line"),
    (
        "<g id='q'>" + SQUARE + "<path class='hole' d='M1,1L2,2L3,1'/></g>",
        "hole of 'q' = an open path",
    ),
    ("<g>" * 200, "at most 200000 of them, 100 deep"),
    ("<a", "SVG = .*valid XML"),
]


@pytest.mark.parametrize("body, message", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(tmp_path, body, message):
    with pytest.raises(PatternError) as caught:
        read(tmp_path, body)
    assert re.search(message, str(caught.value)), str(caught.value)


CARS = [
    ("seams: [[p.2, p.4]]", r"seams.0.1 = 'p.4' .*:1\).*one of 0, 1, 2, 3"),
    ("seams: [[q.2, p.1]]", "seams.0.0 = 'q.2' .*panels are p"),
    ("seams: [[p.wast, p.1], [p.0, 7]]", "(?s)p.wast.*seams.1.1 = 7"),  # both at once
    ("panels: {q: {}}", "panels.q = 'q' .*one of the pieces p"),
    ("panels: {q: {piece: p, layer: -1}}", "layer = -1"),
    ("panels: {}", "panels = .*at least one panel"),
    ("fabrics: {SHELL: denim}", "fabrics.SHELL = 'SHELL' .*it names none"),
    ("panel: {}", "field panel .*did you mean 'panels'"),
    ("seams: [", "YAML"),
]


@pytest.mark.parametrize("car, message", CARS, ids=range(len(CARS)))
def test_what_is_refused_in_a_side_car_file(tmp_path, car, message):
    with pytest.raises(PatternError) as caught:
        read(tmp_path, SQUARE, car=car)
    assert re.search(message, str(caught.value)), str(caught.value)
    assert "shape.s" in str(caught.value)


@pytest.mark.parametrize("suffix", [".svg", ".dxf"])
def test_packages_that_are_not_installed(tmp_path, monkeypatch, suffix):
    package = {".svg": "svgpathtools", ".dxf": "ezdxf"}[suffix]
    for name in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / f"shape{suffix}"
    path.write_text(f"<svg>{SQUARE}</svg>")
    with warnings.catch_warnings(), refused(PatternError, package, hint="weft[garments]"):
        warnings.simplefilter("ignore")
        read_pattern(path)


@pytest.mark.parametrize(
    "head, message",
    [
        ('width="-1mm" viewBox="0 0 1 1"', ("svg width", "'-1mm'")),
        ('width="1em"', ("svg width", "'1em'")),
        ('viewBox="0 0 0 1"', "svg viewBox"),
    ],
)
def test_pages_that_are_refused(tmp_path, head, message):
    with refused(PatternError, message):
        read(tmp_path, SQUARE, head)


LAUGHS = '<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{10 * f"&{a};"}">' for a, b in zip("abcdefgh", "bcdefghi")
)


@pytest.mark.parametrize(
    "entities, text",
    [
        (LAUGHS, '<path d="&i;"/>'),
        ('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"),
        (f'<!ENTITY a "{"x" * 900}">', f'<path d="{2000 * "&a;"}"/>'),
    ],
    ids=["laughs", "elsewhere", "long"],
)
def test_entities_that_multiply_or_lie_elsewhere(tmp_path, entities, text):
    path = tmp_path / "bomb.svg"
    path.write_text(f"<!DOCTYPE svg [{entities}]><svg>{text}</svg>")
    with refused(PatternError, "SVG"):
        read_pattern(path)


def test_damaged_files_never_end_in_anything_but_a_named_error(tmp_path):
    assert 10 < count_readable(tmp_path / "damaged.svg", FILE.read_bytes(), 300) < 290


def test_damaged_side_car_files(tmp_path):
    drawing = tmp_path / "shape.svg"
    drawing.write_text(f'<svg width="100mm" height="100mm" viewBox="0 0 100 100">{SLANTED}</svg>')
    assert 5 < count_readable(tmp_path / "shape.seams.yaml", CAR.encode(), 150, drawing) < 145


@pytest.mark.parametrize(
    "spike",
    [
        "H120 H100 V100 H0",  # beyond the corner and back
        "H100 V40 V10 V100 H0",  # back, and on over the same line
        "H100 V50 L130,20 L100,50 V100 H0",  # aside, and back
        "H0 V-20 V0 H100 V100 H0",  # at the beginning of the outline
    ],
)
@pytest.mark.parametrize("fold", [False, True])
def test_lines_that_run_there_and_back_are_no_part_of_an_outline(tmp_path, spike, fold):
    """Programs draw notches as such lines; of a half on its fold, too."""
    other = '<path class="fold" d="M0,0 V100"/>' if fold else ""
    path = f'<path id="p" class="outline" d="M0,0 {spike} Z"/>'
    with warnings.catch_warnings(record=True, action="always") as caught:
        (panel,) = read(tmp_path, f"<g id='g'>{path}{other}</g>").panels
    told = "\n".join(str(w.message) for w in caught)
    on_fold = fold and "V-20" in spike
    assert on_fold or "lines of the outline that run there and back are left out: " in told
    assert len(panel.corners) == 4
    size = [0.2, 0.1] if fold else [0.1, 0.1]
    np.testing.assert_allclose(np.ptp(panel.corners, axis=0), size, atol=1e-12)


def test_a_path_that_draws_nothing_is_no_shape(tmp_path):
    (panel,) = read(tmp_path, f'<g id="a">{SQUARE}<path d="M5,5"/></g>').panels
    assert len(panel.corners) == 4 and not panel.lines
