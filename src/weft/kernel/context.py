"""Where kernels run: a device and a number of threads, of the process or of a block of code."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import warp as wp

from weft.base.errors import DeviceError
from weft.base.machine import cores, most_threads
from weft.base.runtime_types import checked

COMPILING = "compiling kernels, once on this machine (under a minute) ..."


def is_first_compile() -> bool:
    """True once in a process, for whoever says that kernels are compiled."""
    first, process.told = not process.told, True
    return first


def _tell_compiling(module: str) -> None:
    """Say once on stderr that kernels are compiled: else a first script seems to hang."""
    if sys.stderr is not None and is_first_compile():
        sys.stderr.write(f"weft: {COMPILING}\n")
        sys.stderr.flush()


@dataclass(frozen=True)
class Context:
    """Where kernels run."""

    device: str = "cpu"
    threads: int = field(default_factory=lambda: max(1, min(os.cpu_count() or 1, 8)))


@dataclass
class Process:
    """What belongs to the process: the default context, and what was started or loaded."""

    started: bool = False
    context: Context = field(default_factory=Context)
    loaded: set[tuple[int, str]] = field(default_factory=set)
    on_compile: Callable[[str], None] = _tell_compiling
    told: bool = False  # that kernels are compiled


process = Process()
_own: ContextVar[Context | None] = ContextVar("weft_context", default=None)


def context() -> Context:
    """Where kernels run now."""
    return _own.get() or process.context


@checked(DeviceError)
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
        DeviceError: no such device, fewer than one thread, or too many (``most_threads``).
    """
    process.context = _changed(process.context, device, threads)
    if on_compile is not None:
        process.on_compile = on_compile


@contextmanager
def telling(on_compile: Callable[[str], None]) -> Iterator[None]:
    """Within the block, ``on_compile`` is called before a module is compiled."""
    before, process.on_compile = process.on_compile, on_compile
    try:
        yield
    finally:
        process.on_compile = before


@checked(DeviceError)
@contextmanager
def use(*, device: str | None = None, threads: int | None = None) -> Iterator[Context]:
    """Run kernels elsewhere in a ``with`` block of this thread; arrays stay where they are.

    Raises:
        DeviceError: no such device, fewer than one thread, or too many (``most_threads``).
    """
    token = _own.set(_changed(context(), device, threads))
    try:
        yield context()
    finally:
        _own.reset(token)


def _changed(old: Context, device: str | None, threads: int | None) -> Context:
    if threads is not None and not 1 <= threads <= most_threads():
        raise DeviceError(
            "threads",
            got=threads,
            expected=f"1 to {most_threads()}",
            hint=f"this machine has {cores()} cores; more threads than cores win nothing",
        )
    where = old.device if device is None else _checked_device(device)
    return Context(where, old.threads if threads is None else threads)


def initialize() -> None:
    """Start Warp once. Its native library warns on stderr where there is no CUDA driver, which is
    the normal case for a laptop: that warning is dropped.
    """
    if process.started:
        return
    process.started = True
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
    return context().device


def threads() -> int:
    """How many CPU threads share a large launch."""
    return context().threads


def is_cpu() -> bool:
    """True where kernels run on the CPU, and arrays share memory with NumPy."""
    return context().device == "cpu"
