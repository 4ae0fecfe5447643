"""What derivatives cost, beside the run itself in the same process."""

from collections.abc import Iterator

import numpy as np

from weft.adjoint.adjoint import Adjoint
from weft.adjoint.forward import Forward, Kept
from weft.adjoint.losses import Mean
from weft.bench.measure import Measure, at_most, info
from weft.contact.contact import SelfContact
from weft.contact.shapes import plate
from weft.integrators.base import StepSettings
from weft.pins import Pin
from weft.scene.scene import Scene
from weft.sources import sheet

SIDE, FRAMES, FPS = 41, 10, 50.0
PARAMETERS = ("fabric.density", "fabric.stretch_warp", "fabric.shear", "fabric.bending_warp",
              "fabric.damping", "positions")  # fmt: skip
LARGE, STEPS, ROOM = 10_000, 200, 1.0  # vertices, steps, [GiB]


def adjoint() -> Iterator[Measure]:
    """A sheet that swings, and one that lands on a table: time over that of the run."""
    for name, scene, most in (("swinging", swinging(), 1.5), ("landing", landing(), 2.0)):
        ratio, forward = cost(scene)
        yield info(f"adjoint/{name}, {SIDE**2} vertices, run", forward, "s")
        yield at_most(f"adjoint/{name}, over the run", ratio, "x", most)
    size, n = states()
    whole = size / n * LARGE * STEPS / 2**30
    yield info("adjoint/states of a step", size / n, "B / vertex")
    yield at_most(f"adjoint/states of {LARGE} vertices x {STEPS} steps", whole, "GiB", ROOM)


def swinging() -> Scene:
    """Held by two corners."""
    cloth = sheet(SIDE, SIDE, fabric="cotton")
    settings = StepSettings(tolerance=1e-6)
    return Scene(cloth, [Pin(cloth.corners("top"))], step=1 / FPS, settings=settings)


def landing() -> Scene:
    """Falls flat onto a table, with friction."""
    cloth = sheet(SIDE, SIDE, fabric="cotton").moved((0, 0.01, 0), (2, 0, 0))
    contact, settings = SelfContact(2e-3, friction=0.3), StepSettings(tolerance=1e-6)
    table = plate(0.7, 0.7, 0.1, "table").moved((0.0, -0.02, 0.0))
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
    kept = Kept(Forward(scene, 2, FPS), 1e9)
    sizes = [kept.bytes for _ in kept.run()]
    return float(np.diff(sizes)[-1]), len(scene.model().mass)
