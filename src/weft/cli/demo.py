"""``weft demo``: the main job on a built-in scene."""

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import Device, Threads, configure, say
from weft.cli.run import simulate_into


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run.", metavar="DIR")] = Path(
        "runs/demo"
    ),
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Simulate a sheet that falls and hangs in folds, and draw it. Needs no GPU, no display."""
    configure(device, threads)
    from weft.io.frames import RunFolder
    from weft.run import Run
    from weft.scene.build import load_scene

    with resources.as_file(resources.files("weft") / "scenes" / "demo.yaml") as path:
        loaded = load_scene(path)
    folder = RunFolder(out)
    said = loaded.scene.description["description"]
    if folder.exists() and folder.manifest().get("description", {}).get("description") == said:
        folder.clear()  # an earlier demo; the run of another scene is an error below
    simulate_into(loaded.scene, out, loaded.frames, loaded.fps, again=f"weft demo --out {out}")
    picture = Run(out).render(out / "demo.png")
    say(f"run      {out}")
    say(f"picture  {picture}")
    say(f"next     weft render {out} demo.webp   weft render {out} strain.png --look strain")
