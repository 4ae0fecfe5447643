"""``weft render``: pictures of a run."""

from pathlib import Path
from typing import Annotated

import typer

from weft.base.errors import RunError
from weft.cli.options import (
    LOOK_NAMES,
    Density,
    Device,
    RunPath,
    Threads,
    configure,
    counting_bar,
    say,
    tell_compiling,
)


def render(
    run: RunPath,
    out: Annotated[
        Path, typer.Argument(help="A .png (one frame), .mp4 or .webp (all).", metavar="OUT")
    ],
    look: Annotated[
        str | None,
        typer.Option(
            help=f"{LOOK_NAMES}.", show_default="surface, if the cloth has one; otherwise fabric"
        ),
    ] = None,
    frame: Annotated[int, typer.Option(help="Frame of a .png; -1 is the last.")] = -1,
    width: Annotated[int, typer.Option(help="Pixels.")] = 1280,
    height: Annotated[int, typer.Option(help="Pixels.")] = 720,
    azimuth: Annotated[float, typer.Option(help="Degrees to the right of the front.")] = 28.0,
    elevation: Annotated[float, typer.Option(help="Degrees above the horizon.")] = 14.0,
    ground: Annotated[bool, typer.Option(help="A ground with the cloth's shadow.")] = True,
    whole: Annotated[
        bool | None,
        typer.Option(
            help="Fit all bodies into the picture, or only the cloth.",
            show_default="bodies, unless they make the cloth small",
        ),
    ] = None,
    contacts: Annotated[bool, typer.Option(help="Draw a dot at every contact.")] = False,
    density: Density = None,
    sheet: Annotated[
        int | None, typer.Option(help="Number of frames side by side in a .png.", metavar="COUNT")
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, max=4, help="Samples per pixel and direction: 2 gives 4 samples.")
    ] = 2,
    soft: Annotated[bool, typer.Option(help="Ambient occlusion and soft shadows.")] = False,
    smooth: Annotated[
        int,
        typer.Option(min=0, max=3, help="Subdivisions of the drawn mesh, against visible facets."),
    ] = 0,
    thickness: Annotated[
        str | None, typer.Option(help="Thickness of the drawn cloth.", metavar="LENGTH")
    ] = None,
    weave: Annotated[
        str | None,
        typer.Option(
            help="Draw a weave: plain, twill or denim, and yarns per cm.", metavar="twill:24x18"
        ),
    ] = None,
    transparent: Annotated[
        bool, typer.Option("--transparent", help="No background: a .png or .webp with alpha.")
    ] = False,
    bodies: Annotated[bool, typer.Option(help="Draw bodies.")] = True,
    distance: Annotated[
        float, typer.Option(help="Distance of the camera: 1 shows the whole scene.")
    ] = 1.0,
    turn: Annotated[
        float,
        typer.Option(help="Degrees by which the camera turns around the cloth during the run."),
    ] = 0.0,
    camera: Annotated[
        str | None,
        typer.Option(help="Keyframes of the camera.", metavar="'0:30,15 60:120,10,0.6'"),
    ] = None,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Draw a run: one frame as PNG, all frames as MP4 or animated WebP, some in a contact sheet."""
    configure(device, threads)
    tell_compiling()
    from weft.base.units import to_si
    from weft.run.recorded_scene import physics_of
    from weft.run.run import Run
    from weft.show.looks import default_look
    from weft.show.picture.camera import read_keys, turntable
    from weft.show.picture.style import Style
    from weft.show.picture.weave import Weave

    opened = Run(run)
    look = look or default_look(opened)
    keys = read_keys(camera) if camera else ()
    if turn:
        if keys:
            raise RunError("--turn", got="--camera, too", expected="one of them")
        keys = turntable(len(opened), azimuth, elevation, turn, distance)
    style = Style(
        look,
        width,
        height,
        samples,
        azimuth,
        elevation,
        ground,
        whole,
        bodies,
        soft,
        transparent,
        smooth,
        None if thickness is None else to_si(thickness, "m", "--thickness"),
        Weave.read(weave) if weave else None,
        distance,
        keys,
    )
    with counting_bar("drawing") as shown:
        opened.render(
            out,
            frame=frame,
            style=style,
            contacts=contacts,
            density=density,
            sheet=sheet,
            on_frame=shown,
            physics=physics_of(opened, [look]),
        )
    say(f"picture  {out}")
