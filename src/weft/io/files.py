"""Atomic writing of files: a file is either the old one or the new one; creation of folders."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO

from weft.base.errors import RunError, WeftError
from weft.base.machine import disk, gib
from weft.io.inside import Inside
from weft.io.temporary import remove, sweep, temporary_name


@contextmanager
def atomic_write(path: str | Path, *, fsync: bool = False) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces ``path`` when the block ends without an error.

    Args:
        path: the file; a link is replaced, not followed.
        fsync: flush the new file to the disk before it replaces the old one.

    Raises:
        RunError: the disk is full, or the folder cannot be written to; ``path`` is unchanged.
    """
    path = Path(path)
    sweep(path.parent, path.name, ".tmp")
    with Inside(path.parent, fsync=fsync).writing(path.name) as file:
        yield file


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Return a path beside ``path``, with its suffix, for libraries that open files by name.

    The file or folder that they write there replaces ``path`` when the block ends without an error.

    Raises:
        RunError: nothing could be written; ``path`` is unchanged.
    """
    path = Path(path)
    new = path.with_name(temporary_name(path.stem, path.suffix))
    sweep(path.parent, path.stem, path.suffix)
    try:
        if not path.parent.is_dir():
            raise FileNotFoundError(2, "no such folder")
        yield new
        new.replace(path)
    except OSError as error:
        raise RunError(
            f"cannot write {path.name}",
            got=error.strerror or str(error),
            where=str(path.parent),
            hint="free some space or choose another folder; what was written before is intact",
        ) from error
    finally:
        remove(new)


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
            got=getattr(error, "strerror", None) or str(error),
            where=str(path),
            hint="choose another place",
        ) from error


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
            where=str(folder),
            hint=hint,
        )


def new_folder(parent: Path) -> Path:
    """Make a folder below ``parent`` with the date and time as its name, and return its path.

    A number is appended if a folder of the same second exists. If no folder can be made, the path
    is returned all the same: writing into it raises an error with the reason.
    """
    now = parent / time.strftime("%Y%m%d-%H%M%S")
    for k in count(1):
        new = now if k == 1 else now.with_name(f"{now.name}-{k}")
        try:
            new.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError:
            pass
        return new
    raise AssertionError
