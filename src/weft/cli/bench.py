"""``weft bench``: speed and memory, beside their targets."""

import dataclasses
from typing import Annotated

import typer

from weft.cli.listing import listing
from weft.cli.options import AsJson, Device, Threads, configure, print_json, say, tell_compiling


def _names() -> list[str]:
    from weft.bench.runner import names

    return names()


Command = listing(("Benchmarks", _names))


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="Benchmarks; none runs all.", metavar="[NAME]...")
    ] = None,
    json: AsJson = False,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Measure speed and memory on this machine. Targets are for two cores; nothing fails."""
    configure(device, threads)
    from weft.bench.runner import Measure, run

    if json:
        print_json([dataclasses.asdict(m) for m in run(names or ())])
        return
    tell_compiling()
    say(f"{'measure':44} {'value':>10} {'unit':14} {'target':>10}")

    def show(m: Measure) -> None:
        target = "" if m.target is None else f"{m.target:10.4g}"
        verdict = "" if m.ok is None else ("ok" if m.ok else "missed")
        say(f"{m.name:44} {m.value:10.4g} {m.unit:14} {target:>10}  {verdict}")

    run(names or (), on_result=show)
