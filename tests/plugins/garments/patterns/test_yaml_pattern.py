"""weft's pattern files: every key, measures, chains, and every problem with its line."""

from pathlib import Path

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import PatternError, PatternProblems
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.curves import edge_length
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.pattern import BorderCurve, Closing
from weft.plugins.garments.patterns.topology import sewn_topology
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern, read_yaml_pattern

PATTERNS = Path(__file__).parents[4] / "examples" / "garments" / "patterns"

EVERYTHING = """
name: everything
measures:
  width: 40 cm
  ratio: 1.5
  weight: 30 N/m
  half: width/2
fabric: silk
panels:
  front:
    fabric: {preset: wool, density: 200 g/m^2}
    grain: 80 deg
    layer: 1
    thickness: 1 mm
    outline:
      - [-half, 0 cm]
      - {at: [half, 0], edge: side, quadratic: [half + 2 cm, half]}
      - {at: [half, ratio*width], edge: top, cubic: [[10 cm, 0.62 m], [-10 cm, 62 cm]]}
      - {at: [-half, ratio*width], arc: [-half - 1 cm, half]}
    holes:
      - [[-5 cm, 10 cm], [0, 10 cm], [0, 15 cm]]
      - {center: [8 cm, 20 cm], radius: 2 cm}
    lines:
      - [[-10 cm, 30 cm], [10 cm, 30 cm]]
    folds:
      - {points: [[-10 cm, 40 cm], [10 cm, 40 cm]], angle: 45 deg, stiffness: 0.001 N}
    darts:
      - {name: bust, edge: side, at: 25 %, width: 2 cm, depth: 6 cm}
    pleats:
      - {edge: 0, at: 0.4, depth: 1 cm, length: 8 cm, kind: inverted, angle: 120}
    placement:
      translation: [0, 1 m, 20 cm]
      rotation: [0, 10 deg, 5]
      wrap: {center: [0, 0, 0], radius: 30 cm, direction: [0, 2, 0], facing: [0, 0, 1]}
  back: {copy: front, layer: 0, fabric: cotton, grain: 0}
  mirrored: {mirror: front}
  strip:
    outline:
      - {at: [0, 0], edge: lower}
      - {at: [40 cm, 0], edge: end, points: [[41 cm, 1 cm], [41 cm, 3 cm]]}
      - {at: [40 cm, 4 cm], edge: upper}
      - {at: [0, 4 cm], edge: start}
seams:
  side:
    join: [front.side, mirrored.side]
    flip: true
    closing: zip
    angle: 30 deg
    fold_stiffness: 0.01 N
    strength: weight
    buttons: 4
    open_at: 1 s
    close_at: 2500 ms
elastics:
  cuff: {edges: [strip.lower], ratio: 80 %, stiffness: 20 N}
"""


def test_everything():
    p = parse_yaml_pattern(EVERYTHING)
    front, back, mirrored, strip = p.panels
    assert p.name == "everything" and p.fabric == "silk"
    assert front.fabric == {"preset": "wool", "density": "200 g/m^2"} and back.fabric == "cotton"
    assert front.grain == pytest.approx(np.radians(80)) and back.grain == 0
    assert mirrored.grain == pytest.approx(np.radians(100))
    assert (front.layer, back.layer, front.thickness) == (1, 0, 0.001)
    kinds = {e.name: e.curve for e in front.edges}
    assert kinds["top"] is BorderCurve.CUBIC and kinds["3"] is BorderCurve.ARC
    assert kinds["side"] is BorderCurve.QUADRATIC and kinds["0"] is BorderCurve.LINE
    assert strip.edges[1].curve is BorderCurve.POLYLINE
    assert len(front.holes) == 2 and len(front.folds) == 1 + 4 and len(front.lines) == 1
    assert front.folds[0].angle == pytest.approx(np.pi / 4) and front.folds[0].stiffness == 0.001
    assert max(f.angle for f in front.folds[1:]) == pytest.approx(np.radians(120))
    place = front.placement
    assert place.translation == (0, 1, 0.2) and place.rotation == pytest.approx((0, 10, 5))
    assert place.wrap.radius == 0.3 and place.wrap.direction == (0, 2, 0)
    assert mirrored.placement.rotation == pytest.approx((0, -10, -5))
    side = next(s for s in p.seams if s.name == "side")
    assert (side.flip, side.closing, side.buttons) == (True, Closing.ZIP, 4)
    assert (side.strength, side.open_at, side.close_at) == (30.0, 1.0, 2.5)
    assert side.angle == pytest.approx(np.radians(30)) and side.fold_stiffness == 0.01
    assert [(s.panel, s.backward) for s in side.first] == [("front", False)] * 2
    darts = [s.name for s in p.seams[:-1]]
    assert "front.bust" in darts and "back.pleat1_2" in darts and "mirrored.bust" in darts
    (cuff,) = p.elastics
    assert (cuff.ratio, cuff.stiffness) == (0.8, 20.0)
    check_pattern(p)
    garment = cut(p, 0.03)
    assert len(garment.folds) == 15 and sewn_topology(garment).orientable
    assert not sewn_topology(garment).warnings


def test_measures_may_be_given():
    path = PATTERNS / "skirt.yaml"
    one, two = read_yaml_pattern(path), read_yaml_pattern(path, {"hips": "104 cm"})
    a, b = (p.panel("band_front") for p in (one, two))
    assert edge_length(b, 0) - edge_length(a, 0) == pytest.approx(0.04)
    with refused(PatternProblems, "measures", got="hipps", expected="waist"):
        read_yaml_pattern(path, {"hipps": "1 m"})


SQUARE = """
panels:
  a:
    outline: [{at: [0, 0], edge: hem}, [0.4 m, 0], {at: [0.4 m, 0.4 m], edge: top}, [0, 0.4 m]]
  b: {copy: a}
"""


def test_clockwise_outlines_are_turned_with_their_names_and_darts():
    text = """
panels:
  a:
    outline:
      - {at: [0, 0], edge: left}
      - {at: [0, 0.4 m], edge: top}
      - {at: [0.4 m, 0.4 m], edge: right}
      - [0.4 m, 0]
    darts: [{edge: top, at: 0.25, width: 2 cm, depth: 5 cm}]
  b: {copy: a}
seams: [[a.top, b.top]]
"""
    p = parse_yaml_pattern(text)
    assert not check_pattern(p).errors, "outlines that run clockwise are refused"
    tip = p.panels[0].corners[[e.name for e in p.panels[0].edges].index("dart1_2")]
    np.testing.assert_allclose(tip, [0.1, 0.35], atol=1e-12)


@pytest.mark.parametrize(
    "chain", ["[a.top, a.1]", "[a.1, a.top]", "[-a.top, -a.1]", "a.top", "-a.hem", "[a.0, a.1]"]
)
def test_chains_are_put_in_turn(chain):
    p = parse_yaml_pattern(SQUARE + f"seams: [[{chain}, b.hem]]\n")
    report = check_pattern(p)
    (match,) = report.seams
    assert not any("twists" in w or "wrong" in w for w in report.warnings)
    assert {s.backward for s in match.seam.first} in ({True}, {False})
    backward = match.seam.first[0].backward
    if chain == "[a.top, a.1]" or chain.startswith(("[-", "-")):
        assert backward  # top runs on into 1 only against the outline
    assert match.orientation.flip == (not backward)


OF_A = SQUARE.replace("  b:", "    FIELD\n  b:")
PROBLEMS = {
    "panels: {}\nseam: []\n": ("seam", "'seams'", "pattern.yaml:2"),
    "name: x\n": ("panels", "pattern.yaml:1"),
    "- 1\n": "pattern",
    "measures: {a b: 1 cm}\npanels: {}\n": ("measures.a b", ":1"),
    "measures: {a: 1 cm, b: c + 1 cm}\npanels: {}\n": ("measures.b", "'c'"),
    "measures: {sin: 1 cm}\npanels: {}\n": "measures.sin",
    "panels:\n  a.b: {outline: []}\n": ("panels.a.b", "'a.b'"),
    "panels:\n  a: {}\n": ("panels.a.outline", ":2"),
    "panels:\n  a:\n    outline: [[0, 0]]\n": ("panels.a.outline", "1", "2"),
    "panels:\n  a:\n    outline: [[0, 0], [1 kg, 0], [0, 1 m]]\n": (
        "panels.a.outline.1.0",
        "'1 kg'",
        "pattern.yaml:3",
    ),
    "panels: {a: {outline: [[0, 0], {at: [1 m, 0], arc: [1 m, 0], quadratic: [0, 0]}]}}\n": (
        "panels.a.outline.1",
        "quadratic and arc",
    ),
    "panels:\n  a: {copy: b}\n  b: {mirror: a}\n": ("panels", "a -> b"),
    "panels:\n  a: {copy: c}\n": ("panels.a.copy", "'c'"),
    "panels:\n  a: {copy: b, darts: []}\n  b: {}\n": ("panels.a.darts", "copy"),
    OF_A.replace("FIELD", "darts: [{edge: tpo, width: 1 cm, depth: 1 cm}]"): (
        ("darts.0.edge", "'tpo'", ":5", "hem, 1, top, 3", "'top'")
    ),
    OF_A.replace("FIELD", "darts: [{edge: top, width: 1 cm, depth: 1 m}]"): (
        ("dart dart1 of panel a: depth", "100 cm", "pattern.yaml:3")
    ),
    OF_A.replace("FIELD", "fold: hme"): ("fold", "'hme'", "'hem'"),
    OF_A.replace("FIELD", "layer: -1"): ("panels.a.layer", "-1"),
    SQUARE + "seams: [[a.hem]]\n": ("seams.0.1", "nothing"),
    SQUARE + "seams: [[a.hem, c.hem]]\n": ("seams.0.1", "'c.hem'", "a, b"),
    SQUARE + "seams: [[a.hme, b.hem]]\n": ("seams.0.0", "'a.hme'", "hem, 1, top, 3", "'hem'"),
    SQUARE + "seams: [[a.hem, hem]]\n": ("seams.0.1", "'hem'"),
}


@pytest.mark.parametrize("text", PROBLEMS)
def test_problems_have_names_and_lines(text):
    with refused(PatternError, PROBLEMS[text]):
        parse_yaml_pattern(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        # seams and elastics need the panels
        (OF_A.replace("copy: a", "copy: q").replace("FIELD", "grain: x") + "elastics: 3\n", 2),
        # edges of seams, fields of the elastic
        (SQUARE + "seams: [[a.x, b.hem], [a.top, b.y]]\nelastics: {e: {}}\n", 2 + 3),
    ],
)
def test_all_problems_of_a_file_at_once(text, count):
    with pytest.raises(PatternProblems) as caught:
        parse_yaml_pattern(text)
    assert len(caught.value.problems) == count


def test_what_cannot_be_right_has_the_line_of_its_panel_or_seam():
    text = (
        SQUARE.replace("[0.4 m, 0],", "[0.4 m, 0.5 m],")
        + "seams:\n  s: [a.hem, b.hem]\n  t: [a.hem, b.1]\n"
    )
    with pytest.raises(PatternProblems) as caught:
        check_pattern(parse_yaml_pattern(text))
    said = str(caught.value)
    assert "panel a" in said and "(pattern.yaml:3)" in said and "(pattern.yaml:8)" in said


def test_a_skirt_of_splines():
    """Four panels of four corners: four patches, joined along all six seams."""
    garment = cut(read_pattern(PATTERNS / "skirt.yaml"), 0.02)
    mesh, new = garment.weld(garment.mesh.vertices)
    corners = [new[c].tolist() for c in garment.patch_corners()]
    assert [len(c) for c in corners] == [4, 4, 4, 4]
    cloth = weft.as_splines(
        weft.Cloth(mesh, weft.Fabric.of("cotton")), span_size=0.08, corners=corners
    )
    assert len(cloth.surfaces.pieces) == 1 and len(cloth.surfaces.pieces[0].joints) == 6


def test_a_length_without_unit_is_refused():
    with pytest.raises(PatternProblems, match="unit"):
        parse_yaml_pattern("panels: {a: {outline: [[0, 0], [28, 0], [0, 1 cm]]}}")
