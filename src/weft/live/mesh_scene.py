"""The scene of a mesh alone: a flat one lies above a sphere, another one hangs from its top."""

import os
from pathlib import Path

import numpy as np

from weft.base.errors import MeshError
from weft.base.trees import Json
from weft.io import read_mesh, read_surface
from weft.scene.file import scene_text

FLAT = 0.2  # height of a mesh, as a part of its width, up to which it lies
HELD = 0.02  # part of the height of a mesh that hangs, from its top, that is pinned
GAP = 0.004  # [m] of contact, and at most a part of the shortest edge:
OF_EDGE = 0.4


def mesh_scene_text(mesh: Path, scene: Path, scale: float | None = None) -> str:
    """Return the content of the scene file in which a mesh of linen is played.

    Args:
        mesh: the mesh's file.
        scene: the scene's file.
        scale: [m] length of the mesh's unit; None: as its file says, else 1 m.

    Raises:
        MeshError: the mesh cannot be read.
    """
    x, faces = read_surface(mesh, scale)
    low, high = x.min(axis=0), x.max(axis=0)
    side, height = float(max(high[0] - low[0], high[2] - low[2])), float(high[1] - low[1])
    block: Json = {"file": os.path.relpath(mesh.resolve(), scene.resolve().parent)}
    if scale is not None:
        block["scale"] = scale
    try:
        read_mesh(mesh, scale=scale)
    except MeshError:  # without texture coordinates the mesh is its own rest shape
        block["warp"] = np.eye(3)[np.argmax(high - low)].tolist()
    edges = np.linalg.norm(x[faces] - x[np.roll(faces, 1, axis=1)], axis=-1)
    gap = min(GAP, OF_EDGE * float(edges[edges > 0].min()))
    tree: Json = {
        "description": f"{mesh.name} as a cloth of linen, written by weft play",
        "cloth": {"mesh": block, "fabric": "linen"},
        "contact": {"gap": gap, "friction": 0.3},
        "damping": 0.02,
        "integrator": {"backward_euler": {"effort": "interactive"}},
        "step": 0.01,
        "seconds": 4.0,
        "fps": 25.0,
    }
    middle = (low + high) / 2
    if height <= FLAT * side:
        radius = 0.22 * side
        below = [float(middle[0]), float(low[1]) - 1.15 * radius, float(middle[2])]
        floor = [below[0], below[1] - 1.02 * radius, below[2]]
        ball = {"radius": radius, "size": radius / 5}
        plate = {"width": 2.5 * side, "depth": 2.5 * side}
        tree["bodies"] = [
            {"name": "sphere", "sphere": ball, "translation": below},
            {"name": "floor", "plate": plate, "translation": floor},
        ]
    else:
        top = [float(low[0]) - side, float(high[1]) - HELD * height, float(low[2]) - side]
        end = [float(v) + side for v in high]
        tree["pins"] = [{"name": "top", "box": {"low": top, "high": end}}]
    return scene_text(tree)
