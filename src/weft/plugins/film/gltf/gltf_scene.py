"""Meshes of a glTF scene as surfaces in space: nodes, morph targets, skins, animation.

In glTF, a place with several texture coordinates or normals is several vertices. Vertices that
coincide in everything that moves them (position, morph targets, joints and weights) are welded
here, so that cloth is connected at seams; the order of vertices is that of the first ones. The
world is in meters, y up. Only the first animation is read; its samplers are linear, stepped or
cubic, and rotations are interpolated on the sphere. Specification: Khronos glTF 2.0, sections 3.7
(geometry, skins) and 3.11 (animations, appendix C).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from weft.base.arrays import AnyArray, Faces, Floats, Ints, Positions
from weft.base.input_file import GLTF_POSITIONS, GLTF_TRANSFORMS
from weft.base.trees import Json
from weft.io.surface import Contents, MovingMesh, check_selection, join_contents, join_moving
from weft.plugins.film.gltf.gltf_read import Broken, Document

# modes of primitives
POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, STRIP, FAN = range(7)
INSTANCES = "EXT_mesh_gpu_instancing"
RATE = 30.0  # [1/s] least rate at which skins and nodes are sampled
MOST_POSES = 100_000


@dataclass(frozen=True, eq=False)
class ScenePose:
    """The pose of a scene at one time."""

    world: Mapping[int, Floats]  # (4,4) transform of every node to the world
    weights: Mapping[int, Floats]  # weights of morph targets, for nodes whose weights are animated


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
    """The mesh of a node, welded; its groups and regions are the materials."""

    node: int
    name: str
    mesh: Contents  # in the frame of the mesh
    targets: Floats  # (t,n,3)
    joints: Ints  # (n,4k) of the skin; (n,0) without
    weights: Floats  # (n,4k)


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
        pose = _pose_at(document, _pose_times(document, None)[0])
        meshes = [replace(_facing(p, pose), x=_pose_piece(document, p, pose)) for p in pieces]
        others = _other_animations(document)
    except Broken as error:
        raise document.error(error) from error
    if len(pieces) > 1:
        own = [{p.name: np.arange(len(m.x), dtype=np.int32)} for p, m in zip(pieces, meshes)]
        meshes = [replace(m, groups={**group, **m.groups}) for m, group in zip(meshes, own)]
    joined = join_contents(meshes)
    return replace(joined, left_out={**joined.left_out, **others})


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
        times = _pose_times(document, fps)
        n_transforms = len(times) * len(document.things("nodes"))
        if n_transforms > GLTF_TRANSFORMS:
            raise ValueError(f"{n_transforms} transforms of nodes, more than {GLTF_TRANSFORMS}")
        document.check_size(3 * len(times) * sum(len(p.mesh.x) for p in pieces), GLTF_POSITIONS)
        poses = [_pose_at(document, t) for t in times]
        x = [np.array([_pose_piece(document, p, pose) for pose in poses]) for p in pieces]
        meshes = [_facing(p, poses[0]) for p in pieces]
        others = _other_animations(document)
    except Broken as error:
        raise document.error(error) from error
    joined = join_moving(times - times[0], x, [mesh.faces for mesh in meshes])
    return replace(joined, left_out={**join_contents(meshes).left_out, **others})


def _other_animations(document: Document) -> dict[str, int]:
    """Return the number of animations after the first one, by their kind, for messages."""
    more = len(document.things("animations")) - 1
    return {"animations after the first one": more} if more > 0 else {}


def _pose_times(document: Document, fps: float | None) -> Floats:
    """Return (k,) [s] the times at which a scene is sampled.

    These are all key times of the first animation, and times between them at a rate of ``fps`` or
    ``RATE``; weights that are linear between keys need no times between them.

    Args:
        document: the file.
        fps: [1/s]; None: ``RATE``, if needed.
    """
    samplers, channels = _animation(document)
    if not samplers:
        return np.zeros(1)
    times: Floats = np.unique(np.concatenate([document.array(s["input"])[:, 0] for s in samplers]))
    rate = fps or RATE
    if not np.isfinite(times).all() or (times[-1] - times[0]) * rate > MOST_POSES:
        raise ValueError(f"keys from {times[0]:g} to {times[-1]:g} s")
    straight = all(c["target"]["path"] == "weights" for c in channels) and all(
        s.get("interpolation", "LINEAR") == "LINEAR" for s in samplers
    )
    if straight and fps is None:
        return times  # weights are linear between keys, as bodies are between frames
    count = int(np.ceil((times[-1] - times[0]) * rate - 1e-6)) + 1
    even = np.minimum(times[0] + np.arange(count) / rate, times[-1])
    found: Floats = np.unique(np.concatenate([times, even]))
    return np.asarray(found[np.concatenate([[True], np.diff(found) > 1e-6])])


def _pose_at(document: Document, t: float) -> ScenePose:
    """Return the pose of the scene at time t [s]."""
    nodes = document.things("nodes")
    samplers, channels = _animation(document)
    moved: list[dict[str, Floats]] = [{} for _ in nodes]
    for channel in channels:
        target = channel["target"]
        if "node" in target:
            value = _sample(document, samplers[channel["sampler"]], t, target["path"])
            moved[target["node"]][target["path"]] = value
    local = _local_transforms(nodes, moved)
    below = {child for node in nodes for child in node.get("children", [])}
    world: dict[int, Floats] = {}
    waiting = [(k, np.eye(4)) for k in range(len(nodes)) if k not in below]
    while waiting:
        k, above = waiting.pop()
        if k in world:
            raise ValueError(f"node {k} below two nodes")
        world[k] = above @ local[k]
        waiting += [(child, world[k]) for child in nodes[k].get("children", [])]
    if len(world) < len(nodes):
        raise ValueError("nodes that contain themselves")
    return ScenePose(world, {k: m["weights"] for k, m in enumerate(moved) if "weights" in m})


def _animation(document: Document) -> tuple[list[Json], list[Json]]:
    """Return the samplers and the channels of the first animation."""
    found: Json = (document.things("animations") or [{}])[0]
    return list(found.get("samplers", [])), list(found.get("channels", []))


def _sample(document: Document, sampler: Json, t: float, path: str) -> Floats:
    """Return the value of a sampler at time t; it is constant before the first key and after the
    last.
    """
    times = document.array(sampler["input"])[:, 0]
    values = document.array(sampler["output"])
    kind = sampler.get("interpolation", "LINEAR")
    cubic = kind == "CUBICSPLINE"  # each key has an in-tangent, a value and an out-tangent
    rows = values.reshape(len(times), 3 if cubic else 1, -1)
    keys = rows[:, int(cubic)]
    k = int(np.searchsorted(times, t, side="right")) - 1
    if kind == "STEP" or k < 0 or k >= len(times) - 1:
        return np.asarray(keys[max(k, 0)])
    pair = slice(k, k + 2)
    if cubic:
        tangents = np.array([rows[k, 2], rows[k + 1, 0]])
        return np.asarray(CubicHermiteSpline(times[pair], keys[pair], tangents)(t))
    if path == "rotation":
        return np.asarray(Slerp(times[pair], Rotation.from_quat(keys[pair]))(t).as_quat())
    s = (t - times[k]) / (times[k + 1] - times[k])
    return np.asarray((1 - s) * keys[k] + s * keys[k + 1])


def _local_transforms(nodes: Sequence[Json], moved: Sequence[Mapping[str, Floats]]) -> Floats:
    """Return the transforms (k,4,4) of all nodes to their parents.

    Args:
        nodes: of the file.
        moved: animated values of each node, by name.
    """

    def values(name: str, default: Sequence[float]) -> Floats:
        found = [m.get(name, node.get(name, default)) for m, node in zip(moved, nodes)]
        return np.array(found, dtype=np.float64).reshape(len(nodes), len(default))

    M = np.tile(np.eye(4), (len(nodes), 1, 1))
    R = Rotation.from_quat(values("rotation", (0, 0, 0, 1))).as_matrix()
    M[:, :3, :3] = R * values("scale", (1, 1, 1))[:, None]
    M[:, :3, 3] = values("translation", (0, 0, 0))
    for k, node in enumerate(nodes):
        if "matrix" in node and not moved[k]:
            M[k] = np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    return M


def _select_pieces(document: Document, prim: str | None, one: bool) -> list[_Piece]:
    """Return the meshes of the nodes that have a name, or of all nodes."""
    meshes, known = document.things("meshes"), []
    named: dict[int, str] = {}
    for k, node in enumerate(document.things("nodes")):
        if "mesh" not in node:
            continue
        mesh = meshes[node["mesh"]]
        name = str(node.get("name") or mesh.get("name") or f"node {k}")
        known.append(name)
        if prim is None or prim in (name, mesh.get("name")):
            if INSTANCES in node.get("extensions", {}):
                raise ValueError(f"instances of {name} ({INSTANCES}); export a node for each")
            named[k] = name
    chosen = list(named.values())
    check_selection(chosen, known, prim, one=one, what="glTF file", path=document.path)
    return [_piece(document, k, name) for k, name in named.items()]


def _piece(document: Document, number: int, name: str) -> _Piece:
    """Return all primitives of a node's mesh as one."""
    node = document.things("nodes")[number]
    mesh = document.things("meshes")[node["mesh"]]
    parts: list[_Primitive] = []
    moving = None
    left_out: Counter[str] = Counter()
    for p in mesh["primitives"]:
        mode = p.get("mode", TRIANGLES)
        if mode not in (TRIANGLES, STRIP, FAN):
            left_out["primitives of points" if mode == POINTS else "primitives of lines"] += 1
            continue
        given = {k: document.array(v) for k, v in p["attributes"].items()}
        n = len(given["POSITION"])
        kinds = [f"{k}_{i}" for i in range(8) for k in ("JOINTS", "WEIGHTS") if f"{k}_{i}" in given]
        skin = [given[k] for k in kinds] if "skin" in node else []
        left_out["primitives with weights of joints, without a skin"] += len(kinds) > len(skin)
        targets = [
            document.array(t["POSITION"]) if "POSITION" in t else np.zeros((n, 3))
            for t in p.get("targets", [])
        ]
        shape = (len(targets), len(skin))
        if moving not in (None, shape) or any(len(a) != n for a in (*given.values(), *targets)):
            raise ValueError(f"primitives of mesh {name} that do not fit together")
        moving = shape
        ids = document.array(p["indices"])[:, 0] if "indices" in p else np.arange(n)
        columns = [given["POSITION"], *targets, *skin]
        # Counted for every node, because several nodes may have the same mesh.
        document.spend(n * sum(c.shape[1] for c in columns) + len(ids))
        ids = _triangles(ids, mode)
        if len(ids) == 0 or len(ids) % 3 or ids.min() < 0 or ids.max() >= n:
            raise ValueError(f"indices of mesh {name} beyond its {n} vertices")
        painted = {k[1:]: v[:, 0] for k, v in given.items() if k[0] == "_" and v.shape[1] == 1}
        if "COLOR_0" in given:
            painted |= dict(zip(("red", "green", "blue"), given["COLOR_0"].T))
        faces, rows = ids.astype(np.int32).reshape(-1, 3), np.concatenate(columns, axis=1)
        material = ""
        if "material" in p:
            material = str(document.things("materials")[p["material"]].get("name", ""))
        parts.append(_Primitive(faces, rows, given.get("TEXCOORD_0"), painted, material))
    if moving is None:
        raise ValueError(f"mesh {name} has no triangles")
    piece = _weld(number, name, parts, *moving)
    return replace(
        piece, mesh=replace(piece.mesh, left_out=+(left_out + Counter(piece.mesh.left_out)))
    )


def _triangles(ids: AnyArray, mode: int) -> AnyArray:
    """Return the corners (3m,) of the triangles of a primitive, without those of no area that join
    strips.

    Args:
        ids: (n,) vertices of triangles, of a strip or of a fan.
        mode: which of them.
    """
    if mode == TRIANGLES or len(ids) < 3:
        return ids
    k = np.arange(len(ids) - 2)
    if mode == STRIP:
        rows = np.stack([k, k + 1 + k % 2, k + 2 - k % 2], axis=1)
    else:
        rows = np.stack([k + 1, k + 2, np.zeros_like(k)], axis=1)
    corners = ids[rows]
    joins = (corners == np.roll(corners, 1, axis=1)).any(1)
    return np.asarray(corners[~joins].reshape(-1))


def _weld(
    number: int, name: str, parts: Sequence[_Primitive], n_targets: int, n_skin: int
) -> _Piece:
    """Weld vertices that coincide in everything that moves them, in the order of the first ones.

    Args:
        number: of the node.
        name: of the node.
        parts: the primitives of its mesh.
        n_targets: number of morph targets.
        n_skin: number of attributes of the skin, joints and weights in turn.
    """
    rows = np.concatenate([p.rows for p in parts])
    if not np.isfinite(rows).all():
        raise ValueError(f"mesh {name} has numbers that are not finite")
    _, where, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(where)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kept, n = rows[where[order]], len(order)
    faces: list[Faces] = []
    uv: list[Floats] = []
    painted: dict[str, Floats] = {}
    materials: dict[str, Ints] = {}
    regions: dict[str, Ints] = {}
    none, first, collapsed = np.zeros(0, dtype=np.int32), 0, 0
    ends = np.cumsum([len(p.rows) for p in parts])[:-1]
    for p, ids in zip(parts, np.split(rank[inverse.reshape(-1)].astype(np.int32), ends)):
        welded = ids[p.faces]
        good = (welded != np.roll(welded, 1, axis=1)).all(1)
        faces.append(welded[good])
        collapsed += len(good) - int(good.sum())
        if p.uv is not None:
            corners = p.uv[p.faces][good]
            uv.append(np.stack([corners[..., 0], 1 - corners[..., 1]], axis=-1))
        for key, values in p.painted.items():
            painted.setdefault(key, np.zeros(n))[ids] = values
        own = first + np.arange(len(faces[-1]), dtype=np.int32)
        first += len(own)
        if p.material:
            materials[p.material] = np.union1d(materials.get(p.material, none), welded)
            regions[p.material] = np.concatenate([regions.get(p.material, none), own])
    corner_uv = np.concatenate(uv) if len(uv) == len(parts) else None
    mesh = Contents(
        kept[:, :3],
        np.concatenate(faces),
        corner_uv,
        materials,
        painted,
        regions=regions,
        left_out={"collapsed faces": collapsed} if collapsed else {},
    )
    end = 3 + 3 * n_targets
    targets = kept[:, 3:end].reshape(n, n_targets, 3).transpose(1, 0, 2)
    skin = kept[:, end:].reshape(n, n_skin // 2, 2, -1 if n_skin else 1)
    joints, weights = (skin[:, :, i].reshape(n, -1) for i in (0, 1))
    return _Piece(number, name, mesh, targets, joints.astype(np.int32), weights)


def _facing(piece: _Piece, pose: ScenePose) -> Contents:
    """Return the mesh with its faces reversed if the transform of its node mirrors, as the
    specification requires.
    """
    mesh = piece.mesh
    if piece.joints.shape[1] or np.linalg.det(pose.world[piece.node][:3, :3]) >= 0:
        return mesh
    uv = None if mesh.corner_uv is None else mesh.corner_uv[:, ::-1]
    return replace(mesh, faces=mesh.faces[:, ::-1], corner_uv=uv)


def _pose_piece(document: Document, piece: _Piece, pose: ScenePose) -> Positions:
    """Return the positions (n,3) [m] of vertices in a pose: morph targets, then the skin or the
    node.
    """
    node = document.things("nodes")[piece.node]
    x = piece.mesh.x
    if len(piece.targets):
        mesh = document.things("meshes")[node["mesh"]]
        still = node.get("weights", mesh.get("weights", [0.0] * len(piece.targets)))
        weights = np.asarray(pose.weights.get(piece.node, still), dtype=np.float64)
        x = x + np.einsum("t,tni->ni", weights, piece.targets)
    if piece.joints.shape[1] == 0:
        M = pose.world[piece.node]
        return x @ M[:3, :3].T + M[:3, 3]
    skin = document.things("skins")[node["skin"]]
    bones = np.array([pose.world[j] for j in skin["joints"]])
    if "inverseBindMatrices" in skin:
        given = document.array(skin["inverseBindMatrices"])
        bones = bones @ given.reshape(-1, 4, 4).transpose(0, 2, 1)[: len(bones)]
    w = piece.weights / np.maximum(piece.weights.sum(1, keepdims=True), 1e-300)
    M = np.einsum("na,naij->nij", w, bones[piece.joints])
    return np.asarray(np.einsum("nij,nj->ni", M[:, :3, :3], x) + M[:, :3, 3])
