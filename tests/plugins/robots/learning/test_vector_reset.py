"""A vector environment does, bitwise, what Gymnasium's own ``SyncVectorEnv`` does."""

import numpy as np
import pytest

from tests.refusals import refused

pytest.importorskip("gymnasium")

from gymnasium.vector import SyncVectorEnv

from weft.base.errors import WeftError
from weft.plugins.robots.learning import env, vector_env

FIELDS = {
    "set": {
        "variables.size": 5,
        "camera.noise": True,
        "camera.channels": ["rgb", "depth"],
        "camera.width": 32,
        "camera.height": 32,
    },
    "vary": {
        "cloth.fabric": ["silk", "denim"],
        "contact.friction": {"from": 0.2, "to": 0.6},
        "camera.eye.1": {"from": 0.7, "to": 1.1},
        "camera.light": [[-0.5, 0.75, 0.8], [0.5, 1, 0]],
    },
    "steps": 2,
}


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.exact_start)])
def pair(request):
    """A vector environment of three worlds that differ, and Gymnasium's of the same three."""
    many = vector_env("grasp", 3, processes=request.param, **FIELDS)
    makers = [lambda k=k: env("grasp", variant=k, **FIELDS) for k in range(3)]
    yield many, SyncVectorEnv(makers)
    many.close()


def assert_equal(ours, theirs):
    """Whether observations and infos are the same bits."""
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.keys() == other.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], other[name])
            assert mine[name].dtype == other[name].dtype


@pytest.mark.parametrize("seed", [0, [4, 4, 9], (1, 2, 3), [3, None, 5], None])
def test_seeds(pair, seed):
    """Each of a list for its environment; None goes on with the environment's own numbers."""
    for vector in pair:
        vector.reset(seed=[7, 8, 9])
    assert_equal(*(vector.reset(seed=seed) for vector in pair))
    assert_equal(*(vector.reset() for vector in pair))


def test_steps(pair):
    """Bitwise; an episode that is over begins anew, as Gymnasium's next-step mode says."""
    (seen, _), _ = (vector.reset(seed=11) for vector in pair)
    assert not np.array_equal(seen["depth"][0], seen["depth"][1])
    pair[0].action_space.seed(0)
    for _ in range(4):
        action = pair[0].action_space.sample()
        ours, theirs = (vector.step(action) for vector in pair)
        assert_equal(ours[:1], theirs[:1])
        for mine, other in zip(ours[1:4], theirs[1:4]):
            np.testing.assert_array_equal(mine, other)


def test_a_mask_says_which_environments_start_a_new_episode(pair):
    """The others stay as they are, in their pictures with noise too, and so does their time."""
    action = np.tile([0.3, -1, 0, 1], (3, 1)).astype(np.float32)
    for vector in pair:
        vector.reset(seed=1)
        vector.step(action)
    mask = np.array([False, True, False])
    ours, theirs = (
        vector.reset(seed=[5, 6, 7], options={"reset_mask": mask.copy()}) for vector in pair
    )
    assert_equal(ours, theirs)
    assert ours[1]["_lift"].tolist() == mask.tolist()
    ours, theirs = (vector.step(action) for vector in pair)
    assert_equal(ours[:1], theirs[:1])
    np.testing.assert_array_equal(ours[3], theirs[3])


def test_mistakes():
    many = vector_env("grasp", 3, set={"variables.size": 5}, processes=1)
    before = many.reset(seed=0)[0]
    assert np.array_equal(many.reset(seed=np.array([0, 1, 2]))[0], before)
    with refused(WeftError, "seed", got="2 seeds", expected="a list of 3"):
        many.reset(seed=[1, 2])
    with refused(WeftError, "seed of environment 2", got="2.5"):
        many.reset(seed=[1, 4, 2.5])
    for wrong in (-1, True):
        with refused(WeftError, "seed", got=repr(wrong)):
            many.reset(seed=wrong)
    for mask in (np.array([1, 0, 1]), np.array([True, False])):
        with refused(WeftError, "options['reset_mask']", expected="a NumPy array of 3 bools"):
            many.reset(options={"reset_mask": mask})
    mask = np.array([True, False, False])
    seen, _ = many.reset(seed=0, options={"reset_mask": mask})
    assert np.array_equal(seen, before), "a refused reset changes nothing"


def test_a_step_before_the_first_reset_is_refused():
    with refused(WeftError, "step", got="no reset", hint="reset()"):
        env("grasp", set={"variables.size": 5}).step(np.zeros(4))
    many = vector_env("grasp", 2, set={"variables.size": 5}, processes=1)
    many.reset(options={"reset_mask": np.array([True, False])})
    with refused(WeftError, "step", got="no reset"):
        many.step(np.zeros((2, 4)))
