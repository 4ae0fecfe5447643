"""Execution context: a device and a number of threads, for the process or for a block of code."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import warp as wp

from weft.base.errors import DeviceError, error_text
from weft.base.machine import cores, most_threads
from weft.base.runtime_types import checked

COMPILING = "compiling kernels, once on this machine (under a minute) ..."


def claim_compile_notice() -> bool:
    """Return True on the first call in a process, when the user has to be told about compiling."""
    first, process.told = not process.told, True
    return first


def _tell_compiling(module: str) -> None:
    """Write once to stderr that kernels are compiled, because a first script would seem to hang."""
    if sys.stderr is not None and claim_compile_notice():
        sys.stderr.write(f"weft: {COMPILING}\n")
        sys.stderr.flush()


@dataclass(frozen=True)
class Context:
    """Device and number of CPU threads with which kernels run."""

    device: str = "cpu"
    threads: int = field(default_factory=lambda: max(1, min(os.cpu_count() or 1, 8)))


@dataclass
class Process:
    """State of the process: the default context, and modules that are loaded."""

    started: bool = False
    context: Context = field(default_factory=Context)
    loaded: set[tuple[int, str]] = field(default_factory=set)
    on_compile: Callable[[str], None] = _tell_compiling
    told: bool = False  # whether the user was told that kernels are compiled


process = Process()
_own: ContextVar[Context | None] = ContextVar("weft_context", default=None)


def context() -> Context:
    """Return the context in use."""
    return _own.get() or process.context


@checked(DeviceError)
def configure(
    *,
    device: str | None = None,
    threads: int | None = None,
    on_compile: Callable[[str], None] | None = None,
) -> None:
    """Choose device and threads for the whole process.

    Args:
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
        threads: CPU threads that share a large launch; 1 is always right.
        on_compile: called with a module's name before it is compiled (seconds, once per machine);
            by default a line on stderr says so once.

    Raises:
        DeviceError: no such device, fewer than one thread, or too many (``most_threads``).
    """
    process.context = _change_context(process.context, device, threads)
    if on_compile is not None:
        process.on_compile = on_compile


@contextmanager
def notify_compile(on_compile: Callable[[str], None]) -> Iterator[None]:
    """Replace the function that is called before a module is compiled, within a ``with`` block."""
    before, process.on_compile = process.on_compile, on_compile
    try:
        yield
    finally:
        process.on_compile = before


@checked(DeviceError)
@contextmanager
def use(*, device: str | None = None, threads: int | None = None) -> Iterator[Context]:
    """Run kernels on another device or with other threads within a ``with`` block of this thread.

    Arrays stay where they are.

    Raises:
        DeviceError: no such device, fewer than one thread, or too many (``most_threads``).
    """
    token = _own.set(_change_context(context(), device, threads))
    try:
        yield context()
    finally:
        _own.reset(token)


def _change_context(old: Context, device: str | None, threads: int | None) -> Context:
    """Return a context with another device or number of threads; None: no change."""
    if threads is not None and not 1 <= threads <= most_threads():
        raise DeviceError(
            "threads",
            got=threads,
            expected=f"1 to {most_threads()}",
            hint=f"this machine has {cores()} cores; more threads are not faster",
        )
    where = old.device if device is None else _check_device(device)
    return Context(where, old.threads if threads is None else threads)


def initialize() -> None:
    """Start Warp once.

    Warp's native library warns on stderr if there is no CUDA driver, which is normal for a laptop;
    that warning is dropped.

    Raises:
        DeviceError: Warp cannot make the folder of its compiled kernels.
    """
    if process.started:
        return
    try:
        stderr = os.dup(2)
    except OSError:  # no stderr
        with named_cache_errors():
            wp.init()
    else:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 2)
            with named_cache_errors():
                wp.init()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            os.close(nowhere)
    process.started = True


@contextmanager
def named_cache_errors() -> Iterator[None]:
    """Name errors of the system in a block that writes compiled kernels.

    Raises:
        DeviceError: the folder of compiled kernels cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise DeviceError(
            "folder of compiled kernels",
            got=error_text(error),
            where=error.filename or wp.config.kernel_cache_dir,
            expected="a folder that can be written, with some hundred MiB of space",
            hint="set another folder in the environment: WARP_CACHE_PATH=FOLDER",
        ) from error


def _check_device(name: str) -> str:
    """Return the name of an existing device."""
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
            hint="run with `device=cpu`",
        )
    return name


def device() -> str:
    """Return the device on which arrays are allocated and kernels run."""
    return context().device


def threads() -> int:
    """Return the number of CPU threads that share a large launch."""
    return context().threads


def is_cpu() -> bool:
    """Return True if kernels run on the CPU, where arrays share memory with NumPy."""
    return context().device == "cpu"
