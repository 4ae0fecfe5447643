"""A Gymnasium environment: one task of a robot in one world."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray
from weft.base.errors import WeftError
from weft.base.trees import Json
from weft.plugins.robots.cameras.camera_sensor import CameraSensor, CameraView
from weft.plugins.robots.learning.rig import RATE, EnvSettings, Observation, Rig
from weft.show.picture.camera import look_at
from weft.show.picture.renderer import draw_dots

SHOWN = look_at((0.4, 0.75, 1.0), (0.0, 0.1, 0.0), field_of_view=36)  # the camera of ``render``


class ClothEnv(gymnasium.Env[Any, Any]):
    """An environment of one task; ``weft.robotics.env`` makes it.

    ``docs/guides/robots.md`` describes observations, actions and rewards.

    Args:
        settings: task, fields of its scene, camera and length of episodes.
        variant: number of the world whose scene is drawn.
        render_mode: ``rgb_array``, or None.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": int(RATE)}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self, settings: EnvSettings, variant: int = 0, render_mode: str | None = None
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise WeftError("render_mode", got=repr(render_mode), expected="rgb_array, or None")
        self.rig, self.render_mode = Rig(settings, 1, variant), render_mode
        self.observation_space = self.rig.observation_space
        self.action_space = self.rig.action_space
        self._view: CameraView | None = None

    def reset(
        self, *, seed: int | None = None, options: Json | None = None
    ) -> tuple[Observation, Json]:
        """Start a new episode, with the cloth at another place."""
        super().reset(seed=seed)
        self.rig.reset(0, self.np_random)
        return self.rig.observe(0), self.rig.details(0)

    def step(self, action: ArrayLike) -> tuple[Observation, float, bool, bool, Json]:
        """Advance by a twentieth of a second.

        Raises:
            WeftError: an action of another shape, or with numbers that are not finite.
        """
        self.rig.step(np.asarray(action)[None])
        judged = self.rig.judge(0)
        return self.rig.observe(0), *judged

    def render(self) -> AnyArray | None:
        """Return a picture (h,w,3) uint8 with ``render_mode="rgb_array"``; else None."""
        if self.render_mode is None:
            return None
        scene = self.rig.tasks[0].scene
        if self._view is None:
            sensor = CameraSensor(SHOWN, 640, 480, ("rgb",))
            self._view = CameraView(sensor, scene.cloth.mesh, scene.bodies)
        image = self._view.observe(self.rig.everything(0))["rgb"]
        draw_dots(image, SHOWN.project(self.rig.grippers[0].x, 640, 480))
        return image
