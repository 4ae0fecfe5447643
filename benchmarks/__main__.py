"""``python -m benchmarks``: speed and memory beside their targets, run from a clone."""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence

from benchmarks.runner import BenchMeasure, BenchSelection, Machine, names, run
from weft import kernel
from weft.base.errors import WeftError


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure speed and memory on this machine, beside a fixed piece of work that "
        "is not weft's: times are given as they are, and normalized to a reference machine, which "
        "is what targets are for. A missed target is printed; a benchmark that raises an error is "
        "named, and the exit status is 1.",
        epilog=f"Benchmarks: {', '.join(names())}.",
    )
    made.add_argument("names", nargs="*", metavar="NAME", help="none runs all")
    made.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="SCENE",
        help="a scene of contact-drape; repeatable",
    )
    made.add_argument("--all", action="store_true", help="big scenes of contact-drape, too")
    made.add_argument("--whole", action="store_true", help="scenes to their end: hours")
    made.add_argument(
        "--repeats", type=int, default=1, help="runs of a scene of contact-drape; medians count"
    )
    output = made.add_mutually_exclusive_group()
    output.add_argument("--markdown", action="store_true", help="a table for documents")
    output.add_argument("--json", action="store_true", help="JSON and nothing else")
    made.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    made.add_argument("--threads", type=int, help="CPU threads that share large kernels")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run benchmarks and print their measures.

    Args:
        arguments: of the command line; None: those of this process.

    Returns:
        The exit status: 0; 1 if a benchmark raised an error; 2 for a mistake of the user. Both are
        said on standard error.
    """
    made = parser()
    options = made.parse_args(arguments)
    if options.repeats < 1:
        made.error(f"argument --repeats: {options.repeats}, expected at least 1")
    selection = BenchSelection(tuple(options.only), options.all, options.whole, options.repeats)
    try:
        kernel.configure(device=options.device, threads=options.threads)
        if options.json:
            measures = run(options.names, selection=selection)
            print(json.dumps([dataclasses.asdict(m) for m in measures], indent=2))
        else:
            table = markdown_row if options.markdown else terminal_row
            head = MARKDOWN_HEAD if options.markdown else TERMINAL_HEAD

            def begin(machine: Machine) -> None:
                print(f"{machine}\n{head}", flush=True)

            def show(measure: BenchMeasure) -> None:
                print(table(measure), flush=True)

            measures = run(options.names, show, selection, begin)
    except WeftError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    failed = [m for m in measures if m.error]
    for measure in failed:
        sys.stderr.write(f"error: benchmark {measure.name} failed: {measure.error}\n")
    return 1 if failed else 0


TERMINAL_HEAD = f"{'measure':58} {'value':>9} {'normalized':>10} {'target':>8}  unit"
MARKDOWN_HEAD = "\n| measure | value | normalized | unit | target | |\n|---|---|---|---|---|---|"


def terminal_row(m: BenchMeasure) -> str:
    """Return a measure as a line of aligned columns."""
    value, normalized, target, verdict = _cells(m)
    unit = f"{m.unit}  {verdict}".strip()
    return f"{m.name:58} {value:>9} {normalized:>10} {target:>8}  {unit}"


def markdown_row(m: BenchMeasure) -> str:
    """Return a measure as a row of a table in Markdown."""
    value, normalized, target, verdict = _cells(m)
    return f"| {m.name} | {value} | {normalized} | {m.unit} | {target} | {verdict} |"


def _cells(m: BenchMeasure) -> tuple[str, str, str, str]:
    """Return value, normalized value, target and whether it is met, as texts; "" for none."""
    if m.value is None:
        return "", "", "", "failed"
    return (
        f"{m.value:.4g}",
        "" if m.normalized is None else f"{m.normalized:.3g}",
        "" if m.target is None else f"{m.target:.4g}",
        "" if m.ok is None else ("ok" if m.ok else "missed"),
    )


if __name__ == "__main__":
    sys.exit(main())
