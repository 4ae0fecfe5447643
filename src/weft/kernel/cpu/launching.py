"""Launches of Warp kernels, shared by several CPU threads where that is faster.

weft's kernels *gather*: index ``i`` may read anything, but writes only slot ``i``. Warp's CPU
launch is a serial loop that releases Python's interpreter lock, so a gather kernel can be cut into
slices that run on several threads with bitwise the same result (``docs/decisions/0002``). Every
kernel takes the first index of its slice, ``o: int``, as its first argument and starts with ``i = o
+ wp.tid()``.

Device and threads are those of the context: ``configure`` sets them for the process, ``use`` for a
block of code.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import warp as wp

from weft.base.errors import DeviceError
from weft.kernel.context import (
    context,
    device,
    initialize,
    is_cpu,
    named_cache_errors,
    process,
    threads,
)
from weft.kernel.cpu.thread_pool import team
from weft.kernel.cpu.warp_private import (
    Entry,
    is_cached,
    is_ready,
    launch_on_cpu,
    load_module,
    pack_launch,
)
from weft.kernel.types import Kernel, Stage

SLICE_ABOVE = (
    10_000  # indices; below, waking a second thread costs more than it saves (docs/decisions/0002)
)

AWAKE = 0.2  # factor on the number worth slicing while another thread is awake

USUAL = 7.0  # work of an index in the kernels with which SLICE_ABOVE was measured
TRIVIAL = 0.0  # work of an index with one operation
HEAVY = 35_000.0  # work of an index that is worth a thread of its own


def load(kernel: Kernel) -> None:
    """Compile or load a kernel's module now, in this thread; a worker must never be the first.

    Raises:
        DeviceError: the module does not compile.
    """
    key = (id(kernel.module), device())
    if key in process.loaded:
        return
    initialize()
    block = 1 if is_cpu() else None  # as launches do; otherwise a module is compiled twice
    if not is_cached(kernel, block):
        process.on_compile(kernel.module.name)
    with named_cache_errors():
        compiles = load_module(kernel, device(), block)
    if not compiles:
        raise DeviceError(
            "kernel module", got=kernel.module.name, expected="a module that compiles"
        )
    process.loaded.add(key)


def slice_above(work: float) -> int:
    """Return the smallest number of indices worth slicing, by the ``work`` of an index.

    Matrix rows of splines, for example, are four times as long as those of triangles.
    """
    if work == TRIVIAL:
        return 100 * SLICE_ABOVE
    return int(SLICE_ABOVE * USUAL / max(work, USUAL))


def parts(n: int, work: float = USUAL) -> int:
    """Return the number of parts of n indices for which a kernel needs memory of its own.

    Returns:
        The number of threads if they share the work; 1 if one thread is as fast, and on devices
        other than the CPU.
    """
    return threads() if is_cpu() and n >= slice_above(work) else 1


def launch(kernel: Kernel, n: int, *args: object, work: float = USUAL, begin: int = 0) -> None:
    """Run a gather kernel for n indices, sliced over the CPU threads if that is faster.

    Args:
        kernel: a Warp kernel whose first parameter is the offset ``o: int``.
        n: number of indices.
        *args: the kernel's other arguments.
        work: number of matrix entries that take as long as one index; ``TRIVIAL``: one operation,
            ``HEAVY``: worth a thread. It decides from which n on several threads are faster.
        begin: the first index.
    """
    where = context()
    alone = where.threads == 1 or n < worth_sharing(slice_above(work))
    if alone and where.device == "cpu" and is_ready(kernel):
        if n > 0:
            launch_on_cpu(kernel, n, (begin, *args))
        return
    launch_each(n, (kernel, *args), work=work, begin=begin)


def launch_each(n: int, *stages: Stage, work: float = USUAL, begin: int = 0) -> None:
    """Run several gather kernels in turn; each slice goes on without waiting for the others.

    This is only right if index i of a stage reads no other index of the stages before than i.

    Args:
        n: number of indices.
        *stages: (kernel, argument, ...) as for ``launch``.
        work: of one index of all stages, as for ``launch``.
        begin: the first index.
    """
    cpu = is_cpu()
    for stage in stages:
        if not (cpu and is_ready(stage[0])):
            load(stage[0])
    if not (cpu and _run_shared(stages, begin, n, slice_above(work))):
        _run(stages, begin, n, cpu)


def _run(stages: Sequence[Stage], begin: int, n: int, cpu: bool) -> None:
    """Run kernels in turn for n indices, in this thread."""
    if n > 0:
        for kernel, *args in stages:
            inputs = [begin, *args]
            if cpu:
                launch_on_cpu(kernel, n, inputs)
            else:
                wp.launch(kernel, n, inputs=inputs, device=device(), record_tape=False)


def _run_shared(stages: Sequence[Stage], begin: int, n: int, least: int) -> bool:
    """Run kernels on several threads; return False, without running them, if that is not possible.

    One thread may be as fast, or an argument may need Warp's own packing.
    """
    count = _helping(n, least)
    if count == 1:
        return False
    packed = []
    for kernel, *args in stages:
        one = pack_launch(kernel, (begin, *args))
        if one is None:
            return False
        packed.append(one)
    return team.work(count, n, begin, packed)


def _helping(n: int, least: int) -> int:
    """Return the number of threads for a launch of n indices; ``least`` are worth slicing."""
    count = threads()
    if count == 1 or n < worth_sharing(least):
        return 1
    return min(count, most_helping(n, least))


def most_helping(n: int, least: int) -> int:
    """Return the number of threads that a launch is worth if they are awake."""
    return 1 + int(n / (AWAKE * least)) if n > 1 else 1


def worth_sharing(least: int) -> float:
    """Return the number of indices from which several threads are faster than one."""
    return max(AWAKE * least if team.is_awake else least, 2)


def launch_in_order(kernel: Kernel, ends: Sequence[int], *args: object) -> None:
    """Run a gather kernel for groups of indices, each of which may read results of earlier groups.

    The CPU runs all groups in one launch and one thread, because it takes the indices in order.

    Args:
        kernel: a Warp kernel whose first parameter is the offset ``o: int``.
        ends: end of each group; the first one begins at 0, each other one at the end before it.
        *args: the kernel's other arguments.
    """
    load(kernel)
    if is_cpu():
        if ends[-1] > 0:
            launch_on_cpu(kernel, int(ends[-1]), (0, *args))
        return
    for a, b in pairwise([0, *(int(e) for e in ends)]):
        if b > a:
            wp.launch(kernel, b - a, inputs=[a, *args], device=device(), record_tape=False)


def launch_serial(kernel: Kernel, *args: Any) -> None:
    """Run index 0 of a kernel on the CPU over NumPy arrays, on any device.

    It is for work that is done once and is not worth a parallel form.
    """
    initialize()
    inputs = [wp.from_numpy(a, device="cpu") if isinstance(a, np.ndarray) else a for a in args]
    wp.launch(kernel, 1, inputs=[0, *inputs], device="cpu", record_tape=False)
    for given, used in zip(args, inputs):
        if isinstance(given, np.ndarray):
            given[...] = used.numpy()


class Recorded:
    """Launch that is repeated with mostly the same arguments.

    ``set(i, value)`` changes argument ``i`` (counted without the offset) for the next replay.
    """

    def __init__(self, kernel: Kernel, n: int, *args: object, work: float = USUAL) -> None:
        load(kernel)
        self._stage, self.n, self.least = [kernel, *args], n, slice_above(work)
        self._packed: tuple[Entry, bytes] | None = None
        self._command = None
        if not is_cpu():
            how = {"device": device(), "record_cmd": True, "record_tape": False}
            self._command = wp.launch(kernel, n, inputs=[0, *args], **how)

    def argument(self, index: int) -> object:
        """Return an argument as it was given or set; ``index`` counts from 0 after the offset."""
        return self._stage[index + 1]

    def set(self, index: int, value: object) -> None:
        """Replace an argument; ``index`` counts from 0 after the offset."""
        self._stage[index + 1], self._packed = value, None
        if self._command is not None:
            self._command.set_param_at_index(index + 1, value)

    def pack(self) -> tuple[Entry, bytes] | None:
        """Return the kernel's entry point on the CPU and its packed arguments.

        None: an argument needs Warp's own packing.
        """
        if self._packed is None:
            kernel, *args = self._stage
            self._packed = pack_launch(kernel, (0, *args))
        return self._packed

    def launch_plainly(self) -> None:
        """Run the launch by ``wp.launch``, which a graph of Warp captures."""
        kernel, *args = self._stage
        wp.launch(kernel, self.n, inputs=[0, *args], device=device(), record_tape=False)

    def launch(self) -> None:
        """Run the launch again."""
        if self._command is not None:
            self._command.launch()
            return
        found = self.pack()
        if found is None:
            kernel, *args = self._stage
            _run([(kernel, *args)], 0, self.n, True)
            return
        count, (entry, packed) = _helping(self.n, self.least), found
        if count == 1 or not team.work(count, self.n, 0, [found]):
            entry.run(self.n, packed)
