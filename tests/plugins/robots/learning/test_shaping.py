"""Rewards are shaped by a potential: they rise on the way, and the best policy stays the same."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from weft.plugins.robots.learning import env
from weft.plugins.robots.learning.grippers import Grippers
from weft.plugins.robots.learning.tasks import SUCCESS, TASKS, Drape, Grasp, Hang

DISCOUNT = 0.9
CLOSED, OPEN = 1.0, -1.0


def episode(actions):
    """Rewards and potentials of an episode from one start, and whether it is solved."""
    e = env("grasp", set={"variables.size": 5}, discount=DISCOUNT, steps=len(actions))
    e.reset(seed=3)
    potentials, rewards = list(e.rig.potentials), []
    for action in actions:
        _, reward, solved, cut, _ = e.step(action)
        rewards.append(reward)
        potentials += e.rig.potentials
        if solved or cut:
            break
    return np.array(rewards), potentials, solved


DOWN, UP = [0, -1, 0, CLOSED], [0, 1, 0, CLOSED]


@pytest.mark.parametrize(
    "actions, solved",
    [
        ([DOWN] * 5 + [UP] * 30, True),
        ([[0, -0.5, 0, OPEN]] * 10 + [UP] * 40, True),
        ([DOWN] * 5 + [UP] * 3 + [[0, 0, 0, OPEN]] * 2, False),
    ],
)
def test_shaping_changes_a_return_by_what_no_policy_changes(actions, solved):
    """Solved, by -Φ at the start; cut off, by γ^T Φ at the end besides, which learners add to the
    value of the state with which they go on.
    """
    rewards, potentials, ended = episode(actions)
    assert ended == solved
    discounts = DISCOUNT ** np.arange(len(rewards) + 1)
    shaping = discounts[:-1] @ rewards - solved * SUCCESS * discounts[len(rewards) - 1]
    assert shaping == pytest.approx(discounts[-1] * potentials[-1] - potentials[0], abs=1e-9)
    assert potentials[-1] == 0 if solved else potentials[-1] > 0


@pytest.mark.parametrize("name", TASKS)
def test_reaching_touching_and_holding_raise_the_potential(name):
    """Each of them, in every task and for each gripper; to hold other cloth does not."""
    task = TASKS[name]()
    x, measure = task.rest, 0.2 * task.done
    grippers = Grippers(task.places, task.rest)
    for k, ids in enumerate(task.grip_vertices):
        found, first = [], ids[np.argmin(x[ids, 0])]
        for distance in (0.3, 0.2, 0.1, 0.035, 0.025, 0.0):
            grippers.x[k] = x[first] - [distance, 0, 0]
            found.append(task.potential(x, grippers, measure))
        others = np.setdiff1d(np.arange(len(x)), ids)
        if len(others):
            grippers.gripped[k] = others[:1].astype(np.int32)
            assert task.potential(x, grippers, measure) == pytest.approx(found[-1])
        grippers.gripped[k] = ids[:1]
        found.append(task.potential(x, grippers, measure))
        grown = np.diff(found)
        assert (grown > 0.001 * SUCCESS).all()
        assert grown[3] > 1.5 * grown[4] and grown[5] > grown[4], "to touch and to hold are jumps"


@pytest.mark.parametrize("task", [Hang, Drape])
def test_cloth_in_its_place_is_let_go(task):
    """Above the holder, to open the grippers raises the potential; beside it does not."""
    made = task()
    holder = made.holder_vertices
    above = made.rest - made.rest.mean(0) + 0.5 * (holder.min(0) + holder.max(0)) + [0, 0.2, 0]
    for x, raises in ((above, True), (above + [0.4, 0, 0.0], False)):
        measure = next(iter(made.measure(x).values()))
        grippers = Grippers([x[ids[0]] for ids in made.grip_vertices], made.rest)
        grippers.gripped = [ids[:1] for ids in made.grip_vertices]
        held = made.potential(x, grippers, measure)
        grippers.gripped = [ids[:0] for ids in made.grip_vertices]
        assert (made.potential(x, grippers, measure) > held) == raises


class Lower(Grasp):
    """A task whose measure is not from 0 to 1."""

    done = -0.1

    def measure(self, x):
        return {"depth": -float(x[:, 1].max())}


@pytest.mark.parametrize("height, share", [(0.05, 1.0), (0.1, 1.0), (0.3, 0.8), (1.3, -0.2)])
def test_progress_of_any_measure(height, share):
    task = Lower(["variables.size=5"])
    x = task.rest + [0, height - task.rest[:, 1].max(), 0]
    assert task.progress(x, task.measure(x)["depth"]) == pytest.approx(share)
