"""The mannequin as a UsdSkel file: a skeleton, its motion and a skin."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.io.files import read_moving
from weft.io import FORMATS
from weft.plugins.garments.bodies.landmarks import find_landmarks
from weft.plugins.garments.mannequin import MotionSettings
from weft.plugins.garments.mannequin.joints import NAMES
from weft.plugins.garments.mannequin.smpl import SmplModel
from weft.scene.build import load_scene

pytest.importorskip("pxr.Usd")

SETTINGS = MotionSettings("walk", hold=0.1, blend=0.5, cycles=1, forward=True)


@pytest.fixture(scope="module")
def path(woman, tmp_path_factory):
    path = tmp_path_factory.mktemp("skeleton") / "walk.usdc"
    FORMATS[".usdc"].skinned(path, woman.animate_skeleton(SETTINGS, fps=10))
    return path


def test_the_skin_follows_the_skeleton_as_the_mannequin_does(woman, path):
    """Read by USD's own skinning, by dual quaternions, to single precision, at its own rate."""
    own = woman.animate(SETTINGS, fps=10)
    times, x, faces = read_moving(path)
    np.testing.assert_allclose(times, own.times)
    np.testing.assert_array_equal(faces, woman.faces)
    np.testing.assert_allclose(x, own.positions, atol=2e-6)


def pose_linearly(woman, moved):
    """The vertices of the motion by SMPL's equations, for a model without blend shapes."""
    n, j = len(woman.vertices), len(NAMES)
    weights = np.zeros((n, j))
    np.put_along_axis(weights, woman.skin, woman.weights, axis=1)
    none = np.zeros((n, 3, 0)), np.zeros((n, 3, 9 * (j - 1))), np.zeros((j, n))
    model = SmplModel(woman.vertices, *none, weights, moved.parents, woman.faces)
    turns = moved.turns.copy()
    for k, parent in enumerate(moved.parents[1:], start=1):
        turns[:, k] = np.swapaxes(moved.turns[:, parent], 1, 2) @ moved.turns[:, k]
    return model.pose((woman.vertices, woman.joints), turns, moved.places[:, 0])


def test_a_linear_blend_of_the_file_is_near(woman, path, tmp_path):
    """Programs that do not know dual quaternions: of a walk, within 11 mm. OpenUSD and SMPL's
    equations agree on it.
    """
    from pxr import Usd, UsdSkel

    stage = Usd.Stage.Open(str(path))
    UsdSkel.BindingAPI(stage.GetPrimAtPath("/weft/body")).GetSkinningMethodAttr().Clear()
    stage.Export(str(tmp_path / "linear.usdc"))
    x = read_moving(tmp_path / "linear.usdc")[1]
    moved = woman.animate_skeleton(SETTINGS, fps=10)
    np.testing.assert_allclose(x, pose_linearly(woman, moved), atol=2e-6)
    apart = np.linalg.norm(x - woman.animate(SETTINGS, fps=10).positions, axis=2)
    assert 0.005 < apart.max() < 0.011 and apart[0].max() < 1e-6


def test_the_skeleton_has_bind_and_rest_transforms(woman, path):
    from pxr import Usd, UsdSkel

    stage = Usd.Stage.Open(str(path))
    skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath("/weft/skeleton"))
    joints = [j.rpartition("/")[2] for j in skeleton.GetJointsAttr().Get()]
    assert joints == list(NAMES) and UsdSkel.Topology(skeleton.GetJointsAttr().Get()).Validate()[0]
    query = UsdSkel.Cache().GetSkelQuery(skeleton)
    for found in (query.GetJointWorldBindTransforms(), query.ComputeJointSkelTransforms(0, True)):
        np.testing.assert_allclose(np.array(found)[:, 3, :3], woman.joints, atol=1e-6)


@pytest.mark.parametrize("suffix", [".usda", ".usdz"])
def test_every_kind_of_usd_file(woman, tmp_path, suffix):
    still = woman.animate_skeleton(MotionSettings("a_pose", hold=0.1), fps=10)
    FORMATS[suffix].skinned(tmp_path / f"a{suffix}", still)
    x = read_moving(tmp_path / f"a{suffix}")[1]
    np.testing.assert_allclose(x[0], woman.vertices, atol=2e-6)


def test_a_character_with_other_names_of_joints_is_a_body(woman, tmp_path):
    """Names of joints mean nothing: it moves, and its landmarks are found on its skin."""
    names = tuple(f"mixamorig_{n.title().replace('_', '')}" for n in NAMES)
    moved = replace(woman.animate_skeleton(SETTINGS, fps=10), joints=names)
    FORMATS[".usdc"].skinned(tmp_path / "character.usdc", moved)
    (tmp_path / "scene.yaml").write_text("""
cloth: {sheet: {nx: 3, ny: 3, width: 0.2, height: 0.2}, translation: [0, 2, 0]}
bodies: [{name: anna, mesh: {file: character.usdc}}]
contact: {}
seconds: 0.1
""")
    (body,) = load_scene(tmp_path / "scene.yaml").scene.bodies
    own = woman.animate(SETTINGS, fps=10)
    np.testing.assert_allclose(body.at(0.8), own.positions[8], atol=2e-6)
    assert find_landmarks(body).girths["waist"] == pytest.approx(woman.measurements.waist, abs=0.01)
