"""Splines: the hanging test of Meng et al. (2025) beside triangles of comparable quality, in the
same run and to the same tolerance; what the reduced rule saves.
"""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.measure import BenchMeasure, at_least, at_most, best_time, info
from studies.meng import STEP, SplineGrid, scene
from weft import kernel
from weft.contact.settings import SelfContact
from weft.kernel import vec3
from weft.scene.prepare import prepare
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr

PAIRS = ((75, 115), (100, 175), (125, 200))  # points a side, splines and triangles
GAP, TOUCHING = 0.002, 15  # [m], steps with contact, before folds close
STEPS = 40  # 0.4 s: the corners move for a quarter of it


def hanging() -> Iterator[BenchMeasure]:
    """Seconds a step of FBW1, and its ratio to triangles."""
    ratios = []
    for n, other in PAIRS:
        seconds = {}
        for grid in (SplineGrid("spline", n), SplineGrid("triangles", other)):
            seconds[grid.kind], iterations = run_steps(grid, STEPS)
            name = f"spline/hanging, {grid.kind} {grid.n} x {grid.n}"
            if grid == SplineGrid("spline", 100):
                yield at_most(name, seconds[grid.kind], "s a step", 1.0)
            else:
                yield info(name, seconds[grid.kind], "s a step")
            yield info(f"{name}, Newton iterations", iterations, "a step")
        ratios.append(seconds["triangles"] / seconds["spline"])
        yield info(f"spline/triangles {other} over splines {n}", ratios[-1], "x")
    yield at_least("spline/triangles over splines, mean", float(np.mean(ratios)), "x", 2.2)
    n, other = PAIRS[0]
    grids = (SplineGrid("spline", n), SplineGrid("triangles", other))
    spline, triangles = (run_steps(g, TOUCHING, SelfContact(gap=GAP))[0] for g in grids)
    yield info(f"spline/hanging with contact, spline {n} x {n}", spline, "s a step")
    yield info(f"spline/hanging with contact, triangles {other} over it", triangles / spline, "x")


def run_steps(
    grid: SplineGrid, steps: int, contact: SelfContact | None = None
) -> tuple[float, float]:
    """Mean seconds and Newton iterations of a step of the hanging test."""
    made = scene("hanging", grid, contact)
    ready = prepare(made)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    stepper.step(model, state, memory, STEP)  # loads the kernels
    times, iterations = [], []
    for _ in range(steps):
        clock = time.perf_counter()
        state, memory, report = stepper.step(model, state, memory, STEP)
        times.append(time.perf_counter() - clock)
        iterations.append(report.iterations)
        assert report.outcome.ok, report.outcome
    return float(np.mean(times)), float(np.mean(iterations))


def quadrature() -> Iterator[BenchMeasure]:
    """Assembly of the membrane's matrix, reduced against 3 x 3 points a span."""
    seconds = {}
    for rule in ("reduced", "alternating", "full"):
        made = scene("hanging", SplineGrid("spline", 100, rule))
        assembly = prepare(made).model.assembly
        A = BlockCsr.zeros(assembly.pattern)
        x = kernel.array(prepare(made).state.x, vec3)
        bound = assembly.bound[0]
        seconds[rule] = best_time(
            lambda bound=bound, x=x, A=A: bound.add_hessian(x, Psd.PROJECTED, A.begin())  # type: ignore[misc]
        )
        yield info(f"spline/membrane matrix, {rule} rule", 1e3 * seconds[rule], "ms")
    yield at_least(
        "spline/full over reduced assembly", seconds["full"] / seconds["reduced"], "x", 2.0
    )
