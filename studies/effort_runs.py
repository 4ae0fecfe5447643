"""Runs of one scene with different efforts, and how far what comes out is apart."""

import time
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import warp as wp

from studies.effort_scenes import TimedScene
from weft import kernel
from weft.base.arrays import Bools, Faces, Floats, Positions
from weft.base.errors import SimulationError
from weft.energies.state import State
from weft.integrators.base import Memory, Stepper, StepReport, StepSettings
from weft.integrators.model import Model
from weft.run.drive import StepFailed, TakenStep, advance
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.show.picture.rasterize import DepthBuffer, rasterize

LOOK = 0.02  # [s] between looks; every step divides it
REST = 0.05  # [m/s] root mean square speed below which cloth is at rest
PIXELS = 256  # a side, of height fields


@dataclass(frozen=True)
class Effort:
    """A step and the ``effort`` of ``StepSettings``."""

    step: float  # [s]
    effort: Literal["converged", "interactive"] | int

    @property
    def label(self) -> str:
        """For tables and pictures."""
        return f"{1e3 * self.step:g} ms, {self.effort}"

    def of(self, scene: Scene) -> Scene:
        """The scene at this effort."""
        return scene.with_(step=self.step, settings=StepSettings(effort=self.effort))


@dataclass(frozen=True, eq=False)
class ClothMeasures:
    """Cloth at an instant."""

    x: Positions  # (n,3) [m]
    bodies: tuple[Positions, ...]  # [m]
    kinetic: float  # [J]
    gravity: float  # [J] potential of weight
    membrane: float  # [J]


@dataclass(frozen=True, eq=False)
class Trace:
    """What a run went through."""

    effort: Effort
    iterations: int  # of Newton
    cpu: float  # [s]
    halved: int  # steps that failed, and were taken as two
    t: Floats  # (k,) [s]
    kinetic: Floats  # (k,) [J]
    impact: ClothMeasures
    end: ClothMeasures
    rest: float  # [s] after which it is at rest; infinite: it never is
    crossing: int  # pairs of faces that intersect at the two looks


def run(case: TimedScene, effort: Effort, n: int, seed: int) -> Trace:
    """A case from one start; CPU seconds are those of its steps.

    Raises:
        SimulationError: a step that fails, however small.
    """
    scene = effort.of(case.make(n, seed))
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory, per_look = stepper.init(model, state), round(LOOK / effort.step)
    kinetic, looks = [_kinetic(model, state)], {}
    iterations = halved = crossing = 0
    cpu = 0.0
    for k in range(1, round(case.seconds / LOOK) + 1):
        clock = time.process_time()
        for _ in range(per_look):
            parts = _advance(model, stepper, state, memory, effort.step)
            state, memory = parts[-1].state, parts[-1].memory
            iterations += sum(p.report.iterations for p in parts)
            halved += len(parts) - 1
        cpu += time.process_time() - clock
        kinetic.append(_kinetic(model, state))
        if k in (round(case.impact / LOOK), round(case.seconds / LOOK)):
            looks[k] = _look(scene, state, kinetic[-1], parts[-1].report)
            assert model.contact is not None
            crossing += len(model.contact.crossings(state.x, state.t))
    t: Floats = LOOK * np.arange(len(kinetic), dtype=np.float64)
    energy = np.array(kinetic)
    first, last = looks.values()
    rest = rest_after(t, energy, float(model.mass.sum()))
    return Trace(effort, iterations, cpu, halved, t, energy, first, last, rest, crossing)


def _advance(
    model: Model, stepper: Stepper, state: State, memory: Memory, dt: float
) -> list[TakenStep]:
    try:
        return advance(stepper, model, state, memory, dt)
    except StepFailed as failed:
        outcome = failed.report.outcome
        t = failed.state.t
        raise SimulationError(
            f"step at t = {t:.6g} s", got=outcome.name, hint=outcome.advice
        ) from None


def _kinetic(model: Model, state: State) -> float:
    return 0.5 * float(np.sum(model.mass[:, None] * state.v**2))


def _look(scene: Scene, state: State, kinetic: float, report: StepReport) -> ClothMeasures:
    membrane = sum(
        value
        for name, value in report.terms.items()
        if name.startswith("membrane") and "damping" not in name
    )
    bodies = tuple(body.at(state.t) for body in scene.bodies)
    return ClothMeasures(state.x, bodies, kinetic, report.terms["gravity"], membrane)


def rest_after(t: Floats, kinetic: Floats, mass: float) -> float:
    """[s] at which the cloth is slower than ``REST`` for good; infinite where it never is."""
    moving = np.flatnonzero(np.sqrt(2 * kinetic / mass) > REST)
    if len(moving) == 0:
        return 0.0
    return float(t[moving[-1] + 1]) if moving[-1] + 1 < len(t) else float("inf")


class Apart(NamedTuple):
    """How far two shapes are apart, the first relative to the second."""

    vertices: float  # [m] mean distance of vertices: of chaotic motion, mostly chance
    heights: float  # [m] mean distance of their surfaces, seen along an axis, where both are
    outline: float  # part of the second's silhouette by which silhouettes differ


def motion_apart(run: Trace, other: Trace) -> float:
    """Mean difference of kinetic energies over the mean of the second's: 1 of cloth that halts in
    the air.
    """
    return float(np.abs(run.kinetic - other.kinetic).sum() / other.kinetic.sum())


def apart(x: Positions, other: Positions, faces: Faces, axis: int) -> Apart:
    """Distances of shapes (n,3) [m], seen along an axis."""
    low = np.minimum(x.min(0), other.min(0))
    size = float(np.max(np.maximum(x.max(0), other.max(0)) - low))
    (a, seen_a), (b, seen_b) = (heights(y, faces, axis, low, size) for y in (x, other))
    both = seen_a & seen_b
    return Apart(
        float(np.linalg.norm(x - other, axis=1).mean()),
        float(np.abs(a - b)[both].mean()) if both.any() else float("inf"),
        float((seen_a ^ seen_b).sum() / seen_b.sum()),
    )


def heights(
    x: Positions, faces: Faces, axis: int, low: Floats, size: float
) -> tuple[Floats, Bools]:
    """(p,p) [m] of the surface that is seen along an axis from its positive end, and where there is
    one, in a window of ``size`` [m] from its corner ``low`` (3,) [m].
    """
    across, down = (k for k in range(3) if k != axis)
    scaled = (x - low) * ((PIXELS - 1) / size)
    points = np.stack([scaled[:, across], scaled[:, down], x[:, axis] - low[axis] + size], axis=1)
    seen = DepthBuffer.of(PIXELS, PIXELS)
    rasterize(points, faces, kernel.array(np.array(faces), wp.int32), seen)
    covered: Bools = np.asarray(kernel.numpy(seen.face)) >= 0
    height: Floats = np.array(kernel.numpy(seen.nearness), dtype=np.float64) + (low[axis] - size)
    return height, covered
