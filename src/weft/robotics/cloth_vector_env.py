"""A Gymnasium vector environment: many cloths on tables, stepped together as one batch."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray
from weft.base.trees import Json
from weft.robotics.rig import RATE, Rig
from weft.robotics.spaces import action_space, observation_space


class ClothVectorEnv(VectorEnv[Any, Any, Any]):
    """Many ``ClothEnv`` side by side.

    An environment whose episode is over restarts in its next step, and ignores the action of that
    step.
    """

    metadata = {  # noqa: RUF012 (Gymnasium's)
        "autoreset_mode": AutoresetMode.NEXT_STEP,
        "render_fps": int(RATE),
    }

    def __init__(
        self,
        task: str = "fold",
        num_envs: int = 8,
        *,
        size: int = 17,
        fabric: str = "cotton",
        steps: int = 60,
        processes: int | None = None,
    ) -> None:
        self.rig = Rig(task, num_envs, size, fabric, processes)
        self.steps, self.num_envs = steps, num_envs
        self.single_observation_space = observation_space(self.rig)
        self.single_action_space = action_space(self.rig)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._randoms: list[np.random.Generator] = []
        self._count, self._measure = np.zeros(num_envs, dtype=int), np.zeros(num_envs)
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | None = None, options: Json | None = None
    ) -> tuple[AnyArray, Json]:
        """Start new episodes. Environment k starts as a ``ClothEnv`` does with ``seed + k``."""
        if seed is not None or not self._randoms:
            super().reset(seed=seed)
            first = int(self.np_random.integers(2**31)) if seed is None else seed
            self._randoms = [_generator(first + k) for k in range(self.num_envs)]
        for k, random in enumerate(self._randoms):
            self.rig.reset(k, random)
        self._over[:], self._count[:] = False, 0
        self._measure = self.rig.measures()
        return self.rig.observations(), {"measure": self._measure.copy()}

    def step(self, actions: ArrayLike) -> tuple[AnyArray, Any, Any, Any, Json]:
        """Advance all environments by a twentieth of a second.

        Raises:
            WeftError: actions of another shape, or with numbers that are not finite.
        """
        rig, new = self.rig, self._over.copy()
        rig.step(actions, new)
        for k in np.flatnonzero(new).tolist():
            rig.reset(k, self._randoms[k])
        self._count = np.where(new, 0, self._count + 1)
        measure = rig.measures()
        solved = (measure >= rig.task.done) & ~new
        failed = np.array([bool(rig.failed(k)) for k in range(self.num_envs)])
        reward = np.where(new, 0.0, measure - self._measure + solved)
        cut = ((self._count >= self.steps) | failed) & ~solved & ~new
        self._measure, self._over = measure, solved | cut
        info = {"measure": measure.copy(), "solved": solved.copy(), "failed": failed}
        return rig.observations(), reward, solved, cut, info

    def close_extras(self, **kwargs: Any) -> None:
        """End the worker processes, if there are any; Gymnasium's ``close`` calls this method."""
        self.rig.batch.close()


def _generator(seed: int) -> np.random.Generator:
    """Return a random generator that is seeded as Gymnasium seeds an environment."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
