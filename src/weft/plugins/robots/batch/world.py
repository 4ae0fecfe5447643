"""One scene of a batch: its model, its state, and the vertices that are held."""

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Point, Positions, VertexIds
from weft.base.errors import SceneError, SimulationError
from weft.base.keyframes import Keys
from weft.base.runtime_types import checked
from weft.bodies.body import arms_of
from weft.bodies.joints.arm import Arm, ArmJoint
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.energies.state import State
from weft.energies.step import Step
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import Stepper, StepReport
from weft.integrators.halving import StepFailed, TakenStep, advance
from weft.integrators.model import Model
from weft.integrators.step_solver import Solver
from weft.run.scene_interface import SceneLike
from weft.run.step_record import RunState
from weft.solve.linear.solver import LinearSolver, PreparedSolver


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
        steps: steps of a frame.
        number: number in the batch, for messages.
    """

    def __init__(
        self, scene: SceneLike, stepper: Stepper, fps: float, steps: int, number: int
    ) -> None:
        self.scene, self.stepper, self.fps, self.steps = scene, stepper, fps, steps
        self.number = number
        # Scenes may share a model, but worlds may not: terms store data of a step.
        self.model = dataclasses.replace(scene.model())
        self.alone: Model | None = None  # used for steps that are taken alone
        self.solver: Solver | None = None  # of steps that are taken together
        if type(stepper) is BackwardEuler and not self.model.changes and not self.model.loose:
            early = stepper.settings.iteration_limit > 0
            self.solver = Solver(stepper.settings.linear, early=early)
        else:
            self.stepper = copy.deepcopy(stepper)  # scenes may share one, and it keeps work arrays
        self.prepared: PreparedSolver | None = (
            None  # last prepared matrix, whose symbolic work is reused
        )
        self._linear: LinearSolver | None = None
        self.arms = arms_of(scene.bodies)  # with their present targets
        self.reset()

    def reset(self, start: Positions | None = None) -> None:
        """Go back to the start of the scene, or to rest at positions (n,3) [m]."""
        state = self.scene.state() if start is None else State.at_rest(start)
        self.place = RunState(state, self.stepper.init(self.model, state), 0, 0, 0)
        # [m] displacement of the scene's pins
        self.shift = np.zeros((len(self.scene.model().pins), 3))
        self.parts: list[TakenStep] = []  # the last step, or those that it was divided into
        self._aim(arms_of(self.scene.bodies))
        self.gripped = True  # whether pins differ from the scene's
        self._hold((), np.zeros_like(self.shift))

    @property
    def dt(self) -> float:
        """Length [s] of a step."""
        return 1 / (self.fps * self.steps)

    @property
    def linear(self) -> LinearSolver:
        """The linear solver of its matrices."""
        if self._linear is None:
            assert self.solver is not None
            self._linear = self.solver.on(self.model)
        return self._linear

    @property
    def integrator(self) -> BackwardEuler:
        """The stepper of a world that takes its steps together with others."""
        assert isinstance(self.stepper, BackwardEuler)
        return self.stepper

    @property
    def link_loads(self) -> Floats:
        """The loads (l,6) on the links of all arms at the end of the last step (``Arm``)."""
        links = self.parts[-1].report.contact.get("links", {}) if self.parts else {}
        return np.concatenate([np.zeros((0, 6)), *(arm.link_loads(links) for arm in self.arms)])

    @property
    def is_divided(self) -> bool:
        """Whether prescribed motion divides the next step, which is then taken alone."""
        try:
            return len(self.model.divide_step(self.place.state.t, self.dt).parts) > 1
        except SimulationError:  # too many parts: ``step_alone`` says so
            return True

    def plan(self) -> Step:
        """Return the next step."""
        p, same_pattern = self.place, not self.linear.is_direct
        begin = self.model, p.state, p.memory
        return self.integrator.complete_plan(*begin, self.dt, same_pattern)

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
        contact = self.scene.model().contact
        if contact is not None and arms != self.arms:
            self.arms, moved = arms, contact.on_arms(arms)
            self.model = _changed(self.model, contact=moved)
            self.alone = self.alone and _changed(self.alone, contact=moved)

    def grip(self, holds: Sequence[Hold], moves: Floats) -> None:
        """Hold vertices in the next frame, and move the scene's pins by ``moves`` (p,3) [m]."""
        self._hold(holds, moves)
        self.shift = self.shift + moves

    def _hold(self, holds: Sequence[Hold], moves: Floats) -> None:
        given, state = self.scene.model(), self.place.state
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
        self.model = _changed(self.model, pins=tuple(pins), start=start)
        self.alone = self.alone and _changed(self.alone, pins=tuple(pins), start=start)

    def went(self, parts: Sequence[TakenStep]) -> None:
        """Store the end of a step that was taken.

        Its time is computed from integers, as in ``simulate``, so that round-off does not
        accumulate.
        """
        last = parts[-1]
        p = self.place
        step = p.step + 1
        done = step == self.steps
        frame = p.frame + done
        t = frame / self.fps + (0 if done else step) * self.dt
        state = dataclasses.replace(last.state, t=t)
        self.place = RunState(state, last.memory, frame, 0 if done else step, p.count + 1)
        self.parts = [*parts[:-1], dataclasses.replace(last, state=state)]

    def step_alone(self, first: StepReport | None = None) -> None:
        """Take a step alone, as a single run does.

        Args:
            first: report of the step if it did not converge; then it is taken in halves, quarters,
                and so on. None: it was not tried.

        Raises:
            SimulationError: no part converges, however small.
        """
        p = self.place
        if self.alone is None:
            now = {name: getattr(self.model, name) for name in ("pins", "start", "contact")}
            self.alone = dataclasses.replace(self.scene.model(), **now)
        begin = p.state, p.memory
        try:
            parts = advance(self.stepper, self.alone, *begin, self.dt, first)
        except StepFailed as failed:
            report = failed.report
            raise SimulationError(
                f"world {self.number}, step {p.count + 1} at t = {failed.state.t:.6g} s",
                got=report.failure,
                expected=f"a step that converges; tried down to dt = {report.dt:.3g} s",
                hint=f"{failed.advice}; reset({self.number}) begins that world anew",
            ) from None
        self.went(parts)


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
