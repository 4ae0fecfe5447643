"""The JSON tree and the binary buffer of a glTF file that is being written."""

import base64
import json
import struct

import numpy as np

from weft.base.arrays import AnyArray, Floats
from weft.base.trees import Json

FLOAT, UINT = 5126, 5125  # component types
ARRAY, ELEMENT = 34962, 34963  # targets of buffer views
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3"}
MAGIC, JSON, BIN = 0x46546C67, 0x4E4F534A, 0x004E4942  # file and chunk types of .glb


class GltfBuffer:
    """A glTF file under construction."""

    def __init__(self) -> None:
        self.tree: Json = {
            "asset": {"version": "2.0", "generator": "weft"},
            "scene": 0,
            "scenes": [{"nodes": []}],
        }
        self._parts: list[bytes] = []
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
        return self._accessor(values, FLOAT, TYPES[values.shape[1]], ARRAY, bounds)

    def indices(self, ids: AnyArray) -> int:
        """Add an accessor of vertex indices, and return its index."""
        return self._accessor(ids.astype(np.uint32), UINT, "SCALAR", ELEMENT, False)

    def material(self, name: str, color: str) -> int:
        """Add a rough, two-sided material of an sRGB color, and return its index."""
        srgb = np.array([int(color[i : i + 2], 16) / 255 for i in (0, 2, 4)])
        rgba = [*np.round(srgb**2.2, 4).tolist(), 1.0]  # glTF has linear colors
        rough = {"baseColorFactor": rgba, "metallicFactor": 0.0, "roughnessFactor": 0.9}
        return self.append(
            "materials", {"name": name, "doubleSided": True, "pbrMetallicRoughness": rough}
        )

    def animate_weights(self, node: int, times: Floats, weights: Floats) -> None:
        """Animate the weights of a node's mesh, linearly between times.

        Args:
            node: index of the node.
            times: (k,) [s].
            weights: (k,targets).
        """
        if not self.tree.get("animations"):
            self.append("animations", {"name": "run", "channels": [], "samplers": []})
            self._times = self._accessor(
                times.astype(np.float32)[:, None], FLOAT, "SCALAR", None, True
            )
        animation = self.tree["animations"][0]
        output = self._accessor(
            weights.astype(np.float32).reshape(-1, 1), FLOAT, "SCALAR", None, False
        )
        sampler = {"input": self._times, "output": output, "interpolation": "LINEAR"}
        animation["samplers"].append(sampler)
        target = {"node": node, "path": "weights"}
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})

    def _accessor(
        self, values: AnyArray, component: int, kind: str, target: int | None, bounds: bool
    ) -> int:
        data = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
        view = {"buffer": 0, "byteOffset": self._size, "byteLength": len(data)}
        if target is not None:
            view["target"] = target
        self._parts.append(data)
        self._size += len(data)  # always a multiple of four bytes, so that views are aligned
        accessor = {
            "bufferView": self.append("bufferViews", view),
            "componentType": component,
            "count": len(values),
            "type": kind,
        }
        if bounds:
            accessor |= {"min": values.min(0).tolist(), "max": values.max(0).tolist()}
        return self.append("accessors", accessor)

    def glb(self) -> bytes:
        """Return the file as one binary."""
        self.tree["buffers"] = [{"byteLength": self._size}]
        text = json.dumps(self.tree, separators=(",", ":")).encode()
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
        return json.dumps(self.tree, separators=(",", ":")).encode()
