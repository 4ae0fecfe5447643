"""``weft mannequin``: a body of given measures, as a mesh, a motion or a table."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.terminal import new_console
from weft.base.trees import Json
from weft.cli.options import AsJson, new_table, print_json, say, split_pairs

if TYPE_CHECKING:
    from weft.plugins.garments.mannequin import Mannequin, Measurements, MotionSettings

Measure = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A measure: height=168 cm, chest, waist, hips, ... You can repeat this option.",
        metavar="NAME=LENGTH",
    ),
]


def mannequin(
    out: Annotated[
        Path | None, typer.Argument(help="A .obj or .ply of a pose, a .npz or .usdc of a motion.")
    ] = None,
    figure: Annotated[str, typer.Option(help="woman, man or child.")] = "woman",
    set_: Measure = None,
    body: Annotated[
        Path | None,
        typer.Option(help="A file with body measures, of weft or GarmentCode.", metavar="YAML"),
    ] = None,
    pose: Annotated[str, typer.Option(help="a_pose, t_pose, arms_down or sit.")] = "a_pose",
    motion: Annotated[
        str, typer.Option(help="Motion for a .npz or .usdc: walk, turn, sit, arms_down or seated.")
    ] = "walk",
    hold: Annotated[str, typer.Option(help="Time in the a-pose at the start.")] = "0.5 s",
    blend: Annotated[
        str,
        typer.Option(
            help="Time of the transition from the a-pose into the motion, and back at the end."
        ),
    ] = "1 s",
    cycles: Annotated[float, typer.Option(help="Number of repetitions of the motion.")] = 2,
    speed: Annotated[str | None, typer.Option(help="Walking speed: 1.2 m/s.")] = None,
    forward: Annotated[
        bool, typer.Option("--forward", help="Walk forward instead of in place.")
    ] = False,
    fps: Annotated[float, typer.Option(help="Frames per second of a motion.")] = 50.0,
    json: AsJson = False,
) -> None:
    """Make a body: a mesh of a pose, the frames of a motion, and its measurements.

    `weft mannequin walk.npz --set "height=172 cm"`; a scene reads the file as mesh of a
    body, or makes its own mannequin: `weft explain scene.bodies.mannequin`. USD files have a
    skeleton and its skin (UsdSkel).
    """
    from weft.base.errors import MannequinError
    from weft.io import FORMATS, suffixes, write_mesh
    from weft.plugins.garments.bodies.body_measures import measures_by_name, read_body
    from weft.plugins.garments.mannequin import MotionSettings
    from weft.plugins.garments.mannequin import mannequin as make
    from weft.plugins.garments.mannequin.measures import LENGTHS

    named = split_pairs(set_, MannequinError, "NAME=LENGTH: chest=92 cm")
    if body is not None:
        given = read_body(body.name, body.parent)
        own = {n: measures_by_name()[n].name for n in LENGTHS}
        named = {n: f"{given[m]} m" for n, m in own.items() if m in given} | dict(named)
    form = FORMATS.get(out.suffix.lower()) if out is not None else None
    moving = form is not None and (form.skinned is not None or form is FORMATS[".npz"])
    if out is not None and not moving and (form is None or form.write is None):
        expected = f"{suffixes('write')}; {suffixes('skinned')}, or .npz, of a motion"
        raise MannequinError("file", got=out.suffix or "no suffix", expected=expected)
    if out is not None and not out.absolute().parent.is_dir():
        raise MannequinError("file", got=str(out), expected="a folder that exists")
    made = make(figure, **named)
    if out is not None and not moving:
        write_mesh(out, made.pose_vertices(pose), made.faces, None)
    elif out is not None:
        asked: Json = {"hold": hold, "blend": blend, "cycles": cycles, "speed": speed}
        settings = MotionSettings(motion, forward=forward, **asked)
        count = _write_motion(out, made, settings, fps)
    if json:
        print_json(dataclasses.asdict(made.measurements))
        return
    _table(made.measurements)
    if out is not None:
        what = f"{count} frames at {fps:g} fps" if moving else pose
        say(f"wrote    {out} ({what}, {len(made.vertices)} vertices, {len(made.faces)} faces)")


def _write_motion(out: Path, made: "Mannequin", settings: "MotionSettings", fps: float) -> int:
    """Write the frames of a motion, or of its skeleton, and return how many there are."""
    import numpy as np

    from weft.io import FORMATS
    from weft.io.files import atomic_write

    skinned = FORMATS[out.suffix.lower()].skinned
    if skinned is not None:
        bones = made.animate_skeleton(settings, fps=fps)
        skinned(out, bones)
        return len(bones.turns)
    frames = made.animate(settings, fps=fps)
    with atomic_write(out) as file:
        x = frames.positions.astype(np.float32)
        np.savez_compressed(file, positions=x, times=frames.times, faces=made.faces)
    return len(frames.times)


def _table(measurements: "Measurements") -> None:
    """Print every measurement in centimeters."""
    table = new_table("measurement", "cm", right=["cm"])
    for name, value in dataclasses.asdict(measurements).items():
        shown = value if isinstance(value, tuple) else (value,)
        table.add_row(name.replace("_", " "), ", ".join(f"{100 * v:.1f}" for v in shown))
    new_console().print(table)
