"""``python -m studies``: answer questions of the papers, from a clone of the repository."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from studies import runner
from weft import kernel
from weft.base.errors import WeftError, check_known


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    names = ", ".join(runner.names())
    made = argparse.ArgumentParser(
        prog="python -m studies",
        description="Answer a question of a paper: a table (CSV), a plot (PNG) and what follows "
        "from them. Plots need matplotlib.",
        epilog=f"Studies: {names}.",
    )
    made.add_argument("names", nargs="*", metavar="NAME", help="none lists them, `all` runs all")
    made.add_argument("--out", type=Path, default=Path("reproduced"), metavar="DIR", help="folder")
    made.add_argument("--n", type=int, help="vertices a side, for studies on one mesh")
    made.add_argument("--seeds", type=int, help="starts, for studies that average over some")
    made.add_argument("--only", nargs="+", default=(), help="cases of a study: garments, bodies")
    made.add_argument("--quick", action="store_true", help="the short form of a study: garments")
    made.add_argument("--coarse", action="store_true", help="coarse cells of a study: garments")
    made.add_argument("--random", type=int, default=0, help="designs drawn at random: garments")
    made.add_argument("--seed", type=int, default=0, help="seed of these designs")
    made.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    made.add_argument("--threads", type=int, help="CPU threads that share large kernels")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """List studies or run some.

    Args:
        arguments: of the command line; None: those of this process.

    Returns:
        The exit status: 0, or 2 for a mistake of the user, said on standard error.
    """
    options = parser().parse_args(arguments)
    try:
        kernel.configure(device=options.device, threads=options.threads)
        for name in options.names:
            check_known(name, [*runner.names(), "all"], "study")
        if not options.names:
            for name in runner.names():
                say(f"{name:26} {runner.question(name)}")
            say("\nmake study NAME=... runs one (seconds to minutes), NAME=all every one")
        for name in runner.names() if "all" in options.names else options.names:
            run(name, options)
    except WeftError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


def run(name: str, options: argparse.Namespace) -> None:
    """Run one study, print what it found, and write its files into the folder of ``options``."""
    clock, out = time.perf_counter(), options.out
    study = runner.run(
        name,
        lambda text: print(f"  {text}", file=sys.stderr, flush=True),
        options.n,
        options.seeds,
        options.only,
        options.quick,
        options.coarse,
        options.random,
        options.seed,
    )
    say(f"{study.title}\n\n{study.table.text()}\n")
    for finding in study.findings:
        say(f"- {finding}")
    written = "  ".join(str(path) for path in study.write(out))
    say(f"\n{name} in {time.perf_counter() - clock:.0f} s: {written}")
    if study.missing():
        say(study.missing())
    say("")


def say(text: str) -> None:
    """Print a line at once, also where the output is a file."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
