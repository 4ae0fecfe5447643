"""A Gymnasium environment: one cloth on a table."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray
from weft.base.errors import WeftError
from weft.base.trees import Json
from weft.robotics.rig import RATE, Rig
from weft.robotics.spaces import action_space, observation_space


class ClothEnv(gymnasium.Env[Any, Any]):
    """An environment to grasp, fold or flatten cloth.

    ``docs/robots.md`` describes observations, actions and rewards. The reward of a step is the
    change of the task's measure, and 1 more when the task is solved, which ends the episode.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": int(RATE)}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self,
        task: str = "fold",
        *,
        size: int = 17,
        fabric: str = "cotton",
        steps: int = 60,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise WeftError("render_mode", got=repr(render_mode), expected="rgb_array, or None")
        self.rig, self.steps, self.render_mode = Rig(task, 1, size, fabric), steps, render_mode
        self.observation_space = observation_space(self.rig)
        self.action_space = action_space(self.rig)
        self._count, self._measure, self._renderer = 0, 0.0, None

    def reset(
        self, *, seed: int | None = None, options: Json | None = None
    ) -> tuple[AnyArray, Json]:
        """Start a new episode, with the cloth at another place."""
        super().reset(seed=seed)
        self.rig.reset(0, self.np_random)
        self._count, self._measure = 0, float(self.rig.measures()[0])
        return self.rig.observations()[0], {"measure": self._measure}

    def step(self, action: ArrayLike) -> tuple[AnyArray, float, bool, bool, Json]:
        """Advance by a twentieth of a second.

        Raises:
            WeftError: an action of another shape, or with numbers that are not finite.
        """
        rig = self.rig
        rig.step(np.asarray(action)[None])
        self._count += 1
        before, self._measure = self._measure, float(rig.measures()[0])
        solved, failed = self._measure >= rig.task.done, rig.failed(0)
        reward = self._measure - before + float(solved)
        info: Json = {"measure": self._measure, "solved": solved}
        if failed:
            info["failed"] = failed
        over = self._count >= self.steps or bool(failed)
        return rig.observations()[0], reward, solved, over and not solved, info

    def render(self) -> Any:
        """Return a picture (h,w,3) uint8 with ``render_mode="rgb_array"``; else None."""
        if self.render_mode is None:
            return None
        from weft.show.picture.renderer import Renderer, Style

        table = self.rig.table
        x = np.concatenate([self.rig.batch.positions()[0], table.vertices])
        if self._renderer is None:
            mesh = self.rig.scene.cloth.mesh
            room = np.array([[-0.3, 0.0, -0.3], [0.3, 0.3, 0.3]])
            frame = np.concatenate([np.resize(room, (mesh.n_vertices, 3)), table.vertices])
            style = Style(width=640, height=480, elevation=30.0)
            self._renderer = Renderer(mesh, [x, frame], style, body_faces=table.faces)  # type: ignore[assignment]
        shown: Any = self._renderer
        return shown.image(x, dots=self.rig.grippers[0].x)
