"""Options and helpers that several commands share."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.errors import RunError, WeftError
from weft.base.terminal import bar, new_console

if TYPE_CHECKING:
    from rich.table import Table

    from weft.scene.scene_input import NewScene

RunPath = Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")]
SceneFile = Annotated[Path, typer.Argument(help="A scene file.", metavar="SCENE.yaml")]
SweepPath = Annotated[
    Path, typer.Argument(help="Folder of a sweep, or its sweep file.", metavar="SWEEP")
]
Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:N.", metavar="NAME")]
Threads = Annotated[
    int | None,
    typer.Option(help="Number of CPU threads.", min=1, show_default="all"),
]
Out = Annotated[Path | None, typer.Option(help="Folder of the run.", metavar="DIR")]


def png(path: Path | None) -> Path | None:
    """Return the path of a picture that is written as PNG.

    Raises:
        RunError: another suffix.
    """
    if path is not None and path.suffix.lower() != ".png":
        raise RunError("picture", got=path.suffix or "no suffix", expected=".png", where=path)
    return path


Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change a field of the scene: cloth.sheet.nx=80. You can repeat this option.",
        metavar="PATH=VALUE",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a run that stopped.")]
Frames = Annotated[str | None, typer.Option(help="A:B\\[:STEP], including B.", show_default="all")]
Density = Annotated[int | None, typer.Option(min=1, help="For splines: samples per knot span.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
# Those of ``weft.show.looks``, which takes a second to import.
LOOK_NAMES = (
    "surface, fabric, panels, checker, plain, strain, pressure, stress, stress-warp, stress-weft, "
    "stress-shear, curvature, fit or speed"
)
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.")]


def one_blas_thread() -> None:
    """Let NumPy's BLAS use one thread, unless the environment says otherwise; to be called before
    NumPy is imported.

    Dense matrices of small meshes are small: threads cost more than they win, several times so
    where other programs run.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def configure(device: str, threads: int | None) -> None:
    """Choose device and threads for the process."""
    from weft import kernel

    kernel.configure(device=device, threads=threads)


_ARGUMENT = re.compile(r"(?<!`)`([a-z_]+)=([^`]*)`(?!`)")  # of a function, in messages


def say(text: str, *, error: bool = False) -> None:
    """Print one line to the terminal, with options where it names arguments of Python."""
    new_console(error=error, soft_wrap=True).print(_ARGUMENT.sub(_option, text))


def _option(match: re.Match[str]) -> str:
    """Return the option of a command that has the name of an argument: ``--frames 0:48``."""
    name, value = match[1].replace("from_frame", "from").replace("_", "-"), match[2]
    return f"--{name}" + (f" {value}" if value not in ("", "True") else "")


def keep_changes(scene: "NewScene", changes: Sequence[str]) -> None:
    """Write a scene file of weft with what ``--set`` said, or say that it is not there."""
    from weft.scene.file import keep_overrides

    if not keep_overrides(scene.path, changes, scene.text):
        say(
            f"note     {scene.path} has comments or another layout, which weft keeps: what "
            "--set says holds for this command only"
        )


def notes(*, silent: bool) -> Callable[[str], None]:
    """Return a function that prints a line on standard error; ``silent``: one that does nothing."""
    return (lambda text: None) if silent else (lambda text: say(text, error=True))


@contextmanager
def picture_beside_results(option: str = "--picture PNG") -> Iterator[None]:
    """Say that a picture cannot be written, where the results of a command do not need it.

    Args:
        option: of the command, which names another place.
    """
    try:
        yield
    except RunError as error:
        if error.where is None:  # a package that is missing
            say(f"picture  not written: {error}")
        else:
            say(f"picture  not written: {error.what}: {error.got} ({error.where}); use {option}")


def say_problems(warnings: Sequence[object], errors: Sequence[object]) -> None:
    """Print a line for every warning and error."""
    for kind, problems in (("warning", warnings), ("error", errors)):
        for problem in problems:
            say(f"{kind:8} {problem}")


def end_check(n_warnings: int, errors: Sequence[object]) -> None:
    """Print the count of warnings of a check that found no errors; otherwise exit with 1."""
    if errors:
        raise typer.Exit(1)
    say(f"no errors, {count(n_warnings, 'warning')}" if n_warnings else "no problems")


def count(n: int, noun: str) -> str:
    """Return a number with its noun: ``1 frame``, ``2 frames``."""
    return f"{n} {noun}{'s' * (n != 1)}"


def print_json(data: object) -> None:
    """Print JSON to standard output."""
    typer.echo(json.dumps(data, indent=2))


def write_json(path: Path, data: object) -> None:
    """Write JSON to a file."""
    from weft.io.files import write_file

    write_file(path, json.dumps(data, indent=2) + "\n")


def new_table(*columns: str, title: str | None = None, right: Sequence[str] = ()) -> "Table":
    """Return a table of rich without frames, with these columns.

    Args:
        *columns: their heads.
        title: above the table.
        right: heads of the columns that are aligned to the right.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False, title=title, title_justify="left")
    for head in columns:
        table.add_column(head, overflow="fold", justify="right" if head in right else "left")
    return table


def split_pairs(
    texts: Sequence[str] | None, error: type[WeftError], expected: str
) -> Mapping[str, str]:
    """Return the names and values of options ``--set NAME=VALUE``.

    Raises:
        WeftError: of the class ``error``; a text without ``=``.
    """
    pairs = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise error("--set", got=repr(text), expected=expected)
        pairs[name.strip()] = value.strip()
    return pairs


def split_names(text: str | None) -> list[str]:
    """Return the names in a text with commas between them."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def meters(text: str, option: str) -> float:
    """Return a length [m] that an option gives as a number in meters or with its unit."""
    from weft.base.units import to_si

    try:
        return float(text)
    except ValueError:
        return to_si(text, "m", option)


@contextmanager
def counting_bar(text: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar; yield a function of the numbers of things done and of all things."""
    with bar(transient=True) as shown:
        task = shown.add_task(text, total=None)
        yield lambda done, of: shown.update(task, completed=done, total=of)


def tell_compiling() -> None:
    """Say once on stderr when kernels are compiled."""
    from weft import kernel

    def on_compile(module: str) -> None:
        if kernel.claim_compile_notice():
            say(kernel.COMPILING, error=True)

    kernel.configure(on_compile=on_compile)
