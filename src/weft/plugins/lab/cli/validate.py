"""``weft validate``: the certificate."""

import dataclasses
import math
import time
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.trees import Json
from weft.cli.groups import listing
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

if TYPE_CHECKING:
    from weft.plugins.lab.validate.check import Check


def _names(part: str) -> list[str]:
    from weft.plugins.lab.validate.runner import names, part_of

    return [n for n in names() if part_of(n) == part]


@listing(
    ("Experiments of the fast part", partial(_names, "fast")),
    ("Experiments that --all adds", partial(_names, "all")),
)
def validate(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of experiments; without a name: the fast part.", metavar="[NAME]..."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Run both parts: several minutes more.")
    ] = False,
    json: AsJson = False,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Compare weft with closed-form and published answers; exit status 1 if any is missed.

    The fast part takes under half a minute on two cores, and a minute more on the first run of a
    machine, which compiles kernels. An experiment that ends in an error is a failed row.

    Rows marked "self" compare weft with itself. Indicative rows (measurements with scatter, scaling
    laws, known limits) are listed separately and do not change the exit status.
    """
    one_blas_thread()
    configure(device, threads)
    from weft.plugins.lab.validate.check import Check, RowBasis
    from weft.plugins.lab.validate.runner import run

    if json:
        from weft.run.progress import silence

        with silence():
            checks = run(names or (), everything=everything)
        print_json([_plain(c) for c in checks])
    else:
        tell_compiling()
        clock = time.perf_counter()
        heads = f"{'expected':>13} {'got':>13} {'error':>9} {'allowed':>9}"
        say(f"{'experiment':44} part {heads}")

        def show(c: Check) -> None:
            if c.basis is not RowBasis.INDICATIVE:
                say(_table_row(c))

        checks = run(names or (), on_result=show, everything=everything)
        indicative = [c for c in checks if c.basis is RowBasis.INDICATIVE]
        if indicative:
            say("indicative rows, which do not change the exit status:")
        for c in indicative:
            say(_table_row(c))
        decisive = [c for c in checks if c.basis is not RowBasis.INDICATIVE]
        counts = f"{sum(c.ok for c in decisive)} of {len(decisive)} ok"
        if indicative:
            counts += f", {sum(c.ok for c in indicative)} of {len(indicative)} indicative ones"
        say(f"{counts}, {time.perf_counter() - clock:.0f} s")
        if not names and not everything:
            say(f"not run: {', '.join(_names('all'))} (weft validate --all)")
    if any(c.failed for c in checks):
        raise typer.Exit(1)


def _table_row(check: "Check") -> str:
    """Return the line of the table for a row: name, part, numbers, verdict, mark and note."""
    from weft.plugins.lab.validate.check import RowBasis

    c = check
    numbers = f"{c.expected:13.6g} {c.got:13.6g} {c.error:9.1e} {c.tolerance:9.1e}"
    verdict = "ok" if c.ok else "FAILED" if c.failed else "missed"
    mark = "self" if c.basis is RowBasis.SELF else ""
    return "  ".join(filter(None, (f"{c.name:44} {c.part:4} {numbers}", verdict, mark, c.note)))


def _plain(check: "Check") -> Json:
    """A row for JSON, which has no nan: null where a row ended in an error."""
    row = dataclasses.asdict(check)
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}
