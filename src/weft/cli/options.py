"""Options and helpers that several commands share."""

import os
from pathlib import Path
from typing import Annotated

import typer

from weft.base.terminal import new_console

Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:N.", metavar="NAME")]
Threads = Annotated[
    int | None,
    typer.Option(help="CPU threads that share large kernels.", min=1, show_default="all"),
]
Out = Annotated[Path | None, typer.Option(help="Folder of the run.", metavar="DIR")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change a field of the scene: cloth.sheet.nx=80. Repeatable.",
        metavar="PATH=VALUE",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
# Those of ``weft.show.looks``, which takes a second to import.
LOOK_NAMES = (
    "panels, checker, plain, strain, pressure, stress, stress-warp, stress-weft, stress-shear, "
    "curvature, fit or speed"
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def one_blas_thread() -> None:
    """Dense matrices of small meshes are small: threads of NumPy's BLAS cost more than they win,
    several times so where other programs run. To be called before NumPy is imported; what the
    environment says holds.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def configure(device: str, threads: int | None) -> None:
    """Choose device and threads for the process."""
    from weft import kernel

    kernel.configure(device=device, threads=threads)


def say(text: str, *, error: bool = False) -> None:
    """Print one line to the terminal, as it is."""
    new_console(error=error, soft_wrap=True).print(text)


def print_json(data: object) -> None:
    """JSON to standard output."""
    import json

    typer.echo(json.dumps(data, indent=2))


def tell_compiling() -> None:
    """Say once on stderr when kernels are compiled."""
    from weft import kernel

    def on_compile(module: str) -> None:
        if kernel.claim_compile_notice():
            say(kernel.COMPILING, error=True)

    kernel.configure(on_compile=on_compile)
