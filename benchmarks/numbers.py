"""Every table of speed, accuracy and size in the README and the manual, measured anew.

    python -m benchmarks.numbers [--only NAME ...] [--repeats 3] [--into FOLDER]

Each table is what stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` in the
document of ``PLACES``. The text around the tables is not touched.
"""

import argparse
import datetime
import io
import platform
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

from benchmarks import peers
from benchmarks.measure import BenchMeasure, BenchSelection
from benchmarks.reference import machine
from benchmarks.runner import run
from weft.plugins.lab.validate.check import Check, RowBasis
from weft.plugins.lab.validate.runner import run as validate

ROOT = Path(__file__).parents[1]
SPEED = ROOT / "docs" / "reference" / "speed.md"
CERTIFICATE = ROOT / "docs" / "explanations" / "certificate.md"
ARCHITECTURE = ROOT / "docs" / "explanations" / "architecture.md"
README = ROOT / "README.md"
PLACES = {  # documents by the names of their tables
    **dict.fromkeys(("peers-41", "peers-100", "scenes", "phases", "garments", "play"), SPEED),
    "accuracy": CERTIFICATE,
    "size": ARCHITECTURE,
}
# Simulators of the README's table, with 100 x 100 vertices: columns by their names in the document.
COMPARED = ("weft, converged, 20 ms", "MuJoCo, `ipc`, 20 ms", "Newton, Style3D")
COLUMNS = ("simulator", "version", "CPU s / s of cloth", "frames that intersect")
FINE = ("weft", "weft-interactive", "mujoco", "mujoco-3", "bpy", "newton-style3d")  # on 100 x 100
SHORT = ("weft", "weft-interactive", "mujoco", "mujoco-3")  # that are repeated
# Parts of the repository, by folder; a part does not hold those that are named before it.
PARTS = {
    "plugin garments": "src/weft/plugins/garments",
    "plugin lab": "src/weft/plugins/lab",
    "plugin robots": "src/weft/plugins/robots",
    "plugin film": "src/weft/plugins/film",
    "engine": "src/weft",
    "tests": "tests",
    "studies and benchmarks": "studies benchmarks",
    "examples": "examples",
}


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


def beside_others(side: int, into: Path, repeats: int) -> str:
    """The table of ``peers.py``: each simulator once, the fast ones in alternation."""
    names = list(peers.SIMULATORS) if side < 100 else list(FINE)
    shown = ["--side", str(side), "--into", str(into.resolve())]
    for only, count in ([n for n in names if n not in SHORT], 1), (SHORT, repeats):
        command = [*_module("benchmarks.peers"), *shown, "--repeats", str(count), "--only", *only]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    command = [*_module("benchmarks.peers"), *shown, "--show", "--markdown"]
    return _output(command)


def measured(names: Sequence[str], selection: BenchSelection) -> list[BenchMeasure]:
    """``python -m benchmarks NAME ...``, with its lines on stderr as they come.

    Raises:
        RuntimeError: a benchmark that failed.
    """

    def show(m: BenchMeasure) -> None:
        print(f"{m.name}: {m.value} {m.unit}", file=sys.stderr, flush=True)

    found = run(names, show, selection)
    failed = [f"{m.name}: {m.error}" for m in found if m.error]
    if failed:
        raise RuntimeError("; ".join(failed))
    return found


def goals(measures: Sequence[BenchMeasure]) -> str:
    """Times, goals and what they are worth: no phases."""
    rows = ["| scene | raw | normalized | goal | unit |", "|---|---|---|---|---|"]
    for m in measures:
        name = m.name.removeprefix("contact-drape/")
        if ", iteration, " not in name and not name.endswith(", iteration"):
            normalized = "" if m.normalized is None else f"{m.normalized:.3g}"
            goal = "" if m.target is None else f"{m.target:.3g}"
            rows.append(f"| {name} | {m.value:.3g} | {normalized} | {goal} | {m.unit} |")
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


def accuracy() -> str:
    """The row of every experiment that comes nearest to its allowed error; no indicative ones."""
    worst: dict[str, Check] = {}
    for row in validate((), everything=True):
        name = row.name.partition("/")[0]
        if row.basis is RowBasis.INDICATIVE:
            continue
        if name not in worst or _used(row) > _used(worst[name]):
            worst[name] = row
    rows = [_row("worst row", ["expected", "weft", "error", "allowed"]), f"|---|{'---|' * 4}"]
    for row in worst.values():
        numbers = (row.expected, row.got, row.error, row.tolerance)
        rows.append(_row(row.name, [f"{n:.4g}" for n in numbers]))
    return "\n".join(rows)


def _used(row: Check) -> float:
    """The part of the allowed error that a row has."""
    return row.error / row.tolerance if row.tolerance else float(not row.ok)


def size() -> str:
    """Files, lines and code tokens of every part of the repository, as git lists it."""
    listed = [ROOT / name for name in _output(["git", "ls-files", "*.py"]).splitlines()]
    rows, taken = (
        [_row("part", ["files", "lines", "code tokens"]), f"|---|{'---|' * 3}"],
        set[Path](),
    )
    for part, folders in PARTS.items():
        places = [ROOT / f for f in folders.split()]
        files = [p for p in listed if any(p.is_relative_to(f) for f in places)]
        own = [p for p in files if p not in taken]
        taken.update(own)
        texts = [p.read_text(encoding="utf-8") for p in own]
        lines, tokens = (sum(map(count, texts)) for count in (_lines, code_tokens))
        rows.append(_row(part, [str(len(own)), f"{lines:,}", f"{tokens:,}"]))
    return "\n".join(rows).replace(",", " ")


def _lines(text: str) -> int:
    return text.count("\n")


def code_tokens(text: str) -> int:
    """Names, numbers, operators and strings that are no docstrings."""
    kinds = (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING)
    found, before = 0, tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        starts = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        docstring = token.type == tokenize.STRING and starts
        found += token.type in kinds and not docstring
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return found


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
    table = [_row(name, values) for name, *values in out]
    return "\n".join([found[2].splitlines()[0], "", *table])


def _row(name: str, values: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(values)} |"


def _module(name: str) -> list[str]:
    return [sys.executable, "-m", name]


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def circumstances(factor: float) -> str:
    """The line above a table: date, versions and machine."""
    today = datetime.datetime.now(datetime.UTC).date()
    packages = ", ".join(f"{n} {version(n)}" for n in ("weft", "numpy", "warp-lang"))
    python = platform.python_version()
    return f"Measured {today}: {packages}, Python {python}; machine's factor {factor:.3g}."


def main(given: Sequence[str] | None = None) -> None:
    """Measure what was asked for and write it."""

    @cache
    def drapes() -> list[BenchMeasure]:
        return measured(["contact-drape"], BenchSelection((), True, a.whole, a.repeats))

    tables: dict[str, Callable[[], str]] = {
        "peers-41": lambda: beside_others(41, a.into, a.repeats),
        "peers-100": lambda: beside_others(100, a.into, a.repeats),
        "scenes": lambda: goals(drapes()),
        "phases": lambda: phases(drapes()),
        "garments": lambda: goals(measured(["garments"], BenchSelection())),
        "play": lambda: goals(measured(["play"], BenchSelection())),
        "accuracy": accuracy,
        "size": size,
    }
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--only", nargs="+", choices=list(PLACES), default=list(PLACES))
    p.add_argument("--repeats", type=int, default=3, help="runs of a scene; the median counts")
    p.add_argument("--whole", action="store_true", help="scenes to their end")
    p.add_argument("--into", type=Path, default=peers.arguments([]).into)
    a = p.parse_args(given)
    for name in a.only:
        block = f"{circumstances(machine().factor)}\n\n{tables[name]()}"
        path = PLACES[name]
        path.write_text(replaced(path.read_text(), name, block))
    README.write_text(replaced(README.read_text(), "compare", comparison(SPEED.read_text())))


if __name__ == "__main__":
    main()
