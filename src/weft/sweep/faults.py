"""What may happen to a sample besides its physics: a full disk, a second process, a stop."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.base.errors import RunError, SweepError
from weft.io.inside import Inside
from weft.io.lock import Lock

_FULL = (errno.ENOSPC, errno.EDQUOT)


class DiskFullError(SweepError):
    """No space is left: nothing else can be written, and nothing that was is lost."""


class BusyError(SweepError):
    """Another process is at the sample."""


class StoppedError(Exception):
    """Whoever asked for the sample is gone, or asked to stop."""


class TimeUpError(Exception):
    """The sample has taken longer than it may."""


@contextmanager
def sample_lock(inside: Inside) -> Iterator[None]:
    """The lock of a sample's folder.

    Raises:
        BusyError: another process has it. RunError: the folder cannot be made.
    """
    lock = Lock(inside)
    try:
        lock.__enter__()
    except RunError as error:
        if str(error.got).startswith("in use"):
            raise BusyError(
                "sample", got=error.got, where=str(inside.root), expected="one process"
            ) from error
        raise
    try:
        yield
    finally:
        lock.__exit__()


def is_full(error: BaseException | None) -> bool:
    """Whether an error comes from a disk that is full."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        error = error.__cause__ or error.__context__
    return False


def full(folder: Path) -> DiskFullError:
    """The error that ends a sweep on a full disk."""
    return DiskFullError(
        "disk",
        got="no space left",
        where=str(folder),
        expected="room for the samples to come",
        hint="free some space and run the same command again: it goes on where it stopped",
    )
