"""Worlds in processes of their own; each process has a batch of some of them and executes orders.

Threads of one process take turns at Python, which is a third of the time of small cloths; processes
do not.
"""

import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import SceneError, SimulationError
from weft.base.machine import LIBRARY_THREADS
from weft.base.trees import YamlMapping
from weft.plugins.robots.batch.world import Hold, World

if TYPE_CHECKING:
    from weft.plugins.robots.batch.worker import Answer

WARM_UP = ("warm",)  # sent to process 0 first, so that only one process compiles kernels


class WorkerProcesses:
    """Processes with a share of the worlds each.

    Args:
        worlds: all worlds of a batch.
        fps: frames per second.
        together: largest number of worlds that share launches.
        processes: number of processes.

    Raises:
        SceneError: a scene that cannot be sent to another process.
    """

    def __init__(self, worlds: Sequence[World], fps: float, together: int, processes: int) -> None:
        self.worlds = worlds
        cut = np.linspace(0, len(worlds), min(processes, len(worlds)) + 1).astype(int)
        self.shares = [range(a, b) for a, b in pairwise(cut)]
        made = [_pickle_batch([worlds[k] for k in share], fps, together) for share in self.shares]
        self.processes = [_start_process() for _ in self.shares]
        self._end = weakref.finalize(self, _end_processes, self.processes)
        self._warm = False
        for k, order in enumerate(made):
            self._send(k, order)

    def close(self) -> None:
        """End the processes."""
        self._end()

    def frame(
        self,
        holds: Sequence[Sequence[Hold]],
        moves: Sequence[Floats],
        targets: Sequence[Floats | None],
        failed: dict[int, SimulationError],
    ) -> None:
        """Advance all worlds by one frame."""
        every = holds, moves, targets
        orders = {
            k: ("frame", *([given[w] for w in share] for given in every))
            for k, share in enumerate(self.shares)
        }
        self.ask(orders, failed)

    def reset(
        self, world: int, positions: Positions | None, failed: dict[int, SimulationError]
    ) -> None:
        """Start a world again."""
        k = next(k for k, share in enumerate(self.shares) if world in share)
        self.ask({k: ("reset", world - self.shares[k][0], positions)}, failed)

    def run(
        self,
        frames: int,
        out: str | os.PathLike[str] | None,
        failed: dict[int, SimulationError],
        on_frame: Callable[[int], None] | None,
    ) -> "list[Answer]":
        """Advance all worlds by some frames; return what ``Batch.run`` returns."""
        order = "run", frames, None if out is None else os.fspath(out)
        answers = self.ask(dict.fromkeys(range(len(self.shares)), order), failed, on_frame)
        return [one for k in sorted(answers) for one in answers[k] or ()]

    def ask(
        self,
        orders: Mapping[int, tuple[object, ...]],
        failed: dict[int, SimulationError],
        on_frame: Callable[[int], None] | None = None,
    ) -> "dict[int, Answer]":
        """Let processes execute orders, given by the index of the process; return their results.

        Afterwards ``worlds`` have the states of the worlds, and ``failed`` those that wait for
        ``reset``.

        Raises:
            SimulationError: a process that has ended. Errors of a process are raised after all have
                answered.
        """
        if not self._end.alive:
            raise SimulationError(
                "batch", got="closed: its processes have ended", expected="a new batch"
            )
        try:
            if not self._warm:
                for some in ([0], range(1, len(self.processes))):
                    self._exchange_messages(dict.fromkeys(some, WARM_UP), failed, None)
                self._warm = True
            answers, errors = self._exchange_messages(orders, failed, on_frame)
        except BaseException:
            self.close()  # nobody would read the remaining answers
            raise
        if errors:
            raise errors[0]
        return answers

    def _exchange_messages(
        self,
        orders: Mapping[int, tuple[object, ...]],
        failed: dict[int, SimulationError],
        on_frame: Callable[[int], None] | None,
    ) -> "tuple[dict[int, Answer], list[Exception]]":
        """Send orders, and read one message of each process in turn until all have finished."""
        for k, order in orders.items():
            self._send(k, pickle.dumps(order))
        waiting, done = list(orders), 0
        answers: dict[int, Answer] = {}
        errors: list[Exception] = []
        while waiting:
            for k in tuple(waiting):
                word = self._hear(k)
                if word is None:
                    continue  # None: a frame is done
                waiting.remove(k)
                answer, error, places, lost = word
                self._stand(k, places, lost, failed)
                answers[k] = answer
                errors += [] if error is None else [error]
            if waiting:
                done += 1
                if on_frame is not None:
                    on_frame(done)
        return answers, errors

    def _stand(
        self,
        k: int,
        places: Sequence[YamlMapping],
        lost: Mapping[int, SimulationError],
        failed: dict[int, SimulationError],
    ) -> None:
        for number, place in zip(self.shares[k], places):
            vars(self.worlds[number]).update(place)
            failed.pop(number, None)
        failed.update(lost)

    def _send(self, k: int, order: bytes) -> None:
        pipe = self.processes[k].stdin
        assert pipe is not None
        try:
            pipe.write(order)
            pipe.flush()
        except OSError:
            raise self._lost_process_error(k) from None

    def _hear(self, k: int) -> "Answer":
        pipe = self.processes[k].stdout
        assert pipe is not None
        try:
            return pickle.load(pipe)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise self._lost_process_error(k) from None

    def _lost_process_error(self, k: int) -> SimulationError:
        with suppress(subprocess.TimeoutExpired):
            self.processes[k].wait(10.0)
        code, share = self.processes[k].returncode, self.shares[k]
        how = f"killed by signal {-code}" if code is not None and code < 0 else f"code {code}"
        return SimulationError(
            f"process of worlds {share[0]} to {share[-1]}",
            got=f"ended ({how})",
            expected="a process that runs",
            hint="make the batch anew; if memory ran out, with fewer processes or worlds",
        )


def _pickle_batch(worlds: Sequence[World], fps: float, together: int) -> bytes:
    """Return the order that creates a batch of worlds.

    Raises:
        SceneError: a scene that cannot be sent.
    """
    scenes, numbers = [w.scene for w in worlds], [w.number for w in worlds]
    try:
        return pickle.dumps((scenes, numbers, fps, together, kernel.device()))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SceneError(
            "batch of scenes",
            got=f"what cannot be sent to another process: {error}",
            expected="energies, forces and paths that are classes and functions of modules",
            hint="processes=1 takes any",
        ) from None


def _start_process() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "weft.plugins.robots.batch.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **dict.fromkeys(LIBRARY_THREADS, "1")},
    )


def _end_processes(processes: Sequence["subprocess.Popen[bytes]"]) -> None:
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
