"""HDF5 files whose disk may fill while they are written.

HDF5 cannot recover from a failed write: its cache still holds what could not be written, so closing
the file fails too, and HDF5 2.0 ends the process with a segmentation fault. The bytes therefore go
through ``_DiskFile``, which reports every write to HDF5 as done and keeps the first error; the
writer asks for that error after every frame or sample, and when the file is closed.
"""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from weft.base.errors import RunError
from weft.io.extra import optional
from weft.io.files import atomic_path

if TYPE_CHECKING:
    import h5py

Check = Callable[[], None]


class _DiskFile(io.RawIOBase):
    """A file on the disk that keeps the first error of writing instead of raising it.

    Args:
        file: open for reading and writing, without a buffer.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all bytes, or none after an error."""
        if self.error is None:
            rest = memoryview(data).cast("B")
            try:
                while rest:
                    rest = rest[self.file.write(rest) :]
            except OSError as error:
                self.error = error
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        """Cut or extend the file."""
        if self.error is None:
            try:
                return self.file.truncate(size)
            except OSError as error:
                self.error = error
        return size or 0

    def readinto(self, data: Any) -> int:
        """Read into a buffer; bytes that could not be written are zero."""
        n = self.file.readinto(data)  # type: ignore[attr-defined]
        if self.error is not None:
            data[n:] = bytes(len(data) - n)
            return len(data)
        return int(n)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position."""
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self.file.tell()

    def check(self) -> None:
        """Raise the first error of writing."""
        if self.error is not None:
            raise self.error


@contextmanager
def disk_file(path: Path) -> Iterator[_DiskFile]:
    """Open a new file for HDF5; its first error is raised when the block ends."""
    with path.open("w+b", buffering=0) as file:
        disk = _DiskFile(file)
        yield disk
        disk.check()


@contextmanager
def hdf5_file(path: Path, what: str) -> Iterator["tuple[h5py.File, Check]"]:
    """Open a new HDF5 file that takes the place of ``path`` when the block ends without an error.

    Args:
        path: the file.
        what: the feature that needs the package h5py, for the message.

    Yields:
        The ``h5py.File``, and a function that raises the first error of writing so far: to be
        called after every frame.

    Raises:
        RunError: ``h5py`` is missing, or the file cannot be written.
    """
    h5py = optional("h5py", "hdf5", what, RunError)
    with atomic_path(path) as new, disk_file(new) as disk, h5py.File(disk, "w") as file:
        yield file, disk.check
