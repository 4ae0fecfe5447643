"""What wind and limits of strain cost, beside the same sheet without them in the same run."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import BenchMeasure, at_most, info
from weft.base.arrays import Floats
from weft.bodies.motion.pins import Pin
from weft.cloth.create import sheet
from weft.energies.air.gusts import Gusts
from weft.energies.air.wind import Wind
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

SIDE, STEP, ROUNDS = 66, 0.01, 3
FLYING, HANGING = 30, 60  # steps: of the flag; of the sheet, until it has swung down
LIMITS = {"limit": ["5 %", "8 %"], "limit_shear": "10 deg"}
GUSTY = Wind((5.0, 0.0, 1.0), gusts=Gusts(0.25, 0.5))


def forces() -> Iterator[BenchMeasure]:
    """A flag of 66 x 66 in gusts, and a sheet that hangs at limits.

    The flag's steps are of one linear solve: what is compared is the cost of wind. How many
    iterations a solved step takes follows the motion, and a sheet without wind has another one.
    """
    times = by_turns(FLYING, flag(None), flag(GUSTY))
    yield info("forces/flag without wind", 1e3 * times[0], "ms a step")
    yield info("forces/flag in gusts", 1e3 * times[1], "ms a step")
    yield at_most("forces/gusts over none", times[1] / times[0], "x", 1.2)
    times = by_turns(HANGING, hung({}), hung(LIMITS))
    yield info("forces/jersey without limits", 1e3 * times[0], "ms a step")
    yield info("forces/jersey with limits", 1e3 * times[1], "ms a step")
    yield at_most("forces/limits over none", times[1] / times[0], "x", 1.5)


def flag(wind: Wind | None) -> Scene:
    """A sheet beside its pole, with wind or without."""
    cloth = sheet(SIDE, SIDE, fabric="silk", pattern="alternating").move((0, 0, 0), (90, 0, 0))
    pins = [Pin(cloth.border("left"))]
    return Scene(cloth, pins, step=STEP, wind=wind, integrator="bdf2_semi_implicit")


def hung(limits: dict[str, Any]) -> Scene:
    """A sheet that hangs by two corners and stretches there by more than the limits."""
    cloth = sheet(SIDE, SIDE, fabric={"preset": "jersey", **limits}, pattern="alternating")
    return Scene(cloth, [Pin(cloth.corners("top"))], step=STEP)


def by_turns(steps: int, *scenes: Scene) -> list[float]:
    """[s] a step of each: every step's least time of several runs in turn, as noise only adds."""
    best = [np.full(steps, np.inf) for _ in scenes]
    for _ in range(ROUNDS):
        for times, scene in zip(best, scenes):
            np.minimum(times, seconds_of_steps(scene, steps), out=times)
    return [float(times.mean()) for times in best]


def seconds_of_steps(scene: Scene, steps: int) -> Floats:
    """(steps,) [s] from the start, without the first one."""
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory: Any = stepper.init(model, state)
    clocks = []
    for _ in range(steps + 1):
        state, memory, report = stepper.step(model, state, memory, scene.step)
        assert report.outcome.ok, report.outcome
        clocks.append(time.perf_counter())
    return np.diff(clocks)
