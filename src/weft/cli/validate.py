"""``weft validate``: the certificate."""

import dataclasses
import math
import time
from functools import partial
from typing import Annotated, Any

import typer

from weft.cli.listing import listing
from weft.cli.options import (
    AsJson,
    Device,
    Threads,
    configure,
    one_blas_thread,
    print_json,
    say,
    tell_compiling,
)


def _names(part: str) -> list[str]:
    from weft.validate.runner import names, part_of

    return [n for n in names() if part_of(n) == part]


Command = listing(
    ("Experiments of the fast part", partial(_names, "fast")),
    ("Experiments that --all adds", partial(_names, "all")),
)


def validate(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments; none runs the fast part.", metavar="[NAME]..."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Run both parts: about a minute more.")
    ] = False,
    json: AsJson = False,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Compare weft with closed-form and published answers; exit status 1 if any is missed.

    The fast part takes under half a minute on two cores, and a minute more on the first run of a
    machine, which compiles kernels. An experiment that ends in an error is a failed row.
    """
    one_blas_thread()
    configure(device, threads)
    from weft.validate.check import Check
    from weft.validate.runner import run

    if json:
        from weft.progress import silence

        with silence():
            checks = run(names or (), everything=everything)
        print_json([_plain(c) for c in checks])
    else:
        tell_compiling()
        clock = time.perf_counter()
        heads = f"{'expected':>13} {'got':>13} {'error':>9} {'allowed':>9}"
        say(f"{'experiment':44} part {heads}")

        def show(c: Check) -> None:
            verdict = "ok" if c.ok else "FAILED"
            numbers = f"{c.expected:13.6g} {c.got:13.6g} {c.error:9.1e} {c.tolerance:9.1e}"
            say(f"{c.name:44} {c.part:4} {numbers}  {verdict}{'  ' if c.note else ''}{c.note}")

        checks = run(names or (), on_result=show, everything=everything)
        failed = sum(not c.ok for c in checks)
        say(f"{len(checks) - failed} of {len(checks)} ok, {time.perf_counter() - clock:.0f} s")
        if not names and not everything:
            say(f"not run: {', '.join(_names('all'))} (weft validate --all)")
    if not all(c.ok for c in checks):
        raise typer.Exit(1)


def _plain(check: Any) -> dict[str, Any]:
    """A row for JSON, which has no nan: null where a row ended in an error."""
    row = dataclasses.asdict(check)
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}
