"""Surfaces of cloth in exported files: images, their coordinates, and materials."""

import dataclasses
import io
import json
import shutil
import zipfile

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

import weft
from tests.engine.io.files import read_glb
from tests.plugins.garments.patterns.test_surface import PATTERN
from tests.refusals import refused
from tests.together.io.reading import valid_stage, values_of, view_of
from weft.base.errors import RunError
from weft.io import read_mesh, write_animation
from weft.io.part_appearance import STITCH
from weft.run.cloth_layers import LIFT
from weft.scene.build import load_scene

SCENE = """
cloths:
  - name: printed
    sheet: {nx: 4, ny: 3, width: 30 cm, height: 20 cm}
    surface: {image: print.png, repeat: [10 cm, 5 cm], offset: [1 cm, 2 cm], color: red}
  - {name: navy, sheet: {nx: 3, ny: 3}, translation: [0, -1 m, 0], surface: {color: navy}}
  - {name: usual, sheet: {nx: 2, ny: 2}, translation: [0, -2 m, 0]}
"""


def run_in(folder):
    """One frame of the scene file of a folder."""
    scene = load_scene(folder / "scene.yaml").scene
    return weft.simulate(scene, out=folder / "run", frames=1, fps=30)


@pytest.fixture(scope="module")
def painted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("painted")
    image = Image.new("RGBA", (8, 4), (0, 0, 0, 0))
    image.putpixel((0, 0), (255, 255, 255, 255))
    image.save(folder / "print.png")
    (folder / "scene.yaml").write_text(SCENE)
    return run_in(folder)


@pytest.fixture(scope="module")
def coat(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coat")
    Image.new("RGB", (60, 120), (0, 200, 0)).save(folder / "print.png")
    surface = "{back: red, thread: blue, thickness: 1 mm}"
    (folder / "coat.yaml").write_text(PATTERN.replace("SURFACE", surface))
    (folder / "scene.yaml").write_text("cloth: {garment: {pattern: coat.yaml, size: 10 cm}}\n")
    return run_in(folder)


def expected(run):
    """Image coordinates (m,3,2) of the printed sheet, whose warp is the image's upright side."""
    uv = run.corner_uv[:12]
    return np.stack([(0.02 - uv[..., 1]) / 0.1, (uv[..., 0] - 0.01) / 0.05], axis=-1)


def is_print(data):
    with Image.open(io.BytesIO(data)) as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape == (4, 8, 3)  # the color is seen where the image is transparent
    return (pixels[0, 0] == 255).all() and (pixels[1:] == [255, 0, 0]).all()


@pytest.mark.parametrize("suffix", [".usdc", ".usdz"])
def test_usd_materials(painted, tmp_path, suffix):
    pytest.importorskip("pxr")
    from pxr import Ar, UsdGeom, UsdShade

    path = tmp_path / f"a{suffix}"
    painted.export(path, units="cm")
    stage = valid_stage(path)
    mesh = UsdGeom.Mesh.Get(stage, "/weft/cloth")
    api = UsdGeom.PrimvarsAPI(mesh)
    st = np.array(api.GetPrimvar("st").Get()).reshape(-1, 3, 2)
    np.testing.assert_allclose(st[:12], expected(painted), atol=1e-5)
    material_uv = np.array(api.GetPrimvar("material_uv").Get()).reshape(-1, 3, 2)
    np.testing.assert_allclose(material_uv, 100 * painted.corner_uv, rtol=1e-6)
    found = {}
    for subset in UsdGeom.Subset.GetAllGeomSubsets(mesh):
        material, _ = UsdShade.MaterialBindingAPI(subset).ComputeBoundMaterial()
        found[subset.GetPrim().GetName()] = material
    assert not found["usual"]
    shader, *_ = found["navy"].ComputeSurfaceSource()
    np.testing.assert_allclose(shader.GetInput("diffuseColor").Get(), [0, 0, 0.2195], atol=1e-3)
    shader, *_ = found["printed"].ComputeSurfaceSource()
    texture = UsdShade.Shader(shader.GetInput("diffuseColor").GetConnectedSource()[0])
    asset = texture.GetInput("file").Get()
    opened = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(asset.resolvedPath))
    assert is_print(bytes(opened.GetBuffer()))
    reader = UsdShade.Shader(texture.GetInput("st").GetConnectedSource()[0])
    assert reader.GetInput("varname").Get() == "st"
    beside = {p.name for p in tmp_path.iterdir()}
    assert beside == ({"a.usdc", "a_textures"} if suffix == ".usdc" else {"a.usdz"})
    if suffix == ".usdz":
        with zipfile.ZipFile(path) as package:
            assert package.namelist() == ["a.usdc", "a_textures/print.png"]
    again = read_mesh(path)  # the rest shape is the material's, not the image's
    np.testing.assert_allclose(again.rest_area, painted.mesh.rest_area, rtol=1e-5)


@pytest.mark.parametrize("udim", [False, True])
def test_usd_layers(coat, tmp_path, udim):
    """The wrong side lies its thickness behind the cloth, and stitches as long and wide as they are
    drawn just above it; tiles have stitches already."""
    pytest.importorskip("pxr")
    from pxr import UsdGeom, UsdShade

    film = dataclasses.replace(turning(coat.animation(units="cm")), udim=udim)
    write_animation(tmp_path / "a.usdc", film)
    stage = valid_stage(tmp_path / "a.usdc")
    names = [p.GetName() for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)]
    assert names == ["cloth", "cloth_wrong_side", "cloth_stitches"][: 3 - udim]

    def triangles(name):
        mesh = UsdGeom.Mesh.Get(stage, f"/weft/{name}")
        x = np.array(mesh.GetPointsAttr().Get(1))
        return x[np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)] / 100

    def vectors(corners):
        return 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])

    front, back = triangles("cloth"), triangles("cloth_wrong_side")
    up = vectors(front) / np.linalg.norm(vectors(front), axis=1, keepdims=True)
    np.testing.assert_allclose(vectors(back), -vectors(front), atol=1e-6)
    behind = np.einsum("mi,mi->m", up, front.mean(axis=1) - back.mean(axis=1))
    np.testing.assert_allclose(behind, 0.001, rtol=0.02)
    assert color_of(stage, UsdShade, "left_wrong_side") == pytest.approx([1, 0, 0])
    if udim:
        return
    strips = triangles("cloth_stitches")
    assert len(strips) == 2 * sum(len(a.dashes()) for a in coat.appearances.values())
    np.testing.assert_allclose(np.linalg.norm(vectors(strips), axis=1), 0.5 * 0.004 * STITCH, 0.02)
    lifted = strips.mean(axis=1)[:, None] - front.mean(axis=1)
    nearest = np.linalg.norm(lifted, axis=2).argmin(axis=1)
    off = np.einsum("si,si->s", up[nearest], lifted[np.arange(len(strips)), nearest])
    np.testing.assert_allclose(off, LIFT, rtol=0.02)
    assert (np.einsum("si,si->s", up[nearest], vectors(strips)) > 0).all()
    assert color_of(stage, UsdShade, "left_stitches") == pytest.approx([0, 0, 1])


def turning(film):
    """Return an animation whose cloth is turned around an axis from frame to frame."""

    def turned(k):
        frame, turn = film.moment(k), Rotation.from_rotvec([0.3 * k, 0.5 * k, 0.0]).as_matrix()
        return dataclasses.replace(frame, positions=[frame.positions[0] @ turn.T])

    return dataclasses.replace(film, moment=turned)


def color_of(stage, UsdShade, name):
    shader = UsdShade.Shader.Get(stage, f"/weft/materials/{name}/surface")
    return list(shader.GetInput("diffuseColor").Get())


def test_gltf_materials(painted, tmp_path):
    painted.export(tmp_path / "a.glb")
    tree, data = read_glb(tmp_path / "a.glb")
    primitives = {
        tree["materials"][p["material"]]["name"]: p for p in tree["meshes"][0]["primitives"]
    }
    material = tree["materials"][primitives["printed"]["material"]]["pbrMetallicRoughness"]
    assert material["baseColorFactor"] == [1, 1, 1, 1]
    texture = tree["textures"][material["baseColorTexture"]["index"]]
    image = tree["images"][texture["source"]]
    assert image["mimeType"] == "image/png"
    assert tree["bufferViews"][image["bufferView"]]["byteOffset"] % 4 == 0
    assert is_print(view_of(tree, data, image["bufferView"]).tobytes())
    p = primitives["printed"]
    uv = values_of(tree, data, p["attributes"]["TEXCOORD_0"], "<f4").reshape(-1, 2)
    ids = values_of(tree, data, p["indices"], "<u4")
    st = expected(painted).reshape(-1, 2)
    np.testing.assert_allclose(uv[ids], np.stack([st[:, 0], 1 - st[:, 1]], 1), atol=1e-5)
    assert "baseColorTexture" not in json.dumps(tree["materials"][primitives["navy"]["material"]])


def test_an_image_that_is_gone_is_named(painted, tmp_path):
    folder = shutil.copytree(painted.path.parent, tmp_path / "copy")
    (folder / "print.png").unlink()
    with refused(RunError, "image of a surface", where="print.png"):
        weft.Run(folder / "run").export(tmp_path / "a.glb")
    assert not (tmp_path / "a.glb").exists()


def test_tiles_hold_the_panels(painted, tmp_path):
    """Each cloth in a tile of its own: what the tile shows at a corner's place is the print."""
    pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom

    film = dataclasses.replace(painted.animation(), udim=True)
    write_animation(tmp_path / "a.usdc", film)
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    api = UsdGeom.PrimvarsAPI(UsdGeom.Mesh.Get(stage, "/weft/cloth"))
    st = np.array(api.GetPrimvar("st").Get()).reshape(-1, 3, 2)
    tile = np.floor(st.mean(axis=1)).astype(int)
    assert [list(t) for t in np.unique(tile, axis=0)] == [[0, 0], [1, 0], [2, 0]]
    assert (np.floor(st) == tile[:, None]).all()  # no triangle leaves its tile
    folder = tmp_path / "a_textures"
    assert sorted(p.name for p in folder.iterdir()) == [f"cloth.100{k}.png" for k in (1, 2, 3)]
    with Image.open(folder / "cloth.1001.png") as image:
        drawn = np.asarray(image)
    s, t = st[:12].mean(axis=1).T
    seen = drawn[((1 - t) * len(drawn)).astype(int), (s * len(drawn)).astype(int)]
    a, b = np.moveaxis(expected(painted).mean(axis=1) % 1, -1, 0)
    white = (a < 1 / 8) & (b > 3 / 4)  # the pixel at the upper left
    near = np.abs(a - 1 / 8) + np.abs(b - 3 / 4) < 0.05
    assert ((seen[:, 1] > 128) == white)[~near].all()
