"""Worlds of one task with their grippers, cameras and episodes: the simulation of environments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray, Bools, Floats, Positions
from weft.base.errors import SceneError, SimulationError, WeftError, check_known
from weft.base.machine import cores
from weft.base.trees import Json, YamlMapping
from weft.energies.state import State
from weft.robotics.camera_settings import read_camera
from weft.robotics.grippers import Grippers
from weft.robotics.tasks import TASKS
from weft.show.picture.camera_sensor import CHANNELS, CameraSensor, CameraView
from weft.sweep.design import Design
from weft.sweep.file import SweepDocument, overrides, read_field_values
from weft.worlds.batch import Batch

RATE = 20.0  # [Hz] of actions
FARTHEST = 5.0  # [m] largest coordinate of an observation
CAMERA = "camera."  # begins the paths of the camera's fields

Observation = AnyArray | dict[str, AnyArray]


@dataclass(frozen=True, kw_only=True)
class EnvSettings:
    """Settings of environments; ``weft.robotics.env`` describes them."""

    task: str
    set: YamlMapping = field(default_factory=dict)
    vary: YamlMapping = field(default_factory=dict)
    seed: int = 0
    steps: int = 60
    camera: CameraSensor | None = None

    def draw(self, count: int) -> list[list[str]]:
        """Return the fields of the first ``count`` worlds, as ``path=value`` texts.

        Raises:
            WeftError: no such task, or no distribution.
        """
        check_known(self.task, TASKS, "task", WeftError)
        source = SweepDocument(Path(f"task {self.task}"), {})
        given = {**TASKS[self.task].vary, **self.vary}
        varied = {path: read_field_values(source, path, value) for path, value in given.items()}
        rows = Design("random", varied, count, self.seed).rows()
        return [overrides({**self.set, **row}) for row in rows]


class Rig:
    """Worlds of one task, stepped together.

    Args:
        settings: of the environments.
        count: number of worlds.
        first: number of the first world; it says which values are drawn for its scene.
        processes: among which worlds are divided; None: one for each core.

    Raises:
        WeftError: no such task, field or value, or no worlds.
    """

    def __init__(
        self, settings: EnvSettings, count: int, first: int = 0, processes: int | None = 1
    ) -> None:
        if not isinstance(count, int) or not 1 <= count <= 4096:
            raise WeftError("num_envs", got=repr(count), expected="from 1 to 4096")
        self.settings = settings
        rows = settings.draw(first + count)[first:]
        scenes = [tuple(t for t in row if not t.startswith(CAMERA)) for row in rows]
        # Worlds with the same fields share their scene, so that it is built once.
        made = {fields: TASKS[settings.task](fields) for fields in dict.fromkeys(scenes)}
        self.tasks = [made[fields] for fields in scenes]
        self.views = [self._view(k, row) for k, row in enumerate(rows)]
        scene_of = [task.scene for task in self.tasks]
        among = min(processes or cores(), count)
        self.batch = Batch(scene_of, fps=RATE, processes=among)
        self.grippers = [Grippers(task.places, task.rest) for task in self.tasks]
        self.randoms = [np.random.default_rng(0) for _ in rows]
        self.counts = [0] * count
        self.measures: list[Mapping[str, float]] = [{} for _ in rows]
        self._size = max(map(len, map(self._state, range(count))))

    def _view(self, k: int, fields: list[str]) -> CameraView | None:
        """Return the view of world k's camera, if it has one."""
        given = [text for text in fields if text.startswith(CAMERA)]
        sensor = read_camera(given) if given else self.settings.camera
        scene = self.tasks[k].scene
        return None if sensor is None else CameraView(sensor, scene.cloth.mesh, scene.bodies)

    def state(self, k: int) -> State:
        """Return the state of world k: positions and velocities of its cloth, and its time."""
        return self.batch.worlds[k].place.state

    def cloth(self, k: int) -> Positions:
        """Return the positions (n,3) [m] of world k's cloth."""
        return self.state(k).x

    def everything(self, k: int) -> Positions:
        """Return the positions (n+b,3) [m] of world k's cloth and bodies."""
        t = self.state(k).t
        return np.concatenate([self.cloth(k), *(b.at(t) for b in self.tasks[k].scene.bodies)])

    def reset(self, k: int, random: np.random.Generator) -> None:
        """Begin a new episode in world k."""
        task = self.tasks[k]
        self.batch.reset(k, task.start(random))
        self.grippers[k] = Grippers(task.places, task.rest)
        self.randoms[k], self.counts[k] = random, 0
        self.measures[k] = task.measure(self.cloth(k))

    def step(self, actions: ArrayLike, idle: Bools | None = None) -> None:
        """Advance all worlds by one action, (N,g,4); grippers of ``idle`` worlds (N,) get zeros.

        Raises:
            WeftError: another shape, or numbers that are not finite.
        """
        given = check_actions(actions, (len(self.batch), len(self.tasks[0].places), 4))
        clipped = np.clip(given, -1.0, 1.0)
        if idle is not None:
            clipped[idle] = 0.0
        holds = [g.move(a, self.cloth(k)) for k, (g, a) in enumerate(zip(self.grippers, clipped))]
        try:
            self.batch.frame(holds, [np.zeros((0, 3))] * len(holds), [None] * len(holds))
        except SimulationError as error:
            if not self.batch.failed:
                raise error

    def judge(self, k: int) -> tuple[float, bool, bool, Json]:
        """Return reward, success, the end of the time or of the simulation, and details of the
        step that world k has taken.
        """
        task, state = self.tasks[k], self.state(k)
        before = next(iter(self.measures[k].values()))
        self.measures[k] = measures = task.measure(state.x)
        self.counts[k] += 1
        measure, failed = next(iter(measures.values())), str(self.batch.failed.get(k, ""))
        speed = float(np.linalg.norm(state.v, axis=1).mean())
        solved = task.is_solved(measure, speed, self.grippers[k])
        cut = not solved and (self.counts[k] >= self.settings.steps or bool(failed))
        details: Json = {**self.details(k), "solved": solved}
        if failed:
            details["failed"] = failed
        return task.reward(before, measure, solved), solved, cut, details

    def details(self, k: int) -> Json:
        """Return the measures of world k by name; ``measure`` is the first one."""
        return {"measure": next(iter(self.measures[k].values())), **self.measures[k]}

    def _state(self, k: int) -> Floats:
        return self.tasks[k].observe(self.cloth(k), self.grippers[k])

    def observe(self, k: int) -> Observation:
        """Return the observation of world k (``observation_space``)."""
        state = np.zeros(self._size, dtype=np.float32)
        seen = self._state(k)
        state[: len(seen)] = np.clip(seen, -FARTHEST, FARTHEST)
        view = self.views[k]
        if view is None:
            return state
        return {"state": state, **view.observe(self.everything(k), self.randoms[k])}

    @property
    def observation_space(self) -> spaces.Box | spaces.Dict:
        """The space of observations: what a task observes, followed by zeros if another world
        observes more; with a camera a dictionary of this ``state`` and the camera's channels.
        """
        box = spaces.Box(-FARTHEST, FARTHEST, (self._size,), dtype=np.float32)
        if self.views[0] is None:
            return box
        sensor = self.views[0].sensor
        parts: dict[str, spaces.Space[AnyArray]] = {"state": box}
        for name in sensor.channels:
            size, dtype, low, high = CHANNELS[name]
            shape = (sensor.height, sensor.width, *size)
            parts[name] = spaces.Box(low, high, shape, dtype=dtype)
        return spaces.Dict(parts)

    @property
    def action_space(self) -> spaces.Box:
        """The space of actions: for each gripper a displacement along x, y and z, and its closing.

        A gripper is closed if the fourth number is above 0.
        """
        return spaces.Box(-1.0, 1.0, (4 * len(self.tasks[0].places),), dtype=np.float32)


def check_actions(actions: ArrayLike, shape: Sequence[int]) -> Floats:
    """Return actions as numbers of a shape.

    Raises:
        SceneError: other shapes, or entries that are not finite numbers.
    """
    try:
        given = np.array(actions, dtype=np.float64)
    except (TypeError, ValueError):
        got = type(actions).__name__
        raise SceneError("actions", got=got, expected=f"numbers {tuple(shape)}") from None
    if given.size == np.prod(shape) and given.ndim >= 1 and len(given) == shape[0]:
        given = given.reshape(tuple(shape))
    if given.shape != tuple(shape):
        got = f"shape {given.shape}"
        raise SceneError("actions", got=got, expected=f"shape {tuple(shape)}, in [-1, 1]")
    if not np.isfinite(given).all():
        bad = np.argwhere(~np.isfinite(given))[0].tolist()
        raise SceneError("actions", got=f"{given[tuple(bad)]} at {bad}", expected="finite numbers")
    return given
