"""Folder whose files are replaced atomically and opened without following links.

The folder of a run may come from elsewhere, and nothing in it may lead reading or writing out of
it: no part of a name below the folder may be a link, and only ordinary files are opened.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from weft.base.errors import RunError, error_text
from weft.base.input_file import open_ordinary
from weft.io.files import INTACT, replacement

REPAIR = "`weft doctor` says what is damaged; a run with `resume=True` repairs it"
NO_LINKS = (
    "weft does not follow links in a run folder: replace the link by its target, or remove it "
    "and resume"
)


class SafeFolder:
    """A folder whose files are opened without following links.

    Args:
        path: of the folder; links in it are followed, because the user chose it.
        fsync: flush new files to the disk before they replace old ones.

    Raises:
        RunError: a path that no folder can have.
    """

    def __init__(self, path: Path, *, fsync: bool = True) -> None:
        self.path, self.fsync = Path(path), fsync
        if "\0" in str(path):
            raise RunError("folder", got=repr(str(path)), expected="a path without a NUL")

    def locate(self, name: str, *, replaceable: bool = False) -> Path:
        """Return the path of a file or folder.

        Args:
            name: relative to this folder, with ``/`` between its parts.
            replaceable: the file may be a link, because it will be replaced or removed.

        Raises:
            RunError: a part of the name is a link.
        """
        path = self.path
        *folders, last = name.split("/")
        for part in folders if replaceable else (*folders, last):
            path /= part
            if part and _is_link(path):
                raise self.damage_error(name, "a link", NO_LINKS)
        return path / last if replaceable else path

    def damage_error(self, name: str, got: object, hint: str = REPAIR) -> RunError:
        """Return the error of a file that is not what weft wrote."""
        where = str(self.path)
        return RunError(
            name, got=got, where=where, expected="the content that weft wrote", hint=hint
        )

    def make(self, name: str = "") -> None:
        """Make this folder, or one folder in it (one level), if it is missing.

        Raises:
            RunError: a file or link is in the way, or no permission.
        """
        with self._system_errors("cannot make run folder", "choose another folder with `out=`"):
            if not self.path.absolute().name:
                raise FileExistsError(errno.EEXIST, "the root of a disk")
            self.path.mkdir(parents=True, exist_ok=True)
            self.locate(name).mkdir(exist_ok=True)

    @contextmanager
    def reader(self, name: str) -> Iterator[IO[bytes]]:
        """Open an ordinary file for reading.

        Raises:
            FileNotFoundError: it is missing.
            RunError: it is a link or no ordinary file, or cannot be read.
        """
        if not self.has(name):
            raise FileNotFoundError(errno.ENOENT, "missing", name)
        with self._system_errors(f"cannot read {name}", "remove it and resume"):
            fd = open_ordinary(self.locate(name), os.O_RDONLY, follow_links=False)
        with os.fdopen(fd, "rb") as file:
            yield file

    @contextmanager
    def writer(self, name: str, *, fsync: bool = True) -> Iterator[IO[bytes]]:
        """Open a binary file that replaces ``name`` when the block ends without an error.

        Args:
            name: of the file.
            fsync: False: do not flush this file to the disk, though others are flushed.

        Raises:
            RunError: the disk is full, or the folder cannot be written to; ``name`` is unchanged.
        """
        target = self.locate(name, replaceable=True)
        with replacement(target, fsync=fsync and self.fsync) as new, new.open("xb") as file:
            yield file

    def append(self, name: str, data: bytes, *, fsync: bool = True) -> None:
        """Append bytes to a file, which is made if it is missing.

        A file with hard links outside this folder is replaced by a longer copy, because the other
        names must keep their contents.

        Args:
            name: of the file.
            data: what is appended.
            fsync: False: do not flush the file to the disk, though others are flushed.

        Raises:
            RunError: the disk is full, or the file is no ordinary one.
        """
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        with self._system_errors(f"cannot write {name}", INTACT):
            fd = open_ordinary(self.locate(name), flags, follow_links=False)
            with os.fdopen(fd, "r+b") as file:
                if os.fstat(fd).st_nlink == 1:
                    file.write(data)
                    file.flush()
                    if fsync and self.fsync:
                        os.fsync(fd)
                    return
                data = file.read() + data
        with self.writer(name) as file:
            file.write(data)

    def has(self, name: str) -> bool:
        """Return True if there is a file of that name, of any kind; opening a link is refused
        later.
        """
        try:
            return os.path.lexists(self.locate(name, replaceable=True))
        except RunError:
            return False

    def remove(self, name: str) -> None:
        """Remove a file, or a link itself, if it exists.

        Raises:
            RunError: it cannot be removed.
        """
        with self._system_errors(f"cannot remove {name}"), suppress(FileNotFoundError):
            os.unlink(self.locate(name, replaceable=True))  # noqa: PTH108 - tests stop here

    def names(self, folder: str = "") -> list[str]:
        """Return the names in this folder, or in one folder in it; none if it is missing.

        Raises:
            RunError: the folder cannot be read, or is a link.
        """
        with (
            self._system_errors(f"cannot read {folder or self.path}"),
            suppress(FileNotFoundError, NotADirectoryError),
        ):
            return sorted(os.listdir(self.locate(folder)))  # noqa: PTH208
        return []

    @contextmanager
    def _system_errors(self, what: str, hint: str | None = None) -> Iterator[None]:
        """Raise errors of the system as RunError."""
        try:
            yield
        except OSError as error:
            got = error_text(error)
            raise RunError(what, got=got, where=self.path, hint=hint) from error


def _is_link(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    reparse = getattr(status, "st_file_attributes", 0) & 0x400  # Windows: junctions are links, too
    return stat.S_ISLNK(status.st_mode) or bool(reparse)
