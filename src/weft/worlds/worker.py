"""``python -m weft.worlds.worker``: a process with some worlds of a batch (``worker_processes``).

Orders are pickles on standard input: the scenes first, then what is to be done with them. Answers
are pickles on what was standard output: None for every frame that is done, and at the end what came
of it, the error if there was one, where worlds stand, and which wait for ``reset``. It ends with
its input.
"""

import os
import pickle
import signal
import sys
from collections.abc import Sequence
from typing import Any

from weft import kernel
from weft.base.errors import WeftError
from weft.worlds.batch import Batch

SEEN = ("place", "parts", "shift", "gripped")  # of a world, by who gives orders


class Worker:
    """Some worlds of a batch, and what is done with them by order.

    Args:
        scenes: of these worlds.
        numbers: theirs in the whole batch.
        fps: frames a second.
        together: worlds that share launches, at most.
    """

    def __init__(
        self, scenes: Sequence[Any], numbers: Sequence[int], fps: float, together: int
    ) -> None:
        self.batch = Batch(scenes, fps=fps, together=together, numbers=numbers)
        self.fps = fps

    def warm(self) -> None:
        """Compile kernels where this machine has not: a frame of one world of every group."""
        for group in self.batch.groups:
            Batch([group.worlds[0].scene], fps=self.fps).warm()

    def frame(self, holds: Sequence[Any], moves: Sequence[Any]) -> None:
        """Go on by one frame, with worlds gripped so."""
        self.batch.frame(holds, moves)

    def reset(self, k: int, positions: Any) -> None:
        """Begin a world anew."""
        self.batch.reset(k, positions)

    def run(self, frames: int, out: str | None, said: Any) -> Any:
        """Go on for some frames."""
        return self.batch.run(frames=frames, out=out, on_frame=said)

    @property
    def places(self) -> list[dict[str, Any]]:
        """Where worlds stand."""
        return [{name: getattr(w, name) for name in SEEN} for w in self.batch.worlds]


def main() -> None:
    """Do as ordered until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who gives orders says when to stop
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints does not get between answers

    def say(what: Any) -> None:
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


def _answer(worker: Worker, name: str, args: Sequence[Any]) -> tuple[Any, ...]:
    answer, error = None, None
    try:
        answer = getattr(worker, name)(*args)
    except (WeftError, OSError) as wrong:
        error = wrong
    return answer, error, worker.places, worker.batch.failed


if __name__ == "__main__":
    main()
