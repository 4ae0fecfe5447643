"""The worlds of a batch as ordinary runs.

Each world has a folder with the frames, metrics and checkpoint that ``weft.simulate`` writes.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import SceneError
from weft.plugins.robots.batch.world import World
from weft.run.run_folder import RunFolder
from weft.run.simulation import Loop

if TYPE_CHECKING:
    from weft.plugins.robots.batch.batch import Batch


def check_at_start(worlds: Sequence[World]) -> None:
    """Raise an error for worlds that are not at their start.

    Raises:
        SceneError: such a world.
    """
    for world in worlds:
        if world.place.count or world.gripped:
            raise SceneError(
                f"world {world.number}",
                got=f"t = {world.place.state.t:.6g} s",
                expected="its start, where frames are written",
                hint="reset() first",
            )


def write_worlds(
    batch: "Batch", frames: int, out: Path, on_frame: Callable[[int], None] | None
) -> list[Path]:
    """Run a batch from its start, and write every world into a new folder below ``out``.

    Returns:
        The folders.

    Raises:
        RunError: folders that are not new, or cannot be written.
        SimulationError: a world whose step does not converge; the others are written up to that
            frame.
    """
    worlds: Sequence[World] = batch.worlds
    with ExitStack() as locked:
        loops = {
            w.number: Loop(w.scene, RunFolder(out / f"{w.number:04d}", fsync=False), batch.fps)
            for w in worlds
        }
        for loop in loops.values():
            for pin in loop.model.pins:
                pin.check_until(frames / batch.fps)
            locked.enter_context(loop.folder.lock)
            loop.begin(frames, False, None)

        def after_step(world: World) -> None:
            loops[world.number].write_step(world.place, world.parts, every_step=False)

        for k in range(frames):
            batch.advance(after_step)
            if on_frame is not None:
                on_frame(k + 1)
    return [loop.folder.path for loop in loops.values()]
