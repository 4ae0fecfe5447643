"""``weft view``: a run in the browser."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import say


def view(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    html: Annotated[
        Path | None,
        typer.Option("--html", help="The page to write.", show_default="RUN.html, and open it"),
    ] = None,
    frames: Annotated[
        str | None,
        typer.Option(help="A:B or A:B:STEP, the last one included.", show_default="all"),
    ] = None,
    density: Annotated[
        int | None, typer.Option(min=1, help="Of splines: samples a knot span.")
    ] = None,
    stress: Annotated[
        bool, typer.Option("--stress", help="Make stress of a run that did not record it.")
    ] = False,
) -> None:
    """Look at a run in a browser: all of it as one HTML file that needs no network.

    Play, turn, zoom; colors by panel, strain, stress or pressure; metrics along the time line
    (docs/viewing.md). Without --html the page lies beside the run, and is opened where there is a
    display.
    """
    from rich.console import Console
    from rich.progress import Progress

    from weft.run import Run
    from weft.scene.of_run import physics_of
    from weft.view.content import content_of
    from weft.view.page import errors_of, write_page

    opened = Run(run)
    out = html if html is not None else beside(opened.path)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("packing", total=None)
        content = content_of(
            opened, frames, density=density,
            on_frame=lambda done, count: bar.update(task, completed=done, total=count),
            physics=physics_of(opened, ["stress"]) if stress else None,
        )  # fmt: skip
    size = write_page(out, content)
    count = len(content.about["numbers"])
    say(f"wrote    {out} ({count} frame{'s' * (count > 1)}, {size / 1e6:.1f} MB)")
    say(f"within   {errors_of(content)}")
    if html is not None:
        return
    if has_display() and webbrowser.open(out.resolve().as_uri()):
        say("opened   in the browser")
    else:
        say("no display here: copy the file to a machine with a browser and open it there")


def beside(folder: Path) -> Path:
    """The page of a run whose place nobody chose."""
    whole = folder.resolve()
    return whole.with_name(f"{whole.name}.html")


def has_display() -> bool:
    """True where a window can be opened."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
