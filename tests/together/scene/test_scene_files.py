"""Scene files: what they mean, and every problem with its line."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import MeshError, SceneError, SceneProblems
from weft.base.schema.block import fields_of
from weft.discretization.mesh import grid
from weft.io.obj import write_obj
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


def test_overrides(tmp_path):
    loaded = load_scene(
        write(tmp_path, GOOD),
        [
            "cloth.sheet.nx=9",
            "pins.0.until=1 s",
            "integrator.backward_euler.linear=splu",
            "gravity=[0, 0, 0]",
        ],
    )
    assert loaded.scene.cloth.n_vertices == 36
    assert loaded.scene.pins[0].until == 1.0 and loaded.scene.settings.linear == "splu"
    assert loaded.scene.gravity == (0, 0, 0)


def test_mesh_files_are_relative_to_the_scene(tmp_path):
    mesh = grid(4, 4, 1, 1)
    write_obj(tmp_path / "cloth.obj", mesh.vertices * 100, mesh.faces, mesh.corner_uv * 100)
    loaded = load_scene(write(tmp_path, "cloth: {mesh: {file: cloth.obj, scale: 1 cm}}\n"))
    assert loaded.scene.cloth.mesh.rest_area.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "change, match",
    [
        (("nx: 5", "nx: 1"), "cloth.sheet.nx = 1 (scene.yaml:2): must be >= 2"),
        (("width: 50 cm", "widht: 50 cm"), "(scene.yaml:2): expected one of nx, ny, width"),
        (("width: 50 cm", "widht: 50 cm"), "did you mean 'width'?"),
        (("50 cm", "50 kg"), "cloth.sheet.width = '50 kg' (scene.yaml:2)"),
        (("50 cm", "50"), None),
        (("until: 500 ms", "until: soon"), "pins.0.until = 'soon' (scene.yaml:8)"),
        (("corners: top", "corners: tp"), "(scene.yaml:7)"),
        (("corners: top", "box: {low: [5, 5, 5], high: [6, 6, 6]}"), "at least one vertex"),
        (("corners: top", "group: sleeve"), "expected one of: bottom, top, left, right"),
        (("vertices: [0, 1]", "vertices: [0, 99]"), "99 (scene.yaml:9): expected 0 to 19"),
        (("density: 60 g", "density: 0 g"), "density = '0 g/m^2' (scene.yaml:3): must be > 0"),
        (("density: 60 g/m^2", "stretch: -5 N/m"), "must be > 0"),
        (("density: 60 g/m^2", "stretch: 0 N/m"), "must be > 0"),
        (("density: 60 g/m^2", "densty: 60 g/m^2"), "did you mean 'density'?"),
        (("preset: silk", "preset: slik"), "did you mean 'silk'?"),
        (("step: 10 ms", "step: 0"), "step = 0 (scene.yaml:16): must be > 0"),
        (("step: 10 ms", "setp: 10 ms"), "did you mean 'step'?"),
        (("linear: pcg", "linear: pgc"), "did you mean 'pcg'?"),
        (("{time: 0 s}", "{time: 2 s}"), "strictly increasing"),
        (("  sheet:", "  shet:"), "did you mean 'sheet'?"),
        (("fps: 24", "fps: .inf"), "fps"),
        (("fps: 24", "fps: 24\nfps: 25"), "a second time"),
        (("pins:", "pins: ["), "valid YAML"),
    ],
)
def test_problems_name_field_and_line(tmp_path, change, match):
    text = GOOD.replace(*change)
    assert text != GOOD
    if match is None:
        load_scene(write(tmp_path, text))
        return
    assert match in problems(tmp_path, text)


def test_all_problems_at_once(tmp_path):
    text = (
        GOOD.replace("nx: 5", "nx: 1").replace("step: 10 ms", "step: -1").replace("until:", "untl:")
    )
    path = write(tmp_path, text)
    with pytest.raises(SceneProblems) as caught:
        load_scene(path)
    assert len(caught.value.problems) == 3
    text = GOOD.replace("preset: silk", "preset: slik").replace("corners: top", "corners: tp")
    assert len(check(write(tmp_path, text)).errors) == 2


def test_problem_of_an_override_says_so(tmp_path):
    assert "--set cloth.sheet.nx" in problems(tmp_path, GOOD, ["cloth.sheet.nx=1"])
    assert "path=value" in problems(tmp_path, GOOD, ["cloth.sheet.nx"])
    assert "no entry 7" in problems(tmp_path, GOOD, ["pins.7.until=1"])


@pytest.mark.parametrize("text, match", [("", "expected fields"), ("- 1\n", "expected fields")])
def test_not_a_scene(tmp_path, text, match):
    assert match in problems(tmp_path, text)


def test_missing_file(tmp_path):
    with refused(SceneError, "scene file", where="nothing.yaml"):
        load_scene(tmp_path / "nothing.yaml")


def test_one_source_of_cloth(tmp_path):
    said = problems(tmp_path, "cloth: {fabric: silk}\n")
    assert "one of sheet, panel, mesh, rod and garment" in said
    assert "give cloth, or several cloths" in problems(tmp_path, "fps: 30\n")


def test_check_of_meshes(tmp_path):
    path = tmp_path / "a.obj"
    path.write_text(
        "v 0 0 0\nv 1 0 0\nv 0.5 1 0\nv 0.5 0 1\nv 0.5 -1 0\nv 9 9 9\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "f 1/1 2/2 3/3\nf 2/1 1/2 4/3\nf 1/1 2/2 5/3\n"
    )
    found = check(path)
    assert len(found.errors) == 1 and "isolated" in str(found.errors[0])
    assert any("1 non-manifold edges (first 0-1 near" in w for w in found.warnings)


def test_isolated_vertices_in_a_scene(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nf 1 2 3\n")
    text = "cloth: {mesh: {file: a.obj, warp: [1, 0, 0]}}\n"
    assert "isolated vertices = 1, first [3]" in problems(tmp_path, text)


@pytest.mark.parametrize("scale, asked", [(0.8, True), (1.02, False), (1.0, False)])
def test_check_says_how_the_mesh_lies_over_its_rest_shape(tmp_path, scale, asked):
    """Texture coordinates of another size crush the cloth: the stretch is printed, and asked about
    above 3 %, of a file and of a scene.
    """
    mesh = grid(4, 4, 1.0, 1.0)
    write_obj(tmp_path / "a.obj", mesh.vertices, mesh.faces, mesh.corner_uv / scale)
    scene = write(tmp_path, "cloth: {mesh: {file: a.obj}}\n")
    for path in (tmp_path / "a.obj", scene):
        found = check(path)
        assert any(f"median stretch {scale:g}" in fact for fact in found.facts)
        assert [("uv_scale" in w and "warp" in w) for w in found.warnings] == [True] * asked
    assert not check(tmp_path / "a.obj", warp=(1, 0, 0)).warnings
    assert not check(scene, ["cloth.mesh.warp=[1, 0, 0]"]).warnings


def test_degenerate_faces_are_given_for_drawing(tmp_path):
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nf 1/1 2/2 3/2\n")
    mesh, ids = check(path).marked
    assert ids.tolist() == [0] and len(mesh.faces) == 1
    text = "cloth: {mesh: {file: a.obj}}\n"
    assert check(write(tmp_path, text)).marked is not None


def folded_through(tmp_path):
    """A sheet whose right third has been turned over and pushed through the middle."""
    mesh = grid(10, 4, 0.9, 0.3)
    x = np.array(mesh.vertices)
    right = x[:, 0] > 0.15
    x[right, 0] = 0.3 - x[right, 0] + 0.01
    x[right, 1] += 0.3 * (x[right, 0] + 0.1)
    path = tmp_path / "folded.obj"
    write_obj(path, x, mesh.faces, mesh.corner_uv)
    return path


def test_faces_that_intersect_are_listed(tmp_path):
    found = check(folded_through(tmp_path))
    _, pairs = found.crossing
    assert len(pairs) > 3 and not found.errors
    assert any("faces intersect at the start" in w and "near (" in w for w in found.warnings)
    assert check(write(tmp_path, GOOD)).crossing is None


def test_wrong_scale_is_a_warning(tmp_path):
    mesh = grid(4, 4, 1, 1)
    write_obj(tmp_path / "a.obj", mesh.vertices * 180, mesh.faces, mesh.corner_uv)
    warnings = " ".join(check(tmp_path / "a.obj").warnings)
    assert "is the scale right" in warnings and "stretch 180" in warnings


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


def test_explain_unknown_field():
    with refused(SceneError, "field scene.cloth.fabrci", got="'fabrci'", hint="'fabric'"):
        explain("scene.cloth.fabrci")


def test_python_and_yaml_scenes_are_the_same(tmp_path):
    import weft

    cloth = weft.sheet(5, 4, width=0.5, height=0.4, fabric="silk")
    python = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))])
    sheet = "{nx: 5, ny: 4, width: 0.5, height: 0.4}"
    text = f"cloth: {{sheet: {sheet}, fabric: silk}}\npins: [{{corners: top}}]\n"
    file = load_scene(write(tmp_path, text)).scene
    assert identity(file) == identity(python)


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


def test_a_scene_of_1998(tmp_path):
    from weft.energies.elastic.condition import Variant
    from weft.integrators.adaptive import Adaptive
    from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998

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


def test_conditions_without_their_own_bend_take_the_fabric(tmp_path):
    text = SCENE_1998.replace(", bend: [2e-5, 1e-5]", "")
    scene = load_scene(write(tmp_path, text)).scene
    law = load_scene(
        write(
            tmp_path,
            text.replace("conditions", "# conditions").replace(
                "baraff_witkin_1998", "backward_euler"
            ),
            "other.yaml",
        )
    ).scene
    bend, bending = prepare(scene).model.energies[2], prepare(law).model.energies[1]
    np.testing.assert_allclose(bend.weight, bending.weight)


@pytest.mark.parametrize(
    "change, match",
    [
        (("p: 0.75", "p: 0.6"), "conditions.p = 0.6 (scene.yaml:5): must be 1, 0.75 or 0.5"),
        (("variant: exact", "variant: exakt"), "did you mean 'exact'?"),
        (("rest_stretch_warp: 0.95", "rest_stretch_warp: 0"), "(scene.yaml:3): must be > 0"),
        (("rest_stretch_warp: 0.95", "rest_stretch_warp: -1"), "rest_stretch_warp"),
        (("2e-5, 1e-5", "-1, 1"), "(scene.yaml:5)"),
        (("time: 1 s,", "time: 0.5 s,"), "at 0.5 s (scene.yaml:9): expected one at 1 s or later"),
        (("time: 1 s,", "time: 0.5 s,"), "hold: true"),
        (("limit: 0.2", "limit: 0"), "adaptive.limit = 0 (scene.yaml:6): must be > 0"),
        (("seconds: 1 s", "seconds: 1 s\nsolver: {tolerance: 1e-3}"), "field solver"),
        (("baraff_witkin_1998", "barraf_witkin_1998"), "did you mean 'baraff_witkin_1998'?"),
        (("baraff_witkin_1998\n", "{baraff_witkin_1998: {stop: conditioned}}\n"), ".stop"),
        (("baraff_witkin_1998\n", "{baraff_witkin_1998: {forcing: 1}}\n"), ".forcing"),
        (
            (
                "baraff_witkin_1998\nconditions: {p: 0.75, variant: exact",
                "backward_euler\nconditions: {p: 0.75, variant: body",
            ),
            "expected exact",
        ),
        (("baraff_witkin_1998\n", "{backward_euler: {stop: energy}}\n"), "backward_euler.stop"),
    ],
)
def test_problems_of_a_scene_of_1998(tmp_path, change, match):
    text = SCENE_1998.replace(*change)
    assert text != SCENE_1998
    assert match in problems(tmp_path, text)


def test_a_longer_run_than_its_keyframes_is_refused(tmp_path):
    """Also where --frames asks for more than the scene's length."""
    import weft

    scene = load_scene(write(tmp_path, SCENE_1998)).scene
    with refused(SceneError, "pins.0.path", got="1 s", expected="2 s"):
        weft.simulate(scene, seconds=2.0, fps=10, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
    held = SCENE_1998.replace("path:", "path:\n      hold: true")
    scene = load_scene(write(tmp_path, held)).scene
    weft.simulate(scene, seconds=1.2, fps=10, out=tmp_path / "run", progress=False)


def test_conditions_under_backward_euler(tmp_path):
    """EXACT conditions are energies: every integrator takes them, with their damping."""
    text = SCENE_1998.replace("baraff_witkin_1998", "backward_euler")
    scene = load_scene(write(tmp_path, text)).scene
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    _, _, report = stepper.step(model, state, stepper.init(model, state), 0.01)
    assert report.outcome.ok
    assert {"stretch damping", "shear damping", "bend damping"} < set(report.terms)


BUCKLING = """cloth:
  panel: {outline: [[0, 0], [50 cm, 0], [50 cm, 40 cm], [0, 40 cm]], size: 8 cm, seed: 3}
  fabric: cotton
law: {name: immediate_buckling}
integrator: bdf2_semi_implicit
pins:
  - corners: top
seconds: 1 s
"""


def test_a_scene_of_immediate_buckling(tmp_path):
    from weft.energies.elastic.buckling_bending import BucklingBending
    from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2

    scene = load_scene(write(tmp_path, BUCKLING)).scene
    assert isinstance(prepare(scene).stepper, SemiImplicitBdf2)
    membrane, bending, _ = prepare(scene).model.energies
    assert membrane.law.diagonal == (160.0, 160.0)  # 4 times cotton's shear stiffness
    assert isinstance(bending, BucklingBending) and set(bending.compression) == {3500.0}
    assert bending.damping == membrane.damping > 0
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
    from weft import extensions
    from weft.energies.elastic.buckling_bending import BucklingBending
    from weft.energies.elastic.fitted_bending import FittedBending
    from weft.energies.elastic.hinge_bending import HingeBending
    from weft.energies.elastic.quadratic_bending import QuadraticBending

    kinds = {
        "hinges": HingeBending,
        "quadratic": QuadraticBending,
        "fitted": FittedBending,
        "pairs": BucklingBending,
    }
    assert kinds.keys() == set(extensions.names("bending"))
    for name, kind in kinds.items():
        scene = load_scene(write(tmp_path, BUCKLING + f"bending: {name}\n")).scene
        assert type(prepare(scene).model.energies[1]) is kind
        assert identity(scene)["bending"] == name
    assert "bending" not in identity(load_scene(write(tmp_path, BUCKLING)).scene)
    with refused(SceneProblems, "bending", hint="'hinges'"):
        load_scene(write(tmp_path, BUCKLING + "bending: hingse\n"))
    for more, message in (
        ("bending: hinges\nbuckling: {}\n", ("scene.bending", "pairs")),
        ("bending: pairs\nconditions: {}\n", ("scene.bending", "given", "1998")),
    ):
        text = BUCKLING.replace("law: {name: immediate_buckling}\n", "") + more
        with refused(SceneProblems, message):
            load_scene(write(tmp_path, text))
    with refused(MeshError, "rest angles", got="0.588 rad"):
        as_given = weft.Scene(bent_sheet(), rest_angles="as-given", bending="quadratic")
        prepare(as_given)


def test_every_law_can_bend_by_pairs_and_every_integrator_can_step(tmp_path):
    from weft.scene.law import LAWS
    from weft.scene.scene import INTEGRATORS

    for law in LAWS:
        text = BUCKLING.replace("immediate_buckling", law) + "buckling: {}\n"
        assert "bending" in {
            e.name for e in prepare(load_scene(write(tmp_path, text)).scene).model.energies
        }
    for integrator in INTEGRATORS:
        if integrator == "baraff_witkin_1998":
            continue
        text = BUCKLING.replace("bdf2_semi_implicit", integrator)
        scene = load_scene(write(tmp_path, text)).scene
        ready = prepare(scene)
        model, stepper, state = ready.model, ready.stepper, ready.state
        _, _, report = stepper.step(model, state, stepper.init(model, state), 0.01)
        assert report.outcome.ok, integrator


@pytest.mark.parametrize(
    "change, match",
    [
        (("size: 8 cm", "size: 0"), "panel.size = 0 (scene.yaml:2): must be > 0"),
        (("[50 cm, 40 cm], [0, 40 cm]", "[0, 40 cm], [50 cm, 40 cm]"), "(scene.yaml:2)"),
        (("[50 cm, 40 cm], [0, 40 cm]", "[0, 40 cm], [50 cm, 40 cm]"), "cross or touch"),
        (("seed: 3", "holes: [[[0, 0], [9, 0], [0, 9]]]"), "outline and hole 0"),
        (("law: {name: immediate_buckling}", "law: {name: immediate_bukling}"), "did you mean"),
        (("seconds: 1 s", "buckling: {compression: -1}"), "compression"),
        (("bdf2_semi_implicit", "{bdf2_semi_implicit: {forcing: 1}}"), ".forcing"),
        (("seconds: 1 s", "pressure: {pressure: 20 Pa}"), "a closed surface"),
        (("seconds: 1 s", "pressure: {pressure: 20 Pa, volume: -1}"), "pressure.volume"),
        (("bdf2_semi_implicit", "baraff_witkin_1998"), "scene.law"),
    ],
)
def test_problems_of_a_scene_of_immediate_buckling(tmp_path, change, match):
    text = BUCKLING.replace(*change)
    assert text != BUCKLING
    assert match in problems(tmp_path, text)


def test_self_contact_in_a_scene_file(tmp_path):
    scene = load_scene(write(tmp_path, GOOD + "contact: {gap: 4 mm, thickness: 1 mm}\n")).scene
    contact = prepare(scene).model.contact
    assert (contact.gap, contact.mesh.sides.thickest) == pytest.approx((4e-3, 1e-3))
    assert prepare(load_scene(write(tmp_path, GOOD)).scene).model.contact is None
    assert "contact.gap" in problems(tmp_path, GOOD + "contact: {gap: 2 m}\n")
    assert "must be >= 1e-12" in problems(tmp_path, GOOD + "contact: {gap: 0}\n")


def test_check_doubts_units(tmp_path):
    """A fabric that no unit test refuses, but no textile is like, is a warning of `weft check`."""
    from weft.run.check_scene import check

    path = tmp_path / "odd.yaml"
    path.write_text(
        "cloth: {sheet: {nx: 4, ny: 4}, fabric: {preset: cotton, density: 150 kg/m^2}}\n"
        "pins: [{corners: top}]\n"
    )
    found = check(path)
    assert not found.errors and any("density = 150 kg" in w for w in found.warnings)


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
