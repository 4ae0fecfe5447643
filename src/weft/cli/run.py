"""``weft run``: simulate a scene file."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.errors import Outlook, point_text
from weft.cli.options import (
    Device,
    Out,
    Quiet,
    Resume,
    Set,
    Threads,
    configure,
    keep_changes,
    say,
    say_problems,
)

if TYPE_CHECKING:
    from weft.run.progress import Update
    from weft.run.run_folder import RunFolder
    from weft.run.simulation import Progress
    from weft.scene.scene import Scene


def run(
    scene: Annotated[
        Path,
        typer.Argument(
            help="A scene file, or a garment's pattern (worn by a standing mannequin).",
            metavar="SCENE.yaml",
        ),
    ],
    out: Out = None,
    frames: Annotated[
        int | None,
        typer.Option(help="Number of the last frame.", show_default="the scene's", min=0),
    ] = None,
    resume: Resume = False,
    from_frame: Annotated[
        int | None,
        typer.Option(
            "--from", help="Continue after frame K, and delete later frames.", metavar="K"
        ),
    ] = None,
    preview: Annotated[
        Path | None,
        typer.Option(help="A picture of the newest frame, updated during the run.", metavar="PNG"),
    ] = None,
    quiet: Quiet = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print progress as JSON, one object per line.")
    ] = False,
    fsync: Annotated[bool, typer.Option(help="Wait until each frame is on the disk.")] = True,
    set_: Set = None,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Simulate a scene into a run folder.

    Ctrl-C or a kill loses at most the present step; `--resume` continues with bitwise the same
    result. With --json, lines have an event: start, compiling, step or done (frame, step, newton,
    increment, seconds, left, wrote). For a pattern, weft writes and runs NAME.scene.yaml, with what
    --set says; it keeps a file that you have edited.
    """
    configure(device, threads)
    from weft.run.plausibility import start_problems
    from weft.scene.build import load_scene
    from weft.scene.prepare import untangled_start
    from weft.scene.scene_input import NewScene, scene_beside, scene_input

    name = scene.stem
    folder = out or Path("runs") / name
    source = scene_input(scene)
    changes, new = set_ or [], NewScene(scene)
    if source is not None:
        new, changes = scene_beside(scene, Path(), source.scene_text), source.overrides(changes)
        scene = new.path
    loaded = load_scene(scene, changes, text=new.text)
    if source is not None:
        say_problems(source.doubts(loaded.builder), ())
    last = frames if frames is not None else loaded.frames
    for note in () if quiet or json else loaded.notes:
        say(f"size     {note}")
    for problem in () if quiet or json else start_problems(loaded.scene):
        if problem.outlook is Outlook.RESOLVES:  # the others are warned of
            say(f"start    {problem.outlook.value}: {problem.text}")
    untangled = untangled_start(loaded.scene)
    if untangled is not None and untangled.moved and not (quiet or json):
        say(f"start    {untangled}")
    again = ["weft", "run", str(scene), "--out", str(folder), "--resume"]
    again += [word for change in changes for word in ("--set", change)]
    simulate_into(
        loaded.scene,
        folder,
        last,
        loaded.fps,
        resume=resume,
        from_frame=from_frame,
        fsync=fsync,
        again=shlex.join(again),
        quiet=quiet,
        json=json,
        preview=preview,
        on_start=None if source is None else partial(keep_changes, new, changes),
    )
    if quiet or json:
        return
    say(f"run      {folder}  ({last} frames)")
    _tell_contact(folder)
    if source is not None:
        say(f"scene    {scene}")
        say(f"next     weft quality {folder}  (checks the fit)")
    say(f"next     weft render {folder} {name}.png  (or .webp)")


def _tell_contact(folder: Path) -> None:
    """Print the least distance of a run with contact, intersections, and where bodies pinched."""
    from weft.run.run import Run

    lines = Run(folder).metrics
    met = [m["contact"] for m in lines if m.get("contact")]
    least = [c["least_distance"] for c in met if c["least_distance"] is not None]
    if least:
        crossing, excluded = (
            max((m.get(name, 0) for m in lines), default=0)
            for name in ("intersections", "excluded_intersections")
        )
        apart = f", {excluded} excluded pairs that intersect" if excluded else ""
        say(
            f"contact  smallest distance {1e3 * min(least):.3g} mm, {crossing} intersections{apart}"
        )
    pinched = [c["pinched"] for c in met if "pinched" in c]
    if pinched:
        worst = min(pinched, key=lambda p: float(p["part"]))
        place = point_text(worst["place"])
        say(
            f"warning  in {len(pinched)} steps the room between bodies was less than the "
            f"thickness: down to {100 * worst['part']:.0f} % of it, at t = {worst['t']:.3g} s "
            f"near ({place})"
        )


def simulate_into(
    scene: "Scene",
    folder: "Path | RunFolder",
    last: int,
    fps: float,
    *,
    resume: bool = False,
    from_frame: int | None = None,
    again: str = "",
    quiet: bool = False,
    json: bool = False,
    preview: Path | None = None,
    fsync: bool = True,
    on_start: Callable[[], None] | None = None,
) -> None:
    """Simulate with a progress bar, with JSON lines on stdout, or quietly; Ctrl-C says how to go on
    and exits with status 130.
    """
    from weft.cli.preview import draw_previews
    from weft.run.run_folder import RunFolder
    from weft.run.simulation import run_scene

    if isinstance(folder, Path):
        folder = RunFolder(folder, fsync=fsync)
    place = folder.path
    try:
        with _progress(place, last, quiet, json) as told, _interrupts(told) as update:
            shown = update if preview is None else draw_previews(place, preview, update)
            run_scene(
                scene,
                folder,
                frames=last,
                fps=fps,
                resume=resume,
                from_frame=from_frame,
                on_start=on_start,
                on_progress=shown,
            )
    except KeyboardInterrupt:
        say(f"stopped; all steps are on disk. Continue with: {again}", error=True)
        raise typer.Exit(130) from None


@contextmanager
def _interrupts(update: "Update") -> Iterator["Update"]:
    """``update``, at which a Ctrl-C counts that came in a finalizer (of Warp's arrays, say), where
    Python prints exceptions and goes on.
    """
    before, lost = sys.unraisablehook, []

    def hook(what: "sys.UnraisableHookArgs") -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            lost.append(what.exc_type)
        else:
            before(what)

    def updated(now: "Progress") -> None:
        update(now)
        if lost:
            raise KeyboardInterrupt

    sys.unraisablehook = hook
    try:
        yield updated
    finally:
        sys.unraisablehook = before


def _progress(folder: Path, last: int, quiet: bool, json: bool) -> "AbstractContextManager[Update]":
    from weft.run.progress import json_lines, progress_bar, silence

    if json:
        return json_lines(str(folder), last, sys.stdout)
    return silence() if quiet else progress_bar(last)
