"""Landmarks on bodies, compared with the measurements that the mannequin knows of itself."""

import numpy as np
import pytest

from weft.base.errors import MeshError
from weft.bodies.landmarks import find_landmarks
from weft.mannequin import mannequin

LEVELS = {
    "neck_back": "neck_height",
    "bust": "chest_height",
    "waist": "waist_height",
    "hip": "hips_height",
    "crotch": "crotch_height",
    "knee_left": "knee_height",
    "ankle_right": "ankle_height",
}


@pytest.fixture(scope="module")
def woman():
    return mannequin("woman")


def check_known(landmarks, measured, x=(0.0, 0.0, 0.0), *, level=0.015, girth=0.02):
    """Check levels and girths [m] against the mannequin's own, over its height."""
    height = measured.height
    for name, known in LEVELS.items():
        error = landmarks.points[name][1] - getattr(measured, known)
        assert abs(error) < level * height, f"{name}: {1000 * error:.0f} mm"
    for name, value in landmarks.girths.items():
        error = value - getattr(measured, name)
        assert abs(error) < girth * height, f"{name}: {1000 * error:.0f} mm"
    for side in ("left", "right"):
        error = landmarks.points[f"shoulder_{side}"] - getattr(measured, f"{side}_shoulder")
        assert np.linalg.norm(error) < 0.025 * height, f"shoulder {side}: {1000 * error} mm"


@pytest.mark.parametrize("figure", ["woman", "man"])
def test_landmarks_are_where_the_mannequin_has_them(figure):
    body = mannequin(figure)
    check_known(find_landmarks(body.vertices, body.faces), body.measurements)


def test_a_body_that_lies_is_refused(woman):
    with pytest.raises(MeshError, match="up"):
        find_landmarks(woman.vertices[:, [0, 2, 1]], woman.faces)
