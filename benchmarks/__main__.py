"""``weft bench``: speed and memory, beside their targets."""

import dataclasses
from typing import Annotated

import typer

from weft.cli.listing import listing
from weft.cli.options import AsJson, Device, Threads, configure, print_json, say, tell_compiling


def _names() -> list[str]:
    from benchmarks.runner import names

    return names()


Command = listing(("Benchmarks", _names))


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help="Benchmarks; none runs all.", metavar="[NAME]...")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A scene of contact-drape. Repeatable.", metavar="SCENE"),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Big scenes of contact-drape, too.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Scenes to their end: hours.")] = False,
    repeats: Annotated[
        int, typer.Option(help="Runs of a scene of contact-drape; medians count.", min=1)
    ] = 1,
    markdown: Annotated[bool, typer.Option("--markdown", help="A table for documents.")] = False,
    json: AsJson = False,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Measure speed and memory on this machine, beside a fixed piece of work that none of it is
    ours: times are given as they are, and normalized to a reference machine, which is what targets
    are for. Nothing fails.
    """
    configure(device, threads)
    from benchmarks.runner import BenchMeasure, BenchSelection, Machine, run

    selection = BenchSelection(tuple(only or ()), every, whole, repeats)
    if json:
        measures = run(names or (), selection=selection)
        print_json([dataclasses.asdict(m) for m in measures])
        return
    tell_compiling()

    def head(machine: Machine) -> None:
        say(str(machine))
        if markdown:
            say("\n| measure | value | normalized | unit | target | |\n|---|---|---|---|---|---|")
        else:
            say(f"{'measure':58} {'value':>9} {'normalized':>10} {'target':>8}  unit")

    def show(m: BenchMeasure) -> None:
        normalized = "" if m.normalized is None else f"{m.normalized:.3g}"
        target = "" if m.target is None else f"{m.target:.4g}"
        verdict = "" if m.ok is None else ("ok" if m.ok else "missed")
        if markdown:
            cells = (m.name, f"{m.value:.3g}", normalized, m.unit, target, verdict)
            say(f"| {' | '.join(cells)} |")
        else:
            unit = f"{m.unit}  {verdict}".strip()
            say(f"{m.name:58} {m.value:9.4g} {normalized:>10} {target:>8}  {unit}")

    run(names or (), on_result=show, selection=selection, on_machine=head)
