"""``weft doctor``: is this run whole, and what is on this machine?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import AsJson, print_json, say

if TYPE_CHECKING:
    from weft.run.recovery import RunCondition
    from weft.run.run_folder import RunFolder


def doctor(
    run: Annotated[
        Path | None, typer.Argument(help="Folder of a run; none: this machine.", metavar="[RUN]")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Compute damaged or missing frames again.")
    ] = False,
    scene: Annotated[
        Path | None,
        typer.Option(help="The scene file; needed if it reads other files.", metavar="SCENE.yaml"),
    ] = None,
    json: AsJson = False,
) -> None:
    """Compare every file of a run with its checksum and name damaged files; exit status 1 if
    there are any.

    --repair computes damaged frames again, bitwise, from the nearest good frame, and compares them
    with the next good frame. Without RUN: print versions, devices, caches and threads.
    """
    if run is None:
        _machine(json)
        return
    from weft.run.recovery import inspect_run
    from weft.run.run_folder import RunFolder

    folder = RunFolder(run)
    if not folder.remains():
        from weft.base.errors import RunError

        raise RunError("run folder", got=str(run), expected="a folder that `weft run` made")
    condition = inspect_run(folder)
    frames, end = len(condition.frames), condition.end
    if json:
        flaws = [{"file": name, "what": what} for name, what in condition.flaws.items()]
        print_json({"run": str(run), "frames": frames, "end": end, "flaws": flaws})
    else:
        say(f"frames   {frames} are good, the run ends at frame {max(end, 0)}")
        _list_flaws(condition)
    if not condition.flaws:
        return
    if not repair:
        if not json:
            say(f"next     weft doctor {run} --repair  (or: weft run SCENE --out {run} --resume)")
        raise typer.Exit(1)
    _repair(folder, scene, condition)


def _list_flaws(condition: "RunCondition") -> None:
    for name, what in condition.flaws.items():
        say(f"damaged  {name}: {what}")
    if not condition.flaws:
        say("whole    every frame follows from the one before; checkpoint and metrics fit")


def _repair(folder: "RunFolder", path: Path | None, condition: "RunCondition") -> None:
    """Resume with the scene, up to where the run stood."""
    from weft.base.errors import RunError
    from weft.run.recorded_scene import load_described
    from weft.run.recovery import inspect_run
    from weft.run.simulate import simulate
    from weft.scene.build import load_scene

    if path is not None:
        loaded = load_scene(path)
    elif condition.manifest is not None:
        loaded = load_described(condition.manifest, folder.path)
    else:
        raise RunError(
            "manifest.json",
            got="damaged: it does not contain the scene",
            expected="--scene SCENE.yaml",
            where=folder.path,
        )
    last = max([condition.end, *folder.numbers(), 0])
    simulate(loaded.scene, frames=last, fps=loaded.fps, out=folder, resume=True)
    left = inspect_run(folder)
    _list_flaws(left)
    if left.flaws:
        raise typer.Exit(1)
    say(f"repaired {folder.path}: {len(left.frames)} frames, all good")


def _machine(json: bool) -> None:
    from weft.cli.machine import facts

    found = facts()
    if json:
        print_json(found)
        return
    for name, value in found.items():
        say(f"{name:22} {value}")
