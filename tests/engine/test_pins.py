"""Pins: held, released, moved; eliminated exactly."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.stepping import steps
from weft.base.errors import SceneError, SceneProblems
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.integrators.model import Model
from weft.scene.build import load_scene

pytestmark = pytest.mark.quick

X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]])


def test_linear_path():
    path = Path([Keyframe(1.0), Keyframe(3.0, (2.0, 0, 0))], "linear")
    for t, shift in ((0, 0), (1, 0), (2, 1), (3, 2), (9, 2)):
        np.testing.assert_allclose(path.positions(X, t), X + [shift, 0, 0], atol=1e-15)


def test_smooth_path_does_not_overshoot():
    path = Path([Keyframe(0.0), Keyframe(1.0, (1.0, 0, 0)), Keyframe(2.0, (1.0, 0, 0))])
    at = np.array([path.positions(X, t)[0, 0] for t in np.linspace(0, 2, 201)])
    assert at.min() >= 0 and at.max() <= 1 + 1e-15 and at[100] == pytest.approx(1)


def test_rotation_is_rigid_about_the_center():
    keys = [Keyframe(0.0), Keyframe(1.0, rotation=np.pi / 2)]
    turned = Path(keys, axis=(0, 1, 0), center=(0, 0, 0)).positions(X, 1.0)
    np.testing.assert_allclose(turned, [[0, 0, 0], [0, 0, -1], [1, 0, 0]], atol=1e-15)


def test_pins_are_exact_in_a_step():
    """A moved vertex is where the path says, to the last bit; a released one falls."""
    cloth = weft.sheet(6, 6)
    path = Path([Keyframe(0.0), Keyframe(1.0, (0.1, 0.2, 0.3))], "linear")
    pins = [Pin(cloth.corners("top-left"), path=path), Pin(cloth.corners("top-right"), until=0.05)]
    scene = weft.Scene(cloth, pins)
    left = cloth.corners("top-left")
    for state, _, _ in steps(scene, 4, 0.025):
        np.testing.assert_array_equal(state.x[left], path.positions(cloth.vertices[left], state.t))
    assert state.x[cloth.corners("top-right"), 1] < -0.01


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: Pin([]), ("pin.vertices", "nothing")),
        (lambda: Path([]), "pin path times"),
        (lambda: Path([Keyframe(1.0), Keyframe(1.0)]), "pin path times"),
        (lambda: Path([Keyframe(1.0)], "cubic"), ("pin path.interpolation", "'cubic'")),
        (lambda: Path([Keyframe(1.0)], axis=(0, 0, 0)), "axis"),
        (lambda: Model(np.ones(3), [], pins=[Pin([3])], start=X), ("pin.vertices", 3, "0 to 2")),
    ],
)
def test_refused(make, match):
    with refused(SceneError, match):
        make()


def test_two_pins_that_disagree():
    pins = [Pin([0]), Pin([0], path=Path([Keyframe(0, (1, 0, 0))]))]
    model = Model(np.ones(3), [], pins=pins, start=X)
    with refused(SceneError, "pin at t = 0 s", got="vertex 0"):
        model.prescribed_positions(0.0)


def test_an_empty_box_names_the_nearest_vertex(tmp_path):
    """A box that held a vertex of a fine mesh may hold none of a coarse one."""
    scene = (
        "cloth: {{sheet: {{nx: {n}, ny: {n}, width: 1 m, height: 1 m}}}}\n"
        "pins:\n  - corners: top\n    box: {{low: [-2 cm, -1, -2 cm], high: [2 cm, 1, 2 cm]}}\n"
    )
    path = tmp_path / "box.yaml"
    path.write_text(scene.format(n=11))
    assert len(load_scene(path).scene.pins[0].vertices) == 3
    path.write_text(scene.format(n=4))
    with refused(SceneProblems, "pins.0.box", hint="207 mm"):
        load_scene(path)
