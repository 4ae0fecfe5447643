"""``weft view``: a run in a browser, from a server here or as a page."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.errors import RunError, WeftError
from weft.cli.options import (
    LOOK_NAMES,
    Density,
    Frames,
    RunPath,
    count,
    counting_bar,
    say,
    split_names,
)

if TYPE_CHECKING:
    from weft.cloth.fields import Physics
    from weft.run.run import Run
    from weft.show.viewer.followed_run import FollowedRun
    from weft.show.viewer.server import PageServer

STRESS = "stress"  # what the names of looks begin with that need the scene's laws


def view(
    run: RunPath,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page: one file that contains everything."),
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Serve the page to browsers.")] = False,
    frames: Frames = None,
    density: Density = None,
    look: Annotated[
        str | None,
        typer.Option(
            help=f"{LOOK_NAMES}. For a page: several looks, separated by commas.",
            show_default="for a page: strain, pressure",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address of the server.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port of the server; if it is in use, the next free port.")
    ] = 8080,
) -> None:
    """Look at a run: play, turn, zoom; colors by panel, strain, pressure or stress; metrics along
    the time line. The page follows a run that still continues.

    With a display, weft opens a browser; without a display it writes a page beside the run. --web
    always serves the page. --html writes a page that needs no network (docs/guides/viewer.md).
    """
    if web and html is not None:
        raise RunError("weft view", got="--html and --web", expected="one of them")
    from weft.run.run import Run

    opened = Run(run)
    if html is None and (web or has_display()):
        from weft.show.viewer.run_server import ViewerServer

        serve(ViewerServer(_follow(opened, frames, density, look), host, port))
        return
    if html is None:
        say(
            f"page     no display here; `weft view {run} --web` serves the page, --html FILE "
            "writes it"
        )
    _page(opened, html, frames, density, look)


def _follow(run: "Run", frames: str | None, density: int | None, look: str | None) -> "FollowedRun":
    from weft.run.run import Run
    from weft.show.viewer.followed_run import FollowedRun

    if look is not None and "," in look:
        raise RunError("--look", got=look, expected="a single look, because the run is served")
    return FollowedRun(
        lambda: Run(run.path), frames, density=density, physics=physics_of(run), look=look
    )


def physics_of(run: "Run") -> "Physics | None":
    """Laws of a run's scene file; None where the run recorded stress, or there is no such file."""
    if not run.manifest.get("description", {}):
        return None
    from weft.run import recorded_scene

    try:
        return recorded_scene.physics_of(run, [STRESS])
    except WeftError as error:
        say(f"note     no stress: {error}", error=True)
        return None


def serve(server: "PageServer", *, browser: bool = True) -> None:
    """Serve a page until Ctrl-C, after its address was printed and opened in a browser.

    Args:
        server: of the page.
        browser: whether to open one, where there is a display.
    """
    say(f"serving  {server.url} (Ctrl-C ends it)")
    if not browser:
        pass
    elif not (has_display() and webbrowser.open(server.url)):
        say(
            "no display here: open the page in a browser; from another machine use ssh -L "
            f"{server.port}:127.0.0.1:{server.port} THIS-MACHINE"
        )
    server.serve()


def _page(
    run: "Run", html: Path | None, frames: str | None, density: int | None, look: str | None
) -> None:
    from weft.show.looks import LOOKS
    from weft.show.viewer.page import content_of, errors_of, write_page

    out = html if html is not None else page_path(run.path)
    # Looks without numbers take no room: they are on every page.
    colors = [name for name, chosen in LOOKS.items() if chosen.values is None]
    looks = None if look is None else [n for n in split_names(look) if n not in colors]
    physics = physics_of(run) if any(n.startswith(STRESS) for n in looks or ()) else None
    with counting_bar("packing") as shown:
        content = content_of(
            run, frames, density=density, looks=looks, physics=physics, on_frame=shown
        )
    size = write_page(out, content)
    frame_count = count(len(content.about["numbers"]), "frame")
    say(f"wrote    {out} ({frame_count}, {size / 1e6:.1f} MB)")
    say(f"within   {errors_of(content)}")
    if html is not None:
        return
    if has_display() and webbrowser.open(out.resolve().as_uri()):
        say("opened   in the browser")
    else:
        say("next     copy the file to a machine with a browser and open it there")


def page_path(folder: Path) -> Path:
    """The page of a run whose place nobody chose."""
    whole = folder.resolve()
    return whole.with_name(f"{whole.name}.html")


def has_display() -> bool:
    """True where a window can be opened."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
