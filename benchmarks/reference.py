"""How fast this machine is at this moment: a fixed piece of work, none of it ours.

A sparse factorization (SciPy's SuperLU) and a pass over arrays that no cache holds (NumPy), on one
thread. Times of benchmarks divided by the machine's factor can be compared between machines, and
between hours on one machine.
"""

import statistics
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
from threadpoolctl import threadpool_limits

# [s] of processor time of ``work``: median of calls on two virtual cores of an AMD EPYC (Zen 5),
# 2.6 GHz, with SciPy 1.17 and NumPy 2.4. A choice, as good as any other; the factor there is 1.
REFERENCE = 0.165
SIDE, LENGTH, PASSES = 200, 2_000_000, 4
BUSY = 1.25  # wall time over processor time, from which on others are at work on the machine


@dataclass(frozen=True)
class Machine:
    """What the fixed work took."""

    cpu: float  # [s] of processor time, a median
    wall: float  # [s]

    @property
    def factor(self) -> float:
        """How many times longer than on the reference machine."""
        return self.cpu / REFERENCE

    @property
    def is_busy(self) -> bool:
        """Whether others are at work, so that wall times say little."""
        return self.wall > BUSY * self.cpu

    def __str__(self) -> str:
        """A line for people."""
        busy = "; others are at work on it: wall times say little" if self.is_busy else ""
        return (
            f"machine: {self.factor:.2f} x the time of the reference machine for a fixed "
            f"factorization and pass ({self.cpu:.3f} s; {REFERENCE:g} s there){busy}"
        )


def work() -> float:
    """The fixed work; its sum, so that nothing can be left out."""
    one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(SIDE, SIDE))
    same = sp.identity(SIDE)
    laplacian = sp.kron(one, same) + sp.kron(same, one) + 0.01 * sp.identity(SIDE * SIDE)
    solution = splu(laplacian.tocsc()).solve(np.ones(SIDE * SIDE))
    total, x = float(solution.sum()), np.linspace(0.0, 1.0, LENGTH)
    for _ in range(PASSES):
        y = np.sqrt(x * x + 1.0) - x
        total += float(y @ x)
    return total


def machine(repeats: int = 3) -> Machine:
    """The machine now: medians of several times the fixed work."""
    cpu, wall = [], []
    with threadpool_limits(limits=1):
        work()  # pages and libraries
        for _ in range(repeats):
            clock, start = time.process_time(), time.perf_counter()
            work()
            cpu.append(time.process_time() - clock)
            wall.append(time.perf_counter() - start)
    return Machine(statistics.median(cpu), statistics.median(wall))
