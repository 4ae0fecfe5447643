"""Environments whose scene has an arm: its joints are actions, its loads are observed."""

import numpy as np
import pytest

from tests.plugins.robots.arms.arm_files import GRIPPER, write

pytest.importorskip("gymnasium")
pytest.importorskip("mujoco", reason="arms are read by MuJoCo: pip install 'weft[arms]'")

from gymnasium.utils.env_checker import check_env

from weft.plugins.robots.cameras.camera_sensor import CameraSensor
from weft.plugins.robots.learning import env, vector_env
from weft.plugins.robots.learning.tasks import TASKS, Task
from weft.show.picture.camera import look_at

SCENE = """
cloth:
  sheet: {nx: 5, ny: 5, width: 10 cm, height: 10 cm}
  translation: [0, 3.5 mm, 0]
contact: {gap: 4 mm, friction: 0.4}
bodies:
  - {name: table, plate: {width: 0.6 m, depth: 0.6 m, size: 60 cm}}
  - name: arm
    mjcf: arm.xml
    translation: [0, 41 mm, 0]
    joints: {lift: 0 m, left: {keys: [[0 s, 0 m]], force: 2 N}}
step: 25 ms
"""


@pytest.fixture
def press(tmp_path, monkeypatch):
    """A task in which pads hang 2 cm above a towel."""
    write(tmp_path, GRIPPER)
    (tmp_path / "scene.yaml").write_text(SCENE)

    class Press(Task):
        scene_file = tmp_path / "scene.yaml"
        places = ()
        done = 9.0

        def start(self, random):
            return self.rest

        def measure(self, x):
            return {"height": float(x[:, 1].mean())}

    monkeypatch.setitem(TASKS, "press", Press)
    return "press"


def test_joints_are_actions(press):
    """They move by 2 cm at most, within their range; a pad that comes down loads its link."""
    e = env(press)
    assert e.action_space.shape == (2,)
    first, _ = e.reset(seed=0)
    names = [name for b in e.rig.tasks[0].scene.bodies[1:2] for name in b.link.arm.links]
    loads = slice(2, 2 + 6 * len(names))
    assert first[:2].tolist() == [0, 0] and not first[loads].any()
    seen, *_, info = e.step([-1, 0])
    assert info["height"] == pytest.approx(e.rig.cloth(0)[:, 1].mean()), "of cloth, not of fingers"
    assert seen[:2] == pytest.approx([-0.02, 0])
    seen, *_ = e.step([0, 3])
    assert seen[:2] == pytest.approx([-0.02, 0.02])
    assert seen[loads].reshape(-1, 6)[:, 1].max() > 1e-3  # the cloth pushes up
    seen, *_ = e.step([0, 1])
    assert seen[1] == pytest.approx(0.03), "the range of the joint"


def test_the_checker_of_gymnasium_passes(press):
    check_env(env(press, steps=3), skip_render_check=True)


def test_the_camera_sees_links_where_they_are(press):
    """Its lowest row of links goes up and down with them."""
    camera = look_at((0.2, 0.05, 0.0), (0, 0.03, 0.0), field_of_view=40)
    sensor = CameraSensor(camera, 32, 32, ("mask",))
    many = vector_env(press, 2, camera=sensor, processes=1)
    before = many.reset(seed=0)[0]["mask"]
    after = many.step([[0.5, 0], [-1, 0]])[0]["mask"]
    rows = [np.nonzero(mask > 2)[0].max() for mask in (*before, *after)]
    assert rows[2] < rows[0] - 1 and rows[3] > rows[1] + 1
