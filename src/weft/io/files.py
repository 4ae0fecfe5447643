"""Atomic writing of files: a name stands for the old file or for the new one, never for a part.

A file is written under a temporary name beside its place, and renamed when it is whole. The
temporary name holds the number of the process, so that files of killed processes can be removed.
"""

import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO

from weft.base.errors import RunError, WeftError, error_text
from weft.base.machine import disk, gib, process_start

LONGEST_STEM = 60  # [bytes] of the file's name in the temporary name; names have 255 bytes at most
ABANDONED_AFTER = 600.0  # [s] age of a temporary file that a process of another machine may write
INTACT = "free some space or choose another folder; what was written before is intact"

REMOVALS = 100  # of a folder into which threads still write


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces ``path`` when the block ends without an error.

    Args:
        path: the file; a link is replaced, not followed.

    Raises:
        RunError: the disk is full, or the folder cannot be written to; ``path`` is unchanged.
    """
    with atomic_path(path) as new, new.open("xb") as file:
        yield file


def write_file(path: str | Path, content: str | bytes) -> Path:
    """Write text or bytes to a file, and return its path.

    Raises:
        RunError: as of ``atomic_write``.
    """
    with atomic_write(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Return a path beside ``path``, with its suffix, for libraries that open files by name.

    The file or folder that they write there replaces ``path`` when the block ends without an error.
    Older temporary files of ``path`` are removed.

    Raises:
        RunError: nothing could be written; ``path`` is unchanged.
    """
    path = Path(path)
    with suppress(OSError):
        for name in list_abandoned(os.listdir(path.parent), path):  # noqa: PTH208
            left = path.with_name(name)
            if time.time() - left.lstat().st_mtime > ABANDONED_AFTER:
                _remove(left)
    with replacement(path) as new:
        yield new


@contextmanager
def replacement(path: Path, *, fsync: bool = False) -> Iterator[Path]:
    """Return a temporary path, whose file or folder replaces ``path`` when the block ends without
    an error.

    Args:
        path: the file; a link is replaced, not followed.
        fsync: flush the new file to the disk before it replaces the old one, and the folder after.

    Raises:
        RunError: an error of the system in the block or after it; ``path`` is unchanged.
    """
    new = path.with_name(temporary_name(path))
    try:
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder")
        yield new
        if fsync:
            _flush(new, os.O_RDWR)
        os.replace(new, path)  # noqa: PTH105 - tests stop here
    except BaseException as error:
        _remove(new)
        if not isinstance(error, OSError):
            raise
        raise RunError(
            f"cannot write {path.name}",
            got=error_text(error),
            where=path.parent,
            hint=INTACT,
        ) from error
    if fsync and hasattr(os, "O_DIRECTORY"):
        _flush(path.parent, os.O_RDONLY | os.O_DIRECTORY)


def temporary_name(path: Path) -> str:
    """Return an unpredictable name, with the process id, for a file that becomes ``path``."""
    return f"{_beginning(path)}{os.getpid():08x}{secrets.token_hex(8)}{path.suffix}"


def list_abandoned(names: Iterable[str], path: Path | None = None) -> list[str]:
    """Return the temporary names whose processes have ended, or never ran on this machine.

    Args:
        names: of files in a folder.
        path: only temporary names of this file are returned; None: those of all files.
    """
    begin, end = r"\..+\.", r"(\.[^.]*)?"
    if path is not None:
        begin, end = re.escape(_beginning(path)), re.escape(path.suffix)
    pattern = re.compile(f"{begin}(?P<process>[0-9a-f]{{8}})[0-9a-f]{{16}}{end}")
    matches = map(pattern.fullmatch, names)
    return [m[0] for m in matches if m and process_start(int(m["process"], 16)) is None]


def _beginning(path: Path) -> str:
    return f".{path.stem.encode(errors='ignore')[:LONGEST_STEM].decode(errors='ignore')}."


def _flush(path: Path, flags: int) -> None:
    fd = os.open(path, flags)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _remove(path: Path) -> None:
    """Remove a file, or a folder with all its contents, if it exists.

    Threads of a library that has failed may still write into a folder: it is removed until it is
    gone.
    """
    for _ in range(REMOVALS):
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                continue
        return


def make_folder(path: Path) -> None:
    """Make a folder, and the folders above it, if they are missing.

    Raises:
        RunError: the folder cannot be made, or a file has its name.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise RunError(
            "cannot make folder",
            got=error_text(error),
            where=path,
            hint="choose another place",
        ) from error


@contextmanager
def folder_for(path: Path, make: Callable[[Path], None] = make_folder) -> Iterator[None]:
    """Make a folder as ``make_folder`` does; if the block raises, remove it and the folders above
    it that were made with it, as far as they are empty.

    Args:
        path: the folder.
        make: makes it.
    """
    made = [p for p in (path, *path.parents) if not p.exists()]
    make(path)
    with _drop_empty(made):
        yield


def check_room(folder: Path, size: float, what: str, hint: str, error: type[WeftError]) -> None:
    """Raise ``error`` if a disk has too little free space.

    Args:
        folder: on the disk.
        size: [bytes] needed.
        what: name of the data, for the message.
        hint: remedy, for the message.
        error: class of the error.
    """
    free = disk(folder)
    if free is not None and size > free:
        raise error(
            what,
            got=f"{gib(size)} on disk",
            expected=f"at most the {gib(free)} that are free",
            where=folder,
            hint=hint,
        )


@contextmanager
def new_folder(parent: Path) -> Iterator[Path]:
    """Make a folder below ``parent`` with the date and time as its name, and yield its path; if the
    block raises, an empty one is removed as by ``folder_for``.

    A number is appended if a folder of the same second exists. If no folder can be made, the path
    is yielded all the same: writing into it raises an error with the reason.
    """
    now = parent / time.strftime("%Y%m%d-%H%M%S")
    missing = [p for p in (parent, *parent.parents) if not p.exists()]
    for k in count(1):
        new = now if k == 1 else now.with_name(f"{now.name}-{k}")
        try:
            new.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError:
            pass
        with _drop_empty([new, *missing]):
            yield new
        return


@contextmanager
def _drop_empty(folders: Iterable[Path]) -> Iterator[None]:
    """Remove folders, inner ones first, up to the first with contents, if the block raises."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for folder in folders:
                folder.rmdir()
        raise
