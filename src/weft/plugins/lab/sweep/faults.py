"""Errors of a sample apart from its physics: a full disk, a stop, a time limit."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.base.errors import RunError, SweepError

_FULL = (errno.ENOSPC, errno.EDQUOT)


class DiskFullError(SweepError):
    """No space is left on the disk; files that were written are intact."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            "disk",
            got="no space left",
            where=folder,
            expected="enough space for the next samples",
            hint="free some space and run the same command again, which continues",
        )


class StoppedError(Exception):
    """A stop of the sample was requested, or its parent process has ended."""


class OverdueError(Exception):
    """The process of a sample was killed, because a step did not end long after the time limit."""


class TimeUpError(Exception):
    """The sample exceeded its time limit."""


@contextmanager
def translate_full_disk(folder: Path) -> Iterator[None]:
    """Raise ``DiskFullError`` in place of the errors of a full disk."""
    try:
        yield
    except (RunError, OSError) as error:
        if is_full(error):
            raise DiskFullError(folder) from error
        raise


def is_full(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is a full disk."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        error = error.__cause__ or error.__context__
    return False
