# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of Blender as files that weft reads: meters, y up, in the world's coordinates."""

import struct
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np

PC2 = struct.Struct("<12siiffi")
MAGIC = b"POINTCACHE2\0"


class Problem(Exception):
    """What the user can do something about."""


def meters(scene: bpy.types.Scene) -> float:
    """[m] a unit of Blender's."""
    return float(scene.unit_settings.scale_length)


def points(mesh: bpy.types.Mesh) -> np.ndarray:
    """(n,3) of the object, in Blender's units."""
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    return x.reshape(-1, 3)


def to_weft(x: np.ndarray, matrix: np.ndarray, unit: float) -> np.ndarray:
    """(n,3) [m] of the world, y up, of points (n,3) of an object."""
    world = x.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return unit * np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)


def from_weft(x: np.ndarray, matrix: np.ndarray, unit: float) -> np.ndarray:
    """(n,3) of the object, of points (n,3) [m] of the world, z up. Exact where nothing moves it."""
    if unit == 1.0 and np.array_equal(matrix, np.eye(4)):
        return x
    back = np.linalg.inv(matrix)
    return (x.astype(np.float64) / unit) @ back[:3, :3].T + back[:3, 3]


def matrix_of(thing: bpy.types.Object) -> np.ndarray:
    """(4,4) from the object to the world."""
    return np.array(thing.matrix_world, dtype=np.float64)


def write_obj(
    path: Path,
    mesh: bpy.types.Mesh,
    x: np.ndarray,
    names: Sequence[str] = (),
    *,
    textured: bool = False,
) -> None:
    """An OBJ of a mesh at x (n,3).

    Args:
        path: the file.
        mesh: faces, materials' numbers and the active UV map.
        x: (n,3) positions.
        names: of materials; each becomes a region.
        textured: write texture coordinates.
    """
    lines = [f"v {a:.9g} {b:.9g} {c:.9g}" for a, b, c in x.tolist()]
    layer = mesh.uv_layers.active if textured else None
    if layer is not None:
        uv = np.empty(2 * len(mesh.loops), np.float32)
        layer.data.foreach_get("uv", uv)
        lines += [f"vt {u:.9g} {v:.9g}" for u, v in uv.reshape(-1, 2).tolist()]
    last = None
    for face in mesh.polygons:
        if names and face.material_index != last:
            last = face.material_index
            lines.append(f"usemtl {names[min(last, len(names) - 1)]}")
        corners = [
            f"{i + 1}/{k + 1}" if layer is not None else str(i + 1)
            for i, k in zip(face.vertices, face.loop_indices)
        ]
        lines.append("f " + " ".join(corners))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def uv_length(mesh: bpy.types.Mesh, x: np.ndarray) -> float:
    """[m] of a unit of the active UV map, at which its area is that of the mesh at x (n,3) [m]."""
    mesh.calc_loop_triangles()
    count = len(mesh.loop_triangles)
    ids, corners = np.empty(3 * count, np.int32), np.empty(3 * count, np.int32)
    mesh.loop_triangles.foreach_get("vertices", ids)
    mesh.loop_triangles.foreach_get("loops", corners)
    uv = np.empty(2 * len(mesh.loops), np.float32)
    mesh.uv_layers.active.data.foreach_get("uv", uv)
    p, q = x[ids].reshape(-1, 3, 3), uv.reshape(-1, 2)[corners].reshape(-1, 3, 2).astype(float)
    area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1).sum()
    one, two = q[:, 1] - q[:, 0], q[:, 2] - q[:, 0]
    flat = np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]).sum()
    if not flat > 0:
        raise Problem("the UV map has no area: unwrap the cloth, or remove the map")
    return float(np.sqrt(area / flat))


def members(thing: bpy.types.Object, group: str, above: float) -> list[int]:
    """Vertices whose weight in a group is greater than a number."""
    if group not in thing.vertex_groups:
        raise Problem(f"{thing.name} has no vertex group {group!r}")
    number = thing.vertex_groups[group].index
    found = [
        v.index
        for v in thing.data.vertices
        for g in v.groups
        if g.group == number and g.weight > above
    ]
    if not found:
        raise Problem(f"no vertex weighs more than {above:g} in group {group!r}")
    return found


def write_body(folder: Path, number: int, thing: bpy.types.Object, scene: bpy.types.Scene) -> dict:
    """A body as every frame of the scene has it, modifiers and all; returns what a scene file says
    of it. One that stands still has no motion.
    """
    unit, frames = meters(scene), []
    now = scene.frame_current
    first = folder / f"body{number}.obj"
    try:
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
            mesh = shown.to_mesh()
            frames.append(to_weft(points(mesh), matrix_of(shown), unit))
            if len(frames) == 1:
                if len(mesh.polygons) == 0:
                    raise Problem(f"body {thing.name} has no faces")
                write_obj(first, mesh, frames[0])
            if len(frames[-1]) != len(frames[0]):
                raise Problem(f"body {thing.name} has other vertices at frame {frame}")
            shown.to_mesh_clear()
    finally:
        scene.frame_set(now)
    said = {"file": first.name}
    x = np.array(frames)
    if not (x == x[0]).all():
        motion = folder / f"body{number}.pc2"
        write_pc2(motion, x)
        rate = scene.render.fps / scene.render.fps_base
        said |= {"motion": motion.name, "fps": float(rate), "hold": True}
    return {"name": thing.name, "mesh": said}


def write_pc2(path: Path, x: np.ndarray) -> None:
    """Positions (k,n,3) as PC2."""
    with path.open("wb") as file:
        file.write(PC2.pack(MAGIC, 1, x.shape[1], 0.0, 1.0, len(x)))
        file.write(x.astype("<f4").tobytes())


def read_pc2(path: Path) -> np.ndarray:
    """(k,n,3) positions of a PC2."""
    data = path.read_bytes()
    _, _, n, _, _, k = PC2.unpack_from(data)
    return np.frombuffer(data, "<f4", 3 * n * k, PC2.size).reshape(k, n, 3)
