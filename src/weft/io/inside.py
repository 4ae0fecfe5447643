"""Files below one folder, opened without following links.

A run folder may come from elsewhere, and nothing in it may lead reading or writing out of it.
Therefore every part of a name below the folder is opened with ``O_NOFOLLOW`` from the descriptor of
the part before it (on systems without this, it is checked before it is opened), and only ordinary
files are opened.
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

_AT = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for its other end
    | getattr(os, "O_BINARY", 0)
)


class Inside:
    """A folder whose files are opened without following links.

    Args:
        root: its path; links in the path itself are followed, because the user chose it.
        fsync: flush new files to the disk before they replace old ones.
    """

    def __init__(self, root: Path, *, fsync: bool = True) -> None:
        self.root, self.fsync = Path(root), fsync

    def make(self, folder: str = "") -> None:
        """Make the folder, or one folder in it (one level), if it is missing.

        Raises:
            RunError: a file or link is in the way, or no permission.
        """
        try:
            if not self.root.absolute().name:
                raise FileExistsError(errno.EEXIST, "the root of a disk")
            self.root.mkdir(parents=True, exist_ok=True)
            if folder:
                with suppress(FileExistsError), self._folder("") as (at, prefix):
                    os.mkdir(prefix + folder, dir_fd=at)
                with self._folder(folder):
                    pass
        except OSError as error:
            raise RunError(
                "cannot make run folder",
                got=error.strerror or str(error),
                where=str(self.root / folder),
                hint="choose another folder with --out",
            ) from error
        except ValueError as error:  # for example a NUL in the name
            raise RunError("folder", got=str(error), expected="a path") from error

    @contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        """Open an ordinary file for reading.

        Raises:
            FileNotFoundError: it is missing.
            RunError: it is a link or no ordinary file, or cannot be read.
        """
        try:
            fd = self.open(name, os.O_RDONLY)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self._refused("read", name, error) from error
        with os.fdopen(fd, "rb") as file:
            yield file

    @contextmanager
    def writing(self, name: str, *, fsync: bool | None = None) -> Iterator[IO[bytes]]:
        """Open a binary file that replaces ``name`` when the block ends without an error.

        Raises:
            RunError: the disk is full, or the folder cannot be written to; ``name`` is unchanged.
        """
        parent, _, leaf = name.rpartition("/")
        temporary = temporary_name(leaf, ".tmp")
        lasting = self.fsync if fsync is None else fsync
        try:
            with self._folder(parent) as (at, prefix):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS
                fd = os.open(prefix + temporary, flags, 0o666, dir_fd=at)
                try:
                    with os.fdopen(fd, "wb") as file:
                        yield file
                        file.flush()
                        if lasting:
                            os.fsync(file.fileno())
                    if at is None:
                        os.replace(prefix + temporary, prefix + leaf)  # noqa: PTH105
                    else:
                        os.replace(temporary, leaf, src_dir_fd=at, dst_dir_fd=at)
                        if lasting:
                            os.fsync(at)
                except BaseException:
                    with suppress(OSError):
                        os.unlink(prefix + temporary, dir_fd=at)
                    raise
        except OSError as error:
            raise RunError(
                f"cannot write {leaf}",
                got=error.strerror or str(error),
                where=str(self.root / parent),
                hint="free some space or choose another folder; what was written before is intact",
            ) from error
        except ValueError as error:
            if "null" not in str(error):
                raise
            raise RunError("file name", got=repr(leaf), expected="one without a NUL") from error

    def open(self, name: str, flags: int) -> int:
        """Return a descriptor of an ordinary file.

        Raises:
            OSError: it cannot be opened with these flags.
            RunError: it is a link, or no ordinary file.
        """
        parent, _, leaf = name.rpartition("/")
        with self._folder(parent) as (at, prefix):
            if at is None and _is_link(prefix + leaf):
                raise self._link(name)
            try:
                fd = os.open(prefix + leaf, flags | _FLAGS, 0o666, dir_fd=at)
            except OSError:
                if _is_link(prefix + leaf, at):
                    raise self._link(name) from None
                raise
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
        parent, _, leaf = name.rpartition("/")
        try:
            with self._folder(parent) as (at, prefix):
                os.stat(prefix + leaf, dir_fd=at, follow_symlinks=False)
        except (OSError, ValueError):
            return False
        return True

    def size(self, name: str) -> int:
        """Return the size [bytes] of a file, 0 if there is none."""
        parent, _, leaf = name.rpartition("/")
        try:
            with self._folder(parent) as (at, prefix):
                return os.stat(prefix + leaf, dir_fd=at, follow_symlinks=False).st_size
        except (OSError, ValueError):
            return 0

    def remove(self, name: str) -> None:
        """Remove a file, or a link itself, if it exists.

        Raises:
            RunError: it cannot be removed.
        """
        parent, _, leaf = name.rpartition("/")
        try:
            with self._folder(parent) as (at, prefix):
                os.unlink(prefix + leaf, dir_fd=at)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._refused("remove", name, error) from error

    def listing(self, folder: str = "") -> list[str]:
        """Return the names in the folder, or in one folder in it; none if it is missing.

        Raises:
            RunError: the folder cannot be read, or is a link.
        """
        try:
            with self._folder(folder) as (at, prefix):
                return sorted(os.listdir(prefix if at is None else at))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._refused("read", folder or str(self.root), error) from error

    @contextmanager
    def _folder(self, name: str) -> Iterator[tuple[int | None, str]]:
        """Return a descriptor of the folder or of one in it, or None with a prefix of paths on
        systems without relative opening.
        """
        if not _AT:
            if name and _is_link(str(self.root / name)):
                raise self._link(name)
            yield None, f"{self.root / name}{os.sep}"
            return
        fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if name:
                outer = fd
                try:
                    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=outer)
                except OSError:
                    if _is_link(name, outer):
                        raise self._link(name) from None
                    raise
                os.close(outer)
            yield fd, ""
        finally:
            os.close(fd)

    def _refused(self, what: str, name: str, error: OSError) -> RunError:
        return RunError(
            f"cannot {what} {name}", got=error.strerror or str(error), where=str(self.root)
        )

    def _link(self, name: str) -> RunError:
        return RunError(
            name,
            got="a link",
            where=str(self.root),
            expected="what weft wrote",
            hint="weft neither reads nor writes a run through links: put what it leads to in its "
            "place, or remove it and resume",
        )


def _is_link(path: str, at: int | None = None) -> bool:
    try:
        mode = os.stat(path, dir_fd=at, follow_symlinks=False)
    except (OSError, ValueError):
        return False
    reparse = getattr(mode, "st_file_attributes", 0) & 0x400  # Windows: junctions are links, too
    return stat.S_ISLNK(mode.st_mode) or bool(reparse)
