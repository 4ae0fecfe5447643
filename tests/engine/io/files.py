"""A sheet of quads, and files of meshes as other programs make them."""

import base64
import json
import struct

import numpy as np

from weft.discretization.mesh import grid
from weft.io import read_motion

GRID = grid(5, 4, 1.0, 0.8)
QUADS = [
    [i + 5 * j, i + 1 + 5 * j, i + 6 + 5 * j, i + 5 + 5 * j] for j in range(3) for i in range(4)
]


def define(stage, path, x, faces, uv=None, interpolation="vertex"):
    """A mesh, as usd-core makes it."""
    from pxr import Sdf, UsdGeom, Vt

    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.float32(x)))
    mesh.CreateFaceVertexCountsAttr([len(f) for f in faces])
    mesh.CreateFaceVertexIndicesAttr([int(i) for f in faces for i in f])
    if uv is not None:
        st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
            "st", Sdf.ValueTypeNames.TexCoord2fArray, interpolation
        )
        st.Set(Vt.Vec2fArray.FromNumpy(np.float32(uv)))
    return mesh


def gltf(tree, arrays, path):
    """A .gltf of a tree and of arrays, whose numbers accessors are."""
    blob, views, accessors = b"", [], []
    for a in arrays:
        a = np.asarray(a)
        a = a.astype(np.float32) if a.dtype.kind == "f" else a
        width = 1 if a.ndim == 1 else a.shape[1]
        kind = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}[width]
        code = {"f4": 5126, "u2": 5123, "u1": 5121, "i8": 5125}[a.dtype.str[1:]]
        data = (a.astype(np.uint32) if code == 5125 else a).tobytes()
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": len(data)})
        accessors.append(
            {"bufferView": len(views) - 1, "componentType": code, "count": len(a), "type": kind}
        )
        blob += data + b"\0" * (-len(data) % 4)
    uri = "data:application/octet-stream;base64," + base64.b64encode(blob).decode()
    whole = {
        "asset": {"version": "2.0"},
        "bufferViews": views,
        "accessors": accessors,
        "buffers": [{"uri": uri, "byteLength": len(blob)}],
        **tree,
    }
    path.write_text(json.dumps(whole))
    return path


def read_glb(path):
    """Return the tree and the buffer of a .glb."""
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def point_cache(positions, version=1):
    """Return the bytes of a .pc2 of positions (k,n,3)."""
    x = np.asarray(positions)
    head = struct.pack("<12siiffi", b"POINTCACHE2\0", version, x.shape[1], 0.0, 1.0, len(x))
    return head + x.astype("<f4").tobytes()


def read_moving(*arguments, **keywords):
    """Return times, positions and faces of ``read_motion``."""
    found = read_motion(*arguments, **keywords)
    return found.times, found.positions, found.faces
