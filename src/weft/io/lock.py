"""Lock of a folder for one writing process, which ends with the process in any case.

The lock is that of the package filelock: one of the system on the file ``.lock``, or, on file
systems without such locks, a file ``.lock.pid`` with the number of its process. ``.writer.json``
names the process that holds the lock.
"""

import errno
import json
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from weft.base.errors import RunError
from weft.base.machine import process_start
from weft.base.trees import Json
from weft.io.inside import Inside

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK, CLAIM, NAME = ".lock", ".lock.pid", ".writer.json"
PATIENCE = 0.1  # [s] a process that ends removes the lock file, which looks locked for a moment
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # errors of file systems without locks


class Lock:
    """The lock of a folder, held in a ``with`` block; blocks of the same object may be nested."""

    def __init__(self, inside: Inside) -> None:
        self._inside, self._depth = inside, 0
        self._lock: BaseFileLock | None = None

    def __enter__(self) -> None:
        """Acquire the lock.

        Raises:
            RunError: another process writes into the folder; the message names it.
        """
        if self._depth == 0:
            self._inside.make()
            self._lock = self._acquire()
            # With a full disk the lock holds, but no file names its process.
            with suppress(RunError), self._inside.writing(NAME, fsync=False) as file:
                file.write(json.dumps(_this_process()).encode())
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            with suppress(OSError, RunError):
                self._inside.remove(NAME)
                # A copy of the folder made of hard links must not share the lock.
                self._inside.remove(LOCK)
            if self._lock is not None:
                self._lock.release()

    def _acquire(self) -> "BaseFileLock":
        from filelock import FileLock, SoftFileLock, Timeout

        patience: Any = {"timeout": PATIENCE, "poll_interval": PATIENCE / 5, "thread_local": False}
        for lock in (
            FileLock(self._inside.path(LOCK), **patience, fallback_to_soft=False),
            SoftFileLock(self._inside.path(CLAIM), **patience),
        ):
            try:
                lock.acquire()
                return lock
            except Timeout:
                raise self._taken() from None
            except OSError as error:
                if isinstance(lock, FileLock) and error.errno in NO_LOCKS:
                    continue
                raise RunError(
                    "cannot lock run folder",
                    got=error.strerror or str(error),
                    where=str(self._inside.root),
                    hint="choose another folder with --out",
                ) from error
        raise AssertionError

    def _taken(self) -> RunError:
        owner, writer = owner_of(self._inside), "another process"
        if owner is not None:
            writer = f"process {owner['pid']} on {owner['host']}, since {owner['since']}"
        return RunError(
            "run folder",
            got=f"in use: {writer} writes into it",
            where=str(self._inside.root),
            expected="one writer",
            hint="wait for it, stop it, or choose another folder with --out",
        )


def _this_process() -> Json:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "start": process_start(os.getpid()),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def owner_of(inside: Inside) -> Json | None:
    """Return the process that a folder names as its writer; None: none, or nothing readable."""
    try:
        with inside.reading(NAME) as file:
            owner = json.loads(file.read(4096))
    except (OSError, RunError, ValueError, RecursionError):
        return None
    named = isinstance(owner, dict) and {"pid", "host", "start", "since"} <= owner.keys()
    return owner if named and isinstance(owner["pid"], int) else None


def is_written(inside: Inside) -> bool:
    """Return whether a process writes into the folder now, by the process that it names.

    No lock is taken, because a process that only reads must not block a writer.
    """
    owner = owner_of(inside)
    return owner is not None and runs(owner)


def runs(owner: Json) -> bool:
    """Return whether a process still runs; a process of another machine is assumed to run."""
    if owner["host"] != socket.gethostname():
        return True
    return owner["start"] is not None and process_start(owner["pid"]) == owner["start"]
