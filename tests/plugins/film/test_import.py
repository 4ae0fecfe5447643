"""Cloth and bodies from USD, glTF and point caches that other libraries, or plain bytes, made."""

import numpy as np
import pytest

import weft
from tests.engine.io.files import GRID, QUADS, define, gltf, point_cache, read_moving
from tests.plugins.film import film_assets
from tests.refusals import refused
from weft.base.errors import MeshError, SceneError, SceneProblems
from weft.contact import load_animated, load_cached
from weft.io import read_mesh, read_surface
from weft.io.ply import write_ply
from weft.scene.build import load_scene


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.usda"


@pytest.fixture
def stage(path):
    pytest.importorskip("pxr.Usd")
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)  # where nothing is said it is centimeters
    return stage


def is_upward(mesh):
    a, b, c = mesh.vertices[mesh.faces[0]]
    return np.cross(b - a, c - a)[1] > 0


def test_usd_cloth(stage, path):
    """Quads in centimeters, z up, below a transform, left-handed; subsets, painted weights."""
    from pxr import Gf, Sdf, UsdGeom

    UsdGeom.SetStageUpAxis(stage, "Z")
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.Xform.Define(stage, "/top").AddTranslateOp().Set(Gf.Vec3d(0, 0, 200))
    x = 100 * GRID.vertices
    z_up = np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)
    corner = 100 * GRID.vertex_uv[np.concatenate(QUADS)]
    mesh = define(stage, "/top/cloth", z_up, QUADS, corner, "faceVarying")
    painted = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
        "pin", Sdf.ValueTypeNames.FloatArray, "vertex"
    )
    painted.Set([1.0 if k < 5 else 0.25 for k in range(20)])
    UsdGeom.Subset.CreateGeomSubset(mesh, "pocket", "face", [0, 1], "part")
    stage.Save()
    cloth = weft.load(path)
    expected = np.float32(x).astype(float) / 100 + [0, 2, 0]
    np.testing.assert_allclose(cloth.vertices, expected, atol=1e-15)
    assert len(cloth.faces) == 24
    np.testing.assert_allclose(cloth.mesh.vertex_uv, GRID.vertex_uv, atol=1e-7)
    np.testing.assert_allclose(cloth.mesh.rest_area.sum(), 0.8, rtol=1e-6)
    assert cloth.group("pocket").tolist() == [0, 1, 2, 5, 6, 7]
    assert cloth.weighted("pin").tolist() == [0, 1, 2, 3, 4]
    with refused(MeshError, "weights 'pin'", got="2", expected="0.25 to 1"):
        cloth.weighted("pin", 2)
    with refused(MeshError, "weights", got="'pins'", expected="pin"):
        cloth.weighted("pins")
    assert is_upward(cloth.mesh)
    mesh.CreateOrientationAttr("leftHanded")
    stage.Save()
    other = read_mesh(path)
    np.testing.assert_allclose(other.vertex_uv, GRID.vertex_uv, atol=1e-7)
    assert not is_upward(other)
    assert read_mesh(path, scale=1.0, uv_scale=0.01).vertices[0, 1] == pytest.approx(200)


def of_mesh(**attributes):
    """A glTF mesh of one primitive with these accessors; ``indices`` are its triangles."""
    indices = attributes.pop("indices")
    return [{"primitives": [{"attributes": attributes, "indices": indices}]}]


def animation(times, values, node, path, **sampler):
    """glTF animations of one channel."""
    channel = {"sampler": 0, "target": {"node": node, "path": path}}
    sampler = {"input": times, "output": values, **sampler}
    return [{"samplers": [sampler], "channels": [channel]}]


def test_what_is_mirrored_keeps_its_front(stage, path, tmp_path):
    """A negative scale above turns faces round, so that the front stays the front, of cloth and of
    bodies, whether something moves or not.
    """
    from pxr import Gf, UsdGeom

    top = UsdGeom.Xform.Define(stage, "/a")
    move = top.AddTranslateOp()
    for code, y in ((0, 0.0), (24, 1.0)):
        move.Set(Gf.Vec3d(0, y, 0), code)
    top.AddScaleOp().Set(Gf.Vec3f(-1, 1, 1))
    define(stage, "/a/b", GRID.vertices, GRID.faces, GRID.vertex_uv)
    define(stage, "/c", GRID.vertices, GRID.faces)
    stage.Save()
    tree = {
        "nodes": [{"name": "b", "mesh": 0, "scale": [-1, 1, 1]}, {"mesh": 0}],
        "meshes": of_mesh(POSITION=0, TEXCOORD_0=1, indices=2),
        "animations": animation(3, 4, 0, "translation"),
    }
    uv, ids = GRID.vertex_uv * [1, -1] + [0, 1], GRID.faces.ravel().astype(np.uint16)
    keys = [np.array([0.0, 1.0]), np.array([[0.0, 0, 0], [0, 1, 0]])]
    for file in (path, gltf(tree, [GRID.vertices, uv, ids, *keys], tmp_path / "a.gltf")):
        mesh = read_mesh(file, prim="b")
        np.testing.assert_allclose(mesh.vertices, GRID.vertices * [-1, 1, 1], atol=1e-7)
        np.testing.assert_allclose(mesh.vertex_uv, GRID.vertex_uv, atol=1e-6)
        times, x, faces = read_moving(file)
        assert len(times) > 1
        np.testing.assert_array_equal(faces, read_surface(file)[1])
        for points, triangles in ((mesh.vertices, mesh.faces), (x[0], faces)):
            a, b, c = np.moveaxis(points[triangles], 1, 0)
            assert (np.cross(b - a, c - a)[:, 1] > 0).all()


def test_usd_of_several_meshes(stage, path):
    define(stage, "/a/one", GRID.vertices, GRID.faces, GRID.vertex_uv)
    define(stage, "/a/two", GRID.vertices + 5, GRID.faces, GRID.vertex_uv)
    stage.Save()
    with refused(MeshError, "USD file", got="2 meshes", hint="/a/one, /a/two"):
        read_mesh(path)
    two = read_mesh(path, prim="/a/two")
    np.testing.assert_allclose(two.vertices, GRID.vertices + 5, atol=1e-6)
    with refused(MeshError, "prim", got="'three'", expected="/a/one"):
        read_mesh(path, prim="three")
    with refused(MeshError, "prim", got="'x'"):
        write_ply(path.with_suffix(".ply"), GRID.vertices, GRID.faces)
        read_mesh(path.with_suffix(".ply"), prim="x")


def bounds_drawn(stage, code=0.0):
    """(2,3) the box of what a renderer draws, by usd-core's own cache."""
    from pxr import UsdGeom

    cache = UsdGeom.BBoxCache(code, [UsdGeom.Tokens.default_, UsdGeom.Tokens.render])
    box = cache.ComputeWorldBound(stage.GetPseudoRoot()).ComputeAlignedRange()
    return np.array([box.GetMin(), box.GetMax()])


def test_usd_visibility_that_changes_is_told(stage, path):
    from pxr import UsdGeom

    mesh = define(stage, "/a", GRID.vertices, GRID.faces)
    for code, word in ((1, "invisible"), (2, "inherited")):
        UsdGeom.Imageable(mesh).CreateVisibilityAttr().Set(word, code)
    stage.Save()
    with pytest.warns(UserWarning, match="/a: its visibility changes"):
        assert len(read_surface(path)[0]) == 20


def instanced(stage, outside=False):
    """A point instancer of two shapes, one of which has a transform: 0, 1, 0 and 1, the third of
    which is invisible; the shapes below it, or elsewhere and without a definition of their own.
    """
    from pxr import Gf, UsdGeom

    parent = "/shapes" if outside else "/many/shapes"
    points = UsdGeom.PointInstancer.Define(stage, "/many")
    UsdGeom.Scope.Define(stage, parent)
    define(stage, f"{parent}/low/mesh", GRID.vertices, GRID.faces)
    define(stage, f"{parent}/high", GRID.vertices * 2, GRID.faces)
    UsdGeom.Xformable.Get(stage, f"{parent}/high").AddTranslateOp().Set(Gf.Vec3d(0, 1, 0))
    if outside:
        UsdGeom.Imageable.Get(stage, parent).MakeInvisible()
    points.CreatePrototypesRel().SetTargets([f"{parent}/low", f"{parent}/high"])
    points.CreateProtoIndicesAttr([0, 1, 0, 1])
    places = [(0, 0, 0), (5, 0, 0), (50, 0, 0), (0, 0, 7)]
    points.CreatePositionsAttr([Gf.Vec3f(*p) for p in places])
    points.CreateOrientationsAttr([Gf.Quath(1)] * 3 + [Gf.Quath(0, Gf.Vec3h(0, 1, 0))])
    points.CreateInvisibleIdsAttr([2])
    points.AddTranslateOp().Set(Gf.Vec3d(0, 0, 100))
    return points


@pytest.mark.parametrize("outside", [False, True])
def test_usd_point_instances_are_all_read(stage, path, outside):
    """Every one where it is, and prototypes nowhere by themselves."""
    instanced(stage, outside)
    stage.Save()
    x, faces = read_surface(path)
    assert len(x) == 3 * 20 and len(faces) == 3 * 24 and faces.max() == 59
    g = GRID.vertices
    np.testing.assert_allclose(x[:20], g + [0, 0, 100], atol=1e-5)
    np.testing.assert_allclose(x[20:40], 2 * g + [5, 1, 100], atol=1e-5)
    np.testing.assert_allclose(x[40:], 2 * g * [-1, 1, -1] + [0, 1, 107], atol=1e-5)
    if not outside:  # the cache does not look at what an invisible prim holds
        np.testing.assert_allclose([x.min(0), x.max(0)], bounds_drawn(stage), atol=1e-4)
    np.testing.assert_allclose(read_surface(path, prim="/many/1")[0], x[20:40])
    prototype = "/shapes/high" if outside else "/many/shapes/high"
    alone = 2 * g + [0, 1, 0 if outside else 100]
    np.testing.assert_allclose(read_surface(path, prim=prototype)[0], alone, atol=1e-5)


def test_usd_instances_of_instances_that_move(stage, path):
    """Places are multiplied, at every time at which one of them is said."""
    from pxr import Gf, UsdGeom

    stage.SetTimeCodesPerSecond(10)
    inner = instanced(stage)
    outer = UsdGeom.PointInstancer.Define(stage, "/rows")
    outer.CreatePrototypesRel().SetTargets(["/many"])
    outer.CreateProtoIndicesAttr([0, 0])
    for code, y in ((0, 10), (5, 20)):
        outer.CreatePositionsAttr().Set([Gf.Vec3f(0, y, 0), Gf.Vec3f(0, 0, 0)], code)
    inner.GetPrim().GetAttribute("invisibleIds").Set([])
    stage.Save()
    times, x, _ = read_moving(path)
    assert times.tolist() == [0.0, 0.5] and x.shape == (2, 3 * 4 * 20, 3)
    own, first, second = np.split(x, 3, axis=1)
    np.testing.assert_allclose(second, own, atol=1e-5)
    lift = np.array([10.0, 20.0])[:, None, None] * [0, 1, 0]
    np.testing.assert_allclose(first, own + lift, atol=1e-5)
    np.testing.assert_allclose([x[0].min(0), x[0].max(0)], bounds_drawn(stage), atol=1e-4)
    inner.GetProtoIndicesAttr().Set([0, 1, 0, 2])
    stage.Save()
    with refused(MeshError, "protoIndices", got=2):
        read_surface(path)


def test_usd_instances_that_no_memory_holds_are_refused(stage, path):
    """A hundred million, in a file of a few kilobytes; and those that never end."""
    from pxr import Gf, UsdGeom

    define(stage, "/l0/mesh", GRID.vertices, GRID.faces)
    for k in range(4):
        level = UsdGeom.PointInstancer.Define(stage, f"/l{k + 1}")
        level.CreatePrototypesRel().SetTargets([f"/l{k}"])
        level.CreateProtoIndicesAttr([0] * 100)
        level.CreatePositionsAttr([Gf.Vec3f(0, 0, i) for i in range(100)])
    stage.Save()
    with refused(MeshError, "meshes of a USD file", got="1.0101e+08"):
        read_surface(path)
    UsdGeom.PointInstancer.Get(stage, "/l1").GetPrototypesRel().SetTargets(["/l4"])
    stage.Save()
    with refused(MeshError, "point instances", got="prototypes"):
        read_surface(path)


def test_usd_motion(stage, path):
    """Samples of points and of a transform above; seconds from time codes."""
    from pxr import Gf, UsdGeom, Vt

    stage.SetTimeCodesPerSecond(50)
    top = UsdGeom.Xform.Define(stage, "/a")
    move = top.AddTranslateOp()
    mesh = define(stage, "/a/body", GRID.vertices, GRID.faces)
    for k in range(3):
        mesh.GetPointsAttr().Set(
            Vt.Vec3fArray.FromNumpy(np.float32(GRID.vertices * (1 + k))), 1001 + k
        )
    for code, y in ((1001, 0.0), (1006, 1.0)):
        move.Set(Gf.Vec3d(0, y, 0), code)
    stage.Save()
    times, x, faces = read_moving(path)
    np.testing.assert_allclose(times, np.array([0, 1, 2, 5]) / 50)
    for k, (factor, y) in enumerate(((1, 0), (2, 0.2), (3, 0.4), (3, 1.0))):
        np.testing.assert_allclose(x[k], factor * GRID.vertices + [0, y, 0], atol=1e-6)
    np.testing.assert_array_equal(faces, GRID.faces)
    assert read_moving(path, fps=25.0)[0][-1] == pytest.approx(5 / 25)
    body = load_animated(path, start=1.0)
    np.testing.assert_allclose(body.at(1.01), 1.5 * GRID.vertices + [0, 0.1, 0], atol=1e-6)


def test_samples_of_a_mesh_at_rest_are_one_time(stage, path):
    """As of glTF: what does not move is a body at rest, which need not last."""
    mesh = define(stage, "/a", GRID.vertices, GRID.faces)
    for code in (0, 24):
        mesh.GetPointsAttr().Set(mesh.GetPointsAttr().Get(), code)
    stage.Save()
    times, x, _ = read_moving(path)
    assert times.tolist() == [0.0] and x.shape == (1, 20, 3)
    assert load_animated(path).frames is None


def test_usd_skin(tmp_path):
    """A tube of two joints: the second turns by 30 degrees, and what it holds turns with it."""
    Usd = pytest.importorskip("pxr.Usd")
    dancer = film_assets.write_assets(tmp_path).dancer
    times, found, _ = read_moving(dancer, prim=film_assets.BODY)
    np.testing.assert_allclose(times, np.arange(13) / 24)
    stage = Usd.Stage.Open(str(dancer))  # lives as long as what it has
    z_up = np.array(stage.GetAttributeAtPath(f"{film_assets.BODY}.points").Get())
    x = 0.01 * z_up[:, [0, 2, 1]] * [1, 1, -1]
    share = np.clip((x[:, 1] - 0.48) / 0.24, 0, 1)[:, None]
    for k in range(13):
        bent = (x - [0, 0.6, 0]) @ turned(np.radians(-30 * k / 12)).T + [0, 0.6, 0]
        np.testing.assert_allclose(found[k], (1 - share) * x + share * bent, atol=1e-6)


def test_gltf_cloth_hangs_together_at_seams(tmp_path):
    """A vertex with two texture coordinates is one; nodes are applied; painted numbers are read."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
    uv = np.array([[0, 1], [1, 1], [0, 0], [9, 0], [9, 1], [8, 0]], dtype=float)
    tree = {
        "nodes": [
            {"name": "top", "children": [1], "translation": [0, 0, 3]},
            {"name": "cloth", "mesh": 0, "scale": [2, 2, 2]},
        ],
        "meshes": of_mesh(POSITION=0, TEXCOORD_0=1, _PIN=3, indices=2),
        "materials": [{"name": "red"}],
    }
    tree["meshes"][0]["primitives"][0]["material"] = 0
    pins = np.array([0.0, 1, 0, 0, 1, 0])
    path = gltf(tree, [x, uv, np.array([0, 1, 2, 4, 3, 5], np.uint16), pins], tmp_path / "a.gltf")
    mesh = read_mesh(path, rest="uv")
    np.testing.assert_allclose(mesh.vertices, 2 * x[:4] + [0, 0, 3])
    assert mesh.faces.tolist() == [[0, 1, 2], [1, 3, 2]] and len(mesh.hinges) == 1
    np.testing.assert_allclose(mesh.corner_uv[1], [[9, 0], [9, 1], [8, 1]])
    assert mesh.groups["red"].tolist() == [0, 1, 2, 3]
    assert mesh.weights["PIN"].tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("kind", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_gltf_skin(tmp_path, kind):
    """Linear blend: what half hangs on a joint goes half of its way; samplers of every kind."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0], [1, 2, 0]], dtype=float)
    joints = np.tile(np.array([0, 1, 0, 0], np.uint8), (6, 1))
    share = np.array([0, 0, 0.5, 0.5, 1, 1])
    weights = np.stack([1 - share, share, 0 * share, 0 * share], axis=1)
    inverse = np.stack([np.eye(4), np.eye(4)])
    inverse[1, 1, 3] = -1
    h = np.sqrt(0.5)
    keys = np.array([[0, 0, 0, 1], [h, 0, 0, h]])
    if kind == "CUBICSPLINE":
        keys = np.stack([0 * keys, keys, 0 * keys], axis=1).reshape(-1, 4)
    tree = {
        "nodes": [
            {"mesh": 0, "skin": 0, "translation": [99, 0, 0]},  # of no effect: it is skinned
            {"children": [2]},
            {"translation": [0, 1, 0]},
        ],
        "meshes": of_mesh(POSITION=0, JOINTS_0=2, WEIGHTS_0=3, indices=1),
        "skins": [{"joints": [1, 2], "inverseBindMatrices": 4}],
        "animations": animation(5, 6, 2, "rotation", interpolation=kind),
    }
    ids = np.array([0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4], np.uint16)
    columns = inverse.transpose(0, 2, 1).reshape(2, 16)
    arrays = [x, ids, joints, weights, columns, np.array([2.0, 3.0]), keys]
    times, found, _ = read_moving(gltf(tree, arrays, tmp_path / "a.gltf"), fps=8.0)
    assert times[0] == 0 and times[-1] == 1 and len(times) == 9

    def bent(angle):
        moved = (x - [0, 1, 0]) @ turned(angle).T + [0, 1, 0]
        return (1 - share)[:, None] * x + share[:, None] * moved

    np.testing.assert_allclose(found[0], x, atol=1e-6)
    np.testing.assert_allclose(found[-1], bent(np.pi / 2), atol=1e-6)
    middle = {"LINEAR": np.pi / 4, "STEP": 0.0, "CUBICSPLINE": np.pi / 4}[kind]
    np.testing.assert_allclose(found[4], bent(middle), atol=1e-6)


BODY = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n"


def test_point_cache_moves_a_body(tmp_path):
    """Hand-made bytes; the scene file says the rest."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]]) + np.arange(6)[:, None, None] * [0, 0.5, 0]
    data = point_cache(x)
    (tmp_path / "walk.pc2").write_bytes(data)
    (tmp_path / "walk.obj").write_text(BODY)
    (tmp_path / "s.yaml").write_text(
        "cloth: {sheet: {nx: 3, ny: 3}, translation: [0, 9, 0]}\nseconds: 0.2 s\n"
        "bodies: [{mesh: {file: walk.obj, motion: walk.pc2, scale: 10 cm, fps: 25}}]\n"
    )
    (body,) = load_scene(tmp_path / "s.yaml").scene.bodies
    np.testing.assert_allclose(body.at(0.1), 0.1 * (x[2] + x[3]) / 2, atol=1e-7)
    with refused(MeshError, "fps"):
        load_cached(tmp_path / "walk.obj", tmp_path / "walk.pc2")
    with refused(SceneProblems, "bodies.0.frames", got="0.2 s", expected="0.4 s"):
        load_scene(tmp_path / "s.yaml", ["seconds=0.4"])
    load_scene(tmp_path / "s.yaml", ["seconds=0.4", "bodies.0.mesh.hold=true"])
    (tmp_path / "walk.obj").write_text(BODY + "v 0 0 0\n")
    with refused(SceneError, "motion", got="3", expected="4"):
        load_cached(tmp_path / "walk.obj", tmp_path / "walk.pc2", 25.0)
    (tmp_path / "walk.pc2").write_bytes(data[:-4])
    with refused(MeshError, "point cache", got="6 frames of 3 vertices in 212 bytes"):
        load_cached(tmp_path / "walk.obj", tmp_path / "walk.pc2", 25.0)


PLY = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
property float s
property float t
property float pin
property uchar red
element face 1
property list uchar int vertex_index
end_header
0 0 0 0 0 1.0 255
1 0 0 1 0 0.7 51
1 1 0 1 1 0 0
0 1 0 0 1 0 0
4 0 1 2 3
"""


def test_pins_by_painted_weights(tmp_path):
    """PLY vertex properties, in a scene file; bytes are colors, from 0 to 1."""
    (tmp_path / "a.ply").write_text(PLY)
    path = tmp_path / "s.yaml"
    path.write_text("cloth: {mesh: {file: a.ply}}\npins: [{weights: pin}]\n")
    for above, vertices in ((0.5, [0, 1]), (0.8, [0])):
        (pin,) = load_scene(path, [f"pins.0.above={above}"]).scene.pins
        assert pin.vertices.tolist() == vertices
    assert weft.load(tmp_path / "a.ply").mesh.weights["red"].tolist() == [1.0, 0.2, 0.0, 0.0]
    with refused(SceneProblems, "weights", got="'pinn'", expected="pin, red"):
        load_scene(path, ["pins.0.weights=pinn"])
    several = weft.join([weft.load(tmp_path / "a.ply"), weft.sheet(3, 3)])
    assert several.weighted("pin").tolist() == [0, 1]


def test_meshes_that_cannot_be_cloth(stage, path):
    """Each is named: empty, not finite, out of range, degenerate, changing faces."""
    from pxr import Vt

    def error(x, faces, uv=GRID.vertex_uv, match=""):
        stage.RemovePrim("/a")
        define(stage, "/a", x, faces, uv)
        stage.Save()
        with refused(MeshError, match):
            read_mesh(path)

    error(np.zeros((0, 3)), [[0, 1, 2]], match=("points", "none"))
    error(GRID.vertices, [], match=("faces", "0 of 0"))
    error(GRID.vertices, [[0, 1, 99]], match=("points", "20", "100"))
    error(GRID.vertices, [[0, 1, -1]], match=("vertex indices of face 0", "0, 1, -1"))
    error(GRID.vertices, GRID.faces, uv=None, match=("material coordinates", "none", "warp"))
    error(GRID.vertices, GRID.faces, uv=np.zeros((3, 2)), match=("primvar st", "3"))
    mesh = define(stage, "/a", GRID.vertices, GRID.faces)
    for k in range(2):
        mesh.GetFaceVertexIndicesAttr().Set(
            Vt.IntArray.FromNumpy(np.roll(GRID.faces.ravel(), k)), k
        )
    stage.Save()
    with refused(MeshError, "faces", got="change"):
        read_mesh(path)
    stage.RemovePrim("/a")
    stage.Save()
    with refused(MeshError, "USD file", got="no mesh"):
        read_mesh(path)
