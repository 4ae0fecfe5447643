"""Which vertices a selection of a scene file has: of which cloth, and in which order."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft import extensions
from weft.base.errors import SceneError, SceneProblems
from weft.io.obj import write_obj
from weft.scene.build import load_scene
from weft.scene.explain import vertex_names
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

TWO = """\
cloths:
  - {name: left, sheet: {nx: 4, ny: 3, width: 30 cm, height: 20 cm}}
  - {name: right, sheet: {nx: 5, ny: 3, width: 30 cm, height: 20 cm}, translation: [0, 0, 1]}
bodies: [{name: ball, sphere: {radius: 1 cm, size: 1 cm}, translation: [0, -2 cm, 1]}]
"""
FIRST = 12  # the first vertex of the cloth "right"


def load(tmp_path, text):
    path = tmp_path / "scene.yaml"
    path.write_text(TWO + text)
    return load_scene(path).scene


def test_ids_are_those_of_the_named_cloth(tmp_path):
    scene = load(tmp_path, "pins: [{cloth: right, vertices: [0, 14]}, {vertices: [0, 14]}]")
    named, whole = scene.pins
    assert named.vertices.tolist() == [FIRST, FIRST + 14] and whole.vertices.tolist() == [0, 14]
    with refused(SceneError, "pins.0.vertices", got=12, expected="0 to 11"):
        load(tmp_path, "pins: [{cloth: left, vertices: [12]}]")


KINDS = [
    "kind: rope, at: [0, 1, 0]",
    "kind: spring, at: [0, 1, 0], stiffness: 1",
    "kind: body, body: ball, within: 2",
    "kind: slide, along: [[0, 0, 1], [0, 0.3, 1]], within: 2",
    "kind: goal, stiffness_per_area: 1",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_takes_ids_of_its_cloth(tmp_path, kind):
    scene = load(tmp_path, f"attachments: [{{{kind}, cloth: right, vertices: [3, 1, 7]}}]")
    (held,) = scene.attachments
    assert held.vertices.tolist() == [FIRST + 3, FIRST + 1, FIRST + 7]


@pytest.mark.parametrize("kind", ["cloth, closing: 1", "rope, length: 9", "spring, stiffness: 1"])
def test_pairs_are_those_that_are_listed(tmp_path, kind):
    """Neither by their size nor by their distance; one vertex may have several partners."""
    ends = "cloth: left, vertices: [7, 2, 2, 5], to: {cloth: right, vertices: [1, 9, 0, 4]}"
    (held,) = load(tmp_path, f"attachments: [{{kind: {kind}, {ends}}}]").attachments
    assert held.vertices.tolist() == [7, 2, 2, 5]
    assert (held.to - FIRST).tolist() == [1, 9, 0, 4]
    (held,) = load(tmp_path, f"attachments: [{{kind: {kind}, {ends}, every: 2}}]").attachments
    assert held.vertices.tolist() == [7, 2] and (held.to - FIRST).tolist() == [1, 0]


def test_a_message_counts_as_the_scene_file_does(tmp_path):
    ends = "cloth: left, vertices: [7], to: {cloth: right, vertices: [1]}"
    with refused(SceneError, "attachments.0.within", got="vertex 7 of left and vertex 1 of right"):
        load(tmp_path, f"attachments: [{{kind: cloth, {ends}}}]")
    with refused(SceneError, "pins.0.box", hint="vertex is 4"):
        load(tmp_path, "pins: [{cloth: right, box: {low: [1, 0, 1.1], high: [2, 1, 2]}}]")


def test_groups_of_a_cloth_that_is_alone(tmp_path):
    """It is named as one of several would be."""
    sheet = weft.sheet(3, 3)
    write_obj(tmp_path / "a.obj", sheet.vertices, sheet.faces, sheet.corner_uv)
    text = (tmp_path / "a.obj").read_text().replace("f ", "g hem\nf ", 1)
    (tmp_path / "a.obj").write_text(text)
    path = tmp_path / "scene.yaml"
    path.write_text(
        "cloth: {name: own, mesh: {file: a.obj}}\n"
        "pins: [{cloth: own, group: hem}, {cloth: own, vertices: [1]}]"
    )
    first, second = load_scene(path).scene.pins
    assert len(first.vertices) == 9 and second.vertices.tolist() == [1]


MADE = [
    lambda ids: weft.Hold(ids, (0, 0, 0)),
    lambda ids: weft.Hand(ids, [1.0], [0.0], [(0, 0, 0)]),
    lambda ids: weft.adjoint.Mean(vertices=ids),
    lambda ids: weft.Pin(ids),
    lambda ids: weft.Rope(ids, at=(0, 1, 0)),
    lambda ids: weft.Rope([0], to=ids, length=1.0),
    lambda ids: weft.Spring(ids, at=(0, 1, 0), stiffness=1.0),
    lambda ids: weft.AttachCloth([0], ids),
    lambda ids: weft.AttachToBody(ids, "ball"),
    lambda ids: weft.Slide(ids, [(0, 0, 0), (1, 0, 0)]),
    lambda ids: weft.Goal(ids, stiffness_per_area=1.0),
]


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("ids", [[-1], np.array([-1], dtype=np.int32)])
def test_negative_ids_are_refused_in_python(make, ids):
    with refused(SceneError, got="-", expected="from 0 on"):
        make(ids)


@pytest.mark.parametrize("make", MADE[3:])
def test_ids_that_no_vertex_has_are_refused_by_the_scene(make):
    held = make([9])
    with refused(SceneError, got=9, expected="0 to 8"):
        given = {"pins": [held]} if isinstance(held, weft.Pin) else {"attachments": [held]}
        weft.Scene(weft.sheet(3, 3), **given)


def test_ids_of_losses():
    x = np.zeros((1, 4, 3))
    with refused(SceneError, "loss.vertices", got=4):
        weft.adjoint.Mean(vertices=[4])(x, x, np.zeros(1))


def test_pairs_of_different_lengths_are_refused():
    scene = weft.Scene(weft.sheet(3, 3), attachments=[weft.AttachCloth([0, 1, 2], [3, 4])])
    with refused(SceneError, "attachment 1.to", got="2 vertices", expected="3, or one"):
        prepare(scene)


def test_the_names_of_vertices_are_those_of_the_cloths(tmp_path):
    """The table of `weft explain scene.pins` and of the manual, for each source of cloth."""
    rows = vertex_names()
    known = {cloth: names for field, cloth, names in rows if field == "group"}
    assert known.keys() == set(extensions.Registry("cloth sources"))
    assert "no groups" not in known.values()
    line = "along: [[0, 0, 0], [1, 0, 0]], diameter: 1 cm, mass: 1 g/m, stretch: 1, bending: 1e-4"
    square = "[[0, 0], [1, 0], [1, 1], [0, 1]]"
    hole = "[[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6]]"
    for name, block in {
        "sheet": "sheet: {nx: 4, ny: 3}",
        "rod": f"rod: {{{line}}}",
        "panel": f"panel: {{outline: {square}, holes: [{hole}], size: 0.5}}",
    }.items():
        path = tmp_path / "scene.yaml"
        path.write_text(f"cloth: {{{block}}}\n")
        groups = load_scene(path).scene.cloth.mesh.groups
        listed = known[name].replace("; ", ", ").split(", ")
        assert set(groups) == {n for n in listed if n not in ("hole 1", "...")}, name
    cloth = weft.sheet(4, 3)
    for field, _, names in rows[:2]:
        assert all(len(getattr(cloth, field)(word)) for word in names.split(", "))


@pytest.mark.parametrize(
    "pin, said",
    [("corners: top-lef", "'top-left'"), ("border: botom", "'bottom'"), ("group: tpo", "'top'")],
)
def test_a_misspelled_name_of_vertices_names_the_nearest(tmp_path, pin, said):
    path = tmp_path / "scene.yaml"
    path.write_text(f"cloth: {{sheet: {{nx: 4, ny: 3}}}}\npins: [{{{pin}}}]\n")
    with refused(SceneProblems, pin.split(":")[0], hint=f"did you mean {said}?"):
        load_scene(path)
