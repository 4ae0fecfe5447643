"""Multigrid on a smooth load: how its cost and iterations grow with size."""

import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import warp as wp

from weft import kernel
from weft.bench.assembly import draped
from weft.bench.measure import Measure, at_most, best_time, info
from weft.kernel import Scalar, vec3
from weft.laws.base import Psd
from weft.solve.block_csr import BlockCsr, close_rows
from weft.solve.multigrid import Multigrid

STEP = 0.02  # [s]
SIDES = (66, 200, 500)  # vertices


def multigrid() -> Iterator[Measure]:
    """Refresh, and a solve to 1e-4 in the energy norm, of a pinned sheet under its weight."""
    counts = []
    for side in SIDES:
        A, b = system(side)
        clock = time.perf_counter()
        prepared = Multigrid().prepare(A)
        setup = time.perf_counter() - clock
        refresh = best_time(partial(Multigrid().prepare, A, prepared), 5)
        solution = prepared.solve(b, 1e-4)
        solve = best_time(partial(prepared.solve, b, 1e-4), 3)
        label = f"multigrid/{side * side} vertices"
        counts.append(solution.iterations)
        if side == 200:
            yield at_most(f"{label}, refresh", 1e3 * refresh, "ms", 50.0)
        else:
            yield info(f"{label}, refresh", 1e3 * refresh, "ms")
        yield info(f"{label}, first set-up", 1e3 * setup, "ms")
        yield info(f"{label}, solve to 1e-4", 1e3 * solve, "ms")
        yield info(f"{label}, iterations", solution.iterations, "")
    yield info("multigrid/growth of iterations", counts[-1] / counts[0], "x")


def system(side: int) -> tuple[BlockCsr, kernel.WarpArray]:
    """Matrix of an implicit step, and its weight as right-hand side; two corners pinned."""
    assembly, x = draped(side)
    A = assembly.hessian(x, Psd.PROJECTED)
    p = A.pattern
    fixed = np.zeros(p.n, dtype=np.int32)
    fixed[[p.n - 1, p.n - side]] = 1
    shift = np.where(fixed, 0.0, assembly.mass / STEP**2)
    rows = (p.device_row_start, p.device_column, p.device_diagonal)
    kernel.launch(
        close_rows, p.n, *rows, kernel.array(shift, Scalar), kernel.array(fixed, wp.int32), A.values
    )
    b = np.zeros((p.n, 3))
    b[:, 1] = -9.81 * np.where(fixed, 0.0, assembly.mass)
    return A, kernel.array(b, vec3)
