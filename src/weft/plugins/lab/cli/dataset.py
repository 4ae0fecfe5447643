"""``weft dataset``: a sweep as one file for machine learning."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import Quiet, SweepPath, say


def dataset(
    sweep: SweepPath,
    out: Annotated[Path, typer.Argument(help="A .zarr, .h5, .nc or .parquet.", metavar="OUT")],
    quantise: Annotated[
        str | None,
        typer.Option(help="Round positions to multiples of this length: 0.1 mm.", metavar="LENGTH"),
    ] = None,
    frames: Annotated[str, typer.Option(help="Frames: last or all.")] = "last",
    good: Annotated[
        bool, typer.Option("--good", help="Only samples that pass the filters.")
    ] = False,
    chunk: Annotated[
        int | None,
        typer.Option(min=1, help="Samples per chunk; use 1 for reading in random order."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the finished samples of a sweep as one data set: positions, faces, parameters, measures
    and quality flags, with attributes that say how it was made.
    """
    from weft.base.units import to_si
    from weft.plugins.lab.sweep.dataset import DatasetOptions, write_dataset
    from weft.plugins.lab.sweep.folder import open_sweep

    quantum = None if quantise is None else to_si(quantise, "m", "--quantise")
    report = write_dataset(open_sweep(sweep), out, DatasetOptions(quantum, frames, good, chunk))
    if quiet:
        return
    left = ", ".join(f"{n} {why}" for why, n in report.left_out.items())
    say(
        f"data set {report.path}  ({report.samples} samples{'; left out: ' + left if left else ''})"
    )
    if quantum is not None:
        say(f"error    at most {report.error:.3g} m, of {quantum / 2:.3g} m")
