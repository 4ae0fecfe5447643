"""Ease of garments on a body, and the causes that checks name."""

from pathlib import Path

import numpy as np
import pytest

from tests.plugins.garments.patterns.people import person
from weft.discretization.mesh import TriangleMesh
from weft.io import write_mesh
from weft.plugins.garments.mannequin import mannequin
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.ease import Ease, ease_warnings, measure_ease
from weft.plugins.garments.patterns.figure import Figure
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.start_positions import fit_start
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern
from weft.run.check_scene import check

TROUSERS = Path("examples/garments/garmentcode/trousers_specification.json")
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
def figure():
    return Figure.of(person("woman"))


@pytest.fixture(scope="module")
def marks(figure):
    return figure.landmarks


def ease_of(text, marks):
    return pattern_ease(parse_yaml_pattern(text), marks)


def pattern_ease(pattern, marks):
    made = cut(pattern, 0.05)
    parts = [slice(own.start, own.stop) for own in made.faces.values()]
    return measure_ease(made.mesh, parts, [s.pairs for s in made.seams], marks)


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


def test_the_crotch_of_trousers(figure):
    """The seams between both legs, and what lacks up to the waist, in front and at the back."""
    pattern = fit_start(read_pattern(TROUSERS), figure)[0]
    marks, ease = figure.landmarks, {e.name: e for e in pattern_ease(pattern, figure.landmarks)}
    expected = 0.0
    for side in "fb":
        between = [
            match.first
            for match in check_pattern(pattern).seams
            if {s.panel for s in (*match.first.sides, *match.second.sides)}
            == {f"pant_{side}_l", f"pant_{side}_r"}
        ]
        top = max(chain.in_space(np.array([0.0, 1.0]))[:, 1].max() for chain in between)
        expected += sum(chain.length for chain in between) + marks.points["waist"][1] - top
    assert ease["crotch_length"].garment == pytest.approx(expected, abs=0.01)
    assert ease["crotch_length"].body == marks.crotch_length
    assert {"waist", "hips", "thigh"} < ease.keys()


def test_the_crotch_of_a_body(marks):
    """Down in front and up at the back; between them the tape goes around half an ellipse."""
    down = marks.points["waist"][1] - marks.points["crotch"][1]
    assert 2 * down < marks.crotch_length < 2 * down + np.pi / 2 * 0.25


@pytest.mark.parametrize("name", ["fitted_tee", "strap_dress", "hoody", "jumpsuit", "trousers"])
def test_worn_garments_are_of_the_right_size(name, figure):
    """Darts, low waists and panels that are cut in part at a level make no girth too small."""
    pattern = read_pattern(TROUSERS.with_name(f"{name}_specification.json"))
    found = pattern_ease(fit_start(pattern, figure)[0], figure.landmarks)
    assert found and not list(ease_warnings(name, found))


def test_several_garments_have_the_widest_girth(marks):
    """A tube over another one is measured by itself."""
    made = [cut(parse_yaml_pattern(tube(half)), 0.05) for half in ("50 cm", "60 cm")]
    x = np.concatenate([g.mesh.vertices for g in made])
    n, m = made[0].mesh.n_vertices, len(made[0].mesh.faces)
    faces = np.concatenate([g.mesh.faces + k * n for k, g in enumerate(made)]).astype(np.int32)
    mesh = TriangleMesh(x, faces, np.concatenate([g.mesh.corner_uv for g in made]))
    parts = [slice(r.start + k * m, r.stop + k * m) for k in (0, 1) for r in made[k].faces.values()]
    seams = [s.pairs + k * n for k in (0, 1) for s in made[k].seams]
    found = {e.name: e.garment for e in measure_ease(mesh, parts, seams, marks)}
    assert found == pytest.approx(dict.fromkeys(("chest", "waist", "hips"), 2.4))


SCENE = """
cloth: {garment: {pattern: tube.yaml, size: 5 cm}}
bodies: [{name: anna, mannequin: {figure: woman}}]
contact: {gap: 2 mm}
seconds: 0.1
"""


def write_scene(folder, more=""):
    (folder / "tube.yaml").write_text(tube("24 cm"))
    (folder / "scene.yaml").write_text(SCENE + more)
    return folder / "scene.yaml"


def test_a_scene_that_cannot_be_built_has_its_ease(tmp_path):
    found = check(write_scene(tmp_path, "pins: [{vertices: [123456]}]"))
    assert found.errors and any("waist" in fact and "+33 %" in fact for fact in found.facts)


def test_check_prints_the_table_and_names_a_body_in_another_unit(tmp_path):
    scene = write_scene(tmp_path)
    found = check(scene)
    assert any("waist" in fact and "96.0" in fact and "+33 %" in fact for fact in found.facts)
    assert not any("size" in w for w in found.warnings)
    body = mannequin("woman")
    write_mesh(tmp_path / "anna.obj", 100 * body.vertices, body.faces, None)
    text = scene.read_text().replace("mannequin: {figure: woman}", "mesh: {file: anna.obj}")
    scene.write_text(text)
    assert any("scale: 1 cm" in w for w in check(scene).warnings)
