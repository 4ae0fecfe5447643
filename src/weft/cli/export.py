"""``weft export``: frames of a run for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import say
from weft.errors import RunError


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")],
    out: Annotated[
        Path, typer.Argument(help="A .obj or .ply file; with # for the number, all frames.")
    ],
    frame: Annotated[int, typer.Option(help="Which frame; -1 is the last.")] = -1,
    density: Annotated[
        int | None, typer.Option(min=1, help="Of splines: samples a knot span.")
    ] = None,
    net: Annotated[bool, typer.Option("--net", help="Of splines: the control points.")] = False,
) -> None:
    """Write a frame as OBJ or PLY, in meters, y up, with material coordinates.

    `weft export RUN cloth.####.obj` writes all frames.
    """
    from weft.run import Run

    opened = Run(run)
    digits = out.name.count("#")
    if digits == 0:
        say(f"wrote    {opened.save(out, frame, density=density, net=net)}")
        return
    if "#" * digits not in out.name:
        raise RunError("export name", got=out.name, expected="one group of #, as in cloth.####.obj")
    for number in range(len(opened)):
        file = out.with_name(out.name.replace("#" * digits, f"{number:0{digits}d}"))
        opened.save(file, number, density=density, net=net)
    say(f"wrote    {len(opened)} frames to {out}")
