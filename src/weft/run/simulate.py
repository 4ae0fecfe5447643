"""``weft.simulate``: simulate a scene, or a scene file, into a run folder."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

from weft.base.errors import RunError
from weft.base.runtime_types import checked
from weft.base.settings import Rate, Setting
from weft.base.units import Quantity
from weft.io.files import new_folder
from weft.run.progress import progress_bar
from weft.run.run import Run
from weft.run.run_folder import RunFolder
from weft.run.simulation import Progress, run_scene
from weft.scene.build import load_scene
from weft.scene.scene import Scene

FPS = 30.0  # [1/s] default of scenes in Python


@checked(RunError)
def simulate(
    scene: Scene | str | Path,
    *,
    seconds: Annotated[Quantity, Setting("", "s", least=0)] | None = None,
    frames: int | None = None,
    fps: Rate | None = None,
    out: "str | Path | RunFolder | None" = None,
    resume: bool = False,
    from_frame: int | None = None,
    progress: bool | Callable[[Progress], None] = True,
    fsync: bool = True,
) -> Run:
    """Simulate a scene, or a scene file, into a run folder.

    After Ctrl-C, ``resume=True`` continues the run. If seams are open when sewing ends, the run
    starts again, with these seams beginning to close with the first ones. It starts again
    while further seams are open, and goes back to the first order if that was better.

    Args:
        scene: what to simulate, or the path of a scene file.
        seconds: length [s], or text with a unit; or give ``frames``. None: that of a scene file.
        frames: number of the last frame; frame 0 is the start.
        fps: frames per second; None: the scene file's, else 30.
        out: the folder (or one that is locked already); None makes a new one under ``runs/``.
        resume: continue after the last step on disk, if there is one; damaged files are named in
            warnings and repaired from the nearest good frame.
        from_frame: continue after this frame, and drop the later ones.
        progress: a bar on stderr, or a function that is called after every step.
        fsync: write every frame to the disk itself before the next one, so that a loss of power
            costs at most one frame; False is faster on slow disks.

    Returns:
        The run, with frames, metrics and manifest.

    Raises:
        SceneError: an invalid scene file.
        RunError: a folder that holds another scene or is in use, neither or both of seconds and
            frames, ...
        SimulationError: a step that does not converge.
    """
    if isinstance(scene, str | Path):
        loaded = load_scene(scene)
        scene, fps = loaded.scene, loaded.fps if fps is None else fps
        seconds = loaded.seconds if seconds is None and frames is None else seconds
    if (seconds is None) == (frames is None):
        raise RunError(
            "length", got=f"seconds={seconds}, frames={frames}", expected="one of the two"
        )
    rate = FPS if fps is None else fps
    last = frames if frames is not None else round(float(seconds or 0) * rate)
    with (
        new_folder(Path("runs")) if out is None else nullcontext(out) as place,
        progress_bar(last) if progress is True else nullcontext(progress or None) as update,
    ):
        folder = place if isinstance(place, RunFolder) else RunFolder(place, fsync=fsync)
        go = partial(run_scene, scene, folder, frames=last, fps=rate)
        go(resume=resume, from_frame=from_frame, on_progress=update)
    return Run(folder.path)
