"""Seals: checksums of the files of a run, with the run they belong to and the frame before them.

Beside its arrays, every frame, checkpoint and mesh holds their digest (SHA-256), the trajectory to
which they belong, and the digest of the frame before. In this chain, a damaged, missing, exchanged
or outdated file is detected before any of its contents is used.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import IO, Any

import numpy as np

from weft.io.archive import Broken, arrays_of, write_npz

KEY = "_seal"


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


def sealed(arrays: Mapping[str, Any], seal: Seal) -> dict[str, Any]:
    """Return the arrays with their seal as one more array."""
    text = json.dumps(asdict(seal), sort_keys=True)
    both = json.dumps({"seal": text, "digest": hashlib.sha256(text.encode()).hexdigest()})
    return {**arrays, KEY: np.frombuffer(both.encode(), dtype=np.uint8)}


def write_sealed(file: IO[bytes], arrays: Mapping[str, Any], seal: Seal) -> None:
    """Write arrays and seal into an open file."""
    write_npz(file, sealed(arrays, seal))


def read_sealed(file: IO[bytes]) -> tuple[dict[str, Any], Seal]:
    """Return the arrays and the seal of an open file.

    Raises:
        SealError: no archive, no seal, or arrays that do not match it.
    """
    try:
        arrays = arrays_of(file)
    except Broken as error:
        said = getattr(error, "strerror", None) or str(error)
        raise SealError(f"{type(error).__name__}: {said}") from error
    seal = _seal_of(arrays.pop(KEY, None))
    if content_of(arrays, seal.kind, seal.run, seal.frame) != seal.content:
        raise SealError("its checksum is not that of its contents")
    return arrays, seal


def _seal_of(packed: Any) -> Seal:
    if packed is None:
        raise SealError("no checksum: not written by this version of weft")
    try:
        both = json.loads(packed.tobytes())
        text = both["seal"]
        if hashlib.sha256(text.encode()).hexdigest() != both["digest"]:
            raise SealError("its seal is damaged")
        seal = Seal(**json.loads(text))
        words = (seal.kind, seal.run, seal.content, seal.parent, seal.metrics)
        numbers = (seal.frame, seal.metrics_size)
        if not all(isinstance(w, str) for w in words) or not all(
            isinstance(n, int) and 0 <= n < 2**62 for n in numbers
        ):
            raise ValueError("fields of another type")
        return seal
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SealError(f"its seal is damaged ({error})") from error


def content_of(arrays: Mapping[str, Any], kind: str, run: str, frame: int) -> str:
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


def trajectory_id(identity: Any) -> str:
    """Return an identifier of everything on which a trajectory depends: scene, frame rate, steps.

    Equal numbers give the same identifier, whether they are written as 30 or as 30.0.
    """
    text = json.dumps(_even(identity), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _even(tree: Any) -> Any:
    """Return a plain tree with whole numbers as integers."""
    if isinstance(tree, Mapping):
        return {k: _even(v) for k, v in tree.items()}
    if isinstance(tree, list | tuple):
        return [_even(v) for v in tree]
    return int(tree) if isinstance(tree, float) and tree.is_integer() else tree
