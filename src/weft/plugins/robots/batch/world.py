"""One scene of a batch: its model, its state, and the vertices that are held."""

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Point, Positions, VertexIds
from weft.base.errors import SceneError
from weft.base.keyframes import Keys
from weft.base.runtime_types import checked
from weft.bodies.body import arms_of
from weft.bodies.joints.arm import Arm, ArmJoint
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.energies.state import State
from weft.integrators.base import Stepper
from weft.integrators.model import Model
from weft.run.drive import Driver, StepFailed, TakenStep
from weft.run.run_state import StepTimes
from weft.scene.prepare import prepare
from weft.scene.scene import Scene


@checked(SceneError, "hold")
@dataclass(frozen=True, eq=False)
class Hold:
    """Vertices that are held in the next frame, and moved in a straight line.

    Args:
        vertices: ids, at least one.
        displacement: (3,) [m] from the present positions to those at the end of the frame.
    """

    vertices: VertexIds
    displacement: Point = field(default_factory=lambda: np.zeros(3))


class World:
    """A scene in a batch, with its state.

    Args:
        scene: the scene that is simulated.
        stepper: its integrator.
        fps: frames per second.
        number: number in the batch, for messages.
    """

    def __init__(self, scene: Scene, stepper: Stepper, fps: float, number: int) -> None:
        self.scene, self.fps, self.number = scene, fps, number
        # Scenes may share an integrator and a model. Worlds do not, because both keep data of a
        # step and symbolic work.
        model = dataclasses.replace(prepare(scene).model)
        self.driver = Driver(model, copy.deepcopy(stepper), StepTimes.of(fps, scene.step))
        self.arms = arms_of(scene.bodies)  # with their present targets
        self.reset()

    def reset(self, start: Positions | None = None) -> None:
        """Go back to the start of the scene, or to rest at positions (n,3) [m]."""
        state = prepare(self.scene).state if start is None else State.at_rest(start)
        self.place = self.driver.begin(state)
        # [m] displacement of the scene's pins
        self.shift = np.zeros((len(prepare(self.scene).model.pins), 3))
        self.parts: list[TakenStep] = []  # the last step, or those that it was divided into
        self._aim(arms_of(self.scene.bodies))
        self.gripped = True  # whether pins differ from the scene's
        self._hold((), np.zeros_like(self.shift))

    @property
    def model(self) -> Model:
        """The model of the scene, with present pins and targets of arms."""
        return self.driver.model

    @property
    def steps(self) -> int:
        """Number of steps of a frame."""
        return self.driver.times.steps

    @property
    def link_loads(self) -> Floats:
        """The loads (l,6) on the links of all arms at the end of the last step (``Arm``)."""
        links = self.parts[-1].report.contact.get("links", {}) if self.parts else {}
        return np.concatenate([np.zeros((0, 6)), *(arm.link_loads(links) for arm in self.arms)])

    @property
    def joints(self) -> Sequence[tuple[Arm, ArmJoint]]:
        """The joints of all arms that have targets."""
        return [(arm, joint) for arm in self.arms for joint in arm.leaders]

    def drive(self, targets: Floats) -> None:
        """Let joints of arms go straight to targets (j,) [rad or m] in the next frame, and stay."""
        begin, end = self.place.frame / self.fps, (self.place.frame + 1) / self.fps
        keys: dict[str, dict[str, Keys]] = {arm.name: {} for arm in self.arms}
        for (arm, joint), target in zip(self.joints, targets):
            now = arm.targets[joint.name]
            # The arm still starts as in the scene: a finger's points are those of the start.
            timed = {0.0: now.at(0.0), begin: now.at(begin), end: target}
            keys[arm.name][joint.name] = Keys(list(timed.items()))
        self._aim([arm.with_targets(keys[arm.name]) for arm in self.arms])

    def _aim(self, arms: Sequence[Arm]) -> None:
        """Let links follow arms with other targets."""
        contact = prepare(self.scene).model.contact
        if contact is not None and arms != self.arms:
            self.arms, moved = arms, contact.on_arms(arms)
            self.driver.model = _changed(self.model, contact=moved)

    def grip(self, holds: Sequence[Hold], moves: Floats) -> None:
        """Hold vertices in the next frame, and move the scene's pins by ``moves`` (p,3) [m]."""
        self._hold(holds, moves)
        self.shift = self.shift + moves

    def _hold(self, holds: Sequence[Hold], moves: Floats) -> None:
        given, state = prepare(self.scene).model, self.place.state
        if not (holds or moves.any() or self.shift.any() or self.gripped):
            return
        self.gripped = bool(holds or moves.any() or self.shift.any())
        begin, end = self.place.frame / self.fps, (self.place.frame + 1) / self.fps
        pins: list[Pin] = []
        for pin, shift, move in zip(given.pins, self.shift, moves):
            if shift.any() or move.any():
                pin = dataclasses.replace(pin, path=_straight(begin, end, shift, shift + move))
            pins.append(pin)
        start = given.start
        if holds:
            start = np.array(state.x if start is None else start)
            for k, hold in enumerate(holds):
                start[hold.vertices] = state.x[hold.vertices]
                path = _straight(begin, end, np.zeros(3), np.asarray(hold.displacement))
                pins.append(Pin(hold.vertices, None, path, f"hold {k + 1}"))
        self.driver.model = _changed(self.model, pins=tuple(pins), start=start)

    def step(self) -> None:
        """Take a step, as a single run does.

        Raises:
            SimulationError: the step does not converge, and no part of it does, however short.
        """
        try:
            self.place, self.parts = self.driver.step(self.place)
        except StepFailed as failed:
            hint = f"reset({self.number}) starts that world again"
            step = f"world {self.number}, step {self.place.count + 1}"
            raise failed.error(step, hint) from None


def _straight(begin: float, end: float, first: Floats, last: Floats) -> Path:
    """Return a straight path from one displacement [m] to another between two times [s]."""
    a, b = ((float(d[0]), float(d[1]), float(d[2])) for d in (first, last))
    return Path([Keyframe(begin, a), Keyframe(end, b)], "linear", hold=True)


def _changed(model: Model, **changes: Any) -> Model:
    """Return the model with other pins or links, and the same bound terms, which do not depend on
    their motion.
    """
    made = dataclasses.replace(model, **changes)
    if "assembly" in vars(model):
        vars(made)["assembly"] = model.assembly
    return made
