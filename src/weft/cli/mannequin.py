"""``weft mannequin``: a body of given measures, as a mesh, a motion or a table."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.terminal import new_console
from weft.cli.options import AsJson, new_table, print_json, say, split_pairs

if TYPE_CHECKING:
    from weft.mannequin import Measurements

Measure = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A measure: height=168 cm, chest, waist, hips, ... Repeatable.",
        metavar="NAME=LENGTH",
    ),
]


def mannequin(
    out: Annotated[
        Path | None, typer.Argument(help="A .obj or .ply of a pose, a .npz of a motion.")
    ] = None,
    figure: Annotated[str, typer.Option(help="woman or man.")] = "woman",
    set_: Measure = None,
    body: Annotated[
        Path | None,
        typer.Option(help="A file of its measures, weft's or GarmentCode's.", metavar="YAML"),
    ] = None,
    pose: Annotated[str, typer.Option(help="a_pose, t_pose, arms_down or sit.")] = "a_pose",
    motion: Annotated[str, typer.Option(help="Of a .npz: walk, turn, sit or arms_down.")] = "walk",
    hold: Annotated[str, typer.Option(help="Time in the a-pose at first.")] = "0.5 s",
    blend: Annotated[str, typer.Option(help="Time into the motion, and out of it.")] = "1 s",
    cycles: Annotated[float, typer.Option(help="Times that the motion is done.")] = 2,
    speed: Annotated[str | None, typer.Option(help="Of walking: 1.2 m/s.")] = None,
    forward: Annotated[bool, typer.Option("--forward", help="Walk ahead, not in place.")] = False,
    fps: Annotated[float, typer.Option(help="Frames a second of a motion.")] = 50.0,
    json: AsJson = False,
) -> None:
    """Make a body: a mesh of a pose, the frames of a motion, and its measurements.

    `weft mannequin walk.npz --set "height=172 cm"`; scenes read it as a body's mesh, and have
    mannequins of their own: `weft explain scene.bodies.mannequin`.
    """
    from weft.base.errors import MannequinError
    from weft.bodies.body_measures import BY_NAME, read_body
    from weft.io import FORMATS, suffixes, write_mesh
    from weft.mannequin import mannequin as make
    from weft.mannequin.measures import LENGTHS

    named = split_pairs(set_, MannequinError, "NAME=LENGTH: chest=92 cm")
    if body is not None:
        given = read_body(body.name, body.parent)
        own = {n: given[BY_NAME[n].name] for n in LENGTHS if BY_NAME[n].name in given}
        named = {n: f"{v} m" for n, v in own.items()} | dict(named)
    moving = out is not None and out.suffix.lower() == ".npz"
    if out is not None and not moving:
        form = FORMATS.get(out.suffix.lower())
        if form is None or form.write is None:
            expected = f"{suffixes('write')}, or .npz for a motion"
            raise MannequinError("file", got=out.suffix or "no suffix", expected=expected)
    if out is not None and not out.absolute().parent.is_dir():
        raise MannequinError("file", got=str(out), expected="a folder that exists")
    made = make(figure, **named)
    if out is not None and not moving:
        write_mesh(out, made.pose_vertices(pose), made.faces, None)
    elif out is not None:
        import numpy as np

        from weft.io.files import atomic_write

        frames = made.motion(
            motion, hold=hold, blend=blend, cycles=cycles, speed=speed, forward=forward, fps=fps
        )
        with atomic_write(out) as file:
            x = frames.positions.astype(np.float32)
            np.savez_compressed(file, positions=x, times=frames.times, faces=made.faces)
    if json:
        print_json(dataclasses.asdict(made.measurements))
        return
    _table(made.measurements)
    if out is not None:
        what = f"{len(frames.times)} frames at {fps:g} fps" if moving else pose
        say(f"wrote    {out} ({what}, {len(made.vertices)} vertices, {len(made.faces)} faces)")


def _table(measurements: "Measurements") -> None:
    """Print every measurement in centimeters."""
    table = new_table("measurement", "cm", right=["cm"])
    for name, value in dataclasses.asdict(measurements).items():
        shown = value if isinstance(value, tuple) else (value,)
        table.add_row(name.replace("_", " "), ", ".join(f"{100 * v:.1f}" for v in shown))
    new_console().print(table)
