"""What derivatives cost, beside the run itself in the same process."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import BenchMeasure, at_most, info
from benchmarks.programs import run_program
from weft.adjoint.adjoint import Adjoint
from weft.adjoint.losses import Mean
from weft.adjoint.recorded_run import RecordedRun, RunCheckpoints
from weft.bodies.motion.pins import Pin
from weft.bodies.shapes.primitives import plate
from weft.cloth.create import sheet
from weft.contact.settings import SelfContact
from weft.integrators.base import StepSettings
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

SIDE, FRAMES, FPS = 41, 10, 50.0
PARAMETERS = (
    "fabric.density",
    "fabric.stretch_warp",
    "fabric.shear",
    "fabric.bending_warp",
    "fabric.damping",
    "positions",
)
LARGE, STEPS, ROOM = 10_000, 200, 1.0  # vertices, steps, [GiB]
PER_FRAME = 10  # steps

# Steps alone first, so that what they take of memory and time is known; in a process of its own,
# whose largest size has not been another benchmark's.
_LARGE = """
import resource, time
from weft.adjoint.adjoint import Adjoint
from weft.adjoint.losses import Mean
from benchmarks.adjoint import FPS, LARGE, PARAMETERS, PER_FRAME, STEPS, swaying

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30

made = Adjoint(swaying(round(LARGE**0.5)), Mean(), PARAMETERS, frames=STEPS // PER_FRAME,
               fps=FPS / PER_FRAME)
place, _ = made.forward.step(made.forward.start())
clock = time.process_time()
place = made.forward.start()
for _ in range(STEPS):
    place, _ = made.forward.step(place)
run, before = time.process_time() - clock, peak()
clock = time.process_time()
report = made().report
both = time.process_time() - clock
print(run, both - run, before, peak(), report.stored / 2**30, report.steps, report.correction)
"""


def adjoint() -> Iterator[BenchMeasure]:
    """A sheet that swings, and one that lands on a table: time over that of the run."""
    for name, scene, most in (("swinging", swinging(), 1.5), ("landing", landing(), 2.0)):
        ratio, forward = cost(scene)
        yield info(f"adjoint/{name}, {SIDE**2} vertices, run", forward, "s")
        yield at_most(f"adjoint/{name}, over the run", ratio, "x", most)
    size, n = states()
    whole = size / n * LARGE * STEPS / 2**30
    yield info("adjoint/states of a step", size / n, "B / vertex")
    yield at_most(f"adjoint/states of {LARGE} vertices x {STEPS} steps", whole, "GiB", ROOM)


def large() -> Iterator[BenchMeasure]:
    """A sheet that sways, of 10 000 vertices and 200 steps, for real: two minutes or more."""
    found = run_program(_LARGE)
    run, back, before, after, kept, _, _ = (float(word) for word in found.stdout.split())
    name = f"adjoint-large/{LARGE} vertices x {STEPS} steps"
    yield info(f"{name}, run, processor time", run, "s")
    yield at_most(f"{name}, back over the run", back / run, "x", 1.5)
    yield info(f"{name}, states that are kept", kept, "GiB")
    yield info(f"{name}, largest size of the process: run", before, "GiB")
    yield at_most(f"{name}, more than the run", after - before, "GiB", ROOM)


def swinging(side: int = SIDE) -> Scene:
    """Held by two corners."""
    cloth = sheet(side, side, fabric="cotton")
    settings = StepSettings(tolerance=1e-6)
    return Scene(cloth, [Pin(cloth.corners("top"))], step=1 / FPS, settings=settings)


def swaying(side: int) -> Scene:
    """Hung by its upper border, with a push."""
    cloth = sheet(side, side, fabric="cotton").move((0, 0, 0), (90, 0, 0))
    pin, settings = Pin(cloth.border("top")), StepSettings(tolerance=1e-6)
    return Scene(cloth, [pin], step=1 / FPS, velocity=(0.0, 0.0, 0.3), settings=settings)


def landing() -> Scene:
    """Falls flat onto a table, with friction."""
    cloth = sheet(SIDE, SIDE, fabric="cotton").move((0, 0.01, 0), (2, 0, 0))
    contact, settings = SelfContact(2e-3, friction=0.3), StepSettings(tolerance=1e-6)
    table = plate(0.7, 0.7, 0.1, "table").move((0.0, -0.02, 0.0))
    return Scene(cloth, [], step=1 / FPS, settings=settings, contact=contact, bodies=[table])


def cost(scene: Scene) -> tuple[float, float]:
    """Time of the derivative over that of the run, the better of two; and [s] of the run."""
    made = Adjoint(scene, Mean(), PARAMETERS, frames=FRAMES, fps=FPS)
    ratios = []
    for _ in range(2):
        report = made().report
        ratios.append(report.backward / report.forward)
    return min(ratios), report.forward


def states() -> tuple[float, int]:
    """[B] of a step's state with contact, and its vertices."""
    scene = landing()
    kept = RunCheckpoints(RecordedRun(scene, 2, FPS), 1e9)
    sizes = [kept.bytes for _ in kept.run()]
    return float(np.diff(sizes)[-1]), len(prepare(scene).model.mass)
