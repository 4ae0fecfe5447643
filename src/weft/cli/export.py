"""``weft export``: frames of a run for other programs; patterns as drawings to scale."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft import extensions
from weft.base.errors import RunError
from weft.base.trees import Json
from weft.cli.options import Density, Frames, count, say, split_names

if TYPE_CHECKING:
    from weft.io.animation import Animation
    from weft.run.frame_selection import Shutter
    from weft.run.run import Run


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or a pattern file.", metavar="RUN")],
    out: Annotated[
        Path,
        typer.Argument(
            help=(
                "All frames: .usdc, .usda, .usdz, .glb, .gltf, .vtkhdf, .pc2, .npz or .h5. "
                "One frame: .obj or .ply; with # for the number, one file per frame. For a "
                "pattern: .svg."
            )
        ),
    ],
    frame: Annotated[
        int | None,
        typer.Option(
            help="Number of one frame; -1 is the last.", show_default="the last of .obj, .ply"
        ),
    ] = None,
    frames: Frames = None,
    fps: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="Frames per second of the file.",
            show_default="the run's",
        ),
    ] = None,
    up: Annotated[str, typer.Option(help="Axis that points up: y or z.")] = "y",
    units: Annotated[str, typer.Option(help="m, cm, mm or in.")] = "m",
    first: Annotated[
        int | None,
        typer.Option(
            help="Number of the first frame in the file: 1001.", show_default="time x rate"
        ),
    ] = None,
    density: Density = None,
    net: Annotated[
        bool, typer.Option("--net", help="For splines: write the control points.")
    ] = False,
    weld: Annotated[
        bool,
        typer.Option("--weld", help="For garments as .obj or .ply: join the vertices of seams."),
    ] = False,
    udim: Annotated[
        bool, typer.Option("--udim", help="For USD: a UDIM tile for every panel.")
    ] = False,
    fields: Annotated[
        str | None,
        typer.Option(
            help=(
                "strain, stress, curvature, pressure, air, velocity, separated by commas: "
                "docs/guides/export.md."
            ),
            show_default="the fields that the run recorded",
        ),
    ] = None,
    shutter: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Interval of samples around every frame, in frames: -0.25 0.25."),
    ] = None,
    samples: Annotated[int, typer.Option(min=2, help="Number of samples with --shutter.")] = 3,
    onto: Annotated[
        Path | None,
        typer.Option(
            help=(
                "An asset (.usd or .obj) whose meshes follow the cloth; everything else in "
                "it stays. For USD the output is a layer over the asset."
            )
        ),
    ] = None,
    prim: Annotated[
        str | None,
        typer.Option(
            help="With --onto: a mesh for each cloth, separated by commas.",
            show_default="the meshes from which the cloths came",
        ),
    ] = None,
) -> None:
    """Write a run for other programs, with material coordinates: USD, glTF, VTKHDF, point
    caches and arrays contain all frames and bodies (docs/guides/export.md); OBJ and PLY one frame.

    `weft export RUN cloth.####.obj` writes one file per frame. `weft export skirt.yaml
    skirt.svg` draws a pattern to scale, to print and cut.
    """
    from weft.scene.scene_input import scene_input

    if run.is_file():
        source = scene_input(run)
        if source is None:
            expected = "the folder of a run, or a pattern file"
            raise RunError("export", got=str(run), expected=expected)
        source.export(run, out)
        return
    from weft.io import format_to_write, write_animation, write_mesh
    from weft.run.recorded_scene import physics_of
    from weft.run.run import Run

    opened = Run(run)
    form = format_to_write(out)
    if frame is not None and frames is not None:
        raise RunError("--frame, --frames", got="both", expected="one of them")
    single = form.write is not None and "#" not in out.name
    if single and frames is not None:
        raise RunError("--frames", got=out.name, expected="a name with #, as in cloth.####.obj")
    number = -1 if single and frame is None else frame
    chosen = frames if number is None else str(number)
    names = tuple(split_names(fields))
    carried: Json = {"fields": names, "physics": physics_of(opened, names)}
    if shutter is not None and (form.animate is None or "#" in out.name):
        raise RunError("--shutter", got=out.name, expected="a file of all frames: USD, .npz, ...")
    moments = None if shutter is None else _shutter(opened, shutter, samples)
    if onto is not None:
        if (up, units) != ("y", "m") or net or weld or udim or names or density:
            expected = "none of --up, --units, --density, --net, --weld, --udim, --fields"
            raise RunError("--onto", got="with one of them", expected=expected)
        export_onto = extensions.find("options", "onto")
        prims = split_names(prim)
        export_onto(opened, out, onto, prims, first, chosen, fps=fps, shutter=moments)
        return
    if weld and (form.write is None or (up, units, fps) != ("y", "m", None)):
        raise RunError("--weld", got=out.name, expected=".obj or .ply, in meters, y up")
    if form.animate is not None and "#" not in out.name:
        if net:
            raise RunError("--net", got=out.suffix, expected="a .obj or .ply file")
        animation = opened.animation(
            chosen,
            fps=fps,
            up=up,
            units=units,
            first=first,
            density=density,
            shutter=moments,
            **carried,
        )
        if udim and not (out.suffix.lower().startswith(".usd") and opened.appearances):
            expected = "a USD file of cloth with a surface (docs/guides/surfaces.md)"
            raise RunError("--udim", got=out.name, expected=expected)
        notes = write_animation(out, replace(animation, udim=udim))
        say(f"wrote    {out} ({count(animation.count, 'frame')} at {animation.fps:g} fps)")
        for note in notes:
            say(f"note     {note}")
        return
    if names and not form.carries_fields:
        say(f"note     {out.suffix} files carry no fields: {', '.join(names)} left out")
    if form.write is None:
        raise RunError(
            "export name",
            got=out.name,
            expected="a name without #, because the file contains all frames",
        )
    if (up, units, fps) != ("y", "m", None):
        if net:
            expected = "meters, y up, for control points"
            raise RunError("--net", got="with --up, --units or --fps", expected=expected)
        how: Json = {"up": up, "units": units, "density": density}
        for path, one in number_frames(opened, out, chosen, first, fps, **how):
            (moment,), cloth = one, one.cloth
            write_mesh(path, moment.positions[0], cloth.faces, cloth.corner_uv)
    else:
        for place, number in enumerate(numbers(opened, chosen)):
            path = number_path(out, number if first is None else first + place)
            opened.save(path, number, density=density, net=net, weld=weld, **carried)
    say(f"wrote    {out}")


def _shutter(run: "Run", times: tuple[float, float], samples: int) -> "Shutter":
    """Return the samples around every frame; with the scene, if there are steps between frames."""
    from weft.run.frame_selection import Shutter
    from weft.run.recorded_scene import load_described

    finer = run.manifest["steps_per_frame"] > 1
    return Shutter(*times, samples, load_described(run.manifest, run.path).scene if finer else None)


def numbers(run: "Run", frames: str | None) -> Sequence[int]:
    """Return the numbers of the frames that a text such as ``0:10:2`` selects; None: all."""
    from weft.run.frame_selection import FrameSelection

    return FrameSelection.of(frames).numbers(len(run), str(run.path))


def number_frames(
    run: "Run", out: Path, frames: str | None, first: int | None, fps: float | None, **how: object
) -> "Iterator[tuple[Path, Animation]]":
    """Yield the path of a file for every frame of a run, and this frame alone.

    A file has the number of the frame in the run, unless its first number or a rate are given.
    """
    own = numbers(run, frames) if first is None and fps is None else None
    first = first if own is None else own[0]
    animation = run.animation(frames, first=first, fps=fps, **how)  # type: ignore[arg-type]
    for k, number in enumerate(own or animation.numbers):
        one = replace(animation, count=1, moment={0: animation.moment(k)}.__getitem__)
        yield number_path(out, int(number)), one


def number_path(out: Path, number: int) -> Path:
    """Return the name with a number in place of its # signs, if it has some.

    Raises:
        RunError: several groups of them.
    """
    digits = out.name.count("#")
    if "#" * digits not in out.name:
        raise RunError("export name", got=out.name, expected="one group of #, as in cloth.####.obj")
    return out.with_name(re.sub("#+", f"{number:0{digits}d}", out.name))
