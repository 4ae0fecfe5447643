"""``weft view``: a run in a window, in a browser, or as a page."""

import os
import sys
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.errors import RunError, WeftError
from weft.base.terminal import bar
from weft.cli.options import say

if TYPE_CHECKING:
    from weft.cloth.fields import Physics
    from weft.run.run import Run
    from weft.show.viewer.player import Player

ALWAYS = ("panels", "checker", "plain")  # looks that take no room on a page
STRESS = "stress"  # what the names of looks begin with that need the scene's laws


def view(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    html: Annotated[
        Path | None,
        typer.Option("--html", help="The page to write: one file with everything in it."),
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Serve it to browsers.")] = False,
    window: Annotated[bool, typer.Option("--window", help="A window, or an error.")] = False,
    frames: Annotated[
        str | None,
        typer.Option(help="A:B\\[:STEP], the last one included.", show_default="all"),
    ] = None,
    density: Annotated[
        int | None, typer.Option(min=1, help="Of splines: samples a knot span.")
    ] = None,
    look: Annotated[
        str | None,
        typer.Option(
            help="panels, checker, plain, strain, pressure, stress, stress-warp, stress-weft, "
            "stress-shear, curvature, fit or speed. Of a page: those it holds, with commas.",
            show_default="of a page: strain, pressure",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Of --web: address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Of --web; where taken, the next.")] = 8080,
) -> None:
    """Look at a run: play, turn, zoom; colors by panel, strain, pressure or stress; metrics along
    the time line. A run that is going on is followed.

    A window where there is a display and polyscope is installed, else a page beside the run. --web
    serves it, --html writes a page that needs no network and can be mailed (docs/viewing.md).
    """
    given = [n for n, on in (("--html", html), ("--web", web), ("--window", window)) if on]
    if len(given) > 1:
        raise RunError("weft view", got=" and ".join(given), expected="one of them")
    from weft.run.run import Run

    opened = Run(run)
    if web:
        _serve(_player(opened, frames, density, look), host, port)
        return
    why = "" if window else no_window()
    if html is None and not why:
        try:
            _window(_player(opened, frames, density, look))
            return
        except NoWindow as error:
            if window:
                raise
            why = f"no window: {error.got}"
    if html is None:
        say(f"page     {why}; or: weft view {run} --web serves it, --html FILE writes it there")
    _page(opened, html, frames, density, look)


class NoWindow(RunError):
    """A window could not be opened."""


def no_window() -> str:
    """Why no window is opened here, in words; empty where one can be."""
    if not has_display():
        return "no display here"
    if find_spec("polyscope") is None:
        return "no package polyscope for a window (pip install 'weft[view]')"
    return ""


def _player(run: "Run", frames: str | None, density: int | None, look: str | None) -> "Player":
    from weft.run.run import Run
    from weft.show.viewer.player import Player

    if look is not None and "," in look:
        raise RunError("--look", got=look, expected="one look of a window or of --web")
    return Player(
        lambda: Run(run.path), frames, density=density, physics=physics_of(run), look=look
    )


def physics_of(run: "Run") -> "Physics | None":
    """Laws of a run's scene file; None where the run recorded stress, or there is no such file."""
    if not run.manifest.get("description", {}):
        return None
    from weft.scene import of_run

    try:
        return of_run.physics_of(run, [STRESS])
    except WeftError as error:
        say(f"note     no stress: {error}", error=True)
        return None


def _window(player: "Player") -> None:
    from weft.show.viewer.window import Window

    try:
        shown = Window(player)
    except RunError as error:
        if error.what != "window":
            raise
        raise NoWindow(
            error.what, got=error.got, expected=error.expected, hint=error.hint
        ) from error
    shown.show()


def _serve(player: "Player", host: str, port: int) -> None:
    from weft.show.viewer.web import Web

    web = Web(player, host, port)
    say(f"serving  {web.url} (Ctrl-C ends it)")
    if not (has_display() and webbrowser.open(web.url)):
        number = web.server.get_port()
        say(
            f"no display here: open it in a browser, from elsewhere through "
            f"ssh -L {number}:127.0.0.1:{number} THIS-MACHINE"
        )
    web.serve()


def _page(
    run: "Run", html: Path | None, frames: str | None, density: int | None, look: str | None
) -> None:
    from weft.show.viewer.page import errors_of, write_page
    from weft.show.viewer.page_content import content_of

    out = html if html is not None else beside(run.path)
    names = None if look is None else [n.strip() for n in look.split(",") if n.strip()]
    looks = None if names is None else [n for n in names if n not in ALWAYS]
    physics = physics_of(run) if any(n.startswith(STRESS) for n in looks or ()) else None
    with bar(transient=True) as shown:
        task = shown.add_task("packing", total=None)
        told: Callable[[int, int], None] = lambda done, count: shown.update(  # noqa: E731
            task, completed=done, total=count
        )
        content = content_of(
            run, frames, density=density, looks=looks, physics=physics, on_frame=told
        )
    size = write_page(out, content)
    count = len(content.about["numbers"])
    say(f"wrote    {out} ({count} frame{'s' * (count > 1)}, {size / 1e6:.1f} MB)")
    say(f"within   {errors_of(content)}")
    if html is not None:
        return
    if has_display() and webbrowser.open(out.resolve().as_uri()):
        say("opened   in the browser")
    else:
        say("next     copy the file to a machine with a browser and open it there")


def beside(folder: Path) -> Path:
    """The page of a run whose place nobody chose."""
    whole = folder.resolve()
    return whole.with_name(f"{whole.name}.html")


def has_display() -> bool:
    """True where a window can be opened."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
