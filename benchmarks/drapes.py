"""The scenes of ``python -m benchmarks contact-drape``, and how a run of one is measured.

Every run has a process of its own, so that its peak of memory is its own too.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import weft
from benchmarks.programs import run_program
from weft import kernel
from weft.cloth.create import join, sheet
from weft.contact import capsule, plate
from weft.contact.settings import SelfContact
from weft.integrators.base import StepSettings
from weft.scene.build import load_scene
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

EFFORTS = ("converged", "interactive")
STEP = 0.02  # [s] of converged steps; interactive ones are shorter by themselves
EFFORT = "integrator.backward_euler.effort"
FABRICS = ("cotton", "silk", "felt", "linen", "denim")
LAYERS, GAP, MOVED, TURNED = 50, 2e-3, 0.01, 5.0  # number, [m], [m], [degrees] of the layers
WARM_UP = 9, 0.24  # vertices a side and [s] of a sheet that loads every kernel


@dataclass(frozen=True)
class Spent:
    """What a run took."""

    seconds: float  # [s] of cloth
    steps: int
    wall: float  # [s]
    cpu: float  # [s] of the processor, all threads
    iterations: int
    phases: dict[str, float]  # [s] of wall time: the processor's takes long to ask for; not all
    vertices: int
    contacts: int  # most of them in a step
    crossings: int  # faces that intersect at the end
    failed: int  # steps, halved and solved in parts
    peak: float  # [bytes] of the process; 0 where the system does not say


def demo(side: int, effort: str) -> Scene:
    """The scene of ``weft demo`` when it was 41 x 41 vertices, with ``side`` x ``side``."""
    path = Path(weft.__file__).parent / "scenes" / "drape.yaml"
    sizes = [f"cloth.sheet.{n}={side}" for n in ("nx", "ny")]
    return load_scene(path, [*sizes, f"step={STEP}", f"{EFFORT}={effort}"]).scene


def pile(side: int, effort: str = "converged") -> Scene:
    """Ten sheets of several fabrics above a floor."""
    sheets = [
        sheet(side, side, 0.4, 0.4, fabric=FABRICS[k % 5]).move(
            (0.01 * (k * 7 % 5 - 2), 0.02 + 0.03 * k, 0.01 * (k * 3 % 5 - 2)), (0, k * 37 % 90, 0)
        )
        for k in range(10)
    ]
    contact = SelfContact(0.05 / side, friction=0.3)
    return Scene(
        join(sheets),
        bodies=[plate(1.2, 1.2)],
        contact=contact,
        step=STEP,
        settings=settings(effort),
    )


def layers(side: int, effort: str, number: int = LAYERS) -> Scene:
    """Sheets in a stack, a gap and a half apart, just above a level cylinder.

    As in figure 1 of Chen et al. (2025), in size; each is turned and moved a little.
    """
    rng = np.random.default_rng(0)
    sheets = [
        sheet(side, side, 0.7, 0.7, fabric="cotton").move(
            (float(rng.uniform(-MOVED, MOVED)), 0.1 + (2 + 1.5 * k) * GAP, 0.0),
            (0, float(rng.uniform(-TURNED, TURNED)), 0),
        )
        for k in range(number)
    ]
    rod = capsule(0.1, 1.0, 0.02).move((0.0, 0.0, 0.0), rotation=(90.0, 0.0, 0.0))
    return Scene(
        join(sheets),
        bodies=[rod],
        contact=SelfContact(GAP, friction=0.3),
        step=STEP,
        settings=settings(effort),
    )


def settings(effort: str) -> StepSettings:
    """Of this effort."""
    return StepSettings(effort="interactive" if effort == "interactive" else "converged")


@dataclass(frozen=True)
class DrapeScene:
    """A scene that is timed.

    Args:
        title: for the table.
        make: the scene for an effort.
        seconds: [s] of cloth, all of it.
        part: [s] of cloth that are simulated where not all of it is asked for.
        per: [s] of cloth that its times are of; None: a step.
        goals: [s] for an effort; efforts without one are not run.
        threads: that it may use; None: all. The goal is one of processor time with one thread, of
            wall time else.
        big: whether it is left out where only quick ones are asked for.
        memory: [GiB] that it may take.
    """

    title: str
    make: Callable[[str], Scene]
    seconds: float
    part: float
    per: float | None
    goals: dict[str, float] = field(default_factory=dict)
    threads: int | None = None
    big: bool = True
    memory: float | None = None


DRAPES = {
    "demo": DrapeScene(
        "41 x 41 on sphere and floor",
        partial(demo, 41),
        1.6,
        1.6,
        1.0,
        {"converged": 5.0, "interactive": 2.0},
        threads=1,
        big=False,
    ),
    "demo-100": DrapeScene(
        "100 x 100 on sphere and floor",
        partial(demo, 100),
        1.6,
        0.6,
        STEP,
        {"converged": 0.3, "interactive": 0.12},
    ),
    "demo-200": DrapeScene(
        "200 x 200 on sphere and floor",
        partial(demo, 200),
        1.6,
        0.3,
        STEP,
        {"converged": 1.5, "interactive": 0.8},
        memory=3.0,
    ),
    "pile": DrapeScene(
        "pile of ten sheets 50 x 50",
        partial(pile, 50),
        2.0,
        0.5,
        2.0,
        {"converged": 150.0},
    ),
    "layers": DrapeScene(
        "50 layers of 70 x 70 on a cylinder",
        partial(layers, 70),
        0.5,
        0.12,
        None,
        {"interactive": 4.0},
        memory=12.0,
    ),
}


def run(drape: DrapeScene, effort: str, seconds: float) -> Spent:
    """Simulate a scene from its start, in this process."""
    scene = drape.make(effort)
    warm = demo(WARM_UP[0], effort)
    _steps(warm, WARM_UP[1])
    return _steps(scene, seconds)


def _steps(scene: Scene, seconds: float) -> Spent:
    """Steps of a scene; those that do not converge are halved, as a simulation does."""
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory, phases = stepper.init(model, state), dict[str, float]()
    steps = max(1, round(seconds / scene.step))
    iterations, contacts, failed = 0, 0, 0
    left = [scene.step] * steps
    clock, wall = time.process_time(), time.perf_counter()
    while left:
        dt = left.pop()
        state, memory, report = stepper.step(model, state, memory, dt)
        iterations += report.iterations
        contacts = max(contacts, int(report.contact.get("count", 0)))
        for name, spent in report.phases.items():
            phases[name] = phases.get(name, 0.0) + spent
        if not report.outcome.ok:
            failed += 1
            if dt < scene.step / 200:
                raise RuntimeError(f"no step converges: {report.outcome}")
            left += [dt / 2, dt / 2]
    wall, clock = time.perf_counter() - wall, time.process_time() - clock
    crossings = -1 if model.contact is None else len(model.contact.crossings(state.x, state.t))
    return Spent(
        steps * scene.step,
        steps,
        wall,
        clock,
        iterations,
        phases,
        len(state.x),
        contacts,
        crossings,
        failed,
        _peak(),
    )


def _peak() -> float:
    """[bytes] most memory that this process had; 0: the system does not say."""
    if not sys.platform.startswith("linux"):
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def apart(name: str, effort: str, seconds: float) -> Spent:
    """``run`` in a process of its own, on the same device and as many threads.

    Raises:
        RuntimeError: it failed, with the last line that it said.
    """
    threads = DRAPES[name].threads or kernel.threads()
    asked = json.dumps([name, effort, seconds, kernel.device(), threads])
    env = {**os.environ, **{f"{n}_NUM_THREADS": str(threads) for n in ("OMP", "MKL")}}
    program = "from benchmarks.drapes import answer; answer()"
    done = run_program(program, asked, env=env, check=False)
    if done.returncode:
        said: Sequence[str] = done.stderr.strip().splitlines() or ["nothing said"]
        raise RuntimeError(f"{name}, {effort}: {said[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return Spent(**found)


def answer() -> None:
    """What ``apart`` asks for on the command line, to standard output."""
    name, effort, seconds, device, threads = json.loads(sys.argv[1])
    kernel.configure(device=device, threads=threads)
    found = run(DRAPES[name], effort, seconds)
    assert math.isfinite(found.cpu)
    sys.stdout.write(json.dumps(asdict(found)) + "\n")
