"""Multigrid on a smooth load: how its cost and iterations grow with size."""

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import warp as wp

from benchmarks.assembly import draped
from benchmarks.measure import BenchMeasure, at_most, best_time, info
from weft import kernel
from weft.bodies.motion.pins import Pin
from weft.cloth.create import sheet
from weft.energies.state import State
from weft.integrators.potential import Potential
from weft.kernel import Scalar, vec3
from weft.laws.baraff_witkin import BaraffWitkin
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.linear.multigrid.solver import Multigrid
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, add_diagonal, close

STEP = 0.02  # [s]
SIDES, MIDDLE = (66, 200, 500), 200  # vertices
OTHERS: dict[str, dict[str, Any]] = {
    "k = 1e5": {"fabric": {"preset": "freecloth", "stretch": "1e5 N/m", "shear": "1e4 N/m"}},
    "quasi-static": {"step": None},
    "cotton": {"fabric": "cotton"},
}


def multigrid() -> Iterator[BenchMeasure]:
    """Refresh, and a solve to 1e-4 in the energy norm, of a pinned sheet under a smooth load."""
    counts = {}
    for side in SIDES:
        A, b = system(side)
        clock = time.perf_counter()
        prepared = Multigrid().prepare(A)
        setup = time.perf_counter() - clock
        refresh = best_time(partial(Multigrid().prepare, A, prepared), 5)
        solution = prepared.solve(b, 1e-4)
        solve = best_time(partial(prepared.solve, b, 1e-4), 3)
        label = f"multigrid/{side * side} vertices"
        counts[side] = solution.iterations
        yield info(f"{label}, first set-up", 1e3 * setup, "ms")
        if side == MIDDLE:
            yield at_most(f"{label}, refresh", 1e3 * refresh, "ms", 50.0)
            yield at_most(f"{label}, solve to 1e-4", 1e3 * solve, "ms", 350.0)
        else:
            yield info(f"{label}, refresh", 1e3 * refresh, "ms")
            yield info(f"{label}, solve to 1e-4", 1e3 * solve, "ms")
        yield info(f"{label}, iterations", solution.iterations, "")
    yield at_most("multigrid/growth, 4k to 250k", counts[SIDES[-1]] / counts[SIDES[0]], "x", 1.5)
    for label, settings in OTHERS.items():
        A, b = system(MIDDLE, **settings)
        ratio = Multigrid().prepare(A).solve(b, 1e-4).iterations / counts[MIDDLE]
        if "fabric" in settings and settings["fabric"] == "cotton":
            yield info(f"multigrid/{label} over the first", ratio, "x iterations")
        else:
            yield at_most(f"multigrid/{label} over the first", ratio, "x iterations", 1.3)


def stretch() -> Iterator[BenchMeasure]:
    """One projected Newton iteration of Kim's (2020) stretch test at 40 000 vertices, the first
    one of figure 5: assembly, set-up and a solve to 1e-2, without inertia or gravity.
    """
    iteration = stretched(MIDDLE)
    count = iteration()
    yield at_most("stretch/newton iteration at 40k", best_time(iteration, 4), "s", 0.40)
    yield info("stretch/linear iterations", count, "")


def million() -> Iterator[BenchMeasure]:
    """The same, up to a million vertices: how its time grows, and the memory of it all."""
    times = []
    for side in (250, 500, 1000):
        clock = time.perf_counter()
        iteration = stretched(side)
        count = iteration()
        label = f"million/{side * side} vertices"
        yield info(f"{label}, mesh, maps, first iteration", time.perf_counter() - clock, "s")
        clock = time.perf_counter()
        iteration()
        times.append(time.perf_counter() - clock)
        yield info(f"{label}, one Newton iteration", times[-1], "s")
        yield info(f"{label}, linear iterations", count, "")
        del iteration
    slope = np.log(times[-1] / times[0]) / np.log(16)
    yield at_most("million/exponent of the time", slope, "", 1.15)
    if sys.platform.startswith("linux"):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        yield at_most("million/peak memory of the process", peak, "GiB", 12.0)


def stretched(side: int) -> Callable[[], int]:
    """A function that takes the first Newton iteration of the stretch test, and returns its linear
    iterations.
    """
    fabric: Any = {"preset": "freecloth", "bending": "4.8e-4 N*m"}  # k_theta = 1e-4
    cloth = sheet(side, side, fabric=fabric)
    x = np.array(cloth.vertices)
    held = np.asarray((np.abs(x[:, [0, 2]]) >= 0.44).all(1))
    x[:, 0] *= 1.3
    x += 1e-3 / side * np.random.default_rng(0).uniform(-1, 1, x.shape)  # so that it may buckle
    fixed, g = np.flatnonzero(held), kernel.zeros(len(x), vec3)
    pins = [Pin(fixed.astype(np.int32))]
    law = BaraffWitkin((100.0, 100.0), 100.0)
    model = prepare(Scene(cloth.with_points(x), pins, (0.0, 0.0, 0.0), law=law, damping=0.0)).model
    step = model.step(State.at_rest(x), 0.0, scale=1e4)  # 1/s: the floor of a search's safeguard
    phi = Potential(model, step)
    at, prepared = kernel.array(x, vec3), None

    def iteration() -> int:
        nonlocal prepared
        phi.gradient_at(at, g)
        prepared = Multigrid().prepare(phi.matrix_at(at), prepared)
        return prepared.solve(g, 1e-2).iterations

    return iteration


def system(
    side: int, fabric: Any = "freecloth", step: float | None = STEP
) -> tuple[BlockCsr, kernel.WarpArray]:
    """Matrix of an implicit step (None: of an equilibrium, with its edge pinned), and a smooth
    load of low frequency, the hardest kind; two corners pinned.
    """
    assembly, x = draped(side, fabric)
    A = assembly.hessian(x, Psd.PROJECTED)
    p = A.pattern
    fixed = np.zeros(p.n, dtype=np.int32)
    fixed[[p.n - 1, p.n - side]] = 1
    if step is None:
        fixed[p.n - side :] = 1
    shift = np.where(fixed, 0.0, 0.0 if step is None else assembly.mass / step**2)
    add_diagonal(A, kernel.array(shift, Scalar))
    close(A, kernel.array(fixed, wp.int32))
    X = kernel.numpy(x)
    waves = [np.cos(3 * X[:, 0]), np.sin(2 * X[:, 2] + 1), np.cos(2 * X[:, 0] + X[:, 2])]
    b = np.where(fixed, 0.0, 9.81 * assembly.mass)[:, None] * np.stack(waves, axis=1)
    return A, kernel.array(b, vec3)
