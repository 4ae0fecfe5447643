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
from collections.abc import Sequence
from typing import Any, TypeAlias

import warp as wp

from weft.kernel.types import WarpArray
from weft.kernel.warp_private import Entry, launch_on_cpu, packed_for

PIECES = 16  # pieces for each thread; there are many because indices differ in cost
PATIENCE = 16_000  # looks for a job, about 400 us, before a thread goes to sleep
STAY = 20_000  # looks at the count of threads inside a job, before the waiting thread yields
MOST_STAGES, ROOM = 8, 512  # kernels of a job; 8-byte words for the arguments of one kernel
MOST_THREADS = 32

# Layout of the shared memory, in 8-byte words. Words that several threads change have cache lines
# of their own. Word 0: number of threads that may take part, 0 while no job is open. Then: the next
# piece; the number of threads inside; of the job, the numbers of pieces and indices, the first
# index and the number of kernels; of each kernel, its entry point and the length of its arguments;
# for each thread, 1 if it is awake; the arguments.
_NEXT, _INSIDE, _JOB, _KERNELS, _AWAKE, _ARGUMENTS = 8, 16, 24, 28, 48, 80
_HEAD, _KERNEL = struct.Struct("4q"), struct.Struct("2q")
_SIZE = _ARGUMENTS + MOST_STAGES * ROOM

_PLACES = f"""
    constexpr int NEXT = {_NEXT}, INSIDE = {_INSIDE}, JOB = {_JOB}, KERNELS = {_KERNELS};
    constexpr int AWAKE = {_AWAKE}, ARGUMENTS = {_ARGUMENTS}, ROOM = {ROOM};
"""
_WORK = """
#if defined(__clang__) && !defined(__CUDACC__)
    long long* m = (long long*)shared.data;
    auto rest = [] {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __builtin_arm_yield();
#endif
    };
    auto run = [](long long entry, long long n, void* arguments) {
        struct { unsigned int shape, none; unsigned long long size, each; } bounds
            = {(unsigned int)n, 0, (unsigned long long)n, 1};
        ((void (*)(void*, void*))entry)(&bounds, arguments);
    };
    auto work = [m, run] {
        const long long pieces = m[JOB], n = m[JOB + 1], begin = m[JOB + 2], stages = m[JOB + 3];
        for (;;) {
            const long long piece = __atomic_fetch_add(m + NEXT, 1, __ATOMIC_ACQ_REL);
            if (piece >= pieces)
                return;
            const long long a = n * piece / pieces, b = n * (piece + 1) / pieces;
            for (long long s = 0; s < stages && a < b; ++s) {
                const long long* kernel = m + KERNELS + 2 * s;
                alignas(16) long long own[ROOM];
                for (long long k = 0; k < kernel[1]; ++k)
                    own[k] = m[ARGUMENTS + ROOM * s + k];
                *(int*)own = (int)(begin + a);
                run(kernel[0], b - a, own);
            }
        }
    };
"""
_LEAD = """
    auto lead = [m, most, work, rest](long long threads) {
        __atomic_store_n(m, threads, __ATOMIC_SEQ_CST);
        work();
        __atomic_store_n(m, 0, __ATOMIC_SEQ_CST);
        for (int k = 0; k < most && __atomic_load_n(m + INSIDE, __ATOMIC_SEQ_CST) > 0; ++k)
            rest();
    };
"""
_ONE = """
    lead(threads);
#endif
"""
# Layout of recorded launches: the next launch, the end, the number of threads, and the place of
# each launch. At that place: its entry point, number of indices, the number of threads that it is
# worth, the length of its arguments, and the arguments.
HEAD, LAUNCH = 3, 4
_MANY = (
    f"""
    constexpr int HEAD = {HEAD}, LAUNCH = {LAUNCH}, PIECES = {PIECES};
"""
    + """
    long long* s = (long long*)launches.data;
    while (s[0] < s[1]) {
        long long* one = s + s[HEAD + s[0]++];
        const long long n = one[1], words = one[3], threads = one[2] < s[2] ? one[2] : s[2];
        if (n > 0 && threads <= 1) {
            run(one[0], n, one + LAUNCH);
        } else if (n > 0) {
            m[JOB] = PIECES * threads;
            m[JOB + 1] = n;
            m[JOB + 2] = 0;
            m[JOB + 3] = 1;
            m[KERNELS] = one[0];
            m[KERNELS + 1] = words;
            for (long long k = 0; k < words; ++k)
                m[ARGUMENTS + k] = one[LAUNCH + k];
            m[NEXT] = 0;
            lead(threads);
            if (__atomic_load_n(m + INSIDE, __ATOMIC_SEQ_CST) > 0)
                break;
        }
    }
#endif
"""
)
_FOLLOW = """
    for (int k = 0; k < most; ++k) {
        const long long open = __atomic_load_n(m, __ATOMIC_RELAXED);
        if (open > own) {
            __atomic_fetch_add(m + INSIDE, 1, __ATOMIC_SEQ_CST);
            if (__atomic_load_n(m, __ATOMIC_SEQ_CST) > own) {
                work();
                k = 0;
            }
            __atomic_fetch_sub(m + INSIDE, 1, __ATOMIC_SEQ_CST);
        }
        if (open < 0)
            break;
        rest();
    }
    __atomic_store_n(m + AWAKE + own, 0, __ATOMIC_SEQ_CST);
#endif
"""
_module = wp.get_module("weft.team")
_Stage: TypeAlias = tuple[Entry, bytes]


@wp.func_native(_PLACES + _WORK + _LEAD + _ONE)
def open_and_work(shared: wp.array(dtype=wp.int64), threads: int, most: int):
    """Open the job for so many threads, take part, close it, and wait for those inside, a while."""


@wp.func_native(_PLACES + _WORK + _LEAD + _MANY)
def open_one_by_one(
    shared: wp.array(dtype=wp.int64), launches: wp.array(dtype=wp.int64), most: int
):
    """Launches in turn, as they are written down: those worth several threads as jobs. Where
    somebody stays inside for long, what is left waits for another call.
    """


@wp.func_native(_PLACES + _WORK + _FOLLOW)
def work_along(shared: wp.array(dtype=wp.int64), own: int, most: int):
    """Take part in one job after another, until there has been none for so many looks."""


@wp.kernel(module=_module)
def lead(o: int, shared: wp.array(dtype=wp.int64), threads: int, most: int):
    """Run ``open_and_work``."""
    open_and_work(shared, threads, most)


@wp.kernel(module=_module)
def lead_all(
    o: int, shared: wp.array(dtype=wp.int64), launches: wp.array(dtype=wp.int64), most: int
):
    """Run ``open_one_by_one``."""
    open_one_by_one(shared, launches, most)


@wp.kernel(module=_module)
def follow(o: int, shared: wp.array(dtype=wp.int64), own: int, most: int):
    """Run ``work_along``."""
    work_along(shared, own, most)


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
        finally:
            self._wait()  # also after an interrupt
            self._job.release()
        return True

    def replay(self, launches: WarpArray, begin: int, end: int, threads: int) -> bool:
        """Run recorded launches from ``begin`` to before ``end``, in turn.

        Args:
            launches: (k,) int64, written as ``recorded_launches`` does.
            begin: the first launch.
            end: the launch after the last one.
            threads: number of threads that share large launches; one if another thread's job runs.

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
            head[:] = [begin, end, threads]
            found = packed_for(lead_all, (0, self._shared, launches, STAY))
            assert found is not None
            while head[0] < end:
                found[0].run(1, found[1])
                if leads:
                    self._wait()
        finally:
            if leads:
                self._wait()
                self._job.release()
        return True

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
        """Compile the kernels and run one of them once."""
        self._shared = wp.array(ptr=self._begin, shape=_SIZE, dtype=wp.int64, device="cpu")
        atexit.register(self.leave)
        try:
            launch_on_cpu(follow, 1, (0, self._shared, 0, 0))
            return all(
                packed_for(k, (0, self._shared, last, STAY)) is not None
                for k, last in ((lead, 1), (lead_all, self._shared))
            )
        except Exception:
            return False

    def _gather(self, threads: int) -> None:
        """Start helpers until there are ``threads`` with the caller."""
        if threads in self._leads:
            return
        found = packed_for(lead, (0, self._shared, threads, STAY))
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
        """Make all helpers leave native code, which is unloaded when the process ends."""
        with self._job:
            self._numbers[0] = -1
            end = time.perf_counter() + 1.0
            while any(self._numbers[_AWAKE + 1 : _AWAKE + MOST_THREADS]):
                if time.perf_counter() > end:
                    break
                time.sleep(1e-4)
            self._numbers[0] = 0

    def forget(self) -> None:
        """Reset the pool in a forked process, which has no threads but its own."""
        ThreadPool.__init__(self)


team = ThreadPool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=team.forget)
