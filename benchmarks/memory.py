"""Resident memory of assembly and state at 40 000 vertices, measured in a process of its own.

Memory that was freed while building maps is first given back to the system (glibc keeps it).
"""

import sys
from collections.abc import Iterator

from benchmarks.measure import BenchMeasure, at_most
from benchmarks.programs import run_program

_PROGRAM = """
import ctypes, gc, os
from benchmarks.assembly import SIDE, draped
from weft import kernel
from weft.kernel import vec3
from weft.solve.newton.psd import Psd

def resident():
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def use(side):
    system, x = draped(side)
    g = kernel.zeros(system.n, vec3)
    v = kernel.zeros(system.n, vec3)
    system.add_gradient(x, g)
    system.hessian(x, Psd.PROJECTED)
    system.value(x)
    return system, x, g, v

use(10)
before = resident()
kept = use(SIDE)
print((resident() - before) / SIDE**2)
"""


def memory() -> Iterator[BenchMeasure]:
    """Growth of the process per vertex (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    result = run_program(_PROGRAM)
    yield at_most("memory/assembly and state at 40k", float(result.stdout), "B / vertex", 2500.0)
