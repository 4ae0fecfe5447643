"""Lock of a folder for one writing process, which ends with the process in any case.

If the system has locks (``flock``; ``LockFile`` on Windows), the lock is on a file ``.lock`` and
the system releases it when the process ends. On file systems without locks, a file ``.lock.pid``
contains the process and its start time, and is invalid once no such process runs.
"""

import json
import os
import platform
import socket
import time
from contextlib import suppress
from typing import Any

from weft.base.errors import RunError
from weft.base.machine import process_start
from weft.io.inside import Inside

NAME, CLAIM = ".lock", ".lock.pid"
TRIES = 100  # attempts: the lock file may be removed between opening and locking it
YOUNG = 10.0  # [s] an empty claim younger than this may still be written by its process


class Lock:
    """The lock of a folder, held in a ``with`` block; blocks of the same object may be nested."""

    def __init__(self, inside: Inside) -> None:
        self._inside, self._fd, self._depth, self._name = inside, -1, 0, NAME

    def __enter__(self) -> None:
        """Acquire the lock.

        Raises:
            RunError: another process writes into the folder; the message names it.
        """
        if self._depth == 0:
            self._inside.make()
            for _ in range(TRIES):
                if self._try():
                    break
            else:
                raise RunError("lock", got="taken again and again", where=str(self._inside.root))
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            with suppress(OSError, RunError):
                self._inside.remove(self._name)
            os.close(self._fd)

    def _try(self) -> bool:
        """Try to acquire the lock; return False if its file was replaced meanwhile."""
        fd = self._open(NAME, os.O_RDWR | os.O_CREAT)
        locked = lock_file(fd)
        if locked is None:
            os.close(fd)
            return self._claim()
        if not locked:
            owner = _owner(fd)
            os.close(fd)
            raise self._taken(owner)
        if not self._same(fd):
            os.close(fd)
            return False
        self._hold(fd, NAME)
        return True

    def _claim(self) -> bool:
        """Acquire the folder without system locks, by creating a file exclusively; return False to
        try again.
        """
        try:
            fd = self._open(CLAIM, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            fd = self._open(CLAIM, os.O_RDONLY)
            owner, age = _owner(fd), time.time() - os.fstat(fd).st_mtime
            os.close(fd)
            if runs(owner) if owner is not None else age < YOUNG:
                raise self._taken(owner) from None
            self._inside.remove(CLAIM)
            return False
        self._hold(fd, CLAIM)
        return True

    def _hold(self, fd: int, name: str) -> None:
        with suppress(OSError):  # a full disk: the lock holds, but its file names no process
            os.ftruncate(fd, 0)
            os.lseek(fd, 0, os.SEEK_SET)
            os.write(fd, json.dumps(_self()).encode())
        self._fd, self._name = fd, name

    def _open(self, name: str, flags: int) -> int:
        try:
            return self._inside.open(name, flags)
        except FileExistsError:
            raise
        except OSError as error:
            raise RunError(
                "cannot lock run folder",
                got=error.strerror,
                where=str(self._inside.root),
                hint="choose another folder with --out",
            ) from error

    def _same(self, fd: int) -> bool:
        """Return whether the locked file still has its name; its previous holder may have removed
        it.
        """
        try:
            now = (self._inside.root / NAME).stat()
        except OSError:
            return False
        mine = os.fstat(fd)
        return (now.st_ino, now.st_dev) == (mine.st_ino, mine.st_dev)

    def _taken(self, owner: dict[str, Any] | None) -> RunError:
        said = "another process"
        if owner is not None:
            said = f"process {owner['pid']} on {owner['host']}, since {owner['since']}"
        return RunError(
            "run folder",
            got=f"in use: {said} writes into it",
            where=str(self._inside.root),
            expected="one writer",
            hint="wait for it, stop it, or choose another folder with --out",
        )


def lock_file(fd: int) -> bool | None:
    """Lock an open file.

    Returns:
        True: locked; False: another process has the lock; None: the file system has no locks.
    """
    if platform.system() == "Windows":
        return _lock_windows(fd)
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _lock_windows(fd: int) -> bool:
    """Lock one byte far behind the text, so that other processes can still read the text."""
    import msvcrt

    os.lseek(fd, 1 << 20, os.SEEK_SET)
    try:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True


def _self() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "start": process_start(os.getpid()),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def _owner(fd: int) -> dict[str, Any] | None:
    """Return the process that wrote the file; None if the file does not name one."""
    try:
        os.lseek(fd, 0, os.SEEK_SET)
        owner = json.loads(os.read(fd, 4096))
        fine = {"pid", "host", "start", "since"} <= owner.keys() and isinstance(owner["pid"], int)
    except (ValueError, AttributeError, OSError, RecursionError):
        return None
    return owner if fine else None


def is_written(inside: Inside) -> bool:
    """Return whether a process writes into the folder now, from the process named in its lock file.

    No lock is taken, because a process that only reads must not block a writer.
    """
    for name in (NAME, CLAIM):
        with suppress(OSError, RunError):
            fd = inside.open(name, os.O_RDONLY)
            owner = _owner(fd)
            os.close(fd)
            if owner is not None and runs(owner):
                return True
    return False


def runs(owner: dict[str, Any]) -> bool:
    """Return whether a process still runs; a process of another machine is assumed to run."""
    if owner["host"] != socket.gethostname():
        return True
    return owner["start"] is not None and process_start(owner["pid"]) == owner["start"]
