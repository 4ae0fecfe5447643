"""``weft reproduce``: figures and open questions of the papers."""

import time
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.listing import listing
from weft.cli.options import Device, Threads, configure, say, tell_compiling


def _names() -> list[str]:
    from studies.runner import names

    return names()


Command = listing(("Studies", _names))


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Studies; none lists them, `all` runs all.", metavar="[NAME]..."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of tables and plots.", metavar="DIR")] = Path(
        "reproduced"
    ),
    n: Annotated[
        int | None,
        typer.Option(help="Vertices a side, for studies on one mesh.", show_default="the paper's"),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="Starts, for studies that average over some.", show_default="a few"),
    ] = None,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Answer a question of a paper: a table (CSV), a plot (PNG) and what follows from them.

    Plots need matplotlib: `pip install 'weft\\[plots]'`.
    """
    configure(device, threads)
    from studies import runner
    from weft.base.errors import check_known

    if not names:
        for name in runner.names():
            say(f"{name:26} {runner.question(name)}")
        say("\nweft reproduce NAME runs one (seconds to minutes), `weft reproduce all` every one")
        return
    for name in names:
        check_known(name, [*runner.names(), "all"], "study")
    tell_compiling()
    chosen = runner.names() if "all" in names else names
    for name in chosen:
        clock = time.perf_counter()
        study = runner.run(name, lambda text: say(f"  {text}", error=True), n, seeds)
        say(f"{study.title}\n\n{study.table.text()}\n")
        for finding in study.findings:
            say(f"- {finding}")
        written = study.write(out)
        files = "  ".join(str(path) for path in written)
        say(f"\n{name} in {time.perf_counter() - clock:.0f} s: {files}")
        if study.missing():
            say(study.missing())
        say("")
