"""The loop: step, report, write, checkpoint, resume.

Frames are integers and divide evenly into steps. After every step the checkpoint holds the full
state, so a run that is killed at any instant loses at most the step it was in, and continues
bitwise as if it had not been stopped.
"""

import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from weft.arrays import Gradients, Json
from weft.cloth import Cloth
from weft.contact.body import Body, joined_faces, joined_positions
from weft.contact.loads import contact_loads
from weft.discretization.samples import principal_stretches
from weft.errors import RunError, SceneError, SimulationError
from weft.integrators.base import Memory, Stepper, StepReport
from weft.io.frames import RunFolder
from weft.model import Model
from weft.state import State

FORMAT = 1  # of a run folder
MOST_HALVINGS = 6  # of a step that does not converge
_MEMORY = "memory."  # prefix of an integrator's memory among a state's arrays


class SceneLike(Protocol):
    """What the loop needs of a scene."""

    @property
    def cloth(self) -> Cloth:
        """Mesh and fabric."""

    @property
    def step(self) -> float:
        """[s] largest step."""

    @property
    def description(self) -> Mapping[str, Any]:
        """What the manifest keeps for readers: the scene file's contents."""

    @property
    def bodies(self) -> Sequence[Body]:
        """What the cloth meets."""

    @property
    def resolved(self) -> object | None:
        """What was moved at the start so that nothing intersects, as text; None: nothing."""

    def identity(self) -> Mapping[str, Any]:
        """A plain tree that two scenes share only if they simulate the same."""

    def model(self) -> Model:
        """What does not change."""

    def state(self) -> State:
        """The start."""

    def stepper(self) -> Stepper:
        """The integrator."""


@dataclass(frozen=True)
class Progress:
    """Where a simulation stands; given to ``on_progress`` after every step."""

    frame: int  # the frame being computed
    frames: int  # of how many
    step: int  # within the frame, from 1
    steps: int  # of how many
    report: StepReport
    wrote: str = ""  # the last file written


@dataclass(frozen=True)
class _Place:
    """The state after some step, and everything needed to go on from there."""

    state: State
    memory: Memory
    frame: int  # frames complete
    step: int  # steps done of the next frame
    count: int  # steps done in all

    def arrays(self) -> dict[str, Any]:
        """What a frame or checkpoint holds."""
        counters = {"frame": self.frame, "step": self.step, "count": self.count}
        memory = {_MEMORY + name: value for name, value in self.memory.items()}
        return {"x": self.state.x, "v": self.state.v, "t": self.state.t, **counters, **memory}

    @staticmethod
    def of(arrays: Mapping[str, Any]) -> "_Place":
        """From the arrays of a frame or checkpoint."""
        memory = {k.removeprefix(_MEMORY): v for k, v in arrays.items() if k.startswith(_MEMORY)}
        state = State(arrays["x"], arrays["v"], float(arrays["t"]))
        return _Place(state, memory, *(int(arrays[k]) for k in ("frame", "step", "count")))


def run_scene(
    scene: SceneLike,
    folder: RunFolder,
    *,
    frames: int,
    fps: float,
    resume: bool = False,
    from_frame: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Simulate ``frames`` frames into a run folder.

    Args:
        scene: what to simulate.
        folder: where; must be new unless ``resume`` or ``from_frame`` is given.
        frames: number of the last frame; frame 0 is the start.
        fps: frames per second.
        resume: continue after the last step on disk.
        from_frame: continue after this frame, and drop the later ones; the scene may have changed.
        on_progress: called after every step.

    Raises:
        RunError: a folder that holds another scene, or that cannot be written. SceneError: frames
        or fps out of range, or a pin whose keyframes end before the run. SimulationError: a step
        that does not converge, however small; the last frame and a reproducer are on disk.
    """
    if frames < 0 or not (fps > 0 and math.isfinite(fps)):
        raise SceneError("frames, fps", got=(frames, fps), expected="frames >= 0 and fps > 0")
    loop = _Loop(scene, folder, fps)
    for pin in loop.model.pins:
        pin.check_until(frames / fps)
    place = loop.begin(frames, resume, from_frame)
    for now in loop.advance(place, frames):
        if on_progress is not None:
            on_progress(now)


class _Loop:
    """One run: the scene's model and integrator, and the folder."""

    def __init__(self, scene: SceneLike, folder: RunFolder, fps: float) -> None:
        self.scene, self.folder, self.fps = scene, folder, fps
        self.model, self.integrator = scene.model(), scene.stepper()
        self.steps = max(1, math.ceil(1 / (fps * scene.step) - 1e-9))  # per frame
        self.samples = scene.cloth.samples()
        self.area = scene.cloth.mesh.vertex_area
        self.crossing = 0  # pairs of faces that intersect in the frame written last

    def begin(self, frames: int, resume: bool, from_frame: int | None) -> _Place:
        """The place to start from; prepares the folder."""
        manifest = _manifest(self.scene, frames, self.fps, self.steps)
        if self.scene.resolved is not None:
            manifest["resolved"] = str(self.scene.resolved)
        if not self.folder.exists():
            if from_frame is not None:
                raise RunError(
                    "run to continue", got=str(self.folder.path), expected="a run folder"
                )
            mesh = self.scene.cloth.mesh
            arrays = {"faces": mesh.faces, "corner_uv": mesh.corner_uv, "vertices": mesh.vertices}
            arrays.update(self.scene.cloth.surfaces.arrays())
            if self.scene.bodies:
                arrays["body_faces"] = joined_faces(self.scene.bodies)
            self.folder.create(manifest, arrays)
            return self._start()
        self._check_same(manifest, same_scene=from_frame is None)
        if from_frame is not None:
            place = _Place.of(self.folder.frame(from_frame))
            self.folder.drop_checkpoint()
            self.folder.drop_frames_after(from_frame)
            self.folder.truncate_metrics(self.folder.metrics_size_at(from_frame))
            self.folder.write_manifest(manifest)
            return place
        if not resume:
            raise RunError(
                "run folder",
                got=str(self.folder.path),
                expected="a folder without a run",
                hint="continue it with --resume, or choose another with --out",
            )
        self.folder.write_manifest(manifest)
        checkpoint = self.folder.checkpoint()
        if checkpoint is None:
            self.folder.truncate_metrics(0)
            return self._start()
        self.folder.truncate_metrics(int(checkpoint["metrics_size"]))
        return _Place.of(checkpoint)

    def advance(self, place: _Place, frames: int) -> Iterator[Progress]:
        """Steps until frame ``frames`` is on disk."""
        while place.frame < frames:
            place, reports = self._step(place)
            wrote = ""
            if place.step == 0:
                self._write_frame(place)
                wrote = f"frames/{place.frame:06d}.npz"
            size = 0
            for report in reports:
                size = self.folder.append_metrics(self._metrics(place, report))
            self.folder.write_checkpoint({**place.arrays(), "metrics_size": size})
            frame = place.frame + (place.step > 0)
            yield Progress(frame, frames, place.step or self.steps, self.steps, reports[-1], wrote)

    def _start(self) -> _Place:
        state = self.scene.state()
        place = _Place(state, self.integrator.init(self.model, state), 0, 0, 0)
        self._write_frame(place)
        return place

    def _write_frame(self, place: _Place) -> None:
        """The state, and where bodies are."""
        more: dict[str, Any] = {}
        if self.scene.bodies:
            more["body"] = joined_positions(self.scene.bodies, place.state.t)
        contact = self.model.contact
        if contact is not None:
            x = self.model.vertices(place.state.x)
            more.update(contact_loads(contact, x, place.state.t, self.area))
            fixed, _ = self.model.prescribed(place.state.t)
            pairs = contact.crossings(x, place.state.t, contact.excluded(fixed))
            self.crossing = len(pairs)
        self.folder.write_frame(place.frame, {**place.arrays(), **more})

    def _step(self, place: _Place) -> tuple[_Place, list[StepReport]]:
        """The next step of the frame.

        Its end time is computed from integers, so that it does not drift.
        """
        dt = 1 / (self.fps * self.steps)
        state, memory, reports = self._converged(place, place.state, place.memory, dt, 0)
        step = place.step + 1
        done = step == self.steps
        frame = place.frame + done
        t = frame / self.fps + (0 if done else step) * dt
        state = dataclasses.replace(state, t=t)
        return _Place(state, memory, frame, 0 if done else step, place.count + 1), reports

    def _converged(
        self, place: _Place, state: State, memory: Memory, dt: float, halvings: int
    ) -> tuple[State, Memory, list[StepReport]]:
        """A step of dt, or two of half that if it does not converge, and so on."""
        after, kept, report = self.integrator.step(self.model, state, memory, dt)
        if report.outcome.ok:
            return after, kept, [report]
        if halvings == MOST_HALVINGS or not report.divisible:
            self._fail(place, state, memory, report)
        reports: list[StepReport] = []
        for _ in range(2):
            state, memory, more = self._converged(place, state, memory, dt / 2, halvings + 1)
            reports += more
        return state, memory, reports

    def _fail(self, place: _Place, state: State, memory: Memory, report: StepReport) -> None:
        before = dataclasses.replace(place, state=state, memory=memory)
        text = {**_plain(report), "t": state.t, "outcome": report.outcome.name}
        arrays = {**before.arrays(), "dt": report.dt}
        if report.reached is not None:
            arrays["reached"] = report.reached
        path = self.folder.save_failure(f"step_{place.count + 1:06d}", arrays, text)
        near = ""
        if report.place is not None:
            near = f" near ({', '.join(f'{c:.4g}' for c in report.place)})"
        raise SimulationError(
            f"step {place.count + 1} at t = {state.t:.6g} s{near}",
            got=report.outcome.name,
            expected=f"a step that converges; tried down to dt = {report.dt:.3g} s",
            where=str(path),
            hint=f"{report.outcome.advice}. Frame {place.frame} is the last good one",
        )

    def _check_same(self, manifest: Json, same_scene: bool) -> None:
        old = self.folder.manifest()
        if old.get("format") != FORMAT:
            got, where = old.get("format"), str(self.folder.path)
            raise RunError("run format", got=got, expected=str(FORMAT), where=where)
        fits = self.folder.mesh()["vertices"].shape == self.scene.cloth.vertices.shape
        same = ("scene", "fps", "steps_per_frame") if same_scene else ()
        if not fits or any(old.get(k) != manifest[k] for k in same):
            different = _differences(old.get("scene"), manifest["scene"])[:5]
            changed = ", ".join(different) or "fps or step"
            raise RunError(
                "run folder",
                got=f"a run of another scene (differs in: {changed})",
                where=str(self.folder.path),
                expected="a run of this scene",
                hint="choose another folder with --out, or branch off a frame with --from K",
            )

    def _metrics(self, place: _Place, report: StepReport) -> Json:
        frame_end = {"intersections": self.crossing} if place.step == 0 else {}
        kinetic = 0.5 * float(np.sum(self.model.mass * (place.state.v**2).sum(1)))
        line = {"step": place.count, "frame": place.frame + (place.step > 0), "t": place.state.t}
        return {
            **line,
            **_plain(report),
            "kinetic": kinetic,
            "stretch": _percentiles(self.samples.deformation_gradient(place.state.x)),
            **(frame_end if self.model.contact is not None else {}),
        }


def _percentiles(F: Gradients) -> Json:
    """p50, p95 and max of the largest principal stretch of F (q,3,2), min of the smallest."""
    high, low = principal_stretches(F)
    p50, p95 = np.percentile(high, [50, 95]).tolist()
    return {"p50": p50, "p95": p95, "max": float(high.max()), "min": float(low.min())}


def _plain(report: StepReport) -> Json:
    plain = {**dataclasses.asdict(report), "outcome": report.outcome.name}
    del plain["reached"], plain["divisible"], plain["place"]
    plain["energies"] = plain.pop("terms")
    return plain


def _manifest(scene: SceneLike, frames: int, fps: float, steps: int) -> Json:
    import platform
    from importlib.metadata import version

    names = ("weft", "numpy", "scipy", "warp-lang")
    return {
        "format": FORMAT,
        "scene": json.loads(json.dumps(scene.identity())),
        "description": json.loads(json.dumps(scene.description)),
        "frames": frames,
        "fps": fps,
        "steps_per_frame": steps,
        "versions": {"python": platform.python_version(), **{n: version(n) for n in names}},
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _differences(a: Any, b: Any, path: str = "") -> list[str]:
    """Dotted paths at which two plain trees differ."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        keys = [*a, *(k for k in b if k not in a)]
        return [
            d for k in keys for d in _differences(a.get(k), b.get(k), f"{path}.{k}".lstrip("."))
        ]
    return [] if a == b else [path]
