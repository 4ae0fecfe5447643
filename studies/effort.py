"""Few Newton iterations in small steps, or many in large ones: what comes nearer to the truth?

A step may end after so many iterations, converged or not (``effort``). Drapes and impacts with
several steps and iterations, each beside a converged run at 2.5 ms from the same start, over
several starts that differ by millimeters.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from studies.effort_pictures import plot, side_by_side
from studies.effort_runs import Effort, Trace, run
from studies.effort_scenes import CASES, TimedScene
from studies.effort_table import (
    COLUMNS,
    CPU,
    HEIGHT,
    MOTION,
    OTHER,
    Row,
    Runs,
    case_rows,
    mean,
)
from studies.study import Say, Several, Study, StudyTable
from weft.base.errors import SimulationError
from weft.show.picture.renderer import Image

REFERENCE = Effort(2.5e-3, "converged")
EFFORTS = (
    REFERENCE,
    Effort(0.02, "converged"),
    Effort(0.02, 5),
    Effort(0.01, "converged"),
    Effort(0.01, "interactive"),
    Effort(0.01, 2),
    Effort(0.005, "converged"),
    Effort(0.005, 3),
    Effort(0.005, 2),
    Effort(0.005, 1),
)
VERTICES, STARTS = 17, 3


def study(
    say: Say,
    n: int = VERTICES,
    seeds: int = STARTS,
    cases: Sequence[TimedScene] = CASES,
    efforts: Sequence[Effort] = EFFORTS,
) -> Study:
    """Every case at every effort, from so many starts; the first effort is the reference."""
    found: dict[str, Runs] = {}
    for case in cases:
        _tried(case, Effort(0.02, 5), n, 0)  # loads kernels, and is not looked at
        runs: dict[Effort, list[Trace | None]] = {effort: [] for effort in efforts}
        for seed in range(seeds):
            for effort in efforts:
                trace = _tried(case, effort, n, seed)
                runs[effort].append(trace)
                took = f"{trace.iterations} iterations, {trace.cpu:.1f} s" if trace else "failed"
                say(f"{case.name}, start {seed + 1} of {seeds}, {effort.label}: {took}")
        found[case.name] = runs
    return compared(n, cases, found)


def _tried(case: TimedScene, effort: Effort, n: int, seed: int) -> Trace | None:
    try:
        return run(case, effort, n, seed)
    except SimulationError:
        return None


def compared(n: int, cases: Sequence[TimedScene], found: Mapping[str, Runs]) -> Study:
    """Table, findings and pictures of runs by the names of their cases."""
    rows: list[Row] = []
    pictures: dict[str, Image] = {}
    for case in cases:
        rows += case_rows(case, n, found[case.name])
        pictures[case.name] = side_by_side(case, n, found[case.name])
    starts = len(next(iter(found[cases[0].name].values())))

    def draw(figure: Any) -> None:
        plot(figure, cases, found, rows)

    title = f"Steps and iterations: {n} x {n} vertices, {starts} starts"
    words = findings(cases, found, rows)
    return Study("effort", title, StudyTable(COLUMNS, rows), words, draw, pictures, 6.4)


def findings(
    cases: Sequence[TimedScene], found: Mapping[str, Runs], rows: Sequence[Row]
) -> list[str]:
    """For each case how far motion and shape of every effort are from the reference's."""
    out = []
    for case in cases:
        first, *rest = [r for r in rows if r[0] == case.name and isinstance(r[CPU], Several)]
        told = [
            f"{r[1]}: {mean(r, MOTION):.0f} %, {mean(r, HEIGHT):.0f} mm, "
            f"{100 * mean(r, CPU) / mean(first, CPU):.0f} %"
            for r in rest
            if OTHER not in str(r[1])
        ]
        chance = [
            f"; another start: {mean(r, MOTION):.0f} %, {mean(r, HEIGHT):.0f} mm"
            for r in rest
            if OTHER in str(r[1])
        ]
        out.append(
            f"{case.name}, beside {first[1]} (kinetic energy off over the run, height off at the "
            f"end, CPU time): {'; '.join(told)}{''.join(chance)}."
        )
    every = [t for runs in found.values() for traces in runs.values() for t in traces]
    whole = [t for t in every if t is not None]
    out.append(
        f"{sum(t.crossing for t in whole)} pairs of faces intersect at the instants looked at, in "
        f"{sum(t.crossing > 0 for t in whole)} of {len(whole)} runs; "
        f"{len(every) - len(whole)} more failed, {sum(t.halved for t in whole)} steps were halved."
    )
    return out
