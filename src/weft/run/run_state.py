"""State of a simulation between two steps, and the times of steps."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike

from weft.base.arrays import Arrays
from weft.energies.state import State
from weft.integrators.base import Memory

ROUND_OFF = 1e-9  # of the number of steps in a frame: it must not add a step
_MEMORY = "memory."  # prefix of the names of the integrator's memory among the arrays of a frame


@dataclass(frozen=True)
class StepTimes:
    """Times of the steps of a simulation, whose frames are divided evenly.

    Times are computed from integers, so that round-off does not accumulate.

    Args:
        fps: frames per second.
        steps: steps of a frame.
    """

    fps: float
    steps: int

    @staticmethod
    def of(fps: float, longest: float) -> "StepTimes":
        """Divide the frames at ``fps`` into as few steps as fit below ``longest`` [s]."""
        return StepTimes(fps, max(1, math.ceil(1 / (fps * longest) - ROUND_OFF)))

    @property
    def dt(self) -> float:
        """Length [s] of a step."""
        return 1 / (self.fps * self.steps)

    def at(self, frame: int, step: int) -> float:
        """Return the time [s] after ``frame`` frames and ``step`` steps of the next one."""
        return frame / self.fps + step * self.dt


@dataclass(frozen=True)
class RunState:
    """The state after a step, with everything that is needed to continue from it."""

    state: State
    memory: Memory
    frame: int  # number of the last complete frame
    step: int  # steps done of the next frame
    count: int  # steps done since the start of the run

    def arrays(self) -> Mapping[str, ArrayLike]:
        """Return the arrays of this state that a frame or checkpoint stores, by name."""
        counters = {"frame": self.frame, "step": self.step, "count": self.count}
        memory = {_MEMORY + name: value for name, value in self.memory.items()}
        return {"x": self.state.x, "v": self.state.v, "t": self.state.t, **counters, **memory}

    @staticmethod
    def of(arrays: Arrays) -> "RunState":
        """Build the state from the arrays of a frame or checkpoint."""
        memory = {k.removeprefix(_MEMORY): v for k, v in arrays.items() if k.startswith(_MEMORY)}
        state = State(arrays["x"], arrays["v"], float(arrays["t"]))
        return RunState(state, memory, *(int(arrays[k]) for k in ("frame", "step", "count")))
