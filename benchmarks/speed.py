"""Measure weft again and write the tables of docs/reference/speed.md, and that of the README.

    python -m benchmarks.speed [--only peers-41 peers-100 scenes phases iteration] [--repeats 3]

Each table is what stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``. Rows of other
simulators are those that ``peers.py`` found last (``--into`` as there); the text around the tables
is not touched.
"""

import argparse
import datetime
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import peers
from benchmarks.measure import BenchMeasure, BenchSelection
from benchmarks.runner import run

ROOT = Path(__file__).parents[1]
DOCUMENT, README = ROOT / "docs" / "reference" / "speed.md", ROOT / "README.md"
# Simulators of the README's table, with 100 x 100 vertices: columns by their names in the document.
COMPARED = ("weft, converged, 20 ms", "MuJoCo, `ipc`, 20 ms", "Newton, Style3D")
COLUMNS = ("simulator", "version", "CPU s / s of cloth", "frames that intersect")
# [ms] of an iteration of the drape of 41 x 41, converged, one thread, normalized: commit 9c7f5d8,
# before contact was made faster; 745 iterations, measured with others at work. What is compared.
BEFORE = {
    "solve": 12.80,
    "broad": 6.89,
    "elastic": 4.33,
    "narrow": 2.48,
    "contact matrix": 1.64,
    "ccd": 1.63,
    "barrier": 1.22,
    "friction": 0.20,
    "all else": 1.93,
}
BEFORE_ITERATIONS = 9.3  # a step


def between_markers(name: str) -> re.Pattern[str]:
    """The marker before the block of that name, the block, and the marker after it."""
    return re.compile(rf"(<!-- begin {name} -->\n)(.*?)(<!-- end {name} -->)", re.DOTALL)


def replaced(text: str, name: str, block: str) -> str:
    """The document with another block between the markers of that name.

    Raises:
        ValueError: markers that are not there once.
    """
    pattern = between_markers(name)
    new, count = pattern.subn(lambda m: f"{m[1]}{block.rstrip()}\n{m[3]}", text)
    if count != 1:
        raise ValueError(f"{count} places for {name} in the document, expected 1")
    return new


def beside_others(side: int, into: Path) -> str:
    """The table of ``peers.py``, with weft's rows measured now."""
    command = [sys.executable, "-m", "benchmarks.peers", "--side", str(side)]
    ours = ["weft", "weft-interactive"]
    done = subprocess.run(
        [*command, "--into", str(into.resolve()), "--only", *ours, "--markdown"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def measured(selection: BenchSelection) -> list[BenchMeasure]:
    """``python -m benchmarks contact-drape``, with its lines on stderr as they come."""

    def show(m: BenchMeasure) -> None:
        print(f"{m.name}: {m.value:.4g} {m.unit}", file=sys.stderr, flush=True)

    return run(["contact-drape"], show, selection)


def scenes(measures: Sequence[BenchMeasure]) -> str:
    """Times, goals and what they are worth: no phases."""
    rows = ["| scene | raw | normalized | goal | unit |", "|---|---|---|---|---|"]
    for m in measures:
        name = m.name.removeprefix("contact-drape/")
        if ", iteration, " not in name and not name.endswith(", iteration"):
            normalized = "" if m.normalized is None else f"{m.normalized:.3g}"
            goal = "" if m.target is None else f"{m.target:.3g}"
            rows.append(f"| {name} | {m.value:.3g} | {normalized} | {goal} | {m.unit} |")
    return "\n".join(rows)


def iteration(measures: Sequence[BenchMeasure]) -> str:
    """Milliseconds of an iteration of the drape, before and now."""
    label = "contact-drape/demo converged, "
    found = {m.name.removeprefix(label): m for m in measures if m.name.startswith(label)}
    parts = {
        name.removeprefix("iteration, "): m.normalized or 0.0
        for name, m in found.items()
        if name.startswith("iteration, ")
    }
    rows = ["| ms of an iteration, normalized | before | now |", "|---|---|---|"]
    for name in [*BEFORE, *(p for p in parts if p not in BEFORE)]:
        old, new = (f"{d[name]:.2f}" if name in d else "" for d in (BEFORE, parts))
        rows.append(_row(name, [old, new]))
    rows.append(_row("**all**", [f"{sum(d.values()):.2f}" for d in (BEFORE, parts)]))
    now = found["iterations"].value
    rows.append(_row("iterations a step", [f"{BEFORE_ITERATIONS:.1f}", f"{now:.1f}"]))
    return "\n".join(rows)


def phases(measures: Sequence[BenchMeasure]) -> str:
    """Milliseconds of an iteration of every scene, a column each; what takes most comes first."""
    columns: dict[str, dict[str, float]] = {}
    for m in measures:
        scene, found, phase = m.name.removeprefix("contact-drape/").partition(", iteration, ")
        if found:
            columns.setdefault(scene, {})[phase] = m.normalized or 0.0
    counts = {m.name.removeprefix("contact-drape/"): m.value for m in measures}
    order = {
        p: max(c.get(p, 0.0) / sum(c.values()) for c in columns.values())
        for c in columns.values()
        for p in c
    }
    rows = [_row("ms of an iteration, normalized", list(columns)), f"|---|{'---|' * len(columns)}"]
    for name in sorted(order, key=lambda p: (p == "all else", -order[p])):
        rows.append(_row(name, [f"{c[name]:.3g}" if name in c else "" for c in columns.values()]))
    rows.append(_row("**all**", [f"{sum(c.values()):.3g}" for c in columns.values()]))
    rows.append(_row("iterations a step", [f"{counts[f'{c}, iterations']:.3g}" for c in columns]))
    return "\n".join(rows)


def comparison(document: str) -> str:
    """The README's table: some rows and columns of the document's table ``peers-100``."""
    found = between_markers("peers-100").search(document)
    assert found is not None
    lines = [line.strip("| ") for line in found[2].splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    places = [head.index(name) for name in COLUMNS]
    kept = [row for row in rows if row[0] in COMPARED]
    first, *others = ([row[p] for p in places] for row in (head, *kept))
    out = [first, ["---"] * len(COLUMNS), *others]
    return "\n".join(_row(name, values) for name, *values in out)


def _row(name: str, values: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(values)} |"


def main() -> None:
    """Measure what was asked for and write it."""
    names = ("peers-41", "peers-100", "scenes", "phases", "iteration")
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--only", nargs="+", choices=names, default=names)
    p.add_argument("--repeats", type=int, default=3, help="runs of a scene; the median counts")
    p.add_argument("--whole", action="store_true", help="scenes to their end")
    p.add_argument("--into", type=Path, default=peers.arguments([]).into)
    a = p.parse_args()
    today = datetime.datetime.now(datetime.UTC).date()
    every: list[BenchMeasure] = []  # of all scenes, measured once for both tables
    for name in a.only:
        if name.startswith("peers"):
            block = beside_others(int(name.removeprefix("peers-")), a.into)
        elif name in ("scenes", "phases"):
            every = every or measured(BenchSelection((), True, a.whole, a.repeats))
            block = (scenes if name == "scenes" else phases)(every)
        else:
            block = iteration(measured(BenchSelection(("demo",), False, True, a.repeats)))
        text = replaced(DOCUMENT.read_text(), name, f"Measured {today}.\n\n{block}")
        DOCUMENT.write_text(text)
    README.write_text(replaced(README.read_text(), "compare", comparison(DOCUMENT.read_text())))


if __name__ == "__main__":
    main()
