"""Sealed files of a run: arrays with a checksum that also covers their place in the run.

The seal of a frame, checkpoint or mesh says which file of which trajectory it is. Its digest
(SHA-256) covers the arrays and all other fields, so that a damaged file, or one in the place of
another, is detected before any of its contents is used.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import IO

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Arrays
from weft.base.errors import error_text
from weft.io.archive import Broken, arrays_of, write_npz

KEY = "_seal"  # name of the seal among the arrays
MESH = "mesh.npz"
# Shapes of the arrays that a file must have; a letter stands for one number.
Shapes = Mapping[str, tuple[str | int, ...]]
MESH_SHAPES: Shapes = {"vertices": ("n", 3), "faces": ("m", 3), "corner_uv": ("m", 3, 2)}
STATE_SHAPES: Shapes = {"x": ("N", 3), "v": ("N", 3), "t": (), "frame": (), "step": (), "count": ()}
INTEGERS = {"frame", "step", "count", "faces"}


@dataclass(frozen=True)
class Seal:
    """The description of a file's contents that is stored in the file.

    Args:
        name: of the file in the folder of its run.
        run: the trajectory to which it belongs.
        metrics: checksum of the last line of metrics that leads to a checkpoint; empty: none.
        digest: of the arrays and the fields above.
    """

    name: str
    run: str = ""
    metrics: str = ""
    digest: str = ""

    def over(self, arrays: Mapping[str, ArrayLike]) -> "Seal":
        """Return this seal with the digest of ``arrays``, bitwise, and of its other fields."""
        digest = hashlib.sha256(f"{self.name} {self.run} {self.metrics}".encode())
        for name in sorted(arrays):
            a = np.asarray(arrays[name])
            digest.update(f" {name} {a.dtype.str} {a.shape} ".encode())
            digest.update(np.ascontiguousarray(a).tobytes())
        return replace(self, digest=digest.hexdigest())


class SealError(ValueError):
    """An error of a file whose arrays do not match its seal."""


def write_sealed(file: IO[bytes], arrays: Mapping[str, ArrayLike], seal: Seal) -> None:
    """Write arrays and seal into an open file; the seal is one more array."""
    text = json.dumps(asdict(seal)).encode()
    write_npz(file, {**arrays, KEY: np.frombuffer(text, dtype=np.uint8)})


def read_sealed(file: IO[bytes]) -> tuple[Arrays, Seal]:
    """Return the arrays and the seal of an open file.

    Raises:
        SealError: no archive, no seal, or arrays that do not match it.
    """
    try:
        arrays = arrays_of(file)
        if KEY not in arrays:
            raise ValueError("no seal: not written by this version of weft")
        seal = Seal(**json.loads(arrays.pop(KEY).tobytes()))
    except (*Broken, RecursionError) as error:
        text = error_text(error)
        raise SealError(f"{type(error).__name__}: {text}") from error
    if seal != seal.over(arrays):
        raise SealError("its checksum is not that of its contents")
    return arrays, seal


def check_arrays(arrays: Arrays, file: str) -> None:
    """Check the arrays of a mesh, or of a frame or checkpoint, which may come from elsewhere.

    Raises:
        SealError: arrays are missing, or have other shapes or types.
    """
    sizes: dict[str | int, int] = {3: 3, 2: 2}
    shapes = MESH_SHAPES if file == MESH else STATE_SHAPES
    for name, shape in shapes.items():
        if name not in arrays:
            raise SealError(f"{name} is missing")
        a = arrays[name]
        fits = a.ndim == len(shape) and a.dtype.kind in ("iu" if name in INTEGERS else "fiu")
        if not fits or any(sizes.setdefault(k, n) != n for n, k in zip(a.shape, shape)):
            raise SealError(f"{name} is {a.shape} of {a.dtype}, not {shape}")
    faces = arrays.get("faces", np.zeros(0))
    if len(faces) and not 0 <= faces.min() <= faces.max() < sizes["n"]:
        raise SealError("faces with vertices that do not exist")
