"""A process with some worlds of a batch (``worker_processes``).

Orders are pickles on standard input: first the scenes, then the name of a method of ``Worker`` and
its arguments. Answers are pickles on what was standard output: None for every frame that is done;
at the end a tuple of the result, the error or None, the states of the worlds, and the worlds that
wait for ``reset``. The process ends when its input ends.
"""

import os
import pickle
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from weft import kernel
from weft.base.arrays import ArrayArgument, Floats
from weft.base.errors import SimulationError, WeftError
from weft.base.trees import Json
from weft.plugins.robots.batch.batch import Batch
from weft.plugins.robots.batch.worker_processes import Answer
from weft.plugins.robots.batch.world import Hold
from weft.scene.scene import Scene

SEEN = ("place", "parts", "shift", "gripped")  # attributes of a world that are sent back


class Worker:
    """Some worlds of a batch, in a process of their own.

    Args:
        scenes: scenes of these worlds.
        numbers: their numbers in the whole batch.
        fps: frames per second.
        failed: errors by number of the worlds that wait for ``reset``.
    """

    def __init__(
        self,
        scenes: Sequence[Scene],
        numbers: Sequence[int],
        fps: float,
        failed: Mapping[int, SimulationError],
    ) -> None:
        self.batch = Batch(scenes, fps=fps, numbers=numbers)
        self.batch.failed.update(failed)

    def compile_kernels(self) -> None:
        """Compile the kernels of the first world if needed, by a frame of a copy."""
        with suppress(SimulationError):
            Batch([self.batch.worlds[0].scene], fps=self.batch.fps).advance()

    def frame(
        self,
        holds: Sequence[Sequence[Hold]],
        moves: Sequence[Floats],
        targets: Sequence[Floats | None],
    ) -> None:
        """Advance by one frame, with the given holds, moves and targets of joints."""
        self.batch.frame(holds, moves, targets)

    def reset(self, k: int, positions: ArrayArgument) -> None:
        """Start a world again."""
        self.batch.reset(k, positions)

    def run(self, frames: int, out: str | None, said: Callable[[int], None]) -> Answer:
        """Advance by some frames."""
        return self.batch.run(frames=frames, out=out, on_frame=said)

    @property
    def places(self) -> list[Json]:
        """The attributes ``SEEN`` of all worlds."""
        return [{name: getattr(w, name) for name in SEEN} for w in self.batch.worlds]


def main() -> None:
    """Execute orders until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process decides when to stop
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not get between answers

    def say(what: object) -> None:
        pickle.dump(what, answers)
        answers.flush()

    try:
        *made, device = pickle.load(sys.stdin.buffer)
        with kernel.use(device=device, threads=1):
            worker = Worker(*made)
            while True:
                name, *args = pickle.load(sys.stdin.buffer)
                if name == "run":
                    args.append(lambda _: say(None))
                say(_answer(worker, name, args))
    except (EOFError, BrokenPipeError):
        return


def _answer(worker: Worker, name: str, args: Sequence[object]) -> tuple[object, ...]:
    answer, error = None, None
    try:
        answer = getattr(worker, name)(*args)
    except (WeftError, OSError) as wrong:
        error = wrong
    return answer, error, worker.places, worker.batch.failed


if __name__ == "__main__":
    main()
