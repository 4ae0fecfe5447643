"""``weft doctor``: is this run whole, and what is on this machine?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import AsJson, print_json, say

if TYPE_CHECKING:
    from weft.run.survey import Survey


def doctor(
    run: Annotated[
        Path | None, typer.Argument(help="Folder of a run; none: this machine.", metavar="[RUN]")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Compute anew what is damaged or missing.")
    ] = False,
    scene: Annotated[
        Path | None,
        typer.Option(
            help="The scene file; needed where it reads other files.", metavar="SCENE.yaml"
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Read every file of a run against its checksum, and name what is damaged; exit status 1 if
    anything is.

    With --repair, frames are computed anew from the nearest good one, bitwise, and held against
    what the frame after them was made from. Without RUN: versions, devices, caches and threads.
    """
    if run is None:
        _machine(json)
        return
    from weft.run.run_folder import RunFolder
    from weft.run.survey import survey

    folder = RunFolder(run)
    if not folder.exists() and not folder.remains():
        from weft.base.errors import RunError

        raise RunError("run folder", got=str(run), expected="a folder that `weft run` made")
    found = survey(folder)
    if json:
        names = [{"file": f.name, "what": f.what} for f in found.flaws]
        print_json({"run": str(run), "frames": len(found.seals), "end": found.end, "flaws": names})
    else:
        _tell(found)
    if not found.flaws:
        return
    if not repair:
        if not json:
            say(f"next     weft doctor {run} --repair  (or: weft run SCENE --out {run} --resume)")
        raise typer.Exit(1)
    _repair(run, scene, found)


def _tell(found: "Survey") -> None:
    say(f"frames   {len(found.seals)} good ones, the run stands at frame {max(found.end, 0)}")
    for flaw in found.flaws:
        say(f"damaged  {flaw}")
    if not found.flaws:
        say("whole    every frame follows from the one before; checkpoint and metrics fit")


def _repair(run: Path, path: Path | None, found: "Survey") -> None:
    """Resume with the scene, up to where the run stood."""
    from weft.base.errors import RunError
    from weft.run.run_folder import RunFolder
    from weft.run.survey import survey
    from weft.scene.build import load_scene
    from weft.scene.recorded_scene import load_described
    from weft.scene.simulate import simulate

    if path is None and found.manifest is None:
        raise RunError(
            "manifest.json",
            got="damaged: it does not say which scene this is",
            expected="--scene SCENE.yaml",
            where=str(run),
        )
    loaded = load_scene(path) if path is not None else load_described(found.manifest or {}, run)
    folder = RunFolder(run)
    steps = found.checkpoint[1].frame if found.checkpoint is not None else found.end
    last = max([steps, *folder.numbers(), 0])
    simulate(loaded.scene, frames=last, fps=loaded.fps, out=folder, resume=True)
    left = survey(folder)
    for flaw in left.flaws:
        say(f"damaged  {flaw}")
    if left.flaws:
        raise typer.Exit(1)
    say(f"repaired {run}: {len(left.seals)} frames, all good")


def _machine(json: bool) -> None:
    from weft.cli.machine import facts

    found = facts()
    if json:
        print_json(found)
        return
    for name, value in found.items():
        say(f"{name:22} {value}")
