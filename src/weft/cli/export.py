"""``weft export``: frames of a run for other programs; patterns as drawings to scale."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import say
from weft.errors import RunError


def export(
    run: Annotated[
        Path, typer.Argument(help="Folder of a run, or a garment's pattern.", metavar="RUN")
    ],
    out: Annotated[
        Path,
        typer.Argument(
            help="A .obj or .ply file; with # for the number, all frames. Of a pattern, a .svg."
        ),
    ],
    frame: Annotated[int, typer.Option(help="Which frame; -1 is the last.")] = -1,
    density: Annotated[
        int | None, typer.Option(min=1, help="Of splines: samples a knot span.")
    ] = None,
    net: Annotated[bool, typer.Option("--net", help="Of splines: the control points.")] = False,
) -> None:
    """Write a frame as OBJ or PLY, in meters, y up, with material coordinates.

    `weft export RUN cloth.####.obj` writes all frames. `weft export skirt.yaml skirt.svg` draws a
    pattern to scale, to print and cut.
    """
    if run.is_file():
        _export_pattern(run, out)
        return
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


def _export_pattern(path: Path, out: Path) -> None:
    """A pattern as SVG, with its side-car file."""
    import warnings

    from weft.cli.check_pattern import is_pattern
    from weft.garment import read_pattern
    from weft.garment.check import checked
    from weft.render.pattern_svg import write_svg

    if not is_pattern(path):
        raise RunError("export", got=str(path), expected="the folder of a run, or a pattern file")
    if out.suffix.lower() != ".svg":
        raise RunError("export name", got=out.name, expected=".svg of a pattern")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pattern = read_pattern(path)
        checked(pattern)
        written = write_svg(out, pattern)
    for warning in caught:
        say(f"warning  {warning.message}")
    say(f"wrote    {written[0]} (to scale: print it at 100 %) and {written[1].name}")
