"""Behavior cloning: a policy learns from the steps of ``flatten_by_gradients.py`` to unfold towels.

The policy is a quadratic function of how far the folded edge is off, fitted by ridge regression.
"""

from collections.abc import Callable

import numpy as np

from studies.robots.flatten_by_gradients import above_table, act, flatten, off, start
from weft.base.arrays import Floats

DEMONSTRATIONS, TRIALS = (1, 2), (11, 12, 13)  # seeds
RIDGE = 1e-4


def features(place: Floats) -> Floats:
    """Return the features (...,10) of places (...,3) [m]."""
    d = 10 * np.asarray(place)
    pairs = [d[..., i] * d[..., j] for i in range(3) for j in range(i, 3)]
    return np.stack([np.ones(d.shape[:-1]), *np.moveaxis(d, -1, 0), *pairs], axis=-1)


def fit(steps: Floats) -> Floats:
    """Return the weights (10,3) of a policy that does as demonstrated steps (k,2,3)."""
    f, ways = features(steps[:, 0]), steps[:, 1]
    return np.asarray(np.linalg.solve(f.T @ f + RIDGE * len(f) * np.eye(f.shape[1]), f.T @ ways))


def run(seed: int, policy: Callable[[Floats], Floats], most: int = 40) -> tuple[float, float]:
    """Return the coverage before and after the steps of a policy, which is called with ``off``."""
    env = start(seed)
    before, over = env.rig.details(0)["measure"], False
    for _ in range(most):
        if not over:
            place, axes = off(env)
            over = act(env, above_table(env, (axes.T @ policy(place))[None])[0], True)
    return before, env.rig.details(0)["measure"]


if __name__ == "__main__":
    steps = np.concatenate([flatten(seed)[2] for seed in DEMONSTRATIONS])
    weights, random = fit(steps), np.random.default_rng(0)
    for seed in TRIALS:
        first, cloned = run(seed, lambda place: features(place) @ weights)
        _, by_chance = run(seed, lambda _: random.uniform(-0.02, 0.02, 3))
        print(f"coverage {first:.3f} before, {cloned:.3f} cloned, {by_chance:.3f} at random")
