"""Few Newton iterations in small steps, or many in large ones: what comes nearer to the truth?

A step may end after so many iterations, converged or not (``effort``). Drapes and impacts with
several steps and iterations, each beside a converged run at 2.5 ms from the same start, over
several starts that differ by millimeters.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from weft.arrays import Faces
from weft.contact.body import joined_faces
from weft.errors import SimulationError
from weft.render.picture import Image, Renderer
from weft.reproduce.effort_runs import Apart, Effort, Trace, apart, run
from weft.reproduce.effort_scenes import CASES, Case
from weft.reproduce.study import INK, Cell, Say, Several, Study, Table

REFERENCE = Effort(2.5e-3, 0)
EFFORTS = (
    REFERENCE,
    Effort(0.02, 0), Effort(0.02, 5),
    Effort(0.01, 0), Effort(0.01, 2),
    Effort(0.005, 0), Effort(0.005, 3), Effort(0.005, 2), Effort(0.005, 1),
)  # fmt: skip
VERTICES, STARTS = 21, 3
OTHER = "another start"  # of the reference: what chance alone makes of millimeters
COLUMNS = (
    "scene", "step, iterations", "iterations", "CPU [s]", "kinetic at impact [mJ]",
    "weight at impact [mJ]", "weight at end [mJ]", "membrane at impact [mJ]",
    "membrane at end [mJ]", "height off at impact [mm]", "height off at end [mm]",
    "outline off at impact [%]", "outline off at end [%]", "vertices off at end [mm]",
    "at rest after [s]", "came to rest", "intersections", "runs that failed",
)  # fmt: skip

Runs = Mapping[Effort, Sequence[Trace | None]]  # of one case: every start's, None if it failed
Row = list[Cell]


def study(
    say: Say,
    n: int = VERTICES,
    seeds: int = STARTS,
    cases: Sequence[Case] = CASES,
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


def _tried(case: Case, effort: Effort, n: int, seed: int) -> Trace | None:
    try:
        return run(case, effort, n, seed)
    except SimulationError:
        return None


def compared(n: int, cases: Sequence[Case], found: Mapping[str, Runs]) -> Study:
    """Table, findings and pictures of runs by the names of their cases."""
    rows: list[Row] = []
    pictures: dict[str, Image] = {}
    for case in cases:
        rows += case_rows(case, n, found[case.name])
        pictures[case.name] = side_by_side(case, n, found[case.name])
    starts = len(next(iter(found[cases[0].name].values())))

    def draw(figure: Any) -> None:
        _draw(figure, cases, found, rows)

    title = f"Steps and iterations: {n} x {n} vertices, {starts} starts"
    words = findings(cases, found, rows)
    return Study("effort", title, Table(COLUMNS, rows), words, draw, pictures, 6.4)


def case_rows(case: Case, n: int, runs: Runs) -> list[Row]:
    """A row for every effort, and one for the reference from other starts."""
    faces = case.make(n, 0).cloth.faces
    reference = next(iter(runs.values()))
    rows = [_row(case, effort.label, traces, reference, faces) for effort, traces in runs.items()]
    if len(reference) > 1:
        label = f"{next(iter(runs)).label}, {OTHER}"
        rows.append(_row(case, label, [*reference[1:], reference[0]], reference, faces))
    return rows


def _row(
    case: Case,
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
    numbers = [*_numbers(whole), *_distances(off)]
    return [case.name, label, *numbers, *_ends(whole), failed]


def _several(values: Sequence[float]) -> Cell:
    return Several.of(values) if values else "-"


def _numbers(traces: Sequence[Trace]) -> Row:
    def several(of: Callable[[Trace], float], unit: float = 1.0) -> Cell:
        return _several([of(t) / unit for t in traces])

    return [
        several(lambda t: t.iterations), several(lambda t: t.cpu),
        several(lambda t: t.impact.kinetic, 1e-3),
        several(lambda t: t.impact.gravity, 1e-3), several(lambda t: t.end.gravity, 1e-3),
        several(lambda t: t.impact.membrane, 1e-3), several(lambda t: t.end.membrane, 1e-3),
    ]  # fmt: skip


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


def side_by_side(case: Case, n: int, runs: Runs) -> Image:
    """Every effort from one start, with one camera: at the impact above, at the end below."""
    scene = case.make(n, 0)
    shown = {effort: next((t for t in traces if t), None) for effort, traces in runs.items()}
    first = [(e.label, t) for e, t in shown.items() if t is not None]
    looks = [[t.impact for _, t in first], [t.end for _, t in first]]
    shapes = [[np.concatenate([s.x, *s.bodies]) for s in row] for row in looks]
    bodies = joined_faces(scene.bodies) if scene.bodies else None
    every = [x for row in shapes for x in row]
    renderer = Renderer(scene.cloth.mesh, every, case.style, body_faces=bodies)
    rows = []
    for row, t in zip(shapes, (case.impact, case.seconds)):
        labels = [f"{label}\nt = {t:g} s" for label, _ in first]
        rows.append(np.hstack([_labelled(renderer.image(x), w) for x, w in zip(row, labels)]))
    return np.asarray(np.vstack(rows))


def _labelled(image: Image, text: str) -> Image:
    picture = Pillow.fromarray(image)
    size = max(9, image.shape[0] // 18)
    font = ImageFont.load_default(size=size)
    ImageDraw.Draw(picture).text((size // 2, size // 3), text, fill=(40, 40, 40), font=font)
    return np.asarray(picture)


KINETIC, CPU = COLUMNS.index("kinetic at impact [mJ]"), COLUMNS.index("CPU [s]")
HEIGHT, OUTLINE = (COLUMNS.index(f"{what} off at end {unit}") for what, unit in
                   (("height", "[mm]"), ("outline", "[%]")))  # fmt: skip


def findings(cases: Sequence[Case], found: Mapping[str, Runs], rows: Sequence[Row]) -> list[str]:
    """For each case how much of the reference's motion and shape every effort keeps."""
    out = []
    for case in cases:
        first, *rest = [r for r in rows if r[0] == case.name and isinstance(r[CPU], Several)]
        told = [
            f"{r[1]} {100 * _mean(r, KINETIC) / _mean(first, KINETIC):.0f} % of the kinetic "
            f"energy, {_mean(r, HEIGHT):.1f} mm off, "
            f"{100 * _mean(r, CPU) / _mean(first, CPU):.0f} % of the CPU time"
            for r in rest
            if OTHER not in str(r[1])
        ]
        chance = [f" (another start: {_mean(r, HEIGHT):.1f} mm off)" for r in rest
                  if OTHER in str(r[1])]  # fmt: skip
        out.append(f"{case.name}, beside {first[1]}{''.join(chance)}: {'; '.join(told)}.")
    every = [t for runs in found.values() for traces in runs.values() for t in traces]
    whole = [t for t in every if t is not None]
    out.append(
        f"{sum(t.crossing for t in whole)} pairs of faces intersect at the instants looked at, in "
        f"{sum(t.crossing > 0 for t in whole)} of {len(whole)} runs; "
        f"{len(every) - len(whole)} more failed, {sum(t.halved for t in whole)} steps were halved."
    )
    return out


def _mean(row: Row, column: int) -> float:
    cell = row[column]
    return cell.mean if isinstance(cell, Several) else float("nan")


def _draw(
    figure: Any, cases: Sequence[Case], found: Mapping[str, Runs], rows: Sequence[Row]
) -> None:
    """Kinetic energy in time, of the first start; error of the shape against CPU time."""
    panels = figure.subplots(2, len(cases), squeeze=False)
    for (top, bottom), case in zip(panels.T, cases):
        for k, (effort, traces) in enumerate(found[case.name].items()):
            ink, dash = INK[k % len(INK)], "--" if k >= len(INK) else "-"
            trace = next((t for t in traces if t), None)
            if trace is not None:
                top.plot(trace.t, 1e3 * trace.kinetic, dash, lw=1, color=ink, label=effort.label)
            row = next(r for r in rows if r[:2] == [case.name, effort.label])
            cpu, height = row[CPU], row[HEIGHT]
            if k and isinstance(cpu, Several) and isinstance(height, Several):
                bottom.errorbar(
                    cpu.mean, height.mean, height.spread, cpu.spread, "o" if dash == "-" else "s",
                    ms=4, lw=0.8, color=ink, label=effort.label,
                )  # fmt: skip
        chance = [r for r in rows if r[0] == case.name and OTHER in str(r[1])]
        for row in chance:
            bottom.axhline(_mean(row, HEIGHT), color="0.6", lw=0.8, label=OTHER)
        top.axvline(case.impact, color="0.8", lw=0.8)
        top.set(title=case.name, xlabel="time [s]", ylabel="kinetic energy [mJ]")
        bottom.set(xlabel="CPU time [s]", ylabel="height off at end [mm]", ylim=(0, None))
        for axes in (top, bottom):
            axes.grid(alpha=0.25)
    panels[0, 0].legend(fontsize=6)
    panels[1, 0].legend(fontsize=6)
