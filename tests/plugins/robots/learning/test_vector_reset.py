"""A vector environment is reset as Gymnasium's own ``SyncVectorEnv``."""

import numpy as np
import pytest

from tests.refusals import refused

pytest.importorskip("gymnasium")

from gymnasium.vector import SyncVectorEnv

from weft.base.errors import WeftError
from weft.plugins.robots.learning import env, vector_env

FIELDS = {"variables.size": 5, "camera.noise": True, "camera.width": 32, "camera.height": 32}


@pytest.fixture(scope="module")
def pair():
    """A vector environment of three worlds, and Gymnasium's of the same three."""
    many = vector_env("grasp", 3, set=FIELDS, steps=2, processes=1)
    makers = [lambda k=k: env("grasp", set=FIELDS, steps=2, variant=k) for k in range(3)]
    return many, SyncVectorEnv(makers)


def assert_equal(ours, theirs):
    """Whether observations and infos are the same bits."""
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.keys() == other.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], other[name])
            assert mine[name].dtype == other[name].dtype


@pytest.mark.parametrize(
    "seed", [4, [4, 4, 9], (1, 2, 3), [3, None, 5], [None, None, None], None, 0]
)
def test_seeds(pair, seed):
    """Each of a list for its environment; None goes on with the environment's own numbers."""
    for vector in pair:
        vector.reset(seed=[7, 8, 9])
    assert_equal(*(vector.reset(seed=seed) for vector in pair))
    assert_equal(*(vector.reset() for vector in pair))


def test_a_list_gives_each_environment_its_seed():
    many = vector_env("grasp", 3, set={"variables.size": 5}, processes=1)
    seen, _ = many.reset(seed=[9, 4, 9])
    assert np.array_equal(seen[0], seen[2]) and not np.array_equal(seen[0], seen[1])
    assert np.array_equal(many.reset(seed=np.array([9, 4, 9]))[0], seen)
    later, _ = many.reset(seed=[9, None, None])
    assert np.array_equal(later[0], seen[0]) and not np.array_equal(later[2], seen[2])


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
    for _ in range(2):
        ours, theirs = (vector.step(action) for vector in pair)
        assert_equal(ours[:1], theirs[:1])
        for mine, other in zip(ours[1:4], theirs[1:4]):
            np.testing.assert_array_equal(mine, other)


def test_mistakes(pair):
    many, _ = pair
    before = many.reset(seed=0)[0]["state"]
    with refused(WeftError, "seed", got="2 seeds", expected="a list of 3"):
        many.reset(seed=[1, 2])
    with refused(WeftError, "seed of environment 1", got="-4"):
        many.reset(seed=[1, -4, 2])
    with refused(WeftError, "seed of environment 2", got="2.5"):
        many.reset(seed=[1, 4, 2.5])
    for wrong in (-1, "3", 1.0, True):
        with refused(WeftError, "seed", got=repr(wrong)):
            many.reset(seed=wrong)
    for mask in ([True, False, True], np.array([1, 0, 1]), np.array([True, False])):
        with refused(WeftError, "options['reset_mask']", expected="a NumPy array of 3 bools"):
            many.reset(options={"reset_mask": mask})
    with refused(WeftError, "options['reset_mask']", got="no True"):
        many.reset(options={"reset_mask": np.zeros(3, dtype=bool)})
    mask = np.array([True, False, False])
    seen, _ = many.reset(seed=0, options={"reset_mask": mask})
    assert np.array_equal(seen["state"], before), "a refused reset changes nothing"


def test_a_step_before_the_first_reset_is_refused():
    with refused(WeftError, "step", got="no reset", hint="reset()"):
        env("grasp", set={"variables.size": 5}).step(np.zeros(4))
    many = vector_env("grasp", 2, set={"variables.size": 5}, processes=1)
    many.reset(options={"reset_mask": np.array([True, False])})
    with refused(WeftError, "step", got="no reset"):
        many.step(np.zeros((2, 4)))
