"""The steps between the frames of a run, computed again."""

from collections.abc import Sequence

import numpy as np

from weft.base.arrays import Arrays
from weft.base.errors import RunError
from weft.run.run_folder import RunFolder
from weft.run.run_state import RunState
from weft.run.sewing_order import sewn_as
from weft.run.simulation import Loop
from weft.scene.scene import Scene


class StepReplay:
    """The states of a run after every step, computed again from the frames that it keeps.

    A run keeps its frames alone. A step depends on nothing but the state before it, so that the
    steps from a frame on are those of the run to the last bit; the next frame confirms it.

    Args:
        scene: the scene of the run.
        folder: of the run; nothing is written to it.
    """

    def __init__(self, scene: Scene, folder: RunFolder) -> None:
        manifest = folder.manifest()
        self.folder = folder
        self.loop = Loop(sewn_as(scene, manifest), folder, float(manifest["fps"]))

    def interval(self, frame: int) -> Sequence[Arrays]:
        """Return the arrays of a frame, those after every step, and those of the next frame.

        Raises:
            RunError: the steps do not lead to the next frame.
        """
        first, last = (self.folder.frame(k) for k in (frame, frame + 1))
        place, steps = RunState.of(first), []
        for _ in range(self.loop.steps):
            place, _ = self.loop.step(place)
            steps.append({k: np.asarray(a) for k, a in self.loop.frame_arrays(place).items()})
        if not np.array_equal(steps[-1]["x"], last["x"]):
            raise RunError(
                "steps between frames",
                got=f"steps that differ from the steps from frame {frame} to the next one",
                expected="the steps of the run, computed again",
                where=self.folder.path,
                hint="weft, this machine or the scene's files have changed since: simulate at a "
                "higher rate (fps: 96), and export with `fps=24`",
            )
        return [first, *steps[:-1], last]
