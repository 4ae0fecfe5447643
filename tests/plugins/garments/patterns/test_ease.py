"""Ease of garments on a body, and the causes that checks name."""

from pathlib import Path

import numpy as np
import pytest

from tests.plugins.garments.builders import garment_of, scene_file
from weft.bodies.body import Body
from weft.bodies.shapes.primitives import sphere
from weft.io import write_mesh
from weft.plugins.garments.mannequin import mannequin
from weft.plugins.garments.patterns.check import check_pattern
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.ease import Ease, ease_warnings, measure_ease
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.garments.patterns.start_positions import fit_start
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern
from weft.plugins.garments.scene.ease_check import explain_tight
from weft.plugins.garments.scene.outfit import Outfit
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
def marks(figure):
    return figure.landmarks


def ease_of(text, marks):
    return pattern_ease(parse_yaml_pattern(text), marks)


def pattern_ease(pattern, marks):
    return cloth_ease(marks, cut(pattern, 0.05))


def cloth_ease(marks, *garments):
    """The ease of garments that are worn together."""
    cloth = Outfit.of([(str(k), g, None) for k, g in enumerate(garments)]).cloth
    parts = [part.faces for part in cloth.parts]
    names = [part.name for part in cloth.parts]
    return measure_ease(cloth.mesh, parts, [pairs for _, pairs in cloth.seams], marks, names=names)


def test_a_tube_has_its_girth_at_every_level_that_it_covers(marks):
    found = {e.name: e for e in ease_of(tube(), marks)}
    assert set(found) == {"chest", "waist", "hips"}
    assert [e.garment for e in found.values()] == pytest.approx([2.0] * 3)
    assert found["waist"].ratio == pytest.approx(2.0 / marks.girths["waist"])
    assert {e.name for e in ease_of(tube(high="95 cm"), marks)} == {"hips"}


def test_an_open_garment_has_no_girth(marks):
    assert ease_of(tube(seams=""), marks) == []


@pytest.mark.parametrize(
    "garment, cause",
    [
        (0.36, "inches taken for centimeters"),
        (2.5, "centimeters taken for inches"),
        (9.9, "millimeters taken for centimeters"),
        (0.78, "another size"),
        (1.6, "another size"),
        (0.88, None),
    ],
)
def test_the_likely_cause_is_named(garment, cause):
    said = list(ease_warnings("top", [Ease("chest", garment, 0.9), Ease("waist", 99.0, 0.7)]))
    assert len(said) == (cause is not None)
    assert cause is None or cause in said[0]


def test_the_crotch_of_trousers(figure, marks):
    """The seams between both legs, and what lacks up to the waist, in front and at the back; of the
    body, down in front and up at the back, and half an ellipse between them.
    """
    pattern = fit_start(read_pattern(TROUSERS), figure)[0]
    ease = {e.name: e for e in pattern_ease(pattern, marks)}
    expected = 0.0
    for side in "fb":
        legs = {f"pant_{side}_l", f"pant_{side}_r"}
        seams = check_pattern(pattern).seams
        between = [m.first for m in seams if {s.panel for s in m.sides} == legs]
        top = max(chain.in_space(np.array([0.0, 1.0]))[:, 1].max() for chain in between)
        expected += sum(chain.length for chain in between) + marks.points["waist"][1] - top
    assert ease["crotch_length"].garment == pytest.approx(expected, abs=0.01)
    assert ease["crotch_length"].body == marks.crotch_length
    assert {"waist", "hips", "thigh"} < ease.keys()
    down = marks.points["waist"][1] - marks.points["crotch"][1]
    assert 2 * down < marks.crotch_length < 2 * down + np.pi / 2 * 0.25


@pytest.mark.parametrize("name", ["fitted_tee", "strap_dress", "hoody", "jumpsuit", "trousers"])
def test_worn_garments_are_of_the_right_size(name, figure):
    """Darts, low waists and panels that are cut in part at a level make no girth too small."""
    pattern = read_pattern(TROUSERS.with_name(f"{name}_specification.json"))
    found = pattern_ease(fit_start(pattern, figure)[0], figure.landmarks)
    assert found and not list(ease_warnings(name, found))


def test_each_garment_has_its_girths_by_name(marks):
    """A tube over another one is measured by itself."""
    found = cloth_ease(marks, *(garment_of(tube(half)) for half in ("50 cm", "60 cm")))
    assert {(e.garment_name, e.name): e.garment for e in found} == pytest.approx(
        {(k, n): own for k, own in (("0", 2.0), ("1", 2.4)) for n in ("chest", "waist", "hips")}
    )


def test_garments_of_one_file_are_named_by_their_panels(marks):
    names = ["belt front", "belt back", "front", "back"]
    cloth = Outfit.of([(k, garment_of(tube()), None) for k in ("a", "b")]).cloth
    seams = [pairs for _, pairs in cloth.seams]
    found = measure_ease(cloth.mesh, [p.faces for p in cloth.parts], seams, marks, names=names)
    assert {e.garment_name for e in found} == {"belt", "front, back"}


def test_a_tight_panel_is_of_a_smaller_garment_only_by_its_girths(figure):
    garments = [garment_of(tube(half)) for half in ("20 cm", "60 cm")]
    cloth = Outfit.of([(str(k), g, None) for k, g in enumerate(garments)]).cloth
    small, wide = (cloth.parts[k].name for k in (0, 2))
    made, ball = mannequin("woman"), sphere(0.2)
    body = Body(made.vertices, made.faces)
    said = explain_tight(cloth, small, [body])
    assert said.startswith("the garment is smaller than the body: ") and "girth 80.0 cm" in said
    assert "not smaller" in explain_tight(cloth, wide, [body])
    assert explain_tight(cloth, small, [ball]) == ""
    assert explain_tight(cloth, small, [ball, body]) == said


def explained(text, panel):
    made = mannequin("woman")
    cloth = Outfit.of([("", garment_of(text), None)]).cloth
    return explain_tight(cloth, panel, [Body(made.vertices, made.faces)])


def test_a_tight_garment_is_measured_with_its_pleats_folded():
    """102 cm of cloth, of which two pressed pleats take in 12 cm as far down as the hips."""
    plain = tube("25.5 cm", "106 cm")
    pleated = plain.replace(
        "    placement: {translation: [0, 0, 25 cm]}",
        "    pleats: [{edge: top, depth: 3 cm, length: 30 cm}]\n"
        "    placement: {translation: [0, 0, 25 cm]}",
        1,
    )
    assert explained(plain, "front").startswith("the garment is not smaller")
    said = explained(pleated, "front")
    assert said.startswith("the garment is smaller than the body: hips girth 90.0 cm")


def test_a_tight_pocket_is_no_garment():
    """Nothing compares a pocket with the body, and it does not change what its panel is."""
    plain = tube("20 cm", "106 cm")
    line = "lines: {p: [[-6 cm, 94 cm], [-6 cm, 80 cm], [6 cm, 80 cm], [6 cm, 94 cm]]}"
    front, _, rest = plain.partition("    placement")
    pocket = (
        "  pocket:\n"
        "    outline: [{at: [0, 0], edge: sewn}, {at: [12 cm, 0], edge: sewn},\n"
        "              {at: [12 cm, 14 cm]}, {at: [0, 14 cm], edge: sewn}]\n"
        "seams:\n  pocket: [pocket.sewn, front.p]"
    )
    with_pocket = f"{front}    {line}\n    placement{rest}".replace("seams:", pocket)
    assert explained(with_pocket, "pocket") == ""
    assert explained(with_pocket, "front") == explained(plain, "front")
    assert "the garment is smaller" in explained(plain, "front")


SCENE = """
cloth: {garment: {pattern: tube.yaml, size: 5 cm}}
bodies: [{name: anna, mannequin: {figure: woman}}]
contact: {gap: 2 mm}
seconds: 0.1
"""


def write_scene(folder, more=""):
    return scene_file(folder, SCENE + more, tube=tube("24 cm"))


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
