"""The simulation loop: take a step, report it, write frames and checkpoints, resume.

Frames are integers, and every frame is divided evenly into steps. After every step the checkpoint
holds the full state. A run that is killed at any instant therefore loses at most the current step,
and it continues bitwise as if it had not been stopped.
"""

import dataclasses
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray, Arrays
from weft.base.errors import (
    RunError,
    SceneError,
    SimulationError,
    abbreviate,
)
from weft.base.trees import Json
from weft.cloth.attachments.drawing import strands
from weft.cloth.fields import Physics, Recorder
from weft.contact.barrier.stiffness import AdaptiveStiffness
from weft.contact.contact_forces import contact_loads
from weft.contact.memory import STIFFNESS
from weft.contact.released import released_levels
from weft.energies.state import State
from weft.integrators.base import Memory, StepReport
from weft.integrators.model import Model
from weft.io.files import check_room
from weft.run.drive import Driver, StepFailed, TakenStep
from weft.run.plausibility import (
    CAUGHT,
    about_gains,
    about_garment,
    about_released,
    about_stretch,
    sewn_at,
    sewn_gaps,
    warnings_before_run,
)
from weft.run.recovery import RunCondition, open_run
from weft.run.run_folder import CHECKPOINT, RunFolder, frame_name
from weft.run.run_state import RunState, StepTimes
from weft.run.sewing_order import SEWN_EARLIER, sew_earlier, sewn_as
from weft.run.sewing_pace import SewingPace, about_slow_sewing
from weft.run.step_record import (
    Stretch,
    build_manifest,
    mesh_arrays,
    report_as_dict,
)
from weft.scene.build_model import build_changed_model
from weft.scene.membrane_law import physics
from weft.scene.prepare import make_stepper, prepare
from weft.scene.scene import MOST_FRAMES, MOST_STEPS, Scene

JUMP = 1e-9  # [m] of bodies at a change of the scene
STEP_SIZE = 600  # [bytes] lower bound of the size of one line of metrics


@dataclass(frozen=True)
class Progress:
    """The progress of a simulation; passed to ``on_progress`` after every step."""

    frame: int  # the frame being computed
    frames: int  # number of the last frame
    step: int  # the step within the frame, counted from 1
    steps: int  # steps per frame
    report: StepReport
    wrote: str = ""  # name of the file written after this step; empty: none


def run_scene(
    scene: Scene,
    folder: RunFolder,
    *,
    frames: int,
    fps: float,
    resume: bool = False,
    from_frame: int | None = None,
    on_start: Callable[[], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Simulate ``frames`` frames into a run folder, as the only writer of this folder.

    If seams are open when sewing ends, the run starts again, with these seams sewn earlier; if they
    are open farther then, it goes back to the first order.

    Args:
        scene: the scene to simulate.
        folder: the run folder; must be new unless ``resume`` or ``from_frame`` is given.
        frames: number of the last frame; frame 0 is the start.
        fps: frames per second.
        resume: continue after the last step on disk; damaged files are named in warnings and
            computed again from the nearest good frame.
        from_frame: continue after this frame and drop the later ones; the scene may have changed.
        on_start: called once, before the first step, when scene and folder are checked.
        on_progress: called after every step.

    Raises:
        RunError: the folder holds another scene, another process writes into it, or it cannot be
            written.
        SceneError: frames or fps are out of range, or the keyframes of a pin end before the run.
        SimulationError: a step does not converge, however small it is; the last frame and a
            reproducer are on disk.
    """
    if not (0 <= frames <= MOST_FRAMES and fps > 0 and math.isfinite(fps)):
        raise SceneError(
            "frames, fps", got=(frames, fps), expected=f"0 <= frames <= {MOST_FRAMES} and fps > 0"
        )
    if not 1 / (fps * scene.step) <= MOST_STEPS:
        expected = f"at most {MOST_STEPS:g} steps a frame"
        raise SceneError("step", got=f"{scene.step:g} s", expected=expected)
    if from_frame is not None and not folder.exists():
        raise RunError("run to continue", got=str(folder.path), expected="a run folder")
    present = scene
    if resume or from_frame is not None:
        with suppress(RunError):  # no run, or a manifest that is repaired below
            present = sewn_as(scene, folder.manifest())
    loop = Loop(present, folder, fps)
    for pin in loop.model.pins:
        pin.check_until(frames / fps)
    _warn(warnings_before_run(scene, loop.driver.stepper))
    if frames == 0:
        _warn(["0 frames: only the start is written"])
    with folder.lock:
        loop.run(frames, resume, from_frame, on_progress, on_start)
        while loop.order is not None:
            loop = Loop(sew_earlier(scene, *loop.order) or scene, folder, fps)
            loop.run(frames, False, 0, on_progress)
        records = folder.log.records()
        _warn([*about_released(records), *about_gains(records)])


def _warn(texts: Iterable[str]) -> None:
    for text in texts:
        warnings.warn(text, stacklevel=3)


class Loop:
    """The loop of one run: the model and integrator of the scene, and the folder."""

    def __init__(self, scene: Scene, folder: RunFolder, fps: float) -> None:
        self.scene, self.folder, self.fps = scene, folder, fps
        times = StepTimes.of(fps, scene.step)
        simulation = prepare(scene)
        self.driver = Driver(simulation.model, simulation.stepper, times)
        self.steps = times.steps  # of a frame
        # [bytes] lower bound of the size of a frame
        self.frame_size = simulation.state.x.nbytes + simulation.state.v.nbytes
        self._present = scene.at(-math.inf)  # for which model and integrator were made
        self.stretch = Stretch(scene.cloth)
        self.area = scene.cloth.mesh.vertex_area
        self.recorder = Recorder(
            scene.record, scene.cloth.mesh, physics(scene) if scene.record else Physics()
        )
        self.crossing: dict[str, int] = {}  # of the last frame written: ``count_intersections``
        self.stretched = self.stretch.percentiles(simulation.state.x)  # after the last step
        self.pace = SewingPace()
        self.asked = False  # True once a warning about the stretch was given
        self.trajectory = ""  # identifier of the scene, frame rate and steps
        self.digest = ""  # of the last complete frame
        # With which the run starts again: seams to be sewn earlier, and the gap [m] of this try.
        self.order: tuple[Sequence[str], float] | None = None

    @property
    def model(self) -> Model:
        """The model of the present scene."""
        return self.driver.model

    def run(
        self,
        frames: int,
        resume: bool,
        from_frame: int | None,
        on_progress: Callable[[Progress], None] | None,
        on_start: Callable[[], None] | None = None,
    ) -> None:
        """Take all steps until frame ``frames``, or until the run has to start again with another
        ``order``; the arguments are those of ``run_scene``.
        """
        self.check_room(frames, from_frame)
        place = self.begin(frames, resume, from_frame)
        if on_start is not None:
            on_start()
        for now in self.advance(place, frames):
            if self.order is not None:
                return
            if on_progress is not None:
                on_progress(now)

    def begin(self, frames: int, again: bool, from_frame: int | None) -> RunState:
        """Return the state to start from, after preparing and repairing the folder."""
        mesh = mesh_arrays(self.scene)
        manifest = build_manifest(
            self.scene, mesh, self.folder.path, frames=frames, fps=self.fps, steps=self.steps
        )
        run = open_run(self.folder, manifest, mesh, resume=again, branch_at=from_frame)
        self.trajectory = run.trajectory
        _warn(run.messages)
        _warn(self._restore(run))
        if run.state is None:
            return self._start()
        self.digest = run.digests.get(run.end, self.digest)
        self.stretched = self.stretch.percentiles(run.state.state.x)
        return run.state

    def check_room(self, frames: int, from_frame: int | None) -> None:
        """Check that the disk has room for the frames that are not on it, up to frame ``frames``.

        Raises:
            SceneError: the disk has too little room.
        """
        done = max(self.folder.numbers(), default=0) if from_frame is None else from_frame
        needed = (frames - done) * (self.frame_size + STEP_SIZE * self.steps)
        hint = f"simulate fewer frames than {frames} (`frames=`), or elsewhere (`out=`)"
        check_room(self.folder.path, needed, "seconds, fps", hint, SceneError)

    def advance(self, place: RunState, frames: int) -> Iterator[Progress]:
        """Take steps and yield the progress after each one, until frame ``frames`` is on disk."""
        while place.frame < frames:
            clock = time.process_time()
            place, parts = self.step(place)
            self._ask_about_pace(place.state, time.process_time() - clock)
            wrote = self.write_step(place, parts)
            frame = place.frame + (place.step > 0)
            last = parts[-1].report
            yield Progress(frame, frames, place.step or self.steps, self.steps, last, wrote)

    def write_step(
        self, place: RunState, parts: Sequence[TakenStep], every_step: bool = True
    ) -> str:
        """Write the metrics of a finished step, and its frame and checkpoint.

        Args:
            place: the state after the step.
            parts: the parts into which the step was divided, each with its report.
            every_step: write a checkpoint after every step; False: only with a frame.

        Returns:
            The name of the frame that was written, or an empty string.
        """
        self._check_state(place)
        digests: dict[int, str] = {}
        if place.step == 0:
            digests[place.frame - 1] = self.digest
            digests[place.frame] = self.digest = self._write_frame(place)
        for part in parts:
            last = part is parts[-1]
            self.folder.log.append(self._metrics(place, part), digests if last else {})
        if every_step or place.step == 0:
            # Only the checkpoint at the end of a frame is flushed to the disk.
            self.folder.write(
                CHECKPOINT,
                place.arrays(),
                self.trajectory,
                self.folder.log.sum,
                fsync=place.step == 0,
            )
        return frame_name(place.frame) if place.step == 0 else ""

    def _check_state(self, place: RunState) -> None:
        """Check that a new state is finite, and warn once per run about a stretch that no cloth
        has.

        Raises:
            SimulationError: positions or velocities are not finite.
        """
        if not (np.isfinite(place.state.x).all() and np.isfinite(place.state.v).all()):
            last = place.frame - (place.step == 0)
            raise SimulationError(
                f"step {place.count} at t = {place.state.t:.6g} s",
                got="no finite numbers",
                expected="positions",
                where=self.folder.path,
                hint=f"frame {last} is the last good one; use a shorter step",
            )
        self._ask_about_garments(place)
        before, self.stretched = self.stretched, self.stretch.percentiles(place.state.x)
        if not self.asked and place.state.t >= self._sewn_at:
            stretches = before["max"], self.stretched["max"]
            questions = list(about_stretch(*stretches, place.count, self.driver.stepper))
            self.asked = bool(questions)
            _warn(questions)

    @property
    def _sewn_at(self) -> float:
        """The time [s] at which garments are sewn and at rest; before it, seams pull the cloth
        harder than wearing does.
        """
        contact = self.model.contact
        return sewn_at(None if contact is None else contact.settings, self.model.energies)

    def _ask_about_pace(self, state: State, seconds: float) -> None:
        """Warn once while seams close, if a step of some seconds shows that they do not get on."""
        if self.scene.cloth.sewn is None or state.t > self._sewn_at:
            return
        slow = self.pace.add(seconds)
        if slow:
            x, energies = self.model.vertices(state.x), self.model.energies
            _warn([about_slow_sewing(self.scene.cloth, energies, x, state.t, slow)])

    def _ask_about_garments(self, place: RunState) -> None:
        """Warn once, when garments are sewn, about open seams and panels that are too small."""
        cloth, t, begin = self.scene.cloth, place.state.t, self._sewn_at
        # True after exactly one step, the first one that ends at or after ``begin``.
        if cloth.sewn is not None and begin <= t < begin + self.driver.times.dt - 1e-9:
            x = place.state.x
            high, at = self.stretch.largest(x), self.model.vertices(x)
            _warn(about_garment(cloth, at, high, t, self.scene.bodies))
            self._sew_again({name: float(gap.max()) for name, _, gap in sewn_gaps(cloth, at)})

    def _sew_again(self, gaps: Mapping[str, float]) -> None:
        """Start again with open seams sewn earlier, if they can be, or in the first order if that
        was better; say what is done.

        Args:
            gaps: [m] widest gap of each seam.
        """
        caught = [n for n, gap in gaps.items() if gap > CAUGHT]
        widest = max(gaps.values(), default=0)
        tried = self.scene.description.get(SEWN_EARLIER)
        if tried is not None and not tried["seams"]:
            return
        before, first = (tried["seams"], tried["gap"]) if tried else ([], widest)
        seams, names = [*before, *(n for n in caught if n not in before)], abbreviate(caught)
        if len(seams) > len(before) and sew_earlier(self.scene, seams, first) is not None:
            self.order = seams, first
            _warn([f"the run starts again: seams {names} now begin to close with the first seams"])
        elif tried is not None and widest > max(first, CAUGHT):
            self.order = (), first
            _warn(["the run starts again in the first order, which had smaller gaps"])
        elif caught:
            _warn(
                [f"seams {names} begin to close with the first seams: the run does not start again"]
            )

    def _start(self) -> RunState:
        """Write frame 0 and return the state at the start."""
        place = self.driver.begin(prepare(self.scene).state)
        self.digest = self._write_frame(place)
        return place

    def frame_arrays(self, place: RunState) -> Mapping[str, ArrayLike]:
        """Return the arrays of a frame: the state, bodies, contact forces, ropes and springs, and
        recorded fields.
        """
        contact, state = self.model.contact, place.state
        more: dict[str, AnyArray] = {}
        if contact is not None:
            x = contact.all_vertices(state.x)
            kept = AdaptiveStiffness.of(place.memory.get(STIFFNESS))
            more.update(contact_loads(contact, x, state.t, self.area, kept.before))
            bodies = self._present.bodies
            if bodies:
                more["body"] = contact.body_vertices(bodies, state.x, state.t)
        more.update(self._strands(place))
        x, v = (self.model.vertices(a) for a in (state.x, state.v))
        more.update(self.recorder.arrays(x, v, state.t, more.get("pressure")))
        return {**place.arrays(), **more}

    def count_intersections(self, state: State, memory: Memory) -> dict[str, int]:
        """Return the numbers of pairs of faces that intersect: ``intersections`` that must not be,
        and those that contact leaves out, or that are of released cloth.
        """
        contact = self.model.contact
        if contact is None:
            return {}
        released = released_levels(memory, len(contact.mesh.rest))
        found = contact.all_crossings(contact.all_vertices(state.x), state.t, released)
        return {
            "intersections": len(found.forbidden),
            "excluded_intersections": len(found.excluded),
            "released_intersections": len(found.released),
        }

    def _strands(self, place: RunState) -> Arrays:
        """Return ropes and springs for pictures."""
        contact, t = self.model.contact, place.state.t
        bodies = np.zeros((0, 3)) if contact is None else contact.body_positions(t)
        return dict(strands(self.model.energies_at(t), place.state.x, bodies, t, place.memory))

    def _write_frame(self, place: RunState) -> str:
        """Write a frame; return its digest."""
        arrays = self.frame_arrays(place)
        self.crossing = self.count_intersections(place.state, place.memory)
        return self.folder.write(frame_name(place.frame), arrays, self.trajectory)

    def _restore(self, run: RunCondition) -> Iterator[str]:
        """Compute missing frames again, each from the one before it; yield messages for users.

        A frame that differs from the one that the metrics list is removed again.
        """
        restored, different, foreign = [], [], []
        for k in run.missing:
            if k <= run.after:
                foreign.append(k)
            elif k == 0 or k - 1 in run.frames:
                if self._compute_frame(k) == run.digests.get(k, self.digest):
                    run.frames.add(k)
                    restored.append(k)
                else:
                    self.folder.files.remove(frame_name(k))
                    different.append(k)
            else:
                different.append(k)
        if restored:
            yield f"frames {abbreviate(restored)}: restored bitwise, each from the previous frame"
        if different:
            yield (
                f"frames {abbreviate(different)}: cannot be restored, because this machine or "
                f"version gives other numbers; `from_frame={max(different[0] - 1, 0)}` computes "
                "all later frames again"
            )
        if foreign:
            yield (
                f"frames {abbreviate(foreign)}: belong to the scene before the branch, and this "
                "scene cannot compute them"
            )

    def _compute_frame(self, number: int) -> str:
        """Compute and write a missing frame; return its digest."""
        if number == 0:
            self._start()
            return self.digest
        place = RunState.of(self.folder.frame(number - 1))
        while place.frame < number:
            place, _ = self.step(place)
        return self._write_frame(place)

    def _change(self, state: State) -> None:
        """Take the model of the scene at the time of a state, if the scene has changed.

        The memory stays: points and mesh are the same.

        Raises:
            SimulationError: after a change of thickness surfaces are nearer than that, or bodies
                are elsewhere.
        """
        now = self.scene.at(state.t)
        if now is self._present:
            return
        self._check_bodies(now, state.t)
        model = build_changed_model(now)
        if model.contact is not None:
            try:
                model.contact.check_room(model.contact.all_vertices(state.x), state.t)
            except SceneError as error:
                text = f"change of the scene at t = {state.t:.6g} s: {error.what}"
                raise SimulationError(
                    text, got=error.got, expected=error.expected, hint="change less"
                ) from None
        self._present, self.driver.model, self.driver.stepper = now, model, make_stepper(now)

    def _check_bodies(self, now: Scene, t: float) -> None:
        """Check that bodies go on from where they are in a scene that begins at t [s].

        Raises:
            SimulationError: one is elsewhere.
        """
        before = self.scene.at(np.nextafter(t, -math.inf))
        for a, b in zip(before.bodies, now.bodies):
            jump = 0.0 if a is b else float(np.abs(a.at(t) - b.at(t)).max())
            if jump > JUMP:
                raise SimulationError(
                    f"change of the scene at t = {t:.6g} s",
                    got=f"{b.name} jumps by {jump:.3g} m",
                    expected="bodies that continue from their present place",
                    hint="a change must also list the poses before it: 1.2 arms_down, 3 sit",
                )

    def step(self, place: RunState) -> tuple[RunState, list[TakenStep]]:
        """Take the next step of the frame; return the new state and the parts of the step.

        Raises:
            SimulationError: the step fails, however short its parts are.
        """
        self._change(place.state)
        try:
            return self.driver.step(place)
        except StepFailed as failed:
            path = self._save_failure(place, failed)
            hint = (
                f"Frame {place.frame} is the last good one: `weft render {self.folder.path} "
                f"failed.png --frame {place.frame}` draws it"
            )
            if self.scene.cloth.seams and place.state.t < self._sewn_at:
                hint = (
                    "The seams are still closing: give them more time (`closing` and `settle` of "
                    f"`sewing`), or start the panels nearer to each other. {hint}"
                )
            raise failed.error(f"step {place.count + 1}", hint, path) from None

    def _save_failure(self, place: RunState, failed: StepFailed) -> Path:
        """Write a reproducer of a step that failed; return its path."""
        state, report = failed.state, failed.report
        before = dataclasses.replace(place, state=state, memory=failed.memory)
        whole = self.driver.times.dt
        text = {**report_as_dict(report, whole), "t": state.t, "outcome": report.outcome.name}
        text["rejected"] = [r.as_rejected().as_dict(whole) for r in failed.tries]
        known = {"reached": report.reached, "place": report.place}
        arrays = {**before.arrays(), "dt": report.dt}
        arrays |= {name: value for name, value in known.items() if value is not None}
        return self.folder.save_failure(
            f"step_{place.count + 1:06d}", arrays, text, self.trajectory
        )

    def _metrics(self, place: RunState, part: TakenStep) -> Json:
        """Return the line of metrics of a step, or of one part of it, with its own time and
        energies.
        """
        state, whole = part.state, part.state is place.state
        line = {"step": place.count, "frame": place.frame + (place.step > 0), "t": state.t}
        frame_end = whole and place.step == 0 and self.model.contact is not None
        return {
            **line,
            **report_as_dict(part.report, self.driver.times.dt),
            "kinetic": 0.5 * float(np.sum(self.model.mass * (state.v**2).sum(1))),
            "stretch": self.stretched if whole else self.stretch.percentiles(state.x),
            **(self.crossing if frame_end else {}),
            **({"bodies": self.model.rigid_body_states(state)} if self.model.rigid_bodies else {}),
        }
