"""``weft demo``: the main job on a built-in scene."""

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import Device, Threads, configure, say
from weft.cli.run import simulate_into

DEMO = "A square of linen "  # how the descriptions of demos begin, of earlier versions too


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run.", metavar="DIR")] = Path(
        "runs/demo"
    ),
    device: Device = "cpu",
    threads: Threads = None,
) -> None:
    """Simulate a sheet that falls on a sphere on a floor, and draw it. Needs no GPU, no display."""
    configure(device, threads)
    from weft.io.frames import RunFolder
    from weft.run import Run
    from weft.scene.build import load_scene

    with resources.as_file(resources.files("weft") / "scenes" / "demo.yaml") as path:
        loaded = load_scene(path)
    folder = RunFolder(out)
    with folder.lock:
        if folder.exists():
            said = str(folder.manifest().get("description", {}).get("description", ""))
            if said.startswith(DEMO):
                folder.clear()  # an earlier demo; the run of another scene is an error below
        simulate_into(
            loaded.scene, folder, loaded.frames, loaded.fps, again=f"weft demo --out {out}"
        )
    picture = Run(out).render(out / "demo.png")
    say(f"run      {out}")
    say(f"picture  {picture}")
    say(f"next     weft render {out} demo.webp   weft render {out} strain.png --look strain")
