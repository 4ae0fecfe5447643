"""Assets of a film are read as they mean it: what is drawn, variants, payloads, levels, frames."""

import numpy as np
import pytest

import weft
from tests import command
from tests.engine.io.files import GRID, define, read_moving
from tests.plugins.film.film_assets import (
    BODY,
    CAPE,
    CUBE,
    FIRST,
    HEIGHT,
    LAST,
    RADIUS,
    new_stage,
    write_assets,
)
from tests.refusals import refused
from weft.base.errors import MeshError, SceneProblems
from weft.io import read_mesh, read_motion, read_surface
from weft.io.obj import write_obj
from weft.io.surface import StageOptions
from weft.run.check_scene import check
from weft.scene.build import load_scene

SHEET = "cloth: {sheet: {nx: 3, ny: 3}, translation: [0, 9, 0]}\n"


@pytest.fixture
def assets(tmp_path):
    pytest.importorskip("pxr.Usd")
    return write_assets(tmp_path)


def scene_of(path, text, cloth=SHEET):
    (path.parent / "s.yaml").write_text(cloth + text)
    return path.parent / "s.yaml"


def open_stage(path):
    from pxr import Usd

    return Usd.Stage.Open(str(path))


@pytest.mark.filterwarnings("error")
def test_weights_of_joints_are_no_painted_weights(assets):
    assert not read_mesh(assets.dancer, prim=BODY, warp=(1, 2, 3)).weights


def test_every_collider_of_a_shot_is_listed(assets):
    """Only what is drawn: no proxy, guide, hidden mesh or prototype; each instance by its path."""
    path = scene_of(assets.shot, "seconds: 0.5 s\nbodies: [{name: all, mesh: {file: shot.usda}}]\n")
    lines = {f.strip().split(": ")[0]: f for f in check(path).facts if f.startswith("  ")}
    props = "all /shot/props"
    assert sorted(lines) == sorted(
        [f"all /shot{BODY}", f"all /shot{CAPE}", "all /shot/stand/geo/low"]
        + [f"{props}/crate_{k}/geo/box" for k in range(2)]
        + [f"{props}/scattered/0/small", f"{props}/scattered/1/large", f"{props}/scattered/2/large"]
    )
    assert "212 faces, closed, deforms" in lines[f"all /shot{BODY}"]
    assert "160 faces, open, at rest" in lines[f"all /shot{CAPE}"]
    assert "12 faces, closed, at rest" in lines[f"{props}/crate_1/geo/box"]


def test_what_is_not_drawn_is_read_by_its_name_alone(assets):
    hidden = {"geo/proxy": 1.5, "rig/control": 3.0, "geo/hidden": 2.0}
    for name, factor in hidden.items():
        x, _ = read_surface(assets.dancer, prim=f"/dancer/{name}")
        assert x[:, 0].max() == pytest.approx(factor * RADIUS / 100)
    with refused(MeshError, "USD file", got="/dancer/rig", hint="/dancer/rig/control"):
        read_surface(assets.dancer, prim="/dancer/rig")


def test_what_moves_as_a_whole_does_not_deform(assets):
    from pxr import UsdGeom

    stage = open_stage(assets.stand)
    turn = UsdGeom.Xformable.Get(stage, "/stand").AddRotateZOp()
    for code in (FIRST, LAST):
        turn.Set(3.0 * (code - FIRST), code)
    stage.Save()
    path = scene_of(assets.stand, "seconds: 0.5 s\nbodies: [{name: a, mesh: {file: stand.usda}}]\n")
    assert any("a /stand/geo/low: 12 faces, closed, moves" in f for f in check(path).facts)


def test_a_mesh_that_stands_still_before_others_is_named(assets):
    from pxr import UsdGeom

    stage = open_stage(assets.shot)
    place = UsdGeom.Xformable(stage.GetPrimAtPath("/shot/stand")).GetOrderedXformOps()[0]
    for code in (FIRST, LAST - 4):
        place.Set((code - FIRST, 0, 0), code)
    stage.Save()
    with pytest.warns(UserWarning, match="/shot/stand/geo/low: its samples end at time code 1009"):
        read_motion(assets.shot)


def test_variants_are_chosen_by_prim(assets):
    def top(variants):
        block = f"bodies: [{{name: a, mesh: {{file: shot.usda, prim: /shot/stand, {variants}}}}}]\n"
        (body,) = load_scene(scene_of(assets.shot, block)).scene.bodies
        return body.vertices[:, 1].max()

    assert top("hold: true") == pytest.approx(0.1)
    assert top("variants: {/shot/stand: {height: high}}") == pytest.approx(0.4)
    for variants, what in (
        ("{/shot/other: {height: high}}", {"where": "/shot/other"}),
        ("{stand: {height: high}}", {"where": "stand", "expected": "-"}),
        ("{/shot/stand: {hight: high}}", {"where": "/shot/stand", "expected": "height"}),
        ("{/shot/stand: {height: higher}}", {"where": "/shot/stand", "expected": "low"}),
    ):
        with refused(SceneProblems, "variants", **what):
            top(f"variants: {variants}")


def test_a_payload_that_is_missing_is_named(assets):
    """USD composes the stage without it, and says so on standard error alone."""
    (assets.stand.parent / "stand_geo.usda").unlink()
    for prim in (None, "/shot", "/shot/stand/geo"):
        with refused(MeshError, "USD stage", got="stand_geo.usda", where="/shot/stand/geo"):
            read_surface(assets.shot, prim=prim)
    assert len(read_surface(assets.shot, prim="/shot/props")[0]) == 40


def test_native_instances_with_a_skin_are_posed(assets):
    """A skin is baked into its mesh, which instances would share."""
    from pxr import Gf, UsdGeom

    path = assets.dancer.with_name("crowd.usda")
    stage = new_stage(path, lambda s: UsdGeom.Xform.Define(s, "/crowd").GetPrim())
    for k in range(2):
        prim = stage.DefinePrim(f"/crowd/d{k}")
        prim.GetReferences().AddReference("./dancer.usda")
        prim.SetInstanceable(True)
        UsdGeom.Xformable(prim).AddTranslateOp().Set(Gf.Vec3d(100 * k, 0, 0))
    stage.Save()
    expected = read_moving(assets.dancer)[1]
    _, x, _ = read_moving(path)
    assert np.abs(expected[-1] - expected[0]).max() > 0.2
    np.testing.assert_allclose(x[:, :108], expected, atol=1e-6)
    np.testing.assert_allclose(x[:, 108:], expected + [1.0, 0, 0], atol=1e-6)


def test_subdivision_surfaces_are_taken_at_a_level(assets):
    """Quads of the level, with creases; coordinates, weights and subsets go along."""
    cage = read_mesh(assets.cape, rest="mesh")
    fine = read_mesh(assets.cape, rest="mesh", options=StageOptions(subdivide=2))
    assert len(fine.faces) == 16 * len(cage.faces)
    assert 0.9 < fine.rest_area.sum() / cage.rest_area.sum() < 1.01
    assert {n: len(f) for n, f in fine.regions.items()} == {
        n: 16 * len(f) for n, f in cage.regions.items()
    }
    collar = fine.weights["collar"]
    assert collar.min() >= 0.0 and collar.max() == 1.0 and ((collar > 0) & (collar < 1)).any()
    corners = [0, 8, 90, 98]  # of one face each: they stay
    np.testing.assert_allclose(fine.vertices[corners], cage.vertices[corners], atol=1e-7)
    high = fine.vertices[fine.groups["red"]]
    assert np.ptp(high[:, 1]) == pytest.approx(np.ptp(cage.vertices[:, 1]), rel=1e-6)
    path = scene_of(
        assets.shot,
        "seconds: 0.4 s\nbodies: [{name: all, mesh: {file: shot.usda, subdivide: 1}}]\n",
    )
    lines = [f for f in check(path).facts if BODY in f]
    assert len(lines) == 1 and f"{2 * (4 * 96 + 2 * 12)} faces, closed, deforms" in lines[0]


def test_levels_that_cannot_be_taken_are_refused(assets):
    from pxr import UsdGeom

    stage = open_stage(assets.cape)
    mesh = UsdGeom.Mesh.Get(stage, CAPE)
    two = StageOptions(subdivide=2)
    mesh.GetCreaseLengthsAttr().Set([5])
    stage.Save()
    assert len(read_surface(assets.cape)[1]) == 160  # polygons have no creases
    with refused(MeshError, "creases and corners", got="11 indices", where=f"cape.usda{CAPE}"):
        read_mesh(assets.cape, rest="mesh", options=two)
    mesh.GetCreaseLengthsAttr().Set([11])
    mesh.GetSubdivisionSchemeAttr().Set("loop")
    stage.Save()
    with refused(MeshError, "subdivisionScheme", got="loop", where=f"cape.usda{CAPE}"):
        read_mesh(assets.cape, rest="mesh", options=two)
    write_obj(assets.cape.with_name("a.obj"), GRID.vertices, GRID.faces, None)
    for body in ("subdivide: 1", "variants: {/a: {b: c}}"):
        path = scene_of(assets.cape, f"bodies: [{{mesh: {{file: a.obj, {body}}}}}]\n")
        with refused(SceneProblems, body.split(":")[0], where="a.obj", expected="USD"):
            load_scene(path)


SHOT = "shot: shot.usda\npreroll: 6\nbodies: [{name: d, mesh: {file: dancer.usda}}]\n"


def test_frames_come_from_the_shot(assets):
    """Rate and length of the scene, where it says none, and the number of the first frame."""
    loaded = load_scene(scene_of(assets.shot, SHOT))
    assert (loaded.fps, loaded.frames) == (24.0, 18) and loaded.seconds == pytest.approx(0.75)
    facts = check(assets.shot.with_name("s.yaml")).facts
    assert any("6 frames of pre-roll" in f and "--first 995" in f for f in facts)
    assert load_scene(scene_of(assets.shot, SHOT + "fps: 12\nseconds: 0.5\n")).frames == 6
    with refused(SceneProblems, "d.frames", where=BODY, got="0.75 s", expected="1 s"):
        load_scene(scene_of(assets.shot, SHOT + "seconds: 1\n"))
    with refused(SceneProblems, "scene", expected="preroll needs shot"):
        load_scene(scene_of(assets.shot, "preroll: 6\n"))
    stage = open_stage(assets.shot)
    stage.GetRootLayer().ClearEndTimeCode()
    stage.Save()
    with refused(MeshError, "shot", where="shot.usda", expected="endTimeCode"):
        load_scene(scene_of(assets.shot, SHOT))


def test_a_skin_comes_from_its_bind_pose(assets):
    """Joints turn, so that halfway no bone is shorter than it is; before and after it is posed."""
    from pxr import Gf, UsdSkel

    stage = open_stage(assets.dancer)
    turns = UsdSkel.Animation.Get(stage, "/dancer/motion").GetRotationsAttr()
    for code in turns.GetTimeSamples():  # the shot begins bent by 150 degrees
        turns.Set([Gf.Quatf(1), Gf.Quatf(Gf.Rotation(Gf.Vec3d(1, 0, 0), -150.0).GetQuat())], code)
    stage.Save()
    (body,) = load_scene(scene_of(assets.shot, SHOT)).scene.bodies
    at = [body.at(k / 24) for k in range(19)]
    lid = at[0][:, 1] > HEIGHT / 100 - 1e-6  # the top of the tube
    np.testing.assert_allclose(
        at[0][lid, 2], RADIUS / 100 * np.sin(np.arange(12) * np.pi / 6) * -1, atol=1e-6
    )
    np.testing.assert_array_equal(at[6], at[18])
    middle = np.array([0, HEIGHT / 200, 0])
    reach = [np.linalg.norm(x[lid] - middle, axis=1) for x in at[:7]]
    np.testing.assert_allclose(reach, np.hypot(0.6, 0.12), atol=1e-6)
    angles = [np.degrees(np.arccos((x[lid].mean(0) - middle)[1] / 0.6)) for x in at[:7]]
    s = np.arange(7) / 6
    np.testing.assert_allclose(angles, 150 * s**2 * (3 - 2 * s), atol=0.01)


def test_points_come_from_their_default(assets):
    """Without one the prim is named; samples before the shot are handles, and stay."""
    from pxr import UsdGeom, Vt

    path = assets.shot.with_name("cache.usda")
    stage = new_stage(path, lambda s: UsdGeom.Xform.Define(s, "/a").GetPrim())
    points = define(stage, "/a/b", 100 * CUBE[0], CUBE[1]).GetPointsAttr()
    for code, size in ((FIRST, 2.0), (LAST, 3.0)):
        points.Set(Vt.Vec3fArray.FromNumpy(np.float32(100 * size * CUBE[0])), code)
    stage.Save()
    text = SHOT.replace("dancer.usda", "cache.usda")

    def sizes():
        (body,) = load_scene(scene_of(assets.shot, text)).scene.bodies
        return [float(np.ptp(body.at(k / 24)[:, 0])) for k in (0, 3, 6, 18)]

    np.testing.assert_allclose(sizes(), [1.0, 1.5, 2.0, 3.0], atol=1e-6)
    points.Set(Vt.Vec3fArray.FromNumpy(np.float32(150 * CUBE[0])), FIRST - 3)
    stage.Save()
    np.testing.assert_allclose(sizes(), [1.0, 1.5, 2.0, 3.0], atol=1e-6)
    points.ClearDefault()
    stage.Save()
    with refused(SceneProblems, "rest pose", where="cache.usda/a/b", expected="default"):
        sizes()
    points.Set(Vt.Vec3fArray.FromNumpy(np.float32(100 * CUBE[0])), FIRST - 9)
    stage.Save()
    np.testing.assert_allclose(sizes(), [1.25, 1.5, 2.0, 3.0], atol=1e-6)


def test_bodies_of_a_stage_have_one_time(assets):
    """Time 0 is where the stage starts, also for a prop whose samples begin later or before."""
    from pxr import Gf, UsdGeom

    stage = open_stage(assets.stand)
    place = UsdGeom.Xformable.Get(stage, "/stand").AddTranslateOp()
    for code, x in ((FIRST + 4, 0.0), (FIRST + 8, 100.0)):
        place.Set(Gf.Vec3d(x, 0, 0), code)
    stage.Save()
    found = read_motion(assets.stand)
    np.testing.assert_allclose(found.times, np.array([4, 8]) / 24)
    assert found.parts == [("/stand/geo/low", 8)]
    place.Set(Gf.Vec3d(-50, 0, 0), FIRST - 2)
    stage.Save()
    np.testing.assert_allclose(read_motion(assets.stand).times, np.array([-2, 4, 8]) / 24)
    (body,) = load_scene(
        scene_of(assets.stand, "seconds: 0.3 s\nbodies: [{name: a, mesh: {file: stand.usda}}]\n")
    ).scene.bodies
    assert body.vertices[:, 0].min() == pytest.approx(-1 / 3, rel=1e-6)


def test_a_run_of_a_shot_goes_back_to_its_frames(assets, tmp_path, monkeypatch, capsys):
    """The layer begins with the pre-roll, and the cage follows the surface that was simulated."""
    from pxr import UsdGeom

    cloth = "cloth: {mesh: {file: shot.usda, prim: /shot/cape, subdivide: 1, rest: mesh}}\n"
    scene = scene_of(assets.shot, "shot: shot.usda\npreroll: 2\nseconds: 0.16667\n", cloth)
    weft.simulate(load_scene(scene).scene, frames=4, fps=24, out=tmp_path / "run", progress=False)
    monkeypatch.chdir(tmp_path)
    words = ("export", "run", "o.usda", "--onto", "shot.usda")
    status, _, err = command.call_weft(monkeypatch, capsys, *words)
    assert status == 0, err
    path = f"/shot{CAPE}"
    moved = UsdGeom.Mesh.Get(stage := open_stage(tmp_path / "o_stage.usda"), path).GetPointsAttr()
    assert moved.GetTimeSamples() == [FIRST - 2 + k for k in range(5)]
    own = np.array(UsdGeom.Mesh.Get(before := open_stage(assets.shot), path).GetPointsAttr().Get())
    np.testing.assert_allclose(np.array(moved.Get(FIRST - 2)), own, atol=1e-4)
    fall = np.array(moved.Get(FIRST + 2)) - own  # z is up; the stages live until here
    assert (fall[:, 2] < -5).all() and stage and before
