"""Files that a user names: how they are opened, and what reading one may cost.

A file is refused before it is read where its kind, its size or a count in it promises more than
about ``SECONDS`` of work or ``MEMORY`` bytes. Bounds that no data of users reach are constants;
others grow with the file, so that a large file may take as long as its size needs.
"""

import errno
import os
import stat
from pathlib import Path
from typing import IO

SECONDS = 10.0  # [s] of work, where the file is small
MEMORY = 1 << 30  # [bytes], where the file is small

YAML_VALUES = 400_000  # aliases counted as often as they stand
OBJ_MEMBERSHIPS = 1_000_000  # of faces in groups, besides four of each face
GLTF_VALUES = 10_000_000  # in arrays of meshes, besides two for each byte of the file
GLTF_POSITIONS = 40_000_000  # coordinates in all poses, besides two for each byte of the file
GLTF_TRANSFORMS = 1_000_000  # of nodes in all poses
IMAGE_PIXELS = 100_000_000  # of an image
USD_MESHES = 10_000  # of a stage, those of instances counted

_FLAGS = (
    getattr(os, "O_NONBLOCK", 0)  # a pipe does not wait for its other end
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def is_file(path: Path) -> bool:
    """Return whether an ordinary file has that name; False for a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long; a NUL
        return False


def open_input(path: str | Path) -> IO[bytes]:
    """Open an ordinary file for reading.

    Raises:
        OSError: it cannot be read, or is a folder, a pipe or a device.
        ValueError: a NUL in its name.
    """
    fd = os.open(path, os.O_RDONLY | _FLAGS)
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "no ordinary file", str(path))
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise
