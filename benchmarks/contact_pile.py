"""A pile of ten sheets: how time grows with contacts. ``contact_drape`` has the other scenes."""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks import drapes
from benchmarks.measure import BenchMeasure, at_most, info
from weft.scene.prepare import prepare

PILE = 2.0  # [s]


def pile() -> Iterator[BenchMeasure]:
    """Ten sheets in a pile, of 13, 25 and 50 vertices a side: seconds a step against contacts."""
    counts, seconds = [], []
    for side in (13, 25, 50):
        count, spent, finished = _pile(side, PILE if side == 50 else 0.6)
        counts.append(count)
        seconds.append(spent)
        yield info(f"contact-pile/{side} x {side}, contacts", count, "")
        yield info(f"contact-pile/{side} x {side}, step", 1e3 * spent, "ms")
    yield at_most("contact-pile/steps that failed", float(not finished), "", 0.0)
    exponent = np.polyfit(np.log(counts[-2:]), np.log(seconds[-2:]), 1)[0]
    yield at_most("contact-pile/exponent of time in contacts", float(exponent), "", 1.1)


def _pile(side: int, length: float) -> tuple[float, float, bool]:
    """Contacts and seconds a step, on average over steps in which the sheets touch, and whether
    the run finished.
    """
    scene = drapes.pile(side)
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    counts: list[float] = []
    spent: list[float] = []
    for _ in range(round(length / 0.02)):
        clock = time.perf_counter()
        state, memory, report = stepper.step(model, state, memory, 0.02)
        if not report.outcome.ok:
            return float(np.mean(counts or [1])), float(np.mean(spent or [1])), False
        if report.contact["count"] > 10 * side:
            counts.append(report.contact["count"])
            spent.append(time.perf_counter() - clock)
    return float(np.mean(counts)), float(np.mean(spent)), True
