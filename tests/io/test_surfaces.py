"""Surfaces of cloth in exported files: images, their coordinates, and materials."""

import dataclasses
import io
import json

import numpy as np
import pytest
from PIL import Image

import weft
from tests.io.files import read_glb
from tests.refusals import refused
from weft.base.errors import RunError
from weft.cli.export import export
from weft.io import read_mesh, write_animation
from weft.scene.build import load_scene

SCENE = """
cloths:
  - name: printed
    sheet: {nx: 4, ny: 3, width: 30 cm, height: 20 cm}
    surface: {image: print.png, repeat: [10 cm, 5 cm], offset: [1 cm, 2 cm], color: red}
  - {name: navy, sheet: {nx: 3, ny: 3}, translation: [0, -1 m, 0], surface: {color: navy}}
  - {name: usual, sheet: {nx: 2, ny: 2}, translation: [0, -2 m, 0]}
"""


@pytest.fixture(scope="module")
def painted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("painted")
    image = Image.new("RGBA", (8, 4), (0, 0, 0, 0))
    image.putpixel((0, 0), (255, 255, 255, 255))
    image.save(folder / "print.png")
    (folder / "scene.yaml").write_text(SCENE)
    scene = load_scene(folder / "scene.yaml").scene
    return weft.simulate(scene, out=folder / "run", frames=1, fps=30)


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
    pytest.importorskip("pxr.UsdValidation")
    from pxr import Ar, Usd, UsdGeom, UsdShade, UsdValidation

    path = tmp_path / f"a{suffix}"
    painted.export(path, units="cm")
    stage = Usd.Stage.Open(str(path))
    registry = UsdValidation.ValidationRegistry()
    everything = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    assert [e.GetMessage() for e in everything.Validate(stage)] == []
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
    again = read_mesh(path)  # the rest shape is the material's, not the image's
    np.testing.assert_allclose(again.rest_area, painted.mesh.rest_area, rtol=1e-5)


def test_gltf_materials(painted, tmp_path):
    painted.export(tmp_path / "a.glb")
    tree, data = read_glb(tmp_path / "a.glb")

    def part(view, kind=np.uint8):
        start = view.get("byteOffset", 0)
        return np.frombuffer(data[start : start + view["byteLength"]], kind)

    def accessor(number, kind):
        return part(tree["bufferViews"][tree["accessors"][number]["bufferView"]], kind)

    primitives = {
        tree["materials"][p["material"]]["name"]: p for p in tree["meshes"][0]["primitives"]
    }
    material = tree["materials"][primitives["printed"]["material"]]["pbrMetallicRoughness"]
    assert material["baseColorFactor"] == [1, 1, 1, 1]
    texture = tree["textures"][material["baseColorTexture"]["index"]]
    image = tree["images"][texture["source"]]
    view = tree["bufferViews"][image["bufferView"]]
    assert image["mimeType"] == "image/png" and view["byteOffset"] % 4 == 0
    assert is_print(part(view).tobytes())
    p = primitives["printed"]
    uv = accessor(p["attributes"]["TEXCOORD_0"], "<f4").reshape(-1, 2)
    ids = accessor(p["indices"], "<u4")
    st = expected(painted).reshape(-1, 2)
    np.testing.assert_allclose(uv[ids], np.stack([st[:, 0], 1 - st[:, 1]], 1), atol=1e-5)
    assert "baseColorTexture" not in json.dumps(tree["materials"][primitives["navy"]["material"]])


def test_an_image_that_is_gone_is_named(painted, tmp_path):
    image = painted.path.parent / "print.png"
    image.rename(image.with_name("elsewhere.png"))
    try:
        with refused(RunError, "image of a surface", where="print.png"):
            weft.Run(painted.path).export(tmp_path / "a.glb")
        assert not (tmp_path / "a.glb").exists()
    finally:
        image.with_name("elsewhere.png").rename(image)


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
    with Image.open(folder / "cloth.1002.png") as image:
        assert image.getpixel((500, 500)) == (0, 0, 128)


def test_tiles_are_of_usd_alone(painted, tmp_path):
    with refused(RunError, "--udim"):
        export(painted.path, tmp_path / "a.glb", udim=True)
