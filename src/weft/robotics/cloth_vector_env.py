"""A Gymnasium vector environment: many worlds of one task, stepped together as one batch."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray
from weft.base.trees import Json
from weft.robotics.rig import RATE, EnvSettings, Observation, Rig


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
        self._randoms: list[np.random.Generator] = []
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | None = None, options: Json | None = None
    ) -> tuple[Observation, Json]:
        """Start new episodes. Environment k starts as a ``ClothEnv`` does with ``seed + k``."""
        if seed is not None or not self._randoms:
            super().reset(seed=seed)
            first = int(self.np_random.integers(2**31)) if seed is None else seed
            self._randoms = [_generator(first + k) for k in range(self.num_envs)]
        for k, random in enumerate(self._randoms):
            self.rig.reset(k, random)
        self._over[:] = False
        return self._observe(), self._details()

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
        info = {**self._details(), "solved": solved.copy(), "failed": failed}
        return self._observe(), reward, solved, cut, info

    def close_extras(self, **kwargs: Any) -> None:
        """End the worker processes, if there are any; Gymnasium's ``close`` calls this method."""
        self.rig.batch.close()

    def _observe(self) -> Observation:
        """Return the observations of all environments, stacked."""
        seen = [self.rig.observe(k) for k in range(self.num_envs)]
        rows = [one if isinstance(one, dict) else {"state": one} for one in seen]
        stacked = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        return stacked if isinstance(seen[0], dict) else stacked["state"]

    def _details(self) -> Json:
        """Return the measures of all environments by name, (N,)."""
        every = [self.rig.details(k) for k in range(self.num_envs)]
        return {name: np.array([one[name] for one in every]) for name in every[0]}


def _generator(seed: int) -> np.random.Generator:
    """Return a random generator that is seeded as Gymnasium seeds an environment."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
