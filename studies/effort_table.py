"""The table of efforts: means and spreads over starts, each run beside the reference's."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from studies.effort_runs import Apart, Effort, Trace, apart, motion_apart
from studies.effort_scenes import TimedScene
from studies.study import Cell, Several
from weft.base.arrays import Faces

OTHER = "another start"  # of the reference: what chance alone makes of millimeters
COLUMNS = (
    "scene",
    "step, iterations",
    "iterations",
    "CPU [s]",
    "kinetic off [%]",
    "kinetic at impact [mJ]",
    "weight at impact [mJ]",
    "weight at end [mJ]",
    "membrane at impact [mJ]",
    "membrane at end [mJ]",
    "height off at impact [mm]",
    "height off at end [mm]",
    "outline off at impact [%]",
    "outline off at end [%]",
    "vertices off at end [mm]",
    "at rest after [s]",
    "came to rest",
    "intersections",
    "runs that failed",
)

Runs = Mapping[Effort, Sequence[Trace | None]]  # of one case: every start's, None if it failed
Row = list[Cell]
CPU, MOTION, HEIGHT = (
    COLUMNS.index(name) for name in ("CPU [s]", "kinetic off [%]", "height off at end [mm]")
)


def case_rows(case: TimedScene, n: int, runs: Runs) -> list[Row]:
    """A row for every effort, and one for the reference from other starts."""
    faces = case.make(n, 0).cloth.faces
    reference = next(iter(runs.values()))
    rows = [_row(case, effort.label, traces, reference, faces) for effort, traces in runs.items()]
    if len(reference) > 1:
        label = f"{next(iter(runs)).label}, {OTHER}"
        rows.append(_row(case, label, [*reference[1:], reference[0]], reference, faces))
    return rows


def _row(
    case: TimedScene,
    label: str,
    traces: Sequence[Trace | None],
    reference: Sequence[Trace | None],
    faces: Faces,
) -> Row:
    """Means and spreads of the runs that did not fail, each beside the reference's."""
    pairs = [(a, b) for a, b in zip(traces, reference) if a is not None and b is not None]
    off = [
        (
            apart(a.impact.x, b.impact.x, faces, case.axis),
            apart(a.end.x, b.end.x, faces, case.axis),
        )
        for a, b in pairs
    ]
    whole = [a for a in traces if a is not None]
    failed = float(len(traces) - len(whole))
    motion = _several([100 * motion_apart(a, b) for a, b in pairs])
    spent, energies = _numbers(whole)
    numbers = [*spent, motion, *energies, *_distances(off)]
    return [case.name, label, *numbers, *_ends(whole), failed]


def _several(values: Sequence[float]) -> Cell:
    return Several.of(values) if values else "-"


def _numbers(traces: Sequence[Trace]) -> tuple[Row, Row]:
    """What runs took, and energies."""

    def several(of: Callable[[Trace], float], unit: float = 1.0) -> Cell:
        return _several([of(t) / unit for t in traces])

    return [several(lambda t: t.iterations), several(lambda t: t.cpu)], [
        several(lambda t: t.impact.kinetic, 1e-3),
        several(lambda t: t.impact.gravity, 1e-3),
        several(lambda t: t.end.gravity, 1e-3),
        several(lambda t: t.impact.membrane, 1e-3),
        several(lambda t: t.end.membrane, 1e-3),
    ]


def _distances(off: Sequence[tuple[Apart, Apart]]) -> Row:
    return [
        *(_several([1e3 * pair[k].heights for pair in off]) for k in (0, 1)),
        *(_several([100 * pair[k].outline for pair in off]) for k in (0, 1)),
        _several([1e3 * end.vertices for _, end in off]),
    ]


def _ends(traces: Sequence[Trace]) -> Row:
    """When it came to rest, in how many runs, and what intersects in all of them."""
    rested = [t.rest for t in traces if np.isfinite(t.rest)]
    share = f"{len(rested)} of {len(traces)}"
    return [_several(rested), share, float(sum(t.crossing for t in traces))]


def mean(row: Row, column: int) -> float:
    """Of the runs in a row; not a number where all of them failed."""
    cell = row[column]
    return cell.mean if isinstance(cell, Several) else float("nan")
