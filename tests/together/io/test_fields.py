"""Fields of runs against closed forms and independent readers of what exports carry."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

import weft
from tests.engine.io.files import read_glb
from tests.reference.air import frozen_air
from tests.refusals import refused
from tests.resuming import whole_and_resumed
from tests.together.io.reading import values_of
from weft.base.errors import RunError, SceneError
from weft.cli import commands as cli
from weft.cloth.fields import FIELDS, air_force, curvatures, face_strain, face_stress, gradients
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind
from weft.energies.elastic.membrane import Membrane
from weft.io import read_mesh
from weft.io.obj import write_obj
from weft.laws import BaraffWitkin
from weft.scene.build import load_scene
from weft.scene.membrane_law import physics
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

SCENE = """
cloth: {sheet: {nx: 4, ny: 5, width: 20 cm, height: 20 cm}, fabric: felt, translation: [0, 2 mm, 0]}
bodies: [{plate: {width: 60 cm, depth: 60 cm, size: 30 cm}}]
contact: {gap: 4 mm, friction: 0.5}
wind: {velocity: [1 m/s, 0, 0.2 m/s]}
seconds: 0.1 s
fps: 20
"""
RECORD = f"record: [{', '.join(FIELDS)}]\n"
WIDTHS = {
    "strain": (24, 3),
    "stress": (24, 3),
    "air": (24, 3),
    "curvature": (20, 2),
    "pressure": (20,),
    "velocity": (20, 3),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same run with fields and without."""
    folder, made = tmp_path_factory.mktemp("fields"), {}
    for name, text in (("with", SCENE + RECORD), ("without", SCENE)):
        (folder / f"{name}.yaml").write_text(text)
        loaded = load_scene(folder / f"{name}.yaml")
        made[name] = weft.simulate(
            loaded.scene, frames=2, fps=20, out=folder / name, progress=False, fsync=False
        )
        made[name + " scene"] = loaded.scene
    return made


@pytest.mark.parametrize("F", [[[1.1, 0], [0, 0.97], [0, 0]], [[1.05, 0.3], [0, 0.9], [0.2, 0.1]]])
def test_stress_is_force_over_width(F):
    """What a border's vertices pull with, over its width, is the warp's tension along the warp and
    the shear along the weft.
    """
    mesh, law = grid(4, 3, 0.6, 0.4), BaraffWitkin((300.0, 200.0), 40.0)
    flat = mesh.vertices[:, [0, 2]] * [1, -1]
    x = flat @ np.array(F).T
    at = gradients(mesh, x)
    np.testing.assert_allclose(at, np.broadcast_to(F, at.shape), atol=1e-12)
    local = Membrane(linear_triangle(mesh), law).gradient(x)
    g = np.zeros_like(x)
    np.add.at(g, mesh.faces, local)
    pull = g[flat[:, 0] == flat[:, 0].max()].sum(0) / 0.4
    warp, weft_, shear = face_stress(at, [(law, len(mesh.faces))])[5]
    f0, f1 = np.array(F, dtype=float).T
    d0, d1 = np.linalg.norm(f0), np.linalg.norm(f1)
    np.testing.assert_allclose(pull, warp * f0 / d0 + shear * f1 / np.sqrt(d0 * d1), atol=1e-9)
    if F[0][1] == 0:  # a homogeneous pull
        assert warp == pytest.approx(300.0 * 0.1) and shear == 0.0
        assert weft_ == pytest.approx(-200.0 * 0.03)
    np.testing.assert_allclose(face_strain(at)[0, :2], [d0 - 1, d1 - 1], atol=1e-12)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("pattern", ["alternating", "regular"])
def test_curvature_of_a_cylinder(side, pattern):
    """(1/r, 0) inside, with the sign of the side it is bent to."""
    mesh, r = weft.sheet(41, 5, 1.0, 0.1, pattern=pattern).mesh, 0.5
    angle = mesh.vertices[:, 0] / r
    x = np.column_stack([r * np.sin(angle), side * r * (1 - np.cos(angle)), mesh.vertices[:, 2]])
    inside = np.abs(mesh.vertices[:, 0]) < 0.46  # next to both ends faces lack a hinge
    k = curvatures(mesh, x)[inside]
    expected = np.sort([0.0, side / r])[::-1]
    np.testing.assert_allclose(k, np.broadcast_to(expected, k.shape), atol=5e-3 / r)


@pytest.mark.parametrize("crossflow", [False, True])
def test_air_of_a_plate(crossflow):
    """rho C_D U^2/2 across the wind; at an incidence what the term of the potential has."""
    mesh, wind = grid(3, 3, 1.0, 1.0), Wind((0.0, 4.0, 0.0), 1.2, 1.17, 1.0, crossflow=crossflow)
    still = np.zeros_like(mesh.vertices)
    force = air_force(mesh, mesh.vertices, still, 0.0, wind)
    np.testing.assert_allclose(force, np.tile([0, 0.5 * 1.2 * 1.17 * 16, 0], (8, 1)), rtol=1e-12)
    scene = weft.Scene(weft.sheet(3, 3, 1.0, 1.0).move((0, 0, 0), (20, 0, 35)), wind=wind)
    mesh = scene.cloth.mesh
    turned = mesh.vertices
    step = prepare(scene).model.step(prepare(scene).state, 0.0)
    frozen = frozen_air(AirForce(linear_triangle(mesh), wind), step)
    total = (mesh.rest_area[:, None] * air_force(mesh, turned, still, 0.0, wind)).sum(0)
    np.testing.assert_allclose(total, -frozen.gradient(turned).sum((0, 1)), rtol=1e-12)


def test_pressure_of_what_rests_is_its_weight(tmp_path):
    cloth = weft.sheet(5, 5, 0.2, 0.2, fabric="felt").move((0, 2e-3, 0))
    bodies, how = [weft.contact.plate(0.6, 0.6, 0.3)], {"contact": weft.SelfContact(4e-3)}
    how |= {"integrator": "quasi_static", "record": ["pressure"]}
    scene = weft.Scene(cloth, bodies=bodies, **how)
    run = weft.simulate(scene, frames=1, fps=1, out=tmp_path / "run", progress=False)
    carried = float(run.field("pressure") @ run.mesh.vertex_area)
    assert carried == pytest.approx(9.81 * cloth.mass.sum(), rel=2e-3)


def test_what_was_recorded_is_what_is_made_afterwards(runs):
    kept, bare, scene = runs["with"], runs["without"], runs["without scene"]
    assert kept.field_names() == FIELDS and bare.field_names() == ()
    for k in range(3):
        np.testing.assert_array_equal(kept.positions(k), bare.positions(k))
        for name in FIELDS:
            recorded = kept.field(name, k)
            assert recorded.shape == WIDTHS[name]
            again = bare.field(name, k, physics=physics(scene))
            np.testing.assert_array_equal(recorded, again, err_msg=name)
    with refused(RunError, "field stress", got="law", hint="`record`"):
        bare.field("stress")
    with refused(RunError, "field color"):
        bare.field("color")


def test_usd_primvars(runs, tmp_path):
    pxr = pytest.importorskip("pxr.Usd")
    from pxr import UsdGeom

    run = runs["with"]
    run.export(tmp_path / "a.usdc", up="z")
    stage = pxr.Stage.Open(str(tmp_path / "a.usdc"))
    mesh = next(UsdGeom.Mesh(p) for p in stage.Traverse() if p.IsA(UsdGeom.Mesh))
    api = UsdGeom.PrimvarsAPI(mesh)
    stress, air = api.GetPrimvar("stress"), api.GetPrimvar("air")
    assert stress.GetInterpolation() == "uniform"
    assert api.GetPrimvar("pressure").GetInterpolation() == "vertex"
    np.testing.assert_allclose(stress.Get(2), run.field("stress", 2), rtol=1e-5, atol=1e-9)
    x, y, z = run.field("air", 1).T
    np.testing.assert_allclose(air.Get(1), np.stack([x, -z, y], 1), rtol=1e-5, atol=1e-9)


def test_gltf_attributes(runs, tmp_path):
    (note,) = runs["with"].export(tmp_path / "a.glb")
    assert "first frame" in note
    tree, blob = read_glb(tmp_path / "a.glb")
    attributes = tree["meshes"][0]["primitives"][0]["attributes"]
    assert {f"_{name.upper()}" for name in FIELDS} <= set(attributes)
    got = values_of(tree, blob, attributes["_VELOCITY"], "<f4").reshape(-1, 3)
    np.testing.assert_allclose(got, runs["with"].field("velocity", 0), atol=1e-7)


def test_ply_properties_and_formats_without_fields(runs, tmp_path):
    run = runs["with"]
    run.save(tmp_path / "a.ply", 2)
    data = (tmp_path / "a.ply").read_bytes()
    header, body = data.split(b"end_header\n", 1)
    of_vertices, of_faces = header.decode().split("element face 24")
    names = re.findall(r" double (\S+)", of_vertices)
    rows = np.frombuffer(body, "<f8", 20 * len(names)).reshape(20, -1)
    np.testing.assert_array_equal(rows[:, names.index("curvature_1")], run.field("curvature")[:, 1])
    assert "property double stress_2" in of_faces
    np.testing.assert_array_equal(read_mesh(tmp_path / "a.ply").faces, run.faces)
    assert "carry no fields" in run.export(tmp_path / "a.pc2")[-1]


def test_splines_and_resume(tmp_path):
    cloth = weft.spline_sheet(4, 4, 0.3, 0.3, fabric="felt", density=2)
    record = ["stress", "air", "curvature", "velocity"]
    pins, wind = [weft.Pin(cloth.corners("top"))], Wind((1.0, 0.0, 0.0))
    scene = weft.Scene(cloth, pins, wind=wind, record=record)
    whole = whole_and_resumed(scene, tmp_path, frames=2, fps=25)
    assert len(whole.field("stress")) == len(whole.faces)
    fine = whole.field("stress", density=4, physics=physics(scene))
    assert len(fine) == 4 * len(whole.faces)


@pytest.mark.parametrize(
    "names, more, match",
    [
        (["air"], {}, ("scene.record: air", "wind")),
        (["pressure"], {}, ("scene.record: pressure", "contact")),
        (["heat"], {}, ("scene.record", "heat")),
        ("stress", {}, ("scene.record", "'stress'")),
        (["stress"], {"integrator": "baraff_witkin_1998"}, "scene.record: stress"),
    ],
)
def test_what_is_missing_is_named(names, more, match):
    with refused(SceneError, match):
        weft.Scene(weft.sheet(3, 3), record=names, **more)


def test_fields_of_numbers_that_change_are_of_their_time(tmp_path):
    """Wind that turns on: recorded, and made afterwards by the laws."""
    cloth = weft.sheet(4, 4, 0.3, 0.3, fabric="cotton")
    keys = {"wind.velocity.2": weft.Keys([(0.0, 0.0), (0.1, 5.0)])}
    pins, how = [weft.Pin(cloth.corners("top"))], {"frames": 4, "fps": 25, "progress": False}
    scene = weft.Scene(cloth, pins, record=["air"], wind=weft.Wind(), keyed=keys, step=0.02)
    run = weft.simulate(scene, out=tmp_path / "run", **how)
    early, late = (np.abs(run.field("air", k)).max() for k in (0, 4))
    assert early < 1e-6 < 0.1 < late
    bare = weft.simulate(scene.with_(record=()), out=tmp_path / "bare", **how)
    again = bare.field("air", 4, physics=physics(scene))
    np.testing.assert_allclose(run.field("air", 4), again, rtol=1e-12, atol=1e-12)


@pytest.fixture
def elsewhere(tmp_path):
    """A scene with a mesh beside it, and its run in another folder."""
    folder = tmp_path / "project" / "scenes"
    folder.mkdir(parents=True)
    mesh = grid(4, 4, 0.2, 0.2)
    write_obj(folder / "cloth.obj", mesh.vertices, mesh.faces, mesh.corner_uv)
    (folder / "s.yaml").write_text(
        "cloth: {mesh: {file: cloth.obj}, fabric: felt}\npins: [{corners: top}]\n"
    )
    scene = load_scene(folder / "s.yaml").scene
    how = {"frames": 1, "fps": 20, "progress": False, "fsync": False}
    return weft.simulate(scene, out=tmp_path / "project" / "runs" / "a", **how), how


def test_the_files_of_a_scene_are_found_from_a_run_elsewhere(elsewhere, tmp_path, monkeypatch):
    """Relative to the scene file, wherever the run is, and where both were moved."""
    run, how = elsewhere
    monkeypatch.chdir(run.path)
    again = weft.simulate(weft.scene_of(run).scene, out=tmp_path / "again", **how)
    assert weft.scene_of(again).scene.cloth.n_vertices == 16
    monkeypatch.chdir(tmp_path)
    for words in (
        ["render", "a.png", "--look", "stress"],
        ["export", "a.npz", "--fields", "stress"],
    ):
        command, file, *more = words
        done = CliRunner().invoke(cli.app, [command, str(run.path), file, *more])
        assert done.exit_code == 0
    with np.load("a.npz") as file:
        assert "point_stress_max" in file and "cell_air" not in file
    (tmp_path / "project").rename(tmp_path / "moved")
    there = tmp_path / "moved"
    assert weft.scene_of(weft.Run(there / "runs" / "a")).scene.cloth.n_vertices == 16
    (there / "runs" / "a").rename(tmp_path / "alone")
    alone = weft.Run(tmp_path / "alone")
    with refused(SceneError, "folder of the scene file"):
        weft.scene_of(alone)
    assert weft.scene_of(alone, there / "scenes").scene.cloth.n_vertices == 16


def test_files_of_a_scene_that_changed_are_told(elsewhere):
    run, _ = elsewhere
    folder = run.path.parents[1] / "scenes"
    mesh = grid(4, 4, 0.3, 0.2)
    write_obj(folder / "cloth.obj", mesh.vertices, mesh.faces, mesh.corner_uv)
    with pytest.warns(UserWarning, match="changed since .* mesh"):
        weft.scene_of(run)
