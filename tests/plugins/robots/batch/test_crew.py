"""A batch in several processes is the batch in this one."""

import os
import signal

import numpy as np
import pytest

import weft
from tests.plugins.robots.batch.scenes import alone, blown, hanging, on_sphere
from tests.refusals import refused
from weft.base.errors import SceneError, SimulationError
from weft.scene.prepare import prepare

pytestmark = pytest.mark.exact_start


@pytest.fixture
def made():
    """Batches of two processes, which end with the test."""
    batches = []

    def make(scenes, **settings):
        batches.append(weft.batch(scenes, processes=2, **settings))
        return batches[-1]

    yield make
    for batch in batches:
        batch.close()


@pytest.mark.campaign
def test_processes_change_nothing(made):
    scenes = [hanging(k) for k in range(3)] + [on_sphere(1), blown(0)]
    batch = made(scenes, fps=50)
    seen = batch.run(frames=4)
    for scene, got, state in zip(scenes, seen, batch.state):
        expected = alone(scene, 4)
        assert np.array_equal(state.x, expected[-1])
        assert np.array_equal(got, [prepare(scene).model.vertices(x) for x in expected])
    assert batch.time.tolist() == pytest.approx([0.08] * 5)


def test_actions_holds_and_resets_go_to_the_right_world(made):
    scenes = [hanging(k) for k in range(3)]
    batch, same = made(scenes, fps=50), weft.batch(scenes, fps=50)
    moves = np.array([[[0.0, 0.01, 0.0]], [[0.0, 0.0, -0.02]], [[0.01, 0.0, 0.0]]])
    holds = [[], [weft.Hold([24], (0.0, 0.01, 0.0))], [weft.Hold([25])]]
    for k in range(5):
        given = {1: {"actions": moves}, 2: {"holds": holds}}.get(k, {})
        assert np.array_equal(batch.step(**given), same.step(**given))
        assert np.array_equal(batch.velocities(), same.velocities())
        if k == 3:
            for b in (batch, same):
                b.reset(2)
    assert batch.time.tolist() == same.time.tolist() == pytest.approx([0.1, 0.1, 0.02])


@pytest.mark.campaign
def test_runs_on_disk_are_those_of_one_process(made, tmp_path):
    scenes = [hanging(k) for k in range(3)]
    folders = made(scenes, fps=25).run(frames=2, out=tmp_path / "two")
    others = weft.batch(scenes, fps=25).run(frames=2, out=tmp_path / "one")
    assert [f.name for f in folders] == [f.name for f in others] == ["0000", "0001", "0002"]
    for a, b in zip(folders, others):
        one, two = (weft.Run(f).folder.sealed_frame(2)[1].digest for f in (a, b))
        assert one == two
    started = made(scenes, fps=25)
    started.step()
    with refused(SceneError, "world 0", got="t = 0.04 s"):
        started.run(frames=2, out=tmp_path / "three")


def kill(batch, process):
    """Kill one process of a batch, and wait for its end."""
    os.kill(batch.workers.processes[process].pid, signal.SIGKILL)
    batch.workers.processes[process].wait()


@pytest.mark.campaign
def test_a_process_that_is_killed_is_named_and_its_worlds_start_again(made):
    """Worlds 1 and 2 lose their process; world 0 goes on, and each of the others waits for its own
    reset.
    """
    scenes = [hanging(k) for k in range(3)]
    batch = made(scenes, fps=50)
    batch.step()
    kill(batch, 1)
    with refused(SimulationError, "process of worlds 1 to 2", got="signal 9"):
        batch.step()
    assert sorted(batch.failed) == [1, 2]
    batch.step()
    with refused(SimulationError, "process of worlds 1 to 2", got="signal 9"):
        batch.run(frames=1)
    with pytest.warns(UserWarning, match="process of worlds 1 to 2 starts again"):
        batch.reset(2)
    assert list(batch.failed) == [1]
    batch.step()
    batch.reset(1)
    assert not batch.failed
    batch.step()
    assert batch.time.tolist() == pytest.approx([0.1, 0.02, 0.04])
    for k, frames in ((0, 5), (1, 1), (2, 2)):
        assert np.array_equal(batch.state[k].x, alone(scenes[k], frames)[-1])


def test_a_closed_batch_is_refused(made):
    batch = made([hanging(0), hanging(1)], fps=50)
    batch.close()
    with refused(SimulationError, "batch", got="closed"):
        batch.step()
    with refused(SimulationError, "batch", got="closed"):
        batch.reset(0)


def test_processes_end_with_the_batch():
    batch = weft.batch([hanging(0), hanging(1)], processes=2)
    processes = batch.workers.processes
    del batch
    assert [p.poll() is not None for p in processes] == [True, True]


def test_what_cannot_be_sent_is_named():
    class Spot:
        name, stencil = "spot", np.zeros((0, 1), dtype=np.int64)

        def value(self, *_):
            return np.zeros(0)

        gradient = hessian = value

    scene = weft.Scene(weft.sheet(3, 3), energies=[Spot()])
    with refused(SceneError, ("batch of scenes", "processes=1")):
        weft.batch([scene, scene], processes=2)
    with refused(SceneError, "processes"):
        weft.batch([hanging(0)], processes=0)


@pytest.mark.campaign
def test_an_environment_whose_process_is_killed_starts_a_new_episode():
    envs = weft.robotics.vector_env("hang", 2, processes=2)
    try:
        envs.reset(seed=0)
        still = np.zeros(envs.action_space.shape)
        kill(envs.rig.batch, 1)
        *_, cut, info = envs.step(still)
        assert cut.tolist() == info["failed"].tolist() == [False, True]
        with pytest.warns(UserWarning, match="process of world 1 starts again"):
            *_, cut, info = envs.step(still)
        assert not cut.any() and not info["failed"].any()
        assert envs.rig.batch.time.tolist() == pytest.approx([0.1, 0.0])
    finally:
        envs.close()
