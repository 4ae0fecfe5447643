"""One second of Freecloth's scene (Pritchard 2012): 66 x 66 vertices, two corners pinned, h = 0.02
s.

Freecloth took 30 to 40 minutes in 2003, and its C++ takes 10.6 s (322 PCG iterations a step) on one
core of a machine like those the targets are for. ``freecloth-1998`` takes its own steps, with its
own parameters and stop rule; the others solve every step of backward Euler to the Newton tolerance,
undamped.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.measure import BenchMeasure, at_most, info
from weft.bodies.motion.pins import Pin
from weft.cloth.create import sheet
from weft.energies.elastic.condition import ConditionForm
from weft.integrators.baraff_witkin_1998 import Settings1998
from weft.integrators.base import StepSettings
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.linear.direct import have_pardiso
from weft.solve.linear.solver import Stop

SIDE, STEP, STEPS = 66, 0.02, 50
FREECLOTH = 10.6  # [s] its C++, as above


def direct() -> Iterator[BenchMeasure]:
    """With PARDISO where it is installed, with SuperLU elsewhere."""
    solver = "pardiso" if have_pardiso() else "splu"
    target = 5.0 if solver == "pardiso" else 25.0
    yield from _newton("freecloth-direct", solver, target)


def multigrid() -> Iterator[BenchMeasure]:
    """With multigrid, which needs nothing installed and scales."""
    yield from _newton("freecloth-multigrid", "multigrid", 4.0)


def pcg() -> Iterator[BenchMeasure]:
    """With block-Jacobi conjugate gradients: the baseline."""
    yield from _newton("freecloth-pcg", "pcg", 25.0)


def of_1998() -> Iterator[BenchMeasure]:
    """Baraff & Witkin's step, modified PCG with two preconditioners, at two tolerances."""
    for solver, tolerance, target in (
        ("pcg", 1e-2, 5.0),
        ("multigrid", 1e-2, 1.5),
        ("pcg", 1e-8, None),
        ("multigrid", 1e-8, None),
    ):
        total = run_1998(solver, tolerance)
        name = f"freecloth-1998/{tolerance:g} {solver}"
        yield _seconds(f"{name}, seconds", total.seconds, target)
        yield info(f"{name}, iterations", total.linear / STEPS, "per step")
        yield info(f"{name}, indefinite", total.indefinite, "of 50 steps")


@dataclass
class Total:
    """Sums over the steps."""

    seconds: float = 0.0  # [s] of wall time
    cpu: float = 0.0  # [s] of the processor, all threads
    newton: int = 0
    linear: int = 0
    indefinite: int = 0
    converged: int = 0


def run_1998(solver: str, tolerance: float) -> Total:
    """One second with Table 1: alpha = a^(3/4), damping 0.2, r.P^-1 r as stop rule."""
    settings = Settings1998(tolerance=tolerance, linear=solver, stop=Stop.PRECONDITIONED)
    return _run(
        integrator="baraff_witkin_1998",
        settings=settings,
        conditions=ConditionForm(p=0.75, bend=(1e-5, 1e-5)),
    )


def hanging(solver: str) -> Total:
    """One second, every step solved to the Newton tolerance."""
    return _run(damping=0.0, settings=StepSettings(linear=solver))


def _newton(name: str, solver: str, target: float | None) -> Iterator[BenchMeasure]:
    total = hanging(solver)
    yield _seconds(f"{name}/seconds ({solver})", total.seconds, target)
    yield info(f"{name}/newton iterations", total.newton, "per second")
    yield info(f"{name}/linear iterations", total.linear, "per second")
    all_ok = total.converged == STEPS
    yield BenchMeasure(f"{name}/converged steps", total.converged, "of 50", STEPS, all_ok)


def _seconds(label: str, seconds: float, target: float | None) -> BenchMeasure:
    unit = "s / s cloth"
    return info(label, seconds, unit) if target is None else at_most(label, seconds, unit, target)


def _run(**settings: object) -> Total:
    cloth = sheet(SIDE, SIDE, width=1.0, height=1.0, fabric="freecloth")
    scene = Scene(cloth, [Pin(cloth.corners("top"))], step=STEP).with_(**settings)
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory, total = stepper.init(model, state), Total()
    stepper.step(model, state, memory, STEP)  # loads the kernels
    clock, processor = time.perf_counter(), time.process_time()
    for _ in range(STEPS):
        state, memory, report = stepper.step(model, state, memory, STEP)
        total.newton += report.iterations
        total.linear += report.linear_iterations
        total.indefinite += report.indefinite
        total.converged += report.outcome.ok
    total.seconds = time.perf_counter() - clock
    total.cpu = time.process_time() - processor
    return total
