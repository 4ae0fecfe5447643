"""Opening of files that a user names, and bounds on the cost of reading them.

A file is rejected before it is read if its kind, its size or a count in it would require more than
about ``SECONDS`` of work or ``MEMORY`` bytes. Bounds that no data of users reach are constants;
others grow with the size of the file, so that a large file may take as long as its size needs.
"""

import codecs
import errno
import os
import re
import stat
from pathlib import Path
from typing import IO

SECONDS = 10.0  # [s] of work for a small file
MEMORY = 1 << 30  # [bytes] for a small file

MOST_BYTES = 32 << 20  # of a document or pattern; patterns of hundreds of pieces have 1 MiB
YAML_VALUES = 400_000  # values of a document; an aliased value counts at every use
OBJ_MEMBERSHIPS = 1_000_000  # faces in groups, in addition to four groups per face
GLTF_VALUES = 10_000_000  # values in arrays of meshes, in addition to two per byte of the file
GLTF_POSITIONS = 40_000_000  # coordinates in all poses, in addition to two per byte of the file
GLTF_TRANSFORMS = 1_000_000  # transforms of nodes in all poses
IMAGE_PIXELS = 100_000_000  # pixels of an image
USD_MESHES = 10_000  # meshes of a stage, including those of instances

_FLAGS = (
    getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for its other end
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


_BYTE_NOT_UTF_8 = re.compile("[\udc80-\udcff]")  # as the handler `surrogateescape` decodes them


def strip_byte_order_mark(data: bytes) -> bytes:
    """Return the bytes of a text without its byte order mark; a text in UTF-16 becomes UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def decode_text(data: bytes) -> str:
    """Return the text in the bytes of a file, without a byte order mark.

    The text is UTF-8; a byte that is not UTF-8 is a character of Latin-1.
    """
    text = strip_byte_order_mark(data).decode("utf-8", errors="surrogateescape")
    return latin_1_characters(text)


def latin_1_characters(text: str) -> str:
    """Return a text whose bytes outside of UTF-8, which were escaped, are characters of Latin-1."""
    return _BYTE_NOT_UTF_8.sub(lambda found: chr(ord(found[0]) - 0xDC00), text)


def is_file(path: Path) -> bool:
    """Return True if an ordinary file has this name; False for impossible names, too."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # the name is too long, or contains a NUL
        return False


def open_input(path: str | Path) -> IO[bytes]:
    """Open an ordinary file for reading.

    Raises:
        OSError: the file cannot be read, or is a folder, a pipe or a device.
        ValueError: the name contains a NUL.
    """
    return os.fdopen(open_ordinary(path, os.O_RDONLY), "rb")


def read_input(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of an ordinary file.

    Raises:
        OSError: the file cannot be read, or is a folder, a pipe or a device.
        ValueError: the name contains a NUL, or the file has more than ``most`` bytes.
    """
    with open_input(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"more than {most >> 20} MiB")
    return data


def open_ordinary(path: str | Path, flags: int, *, follow_links: bool = True) -> int:
    """Return a descriptor of an ordinary file, which is closed again if it is not one.

    Args:
        path: the file.
        flags: as of ``os.open``.
        follow_links: False: a link in place of the file is an error.

    Raises:
        OSError: the file cannot be opened, or is a folder, a pipe or a device.
        ValueError: the name contains a NUL.
    """
    no_links = 0 if follow_links else getattr(os, "O_NOFOLLOW", 0)
    fd = os.open(path, flags | no_links | _FLAGS, 0o666)
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "not a regular file", str(path))
