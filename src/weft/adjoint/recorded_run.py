"""The forward run that is differentiated.

It takes the same steps as ``simulate``, keeps them in memory, can start again at any of them, and
records every part of a step that was divided.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.settings import settings_by_field
from weft.energies.derivative import differentiable
from weft.integrators.adaptive import innermost
from weft.integrators.base import StepPart, Stepper
from weft.integrators.model import Model
from weft.integrators.reversible import Reversible
from weft.run.drive import Driver, StepFailed
from weft.run.run_state import RunState, StepTimes
from weft.scene.prepare import Simulation, prepare
from weft.scene.scene import Scene
from weft.solve.linear.solver import Outcome

SLACK = 1e-4  # [m/s] or [m]: a larger tolerance leaves errors that deserve a remark


class RecordedRun:
    """The steps of a scene, for a pass backwards.

    Args:
        scene: the scene that is simulated.
        frames: number of the last frame.
        fps: frames per second.

    Raises:
        SceneError: an integrator, a setting or an energy that has no derivative here, by name.
    """

    def __init__(self, scene: Scene | Simulation, frames: int, fps: float) -> None:
        if not (frames >= 1 and fps > 0 and math.isfinite(fps)):
            raise SceneError("frames, fps", got=(frames, fps), expected="frames >= 1 and fps > 0")
        if isinstance(scene, Scene):
            scene.check_unchanged("derivatives of a run", "keyframes have derivatives")
            for pin in scene.pins:
                pin.check_until(frames / fps)
        self.scene, self.frames, self.fps = scene, frames, fps
        self.times = StepTimes.of(fps, scene.step)
        self._check()

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled; another process builds the model anew."""
        return {k: v for k, v in vars(self).items() if k not in ("model", "stepper", "_driver")}

    @cached_property
    def model(self) -> Model:
        """The model of the scene."""
        return prepare(self.scene).model

    @cached_property
    def stepper(self) -> Stepper:
        """The integrator, with what surrounds it."""
        return prepare(self.scene).stepper

    @cached_property
    def _driver(self) -> Driver:
        return Driver(self.model, self.stepper, self.times)

    @property
    def inner(self) -> Reversible:
        """The integrator itself.

        Raises:
            SceneError: one that has no reverse of its step.
        """
        inner = innermost(self.stepper)
        if isinstance(inner, Reversible):
            return inner
        raise SceneError(
            "integrator",
            got=type(inner).__name__,
            expected="an integrator with derivatives: backward_euler, bdf2, quasi_static",
            hint="steps of one linear solve have no derivatives, because they do not minimize "
            "a potential",
        )

    def _check(self) -> None:
        _, model, times = self.inner, self.model, self.model.times
        in_time = zip(*(model.parts_at(t) for t in times)) if len(times) > 1 else ()
        every: list[Sequence[Any]] = list(in_time) or [()] * len(model.assembly.terms)
        for term, parts in zip(differentiable(model.assembly.terms), every, strict=True):
            term.check_derivatives(parts)

    @property
    def remarks(self) -> list[str]:
        """Remarks on settings that make derivatives less exact than they could be."""
        settings = self.inner.settings
        if settings.tolerance > SLACK:
            unit = settings_by_field(type(settings))["tolerance"].unit
            return [
                f"settings.tolerance = {settings.tolerance:g} {unit}: derivatives need converged "
                "steps; use 1e-6 or less, and 1e-8 with contact.lags"
            ]
        return []

    @property
    def dt(self) -> float:
        """Length [s] of a step."""
        return self.times.dt

    @property
    def steps(self) -> int:
        """Number of steps of a frame."""
        return self.times.steps

    @property
    def count(self) -> int:
        """Number of steps of the run."""
        return self.frames * self.steps

    def start(self, scene: Scene | Simulation | None = None) -> RunState:
        """Return the state before the first step, of another scene if one is given."""
        state = prepare(scene or self.scene).state
        return self._driver.begin(state)

    def step(self, place: RunState) -> tuple[RunState, list[StepPart]]:
        """Take the step after ``place``; return the state at its end, and the parts of the step.

        Raises:
            SimulationError: a step that does not converge, however short.
            SceneError: a step that stopped before it had converged.
        """
        try:
            after, taken = self._driver.step(place)
        except StepFailed as failed:
            hint = "Derivatives need every step of the run"
            raise failed.error(f"step {place.count + 1}", hint) from None
        if any(t.report.outcome is Outcome.STOPPED for t in taken):
            raise SceneError(
                "effort",
                got="steps that stop before they have converged",
                expected="converged steps, because only these have derivatives",
                hint="use the default settings.effort",
            )
        parts = [part for t in taken for part in t.report.parts]
        if not self.inner.has_history:
            parts = parts[-1:]
        return after, parts


class RunCheckpoints:
    """Records of a run for a pass backwards.

    All records are kept if they fit into the memory given. Otherwise every k-th of n is kept, k =
    sqrt(n), and the steps between are computed again.

    Args:
        forward: the run.
        most: [B] memory for the records.
    """

    def __init__(self, forward: RecordedRun, most: float) -> None:
        self.forward = forward
        place = forward.start()
        # Factor 3: memory (the history of BDF2, elastic slips) is kept beside the state.
        size = 3 * sum(_bytes(a) for a in (place.state.x, place.state.v))
        n = forward.count
        self.every = 1 if n * size <= most else math.isqrt(n - 1) + 1
        self.places: dict[int, RunState] = {0: place}
        self._parts: dict[int, list[StepPart]] = {}
        self.recomputed = 0  # steps computed again

    @property
    def bytes(self) -> int:
        """Size [B] of the arrays that are kept now."""
        arrays = {
            id(a): _bytes(a)
            for p in self.places.values()
            for a in (p.state.x, p.state.v, *p.memory.values())
        }
        return sum(arrays.values())

    def run(self) -> Iterator[RunState]:
        """Take all steps; yield every record, and keep those that the memory allows."""
        place = self.places[0]
        yield place
        for _ in range(self.forward.count):
            place, parts = self.forward.step(place)
            if self.every == 1:
                self._parts[place.count] = parts
            if place.count % self.every == 0:
                self.places[place.count] = place
            yield place

    def parts(self, count: int) -> list[StepPart]:
        """Return the parts of the step that ended at ``count``.

        If they were not kept, all steps since the last kept record are computed again; the earlier
        ones stay in memory until they are asked for.
        """
        if count not in self._parts:
            first = (count - 1) // self.every * self.every
            place = self.places[first]
            self._parts.clear()
            for _ in range(count - first):
                place, parts = self.forward.step(place)
                self._parts[place.count] = parts
                self.recomputed += 1
        return self._parts.pop(count)


def _bytes(a: Floats) -> int:
    return int(np.asarray(a).nbytes)
