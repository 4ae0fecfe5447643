"""Checks of names, shapes and types of a run's arrays; a sealed file may still come from
elsewhere.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.io.seal import SealError

PLACE = {
    "x": "(N, 3) f",
    "v": "(N, 3) f",
    "t": "() f",
    "frame": "() i",
    "step": "() i",
    "count": "() i",
}
MESH = {"vertices": "(n, 3) f", "faces": "(m, 3) i", "corner_uv": "(m, 3, 2) f"}
KINDS = {"f": "fiu", "i": "iu"}
WANTED: Mapping[str, Mapping[str, str]] = {"frame": PLACE, "checkpoint": PLACE, "mesh": MESH}


def check_shapes(arrays: Mapping[str, Any], kind: str) -> None:
    """Check that a frame, checkpoint or mesh has its arrays, with the right shapes and types.

    Raises:
        SealError: an array is missing or has another shape or type, or a face has no such vertex.
    """
    sizes: dict[str, int] = {}
    for name, wanted in WANTED.get(kind, {}).items():
        shape, letter = wanted.rsplit(" ", 1)
        a = np.asarray(arrays[name]) if name in arrays else None
        if a is None or not _fits(a.shape, shape, sizes) or a.dtype.kind not in KINDS[letter]:
            found = "missing" if a is None else f"{a.shape} of {a.dtype}"
            raise SealError(f"{name} is {found}, not {shape}")
    faces = arrays.get("faces") if kind == "mesh" else None
    if faces is not None and len(faces) and not 0 <= faces.min() <= faces.max() < sizes["n"]:
        raise SealError("faces of vertices that are not there")


def _fits(shape: tuple[int, ...], wanted: str, sizes: dict[str, int]) -> bool:
    """Return whether a shape is the wanted one; each letter stands for one number everywhere."""
    parts = [p for p in wanted.strip("()").replace(" ", "").split(",") if p]
    if len(parts) != len(shape):
        return False
    return all(
        int(p) == n if p.isdigit() else sizes.setdefault(p, n) == n for p, n in zip(parts, shape)
    )
