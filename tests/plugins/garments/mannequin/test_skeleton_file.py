"""The mannequin as a UsdSkel file: a skeleton, its motion and a skin."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.io.files import read_moving
from tests.plugins.garments.builders import BESIDE, scene_of
from weft.io import FORMATS
from weft.plugins.garments.bodies.landmarks import find_landmarks
from weft.plugins.garments.mannequin import MotionSettings
from weft.plugins.garments.mannequin.joints import NAMES

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


def test_a_linear_blend_of_the_file_is_near(woman, path, tmp_path):
    """Programs that do not know dual quaternions: of a walk, within 11 mm."""
    from pxr import Usd, UsdSkel

    stage = Usd.Stage.Open(str(path))
    UsdSkel.BindingAPI(stage.GetPrimAtPath("/weft/body")).GetSkinningMethodAttr().Clear()
    stage.Export(str(tmp_path / "linear.usdc"))
    x = read_moving(tmp_path / "linear.usdc")[1]
    apart = np.linalg.norm(x - woman.animate(SETTINGS, fps=10).positions, axis=2)
    assert 0.005 < apart.max() < 0.011 and apart[0].max() < 1e-6


def test_a_character_with_other_names_of_joints_is_a_body(woman, tmp_path):
    """Names of joints mean nothing: it moves, and its landmarks are found on its skin."""
    names = tuple(f"mixamorig_{n.title().replace('_', '')}" for n in NAMES)
    moved = replace(woman.animate_skeleton(SETTINGS, fps=10), joints=names)
    FORMATS[".usdc"].skinned(tmp_path / "character.usdc", moved)
    (body,) = scene_of(tmp_path, BESIDE + "bodies: [{mesh: {file: character.usdc}}]").bodies
    own = woman.animate(SETTINGS, fps=10)
    np.testing.assert_allclose(body.at(0.8), own.positions[8], atol=2e-6)
    assert find_landmarks(body).girths["waist"] == pytest.approx(woman.measurements.waist, abs=0.01)
