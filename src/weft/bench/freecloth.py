"""One second of Freecloth's scene (Pritchard 2012): 66 x 66 vertices, two corners pinned, h = 0.02
s.

Freecloth took 30 to 40 minutes in 2003. Here every step is solved to the Newton tolerance.
"""

import time
from collections.abc import Iterator

from weft.bench.measure import Measure, at_most, info
from weft.cloth import sheet
from weft.integrators.base import StepSettings
from weft.pins import Pin
from weft.scene.scene import Scene
from weft.solve.direct import have_pardiso

STEP, STEPS = 0.02, 50


def direct() -> Iterator[Measure]:
    """With PARDISO where it is installed, with SuperLU elsewhere."""
    solver = "pardiso" if have_pardiso() else "splu"
    target = 5.0 if solver == "pardiso" else 25.0
    yield from _freecloth("freecloth-direct", solver, target)


def multigrid() -> Iterator[Measure]:
    """With multigrid, which needs nothing installed and scales."""
    yield from _freecloth("freecloth-multigrid", "multigrid", None)


def pcg() -> Iterator[Measure]:
    """With block-Jacobi conjugate gradients: the baseline."""
    yield from _freecloth("freecloth-pcg", "pcg", 25.0)


def _freecloth(name: str, solver: str, target: float | None) -> Iterator[Measure]:
    cloth = sheet(66, 66, width=1.0, height=1.0, fabric="freecloth")
    pins = [Pin(cloth.corners("top"))]
    scene = Scene(cloth, pins, step=STEP, settings=StepSettings(linear=solver))
    model, integrator, state = scene.model(), scene.stepper(), scene.state()
    memory = integrator.init(model, state)
    integrator.step(model, state, memory, STEP)  # loads the kernels
    newton = linear = converged = 0
    clock = time.perf_counter()
    for _ in range(STEPS):
        state, memory, report = integrator.step(model, state, memory, STEP)
        newton, linear = newton + report.iterations, linear + report.linear_iterations
        converged += report.outcome.ok
    seconds = time.perf_counter() - clock
    label = f"{name}/seconds ({solver})"
    if target is None:
        yield info(label, seconds, "s / s cloth")
    else:
        yield at_most(label, seconds, "s / s cloth", target)
    yield info(f"{name}/newton iterations", newton, "per second")
    yield info(f"{name}/linear iterations", linear, "per second")
    yield Measure(f"{name}/converged steps", converged, "of 50", STEPS, converged == STEPS)
