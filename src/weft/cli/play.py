"""``weft play``: a simulation in the browser, which can be touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import Device, Set, Threads, keep_changes, meters, say
from weft.cli.view import serve

if TYPE_CHECKING:
    from weft.scene.scene_input import NewScene


def play(
    scene: Annotated[
        Path | None,
        typer.Argument(
            help="A scene file, a garment's pattern (worn by a standing mannequin), or a mesh.",
            metavar="[SCENE | PATTERN | MESH]",
            show_default="a sheet above a sphere",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for saved files; weft creates it.", metavar="DIR", show_default="this one"
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            help="Length of one unit of a mesh's positions: 1 cm.",
            metavar="LENGTH",
            show_default="from the file, otherwise 1 m",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address of the server.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port of the server; if it is in use, the next free port.")
    ] = 8080,
    browser: Annotated[bool, typer.Option(help="Open a browser if there is a display.")] = True,
    follow: Annotated[bool, typer.Option("--follow", help="The camera follows the cloth.")] = False,
    set_: Set = None,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Pull and pin cloth, and change its numbers, in the browser during a simulation.

    The page saves settings, the present state and all actions as scene files for `weft run`
    (docs/guides/play.md). For a pattern or a mesh, weft writes NAME.scene.yaml into the folder of
    saved files, with what --set says; it keeps a file that you have edited.
    """
    from weft.io.files import folder_for
    from weft.live.order import Order
    from weft.live.process import SimulationProcess
    from weft.live.server import PlayServer
    from weft.scene.scene_input import scene_input

    folder = out or Path()
    unit = None if scale is None else meters(scale, "--scale")
    source = None if scene is None else scene_input(scene)
    changes = set_ or [] if source is None else source.overrides(set_ or [])
    with folder_for(folder), _scene_file(scene, unit, folder) as new:
        file, text = new
        order = Order(None, file, changes, text, folder=folder, device=device, threads=threads)
        process = SimulationProcess(order)
        try:
            process.page()  # what is wrong with the scene is told here
            server = PlayServer(process, host, port, follow=follow)
        except BaseException:
            process.close()
            raise
    if scene is not None and file != scene:
        keep_changes(new, changes)
        say(f"scene    {file}")
    serve(server, browser=browser)


@contextmanager
def _scene_file(given: Path | None, scale: float | None, folder: Path) -> Iterator["NewScene"]:
    """Yield the scene file to be played; that of a pattern or mesh lies in a folder."""
    from weft.io import FORMATS
    from weft.live.mesh_scene import mesh_scene_text
    from weft.scene.scene_input import NewScene, scene_beside, scene_input

    if given is None:
        with resources.as_file(resources.files("weft") / "scenes" / "play.yaml") as path:
            yield NewScene(path)
    elif (source := scene_input(given)) is not None:
        yield scene_beside(given, folder, source.scene_text)
    elif given.suffix.lower() in FORMATS:
        yield scene_beside(given, folder, partial(mesh_scene_text, scale=scale))
    else:
        yield NewScene(given)
