"""A simulation that is played: hands, controls and buttons act between its steps.

A session takes the steps of an ordinary run (``run.simulation.Loop``) and keeps what was done, with
the time at which the step began that it acts on: hands (``energies.springs.hand``) and changes
(``scene.changes``). A scene file with both gives the same positions, bit by bit.
"""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, singledispatchmethod

import numpy as np

from weft.base.arrays import Arrays, Floats, Ints
from weft.base.errors import WeftError, check_known
from weft.energies.springs.hand import Hand, Hands
from weft.live.controls import controls_of, value_of
from weft.live.messages import (
    Button,
    ChooseLook,
    Freeze,
    LetGo,
    Message,
    Move,
    PlacePanel,
    Press,
    Set,
    Speed,
    Unpin,
)
from weft.run.drive import TakenStep
from weft.run.run_folder import RunFolder
from weft.run.simulation import Loop
from weft.scene.changes import Change, read_poses
from weft.scene.scene import Scene

Place = tuple[float, float, float]
Value = float | str | None  # of a control


@dataclass
class HeldPoint:
    """A point of a surface that a finger or a pin has held, and where it was from which time on."""

    points: Sequence[int]
    weights: Sequence[float]
    force: float | None  # [N]; None: a pin
    keys: dict[float, Place]  # by time [s]
    until: float | None = None

    def __post_init__(self) -> None:
        ((t, place),) = self.keys.items()
        # the hand as it is now: it knows the last place only
        self.present = Hand(self.points, self.weights, [t], [place], None, self.force)

    def move(self, t: float, place: Place) -> None:
        """Be at another place from the time t [s] on."""
        self.keys[t] = place
        self.present = dataclasses.replace(self.present, times=[t], places=[place])

    @property
    def at_start(self) -> Hand:
        """The hand as it is now, for a scene that begins with it."""
        return dataclasses.replace(self.present, times=[0.0])

    @property
    def recorded(self) -> Hand:
        """The hand with all its places."""
        times, places = list(self.keys), list(self.keys.values())
        return Hand(self.points, self.weights, times, places, self.until, self.force)


@dataclass
class Recording:
    """The changes and hands since the start of the simulation."""

    changes: list[Change] = field(default_factory=list)
    held: list[HeldPoint] = field(default_factory=list)

    @property
    def hands(self) -> list[Hand]:
        """Every hand that held something for at least one step."""
        return [h.recorded for h in self.held if h.until is None or h.until > next(iter(h.keys))]


class Session:
    """A scene that is played.

    Args:
        scene: what is simulated; of its hands and changes only pins and the values at the start are
            kept.
        fps: frames per second of the run that a recording of it makes.
        folder: an empty folder for the first frame, which pages are built from.
    """

    def __init__(self, scene: Scene, fps: float, folder: RunFolder) -> None:
        self._live = Hands(())
        plain = dataclasses.replace(scene, hand=(), changes=())
        energies = (*plain.energies, self._live)
        self.base = dataclasses.replace(plain, energies=energies)
        self.loop = Loop(self.base, folder, fps)
        with folder.lock:
            self.start = self.loop.begin(0, False, None)
        self.look, self.speed, self.playing, self.problem = "", 1.0, False, ""
        self.place, self.parts = self.start, list[TakenStep]()
        self.moved = False  # True once panels were moved at the start
        self.controls = {c.path: c for c in controls_of(self.base)}
        self.values: dict[str, Value] = {}  # that differ from those of the scene
        self._undo: list[dict[str, Value]] = []
        self.recording = Recording()
        self.fingers: dict[int, HeldPoint] = {}
        self.pins: dict[int, HeldPoint] = {}
        self.panels: Mapping[str, Ints] = {}  # vertices of panels that can be moved and frozen
        self.frozen: dict[str, list[HeldPoint]] = {}
        self._steps, self._clock = 0, 0.0  # steps that are asked for; wall time of the last one
        self._given = [h for h in scene.hand if h.force is None and h.until is None]
        for change in scene.changes[:1]:
            if change.at == 0:
                self._become(dict(change.set))
        self._reset()

    @property
    def scene(self) -> Scene:
        """The scene as it is now."""
        return self.loop.scene

    @property
    def t(self) -> float:
        """The time [s] of the cloth."""
        return self.place.state.t

    @property
    def dt(self) -> float:
        """The length of a step [s]."""
        return self.loop.driver.times.dt

    def control_values(self) -> dict[str, float | str]:
        """Return the present value of every control."""
        return {path: value_of(self.scene, path, self.values) for path in self.controls}

    def arrays(self) -> Arrays:
        """Return the arrays that a frame at this time would hold."""
        return {k: np.asarray(v) for k, v in self.loop.frame_arrays(self.place).items()}

    def held_points(self) -> dict[int, tuple[Floats, Floats]]:
        """Return by finger the held point (3,) [m] and the place (3,) [m] of the hand."""
        x = self.place.state.x
        return {
            k: (h.present.held_point(x), h.present.place(self.t)) for k, h in self.fingers.items()
        }

    def pull(self, finger: int) -> float:
        """Return the force [N] with which a finger pulls."""
        hand = self.fingers[finger].present
        x = self.place.state.x
        far = np.linalg.norm(hand.pulled_to(x, self.t) - hand.held_point(x))
        return float(hand.stiffness * far)

    def energies(self) -> dict[str, float]:
        """Return kinetic energy, elastic energy and that of contact [J] after the last step."""
        model, v = self.loop.model, self.place.state.v
        kinetic = 0.5 * float(np.sum(model.mass * (v**2).sum(1)))
        terms = self.parts[-1].report.terms if self.parts else {}
        elastic = {b.name for b in model.assembly.bound if b.is_elastic}
        found = sum(e for name, e in terms.items() if name in elastic)
        return {"kinetic": kinetic, "elastic": found, "contact": terms.get("contact", 0.0)}

    # Steps

    @property
    def is_due(self) -> bool:
        """True if the next step is to be taken now."""
        if self._steps:
            return True
        return self.playing and time.monotonic() - self._clock >= self.dt / self.speed

    def advance(self) -> None:
        """Take one step; one that fails pauses the simulation where it was."""
        clock = time.monotonic()
        late = clock - self._clock - self.dt / self.speed
        # The clock runs evenly as long as the simulation keeps up with it.
        self._clock = clock - late if 0 <= late < self.dt / self.speed else clock
        self._steps = max(0, self._steps - 1)
        try:
            self.place, self.parts = self.loop.step(self.place)
        except WeftError as error:
            self._fail(error)
        else:
            self.problem = ""

    def _fail(self, error: WeftError) -> None:
        """Pause, say why, let go what fingers hold, and take back changes that did not act yet."""
        self.playing, self._steps, self.problem = False, 0, str(error)
        changes = self.recording.changes
        if changes and changes[-1].at == self.t:
            changes.pop()
            self._become(dict(changes[-1].set) if changes else {})
        for finger in list(self.fingers):
            self._end(self.fingers.pop(finger))

    # Messages

    @singledispatchmethod
    def take(self, message: Message) -> None:
        """Do what a message says.

        Raises:
            WeftError: it cannot be done.
        """
        raise WeftError("message", got=type(message).__name__, expected="a number of the session")

    @take.register
    def _(self, message: Button) -> None:
        if message.do == "play":
            self.playing, self._clock, self.problem = True, time.monotonic(), ""
        elif message.do == "pause":
            self.playing = False
        elif message.do == "step":
            self.playing, self._steps = False, self._steps + 1
        elif message.do == "undo":
            if self._undo:
                self._become(self._with_present_poses(self._undo.pop()))
        else:
            self._reset()

    def _reset(self) -> None:
        """Begin anew from the start of the scene, with the present values of the controls."""
        self.place, self.parts, self.problem, self._steps = self.start, [], "", 0
        self.recording = Recording()
        self.fingers.clear()
        self.pins.clear()
        self.frozen.clear()
        self.values = {k: v for k, v in self.values.items() if not _is_pose(k)}
        self._become(self.values)
        for k, h in enumerate(self._given):
            held = HeldPoint(h.points, h.weights, None, {0.0: h.places[0]})
            self.pins[k + 1] = held
            self.recording.held.append(held)
        self._hold()

    @take.register
    def _(self, message: Speed) -> None:
        self.speed = message.factor

    @take.register
    def _(self, message: ChooseLook) -> None:
        self.look = message.name

    @take.register
    def _(self, message: Press) -> None:
        points, weights = self._points_of(message)
        if message.finger in self.fingers:
            self._end(self.fingers.pop(message.finger))
        held = HeldPoint(points, weights, message.force, {self.t: message.place})
        self.fingers[message.finger] = held
        self.recording.held.append(held)
        self._hold()

    @take.register
    def _(self, message: Move) -> None:
        held = self.fingers.get(message.finger)
        if held is not None:  # else it let go when a step failed
            held.move(self.t, message.place)
            self._hold()

    @take.register
    def _(self, message: LetGo) -> None:
        held = self.fingers.pop(message.finger, None)
        if held is None:
            return
        self._end(held)
        if message.pin:
            x, y, z = held.present.held_point(self.place.state.x).tolist()
            pin = HeldPoint(held.points, held.weights, None, {self.t: (x, y, z)})
            self.pins[max(self.pins, default=0) + 1] = pin
            self.recording.held.append(pin)
            self._hold()

    @take.register
    def _(self, message: Unpin) -> None:
        if message.pin in self.pins:
            self._end(self.pins.pop(message.pin))

    @take.register
    def _(self, message: Freeze) -> None:
        check_known(message.panel, tuple(self.panels), "panel", WeftError)
        for held in self.frozen.pop(message.panel, []):
            held.until = self.t
        if message.on:
            points = self.panels[message.panel]
            places = map(tuple, self.place.state.x[points].tolist())
            pins = [HeldPoint([k], [1.0], None, {self.t: at}) for k, at in zip(points, places)]
            self.frozen[message.panel] = pins
            self.recording.held += pins
        self._hold()

    @take.register
    def _(self, message: PlacePanel) -> None:
        check_known(message.panel, tuple(self.panels), "panel", WeftError)
        if self.t > 0:
            expected = "the start, before seams close"
            raise WeftError("panel", got=f"moved at {self.t:.3g} s", expected=expected)
        state = self.start.state
        x = np.array(state.x)
        x[self.panels[message.panel]] += message.by
        contact = self.loop.model.contact
        if contact is not None:
            contact.check_start(contact.all_vertices(x))
        self.moved = True
        self.start = self.place = dataclasses.replace(
            self.start, state=dataclasses.replace(state, x=x)
        )

    @take.register
    def _(self, message: Set) -> None:
        check_known(message.path, tuple(self.controls), "control", WeftError)
        control = self.controls[message.path]
        if control.choices:
            check_known(str(message.value), tuple(control.choices), control.path, WeftError)
        elif isinstance(message.value, str):
            raise WeftError(control.path, got=repr(message.value), expected="a number")
        before, path, value = dict(self.values), message.path, message.value
        # A preset replaces the numbers that were changed before.
        kept = {k: v for k, v in before.items() if not k.startswith(f"{path}.") and k != path}
        if _is_pose(path):
            value = self._take_pose(path, str(value))
        self._become({**kept, path: value})
        self._undo.append(before)

    def _take_pose(self, path: str, pose: str) -> str:
        """Return the poses of a body until now, followed by one that it takes from now on."""
        earlier = [p for p in read_poses(self.values.get(path, "")) if p[0] < self.t]
        return ", ".join(f"{t!r} {name}" for t, name in [*earlier, (self.t, pose)])

    def _with_present_poses(self, values: dict[str, Value]) -> dict[str, Value]:
        """Return earlier values of the controls; bodies move back into the poses of that time."""
        found = {k: v for k, v in values.items() if not _is_pose(k)}
        for path in filter(_is_pose, self.values):
            pose = value_of(self.base, path, values)
            same = pose == value_of(self.base, path, self.values)
            found[path] = self.values[path] if same else self._take_pose(path, str(pose))
        return found

    def _become(self, values: dict[str, Value]) -> None:
        """Take other values of the controls, from the next step on."""
        self.loop.scene = self.base.with_values(values) if values else self.base
        self.values, changes = values, self.recording.changes
        if changes and changes[-1].at == self.t:
            changes.pop()
        if values != (dict(changes[-1].set) if changes else {}):
            changes.append(Change(self.t, values))

    # Hands

    def _points_of(self, press: Press) -> tuple[list[int], list[float]]:
        """Return the points that move the pressed point of a face, and their weights.

        Raises:
            WeftError: no such face, or a body that forces do not move.
        """
        faces = self.base.cloth.faces if press.on == "cloth" else self._loose_faces
        if press.face >= len(faces) or faces[press.face].min() < 0:
            raise WeftError(
                "press", got=f"face {press.face} of {press.on}", expected="a face that can move"
            )
        vertices, weights = faces[press.face], np.clip(press.weights, 1e-6, 1)
        model = self.loop.model
        embedding = model.embedding if model.contact is None else model.contact.embedding
        if embedding is None:
            return vertices.tolist(), (weights / weights.sum()).tolist()
        if press.on == "cloth":  # one vertex: only then all of its points belong to one element
            vertices, weights = vertices[[weights.argmax()]], np.ones(1)
        row = (weights / weights.sum()) @ embedding.matrix[vertices].toarray()
        points = np.flatnonzero(row)
        return points.tolist(), row[points].tolist()

    @cached_property
    def _loose_faces(self) -> Ints:
        """The faces (m,3) of all bodies of the scene, in vertices of contact; -1: of bodies that
        forces do not move.
        """
        after, found = self.base.cloth.n_vertices, [np.zeros((0, 3), dtype=np.int64)]
        for body in self.base.bodies:
            faces = np.asarray(body.faces, dtype=np.int64)
            found.append(np.full_like(faces, -1) if body.rigid is None else faces + after)
            after += 0 if body.rigid is None else len(body.vertices)
        return np.concatenate(found)

    def _end(self, held: HeldPoint) -> None:
        held.until = self.t
        self._hold()

    def _hold(self) -> None:
        """Let the simulation have the hands that hold something now, in the order in which they
        began.
        """
        self._live.hands = [h.present for h in self.recording.held if h.until is None]


def _is_pose(path: str) -> bool:
    """Return whether a control is the pose of a body, which follows the poses before it."""
    return path.startswith("bodies.")
