"""glTF 2.0 writer: .glb and .gltf with morph targets, for browsers, game engines and Blender.

Every frame is a morph target of positions and normals, and an animation of weights goes from one
target to the next; the motion is exact at the frames and linear between them. Viewers keep all
targets in memory: therefore a long run is thinned to ``MOST_TARGETS`` frames. A vertex with several
texture coordinates is written several times, as the format requires; v points down. Specification:
Khronos glTF 2.0.
"""

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray, Faces, Floats, Ints, Positions
from weft.base.errors import RunError
from weft.base.trees import Json
from weft.discretization.polygon import triangle_sides
from weft.discretization.vertex_normals import VertexNormals
from weft.io.animation import Animation, AnimationFrame, SurfaceTopology
from weft.io.files import write_file
from weft.io.part_appearance import GRAY, PANELS, PartAppearance, linear_color
from weft.plugins.film.gltf.gltf_read import BIN, JSON, MAGIC

MOST_TARGETS = 64
MOVED = 1e-6  # [m] least displacement of a body that is animated
FLOAT, UINT = 5126, 5125  # component types
ARRAY, ELEMENT = 34962, 34963  # targets of buffer views
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3"}


def write_gltf(path: Path, animation: Animation) -> Sequence[str]:
    """Write the frames, thinned if there are many, and return notes for the user.

    Raises:
        RunError: other units or axes than meters, y up, or the file cannot be written.
    """
    c = animation.convention
    if (c.up, c.units) != ("y", "m"):
        expected = "y and m, because the glTF specification requires meters and y up"
        raise RunError("up, units", got=f"{c.up}, {c.units}", expected=expected)
    kept = animation.with_layers().thin(MOST_TARGETS)
    notes = []
    if kept.count < animation.count:
        notes.append(
            f"{kept.count} of {animation.count} frames (a glTF viewer keeps all frames in "
            "memory); `frames=A:B:STEP` chooses"
        )
    moments = list(kept)
    times = np.array([m.t - moments[0].t for m in moments])
    buffer = GltfBuffer()
    for k, shape in enumerate(kept.shapes):
        frames = [m.positions[k] for m in moments]
        if k == 0:
            _add_shape(buffer, shape, frames, times, PANELS, _first_fields(kept, moments[0]))
        else:
            moves = max(float(np.abs(x - frames[0]).max()) for x in frames) >= MOVED
            _add_shape(buffer, shape, frames if moves else frames[:1], times, (GRAY,), {})
    if kept.fields and kept.count > 1:
        notes.append(
            f"{', '.join(kept.fields)}: only of the first frame, because morph targets move only "
            "positions; values on faces become means at vertices"
        )
    write_file(path, buffer.glb() if path.suffix.lower() == ".glb" else buffer.gltf())
    return notes


def _first_fields(animation: Animation, moment: AnimationFrame) -> dict[str, Floats]:
    """Return the fields of a frame (n,...) at the vertices; fields on faces are averaged, weighted
    by area.
    """
    if not animation.fields:
        return {}
    faces, x, found = animation.cloth.faces, moment.positions[0], moment.fields
    normals = np.cross(*triangle_sides(x[faces]))
    area = np.linalg.norm(normals, axis=1, keepdims=True)
    whole = np.maximum(_sum_at_vertices(area, faces, len(x)), 1e-300)
    made: dict[str, Floats] = {}
    for name in animation.fields:
        if name in found.points:
            made[name] = found.points[name].reshape(len(x), -1)
        else:
            values = found.cells[name].reshape(len(faces), -1)
            made[name] = _sum_at_vertices(area * values, faces, len(x)) / whole
    return made


def _add_shape(
    buffer: "GltfBuffer",
    shape: SurfaceTopology,
    frames: Sequence[Positions],
    times: Floats,
    colors: Sequence[str],
    fields: Mapping[str, Floats],
) -> None:
    """Add a node of one shape, with its mesh and the weights that animate it.

    Args:
        buffer: the file.
        shape: faces, texture coordinates and regions.
        frames: (n,3) [m] positions; a single frame is not animated.
        times: (k,) [s] of the frames.
        colors: of the materials, one for each region in turn.
        fields: numbers (n,...) at vertices, by name.
    """
    corner, vertex, uv = _split(shape)
    positions = [x[vertex].astype(np.float32) for x in frames]
    unit = VertexNormals(shape.faces, len(frames[0]))
    normals = [_drawn_normals(unit(x)[vertex]) for x in frames]
    attributes = {
        "POSITION": buffer.vectors(positions[0], bounds=True),
        "NORMAL": buffer.vectors(normals[0]),
    }
    if uv is not None:
        attributes["TEXCOORD_0"] = buffer.vectors(np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1))
    for name, values in fields.items():
        attributes[f"_{name.upper()}"] = buffer.vectors(values[vertex])
    targets = [
        {
            "POSITION": buffer.vectors(x - positions[0], bounds=True),
            "NORMAL": buffer.vectors(normal - normals[0]),
        }
        for x, normal in zip(positions[1:], normals[1:])
    ]
    moving: Json = {"targets": targets} if targets else {}
    looks = shape.appearances
    whole = [(shape.name, np.arange(len(corner), dtype=np.int32))]
    mesh: Json = {
        "name": shape.name,
        "primitives": [
            {
                "attributes": attributes,
                "indices": buffer.indices(corner[faces].reshape(-1)),
                "material": buffer.material(name, look or PartAppearance(colors[k % len(colors)])),
                **moving,
            }
            for k, ((name, faces), look) in enumerate(zip_longest(shape.regions or whole, looks))
        ],
    }
    if targets:
        mesh["weights"] = [0.0] * len(targets)
    node = buffer.append("nodes", {"name": shape.name, "mesh": buffer.append("meshes", mesh)})
    buffer.tree["scenes"][0]["nodes"].append(node)
    if targets:
        # The first frame is the mesh itself.
        buffer.animate_weights(node, times, np.eye(len(frames))[:, 1:])


def _split(shape: SurfaceTopology) -> tuple[Faces, Ints, Floats | None]:
    """Split vertices such that each one has a single texture coordinate.

    Returns:
        Faces (m,3) of the split vertices; (s,) the vertex of the mesh that each of them is; (s,2)
        their texture coordinates. Without texture coordinates, nothing is split and the order
        stays.
    """
    corner_uv = shape.corner_uv if shape.image_uv is None else shape.image_uv
    if corner_uv is None:
        used = np.arange(int(shape.faces.max()) + 1, dtype=np.int32)
        return shape.faces, used, None
    uv: Floats = corner_uv.reshape(-1, 2).astype(np.float32).astype(np.float64)
    corner, first = shape.split_corners(uv)
    return corner, shape.faces.reshape(-1)[first], uv[first]


def _drawn_normals(normals: Floats) -> Floats:
    """Return unit normals (n,3), with (0, 1, 0) in place of zeros."""
    return np.where(normals.any(axis=1, keepdims=True), normals, (0.0, 1.0, 0.0))


def _sum_at_vertices(values: Floats, faces: Faces, n: int) -> Floats:
    """Return the sums (n,d) of the values (m,d) of the faces around each vertex."""
    ids = faces.reshape(-1)
    return np.stack([np.bincount(ids, np.repeat(v, 3), n) for v in values.T], axis=1)


class GltfBuffer:
    """The JSON tree and the binary buffer of a glTF file under construction."""

    def __init__(self) -> None:
        self.tree: Json = {
            "asset": {"version": "2.0", "generator": "weft"},
            "scene": 0,
            "scenes": [{"nodes": []}],
        }
        self._parts: list[bytes] = []
        self._textures: dict[bytes, int] = {}
        self._size = 0

    def append(self, kind: str, thing: Json) -> int:
        """Append an object to ``meshes``, ``nodes``, ... of the tree, and return its index."""
        things = self.tree.setdefault(kind, [])
        things.append(thing)
        return len(things) - 1

    def vectors(self, values: AnyArray, *, bounds: bool = False) -> int:
        """Add an accessor of float32 vectors (n,d) of vertices, and return its index.

        With ``bounds``, the accessor contains the least and greatest values.
        """
        return self._accessor(values.astype("<f4"), FLOAT, ARRAY, bounds=bounds)

    def indices(self, ids: AnyArray) -> int:
        """Add an accessor of vertex indices, and return its index."""
        return self._accessor(ids.astype("<u4")[:, None], UINT, ELEMENT)

    def material(self, name: str, look: PartAppearance) -> int:
        """Add a rough, two-sided material, and return its index."""
        color = linear_color("ffffff" if look.image is not None else look.color)
        rough: Json = {"baseColorFactor": [*color, 1.0], "metallicFactor": 0.0}
        rough["roughnessFactor"] = 0.9
        if look.image is not None:
            rough["baseColorTexture"] = {"index": self._texture(*look.image_bytes())}
        return self.append(
            "materials", {"name": name, "doubleSided": True, "pbrMetallicRoughness": rough}
        )

    def _texture(self, kind: str, data: bytes) -> int:
        """Add an image that repeats, once, and return the index of its texture."""
        if data not in self._textures:
            view: Json = {"buffer": 0, "byteOffset": self._size, "byteLength": len(data)}
            padded = data + bytes(-len(data) % 4)
            self._parts.append(padded)
            self._size += len(padded)
            source = self.append(
                "images", {"bufferView": self.append("bufferViews", view), "mimeType": kind}
            )
            self._textures[data] = self.append("textures", {"source": source})
        return self._textures[data]

    def animate_weights(self, node: int, times: Floats, weights: Floats) -> None:
        """Animate the weights of a node's mesh, linearly between times.

        Args:
            node: index of the node.
            times: (k,) [s].
            weights: (k,targets).
        """
        if "animations" not in self.tree:
            self.append("animations", {"name": "run", "channels": [], "samplers": []})
            self._times = self._accessor(times.astype("<f4")[:, None], FLOAT, bounds=True)
        output = self._accessor(weights.astype("<f4").reshape(-1, 1), FLOAT)
        animation = self.tree["animations"][0]
        animation["channels"].append(
            {"sampler": len(animation["samplers"]), "target": {"node": node, "path": "weights"}}
        )
        animation["samplers"].append(
            {"input": self._times, "output": output, "interpolation": "LINEAR"}
        )

    def _accessor(
        self, values: AnyArray, component: int, target: int | None = None, *, bounds: bool = False
    ) -> int:
        """Add an accessor of the rows of an array (n,d), and return its index."""
        view: Json = {"buffer": 0, "byteOffset": self._size, "byteLength": values.nbytes}
        if target is not None:
            view["target"] = target
        self._parts.append(values.tobytes())
        self._size += values.nbytes  # always a multiple of four bytes, so that views are aligned
        accessor: Json = {
            "bufferView": self.append("bufferViews", view),
            "componentType": component,
            "count": len(values),
            "type": TYPES[values.shape[1]],
        }
        if bounds:
            accessor |= {"min": values.min(0).tolist(), "max": values.max(0).tolist()}
        return self.append("accessors", accessor)

    def glb(self) -> bytes:
        """Return the file as one binary."""
        self.tree["buffers"] = [{"byteLength": self._size}]
        text = self._text()
        text += b" " * (-len(text) % 4)
        data = b"".join(self._parts)
        chunks = struct.pack("<II", len(text), JSON) + text
        chunks += struct.pack("<II", len(data), BIN) + data
        return struct.pack("<III", MAGIC, 2, 12 + len(chunks)) + chunks

    def gltf(self) -> bytes:
        """Return the file as JSON that includes the binary buffer."""
        data = base64.b64encode(b"".join(self._parts)).decode()
        uri = f"data:application/octet-stream;base64,{data}"
        self.tree["buffers"] = [{"byteLength": self._size, "uri": uri}]
        return self._text()

    def _text(self) -> bytes:
        return json.dumps(self.tree, separators=(",", ":")).encode()
