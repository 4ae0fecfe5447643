"""How kernels run: the one file that knows about devices, threads and launches.

weft's kernels *gather*: index ``i`` reads what it likes and writes only slot ``i``. Warp's CPU
launch is a serial loop that releases the interpreter lock, so a gather kernel may be cut into
slices that run on several threads with bitwise the same result (``docs/decisions/0002``). Every
kernel takes the first index of its slice, ``o: int``, as its first argument and starts with ``i = o
+ wp.tid()``.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from weft.errors import DeviceError

wp.config.log_level = wp.LOG_ERROR
wp.config.enable_backward = False

Scalar = wp.float64
vec2 = wp.types.vector(length=2, dtype=Scalar)
vec3 = wp.types.vector(length=3, dtype=Scalar)
mat22 = wp.types.matrix(shape=(2, 2), dtype=Scalar)
mat32 = wp.types.matrix(shape=(3, 2), dtype=Scalar)
mat33 = wp.types.matrix(shape=(3, 3), dtype=Scalar)

SLICE_ABOVE = (
    20_000  # indices; below, waking a second thread costs more than it saves (docs/decisions/0002)
)

COMPILING = "compiling kernels, once on this machine (under a minute) ..."

_USUAL = 7  # entries of an index in the kernels that this was measured with

WarpArray = Any  # wp.array: Warp's own annotations do not survive mypy


def _tell_compiling(module: str) -> None:
    """Say once on stderr that kernels are compiled: else a first script seems to hang."""
    if not _settings.told and sys.stderr is not None:
        _settings.told = True
        sys.stderr.write(f"weft: {COMPILING}\n")
        sys.stderr.flush()


@dataclass
class _Settings:
    started: bool = False
    device: str = "cpu"
    threads: int = field(default_factory=lambda: max(1, min(os.cpu_count() or 1, 8)))
    pool: ThreadPoolExecutor | None = None
    loaded: set[tuple[int, str]] = field(default_factory=set)
    on_compile: Callable[[str], None] = _tell_compiling
    told: bool = False  # that kernels are compiled


_settings = _Settings()


def configure(
    *,
    device: str | None = None,
    threads: int | None = None,
    on_compile: Callable[[str], None] | None = None,
) -> None:
    """Choose where kernels run, for the whole process.

    Args:
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
        threads: CPU threads that share a large launch; 1 is always right.
        on_compile: called with a module's name before it is compiled (seconds, once per machine);
            without one, a line on stderr says so once.

    Raises:
        DeviceError: no such device, or fewer than one thread.
    """
    if device is not None:
        _settings.device = _checked_device(device)
    if threads is not None:
        if threads < 1:
            raise DeviceError("threads", got=threads, expected="must be >= 1")
        _settings.threads = threads
        if _settings.pool is not None:
            _settings.pool.shutdown()
            _settings.pool = None
    if on_compile is not None:
        _settings.on_compile = on_compile


@contextmanager
def telling(on_compile: Callable[[str], None]) -> Iterator[None]:
    """Within the block, ``on_compile`` is called before a module is compiled."""
    before = _settings.on_compile
    _settings.on_compile = on_compile
    try:
        yield
    finally:
        _settings.on_compile = before


def initialize() -> None:
    """Start Warp once. Its native library warns on stderr where there is no CUDA driver, which is
    the normal case for a laptop: that warning is dropped.
    """
    if _settings.started:
        return
    _settings.started = True
    try:
        stderr = os.dup(2)
    except OSError:  # no stderr
        wp.init()
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        wp.init()
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def _checked_device(name: str) -> str:
    initialize()
    if name == "cpu":
        return name
    known = [str(d) for d in wp.get_cuda_devices()]
    if name == "cuda" and known:
        return known[0]
    if name not in known:
        raise DeviceError(
            "device",
            got=name,
            expected=f"one of {', '.join(['cpu', *known])}",
            hint="run with --device cpu",
        )
    return name


def device() -> str:
    """The device on which arrays are made and kernels run."""
    return _settings.device


def threads() -> int:
    """How many CPU threads share a large launch."""
    return _settings.threads


def is_cpu() -> bool:
    """True where kernels run on the CPU, and arrays share memory with NumPy."""
    return _settings.device == "cpu"


def load(kernel: Any) -> None:
    """Compile or load a kernel's module now, in this thread (a worker must never be the first)."""
    key = (id(kernel.module), _settings.device)
    if key in _settings.loaded:
        return
    initialize()
    cache = Path(wp.config.kernel_cache_dir) / kernel.module.get_module_identifier()
    if not cache.exists():
        _settings.on_compile(kernel.module.name)
    if kernel.module.load(wp.get_device(_settings.device)) is None:
        raise DeviceError(
            "kernel module", got=kernel.module.name, expected="a module that compiles"
        )
    _settings.loaded.add(key)


def slice_above(entries: float) -> int:
    """Smallest number of indices worth slicing where each visits so many entries: matrix rows of
    splines are four times as long as those of triangles.
    """
    return int(SLICE_ABOVE * _USUAL / max(entries, _USUAL))


def launch(kernel: Any, n: int, *args: Any, slice_above: int = SLICE_ABOVE) -> None:
    """Run a gather kernel for the indices 0 ... n-1, sliced over the CPU threads when it pays.

    Args:
        kernel: a Warp kernel whose first parameter is the offset ``o: int``.
        n: number of indices.
        *args: the kernel's other arguments.
        slice_above: smallest n that is worth slicing; lower it for kernels that do much per index.
    """
    launch_each(n, (kernel, *args), slice_above=slice_above)


def launch_each(n: int, *stages: tuple[Any, ...], slice_above: int = SLICE_ABOVE) -> None:
    """Run several gather kernels in turn, each slice without waiting for the others.

    Right only where index i of a stage reads index i of the stages before, and no other.

    Args:
        n: number of indices.
        *stages: (kernel, argument, ...) as for ``launch``.
        slice_above: smallest n that is worth slicing.
    """
    for stage in stages:
        load(stage[0])

    def run(a: int, b: int) -> None:
        if b > a:
            for kernel, *args in stages:
                inputs = [a, *args]
                wp.launch(kernel, b - a, inputs=inputs, device=_settings.device, record_tape=False)

    parts = _settings.threads if is_cpu() and n >= max(slice_above, 2) else 1
    if parts == 1:
        run(0, n)
        return
    if _settings.pool is None:
        _settings.pool = ThreadPoolExecutor(parts, thread_name_prefix="weft")
    cut = [n * i // parts for i in range(parts + 1)]
    jobs = [_settings.pool.submit(run, a, b) for a, b in pairwise(cut[1:])]
    run(cut[0], cut[1])
    for job in jobs:
        job.result()


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
        parts = _settings.threads if is_cpu() and n >= max(slice_above, 2) else 1
        cut = [n * i // parts for i in range(parts + 1)]
        self._commands = [
            wp.launch(
                kernel,
                b - a,
                inputs=[a, *args],
                device=_settings.device,
                record_cmd=True,
                record_tape=False,
            )
            for a, b in pairwise(cut)
            if b > a
        ]
        if len(self._commands) > 1 and _settings.pool is None:
            _settings.pool = ThreadPoolExecutor(parts, thread_name_prefix="weft")

    def set(self, index: int, value: Any) -> None:
        """Replace an argument; ``index`` counts from 0 after the offset."""
        for command in self._commands:
            command.set_param_at_index(index + 1, value)

    def launch(self) -> None:
        """Replay."""
        if len(self._commands) == 1:
            self._commands[0].launch()
        elif self._commands:
            assert _settings.pool is not None
            jobs = [_settings.pool.submit(c.launch) for c in self._commands[1:]]
            self._commands[0].launch()
            for job in jobs:
                job.result()


def array(values: Any, dtype: Any) -> WarpArray:
    """A NumPy array on the device; on the CPU it shares memory where layout and type allow."""
    initialize()
    return wp.array(
        np.ascontiguousarray(values), dtype=dtype, device=_settings.device, copy=not is_cpu()
    )


def zeros(shape: int | tuple[int, ...], dtype: Any = Scalar) -> WarpArray:
    """A zeroed array on the device."""
    initialize()
    return wp.zeros(shape, dtype=dtype, device=_settings.device)


def empty(shape: int | tuple[int, ...], dtype: Any = Scalar) -> WarpArray:
    """An uninitialised array on the device."""
    initialize()
    return wp.empty(shape, dtype=dtype, device=_settings.device)


class Scratch:
    """Device memory that kernels of one thread of work pass results through, shared by many users.

    ``take`` always gives the beginning of one buffer, as large as the largest request: what it held
    for another user is gone.
    """

    def __init__(self) -> None:
        self._bytes: WarpArray = None
        self._views: dict[tuple[Any, Any], WarpArray] = {}

    def take(self, shape: int | tuple[int, ...], dtype: Any = Scalar) -> WarpArray:
        """An uninitialized array; valid until anyone takes another."""
        key = (shape, dtype)
        if key not in self._views:
            size = int(np.prod(shape)) * wp.types.type_size_in_bytes(dtype)
            if self._bytes is None or self._bytes.shape[0] < size:
                self._views.clear()
                self._bytes = empty(max(size, 8), wp.uint8)
            self._views[key] = wp.array(
                ptr=self._bytes.ptr, shape=shape, dtype=dtype, device=_settings.device
            )
        return self._views[key]


def numpy(a: WarpArray) -> np.ndarray[Any, Any]:
    """A NumPy view (CPU) or copy (CUDA) of a device array."""
    result: np.ndarray[Any, Any] = a.numpy()
    return result


def total(a: WarpArray) -> float:
    """The sum of a scalar array, independent of the number of threads (NumPy's pairwise sum)."""
    return float(np.sum(numpy(a)))
