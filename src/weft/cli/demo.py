"""``weft demo``: the main job on a built-in scene."""

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from weft.base.errors import WeftError
from weft.cli.examples import find_example
from weft.cli.options import Device, Quiet, Threads, configure, say
from weft.cli.run import simulate_into

DEMO = "A square of linen "  # how the descriptions of demos begin, of earlier versions too


def demo(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of a scene in `weft examples`, in place of the default.", metavar="[NAME]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run.", metavar="DIR", show_default="runs/demo"),
    ] = None,
    quiet: Quiet = False,
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Simulate a sheet that falls on a sphere on a floor, or an example by its NAME, and draw it.
    Needs no GPU, no display.
    """
    configure(device, threads)
    if name is not None:
        _example(name, out, quiet)
        return
    out = out or Path("runs/demo")
    from weft.run.run import Run
    from weft.run.run_folder import RunFolder
    from weft.scene.build import load_scene
    from weft.show.picture.style import Style

    with resources.as_file(resources.files("weft") / "scenes" / "demo.yaml") as path:
        loaded = load_scene(path)
    folder = RunFolder(out, fsync=False)  # a power cut may cost a run that is made again at once
    with folder.lock:
        if folder.exists():
            said = str(folder.manifest().get("description", {}).get("description", ""))
            if said.startswith(DEMO):
                folder.clear()  # an earlier demo; the run of another scene is an error below
        again = f"weft demo --out {out}"
        simulate_into(loaded.scene, folder, loaded.frames, loaded.fps, again=again, quiet=quiet)
    picture = Run(out).render(out / "demo.png", style=Style(soft=True, smooth=2))
    if quiet:
        return
    say(f"run      {out}")
    say(f"picture  {picture}")
    say(f"next     weft render {out} demo.webp --soft --smooth 2")
    say(f"         weft render {out} strain.png --look strain")


def _example(name: str, out: Path | None, quiet: bool) -> None:
    """Run an example's scene, and draw its last frame."""
    from weft.run.run import Run
    from weft.scene.build import load_scene

    example = find_example(name)
    if not example.is_scene:
        how = {"script": "python", "fabric": "weft fabrics fit"}.get(example.kind, "weft sweep")
        raise WeftError(
            f"demo {name}",
            got=f"a {example.kind}",
            expected="a scene (weft examples)",
            hint=f"run it with: {how} {example.path}",
        )
    loaded = load_scene(example.path)
    folder = out or Path("runs") / example.path.stem
    again = f"weft run {example.path} --out {folder} --resume"
    simulate_into(loaded.scene, folder, loaded.frames, loaded.fps, again=again, quiet=quiet)
    picture = Run(folder).render(folder / f"{example.path.stem}.png")
    if not quiet:
        say(f"run      {folder}")
        say(f"picture  {picture}")
        say(f"next     weft examples {example.name} > mine.yaml   weft run mine.yaml")
