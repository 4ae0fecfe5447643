"""Worlds in processes of their own; each process has a batch of some of them and executes orders.

Threads of one process take turns at Python, which is a third of the time of small cloths; processes
do not.
"""

import os
import pickle
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import SceneError, SimulationError
from weft.base.machine import LIBRARY_THREADS
from weft.plugins.robots.batch.world import Hold, World

Answer = Any  # what a method of ``Worker`` returns, sent through a pipe


class WorkerProcesses:
    """Processes with a share of the worlds each.

    Args:
        worlds: all worlds of a batch.
        fps: frames per second.
        processes: number of processes.
        failed: errors by number of the worlds that wait for ``reset``; kept up to date.

    Raises:
        SceneError: a scene that cannot be sent to another process.
    """

    def __init__(
        self,
        worlds: Sequence[World],
        fps: float,
        processes: int,
        failed: dict[int, SimulationError],
    ) -> None:
        self.worlds, self.fps, self.failed = worlds, fps, failed
        cut = np.linspace(0, len(worlds), min(processes, len(worlds)) + 1).astype(int)
        self.shares = [range(a, b) for a, b in pairwise(cut)]
        orders = [self._creation(k) for k in range(len(self.shares))]
        self.processes = [_start_process() for _ in self.shares]
        self.ended: dict[int, SimulationError] = {}  # errors of processes that have ended
        self._end = weakref.finalize(self, _end_processes, self.processes)
        self._compiled = False  # whether one process has compiled kernels for all
        for k, order in enumerate(orders):
            self._send(k, order)

    def close(self) -> None:
        """End the processes."""
        self._end()

    def frame(
        self,
        holds: Sequence[Sequence[Hold]],
        moves: Sequence[Floats],
        targets: Sequence[Floats | None],
    ) -> None:
        """Advance all worlds by one frame; those of processes that have ended stay."""
        every = holds, moves, targets
        self._ask(
            {
                k: ("frame", *([given[w] for w in share] for given in every))
                for k, share in enumerate(self.shares)
                if k not in self.ended
            }
        )

    def reset(self, world: int, positions: Positions | None) -> None:
        """Start a world again, in a new process if its process has ended.

        Raises:
            SimulationError: the process ends.
        """
        self._check_open()
        k = next(k for k, share in enumerate(self.shares) if world in share)
        if k in self.ended:
            warnings.warn(f"{_name(self.shares[k])} starts again", stacklevel=4)
            _end_processes([self.processes[k]])
            self.processes[k] = _start_process()
            del self.ended[k]
            self._send(k, self._creation(k))
        self._ask({k: ("reset", world - self.shares[k][0], positions)})
        if k in self.ended:
            raise self.ended[k]

    def run(
        self,
        frames: int,
        out: str | os.PathLike[str] | None,
        on_frame: Callable[[int], None] | None,
    ) -> list[Answer]:
        """Advance all worlds by some frames; return what ``Batch.run`` returns.

        Raises:
            SimulationError: a process that has ended.
        """
        order = "run", frames, None if out is None else os.fspath(out)
        orders = dict.fromkeys(range(len(self.shares)), order)
        answers = {} if self.ended else self._ask(orders, on_frame)
        if self.ended:
            raise self.ended[min(self.ended)]
        return [one for k in sorted(answers) for one in answers[k] or ()]

    def _check_open(self) -> None:
        """Raise a SimulationError if the batch was closed."""
        if not self._end.alive:
            raise SimulationError(
                "batch", got="a closed batch, whose processes have ended", expected="a new batch"
            )

    def _ask(
        self,
        orders: Mapping[int, tuple[object, ...]],
        on_frame: Callable[[int], None] | None = None,
    ) -> dict[int, Answer]:
        """Let processes execute orders, given by the index of the process; return their results.

        Afterwards ``worlds`` have the states of the worlds, and ``failed`` those that wait for
        ``reset``. A process that has ended has no result, and all of its worlds have failed.

        Raises:
            SimulationError: the batch was closed. Errors of a process are raised after all have
                answered.
        """
        self._check_open()
        try:
            if orders and not self._compiled:
                self._exchange_messages({min(orders): ("compile_kernels",)}, None)
                self._compiled = True
            answers, errors = self._exchange_messages(orders, on_frame)
        except BaseException:
            self.close()  # nobody would read the remaining answers
            raise
        if errors:
            raise errors[0]
        return answers

    def _exchange_messages(
        self,
        orders: Mapping[int, tuple[object, ...]],
        on_frame: Callable[[int], None] | None,
    ) -> tuple[dict[int, Answer], list[Exception]]:
        """Send orders, and read one message of each process in turn until all have finished."""
        for k, order in orders.items():
            self._send(k, pickle.dumps(order))
        waiting, done = list(orders), 0
        answers: dict[int, Answer] = {}
        errors: list[Exception] = []
        while waiting:
            for k in tuple(waiting):
                message = () if k in self.ended else self._receive(k)
                if message is None:
                    continue  # a frame is done
                waiting.remove(k)
                if message:
                    answers[k], error, places, lost = message
                    self._update(k, places, lost)
                    errors += [] if error is None else [error]
            if waiting:
                done += 1
                if on_frame is not None:
                    on_frame(done)
        return answers, errors

    def _update(
        self, k: int, places: Sequence[Mapping[str, object]], lost: Mapping[int, SimulationError]
    ) -> None:
        """Take over the states of the worlds of a process, and those that wait for ``reset``."""
        for number, place in zip(self.shares[k], places):
            vars(self.worlds[number]).update(place)
            self.failed.pop(number, None)
        self.failed.update(lost)

    def _send(self, k: int, order: bytes) -> None:
        """Send an order; note if the process has ended."""
        pipe = self.processes[k].stdin
        assert pipe is not None
        try:
            pipe.write(order)
            pipe.flush()
        except OSError:
            self._note_end(k)

    def _receive(self, k: int) -> Answer:
        """Return the next message of a process; ``()`` if the process has ended."""
        pipe = self.processes[k].stdout
        assert pipe is not None
        try:
            return pickle.load(pipe)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._note_end(k)
            return ()

    def _note_end(self, k: int) -> None:
        """Note that a process has ended: its worlds wait for ``reset``."""
        with suppress(subprocess.TimeoutExpired):
            self.processes[k].wait(10.0)
        code, share = self.processes[k].returncode, self.shares[k]
        how = f"killed by signal {-code}" if code is not None and code < 0 else f"code {code}"
        self.ended[k] = SimulationError(
            _name(share),
            got=f"ended ({how})",
            expected="a process that runs",
            hint=(
                "`reset` starts its worlds again; if memory ran out, use fewer processes or worlds"
            ),
        )
        self.failed.update(dict.fromkeys(share, self.ended[k]))

    def _creation(self, k: int) -> bytes:
        """Return the order that creates the batch of a process.

        Raises:
            SceneError: a scene that cannot be sent.
        """
        share = self.shares[k]
        scenes = [self.worlds[number].scene for number in share]
        failed = {number: self.failed[number] for number in share if number in self.failed}
        try:
            return pickle.dumps((scenes, list(share), self.fps, failed, kernel.device()))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise SceneError(
                "batch of scenes",
                got=f"an object that cannot be sent to another process: {error}",
                expected="energies, forces and paths that are classes and functions of modules",
                hint="processes=1 accepts any function",
            ) from None


def _name(share: Sequence[int]) -> str:
    """Return the name of the process with these worlds, for messages."""
    if len(share) == 1:
        return f"process of world {share[0]}"
    return f"process of worlds {share[0]} to {share[-1]}"


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
