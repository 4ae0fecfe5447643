"""``weft validate``: the certificate."""

import dataclasses
from typing import Annotated

import typer

from weft.cli.options import AsJson, Device, Threads, configure, print_json, say, tell_compiling


def validate(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; none runs all.", metavar="[NAME]...")
    ] = None,
    json: AsJson = False,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Compare weft with closed-form and published answers; exit status 1 if any is missed."""
    configure(device, threads)
    from weft.validate.check import Check
    from weft.validate.runner import run

    if json:
        checks = run(names or ())
        print_json([dataclasses.asdict(c) for c in checks])
    else:
        tell_compiling()
        say(f"{'experiment':44} {'expected':>13} {'got':>13} {'error':>9} {'allowed':>9}")

        def show(c: Check) -> None:
            verdict = "ok" if c.ok else "FAILED"
            numbers = f"{c.expected:13.6g} {c.got:13.6g} {c.error:9.1e} {c.tolerance:9.1e}"
            say(f"{c.name:44} {numbers}  {verdict}{'  ' if c.note else ''}{c.note}")

        checks = run(names or (), on_result=show)
        failed = sum(not c.ok for c in checks)
        say(f"{len(checks) - failed} of {len(checks)} ok")
    if not all(c.ok for c in checks):
        raise typer.Exit(1)
