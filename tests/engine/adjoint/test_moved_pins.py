"""Gradients by the paths of pins: what they need, and where they have none."""

import warnings

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.adjoint.rollout import Rollout
from weft.base.errors import SceneError


def throw(interpolation="smooth", last=0.2, middle=(0.0, 0.01, 0.02), **more):
    cloth = weft.sheet(4, 4, 0.1, 0.1)
    ends = [(0.0, (0, 0, 0)), (0.1, middle), (last, (0.0, 0.03, 0.05))]
    path = weft.Path([weft.Keyframe(t, v) for t, v in ends], interpolation, **more)
    return weft.Scene(cloth, [weft.Pin(cloth.corners("top"), path=path, name="hands")], step=0.01)


def test_a_path_that_ends_before_the_run_is_refused():
    with refused(SceneError, "hands.path", got="a last keyframe at 0.2 s"):
        Rollout(throw(), ["pins.hands.keyframes"], frames=20, fps=50)
    Rollout(throw("linear", hold=True), ["pins.hands.keyframes"], frames=20, fps=50)


@pytest.mark.parametrize(
    "scene, level",
    [
        (throw(), True),  # x stays 0
        (throw("linear"), False),
        (throw(middle=(0.01, 0.01, 0.02)), False),
    ],
    ids=["level", "linear", "turns"],
)
def test_a_smooth_path_that_is_level_has_no_derivative(scene, level):
    with warnings.catch_warnings(record=True, action="always") as caught:
        Rollout(scene, ["pins.hands.keyframes"], frames=5, fps=50)
    said = [str(w.message) for w in caught]
    assert ["gradient by pins.hands.keyframes" in text for text in said] == [True] * level
    path = scene.pins[0].path

    def moved(step):
        values = np.array([k.translation for k in path.keyframes])
        keys = [weft.Keyframe(k.time, tuple(v)) for k, v in zip(path.keyframes, values + step)]
        return weft.Path(keys, path.interpolation).at(np.array([0.05]))[0, :3]

    way = 1e-6 * np.array([[0, 0, 0], [1.0, 0, 0], [0.3, 0, 0]])
    parts = [1e-6 * np.diag(w) @ np.array([[1.0, 0, 0]] * 3) for w in np.eye(3)]
    whole = (moved(way) - moved(-way))[0]
    by_one = [(moved(p) - moved(-p))[0] for p in parts]
    both = by_one @ np.array([0, 1.0, 0.3])
    assert (abs(whole - both) > 1e-3 * abs(whole)) == level
