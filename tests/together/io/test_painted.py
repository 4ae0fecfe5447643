"""Painted weights of files: primvars of corners, vertex colors, and values of another length."""

import numpy as np
import pytest

from tests.engine.io.files import define, gltf
from weft.io import read_mesh

QUADS = [[0, 1, 4, 3], [1, 2, 5, 4]]
X = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0]], float)


def test_primvars_of_usd(tmp_path):
    """Corners have their mean at vertices, colors three names; of another length: left out."""
    pytest.importorskip("pxr")
    from pxr import Sdf, Usd, UsdGeom, Vt

    path = tmp_path / "painted.usda"
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    mesh = define(stage, "/cape", X, QUADS, X[:, :2])
    api, types = UsdGeom.PrimvarsAPI(mesh), Sdf.ValueTypeNames
    api.CreatePrimvar("corner", types.FloatArray, "faceVarying").Set(list(range(8)))
    color = np.random.default_rng(0).uniform(size=(6, 3))
    colors = Vt.Vec3fArray.FromNumpy(np.float32(color))
    for name in ("displayColor", "paint"):
        api.CreatePrimvar(name, types.Color3fArray, "vertex").Set(colors)
    api.CreatePrimvar("short", types.FloatArray, "vertex").Set([1.0, 2.0])
    stage.Save()
    with pytest.warns(UserWarning, match="short of .*painted.usda/cape.* 2 values .*, not 6"):
        weights = read_mesh(path).weights
    # Vertices 1 and 4 belong to both quads.
    np.testing.assert_allclose(weights["corner"], [0, (1 + 4) / 2, 5, 3, (2 + 7) / 2, 6])
    for k, name in enumerate(("red", "green", "blue")):
        np.testing.assert_allclose(weights[name], color[:, k], atol=1e-6)
        np.testing.assert_allclose(weights[f"paint.{name}"], color[:, k], atol=1e-6)
    assert "short" not in weights


def test_colors_of_gltf(tmp_path):
    faces, color = np.array([0, 1, 4, 0, 4, 3]), np.linspace(0, 1, 18).reshape(6, 3)
    attributes = {"POSITION": 0, "TEXCOORD_0": 1, "COLOR_0": 3}
    mesh = {"primitives": [{"attributes": attributes, "indices": 2}]}
    tree = {"nodes": [{"mesh": 0}], "meshes": [mesh], "scenes": [{"nodes": [0]}], "scene": 0}
    path = gltf(tree, [X, X[:, :2], faces, color], tmp_path / "c.gltf")
    weights = read_mesh(path).weights
    np.testing.assert_allclose(weights["green"], color[:, 1], atol=1e-6)
