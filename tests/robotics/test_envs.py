"""Environments as Gymnasium wants them, and tasks that can be done."""

import sys
import warnings

import numpy as np
import pytest

from tests.refusals import refused

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

import weft
from weft.base.errors import WeftError
from weft.robotics import env, vector_env
from weft.robotics.tasks import SIDE, TASKS, covered_share, fold_progress, mean_lift

SIZE = 7


@pytest.mark.parametrize("name", TASKS)
def test_the_checker_of_gymnasium_passes(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env(name, size=5, steps=5), skip_render_check=True)


def flat(n=21):
    """(n,3) positions and (n,2) material coordinates."""
    side = np.linspace(-SIDE / 2, SIDE / 2, n)
    u, v = (a.reshape(-1) for a in np.meshgrid(side, side))
    return np.column_stack([u, np.zeros(n * n), -v]), np.column_stack([u, v])


def test_measures_are_0_at_first_and_1_where_all_is_done():
    x, uv = flat()
    assert fold_progress(x, uv) == pytest.approx(0.0) and mean_lift(x, uv) == 0.0
    folded = np.column_stack([np.abs(x[:, 0]), x[:, 1:]])
    assert fold_progress(folded, uv) == pytest.approx(1.0)
    assert mean_lift(x + [0, 0.25, 0], uv) == pytest.approx(1.0)
    assert covered_share(x, uv) == 1.0
    assert covered_share(folded, uv) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("name", TASKS)
def test_starts_do_not_stretch(name):
    """Edges are as long as in the material, but for what a bend's chords lose."""
    _, uv = flat(41)
    start = TASKS[name].start(uv, np.random.default_rng(3))
    edges = [(k, k + 1) for k in range(41 * 41 - 1) if (k + 1) % 41]
    for a, b in edges:
        length = np.linalg.norm(start[a] - start[b]) / np.linalg.norm(uv[a] - uv[b])
        assert 0.98 < length < 1 + 1e-9
    assert start[:, 1].min() > 3e-3


def go(e, seen, to, closed, most=40):
    """Move the grippers to places (g,3)."""
    g, total, info = len(to), 0.0, {}
    for _ in range(most):
        way = to - seen[-4 * g : -g].reshape(g, 3)
        if np.abs(way).max() < 5e-3:
            break
        close = np.full((g, 1), 1.0 if closed else -1.0)
        action = np.hstack([np.clip(way / 0.02, -1, 1), close])
        seen, reward, solved, over, info = e.step(action.reshape(-1))
        total += reward
        if solved or over:
            return seen, total, True, info
    return seen, total, False, info


def test_a_lifted_cloth_is_grasped():
    e = env("grasp", size=SIZE, steps=80)
    seen, _ = e.reset(seed=1)
    middle = seen[: 3 * SIZE**2].reshape(-1, 3)[SIZE**2 // 2][None]
    seen, a, over, _ = go(e, seen, middle + [0, 5e-3, 0], closed=False)
    seen, b, over, info = go(e, seen, middle + [0, 0.45, 0], closed=True)
    assert over and info["solved"] and a + b == pytest.approx(info["measure"] + 1, abs=0.05)


def test_what_is_not_held_stays_on_the_table():
    e = env("grasp", size=5)
    seen, _ = e.reset(seed=2)
    for _ in range(3):
        seen, _, solved, _, info = e.step(np.array([0, 1, 0, -1.0]))
    assert not solved and info["measure"] < 0.02 and seen[-1] == 0.0


def test_a_seed_is_an_episode():
    one, other = (env("fold", size=5) for _ in range(2))
    a, b = (e.reset(seed=7)[0] for e in (one, other))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, one.reset()[0])


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.exact_start)])
def test_a_vector_is_its_environments(processes):
    """The same observations and rewards as environments that are alone, bitwise; an episode that
    is over begins anew, as Gymnasium's next-step mode says.
    """
    many = vector_env("fold", 2, size=5, steps=2, processes=processes)
    ones = [env("fold", size=5, steps=2) for _ in range(2)]
    seen, _ = many.reset(seed=11)
    alone = [e.reset(seed=11 + k)[0] for k, e in enumerate(ones)]
    assert np.array_equal(seen, alone)
    many.action_space.seed(0)
    for step in range(4):
        actions = many.action_space.sample()
        seen, rewards, _, cut, _ = many.step(actions)
        if step == 2:
            alone = [e.reset()[0] for e in ones]
            assert rewards.tolist() == [0.0, 0.0]
        else:
            told = [e.step(a) for e, a in zip(ones, actions)]
            alone = [t[0] for t in told]
            assert rewards.tolist() == [t[1] for t in told]
            assert cut.tolist() == [t[3] for t in told]
        assert np.array_equal(seen, alone)
    many.close()


def test_they_are_registered():
    import gymnasium

    made = gymnasium.make("weft.robotics.registration:weft/Flatten-v0", size=5)
    assert made.reset(seed=0)[0].shape == (3 * 25 + 4,)


def test_a_picture_shows_cloth_and_table():
    e = env("flatten", size=SIZE, render_mode="rgb_array")
    e.reset(seed=0)
    image = e.render()
    assert image.shape == (480, 640, 3) and image.dtype == np.uint8 and image.std() > 10


BAD = [
    (np.zeros(3), ("actions", "1, 3", "1, 1, 4")),
    (np.array([0, np.nan, 0, 0]), ("actions", "nan at [0, 0, 1]")),
]


@pytest.mark.parametrize("action, message", BAD)
def test_bad_actions(action, message):
    e = env("grasp", size=5)
    e.reset(seed=0)
    with refused(WeftError, message):
        e.step(action)


def test_bad_settings(monkeypatch):
    with refused(WeftError, "task", got="'iron'", expected="grasp, fold, flatten"):
        env("iron")
    with refused(WeftError, "size", got="3", expected="5 to 65"):
        env("fold", size=3)
    with refused(WeftError, "num_envs", got="0"):
        vector_env("fold", 0, size=5)
    with refused(WeftError, "render_mode", got="'human'"):
        env("fold", size=5, render_mode="human")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with refused(WeftError, "environments", hint="'weft[gym]'"):
        env("fold")


def test_environments_can_be_made_again_and_again():
    """``weft.robotics.env`` stays the function when its parts have been imported."""
    for _ in range(2):
        weft.robotics.env("fold", size=5).close()
        weft.robotics.vector_env("fold", 1, size=5).close()
