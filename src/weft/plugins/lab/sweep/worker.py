"""Functions that executors call in other processes, and what a process keeps between samples.

Only the first sample of a process waits for the sweep's files and compiled kernels.
"""

import os
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from multiprocessing import parent_process
from pathlib import Path

from weft.base.errors import SceneError, SweepError, WeftError, to_one_line
from weft.base.machine import LIBRARY_THREADS
from weft.base.trees import Json
from weft.io.folder_lock import FolderInUseError
from weft.plugins.lab.sweep.faults import DiskFullError, StoppedError
from weft.plugins.lab.sweep.folder import NAME, SweepFolder, open_sweep
from weft.plugins.lab.sweep.plan import PLAN


def open_unchanged(path: str | Path) -> SweepFolder:
    """Return a sweep's folder; it is read again only if its plan has changed.

    Raises:
        SweepError: there is no sweep, or its scene file has changed since it was planned.
    """
    root = Path(path)
    try:
        marks = tuple((root / name).stat().st_mtime_ns for name in (NAME, PLAN))
    except OSError:
        marks = ()
    return _open(root, marks)


@lru_cache(maxsize=2)
def _open(root: Path, marks: tuple[int, ...]) -> SweepFolder:
    """Read a sweep's folder; ``marks`` are the modification times of its files, the key of the
    cache.
    """
    from weft.scene.file import scene_digest

    sweep = open_sweep(root)
    try:
        digest = scene_digest(sweep.scene, sweep.common)
    except SceneError as error:
        raise SweepError(
            "scene",
            got=to_one_line(error),
            where=sweep.scene,
            expected="the scene file of the sweep, and the files that it includes",
        ) from error
    if digest != sweep.about["scene_digest"]:
        raise SweepError(
            "scene",
            got="changed since the sweep was planned",
            where=sweep.scene,
            expected="the same files",
            hint="restore the file, or start another sweep with --out",
        )
    return sweep


def limit_library_threads(threads: int) -> None:
    """Set the number of threads of NumPy's libraries to that of a sample.

    It has an effect only before NumPy is imported; otherwise the limits that ``run_sample`` sets
    apply.
    """
    for name in LIBRARY_THREADS:
        os.environ[name] = str(threads)


def begin_worker(log: str, threads: int) -> None:
    """Prepare a worker process: it writes what it prints into a log, and ends with its parent."""
    limit_library_threads(threads)
    with Path(log).open("ab") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def load() -> int:
    """Import what samples need, and return the number of this process."""
    from weft.plugins.lab.sweep import sample  # noqa: F401

    return os.getpid()


def _end_with_parent() -> None:
    """Wait until the parent process has ended, and end this one between two samples."""
    from weft.plugins.lab.sweep.sample import one_sample

    parent = parent_process()
    if parent is not None:
        parent.join()
        with one_sample:  # the sample that runs stops after its step, see ``_stop_with_parent``
            os._exit(1)


def _stop_with_parent(_: object) -> None:
    """Stop a sample whose parent process has ended."""
    parent = parent_process()
    if parent is not None and not parent.is_alive():
        raise StoppedError


def run_samples(
    path: str,
    names: Sequence[str],
    retry: bool = False,
    call: str = "",
    watch: Callable[..., None] = _stop_with_parent,
) -> dict[str, Json]:
    """Run or continue samples in turn; a full disk or an error ends the series.

    Args:
        path: the sweep's folder.
        names: ids of samples.
        retry: run samples again that have failed.
        call: text that differs in every call, because Dask calls a function with the same
            arguments only once.
        watch: called after every step; an error that it raises stops the sample.

    Returns:
        By id, one of ``status`` (the final state), ``busy`` (another process runs the sample),
        ``full`` (the disk is full) and ``error`` (the reason for which no sample can start).
    """
    from weft.plugins.lab.sweep.sample import run_sample

    answers: dict[str, Json] = {}
    for name in names:
        try:
            sweep = open_unchanged(path)
            status = run_sample(sweep, sweep.sample(name), retry=retry, watch=watch)
            answers[name] = {"status": status.state}
        except FolderInUseError as error:
            answers[name] = {"busy": str(error)}
        except DiskFullError as error:
            return answers | {name: {"full": str(error)}}
        except WeftError as error:
            return answers | {name: {"error": f"{type(error).__name__}: {error}"}}
    return answers
