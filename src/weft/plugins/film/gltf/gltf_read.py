"""glTF 2.0 reader: .glb and .gltf files as a tree with arrays, by means of JSON and NumPy.

Buffers are in the file or beside it; sparse accessors and normalized integers are supported,
compressed meshes (Draco, meshopt) are refused.
"""

import base64
import binascii
import codecs
import json
import struct
from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray, Floats
from weft.base.errors import MeshError
from weft.base.input_file import GLTF_VALUES, decode_text
from weft.base.trees import Json, Yaml
from weft.io.surface import read_bytes

MAGIC, JSON, BIN = 0x46546C67, 0x4E4F534A, 0x004E4942  # file and chunk types of .glb
COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression")

Broken = (
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    MemoryError,
    RecursionError,
    ZeroDivisionError,
    struct.error,
    binascii.Error,
)
"""Errors that reading a tree raises if it violates the specification."""


class Document:
    """A glTF file: its tree, and the arrays of its accessors.

    Raises:
        MeshError: it cannot be read, is no glTF 2.0, or is compressed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.tree, chunk = _parts(read_bytes(path))
            if not str(self.tree["asset"]["version"]).startswith("2"):
                raise ValueError(f"version {self.tree['asset']['version']}, not 2.0")
            packed = [e for e in COMPRESSED if e in self.tree.get("extensionsRequired", [])]
            if packed:
                raise ValueError(f"compressed ({packed[0]}); export it without compression")
            self.buffers = [self._buffer(b, chunk) for b in self.tree.get("buffers", [])]
        except Broken as error:
            raise self.error(error) from error
        self._read: dict[int, Floats] = {}
        self._size = sum(len(b) for b in self.buffers)
        self._spent = 0

    def error(self, error: BaseException) -> MeshError:
        """Return the error for a violation of the specification."""
        got = f"{type(error).__name__}: {error}"
        return MeshError("glTF file", got=got, where=self.path, expected="a glTF 2.0 file")

    def things(self, kind: str) -> list[Json]:
        """Return the list ``meshes``, ``nodes``, ... of the tree; empty if it is missing."""
        found = self.tree.get(kind, [])
        if not isinstance(found, list):
            raise ValueError(f"{kind} that are not a list")
        return found

    def array(self, number: int) -> Floats:
        """Return the values (count, width) of an accessor as float64.

        Raises:
            Broken: it does not exist, or reaches beyond its buffer.
        """
        if number not in self._read:
            self._read[number] = self._accessor(self._one("accessors", number))
        return self._read[number]

    def spend(self, values: int) -> None:
        """Add ``values`` to the number of array values that were read.

        This bounds memory: a small file may refer to the same data many times.

        Raises:
            ValueError: there are more than a file of this size may have.
        """
        self._spent += values
        self.check_size(self._spent, GLTF_VALUES)

    def check_size(self, values: int, bound: int) -> None:
        """Raise ``ValueError`` if there are more values than ``bound`` and two for each byte of the
        file.
        """
        most = bound + 2 * self._size
        if values > most:
            raise ValueError(f"{values} values, but the size of the file allows {most}")

    def _one(self, kind: str, number: Yaml) -> Json:
        """Return an object of a list by its index; negative indices are errors."""
        if not isinstance(number, int) or number < 0:
            raise IndexError(f"{kind} {number!r}")
        found = self.things(kind)[number]
        if not isinstance(found, dict):
            raise TypeError(f"{kind} {number} is not an object")
        return found

    def _accessor(self, a: Json) -> Floats:
        count, width = int(a["count"]), WIDTHS[a["type"]]
        dtype = np.dtype(COMPONENTS[a["componentType"]])
        if count <= 0:
            raise ValueError(f"{count} values")
        self.spend(count * width)
        if "bufferView" in a:
            values = self._view(a, count, width, dtype)
        else:
            values = np.zeros((count, width), dtype)
        if "sparse" in a:
            sparse, values = a["sparse"], values.copy()
            n, at = int(sparse["count"]), sparse["indices"]
            ids = self._view(at, n, 1, np.dtype(COMPONENTS[at["componentType"]]))[:, 0]
            values[ids] = self._view(sparse["values"], n, width, dtype)
        with np.errstate(invalid="ignore"):  # signaling NaN, refused later
            found: Floats = values.astype(np.float64)
        if a.get("normalized") and dtype.kind in "iu":
            found = np.maximum(found / np.iinfo(dtype).max, -1.0)
        return found

    def _view(self, place: Json, count: int, width: int, dtype: np.dtype[np.generic]) -> AnyArray:
        """Return the values (count, width) at ``bufferView`` and ``byteOffset`` of an object."""
        view, offset = (
            self._one("bufferViews", place["bufferView"]),
            int(place.get("byteOffset", 0)),
        )
        if "extensions" in view:
            raise ValueError("a compressed buffer view")
        number = view["buffer"]
        if not isinstance(number, int) or not 0 <= number < len(self.buffers):
            raise IndexError(f"buffer {number!r}")
        data, size = self.buffers[number], width * dtype.itemsize
        start = int(view.get("byteOffset", 0)) + offset
        step = int(view.get("byteStride", 0)) or size
        end = start + (count - 1) * step + size
        if start < 0 or offset < 0 or step < size or end > len(data):
            raise ValueError(f"{count} values up to byte {end} of a buffer of {len(data)}")
        rows = np.ndarray((count, size), np.uint8, data, start, (step, 1))
        return np.ascontiguousarray(rows).view(dtype).reshape(count, width)

    def _buffer(self, b: Json, chunk: bytes | None) -> bytes:
        uri = b.get("uri")
        if uri is None:
            if chunk is None:
                raise ValueError("a buffer without data")
            return chunk
        data = self._read_buffer(str(uri))
        plain = data.removeprefix(codecs.BOM_UTF8)
        return plain if len(plain) == b.get("byteLength") else data

    def _read_buffer(self, uri: str) -> bytes:
        """Return the bytes of a buffer in the tree, or in a file beside it."""
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2])
        from urllib.parse import unquote

        name = Path(unquote(uri))
        if name.is_absolute() or ".." in name.parts or ":" in uri:
            raise ValueError(f"a buffer elsewhere: {uri}")
        return read_bytes(self.path.parent / name)


def _parts(data: bytes) -> tuple[Json, bytes | None]:
    """Return the tree, and the binary chunk of a .glb."""
    if len(data) < 12 or struct.unpack_from("<I", data)[0] != MAGIC:
        tree, chunk = json.loads(decode_text(data)), None
    else:
        tree, chunk, place = None, None, 12
        while place + 8 <= len(data):
            size, kind = struct.unpack_from("<II", data, place)
            part = data[place + 8 : place + 8 + size]
            if len(part) < size:
                raise ValueError("the file ends early")
            if kind == JSON and tree is None:
                tree = json.loads(decode_text(part))
            elif kind == BIN and chunk is None:
                chunk = part
            place += 8 + size
    if not isinstance(tree, dict):
        raise ValueError("not a JSON object")
    return tree, chunk
