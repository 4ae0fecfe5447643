"""The studies of learning: transitions that are recorded, plans by gradients, and a learner."""

import dataclasses

import numpy as np
import pytest

import weft

pytest.importorskip("gymnasium")

from studies.robots import flatten_by_gradients as planning


def test_transitions_are_chunks_of_their_own(tmp_path):
    pytest.importorskip("zarr")
    from studies.robots.record_transitions import Transitions, record

    record(tmp_path / "t.zarr", count=30, worlds=2, size=5)
    data = Transitions(tmp_path / "t.zarr")
    assert len(data) == 30 and data.state.chunks == (1, 2, 3 * 25 + 8)
    state, action, _ = data[4]
    assert state.shape == (2, 83) and action.shape == (8,) and not np.array_equal(*state)
    # Two worlds take turns, so what is seen after a step is seen before the next one of its world.
    assert np.array_equal(data[2][0][1], data[4][0][0])
    batch = data.__getitems__([7, 3, 5])
    assert [np.array_equal(a[0], data[k][0]) for a, k in zip(batch, (3, 5, 7))] == [True] * 3


@pytest.mark.slow
def test_the_slope_of_a_plan_is_that_of_its_loss():
    """The derivative by the gripper's way, through grip, contact and friction; steps end so close
    to their minimum that differences of runs have no noise.
    """
    env = planning.start(1)
    task, tight = env.rig.tasks[0], weft.StepSettings(tolerance=1e-6)
    task.scene = dataclasses.replace(task.scene, settings=tight)
    goal = planning.goal_of(env.rig.cloth(0), env.rig.tasks[0].rest)
    ways = planning.above_table(env, np.tile([0.004, 0.01, 0.0], (4, 1)))
    _, slope = planning.evaluate(env, goal, ways)
    by = np.tile([0.3, 1.0, 0.2], (4, 1))
    h = 1e-4
    more, less = (planning.evaluate(env, goal, ways + s * h * by)[0] for s in (1, -1))
    assert (more - less) / (2 * h) == pytest.approx(float((slope * by).sum()), rel=3e-3)


@pytest.mark.slow
def test_plans_by_gradients_unfold():
    first, last, steps = planning.flatten(1, most=12)
    assert last > first + 0.02 and len(steps) == 12


def test_a_learner_takes_steps_and_writes_its_curve(tmp_path, monkeypatch):
    pytest.importorskip("stable_baselines3", reason="pip install stable-baselines3")
    from studies.robots import learn_grasp

    monkeypatch.setattr(learn_grasp, "SIZE", 5)
    monkeypatch.setattr(learn_grasp, "CHUNK", 61)
    found = learn_grasp.learn(tmp_path, 122, range(1), range(1, 2))
    steps, solved, _, held_out = found.table.rows[1]
    assert steps == 122 and 0 <= solved <= 1 and held_out in (0.0, 1.0)
    assert found.findings[0].endswith("of 1 new seeds are solved after 122 steps")
    assert (tmp_path / "learn-grasp.zip").exists()
    assert len((tmp_path / "learn-grasp.csv").read_text().splitlines()) == 3
