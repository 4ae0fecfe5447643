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
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from weft.base.errors import RunError, error_text
from weft.base.machine import process_start
from weft.base.trees import Json
from weft.io.files import folder_for
from weft.io.safe_folder import SafeFolder

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK, PROCESS_LOCK, WRITER = ".lock", ".lock.pid", ".writer.json"
PATIENCE = 0.1  # [s] a process that ends removes the lock file, which looks locked for a moment
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # errors of file systems without locks


class FolderInUseError(RunError):
    """Another process writes into the folder."""


class FolderLock:
    """The lock of a folder, held in a ``with`` block; blocks of the same object may be nested.

    A folder that is made for the lock, and is empty when the block raises, is removed.
    """

    def __init__(self, folder: SafeFolder) -> None:
        self._folder, self._depth = folder, 0
        self._held = ExitStack()  # to be closed when the lock is released

    def __enter__(self) -> None:
        """Acquire the lock.

        Raises:
            FolderInUseError: another process writes into the folder; the message names it.
            RunError: the folder cannot be created or locked.
        """
        if self._depth == 0:
            with ExitStack() as stack:
                made = folder_for(self._folder.path, lambda _: self._folder.make())
                stack.enter_context(made)
                stack.callback(self._acquire().release)
                # With a full disk the lock holds, but no file names its process.
                with suppress(RunError), self._folder.writer(WRITER, fsync=False) as file:
                    file.write(json.dumps(_this_process()).encode())
                stack.callback(self._remove_files)
                self._held = stack.pop_all()
        self._depth += 1

    def __exit__(self, *error: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._held.__exit__(*error)

    def _remove_files(self) -> None:
        with suppress(RunError):
            self._folder.remove(WRITER)
            # A copy of the folder made of hard links must not share the lock.
            self._folder.remove(LOCK)

    def _acquire(self) -> "BaseFileLock":
        from filelock import FileLock, SoftFileLock, Timeout

        system = FileLock(
            self._folder.locate(LOCK),
            timeout=PATIENCE,
            poll_interval=PATIENCE / 5,
            thread_local=False,
            fallback_to_soft=False,
        )
        process = SoftFileLock(self._folder.locate(PROCESS_LOCK), PATIENCE, thread_local=False)
        kind: type[RunError]
        try:
            try:
                system.acquire()
                return system
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
            process.acquire()
            return process
        except Timeout:
            writer = writer_of(self._folder)
            who = "another process"
            if writer is not None:
                who = f"process {writer['pid']} on {writer['host']}, since {writer['since']}"
            kind, got = FolderInUseError, f"in use: {who} writes into it"
            hint = "wait for it, stop it, or choose another"
        except OSError as error:
            kind, got, hint = RunError, error_text(error), "choose another"
        raise kind(
            "run folder",
            got=got,
            where=self._folder.path,
            expected="one writer",
            hint=f"{hint} folder with `out=`",
        )


def _this_process() -> Json:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "start": process_start(os.getpid()),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def writer_of(folder: SafeFolder) -> Json | None:
    """Return the process that a folder names as its writer; None: none, or nothing readable."""
    try:
        with folder.reader(WRITER) as file:
            writer = json.loads(file.read(4096))
        return {"pid": int(writer["pid"])} | {k: writer[k] for k in ("host", "start", "since")}
    except (OSError, RunError, ValueError, TypeError, KeyError, RecursionError):
        return None


def is_written(folder: SafeFolder) -> bool:
    """Return whether a process writes into the folder now, by the process that it names.

    No lock is taken, because a process that only reads must not block a writer. A process of
    another machine is assumed to run.
    """
    writer = writer_of(folder)
    if writer is None or writer["host"] != socket.gethostname():
        return writer is not None
    return writer["start"] is not None and process_start(writer["pid"]) == writer["start"]
