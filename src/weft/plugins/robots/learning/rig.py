"""Worlds of one task with their grippers, cameras and episodes: the simulation of environments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray, Bools, Floats, Positions
from weft.base.errors import SceneError, SimulationError, WeftError, check_known
from weft.base.keyframes import Keys
from weft.base.machine import cores
from weft.base.trees import Json, YamlMapping
from weft.bodies.body import arms_of, on_arms
from weft.energies.state import State
from weft.plugins.lab.sweep.design import Design
from weft.plugins.lab.sweep.file import SweepDocument, overrides, read_field_values
from weft.plugins.robots.batch.batch import Batch
from weft.plugins.robots.batch.world import Hold
from weft.plugins.robots.cameras.camera_sensor import CHANNELS, CameraSensor, CameraView
from weft.plugins.robots.learning.camera_settings import read_camera
from weft.plugins.robots.learning.grippers import FASTEST, Grippers
from weft.plugins.robots.learning.tasks import TASKS
from weft.scene.prepare import prepare

RATE = 20.0  # [Hz] of actions
FARTHEST = 5.0  # [m] largest coordinate of an observation
FASTEST_TURN = 0.1  # [rad] largest turn of a hinge of an arm in a step
LARGEST_LOAD = 1000.0  # [N, N m] largest observed load on a link of an arm
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
    discount: float = 0.99

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
    """Worlds of one task, stepped frame by frame.

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
        if not 0 < settings.discount <= 1:
            raise WeftError("discount", got=settings.discount, expected="above 0, at most 1")
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
        self.targets = [self._first_targets(k) for k in range(count)]
        self.counts = [0] * count
        self.measures: list[Mapping[str, float]] = [{} for _ in rows]
        self.potentials = [0.0] * count
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
        return self.state(k).x[: len(self.tasks[k].rest)]

    def everything(self, k: int) -> Positions:
        """Return the positions (n+b,3) [m] of world k's cloth and bodies."""
        scene, state = self.tasks[k].scene, self.state(k)
        contact, bodies, arms = prepare(scene).model.contact, scene.bodies, []
        rest = iter(self.targets[k].tolist())
        for arm in arms_of(bodies) if state.t else ():
            ends = {j.name: (arm.targets[j.name].at(0.0), next(rest)) for j in arm.leaders}
            keys = {name: Keys([(0.0, a), (state.t, b)]) for name, (a, b) in ends.items()}
            arms.append(arm.with_targets(keys))
        bodies = on_arms(bodies, arms)
        if contact is None:
            return np.concatenate([self.cloth(k), *(b.at(state.t) for b in bodies)])
        moved = contact.body_vertices(bodies, state.x, state.t)
        return np.concatenate([self.cloth(k), moved])

    def reset(self, k: int, random: np.random.Generator) -> None:
        """Begin a new episode in world k."""
        task = self.tasks[k]
        # with points of rigid bodies, such as fingers
        start = np.array(prepare(task.scene).state.x)
        start[: len(task.rest)] = task.start(random)
        self.batch.reset(k, start)
        self.targets[k] = self._first_targets(k)
        self.grippers[k] = Grippers(task.places, task.rest)
        self.randoms[k], self.counts[k] = random, 0
        self.measures[k] = task.measure(self.cloth(k))
        self.potentials[k] = self._potential(k)

    def step(self, actions: ArrayLike, idle: Bools | None = None) -> None:
        """Advance all worlds by one action, (N,4g+j); those of ``idle`` worlds (N,) are zeros.

        Raises:
            WeftError: another shape, numbers that are not finite, or a world that was never reset.
        """
        if not all(self.measures):
            raise WeftError("step", got="no reset before", hint="call reset() first")
        clipped = np.clip(check_actions(actions, (len(self.batch), self._actions)), -1.0, 1.0)
        if idle is not None:
            clipped[idle] = 0.0
        grips = 4 * len(self.tasks[0].places)
        holds, targets = list[Sequence[Hold]](), list[Floats | None]()
        for k, action in enumerate(clipped):
            holds.append(self.grippers[k].move(action[:grips].reshape(-1, 4), self.cloth(k)))
            targets.append(self._aim(k, action[grips:]))
        try:
            self.batch.frame(holds, [np.zeros((0, 3))] * len(holds), targets)
        except SimulationError as error:
            if not self.batch.failed:
                raise error

    def _first_targets(self, k: int) -> Floats:
        """Return the targets (j,) [rad or m] of the joints of arms at the start of world k."""
        joints = self.batch.worlds[k].joints
        return np.array([arm.targets[joint.name].at(0.0) for arm, joint in joints])

    def _aim(self, k: int, action: Floats) -> Floats | None:
        """Move the targets of the joints of arms (j,) by an action in [-1, 1], and return them."""
        joints = [joint for _, joint in self.batch.worlds[k].joints]
        if not joints:
            return None
        speed = np.array([FASTEST if j.slides else FASTEST_TURN for j in joints])
        low, high = np.array([(j.low, j.high) for j in joints]).T
        self.targets[k] = np.clip(self.targets[k] + speed * action, low, high)
        return self.targets[k]

    def judge(self, k: int) -> tuple[float, bool, bool, Json]:
        """Return reward, success, the end of the time or of the simulation, and details of the
        step that world k has taken.
        """
        task, state = self.tasks[k], self.state(k)
        before = next(iter(self.measures[k].values()))
        self.measures[k] = measures = task.measure(self.cloth(k))
        self.counts[k] += 1
        measure, failed = next(iter(measures.values())), str(self.batch.failed.get(k, ""))
        speed = float(np.linalg.norm(state.v[: len(task.rest)], axis=1).mean())
        solved = task.is_solved(measure, speed, self.grippers[k])
        cut = not solved and (self.counts[k] >= self.settings.steps or bool(failed))
        details: Json = {**self.details(k), "solved": solved}
        if failed:
            details["failed"] = failed
        old = self.potentials[k]
        self.potentials[k] = 0.0 if solved else self._potential(k)
        shaping = self.settings.discount * self.potentials[k] - old
        return task.reward(before, measure, solved) + shaping, solved, cut, details

    def _potential(self, k: int) -> float:
        """Return the potential of world k, whose measures are known."""
        measure = next(iter(self.measures[k].values()))
        return self.tasks[k].potential(self.cloth(k), self.grippers[k], measure)

    def details(self, k: int) -> Json:
        """Return the measures of world k by name; ``measure`` is the first one."""
        return {"measure": next(iter(self.measures[k].values())), **self.measures[k]}

    def _state(self, k: int) -> Floats:
        """Return the targets of joints, the loads on links, and what the task observes."""
        seen = self.tasks[k].observe(self.cloth(k), self.grippers[k])
        clipped = np.clip(seen, -FARTHEST, FARTHEST)
        if not len(self.targets[k]):
            return clipped
        loads = self.batch.worlds[k].link_loads.reshape(-1)
        loads = np.clip(loads, -LARGEST_LOAD, LARGEST_LOAD)
        return np.concatenate([self.targets[k], loads, clipped])

    def observe(self, k: int) -> Observation:
        """Return the observation of world k (``observation_space``)."""
        state = np.zeros(self._size, dtype=np.float32)
        seen = self._state(k)
        state[: len(seen)] = seen
        view = self.views[k]
        if view is None:
            return state
        return {"state": state, **view.observe(self.everything(k), self.randoms[k])}

    @property
    def observation_space(self) -> spaces.Box | spaces.Dict:
        """The space of observations: what a task observes, followed by zeros if another world
        observes more; with a camera a dictionary of this ``state`` and the camera's channels.
        """
        high = LARGEST_LOAD if self.batch.worlds[0].joints else FARTHEST
        box = spaces.Box(-high, high, (self._size,), dtype=np.float32)
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
        """The space of actions: for each gripper a displacement along x, y and z, and its closing,
        and how far the target of each joint of arms moves.

        A gripper is closed if the fourth number is above 0.
        """
        return spaces.Box(-1.0, 1.0, (self._actions,), dtype=np.float32)

    @property
    def _actions(self) -> int:
        return 4 * len(self.tasks[0].places) + len(self.batch.worlds[0].joints)


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
