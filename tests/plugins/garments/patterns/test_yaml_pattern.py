"""weft's pattern files: every key, measures, chains, and every problem with its line."""

from pathlib import Path

import numpy as np
import pytest

from tests.plugins.garments.patterns.patterns import assert_alike
from tests.refusals import refused
from weft.base.errors import PatternError, PatternProblems
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.pattern import (
    Closing,
    Placement,
    Seam,
    SeamSide,
    Wrap,
)
from weft.plugins.garments.patterns.topology import sewn_topology
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern

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
    grains = [panel.grain for panel in (front, back, mirrored)]
    assert grains == pytest.approx([np.radians(80), 0, np.radians(100)])
    assert (front.layer, back.layer, front.thickness) == (1, 0, 0.001)
    kinds = {e.name: e.curve.name for e in (*front.edges, *strip.edges)}
    for name in ("0 LINE", "side QUADRATIC", "top CUBIC", "3 ARC", "end POLYLINE"):
        assert kinds[name.split()[0]] == name.split()[1]
    assert (len(front.holes), len(front.folds), len(front.lines)) == (2, 1 + 4, 1)
    assert front.folds[0].angle == pytest.approx(np.pi / 4) and front.folds[0].stiffness == 0.001
    assert max(f.angle for f in front.folds[1:]) == pytest.approx(np.radians(120))
    wrap = Wrap((0, 0, 0), 0.3, (0, 2, 0))
    assert_alike(front.placement, Placement((0, 1, 0.2), (0, 10, 5), wrap), 1e-12)
    assert mirrored.placement.rotation == pytest.approx((0, -10, -5))
    (cuff,), darts, side = p.elastics, [s.name for s in p.seams[:-1]], p.seams[-1]
    own = [SeamSide("front", i) for i, e in enumerate(front.edges) if e.name == "side"]
    said = {"angle": np.radians(30), "fold_stiffness": 0.01, "strength": 30.0, "buttons": 4}
    times = {"open_at": 1.0, "close_at": 2.5}
    expected = Seam("side", own, side.second, True, Closing.ZIP, **said, **times)
    assert_alike(side, expected, 1e-12)
    assert {"front.bust", "back.pleat1_2", "mirrored.bust"} <= set(darts)
    assert (cuff.ratio, cuff.stiffness) == (0.8, 20.0)
    garment = cut(p, 0.06)
    assert len(garment.folds) == 15 and sewn_topology(garment).orientable
    assert not sewn_topology(garment).warnings


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
    "text, count",
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


def test_a_length_without_unit_is_refused():
    with pytest.raises(PatternProblems, match="unit"):
        parse_yaml_pattern("panels: {a: {outline: [[0, 0], [28, 0], [0, 1 cm]]}}")
