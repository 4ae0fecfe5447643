"""A Gymnasium vector environment: many worlds of one task as one batch."""

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray, Bools
from weft.base.errors import WeftError
from weft.base.trees import Json
from weft.plugins.robots.learning.rig import RATE, EnvSettings, Observation, Rig

Seeds = int | Sequence[int | None] | None


class ClothVectorEnv(VectorEnv[Any, Any, Any]):
    """Many ``ClothEnv`` side by side; ``weft.robotics.vector_env`` makes it.

    An environment whose episode is over restarts in its next step, and ignores the action of that
    step.

    Args:
        settings: of every environment.
        num_envs: number of environments; environment k has the scene of variant k.
        processes: among which they are divided; None: one for each core.
    """

    metadata = {  # noqa: RUF012 (Gymnasium's)
        "autoreset_mode": AutoresetMode.NEXT_STEP,
        "render_fps": int(RATE),
    }

    def __init__(self, settings: EnvSettings, num_envs: int, processes: int | None = None) -> None:
        self.rig, self.num_envs = Rig(settings, num_envs, processes=processes), num_envs
        self.single_observation_space = self.rig.observation_space
        self.single_action_space = self.rig.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._randoms = [seeding.np_random()[0] for _ in range(num_envs)]
        self._over = np.zeros(num_envs, dtype=bool)
        self._seen: dict[int, Observation] = {}

    def reset(self, *, seed: Seeds = None, options: Json | None = None) -> tuple[Observation, Json]:
        """Start new episodes, as Gymnasium's ``SyncVectorEnv`` does.

        Args:
            seed: a list has one seed for each environment. An integer gives environment k
                ``seed + k``. An environment with None goes on with its own random numbers.
            options: ``reset_mask`` (N,) bool says which environments start a new episode; without
                it all do. The others stay as they are.

        Raises:
            WeftError: another number of seeds, a seed that is no integer from 0 on, or a mask of
                another shape or type, or without any True.
        """
        seeds = read_seeds(seed, self.num_envs)
        mask = read_mask((options or {}).get("reset_mask"), self.num_envs)
        for k in np.flatnonzero(mask).tolist():
            if seeds[k] is not None:
                self._randoms[k] = seeding.np_random(seeds[k])[0]
            self.rig.reset(k, self._randoms[k])
        self._over[mask] = False
        return self._observe(mask), self._details(mask)

    def step(self, actions: ArrayLike) -> tuple[Observation, AnyArray, AnyArray, AnyArray, Json]:
        """Advance all environments by a twentieth of a second.

        Raises:
            WeftError: actions of another shape, or with numbers that are not finite.
        """
        new = self._over.copy()
        self.rig.step(actions, new)
        reward, solved, cut = np.zeros(len(new)), np.zeros_like(new), np.zeros_like(new)
        failed = np.zeros_like(new)
        for k, again in enumerate(new.tolist()):
            if again:
                self.rig.reset(k, self._randoms[k])
            else:
                reward[k], solved[k], cut[k], details = self.rig.judge(k)
                failed[k] = "failed" in details
        self._over = solved | cut
        every = np.ones_like(new)
        info = {**self._details(every), "solved": solved.copy(), "failed": failed}
        return self._observe(every), reward, solved, cut, info

    def close_extras(self, **kwargs: Any) -> None:
        """End the worker processes, if there are any; Gymnasium's ``close`` calls this method."""
        self.rig.batch.close()

    def _observe(self, mask: Bools) -> Observation:
        """Observe some environments; return the latest observations of all of them, stacked."""
        for k in range(self.num_envs):
            if mask[k] or k not in self._seen:
                self._seen[k] = self.rig.observe(k)
        seen = [self._seen[k] for k in range(self.num_envs)]
        rows = [one if isinstance(one, dict) else {"state": one} for one in seen]
        stacked = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        return stacked if isinstance(seen[0], dict) else stacked["state"]

    def _details(self, mask: Bools) -> Json:
        """Return the measures of some environments by name, (N,), and in ``_NAME`` (N,) which
        environments have them.
        """
        info: Json = {}
        for k in np.flatnonzero(mask).tolist():
            info = self._add_info(info, self.rig.details(k), k)
        return info


def read_seeds(seed: object, count: int) -> list[int | None]:
    """Return the seed of each environment.

    Raises:
        WeftError: another number of seeds, or a seed that is no integer from 0 on.
    """
    expected = f"an integer from 0 on, a list of {count} such integers or None, or None"
    if seed is None:
        return [None] * count
    if is_seed(seed):
        return [int(seed) + k for k in range(count)]
    if isinstance(seed, str) or not isinstance(seed, Sequence | np.ndarray):
        raise WeftError("seed", got=repr(seed), expected=expected)
    if len(seed) != count:
        raise WeftError("seed", got=f"{len(seed)} seeds", expected=expected)
    for k, one in enumerate(seed):
        if one is not None and not is_seed(one):
            raise WeftError(f"seed of environment {k}", got=repr(one), expected=expected)
    return [None if one is None else int(one) for one in seed]


def is_seed(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer from 0 on."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def read_mask(mask: object, count: int) -> Bools:
    """Return which environments start a new episode, (count,).

    Raises:
        WeftError: no array of ``count`` bools with at least one True.
    """
    if mask is None:
        return np.ones(count, dtype=bool)
    expected = f"a NumPy array of {count} bools with at least one True"
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        shown = f"{mask.dtype} {mask.shape}" if isinstance(mask, np.ndarray) else repr(mask)
        raise WeftError("options['reset_mask']", got=shown, expected=expected)
    if not mask.any():
        raise WeftError("options['reset_mask']", got="no True", expected=expected)
    return mask
