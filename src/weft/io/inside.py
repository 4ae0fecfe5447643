"""Files below one folder, written atomically and opened without following links.

A run folder may come from elsewhere, and nothing in it may lead reading or writing out of it: no
part of a name below the folder may be a link, and only ordinary files are opened.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from weft.base.errors import RunError
from weft.io.temporary import temporary_name

_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for its other end
    | getattr(os, "O_BINARY", 0)
)

INTACT = "free some space or choose another folder; what was written before is intact"


class Inside:
    """A folder whose files are opened without following links.

    Args:
        root: its path; links in the path itself are followed, because the user chose it.
        fsync: flush new files to the disk before they replace old ones.
    """

    def __init__(self, root: Path, *, fsync: bool = True) -> None:
        self.root, self.fsync = Path(root), fsync

    def path(self, name: str) -> Path:
        """Return the path of a file or folder.

        Raises:
            RunError: it is a link, or lies in a folder that is one.
        """
        path = self._in_folder(name)
        if _is_link(path):
            raise self._link(name)
        return path

    def _in_folder(self, name: str) -> Path:
        """Return the path of a file that may itself be a link, but in no folder that is one."""
        parent, _, leaf = name.rpartition("/")
        if parent and _is_link(self.root / parent):
            raise self._link(parent)
        return self.root / parent / leaf

    def make(self, folder: str = "") -> None:
        """Make the folder, or one folder in it (one level), if it is missing.

        Raises:
            RunError: a file or link is in the way, or no permission.
        """
        with self._errors("cannot make run folder", folder, "choose another folder with --out"):
            if not self.root.absolute().name:
                raise FileExistsError(errno.EEXIST, "the root of a disk")
            self.root.mkdir(parents=True, exist_ok=True)
            self.path(folder).mkdir(exist_ok=True)

    @contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        """Open an ordinary file for reading.

        Raises:
            FileNotFoundError: it is missing.
            RunError: it is a link or no ordinary file, or cannot be read.
        """
        if not self.has(name):
            raise FileNotFoundError(errno.ENOENT, "missing", name)
        with self._errors(f"cannot read {name}"):
            fd = self.open(name, os.O_RDONLY)
        with os.fdopen(fd, "rb") as file:
            yield file

    @contextmanager
    def writing(self, name: str, *, fsync: bool | None = None) -> Iterator[IO[bytes]]:
        """Open a binary file that replaces ``name`` when the block ends without an error.

        Raises:
            RunError: the disk is full, or the folder cannot be written to; ``name`` is unchanged.
        """
        target = self._in_folder(name)
        new = target.with_name(temporary_name(target.name, ".tmp"))
        lasting = self.fsync if fsync is None else fsync
        with self._errors(f"cannot write {target.name}", name.rpartition("/")[0], INTACT):
            with new.open("xb") as file:
                try:
                    yield file
                    file.flush()
                    if lasting:
                        os.fsync(file.fileno())
                    os.replace(new, target)  # noqa: PTH105 - tests stop here
                except BaseException:
                    with suppress(OSError):
                        os.unlink(new)  # noqa: PTH108
                    raise
            if lasting:
                _sync_folder(target.parent)

    def open(self, name: str, flags: int) -> int:
        """Return a descriptor of an ordinary file.

        Raises:
            OSError: it cannot be opened with these flags.
            RunError: it is a link, or no ordinary file.
        """
        fd = os.open(self.path(name), flags | _FLAGS, 0o666)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise RunError(
                name,
                got="no ordinary file",
                where=str(self.root),
                expected="what weft wrote",
                hint="remove it and resume",
            )
        return fd

    def has(self, name: str) -> bool:
        """Return True if there is a file of that name, of any kind; opening a link is refused
        later.
        """
        try:
            return os.path.lexists(self._in_folder(name))
        except (RunError, ValueError):
            return False

    def size(self, name: str) -> int:
        """Return the size [bytes] of a file, 0 if there is none."""
        try:
            return self._in_folder(name).lstat().st_size
        except (OSError, RunError, ValueError):
            return 0

    def remove(self, name: str) -> None:
        """Remove a file, or a link itself, if it exists.

        Raises:
            RunError: it cannot be removed.
        """
        with self._errors(f"cannot remove {name}"), suppress(FileNotFoundError):
            os.unlink(self._in_folder(name))  # noqa: PTH108 - tests stop here

    def listing(self, folder: str = "") -> list[str]:
        """Return the names in the folder, or in one folder in it; none if it is missing.

        Raises:
            RunError: the folder cannot be read, or is a link.
        """
        with (
            self._errors(f"cannot read {folder or self.root}"),
            suppress(FileNotFoundError, NotADirectoryError),
        ):
            return sorted(os.listdir(self.path(folder) if folder else self.root))  # noqa: PTH208
        return []

    @contextmanager
    def _errors(self, what: str, folder: str = "", hint: str | None = None) -> Iterator[None]:
        """Raise errors of the system, and of names that it cannot have, as RunError."""
        try:
            yield
        except OSError as error:
            got = error.strerror or str(error)
            raise RunError(what, got=got, where=str(self.root / folder), hint=hint) from error
        except ValueError as error:
            if "null" not in str(error):
                raise
            raise RunError(what, got=str(error), expected="a name without a NUL") from error

    def _link(self, name: str) -> RunError:
        return RunError(
            name,
            got="a link",
            where=str(self.root),
            expected="what weft wrote",
            hint="weft neither reads nor writes a run through links: put what it leads to in its "
            "place, or remove it and resume",
        )


def _sync_folder(path: Path) -> None:
    """Flush the names in a folder to the disk, on systems that can open folders."""
    if hasattr(os, "O_DIRECTORY"):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _is_link(path: Path) -> bool:
    try:
        mode = path.lstat()
    except (OSError, ValueError):
        return False
    reparse = getattr(mode, "st_file_attributes", 0) & 0x400  # Windows: junctions are links, too
    return stat.S_ISLNK(mode.st_mode) or bool(reparse)
