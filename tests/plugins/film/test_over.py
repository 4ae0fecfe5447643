"""Cloth that goes back into the asset from which it came: USD layers and OBJ files."""

import dataclasses
import re

import numpy as np
import pytest

from tests.plugins.film import film_assets
from tests.plugins.film.film_assets import CAPE, FIRST, FPS, write_assets
from tests.refusals import refused
from weft.base.errors import MeshError, RunError
from weft.io import read_surface
from weft.io.animation import Animation, AnimationFrame, SurfaceTopology
from weft.plugins.film.assets.asset_cloth import AssetCloth
from weft.plugins.film.assets.asset_export import write_over
from weft.plugins.film.surface_embedding import SurfaceEmbedding

pytest.importorskip("pxr.Usd")
MOVED = {"points", "velocities", "accelerations", "extent", "normals", "primvars:normals"}


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def place(x, t):
    """Positions and velocities at time t of cloth that turns about y and rises faster."""
    R, dR = turn(2 * t), 2 * turn(2 * t + np.pi / 2) * [1, 0, 1]
    return x @ R.T + [0, t * t, 0], x @ dR.T + [0, 2 * t, 0]


def moving(asset, prim):
    """Five frames of a mesh of an asset as ``place`` moves it, its cloth, and its points."""
    x, faces = read_surface(asset, prim=prim)
    nearest = np.argmin(np.linalg.norm(x[:, None] - x[faces].mean(1)[None], axis=-1), axis=1)

    def moment(k):
        y, v = place(x, k / FPS)
        return AnimationFrame(k / FPS, [y], v)

    film = Animation([SurfaceTopology("cloth", faces)], 5, moment, FPS)
    return film, AssetCloth(prim, SurfaceEmbedding.of_points(x, x, faces, nearest)), x


def opened(path):
    from pxr import Usd

    return Usd.Stage.Open(str(path))


def contents(stage, but=()):
    """Everything that a stage has, by path, without the motion of the prims ``but``."""
    from pxr import Usd

    found = {}
    for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)):
        path = str(prim.GetPath())
        found[path] = prim.GetTypeName(), prim.GetAppliedSchemas(), prim.IsActive()
        for a in prim.GetAttributes():
            if path in but and a.GetName() in MOVED:
                continue
            samples = [(c, a.Get(c)) for c in a.GetTimeSamples()]
            found[str(a.GetPath())] = a.Get(), samples, a.GetAllMetadata()
        for r in prim.GetRelationships():
            if r.GetName() != "skel:skeleton" or path not in but:
                found[str(r.GetPath())] = r.GetTargets()
    return found


def valid(stage):
    from pxr import UsdValidation

    registry = UsdValidation.ValidationRegistry()
    everything = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    return [e.GetMessage() for e in everything.Validate(stage)]


def in_meters(x):
    """World positions in meters, y up, of centimeters, z up."""
    return 0.01 * np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1)


def world(stage, path, code):
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh.Get(stage, path)
    M = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(mesh.GetPrim()))
    return in_meters(np.array(mesh.GetPointsAttr().Get(code)) @ M[:3, :3] + M[3, :3])


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    return write_assets(tmp_path_factory.mktemp("assets"))


def test_everything_but_the_motion_is_as_before(assets, tmp_path):
    path, prim = tmp_path / "over.usdc", "/shot/cape/geo/cape"
    film, cloth, x = moving(assets.shot, prim)
    (note,) = write_over(path, assets.shot, film, [cloth])
    assert note == "over_stage.usda is the layer over shot.usda"
    before, after = opened(assets.shot), opened(tmp_path / "over_stage.usda")
    assert contents(after, [prim]) == contents(before, [prim])
    assert valid(after) == valid(before) == []
    root, own = after.GetRootLayer(), before.GetRootLayer().pseudoRoot
    assert root.subLayerPaths[0] == "./over.usdc" and root.subLayerPaths[1].startswith("../")
    for key in own.ListInfoKeys():
        assert root.pseudoRoot.GetInfo(key) == own.GetInfo(key)
    np.testing.assert_allclose(world(after, prim, FIRST + 4), place(x, 4 / FPS)[0], atol=1e-7)
    layer = opened(path)
    assert [str(p.GetPath()) for p in layer.TraverseAll()] == [
        "/shot",
        "/shot/cape",
        "/shot/cape/geo",
        prim,
    ]
    a = np.array(after.GetAttributeAtPath(f"{prim}.accelerations").Get(FIRST + 2))
    np.testing.assert_allclose(in_meters(a)[:, 1], 2, atol=1e-5)


def edited(path, asset, change):
    """A stage of an asset with changes, as a file of its own."""
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateNew(str(path))
    layer.TransferContent(Sdf.Layer.FindOrOpen(str(asset)))
    stage = Usd.Stage.Open(layer)
    change(stage)
    stage.Save()
    return path


def test_parents_that_move_and_normals(assets, tmp_path):
    """Points are those of the prim's own space, whose parents turn, scale and mirror."""
    from pxr import Gf, UsdGeom, Vt

    def change(stage):
        parent = UsdGeom.Xformable(stage.GetPrimAtPath("/cape"))
        parent.AddScaleOp().Set(Gf.Vec3f(-2, 1, 1))
        spin = parent.AddRotateZOp()
        for k in range(5):
            spin.Set(10.0 * k, FIRST + k)
        mesh = UsdGeom.Mesh.Get(stage, CAPE)
        x = np.array(mesh.GetPointsAttr().Get()) * [1, 1, 0]
        mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(np.float32(x / film_assets.CAPE_RADIUS)))
        mesh.CreateSubdivisionSchemeAttr("none")
        flat = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
            "normals", mesh.GetNormalsAttr().GetTypeName(), UsdGeom.Tokens.faceVarying
        )
        flat.Set(Vt.Vec3fArray([(0, 0, 1), (1, 0, 0)]))
        corners = len(mesh.GetFaceVertexIndicesAttr().Get())
        flat.SetIndices(Vt.IntArray([k % 2 for k in range(corners)]))

    asset = edited(tmp_path / "asset.usda", assets.cape, change)
    film, cloth, x = moving(asset, CAPE)
    write_over(tmp_path / "over.usdc", asset, film, [cloth])
    stage, source = opened(tmp_path / "over_stage.usda"), opened(asset)
    assert valid(stage) == []
    assert contents(stage, [CAPE]) == contents(source, [CAPE])
    mesh = UsdGeom.Mesh.Get(stage, CAPE)
    points, velocities = (
        [np.array(a.Get(FIRST + k)) for k in range(5)]
        for a in (mesh.GetPointsAttr(), mesh.GetVelocitiesAttr())
    )
    for k in range(5):
        np.testing.assert_allclose(world(stage, CAPE, FIRST + k), place(x, k / FPS)[0], atol=1e-7)
        if 0 < k < 4:
            slope = (points[k + 1] - points[k - 1]) * FPS / 2
            np.testing.assert_allclose(velocities[k], slope, atol=0.02 * np.abs(slope).max())
            np.testing.assert_array_equal(
                mesh.GetExtentAttr().Get(FIRST + k), [points[k].min(0), points[k].max(0)]
            )
        for name in ("normals", "primvars:normals"):
            start = normals_in_world(source, name, FIRST) @ turn(2 * k / FPS).T
            np.testing.assert_allclose(normals_in_world(stage, name, FIRST + k), start, atol=2e-6)


def normals_in_world(stage, name, code):
    from pxr import UsdGeom

    attribute = stage.GetAttributeAtPath(f"{CAPE}.{name}")
    M = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(attribute.GetPrim()))
    n = in_meters(np.array(attribute.Get(code)) @ np.linalg.inv(M[:3, :3]).T)
    return n / np.linalg.norm(n, axis=1, keepdims=True)


def test_instances_and_skins_are_let_go(assets, tmp_path):
    """A proxy of an instance, and a mesh with a skeleton: the layer's points are what is seen."""
    from pxr import UsdSkel

    prim = "/props/crate_1/geo/box"
    film, cloth, x = moving(assets.props, prim)
    notes = write_over(tmp_path / "props.usda", assets.props, film, [cloth])
    assert "/props/crate_1 becomes a prim without instancing" in notes[1]
    stage = opened(tmp_path / "props_stage.usda")
    np.testing.assert_allclose(world(stage, prim, FIRST + 3), place(x, 3 / FPS)[0], atol=1e-7)
    both = contents(opened(assets.props)), contents(stage)
    assert both[0].keys() - both[1].keys() == set()
    assert both[0]["/props/crate_0/geo/box.points"] == both[1]["/props/crate_0/geo/box.points"]
    film, cloth, x = moving(assets.dancer, film_assets.BODY)
    notes = write_over(tmp_path / "dancer.usda", assets.dancer, film, [cloth])
    assert "no longer bound to its skeleton" in notes[1]
    stage = opened(tmp_path / "dancer_stage.usda")
    layer = stage.GetSessionLayer()
    layer.timeCodesPerSecond = FPS
    stage.SetEditTarget(layer)
    UsdSkel.BakeSkinning(stage.Traverse())
    got = world(stage, film_assets.BODY, FIRST + 3)
    np.testing.assert_allclose(got, place(x, 3 / FPS)[0], atol=1e-7)


def test_vertices_beside_the_triangles_follow_them(assets):
    """Rigid motions are exact, whatever was simulated; bends keep distances from the surface."""
    x, faces = read_surface(assets.cape, prim=CAPE)
    rng = np.random.default_rng(1)
    nearest = rng.integers(len(faces), size=200)
    normal = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    weight = rng.dirichlet([1, 1, 1], 200)
    height = rng.uniform(-0.02, 0.02, (200, 1))
    feet = np.einsum("nk,nki->ni", weight, x[faces[nearest]])
    surface = SurfaceEmbedding.of_points(feet + height * normal[nearest], x, faces, nearest)
    np.testing.assert_allclose(surface.positions(x), feet + height * normal[nearest], atol=1e-15)
    y, v = place(x, 0.3)
    expected, speed = place(feet + height * normal[nearest], 0.3)
    np.testing.assert_allclose(surface.positions(y), expected, atol=1e-14)
    np.testing.assert_allclose(surface.velocities(y, v), speed, atol=1e-6)
    angle = 3 * x[:, 1]
    bent = np.stack([x[:, 0] + np.cos(angle), np.sin(angle), x[:, 2]], axis=1)
    moved = surface.positions(bent) - np.einsum("nk,nki->ni", weight, bent[faces[nearest]])
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), np.abs(height[:, 0]), rtol=1e-9)
    one = SurfaceEmbedding.of_points(x[faces[nearest, 1]], x, faces, nearest)
    np.testing.assert_array_equal(one.positions(bent), bent[faces[nearest, 1]])


def test_assets_that_do_not_fit_are_refused(assets, tmp_path):
    film, cloth, _ = moving(assets.cape, CAPE)
    asset = edited(tmp_path / "asset.usda", assets.cape, lambda stage: stage.ClearDefaultPrim())
    with refused(MeshError, "defaultPrim", where="asset.usda"):
        write_over(tmp_path / "over.usda", asset, film, [cloth])
    assert not (tmp_path / "over.usda").exists()
    instance = dataclasses.replace(cloth, prim="/props/scattered/1/large")
    with refused(MeshError, "prim"):
        write_over(tmp_path / "over.usda", assets.props, film, [instance])
    for name in ("over.obj", "over.usdz", "over.glb"):
        with refused(RunError, "onto"):
            write_over(tmp_path / name, assets.cape, film, [cloth])


OBJ = """# a kite
mtllib kite.mtl
o kite
v 0 0 0 0.5 0.5 0.5
v 1 0 0
v 1 1 0
v 0 1 0 # the last one
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vn 0 0 1
g left
usemtl red
s off
f 1/1/1 2/2/1 3/3/1 4/4/1
v 2 0.5 0
g right
usemtl blue
f -4/1/-1 -1/2/-1 -3/3/-1
"""


def test_an_obj_keeps_all_its_other_lines(tmp_path):
    asset, made = tmp_path / "kite.obj", tmp_path / "moved.obj"
    asset.write_text(OBJ)
    film, cloth, x = moving(asset, None)
    one = dataclasses.replace(film, count=1, moment=lambda k: film.moment(3))
    # Inches, z up, as a scene has them with `scale: 1 in` and `rotation: [-90, 0, 0]`.
    z_up = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    for to_file, unit in ((np.eye(3), 1.0), (z_up / 0.0254, 0.0254)):
        write_over(made, asset, one, [dataclasses.replace(cloth, to_file=to_file)])
        got, lines = made.read_text().splitlines(), OBJ.splitlines()
        moved = [k for k, line in enumerate(lines) if line.split()[0] in ("v", "vn")]
        for k in set(range(len(lines))) - set(moved):
            assert got[k] == lines[k]
        y = np.array([[float(w) for w in got[k].split()[1:4]] for k in moved])
        expected = place(x, 3 / FPS)[0] @ to_file
        np.testing.assert_allclose(y[[0, 1, 2, 3, 5]], expected, rtol=1e-8, atol=1e-8 / unit)
        normal = turn(6 / FPS) @ np.linalg.inv(to_file).T @ [0, 0, 1]
        normal = normal @ to_file
        if unit == 1:
            np.testing.assert_allclose(y[4], normal / np.linalg.norm(normal), atol=1e-8)
        assert got[3].endswith("0.5 0.5 0.5") and len(got) == len(lines)
    # Positions that go on in another line are one line then; continued faces stay as they are.
    asset.write_text(re.sub(r"^([vf] \S+ \S+) ", r"\1 \\\n  ", OBJ, flags=re.M))
    again = tmp_path / "continued.obj"
    write_over(again, asset, one, [dataclasses.replace(cloth, to_file=to_file)])
    assert "\\\n" in again.read_text()
    assert again.read_text().replace(" \\\n  ", " ") == made.read_text()
