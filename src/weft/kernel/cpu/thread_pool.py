"""Threads that share launches, and wait for the next launch in native code.

A kernel of ten thousand indices takes 100 us, and waking a thread takes 50. Helper threads
therefore stay in native code for a while. The launching thread writes a job to shared memory (which
kernels run, and for how many indices), opens it and takes part in it. The helpers see the job
within a microsecond, and all threads take pieces by one atomic counter until none is left. No new
job is written while a thread is still inside the last one.

Launches that are replayed together (``recorded_launches``) are led in the same way, also from
native code.

A thread that has seen no job for ``PATIENCE`` looks goes to sleep; a launch that is large enough to
pay for it wakes the thread (``launching``). No result depends on whether a helper takes part, and
the launching thread only waits for helpers that are inside a job: if a thread is late, or a forked
process has none, the others do all the work. docs/decisions/0002 has the measurements.
"""

import atexit
import ctypes
import os
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import warp as wp

from weft.kernel.cpu.native_code import constants, native
from weft.kernel.cpu.warp_private import Entry, SelfTest, launch_on_cpu, pack_launch, write_known
from weft.kernel.types import LongArray, WarpArray

PATIENCE = 16_000  # looks for a job, some 400 us, before a thread goes to sleep
STAY = 20_000  # looks for threads inside the job, before the waiting thread lets others run
MOST_STAGES = 8  # kernels of a job
MOST_THREADS = 32
MOST_ROUNDS = 64  # times that launches are repeated before Python may see an interrupt

# Places in the shared memory and in recorded launches, which the header describes.
_places = constants("thread_pool.h")
PIECES, ROOM, HEAD, LAUNCH = (_places[k] for k in ("PIECES", "ROOM", "HEAD", "LAUNCH"))
_NEXT, _INSIDE, _JOB = (_places[k] for k in ("NEXT", "INSIDE", "JOB"))
_KERNELS, _AWAKE, _ARGUMENTS = (_places[k] for k in ("KERNELS", "AWAKE", "ARGUMENTS"))
_HEAD, _KERNEL = struct.Struct("4q"), struct.Struct("2q")
_SIZE = _ARGUMENTS + MOST_STAGES * ROOM

_module = wp.get_module("weft.team")
_Stage: TypeAlias = tuple[Entry, bytes]


@wp.func_native(native("thread_pool.h", "open_and_work"))
def open_and_work(shared: LongArray, threads: int, most: int):
    """Open the job for ``threads`` threads, take part, close it, and look at most ``most`` times
    whether other threads are still inside.
    """


@wp.func_native(native("thread_pool.h", "open_one_by_one"))
def open_one_by_one(shared: LongArray, launches: LongArray, most: int):
    """Run recorded launches in turn, large ones as jobs of several threads. Return early when a
    thread stays inside a job for long; the caller waits and calls again.
    """


@wp.func_native(native("thread_pool.h", "work_along"))
def work_along(shared: LongArray, own: int, most: int):
    """Take part in one job after another, until no job was open for ``most`` looks."""


@wp.kernel(module=_module)
def lead(o: int, shared: LongArray, threads: int, most: int):
    """Run ``open_and_work``."""
    open_and_work(shared, threads, most)


@wp.kernel(module=_module)
def lead_all(o: int, shared: LongArray, launches: LongArray, most: int):
    """Run ``open_one_by_one``."""
    open_one_by_one(shared, launches, most)


@wp.kernel(module=_module)
def follow(o: int, shared: LongArray, own: int, most: int):
    """Run ``work_along``."""
    work_along(shared, own, most)


@wp.func_native(native("thread_pool.h", "wait_for_others"))
def wait_for_others(shared: LongArray):
    """Wait until no thread is inside a job. An interrupt does not end the wait, because no Python
    code runs meanwhile.
    """


@wp.kernel(module=_module)
def leave_job(o: int, shared: LongArray):
    """Run ``wait_for_others``."""
    wait_for_others(shared)


def launch_places(stages: Sequence[_Stage]) -> list[int]:
    """Return the places of launches in an array of recorded launches, and last its length.

    Places are in units of eight bytes. They are even, so that arguments are aligned to 16 bytes.
    """
    places = [HEAD + len(stages) + (HEAD + len(stages)) % 2]
    for _, packed in stages:
        places.append(places[-1] + LAUNCH + 2 * -(-len(packed) // 16))
    return places


def write_launch(launches: WarpArray, place: int, stage: _Stage, n: int, threads: int) -> None:
    """Write a launch of n indices for at most ``threads`` threads into recorded launches."""
    entry, packed = stage
    head = _HEAD.pack(entry.address, n, threads, -(-len(packed) // 8))
    ctypes.memmove(launches.ptr + 8 * place, head + packed, len(head) + len(packed))


class ThreadPool:
    """Threads of a process that help any thread that launches a kernel."""

    def __init__(self) -> None:
        memory = ctypes.create_string_buffer(8 * _SIZE + 64)
        # Never freed: a thread may read it until the process ends.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))
        self._begin = -(-ctypes.addressof(memory) // 64) * 64
        self._memory = (ctypes.c_char * (8 * _SIZE)).from_address(self._begin)
        self._numbers = (ctypes.c_int64 * _ARGUMENTS).from_address(self._begin)
        self._job = threading.Lock()  # held by the thread whose job runs
        self._first = threading.Lock()  # held while the kernels are compiled
        self._calls: list[Any] = []  # locks on which sleeping helpers wait
        self._shared: Any = None
        self._leads: dict[int, _Stage] = {}  # packed call of ``lead`` for each number of threads
        # Waits until no thread is inside the job, in one call of C that an interrupt cannot end.
        # The caller's arrays are freed with its frames, and threads inside the job write to them.
        self._leave_job: Callable[[], object] = int
        self._works: bool | None = None  # whether the native code works here; None: not tried

    @property
    def is_awake(self) -> bool:
        """Return whether a helper would take part at once."""
        return self._numbers[_AWAKE + 1] != 0

    def work(self, threads: int, n: int, begin: int, stages: Sequence[_Stage]) -> bool:
        """Run kernels, one after the other for each piece of ``n`` indices from ``begin`` on.

        Args:
            threads: number of threads that take part, with the caller.
            n: number of indices.
            begin: the first index.
            stages: kernels with their arguments.

        Returns:
            False, with nothing done, if another thread's job runs, or the job is too large for the
            shared memory.
        """
        if len(stages) > MOST_STAGES or any(len(packed) > 8 * ROOM for _, packed in stages):
            return False
        if not self._compiles() or not self._job.acquire(blocking=False):
            return False
        try:
            threads = min(threads, MOST_THREADS)
            self._gather(threads)
            self._write(PIECES * threads, n, begin, stages)
            self._wake(threads)
            entry, packed = self._leads[threads]
            entry.run(1, packed)
            self._wait()
        finally:
            self._end_job()
        return True

    def replay(
        self,
        launches: WarpArray,
        begin: int,
        end: int,
        threads: int,
        condition: WarpArray = None,
    ) -> bool:
        """Run recorded launches from ``begin`` to before ``end``, in turn.

        Args:
            launches: (k,) int64, written as ``recorded_launches`` does.
            begin: the first launch.
            end: the launch after the last one.
            threads: number of threads that share large launches; one if another thread's job runs.
            condition: (1,) int32; the launches are repeated while it is not 0, at most
                ``MOST_ROUNDS`` times. None: they run once.

        Returns:
            False, with nothing done, if this machine cannot run the native code.
        """
        if not self._compiles():
            return False
        leads = threads > 1 and self._job.acquire(blocking=False)
        try:
            threads = min(threads, MOST_THREADS) if leads else 1
            if leads:
                self._gather(threads)
                self._wake(threads)
            head = (ctypes.c_int64 * HEAD).from_address(launches.ptr)
            rounds, flag = (1, 0) if condition is None else (MOST_ROUNDS, condition.ptr)
            head[:] = [begin, end, threads, rounds, begin, flag]
            found = pack_launch(lead_all, (0, self._shared, launches, STAY))
            assert found is not None
            while head[0] < end:
                found[0].run(1, found[1])
                if leads:
                    self._wait()
        finally:
            if leads:
                self._end_job()
        return True

    def _end_job(self) -> None:
        """Wait until no thread is inside the job, and let another caller write the next one."""
        try:
            self._leave_job()
        finally:
            self._job.release()

    def _wait(self) -> None:
        """Wait until no thread is inside a job."""
        while self._numbers[_INSIDE] > 0:
            time.sleep(0)

    def _write(self, pieces: int, n: int, begin: int, stages: Sequence[_Stage]) -> None:
        """Write a job to the shared memory."""
        _HEAD.pack_into(self._memory, 8 * _JOB, pieces, n, begin, len(stages))
        for k, (entry, packed) in enumerate(stages):
            size, place = len(packed), 8 * _KERNELS + _KERNEL.size * k
            _KERNEL.pack_into(self._memory, place, entry.address, -(-size // 8))
            ctypes.memmove(self._begin + 8 * (_ARGUMENTS + k * ROOM), packed, size)
        self._numbers[_NEXT] = 0

    def _wake(self, threads: int) -> None:
        """Wake helpers that sleep, until ``threads`` are awake with the caller."""
        for own in range(1, threads):
            if not self._numbers[_AWAKE + own]:
                self._numbers[_AWAKE + own] = 1
                self._calls[own - 1].release()

    def _compiles(self) -> bool:
        """Return whether the native code works with this version of Warp and this processor.

        If it does not, one thread runs what several would share.
        """
        if self._works is None:
            with self._first:
                if self._works is None:
                    self._works = self._try()
        return self._works

    def _try(self) -> bool:
        """Compile the native code and run jobs whose results are known; return whether they are
        right.
        """
        self._shared = wp.array(ptr=self._begin, shape=_SIZE, dtype=wp.int64, device="cpu")
        atexit.register(self.leave)
        try:
            launch_on_cpu(follow, 1, (0, self._shared, 0, 0))
            found = pack_launch(leave_job, (0, self._shared))
            if found is None:
                return False
            self._leave_job = found[0].bind(1, found[1])
            return self._is_led() and self._is_followed() and self._is_replayed()
        except Exception:
            return False

    def _is_led(self) -> bool:
        """Return whether a thread that opens a job runs all of it if no helper takes part."""
        found, test = pack_launch(lead, (0, self._shared, 2, STAY)), SelfTest(9)
        if found is None:
            return False
        self._write(4, 7, 1, self._stages(test, 2))
        found[0].run(1, found[1])
        return test.is_passed(1, 8, times=2)

    def _is_followed(self) -> bool:
        """Return whether a helper that finds an open job runs all of it.

        This thread acts as the helper.
        """
        test = SelfTest(9)
        self._write(4, 7, 1, self._stages(test, 2))
        self._numbers[0] = 2
        try:
            launch_on_cpu(follow, 1, (0, self._shared, 1, 1))
        finally:
            self._numbers[0] = 0
        return self._numbers[_INSIDE] == 0 and test.is_passed(1, 8, times=2)

    def _is_replayed(self) -> bool:
        """Return whether recorded launches run in turn, one as a job and one in this thread."""
        test = SelfTest(9)
        stages = self._stages(test, 2)
        *places, size = launch_places(stages)
        numbers = np.zeros(size, dtype=np.int64)
        numbers[: HEAD + 2] = 0, 2, 2, 1, 0, 0, *places
        launches = wp.array(numbers, dtype=wp.int64, device="cpu")
        for place, stage, threads in zip(places, stages, (2, 1), strict=True):
            write_launch(launches, place, stage, 8, threads)
        found = pack_launch(lead_all, (0, self._shared, launches, STAY))
        if found is None:
            return False
        found[0].run(1, found[1])
        return int(launches.numpy()[0]) == 2 and test.is_passed(0, 8, times=2)

    @staticmethod
    def _stages(test: SelfTest, times: int) -> list[_Stage]:
        """Return the kernel of a self-test ``times`` times; empty if it cannot be packed."""
        found = pack_launch(write_known, test.arguments())
        return [] if found is None else [found] * times

    def _gather(self, threads: int) -> None:
        """Start helpers until there are ``threads`` with the caller."""
        if threads in self._leads:
            return
        found = pack_launch(lead, (0, self._shared, threads, STAY))
        assert found is not None
        self._leads[threads] = found
        while len(self._calls) < threads - 1:
            call = threading.Lock()
            call.acquire()
            self._calls.append(call)
            own = len(self._calls)
            name = f"weft-{own}"
            threading.Thread(target=self._follow, args=(own,), daemon=True, name=name).start()

    def _follow(self, own: int) -> None:
        """Run a helper thread: wait for a call, then take part in jobs."""
        while True:
            self._calls[own - 1].acquire()
            launch_on_cpu(follow, 1, (0, self._shared, own, PATIENCE))

    def leave(self) -> None:
        """Send all helpers out of native code, which is about to be unloaded."""
        is_free = self._job.acquire(timeout=1.0)
        self._numbers[0] = -1
        end = time.perf_counter() + 1.0
        while any(self._numbers[_AWAKE + 1 : _AWAKE + MOST_THREADS]):
            if time.perf_counter() > end:
                break
            time.sleep(1e-4)
        self._numbers[0] = 0
        if is_free:
            self._job.release()

    def forget(self) -> None:
        """Reset the pool in a forked process, which has no threads but its own."""
        ThreadPool.__init__(self)


team = ThreadPool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=team.forget)
