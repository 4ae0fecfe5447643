"""Sizes of clothes: bodies of a size, and patterns graded by measures and by rules for corners."""

from pathlib import Path

import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import MannequinError, PatternProblems
from weft.plugins.garments.bodies.sizes import size_of, size_table, sizes_between
from weft.plugins.garments.mannequin import measures_of
from weft.plugins.garments.patterns import read_pattern
from weft.plugins.garments.patterns.curves import edge_length
from weft.plugins.garments.patterns.yaml_pattern import read_yaml_pattern
from weft.plugins.garments.scene.mannequin_schema import MannequinBlock

PATTERNS = Path(__file__).parents[4] / "examples" / "garments" / "patterns"
RULES = """
grading:
  base: 38
  corners:
    front.side: {dx: 1 cm}
    front.2: {dx: 0.5 cm, dy: 2 mm}
panels:
  front:
    fold: center
    outline:
      - {at: [0, 0], edge: hem, cubic: [[5 cm, 0], [15 cm, 0]]}
      - {at: [20 cm, 0], edge: side}
      - {at: [18 cm, 30 cm], edge: waist}
      - {at: [0, 30 cm], edge: center}
  back: {copy: front}
seams: {left: [front.side, back.side_mirrored], right: [front.side_mirrored, back.side]}
"""


def graded(tmp_path, text, **measures):
    path = tmp_path / "pattern.yaml"
    path.write_text(text)
    return read_yaml_pattern(path, measures)


def test_the_default_figures_are_sizes_of_the_table():
    """38 of a woman and 50 of a man are the measures that a mannequin has without any."""
    for size in ("38", "man 50"):
        found = size_of(size)
        asked = measures_of(found.figure)
        assert {n: getattr(asked, n) for n in found.body} == pytest.approx(found.body)


def test_every_size_is_a_person():
    """Girths grow from size to size, and the mannequin accepts all of them."""
    for table in size_table().values():
        girths = np.array([[s.body[n] for n in ("chest", "waist", "hips")] for s in table.values()])
        assert (np.diff(girths, axis=0) > 0).all()
        for size in table.values():
            measures_of(size.figure, **size.body)


def test_ranges_of_sizes():
    assert [str(s) for s in sizes_between("36:46:4,50")] == ["36", "40", "44", "50"]
    assert [str(s) for s in sizes_between("56:60", "man")] == ["man 56", "man 58", "man 60"]
    assert [str(s) for s in sizes_between("98:104", "child")] == ["child 98", "child 104"]
    for text in ("46:36", "31:40", "36:54", "36:46:0", "36:46:x", "36:", "", "child 111", "nan"):
        with pytest.raises(MannequinError):
            sizes_between(text)


def test_a_mannequin_of_a_size():
    """Measures that are said have precedence; a length is that of the edges, as before."""
    block = MannequinBlock(size=44, waist="80 cm")
    assert block.given["chest"] == 1.0 and block.given["waist"] == 0.8 and block.edges is None
    assert MannequinBlock(size="15 mm").edges == 0.015
    assert MannequinBlock(size="15 mm").given["chest"] is None
    with pytest.raises(ValueError, match="32, 34 to 52"):
        MannequinBlock(size=43)


def test_measures_of_the_body_take_the_values_of_the_size():
    """A hem's quarter is (hips + ease)/4 + flare; the waist that is said stays."""
    pattern = read_pattern(PATTERNS / "skirt.yaml", {"size": 44})
    assert pattern.panel("front").corners[1, 0] == pytest.approx((1.08 + 0.04) / 4 + 0.10)
    wider = read_pattern(PATTERNS / "skirt.yaml", {"size": 44, "hips": "120 cm"})
    assert wider.panel("front").corners[1, 0] == pytest.approx((1.20 + 0.04) / 4 + 0.10)


def test_the_declared_body_gets_the_girths_of_the_size(tmp_path):
    """Its height stays, since panels are placed at heights of the body that is declared."""
    text = "measures: {hips: 90 cm}\nbody: {height: 172 cm, hips: 90 cm}\n"
    text += "panels: {p: {outline: [[0, 0], [hips, 0], [0, hips]]}}"
    assert graded(tmp_path, text).body == {"height": 1.72, "hips": 0.9}
    body = graded(tmp_path, text, size=46).body
    assert body == {"height": 1.72, "hips": 1.12, "waist": 0.88, "chest": 1.04}


def test_measures_of_the_garment_stay(tmp_path):
    """The trousers' `hip` is a height along the leg, drafted from the inseam; half a waist and a
    height of 30 cm are no body's."""
    plain, graded_ = (read_pattern(PATTERNS / "trousers.yaml", m) for m in (None, {"size": 46}))
    assert plain.panel("front_left").corners[2, 1] == graded_.panel("front_left").corners[2, 1]
    text = "measures: {waist: 36 cm, height: 30 cm, hips: 90 cm}\npanels: {p: {outline: [[0, 0], "
    text += "[waist, 0], [hips, height]]}}"
    corners = graded(tmp_path, text, size=46).panels[0].corners
    np.testing.assert_allclose(corners[1:], [[0.36, 0], [1.12, 0.30]])


def test_a_pattern_may_call_a_measure_of_its_own_size(tmp_path):
    text = "measures: {size: 30 cm}\npanels: {p: {outline: [[0, 0], [size, 0], [0, size]]}}"
    assert graded(tmp_path, text, size="50 cm").panels[0].corners[1, 0] == 0.5


def test_rules_move_corners_copies_and_curves(tmp_path):
    """Two sizes above the base; a seam's sides stay of one length, the base size is as drawn."""
    base, plain = graded(tmp_path, RULES, size=38), graded(tmp_path, RULES)
    np.testing.assert_array_equal(base.panels[0].corners, plain.panels[0].corners)
    pattern = graded(tmp_path, RULES, size="42")
    front, back = pattern.panels
    np.testing.assert_allclose(front.corners[1:3], [[0.22, 0], [0.19, 0.304]], atol=1e-12)
    np.testing.assert_allclose(front.edges[0].controls, [[0.055, 0], [0.165, 0]], atol=1e-12)
    np.testing.assert_array_equal(front.corners, back.corners)
    assert edge_length(front, 1) == pytest.approx(edge_length(back, 4))


@pytest.mark.parametrize(
    "old, new, what",
    [
        ("front.side", "fron.side", "grading.corners.fron.side"),
        ("front.side", "back.side", "grading.corners.back.side"),
        ("front.2", "front.9", "grading.corners"),
        ("base: 38", "base: 38\n  step: 0", "grading.step"),
        ("base: 38", "base: 39", "grading.base"),
        ("base: 38", "base: 92", "grading.base"),
        (RULES.partition("panels:")[0], "", ("size", "docs/guides/sizes.md")),
    ],
)
def test_rules_that_cannot_be(tmp_path, old, new, what):
    with refused(PatternProblems, what):
        graded(tmp_path, RULES.replace(old, new), size=40)


def test_a_size_that_no_table_has_is_named(tmp_path):
    with refused(PatternProblems, "size"):
        graded(tmp_path, RULES, size=41)
