"""Meshes of a glTF scene as surfaces in space: nodes, morph targets, skins, animation.

In glTF, a place with several texture coordinates or normals is several vertices. Vertices that
coincide in everything that moves them (position, morph targets, joints and weights) are welded
here, so that cloth is connected at seams; the order of vertices is that of the first ones. The
world is in meters, y up. Specification: Khronos glTF 2.0, sections 3.7 (geometry, skins) and 3.11
(animations, appendix C).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from weft.base.arrays import CornerUv, Faces, Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.base.input_file import GLTF_POSITIONS, GLTF_TRANSFORMS
from weft.base.trees import Json
from weft.io.formats.gltf_animation import ScenePose, pose_at, pose_times
from weft.io.formats.gltf_read import Broken, Document
from weft.io.surface import Contents, MovingMesh, join_contents

TRIANGLES = 4  # mode of a primitive that consists of triangles
FEW = 8  # largest number of names in a message
INSTANCES = "EXT_mesh_gpu_instancing"


@dataclass(frozen=True, eq=False)
class _Primitive:
    """A part of a mesh with a material of its own."""

    faces: Faces  # indices of its own vertices
    rows: Floats  # (n,...) positions, morph targets, joints and weights
    uv: Floats | None  # (n,2)
    painted: Mapping[str, Floats]
    material: str


@dataclass(frozen=True, eq=False)
class _Piece:
    """The mesh of a node, welded."""

    node: int
    name: str
    x: Positions  # (n,3) in the frame of the mesh
    faces: Faces
    corner_uv: CornerUv | None
    targets: Floats  # (t,n,3)
    joints: Ints  # (n,4k) of the skin; (n,0) without
    weights: Floats  # (n,4k)
    painted: Mapping[str, Floats]
    materials: dict[str, Ints]  # vertices
    regions: Mapping[str, Ints]  # faces of each material


def gltf_contents(path: Path, prim: str | None, *, one: bool) -> Contents:
    """Return the meshes of a scene at the beginning of its animation.

    Args:
        path: the file.
        prim: name of one of them, or of its node; None: all.
        one: refuse several meshes, because the result becomes one cloth.

    Raises:
        MeshError: a damaged or compressed file, no such mesh, or several.
    """
    document = Document(path)
    try:
        pieces = _select_pieces(document, prim, one)
        pose = pose_at(document, pose_times(document, None)[0])
        x = [_pose_piece(document, p, pose) for p in pieces]
        pieces = [_facing(p, pose) for p in pieces]
    except Broken as error:
        raise document.error(error) from error
    several = len(pieces) > 1
    own = [{p.name: np.arange(len(p.x), dtype=np.int32)} if several else {} for p in pieces]
    return join_contents(
        [
            Contents(a, p.faces, p.corner_uv, own[k] | p.materials, p.painted, regions=p.regions)
            for k, (p, a) in enumerate(zip(pieces, x))
        ]
    )


def gltf_moving(path: Path, fps: float | None, prim: str | None) -> MovingMesh:
    """Return the meshes of a scene as its first animation moves them.

    Args:
        path: the file.
        fps: frames per second at which it is sampled, besides its keys; None: 30.
        prim: name of one of them, or of its node; None: all.

    Raises:
        MeshError: for the reasons of ``gltf_contents``.
    """
    document = Document(path)
    try:
        pieces = _select_pieces(document, prim, one=False)
        times = pose_times(document, fps)
        n_transforms = len(times) * len(document.things("nodes"))
        if n_transforms > GLTF_TRANSFORMS:
            raise ValueError(f"{n_transforms} transforms of nodes, more than {GLTF_TRANSFORMS}")
        document.check_size(3 * len(times) * sum(len(p.x) for p in pieces), GLTF_POSITIONS)
        poses = [pose_at(document, t) for t in times]
        frames = [
            np.concatenate([_pose_piece(document, p, pose) for p in pieces]) for pose in poses
        ]
        pieces = [_facing(p, poses[0]) for p in pieces]
    except Broken as error:
        raise document.error(error) from error
    first = np.cumsum([0, *(len(p.x) for p in pieces)])
    faces = np.concatenate([p.faces + f for p, f in zip(pieces, first)]).astype(np.int32)
    x = np.array(frames)
    if len(x) > 1 and (x == x[0]).all():
        times, x = times[:1], x[:1]
    return MovingMesh(times - times[0], x, faces)


def _select_pieces(document: Document, prim: str | None, one: bool) -> list[_Piece]:
    """Return the meshes of the nodes that have a name, or of all nodes."""
    nodes, meshes = document.things("nodes"), document.things("meshes")
    named: dict[int, str] = {}
    for k, node in enumerate(nodes):
        if "mesh" in node:
            mesh = meshes[node["mesh"]]
            name = str(node.get("name") or mesh.get("name") or f"node {k}")
            if prim is None or prim in (name, mesh.get("name")):
                if INSTANCES in node.get("extensions", {}):
                    raise ValueError(f"instances of {name} ({INSTANCES}); export a node for each")
                named[k] = name
    if not named:
        known = [str(n.get("name", f"node {k}")) for k, n in enumerate(nodes) if "mesh" in n]
        got = "no mesh" if prim is None else repr(prim)
        raise MeshError(
            "glTF file" if prim is None else "prim",
            got=got,
            where=str(document.path),
            expected=f"a mesh of {', '.join(known[:FEW]) or 'its own'}",
        )
    if one and len(named) > 1:
        shown = ", ".join(list(named.values())[:FEW])
        raise MeshError(
            "glTF file",
            got=f"{len(named)} meshes",
            where=str(document.path),
            expected="one, as cloth",
            hint=f"say which with prim: {shown}",
        )
    return [_piece(document, k, name) for k, name in named.items()]


def _piece(document: Document, number: int, name: str) -> _Piece:
    """Return all primitives of a node's mesh as one."""
    node = document.things("nodes")[number]
    mesh = document.things("meshes")[node["mesh"]]
    parts: list[_Primitive] = []
    moving = None
    for p in mesh["primitives"]:
        if p.get("mode", TRIANGLES) != TRIANGLES:
            continue
        given = {k: document.array(v) for k, v in p["attributes"].items()}
        n = len(given["POSITION"])
        kinds = [f"{k}_{i}" for i in range(8) for k in ("JOINTS", "WEIGHTS") if f"{k}_{i}" in given]
        targets = [
            document.array(t["POSITION"]) if "POSITION" in t else np.zeros((n, 3))
            for t in p.get("targets", [])
        ]
        shape = (len(targets), len(kinds) if "skin" in node else 0)
        if moving not in (None, shape) or any(len(a) != n for a in (*given.values(), *targets)):
            raise ValueError(f"primitives of mesh {name} that do not fit together")
        moving = shape
        skin = [given[k] for k in kinds] if shape[1] else []
        ids = document.array(p["indices"])[:, 0] if "indices" in p else np.arange(n)
        columns = [given["POSITION"], *targets, *skin]
        # Counted for every node, because several nodes may have the same mesh.
        document.spend(n * sum(c.shape[1] for c in columns) + len(ids))
        rows = np.concatenate(columns, axis=1)
        if len(ids) == 0 or len(ids) % 3 or ids.min() < 0 or ids.max() >= n:
            raise ValueError(f"indices of mesh {name} beyond its {n} vertices")
        painted = {k[1:]: v[:, 0] for k, v in given.items() if k[0] == "_" and v.shape[1] == 1}
        faces = ids.astype(np.int32).reshape(-1, 3)
        uv = given.get("TEXCOORD_0")
        parts.append(_Primitive(faces, rows, uv, painted, _material(document, p)))
    if moving is None:
        raise ValueError(f"mesh {name} has no triangles")
    return _weld(number, name, parts, moving)


def _material(document: Document, primitive: Json) -> str:
    if "material" not in primitive:
        return ""
    return str(document.things("materials")[primitive["material"]].get("name", ""))


def _weld(number: int, name: str, parts: Sequence[_Primitive], moving: tuple[int, int]) -> _Piece:
    """Weld vertices that coincide in everything that moves them, in the order of the first ones."""
    rows = np.concatenate([p.rows for p in parts])
    if not np.isfinite(rows).all():
        raise ValueError(f"mesh {name} has numbers that are not finite")
    _, where, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(where)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ends = np.cumsum([len(p.rows) for p in parts])[:-1]
    kept = rows[where[order]]
    faces: list[Faces] = []
    uv: list[Floats] = []
    painted: dict[str, Floats] = {}
    materials: dict[str, Ints] = {}
    regions: dict[str, Ints] = {}
    for p, ids in zip(parts, np.split(rank[inverse.reshape(-1)].astype(np.int32), ends)):
        welded = ids[p.faces]
        good = (welded != np.roll(welded, 1, axis=1)).all(1)
        faces.append(welded[good])
        if p.uv is not None:
            corners = p.uv[p.faces][good]
            uv.append(np.stack([corners[..., 0], 1 - corners[..., 1]], axis=-1))
        for key, values in p.painted.items():
            painted.setdefault(key, np.zeros(len(kept)))[ids] = values
        if p.material:
            before = materials.get(p.material, np.zeros(0, np.int32))
            materials[p.material] = np.union1d(before, welded).astype(np.int32)
            last = sum(len(f) for f in faces)
            own = np.arange(last - len(faces[-1]), last, dtype=np.int32)
            regions[p.material] = np.concatenate([regions.get(p.material, own[:0]), own])
    t, kinds = moving
    targets = kept[:, 3 : 3 + 3 * t].reshape(len(kept), t, 3).transpose(1, 0, 2)
    skin = kept[:, 3 + 3 * t :].reshape(len(kept), kinds // 2, 2, -1 if kinds else 1)
    joints = skin[:, :, 0].reshape(len(kept), -1).astype(np.int32)
    return _Piece(
        number,
        name,
        kept[:, :3],
        np.concatenate(faces).astype(np.int32),
        np.concatenate(uv) if len(uv) == len(parts) else None,
        targets,
        joints,
        skin[:, :, 1].reshape(len(kept), -1),
        painted,
        materials,
        regions,
    )


def _facing(piece: _Piece, pose: ScenePose) -> _Piece:
    """Return the piece with its faces reversed if the transform of its node mirrors, as the
    specification requires.
    """
    M = pose.world[piece.node]
    if piece.joints.shape[1] or np.linalg.det(M[:3, :3]) >= 0:
        return piece
    uv = None if piece.corner_uv is None else piece.corner_uv[:, ::-1]
    return replace(piece, faces=piece.faces[:, ::-1], corner_uv=uv)


def _pose_piece(document: Document, piece: _Piece, pose: ScenePose) -> Positions:
    """Return the positions (n,3) [m] of vertices in a pose: morph targets, then the skin or the
    node.
    """
    node = document.things("nodes")[piece.node]
    mesh = document.things("meshes")[node["mesh"]]
    x = piece.x
    if len(piece.targets):
        weights = pose.weights.get(piece.node)
        if weights is None:
            weights = node.get("weights", mesh.get("weights", [0.0] * len(piece.targets)))
        x = x + np.einsum("t,tni->ni", np.asarray(weights, dtype=np.float64), piece.targets)
    if piece.joints.shape[1] == 0:
        M = pose.world[piece.node]
        return np.asarray(x @ M[:3, :3].T + M[:3, 3])
    skin = document.things("skins")[node["skin"]]
    joints = skin["joints"]
    inverse = np.tile(np.eye(4), (len(joints), 1, 1))
    if "inverseBindMatrices" in skin:
        given = document.array(skin["inverseBindMatrices"])
        inverse = given.reshape(-1, 4, 4).transpose(0, 2, 1)[: len(joints)]
    bones = np.array([pose.world[j] for j in joints]) @ inverse
    w = piece.weights / np.maximum(piece.weights.sum(1, keepdims=True), 1e-300)
    M = np.einsum("na,naij->nij", w, bones[piece.joints])
    return np.asarray(np.einsum("nij,nj->ni", M[:, :3, :3], x) + M[:, :3, 3])
