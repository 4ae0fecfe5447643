"""The things in mesh files that are not read: warnings with their kinds and numbers, and converters
of other formats.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from weft.base.arrays import Faces, Ints
from weft.discretization.mesh import repeated_faces, unique_edges
from weft.io.surface import FEW

_IMPORT = "Blender reads it and writes glTF or USD (File > Import, File > Export)"
FOREIGN: Mapping[str, str] = {  # how files of other formats are converted
    ".fbx": "convert it with Blender: `blender --background --python "
    "blender/convert_character.py -- FILE.fbx FILE.usdc` (docs/guides/blender.md), "
    "or with FBX2glTF",
    **dict.fromkeys((".abc", ".blend", ".dae", ".3ds", ".x3d", ".bvh"), _IMPORT),
    ".ma": "Maya exports USD",
    ".mb": "Maya exports USD",
    ".max": "3ds Max exports USD",
    ".step": "a CAD program exports STL",
    ".stp": "a CAD program exports STL",
    ".iges": "a CAD program exports STL",
    ".zprj": "CLO exports OBJ, or its pattern as DXF-AAMA",
}


def left_out_text(left_out: Mapping[str, int]) -> str:
    """Return kinds of things with their numbers: ``lines (2), points (1)``."""
    every = [f"{kind} ({count})" for kind, count in left_out.items()]
    more = f", and {len(every) - FEW} more kinds" if len(every) > FEW else ""
    return ", ".join(every[:FEW]) + more


def warn_of_left_out(path: Path, left_out: Mapping[str, int], loose_edges: int, cure: str) -> None:
    """Warn of the things in a file that are not read.

    Args:
        path: the file.
        left_out: their numbers by kind.
        loose_edges: number of the edges without faces.
        cure: text about these, which says how they are read.
    """
    lines = {f"loose edges{cure}": loose_edges} if loose_edges else {}
    every = {**lines, **left_out}
    if every:
        warnings.warn(f"{path}: not read: {left_out_text(every)}", stacklevel=3)


def faces_of_body(
    path: Path, faces: Faces, left_out: Mapping[str, int], loose_edges: int = 0
) -> Faces:
    """Return the faces (m,3) of a body, each once, and warn of the things that are not read."""
    repeated = repeated_faces(faces)
    twice = {"faces that occur twice": len(repeated)} if len(repeated) else {}
    warn_of_left_out(path, {**left_out, **twice}, loose_edges, "")
    return np.delete(faces, repeated, axis=0)


def without_sides(edges: Ints, faces: Faces) -> Ints:
    """Return the edges (k,2), each once, that are no sides of faces (m,3)."""
    if len(edges) == 0:
        return edges
    sides = {tuple(side) for side in unique_edges(faces)[0].tolist()} if len(faces) else set()
    once = dict.fromkeys((min(e), max(e)) for e in edges.tolist())
    return np.array([e for e in once if e not in sides], dtype=np.int32).reshape(-1, 2)
