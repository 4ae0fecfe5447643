"""Sealed files of a run: arrays with their checksum, their run, and the frame before them.

Beside its arrays, every frame, checkpoint and mesh holds their digest (SHA-256), the trajectory to
which they belong, and the digest of the frame before. In this chain, a damaged, missing, exchanged
or outdated file is detected before any of its contents is used.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import IO

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Arrays
from weft.base.trees import Yaml
from weft.io.archive import Broken, arrays_of, write_npz

KEY = "_seal"
PLACE = dict.fromkeys(("frame", "step", "count"), ((), "iu")) | {
    "x": (("N", 3), "fiu"),
    "v": (("N", 3), "fiu"),
    "t": ((), "fiu"),
}
MESH = {
    "vertices": (("n", 3), "fiu"),
    "faces": (("m", 3), "iu"),
    "corner_uv": (("m", 3, 2), "fiu"),
}
# Arrays that a file of a kind must have: shape, in which a letter is one number, and NumPy's kinds.
ARRAYS: Mapping[str, Mapping[str, tuple[tuple[str | int, ...], str]]] = {
    "frame": PLACE,
    "checkpoint": PLACE,
    "mesh": MESH,
}


@dataclass(frozen=True)
class Seal:
    """The description of a file's contents that is stored in the file.

    Args:
        kind: frame, checkpoint, mesh or failure.
        run: the trajectory (``trajectory_id``).
        frame: number of the frame; of a checkpoint, the last complete frame before it.
        content: digest of the arrays, kind, number and trajectory.
        parent: ``content`` of the frame before; of a checkpoint, that of its frame; empty: none.
        metrics_size: [bytes] of metrics.jsonl up to and including the lines of this frame or step.
        metrics: digest of these bytes.
    """

    kind: str
    run: str
    frame: int
    content: str
    parent: str = ""
    metrics_size: int = 0
    metrics: str = ""


class SealError(ValueError):
    """An error of a file whose arrays do not match its seal."""


def write_sealed(file: IO[bytes], arrays: Mapping[str, ArrayLike], seal: Seal) -> None:
    """Write arrays and seal into an open file; the seal is one more array."""
    text = json.dumps(asdict(seal), sort_keys=True)
    both = json.dumps({"seal": text, "digest": hashlib.sha256(text.encode()).hexdigest()})
    write_npz(file, {**arrays, KEY: np.frombuffer(both.encode(), dtype=np.uint8)})


def read_sealed(file: IO[bytes]) -> tuple[Arrays, Seal]:
    """Return the arrays and the seal of an open file.

    Raises:
        SealError: no archive, no seal, arrays that do not match it, or arrays that are missing or
            of other shapes and types: a sealed file may still come from elsewhere.
    """
    try:
        arrays = arrays_of(file)
        packed = arrays.pop(KEY, None)
        if packed is None:
            raise SealError("no checksum: not written by this version of weft")
        both = json.loads(packed.tobytes())
        if hashlib.sha256(both["seal"].encode()).hexdigest() != both["digest"]:
            raise SealError("its seal is damaged")
        seal = Seal(**json.loads(both["seal"]))
        if any(not isinstance(v, type(d)) for v, d in zip(vars(seal).values(), _TYPES)):
            raise SealError("its seal has fields of another type")
    except SealError:
        raise
    except (*Broken, RecursionError) as error:
        text = getattr(error, "strerror", None) or str(error)
        raise SealError(f"{type(error).__name__}: {text}") from error
    if content_of(arrays, seal.kind, seal.run, seal.frame) != seal.content:
        raise SealError("its checksum is not that of its contents")
    _check_arrays(arrays, seal.kind)
    return arrays, seal


_TYPES = ("", "", 0, "", "", 0, "")  # of the fields of a seal


def _check_arrays(arrays: Arrays, kind: str) -> None:
    sizes: dict[str | int, int] = {3: 3, 2: 2}  # a letter stands for one number in all shapes
    for name, (shape, kinds) in ARRAYS.get(kind, {}).items():
        if name not in arrays:
            raise SealError(f"{name} is missing")
        a = np.asarray(arrays[name])
        fits = len(a.shape) == len(shape) and a.dtype.kind in kinds
        if not fits or any(sizes.setdefault(k, n) != n for n, k in zip(a.shape, shape)):
            raise SealError(f"{name} is {a.shape} of {a.dtype}, not {shape}")
    faces = arrays["faces"] if kind == "mesh" else np.zeros(0)
    if len(faces) and not 0 <= faces.min() <= faces.max() < sizes["n"]:
        raise SealError("faces of vertices that are not there")


def content_of(arrays: Mapping[str, ArrayLike], kind: str, run: str, frame: int) -> str:
    """Return the digest of arrays, bitwise, with the identity of their file.

    Args:
        arrays: by name.
        kind: frame, checkpoint, mesh or failure.
        run: the trajectory.
        frame: number of the frame.
    """
    digest = hashlib.sha256(f"{kind} {run} {frame}".encode())
    for name in sorted(arrays):
        a = np.asarray(arrays[name])
        digest.update(f" {name} {a.dtype.str} {a.shape} ".encode())
        digest.update(np.ascontiguousarray(a).tobytes())
    return digest.hexdigest()


def trajectory_id(identity: Yaml) -> str:
    """Return an identifier of everything on which a trajectory depends: scene, frame rate, steps.

    Equal numbers give the same identifier, whether they are written as 30 or as 30.0.
    """
    text = json.dumps(_even(identity), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _even(tree: Yaml) -> Yaml:
    """Return a plain tree with whole numbers as integers."""
    if isinstance(tree, Mapping):
        return {k: _even(v) for k, v in tree.items()}
    if isinstance(tree, list | tuple):
        return [_even(v) for v in tree]
    return int(tree) if isinstance(tree, float) and tree.is_integer() else tree
