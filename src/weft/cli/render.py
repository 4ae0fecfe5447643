"""``weft render``: pictures of a run."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import Device, Threads, configure, say, tell_compiling


def render(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    out: Annotated[
        Path, typer.Argument(help="A .png (one frame), .mp4 or .webp (all).", metavar="OUT")
    ],
    look: Annotated[
        str, typer.Option(help="checker, panels, plain, strain, curvature, pressure or fit.")
    ] = "checker",
    frame: Annotated[int, typer.Option(help="Frame of a .png; -1 is the last.")] = -1,
    width: Annotated[int, typer.Option(help="Pixels.")] = 1280,
    height: Annotated[int, typer.Option(help="Pixels.")] = 720,
    azimuth: Annotated[float, typer.Option(help="Degrees to the right of the front.")] = 28.0,
    elevation: Annotated[float, typer.Option(help="Degrees above the horizon.")] = 14.0,
    ground: Annotated[bool, typer.Option(help="A ground with the cloth's shadow.")] = True,
    whole: Annotated[bool, typer.Option("--whole", help="Show bodies whole, too.")] = False,
    contacts: Annotated[bool, typer.Option(help="A dot where cloth touches.")] = False,
    density: Annotated[
        int | None, typer.Option(min=1, help="Of splines: samples a knot span.")
    ] = None,
    sheet: Annotated[
        int | None, typer.Option(help="So many frames side by side, in a .png.", metavar="COUNT")
    ] = None,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Draw a run: one frame as PNG, all frames as MP4 or animated WebP, some in a contact sheet."""
    configure(device, threads)
    tell_compiling()
    from rich.console import Console
    from rich.progress import Progress

    from weft.render.picture import Style, look_named
    from weft.run import Run

    style = Style(look_named(look), width, height, 2, azimuth, elevation, ground, whole)
    opened = Run(run)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("drawing", total=len(opened))
        opened.render(
            out, frame=frame, style=style, contacts=contacts, density=density, sheet=sheet,
            on_frame=lambda done, count: bar.update(task, completed=done, total=count),
        )  # fmt: skip
    say(f"picture  {out}")
