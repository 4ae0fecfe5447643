"""Encoding of numbers for a page that decodes them.

Frames that a page holds are quantized, stored as differences from frame to frame, deflated, and
written in base64. A frame that a server sends is a header and float32 numbers (``pack_frame``).
"""

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import AnyArray, Floats
from weft.base.trees import Json

LEVEL = 6  # compression level of deflate
OF_BASE64 = 4 / 3  # characters per byte


@dataclass(frozen=True, eq=False)
class IntegerGrid:
    """Quantization of numbers to integers of so many bits: ``low + k step``, k from 0 to ``2^bits -
    1``.

    Args:
        low: (c,) the least value of every component.
        step: (c,) between neighbors; 0 if all values are the same.
        bits: 8 or 16.
    """

    low: Floats
    step: Floats
    bits: int = 16

    @staticmethod
    def between(low: Floats, high: Floats, bits: int = 16) -> "IntegerGrid":
        """Return the grid of the least and the largest values (c,)."""
        a, b = np.atleast_1d(low).astype(np.float64), np.atleast_1d(high).astype(np.float64)
        return IntegerGrid(a, (b - a) / (2**bits - 1), bits)

    def describe(self) -> Json:
        """Return low, step and bits as JSON."""
        return {"low": self.low.tolist(), "step": self.step.tolist(), "bits": self.bits}

    @property
    def kind(self) -> type[np.unsignedinteger]:
        """The type of the integers."""
        return np.uint8 if self.bits == 8 else np.uint16

    def numbers(self, values: Floats) -> AnyArray:
        """Return the integers of values (...,c); values beyond the ends are clamped, NaN is the
        least.
        """
        k = np.rint((values - self.low) / np.where(self.step > 0, self.step, 1.0))
        return np.asarray(np.clip(np.nan_to_num(k), 0, 2**self.bits - 1).astype(self.kind))

    def values(self, numbers: AnyArray) -> Floats:
        """Return the quantized values (...,c) of integers."""
        return self.low + numbers * self.step


class Packer:
    """Encoder of frames of integers of the same shape, one after the other.

    A frame is stored as the differences from the one before (modulo 2^bits), folded so that small
    ones of either sign are small (0, -1, 1, -2 are 0, 1, 2, 3), the low bytes before the high
    bytes: most of the high bytes are then 0, which deflate compresses well.
    """

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(LEVEL)
        self._parts: list[bytes] = []
        self._before: AnyArray | None = None
        self.size = 0  # [bytes] of the compressed data so far

    def add(self, numbers: AnyArray) -> None:
        """Add one more frame."""
        before = np.zeros_like(numbers) if self._before is None else self._before
        folded = _fold_signs(numbers - before)
        self._before = numbers
        part = self._deflate.compress(_planes(folded))
        self.size += len(part)
        self._parts.append(part)

    def text(self) -> str:
        """Return all frames in base64."""
        whole = b"".join([*self._parts, self._deflate.flush()])
        return base64.b64encode(whole).decode("ascii")


def pack(array: AnyArray) -> str:
    """Return an array without quantization, deflated, in base64; little endian."""
    plain = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    return base64.b64encode(zlib.compress(plain.tobytes(), LEVEL)).decode("ascii")


def pack_frame(header: Json, arrays: Mapping[str, Floats]) -> bytes:
    """Return one frame as a server sends it: the length of a JSON header (uint32), the header, and
    the arrays as float32 one by one, all of it little endian.

    Args:
        header: what the page reads of the frame; ``counts`` (numbers in each array) are added.
        arrays: by name, of any shape.
    """
    counts = {name: int(np.size(a)) for name, a in arrays.items()}
    text = json.dumps({**header, "counts": counts}, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)  # arrays begin at a multiple of four bytes
    values = [np.ascontiguousarray(a, dtype="<f4").tobytes() for a in arrays.values()]
    return struct.pack("<I", len(text)) + text + b"".join(values)


def _fold_signs(difference: AnyArray) -> AnyArray:
    bits = 8 * difference.itemsize
    sign = difference >> (bits - 1)
    return np.asarray((difference << 1) ^ (np.zeros_like(difference) - sign))


def _planes(numbers: AnyArray) -> bytes:
    flat = numbers.reshape(-1)
    return b"".join(
        (flat >> 8 * i & 255).astype(np.uint8).tobytes() for i in range(numbers.itemsize)
    )
