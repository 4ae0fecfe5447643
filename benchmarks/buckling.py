"""A curtain of 20 000 vertices that buckles at once: Choi & Ko's step, and how its linear systems
compare with those of Baraff-Witkin's law on the same mesh.
"""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.measure import BenchMeasure, at_most, info
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.cloth.cloth import Cloth
from weft.cloth.create import triangulate
from weft.integrators.semi_implicit_bdf2 import SemiImplicitSettings
from weft.scene.law import law_of_fabric
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

STEP, STEPS, SIZE = 1 / 60, 30, 0.0083  # [s], number, [m]


def curtain() -> Iterator[BenchMeasure]:
    """Half a second of a curtain that is gathered, and a step in it."""
    clock = time.perf_counter()
    outline = [(0.0, 0.0), (1.2, 0.0), (1.2, 1.0), (0.0, 1.0)]
    cloth = triangulate(outline, size=SIZE, fabric="cotton").move((0, 0, 0), (90, 0, 0))
    yield info("buckling/triangulation", time.perf_counter() - clock, f"s, {cloth.n_vertices} pts")
    times, iterations = {}, {}
    for name in ("immediate_buckling", "baraff_witkin"):
        times[name], iterations[name] = _run(cloth, name)
    mean = float(np.mean(times["immediate_buckling"]))
    yield at_most("buckling/one BDF2 step, mean of 30", mean, "s", 0.5)
    yield info("buckling/the slowest", float(np.max(times["immediate_buckling"])), "s")
    for name, count in iterations.items():
        yield info(f"buckling/linear iterations, {name}", float(np.mean(count)), "per step")
    ratio = np.mean(iterations["immediate_buckling"]) / np.mean(iterations["baraff_witkin"])
    yield at_most("buckling/linear iterations over Baraff-Witkin's", float(ratio), "x", 1.3)
    worst = max(a / b for a, b in zip(*iterations.values()))
    yield at_most("buckling/largest ratio of a step", worst, "x", 1.3)


def _run(cloth: Cloth, law: str) -> tuple[list[float], list[int]]:
    """Seconds and linear iterations of every step."""
    uv = cloth.mesh.vertex_uv
    assert uv is not None
    pins = []
    for u in np.linspace(0.0, 1.2, 5):
        i = int(np.argmin(((uv - [u, 1.0]) ** 2).sum(1)))
        move = (-0.35 * float(cloth.vertices[i, 0]), 0.0, 0.0)
        path = Path([Keyframe(0.0), Keyframe(1.0, move)], hold=True)
        pins.append(Pin(np.array([i], dtype=np.int32), path=path))
    scene = Scene(
        cloth,
        pins,
        law=law_of_fabric(cloth.fabric, law),
        step=STEP,
        integrator="bdf2_semi_implicit",
        settings=SemiImplicitSettings(linear="multigrid"),
    )
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    stepper.step(model, state, memory, STEP)  # loads the kernels
    times, iterations = [], []
    for _ in range(STEPS):
        clock = time.perf_counter()
        state, memory, report = stepper.step(model, state, memory, STEP)
        times.append(time.perf_counter() - clock)
        iterations.append(report.linear_iterations)
        assert report.outcome.ok, report.outcome
    return times, iterations
