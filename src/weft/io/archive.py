"""Arrays in a zip file (.npz), read with a bound on memory.

The sizes that headers declare are compared with the size of the file's contents and with the
machine's memory before arrays are allocated.
"""

import io
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray
from weft.base.errors import WeftError, error_text
from weft.base.input_file import open_input
from weft.base.machine import gib, memory

MOST_PART = 0.2  # largest part of the machine's memory that arrays of a file may take
READ = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
KINDS = "biufU"  # booleans, integers, floats, text; no objects, because unpickling runs code

Broken = (
    OSError,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    MemoryError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    tokenize.TokenError,
)
"""Errors that Python, NumPy and zipfile raise for bytes that are not an archive of arrays."""


def read_npz(
    path: Path,
    *,
    what: str,
    expected: str,
    error: type[WeftError],
    names: Collection[str] | None = None,
) -> dict[str, AnyArray]:
    """Return the arrays of a file.

    Args:
        path: the file.
        what: name of the file in messages.
        expected: description of a right file, for messages.
        error: class of the error that is raised.
        names: of the arrays that are read, where there are such; None: all.

    Raises:
        error: the file cannot be read, is no archive of arrays, or holds more than fits in memory.
    """
    try:
        with open_input(path) as file:
            return arrays_of(file, names)
    except Broken as found:
        said = error_text(found)
        raise error(
            what, got=f"{type(found).__name__}: {said}", expected=expected, where=path
        ) from found


def arrays_of(file: IO[bytes], names: Collection[str] | None = None) -> dict[str, AnyArray]:
    """Return the arrays of an open file that have these names; None: all.

    Raises:
        Broken: one of these errors, if the file is damaged or too large.
    """
    most = int(MOST_PART * memory())
    with zipfile.ZipFile(file) as archive:
        members = {
            name: m
            for m in archive.infolist()
            if (name := m.filename.removesuffix(".npy")) != m.filename
            and (names is None or name in names)
        }
        size = sum(m.file_size for m in members.values())
        if size > most:
            raise ValueError(f"{gib(size)} of arrays, more than {gib(most)}")
        return {name: _array(archive.read(m)) for name, m in members.items()}


def _array(data: bytes) -> AnyArray:
    """Return the array of an .npy file, after its header was compared with its size."""
    file = io.BytesIO(data)
    shape, _, dtype = READ[np.lib.format.read_magic(file)](file)
    if dtype.kind not in KINDS:
        raise ValueError(f"an array of type {dtype}")
    if math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise ValueError(f"an array of shape {shape} in {len(data)} bytes")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False).copy(order="C")


def write_npz(file: IO[bytes], arrays: Mapping[str, ArrayLike]) -> None:
    """Write arrays into an open file, uncompressed."""
    by_name: dict[str, Any] = dict(arrays)  # mypy: one of the names could be ``allow_pickle``
    np.savez(file, **by_name)
