# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of Blender as files that weft reads: meters, y up, in the world's coordinates."""

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

PC2 = struct.Struct("<12siiffi")
MAGIC = b"POINTCACHE2\0"
CACHE = "Weft"  # name of the modifier that has a run
# Modifiers that move vertices and keep their numbers. The cache stands after those that a stack
# begins with, and before what subdivides or thickens.
KEEP_VERTICES = {
    *("ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM"),
    *("LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE"),
    *("SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM", "WARP", "WAVE"),
}


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
    """(n,3) of the object, of points (n,3) [m] of weft. Exact where nothing moves the object."""
    x = np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)
    if unit == 1.0 and np.array_equal(matrix, np.eye(4)):
        return x
    back = np.linalg.inv(matrix)
    return (x / unit) @ back[:3, :3].T + back[:3, 3]


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


def weights(thing: bpy.types.Object, group: str) -> np.ndarray:
    """(n,) weights of the vertices in a group, 0 to 1."""
    if group not in thing.vertex_groups:
        raise Problem(f"{thing.name} has no vertex group {group!r}")
    number = thing.vertex_groups[group].index
    w = np.zeros(len(thing.data.vertices))
    for v in thing.data.vertices:
        for g in v.groups:
            if g.group == number:
                w[v.index] = g.weight
    return w


def members(thing: bpy.types.Object, group: str, above: float) -> list[int]:
    """Vertices whose weight in a group is greater than a number."""
    found = np.flatnonzero(weights(thing, group) > above).tolist()
    if not found:
        raise Problem(f"no vertex weighs more than {above:g} in group {group!r}")
    return found


def before_cache(thing: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers that a stack begins with and that keep vertices, without the cache."""
    found = []
    for modifier in thing.modifiers:
        if modifier.name == CACHE:
            continue
        if modifier.type not in KEEP_VERTICES:
            break
        found.append(modifier)
    return found


@contextmanager
def without_cloth(thing: bpy.types.Object) -> Iterator[None]:
    """The object as it is animated: no cache, and no modifiers that change its vertices."""
    kept = {m.name for m in before_cache(thing)}
    hidden = [m for m in thing.modifiers if m.name not in kept and m.show_viewport]
    for modifier in hidden:
        modifier.show_viewport = False
    try:
        yield
    finally:
        for modifier in hidden:
            modifier.show_viewport = True


def each_frame(
    thing: bpy.types.Object, scene: bpy.types.Scene
) -> Iterator[tuple[bpy.types.Mesh, np.ndarray, np.ndarray]]:
    """The mesh, positions (n,3) [m] in the world and matrix (4,4) of an object at every frame, as
    modifiers, shape keys, armatures and parents have it then.

    Raises:
        Problem: the vertices are others at some frame.
    """
    now, count = scene.frame_current, None
    try:
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
            mesh, matrix = shown.to_mesh(), matrix_of(shown)
            x = to_weft(points(mesh), matrix, meters(scene))
            count = len(x) if count is None else count
            if len(x) != count:
                raise Problem(f"{thing.name} has other vertices at frame {frame}")
            yield mesh, x, matrix
            shown.to_mesh_clear()
    finally:
        scene.frame_set(now)


def write_body(folder: Path, file: str, thing: bpy.types.Object, scene: bpy.types.Scene) -> dict:
    """A body as every frame of the scene has it, modifiers and all; returns what a scene file says
    of it. One that stands still has no motion.
    """
    frames, first = [], folder / f"{file}.obj"
    for mesh, x, _ in each_frame(thing, scene):
        if not frames:
            if len(mesh.polygons) == 0:
                raise Problem(f"body {thing.name} has no faces")
            write_obj(first, mesh, x)
        frames.append(x)
    motion = write_motion(folder / f"{file}.pc2", np.array(frames), scene)
    return {"name": thing.name, "mesh": {"file": first.name} | motion}


def write_motion(path: Path, x: np.ndarray, scene: bpy.types.Scene) -> dict:
    """Positions (k,n,3) [m] as PC2; returns what a scene file says of them: nothing where all
    frames are the same.
    """
    if (x == x[0]).all():
        return {}
    write_pc2(path, x)
    return {"motion": path.name, "fps": frame_rate(scene), "hold": True}


def frame_rate(scene: bpy.types.Scene) -> float:
    """Frames a second."""
    return float(scene.render.fps / scene.render.fps_base)


def write_pc2(path: Path, x: np.ndarray) -> None:
    """Positions (k,n,3) as PC2."""
    with path.open("wb") as file:
        file.write(PC2.pack(MAGIC, 1, x.shape[1], 0.0, 1.0, len(x)))
        file.write(x.astype("<f4").tobytes())


def append_pc2(path: Path, x: np.ndarray) -> None:
    """More frames (k,n,3) at the end of a PC2. Its number of frames is the last that changes, so
    that who reads meanwhile has whole frames.
    """
    with path.open("r+b") as file:
        _, _, n, _, _, count = PC2.unpack(file.read(PC2.size))
        file.seek(PC2.size + 12 * n * count)
        file.write(x.astype("<f4").tobytes())
        file.flush()
        file.seek(0)
        file.write(PC2.pack(MAGIC, 1, n, 0.0, 1.0, count + len(x)))


def count_pc2(path: Path) -> int:
    """Number of frames of a PC2; 0 where there is none."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return int(PC2.unpack(file.read(PC2.size))[-1])


def read_pc2(path: Path) -> np.ndarray:
    """(k,n,3) positions of a PC2."""
    data = path.read_bytes()
    _, _, n, _, _, k = PC2.unpack_from(data)
    return np.frombuffer(data, "<f4", 3 * n * k, PC2.size).reshape(k, n, 3)
