"""glTF 2.0 writer: .glb and .gltf with morph targets, for browsers, game engines and Blender.

Every frame is a morph target of positions and normals, and an animation of weights goes from one
target to the next; the motion is exact at the frames and linear between them. Viewers keep all
targets in memory: therefore a long run is thinned to ``MOST_TARGETS`` frames. A vertex with several
texture coordinates is written several times, as the format requires; v points down. Specification:
Khronos glTF 2.0.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.base.trees import Json
from weft.io.animation import Animation, AnimationFrame, SurfaceTopology, require_meters_y_up
from weft.io.files import atomic_write
from weft.io.formats.gltf_buffer import GltfBuffer

MOST_TARGETS = 64
COLORS = ("4f86b0", "d98b5f", "6fa573", "b9789f", "c9b458", "7c7fb5", "5fb0ad", "b56b6b")
GRAY = "b8b8b8"  # bodies
MOVED = 1e-6  # [m] least displacement of a body that is animated


def write_gltf(path: Path, animation: Animation) -> Sequence[str]:
    """Write the frames, thinned if there are many, and return notes for the user.

    Raises:
        RunError: other units or axes than meters, y up, or the file cannot be written.
    """
    require_meters_y_up(animation, "glTF")
    kept = animation.thin(MOST_TARGETS)
    notes = []
    if kept.count < animation.count:
        notes.append(
            f"{kept.count} of {animation.count} frames (a glTF viewer keeps all of them "
            "in memory); --frames A:B:STEP chooses"
        )
    moments = list(kept)
    times = np.array([m.t - moments[0].t for m in moments])
    buffer = GltfBuffer()
    for k, shape in enumerate(kept.shapes):
        given = _first_fields(kept, moments[0]) if k == 0 else {}
        _Node(buffer, shape, k == 0, [m.positions[k] for m in moments], times, given)
    if kept.fields and kept.count > 1:
        notes.append(
            f"{', '.join(kept.fields)}: of the first frame, as morph targets move nothing "
            "else; on faces, means at vertices"
        )
    with atomic_write(path) as file:
        file.write(buffer.glb() if path.suffix.lower() == ".glb" else buffer.gltf())
    return notes


def _first_fields(animation: Animation, moment: AnimationFrame) -> dict[str, Floats]:
    """Return the fields of a frame (n,...) at the vertices; fields on faces are averaged, weighted
    by area.
    """
    if not animation.fields:
        return {}
    faces, x, found = animation.cloth.faces, moment.positions[0], moment.fields
    a, b, c = (x[faces[:, i]] for i in range(3))
    area = np.repeat(np.linalg.norm(np.cross(b - a, c - a), axis=1), 3)
    ids, n = faces.reshape(-1), len(x)
    whole = np.maximum(np.bincount(ids, area, n), 1e-300)
    made: dict[str, Floats] = {}
    for name in animation.fields:
        if name in found.points:
            values = found.points[name]
            made[name] = values[:, None] if values.ndim == 1 else values
            continue
        columns = np.repeat(found.cells[name], 3, axis=0).T
        made[name] = np.stack([np.bincount(ids, area * v, n) / whole for v in columns], axis=1)
    return made


class _Node:
    """A node of one shape, with its mesh and the weights that animate it."""

    def __init__(
        self,
        buffer: GltfBuffer,
        shape: SurfaceTopology,
        cloth: bool,
        frames: Sequence[Positions],
        times: Floats,
        given: Mapping[str, Floats],
    ) -> None:
        still = not cloth and max(float(np.abs(x - frames[0]).max()) for x in frames) < MOVED
        self.buffer, self.shape = buffer, shape
        self.frames = frames[:1] if still else frames
        corner, vertex, uv = _split(shape)
        attributes = self._attributes(vertex, uv)
        for name, values in given.items():
            attributes[f"_{name.upper()}"] = buffer.vectors(values[vertex].astype(np.float32))
        targets = self._targets(vertex) if len(self.frames) > 1 else []
        primitives = self._primitives(corner, attributes, targets, cloth)
        mesh: Json = {"name": shape.name, "primitives": primitives}
        if targets:
            mesh["weights"] = [0.0] * len(targets)
        node = buffer.append("nodes", {"name": shape.name, "mesh": buffer.append("meshes", mesh)})
        buffer.tree["scenes"][0]["nodes"].append(node)
        if targets:
            weights = np.eye(len(self.frames))[:, 1:]  # the first frame is the mesh itself
            buffer.animate_weights(node, times, weights)

    def _attributes(self, vertex: Ints, uv: Floats | None) -> dict[str, int]:
        x = self.frames[0][vertex].astype(np.float32)
        attributes = {"POSITION": self.buffer.vectors(x, bounds=True)}
        normal = _normals(self.frames[0], self.shape.faces)[vertex]
        attributes["NORMAL"] = self.buffer.vectors(normal.astype(np.float32))
        if uv is not None:
            down = np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1)
            attributes["TEXCOORD_0"] = self.buffer.vectors(down.astype(np.float32))
        return attributes

    def _targets(self, vertex: Ints) -> list[dict[str, int]]:
        first = self.frames[0][vertex].astype(np.float32)
        normal = _normals(self.frames[0], self.shape.faces)
        targets = []
        for x in self.frames[1:]:
            moved = x[vertex].astype(np.float32) - first
            turned = (_normals(x, self.shape.faces) - normal)[vertex].astype(np.float32)
            targets.append(
                {
                    "POSITION": self.buffer.vectors(moved, bounds=True),
                    "NORMAL": self.buffer.vectors(turned),
                }
            )
        return targets

    def _primitives(
        self, corner: Faces, attributes: dict[str, int], targets: list[dict[str, int]], cloth: bool
    ) -> list[dict[str, object]]:
        """Return one primitive for every region, with a material of its own."""
        regions = self.shape.regions or [(self.shape.name, np.arange(len(corner), dtype=np.int32))]
        primitives = []
        for k, (name, faces) in enumerate(regions):
            primitive: dict[str, object] = {
                "attributes": attributes,
                "indices": self.buffer.indices(corner[faces].reshape(-1)),
                "material": self.buffer.material(name, COLORS[k % len(COLORS)] if cloth else GRAY),
            }
            if targets:
                primitive["targets"] = targets
            primitives.append(primitive)
        return primitives


def _split(shape: SurfaceTopology) -> tuple[Faces, Ints, Floats | None]:
    """Split vertices such that each one has a single texture coordinate.

    Returns:
        Faces (m,3) of the split vertices; (s,) the vertex of the mesh that each of them is; (s,2)
        their texture coordinates. Without texture coordinates, nothing is split and the order
        stays.
    """
    if shape.corner_uv is None:
        used = np.arange(int(shape.faces.max()) + 1, dtype=np.int32)
        return shape.faces, used, None
    uv = shape.corner_uv.reshape(-1, 2).astype(np.float32)
    rows = np.column_stack([shape.faces.reshape(-1).astype(np.float64), uv])
    unique, ids = np.unique(rows, axis=0, return_inverse=True)
    corner = ids.reshape(-1, 3).astype(np.int32)
    return corner, unique[:, 0].astype(np.int32), unique[:, 1:]


def _normals(x: Positions, faces: Faces) -> Floats:
    """Return unit normals (n,3) of vertices, weighted by area; (0, 1, 0) if there is none."""
    a, b, c = (x[faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    ids = faces.reshape(-1)
    total = np.stack(
        [np.bincount(ids, np.repeat(normal[:, i], 3), len(x)) for i in range(3)], axis=1
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    unit = total / np.where(length > 0, length, 1.0)
    return np.asarray(np.where(length > 0, unit, (0.0, 1.0, 0.0)))
