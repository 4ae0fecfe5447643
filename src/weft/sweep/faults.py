"""Errors of a sample apart from its physics: a full disk, a second process, a stop."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.base.errors import RunError, SweepError
from weft.io.folder_lock import FolderLock
from weft.io.safe_folder import SafeFolder

_FULL = (errno.ENOSPC, errno.EDQUOT)


class DiskFullError(SweepError):
    """No space is left on the disk; files that were written are intact."""


class BusyError(SweepError):
    """Another process runs the sample."""


class StoppedError(Exception):
    """A stop of the sample was requested, or its parent process has ended."""


class TimeUpError(Exception):
    """The sample exceeded its time limit."""


@contextmanager
def sample_lock(inside: SafeFolder) -> Iterator[None]:
    """Hold the lock of a sample's folder.

    Raises:
        BusyError: another process holds it.
        RunError: the folder cannot be created.
    """
    lock = FolderLock(inside)
    try:
        lock.__enter__()
    except RunError as error:
        if str(error.got).startswith("in use"):
            raise BusyError(
                "sample", got=error.got, where=str(inside.path), expected="one process"
            ) from error
        raise
    try:
        yield
    finally:
        lock.__exit__()


def is_full(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is a full disk."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


def full(folder: Path) -> DiskFullError:
    """Return the error that ends a sweep on a full disk."""
    return DiskFullError(
        "disk",
        got="no space left",
        where=str(folder),
        expected="room for the samples to come",
        hint="free some space and run the same command again: it goes on where it stopped",
    )
