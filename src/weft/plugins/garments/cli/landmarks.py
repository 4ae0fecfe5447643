"""``weft landmarks``: the landmarks and girths of a person, from a mesh."""

from pathlib import Path
from typing import Annotated

import typer

from weft.base.errors import WeftError
from weft.base.terminal import new_console
from weft.cli.check import three_numbers
from weft.cli.options import (
    end_check,
    meters,
    new_table,
    picture_beside_results,
    png,
    say,
    say_problems,
)


def landmarks(
    path: Annotated[Path, typer.Argument(help="A mesh of a standing person.")],
    scale: Annotated[
        str | None,
        typer.Option(
            help="Length of one unit of the positions: 1 cm.",
            metavar="LENGTH",
            show_default="from the file, otherwise 1 m",
        ),
    ] = None,
    prim: Annotated[
        str | None, typer.Option(help="Path or name of the mesh in a USD or glTF file.")
    ] = None,
    rotation: Annotated[
        str | None,
        typer.Option(help="Rotation of the body in degrees: -90,0,0 if z is up.", metavar="X,Y,Z"),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Picture of the landmarks.", metavar="PNG", callback=png)
    ] = None,
) -> None:
    """Find the landmarks and girths of a person, and draw them; exit status 1 if there are none."""
    from weft.contact import load_body
    from weft.plugins.garments.bodies.landmarks import find_landmarks
    from weft.plugins.garments.sheets.landmark_picture import save_landmarks

    target = picture or path.with_suffix(".landmarks.png")
    turn = three_numbers(rotation, "--rotation") or (0.0, 0.0, 0.0)
    try:
        unit = None if scale is None else meters(scale, "--scale")
        person = load_body(path, unit, path.stem, prim).move((0.0, 0.0, 0.0), rotation=turn)
        marks = find_landmarks(person)
    except WeftError as error:
        say_problems((), [error])
        raise typer.Exit(1) from None
    table = new_table("landmark or girth", "cm", right=["cm"])
    table.add_row("height", f"{100 * marks.height:.1f}")
    for name, point in marks.points.items():
        table.add_row(name.replace("_", " "), ", ".join(f"{100 * v:.1f}" for v in point))
    for name, girth in marks.girths.items():
        table.add_row(f"{name} girth".replace("_", " "), f"{100 * girth:.1f}")
    new_console().print(table)
    with picture_beside_results():
        save_landmarks(target, person.vertices, person.faces, marks)
        say(f"picture  {target}")
    end_check(0, ())
