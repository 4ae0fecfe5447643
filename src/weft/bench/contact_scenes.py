"""Whole scenes with contact: a drape over a sphere by phase, and a pile of ten sheets."""

import time
from collections.abc import Iterator

import numpy as np

from weft.bench.measure import Measure, at_most, info
from weft.contact import plate, sphere
from weft.contact.contact import SelfContact
from weft.scene.scene import Scene
from weft.sources import joined, sheet

ELASTIC = ("elastic", "solve")  # phases that a step without contact has too
DRAPE = 2.0  # [s]
PILE = 2.0


def drape() -> Iterator[Measure]:
    """100 x 100 vertices over a sphere on a floor to rest, h = 1/50 s: milliseconds by phase."""
    cloth = sheet(100, 100, 1.0, 1.0, pattern="alternating").moved((0.02, 0.52, 0.01))
    ball = sphere(0.25, 0.05).moved((0, 0.25, 0))
    floor = plate(1.8, 1.8).moved((0, -2e-3, 0))
    contact = SelfContact(4e-3, friction=0.3)
    scene = Scene(cloth, bodies=[ball, floor], contact=contact, step=0.02)
    model, stepper, state = scene.model(), scene.stepper(), scene.state()
    memory, phases, iterations = stepper.init(model, state), dict[str, float](), 0
    steps, clock = round(DRAPE / 0.02), time.perf_counter()
    for _ in range(steps):
        state, memory, report = stepper.step(model, state, memory, 0.02)
        assert report.outcome.ok, report.outcome
        iterations += report.iterations
        for name, seconds in report.phases.items():
            phases[name] = phases.get(name, 0.0) + seconds
    yield info("contact-drape/step", 1e3 * (time.perf_counter() - clock) / steps, "ms")
    yield at_most("contact-drape/Newton iterations a step", iterations / steps, "", 12.0)
    for name, seconds in sorted(phases.items(), key=lambda item: -item[1]):
        yield info(f"contact-drape/{name}", 1e3 * seconds / steps, "ms")
    own = sum(s for name, s in phases.items() if name not in ELASTIC)
    base = sum(phases[name] for name in ELASTIC)
    yield at_most("contact-drape/contact over elastic and solve", own / base, "x", 1.0)
    crossing = len(model.contact.crossings(state.x, state.t)) if model.contact else -1
    yield at_most("contact-drape/intersections at the end", float(crossing), "", 0.0)


def pile() -> Iterator[Measure]:
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
    fabrics = ("cotton", "silk", "felt", "linen", "denim")
    sheets = [
        sheet(side, side, 0.4, 0.4, fabric=fabrics[k % 5]).moved(
            (0.01 * (k * 7 % 5 - 2), 0.02 + 0.03 * k, 0.01 * (k * 3 % 5 - 2)), (0, k * 37 % 90, 0)
        )
        for k in range(10)
    ]
    contact = SelfContact(0.05 / side, friction=0.3)
    scene = Scene(joined(sheets), bodies=[plate(1.2, 1.2)], contact=contact, step=0.02)
    model, stepper, state = scene.model(), scene.stepper(), scene.state()
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
