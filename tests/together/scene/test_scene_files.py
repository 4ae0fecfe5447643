"""Scene files: what they mean, and every problem with its line."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft import extensions
from weft.base.errors import MeshError, SceneError, SceneProblems
from weft.base.schema.block import fields_of
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.condition import Variant
from weft.integrators.adaptive import Adaptive
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2
from weft.run.check_scene import check
from weft.scene.build import load_scene
from weft.scene.explain import explain
from weft.scene.field_units import json_schema
from weft.scene.identity import identity
from weft.scene.prepare import prepare
from weft.scene.schema import SceneFile, scene_block

pytestmark = pytest.mark.quick

GOOD = """\
cloth:
  sheet: {nx: 5, ny: 4, width: 50 cm, height: 400 mm}
  fabric: {preset: silk, density: 60 g/m^2}
  translation: [0, 1 m, 0]
  rotation: [90, 0, 0]
pins:
  - corners: top
    until: 500 ms
  - vertices: [0, 1]
    path:
      interpolation: linear
      keyframes:
        - {time: 0 s}
        - {time: 1 s, translation: [10 cm, 0, 0], rotation: 90 deg}
damping: 5 ms
step: 10 ms
seconds: 0.5 s
fps: 24
integrator: {backward_euler: {tolerance: 1 mm/s, linear: pcg}}
"""

SCENE_1998 = """cloth:
  sheet: {nx: 6, ny: 5, width: 50 cm, height: 40 cm}
  fabric: {preset: freecloth, rest_stretch_warp: 0.95}
integrator: baraff_witkin_1998
conditions: {p: 0.75, variant: exact, bend: [2e-5, 1e-5]}
adaptive: {limit: 0.2}
pins:
  - corners: top
    path:
      keyframes: [{time: 0 s}, {time: 1 s, translation: [0 m, 10 cm, 0 m]}]
seconds: 1 s
"""

BUCKLING = """cloth:
  panel: {outline: [[0, 0], [50 cm, 0], [50 cm, 40 cm], [0, 40 cm]], size: 8 cm, seed: 3}
  fabric: cotton
law: {name: immediate_buckling}
integrator: bdf2_semi_implicit
pins:
  - corners: top
seconds: 1 s
"""


def write(tmp_path, text, name="scene.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def problems(tmp_path, text, overrides=()):
    with pytest.raises(SceneError) as caught:
        load_scene(write(tmp_path, text), overrides)
    return str(caught.value)


def test_everything_arrives(tmp_path):
    loaded = load_scene(write(tmp_path, GOOD))
    scene = loaded.scene
    assert loaded.frames == 12 and loaded.fps == 24
    assert scene.cloth.mesh.rest_area.sum() == pytest.approx(0.2)
    assert scene.cloth.fabric.density == pytest.approx(0.06)
    assert scene.damping == pytest.approx(0.005) and scene.step == pytest.approx(0.01)
    assert scene.settings.tolerance == pytest.approx(1e-3) and scene.settings.linear == "pcg"
    assert scene.pins[0].until == pytest.approx(0.5)
    assert scene.pins[1].path.keyframes[1].rotation == pytest.approx(np.pi / 2)
    # Turned by 90 degrees about x: the sheet stands upright, one meter up.
    y = scene.cloth.vertices[:, 1]
    assert np.ptp(y) == pytest.approx(0.4) and y.mean() == pytest.approx(1.0)


def test_check_of_meshes(tmp_path):
    path = tmp_path / "a.obj"
    path.write_text(
        "v 0 0 0\nv 1 0 0\nv 0.5 1 0\nv 0.5 0 1\nv 0.5 -1 0\nv 9 9 9\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "f 1/1 2/2 3/3\nf 2/1 1/2 4/3\nf 1/1 2/2 5/3\n"
    )
    found = check(path)
    assert len(found.errors) == 1 and "isolated" in str(found.errors[0])
    assert any("1 non-manifold edges (first 0-1 near" in w for w in found.warnings)


TEXTS = {"good": GOOD, "1998": SCENE_1998, "buckling": BUCKLING}


@pytest.mark.parametrize(
    "text, change, match",
    [
        ("good", ("nx: 5", "nx: 1"), "cloth.sheet.nx = 1 (scene.yaml:2): must be >= 2"),
        ("good", ("width: 50 cm", "widht: 50 cm"), "did you mean 'width'?"),
        ("good", ("50 cm", "50 kg"), "cloth.sheet.width = '50 kg' (scene.yaml:2)"),
        ("good", ("until: 500 ms", "until: soon"), "pins.0.until = 'soon' (scene.yaml:8)"),
        ("good", ("corners: top", "corners: tp"), "(scene.yaml:7)"),
        ("good", ("corners: top", "box: {low: [5, 5, 5], high: [6, 6, 6]}"), "at least one vertex"),
        ("good", ("corners: top", "group: sleeve"), "expected one of: bottom, top, left, right"),
        ("good", ("vertices: [0, 1]", "vertices: [0, 99]"), "99 (scene.yaml:9): expected 0 to 19"),
        ("good", ("density: 60 g", "density: 0 g"), "'0 g/m^2' (scene.yaml:3): must be > 0"),
        ("good", ("preset: silk", "preset: slik"), "did you mean 'silk'?"),
        ("good", ("{time: 0 s}", "{time: 2 s}"), "strictly increasing"),
        ("good", ("  sheet: {", "  # {"), "one of sheet, panel, mesh, rod and garment"),
        ("good", ("fps: 24", "contact: {gap: 2 m}"), "contact.gap"),
        ("1998", ("p: 0.75", "p: 0.6"), "p = 0.6 (scene.yaml:5): must be 1, 0.75 or 0.5"),
        ("1998", ("2e-5, 1e-5", "-1, 1"), "(scene.yaml:5)"),
        (
            "1998",
            ("time: 1 s,", "time: 0.5 s,"),
            "at 0.5 s (scene.yaml:9): expected a keyframe at 1 s",
        ),
        ("1998", ("seconds: 1 s", "solver: {tolerance: 1e-3}"), "field solver"),
        ("1998", ("exact, bend: [2e-5, 1e-5]}\n", "body}\nlaw: {name: arap}\n"), "law"),
        (
            "buckling",
            ("[50 cm, 40 cm], [0, 40 cm]", "[0, 40 cm], [50 cm, 40 cm]"),
            "cross or touch",
        ),
        ("buckling", ("seed: 3", "holes: [[[0, 0], [9, 0], [0, 9]]]"), "outline and hole 0"),
        ("buckling", ("seconds: 1 s", "pressure: {pressure: 20 Pa}"), "a closed surface"),
        ("buckling", ("bdf2_semi_implicit", "baraff_witkin_1998"), "scene.law"),
    ],
)
def test_problems_name_field_and_line(tmp_path, text, change, match):
    changed = TEXTS[text].replace(*change)
    assert changed != TEXTS[text]
    assert match in problems(tmp_path, changed)


def test_all_problems_at_once(tmp_path):
    text = GOOD.replace("nx: 5", "nx: 1").replace("step: 10 ms", "step: -1")
    path = write(tmp_path, text.replace("until:", "untl:"))
    with pytest.raises(SceneProblems) as caught:
        load_scene(path)
    assert len(caught.value.problems) == 3
    text = GOOD.replace("preset: silk", "preset: slik").replace("corners: top", "corners: tp")
    assert len(check(write(tmp_path, text)).errors) == 2


@pytest.mark.parametrize(
    "override, said",
    [
        ("cloth.sheet.nx=1", "--set cloth.sheet.nx"),
        ("cloth.sheet.nx", "path=value"),
        ("pins.7.until=1", "no entry 7"),
    ],
)
def test_problem_of_an_override_says_so(tmp_path, override, said):
    assert said in problems(tmp_path, GOOD, [override])


def test_every_field_is_explained():
    """No field without a description, at any depth."""

    def walk(model, path):
        for name, field in fields_of(model).items():
            assert field.description, f"{path}.{name} has no description"
            _, rows = explain(f"scene.{'.'.join([*path, name])}")
            assert rows
            inner = scene_block([*path, name])
            if inner is not None:
                walk(inner, [*path, name])

    walk(SceneFile, [])


def test_python_and_yaml_scenes_are_the_same(tmp_path):
    cloth = weft.sheet(5, 4, width=0.5, height=0.4, fabric="silk")
    python = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))])
    sheet = "{nx: 5, ny: 4, width: 0.5, height: 0.4}"
    text = f"cloth: {{sheet: {sheet}, fabric: silk}}\npins: [{{corners: top}}]\n"
    file = load_scene(write(tmp_path, text)).scene
    assert identity(file) == identity(python)


def test_a_scene_of_1998(tmp_path):
    scene = load_scene(
        write(tmp_path, SCENE_1998), ["integrator.baraff_witkin_1998.psd=gauss_newton"]
    ).scene
    stepper = prepare(scene).stepper
    assert isinstance(stepper, Adaptive) and stepper.settings.limit == 0.2
    assert isinstance(stepper.stepper, BaraffWitkin1998)
    assert [e.damping for e in prepare(scene).model.energies[:3]] == [0.2] * 3  # the fabric's
    assert stepper.stepper.settings.psd.name == "GAUSS_NEWTON"
    assert scene.conditions.p == 0.75 and scene.conditions.variant is Variant.EXACT
    names = [e.name for e in prepare(scene).model.energies]
    assert names == ["stretch", "shear", "bend", "gravity"]


def test_a_longer_run_than_its_keyframes_is_refused(tmp_path):
    """Also where --frames asks for more than the scene's length."""
    scene = load_scene(write(tmp_path, SCENE_1998)).scene
    with refused(SceneError, "pins.0.path", got="1 s", expected="2 s"):
        weft.simulate(scene, seconds=2.0, fps=10, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_a_scene_of_immediate_buckling(tmp_path):
    scene = load_scene(write(tmp_path, BUCKLING)).scene
    assert isinstance(prepare(scene).stepper, SemiImplicitBdf2)
    membrane, bending, _ = prepare(scene).model.energies
    assert membrane.law.diagonal == (160.0, 160.0)  # 4 times cotton's shear stiffness
    assert isinstance(bending, BucklingBending) and set(bending.compression) == {3500.0}
    text = BUCKLING + "buckling: {compression: 20 N/m, calibrate: false}\n"
    other = load_scene(write(tmp_path, text)).scene
    assert set(prepare(other).model.energies[1].compression) == {20.0}
    assert identity(other) != identity(scene)


def bent_sheet():
    cloth = weft.sheet(4, 4)
    x = np.array(cloth.vertices)
    x[:, 1] = x[:, 0] ** 2
    return cloth.with_points(x)


def test_bending_is_chosen_by_name(tmp_path):
    """Every name of ``BENDING`` is one that scenes and files may say; without one, as it was."""
    kinds = set()
    for name in extensions.names("bending"):
        scene = load_scene(write(tmp_path, BUCKLING + f"bending: {name}\n")).scene
        kinds.add(type(prepare(scene).model.energies[1]))
        assert identity(scene)["bending"] == name
    assert len(kinds) == 4
    assert "bending" not in identity(load_scene(write(tmp_path, BUCKLING)).scene)
    with refused(SceneProblems, "bending", hint="'hinges'"):
        load_scene(write(tmp_path, BUCKLING + "bending: hingse\n"))
    text = BUCKLING.replace("law: {name: immediate_buckling}\n", "")
    with refused(SceneProblems, ("scene.bending", "pairs")):
        load_scene(write(tmp_path, text + "bending: hinges\nbuckling: {}\n"))
    with refused(MeshError, "rest angles", got="0.588 rad"):
        as_given = weft.Scene(bent_sheet(), rest_angles="as-given", bending="quadratic")
        prepare(as_given)


def test_the_json_schema_has_bounds_that_editors_know():
    """Bounds of optional numbers, too, have the names of JSON schema."""

    def names(part):
        if isinstance(part, dict):
            yield from part
            part = list(part.values())
        if isinstance(part, list):
            for each in part:
                yield from names(each)

    assert not {"gt", "ge", "lt", "le"} & set(names(json_schema()))
