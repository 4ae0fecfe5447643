"""How kernels run: the one file that knows about devices, threads and launches.

weft's kernels *gather*: index ``i`` reads what it likes and writes only slot ``i``. Warp's CPU
launch is a serial loop that releases the interpreter lock, so a gather kernel may be cut into
slices that run on several threads with bitwise the same result (``docs/decisions/0002``). Every
kernel takes the first index of its slice, ``o: int``, as its first argument and starts with ``i = o
+ wp.tid()``.

Device and threads are those of the context: ``configure`` sets them for the process, ``use`` for a
block of code.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from weft.errors import DeviceError
from weft.kernel.context import context, device, initialize, is_cpu, process, threads
from weft.kernel.entry import is_ready, launch_on_cpu
from weft.kernel.shares import current

SLICE_ABOVE = (
    20_000  # indices; below, waking a second thread costs more than it saves (docs/decisions/0002)
)

TRIVIAL = 1_000_000  # the same for kernels of one operation an index

CHUNKS = 4  # of a thread

_USUAL = 7  # entries of an index in the kernels that this was measured with


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="weft")


def load(kernel: Any) -> None:
    """Compile or load a kernel's module now, in this thread (a worker must never be the first)."""
    key = (id(kernel.module), device())
    if key in process.loaded:
        return
    initialize()
    block = 1 if is_cpu() else None  # what launches ask for: else a module is compiled twice
    cache = Path(wp.config.kernel_cache_dir) / kernel.module.get_module_identifier(block)
    if not cache.exists():
        process.on_compile(kernel.module.name)
    if kernel.module.load(wp.get_device(device()), block) is None:
        raise DeviceError(
            "kernel module", got=kernel.module.name, expected="a module that compiles"
        )
    process.loaded.add(key)


def slice_above(entries: float) -> int:
    """Smallest number of indices worth slicing where each visits so many entries: matrix rows of
    splines are four times as long as those of triangles.
    """
    return int(SLICE_ABOVE * _USUAL / max(entries, _USUAL))


def launch(kernel: Any, n: int, *args: Any, slice_above: int = SLICE_ABOVE, begin: int = 0) -> None:
    """Run a gather kernel for the indices 0 ... n-1, sliced over the CPU threads when it pays.

    Args:
        kernel: a Warp kernel whose first parameter is the offset ``o: int``.
        n: number of indices.
        *args: the kernel's other arguments.
        slice_above: smallest n that is worth slicing; lower it for kernels that do much per index.
        begin: the first index; n are run from there. For what is not of several worlds.
    """
    where = context()
    alone = where.threads == 1 or n < max(slice_above, 2)
    if alone and where.device == "cpu" and current() is None and is_ready(kernel):
        if n > 0:
            launch_on_cpu(kernel, n, (begin, *args))
        return
    launch_each(n, (kernel, *args), slice_above=slice_above, begin=begin)


def launch_each(
    n: int, *stages: tuple[Any, ...], slice_above: int = SLICE_ABOVE, begin: int = 0
) -> None:
    """Run several gather kernels in turn, each slice without waiting for the others.

    Right only where index i of a stage reads index i of the stages before, and no other.

    Args:
        n: number of indices.
        *stages: (kernel, argument, ...) as for ``launch``.
        slice_above: smallest n that is worth slicing.
        begin: the first index.
    """
    for stage in stages:
        load(stage[0])
    where, some = device(), current()
    threads = _parts(n, slice_above) if some is None else 1
    direct = is_cpu()

    def run(a: int, b: int) -> None:
        if b > a:
            for kernel, *args in stages:
                if direct:
                    launch_on_cpu(kernel, b - a, (begin + a, *args))
                else:
                    wp.launch(
                        kernel, b - a, inputs=[begin + a, *args], device=where, record_tape=False
                    )

    if some is not None:
        for a, b in some.parts(n):
            run(a, b)
        return
    if threads == 1:
        run(0, n)
        return
    cut = [n * i // (CHUNKS * threads) for i in range(CHUNKS * threads + 1)]
    left = iter(pairwise(cut))  # whoever is done takes the next: indices differ in what they cost

    def work() -> None:
        for a, b in left:
            run(a, b)

    jobs = [_pool(threads).submit(work) for _ in range(threads - 1)]
    work()
    for job in jobs:
        job.result()


def _parts(n: int, slice_above: int) -> int:
    """In how many slices n indices are launched."""
    return threads() if is_cpu() and n >= max(slice_above, 2) else 1


def launch_in_order(kernel: Any, ends: Sequence[int], *args: Any) -> None:
    """Run a gather kernel for groups of indices of which each reads what groups before it wrote:
    from 0 to the first of ``ends``, from there to the next one, and so on.

    The CPU, which takes indices in turn, does them in one launch and one thread.
    """
    load(kernel)
    if is_cpu():
        if ends[-1] > 0:
            launch_on_cpu(kernel, int(ends[-1]), (0, *args))
        return
    for a, b in pairwise([0, *(int(e) for e in ends)]):
        if b > a:
            wp.launch(kernel, b - a, inputs=[a, *args], device=device(), record_tape=False)


def launch_serial(kernel: Any, *args: Any) -> None:
    """Run index 0 of a kernel on the CPU over NumPy arrays, whatever the device.

    For work that is done once and has no parallel form worth having.
    """
    initialize()
    inputs = [wp.from_numpy(a, device="cpu") if isinstance(a, np.ndarray) else a for a in args]
    wp.launch(kernel, 1, inputs=[0, *inputs], device="cpu", record_tape=False)
    for given, used in zip(args, inputs):
        if isinstance(given, np.ndarray):
            given[...] = used.numpy()


class Recorded:
    """A launch whose arguments are packed once: 3 us to replay instead of 17-31 us to launch.

    ``set(i, value)`` changes argument ``i`` (counted without the offset) for the next replay.
    """

    def __init__(self, kernel: Any, n: int, *args: Any, slice_above: int = SLICE_ABOVE) -> None:
        load(kernel)
        self._parts = _parts(n, slice_above)
        cut = [n * i // self._parts for i in range(self._parts + 1)]
        self._commands = [
            wp.launch(
                kernel,
                b - a,
                inputs=[a, *args],
                device=device(),
                record_cmd=True,
                record_tape=False,
            )
            for a, b in pairwise(cut)
            if b > a
        ]

    def set(self, index: int, value: Any) -> None:
        """Replace an argument; ``index`` counts from 0 after the offset."""
        for command in self._commands:
            command.set_param_at_index(index + 1, value)

    def launch(self) -> None:
        """Replay."""
        if len(self._commands) == 1:
            self._commands[0].launch()
        elif self._commands:
            jobs = [_pool(self._parts).submit(c.launch) for c in self._commands[1:]]
            self._commands[0].launch()
            for job in jobs:
                job.result()
