"""Ease of garments on a body, and the causes that checks name."""

import pytest

from weft.bodies.landmarks import find_landmarks
from weft.garment.cutting import cut
from weft.garment.ease import Ease, ease_warnings, measure_ease
from weft.garment.yaml_pattern import parse_yaml_pattern
from weft.io import write_mesh
from weft.mannequin import mannequin
from weft.scene.check import check

TUBE = """
measures: {{half: {half}, low: 70 cm, high: {high}}}
panels:
  front:
    outline: [{{at: [-half, low], edge: hem}}, {{at: [half, low], edge: right}},
              {{at: [half, high], edge: top}}, {{at: [-half, high], edge: left}}]
    placement: {{translation: [0, 0, 25 cm]}}
  back: {{copy: front, placement: {{translation: [0, 0, -25 cm], rotation: [0, 180, 0]}}}}
seams:
  left: [front.left, back.right]
"""
SIDE = "  right: [front.right, back.left]\n"


def tube(half="50 cm", high="130 cm", seams=SIDE):
    return TUBE.format(half=half, high=high) + seams


@pytest.fixture(scope="module")
def marks():
    body = mannequin("woman")
    return find_landmarks(body.vertices, body.faces)


def ease_of(text, marks):
    return measure_ease(cut(parse_yaml_pattern(text), 0.05), marks)


def test_a_tube_has_its_girth_at_every_level_that_it_covers(marks):
    found = {e.name: e for e in ease_of(tube(), marks)}
    assert set(found) == {"chest", "waist", "hips"}
    assert [e.garment for e in found.values()] == pytest.approx([2.0] * 3)
    assert found["waist"].ratio == pytest.approx(2.0 / marks.girths["waist"])
    assert {e.name for e in ease_of(tube(high="95 cm"), marks)} == {"hips"}


def test_an_open_garment_has_no_girth(marks):
    assert ease_of(tube(seams=""), marks) == []


@pytest.mark.parametrize(
    ("garment", "body", "cause"),
    [
        (0.36, 0.9, "inches taken for centimeters"),
        (2.5, 0.9, "centimeters taken for inches"),
        (9.9, 0.9, "millimeters taken for centimeters"),
        (0.78, 0.9, "another size"),
        (1.6, 0.9, "another size"),
        (0.95, 0.9, None),
        (0.88, 0.9, None),
    ],
)
def test_the_likely_cause_is_named(garment, body, cause):
    said = list(ease_warnings("top", [Ease("chest", garment, body), Ease("waist", 99.0, 0.7)]))
    assert len(said) == (cause is not None)
    assert cause is None or cause in said[0]


def test_check_prints_the_table_and_names_a_body_in_another_unit(tmp_path):
    (tmp_path / "tube.yaml").write_text(tube("24 cm"))
    scene = tmp_path / "scene.yaml"
    scene.write_text("""
cloth: {garment: {pattern: tube.yaml, size: 5 cm}}
bodies: [{name: anna, mannequin: {figure: woman}}]
contact: {gap: 2 mm}
seconds: 0.1
""")
    found = check(scene)
    assert any("waist" in fact and "96.0" in fact and "+33 %" in fact for fact in found.facts)
    assert not any("size" in w for w in found.warnings)
    body = mannequin("woman")
    write_mesh(tmp_path / "anna.obj", 100 * body.vertices, body.faces, None)
    text = scene.read_text().replace("mannequin: {figure: woman}", "mesh: {file: anna.obj}")
    scene.write_text(text)
    assert any("scale: 1 cm" in w for w in check(scene).warnings)
