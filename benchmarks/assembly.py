"""Gradient and Hessian at 40 000 vertices, on one thread and on all."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import BenchMeasure, at_least, at_most, best_time, info
from weft import kernel
from weft.cloth.create import sheet
from weft.integrators.assembly import Assembly
from weft.kernel import WarpArray, vec3
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.newton.psd import Psd

SIDE = 200  # vertices


def draped(side: int = SIDE, fabric: Any = "cotton") -> tuple[Assembly, WarpArray]:
    """The assembly of a square sheet and positions with waves, so that nothing is at rest."""
    cloth = sheet(side, side, fabric=fabric)
    scene = Scene(cloth, damping=0.0)
    x = np.array(cloth.vertices)
    x[:, 1] += 0.03 * np.sin(25 * x[:, 0]) * np.cos(19 * x[:, 2])
    return prepare(scene).model.assembly, kernel.array(x, vec3)


def assembly() -> Iterator[BenchMeasure]:
    """Times on all threads, and how much faster that is than on one."""
    system, x = draped()
    g = kernel.zeros(system.n, vec3)

    def gradient() -> None:
        g.zero_()
        system.add_gradient(x, g)

    def hessian() -> None:
        system.hessian(x, Psd.PROJECTED)

    threads = kernel.threads()
    one, many = [np.inf, np.inf], [np.inf, np.inf]
    for _ in range(4):  # by turns: the machine's mood falls on both
        for count, best in ((1, one), (threads, many)):
            kernel.configure(threads=count)
            best[:] = [min(b, best_time(f)) for b, f in zip(best, (gradient, hessian))]
    yield at_most("assembly/gradient at 40k", 1e3 * many[0], "ms", 10.0)
    yield at_most("assembly/hessian at 40k", 1e3 * many[1], "ms", 35.0)
    yield info("assembly/threads", threads, "")
    yield at_least("assembly/speed-up of the gradient", one[0] / many[0], "x one thread", 1.6)
    yield at_least("assembly/speed-up of the hessian", one[1] / many[1], "x one thread", 1.6)
