"""Poses of a glTF scene: transforms of nodes and weights of morph targets at a time.

Only the first animation is read; its samplers are linear, stepped or cubic, and rotations are
interpolated on the sphere. Specification: Khronos glTF 2.0, appendix C.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.trees import Json
from weft.io.formats.gltf_read import Document

RATE = 30.0  # [1/s] least rate at which skins and nodes are sampled
MOST_POSES = 100_000
PARALLEL = 0.9995  # above this cosine, slerp would divide by almost zero: linear blending


@dataclass(frozen=True, eq=False)
class ScenePose:
    """The pose of a scene at one time."""

    world: Mapping[int, Floats]  # (4,4) transform of every node to the world
    weights: Mapping[int, Floats]  # weights of morph targets, for nodes whose weights are animated


def pose_times(document: Document, fps: float | None) -> Floats:
    """Return (k,) [s] the times at which a scene is sampled.

    These are all key times of the first animation, and times between them at a rate of ``fps`` or
    ``RATE``; weights that are linear between keys need no times between them.

    Args:
        document: the file.
        fps: [1/s]; None: ``RATE``, if needed.
    """
    keys = [document.array(s["input"])[:, 0] for s in _samplers(document)]
    if not keys:
        return np.zeros(1)
    times: Floats = np.unique(np.concatenate(keys))
    if not np.isfinite(times).all() or (times[-1] - times[0]) * (fps or RATE) > MOST_POSES:
        raise ValueError(f"keys from {times[0]:g} to {times[-1]:g} s")
    straight = all(c["target"]["path"] == "weights" for c in _channels(document)) and all(
        s.get("interpolation", "LINEAR") == "LINEAR" for s in _samplers(document)
    )
    if straight and fps is None:
        return times  # weights are linear between keys, as bodies are between frames
    count = int(np.ceil((times[-1] - times[0]) * (fps or RATE) - 1e-6)) + 1
    even = np.minimum(times[0] + np.arange(count) / (fps or RATE), times[-1])
    found: Floats = np.unique(np.concatenate([times, even]))
    apart: Floats = found[np.concatenate([[True], np.diff(found) > 1e-6])]
    return apart


def pose_at(document: Document, t: float) -> ScenePose:
    """Return the pose of the scene at time t [s]."""
    nodes = document.things("nodes")
    moved: dict[int, dict[str, Floats]] = {}
    samplers = _samplers(document)
    for channel in _channels(document):
        target = channel["target"]
        if "node" in target:
            value = _sample(document, samplers[channel["sampler"]], t, target["path"])
            moved.setdefault(target["node"], {})[target["path"]] = value
    local = [_local(node, moved.get(k, {})) for k, node in enumerate(nodes)]
    parent = {c: k for k, node in enumerate(nodes) for c in node.get("children", [])}
    world: dict[int, Floats] = {}
    for k in range(len(nodes)):
        chain = [k]  # from a node up to the first one whose transform is known, or to a root
        while chain[-1] not in world and chain[-1] in parent:
            chain.append(parent[chain[-1]])
            if len(chain) > len(nodes):
                raise ValueError("nodes that are below themselves")
        world.setdefault(chain[-1], local[chain[-1]])
        for above, node in itertools.pairwise(reversed(chain)):
            world[node] = world[above] @ local[node]
    return ScenePose(world, {k: v["weights"] for k, v in moved.items() if "weights" in v})


def _animation(document: Document) -> Json:
    found: Json = (document.things("animations") or [{}])[0]
    return found


def _samplers(document: Document) -> list[Json]:
    return list(_animation(document).get("samplers", []))


def _channels(document: Document) -> list[Json]:
    return list(_animation(document).get("channels", []))


def _sample(document: Document, sampler: Json, t: float, path: str) -> Floats:
    """Return the value of a sampler at time t; it is constant before the first key and after the
    last.
    """
    times = document.array(sampler["input"])[:, 0]
    values = document.array(sampler["output"])
    kind = sampler.get("interpolation", "LINEAR")
    cubic = kind == "CUBICSPLINE"
    rows = values.reshape(len(times), 3 if cubic else 1, -1)
    k = int(np.searchsorted(times, t, side="right")) - 1
    if k < 0 or k >= len(times) - 1:
        return _unit(rows[0 if k < 0 else -1, int(cubic)], path)
    a, b = rows[k, int(cubic)], rows[k + 1, int(cubic)]
    h = times[k + 1] - times[k]
    s = (t - times[k]) / h if h > 0 else 0.0
    if kind == "STEP":
        return _unit(a, path)
    if cubic:
        m, n = h * rows[k, 2], h * rows[k + 1, 0]  # out-tangent of this key, in-tangent of the next
        c2, c3 = s * s, s * s * s
        mixed = (
            (2 * c3 - 3 * c2 + 1) * a
            + (c3 - 2 * c2 + s) * m
            + (3 * c2 - 2 * c3) * b
            + (c3 - c2) * n
        )
        return _unit(mixed, path)
    return _slerp(a, b, s) if path == "rotation" else np.asarray((1 - s) * a + s * b)


def _unit(value: Floats, path: str) -> Floats:
    if path != "rotation":
        return value
    return np.asarray(value / max(float(np.linalg.norm(value)), 1e-300))


def _slerp(a: Floats, b: Floats, s: float) -> Floats:
    """Return the spherical interpolation from quaternion a to b, along the shorter arc."""
    a, b = _unit(a, "rotation"), _unit(b, "rotation")
    cosine = float(a @ b)
    b, cosine = (b, cosine) if cosine >= 0 else (-b, -cosine)
    if cosine > PARALLEL:
        return _unit((1 - s) * a + s * b, "rotation")
    angle = np.arccos(cosine)
    return np.asarray((np.sin((1 - s) * angle) * a + np.sin(s * angle) * b) / np.sin(angle))


def _local(node: Json, moved: Mapping[str, Floats]) -> Floats:
    """Return the transform (4,4) of a node to its parent."""
    M = np.eye(4)
    if "matrix" in node and not moved:
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    x, y, z, w = _unit(
        np.asarray(moved.get("rotation", node.get("rotation", [0, 0, 0, 1])), dtype=np.float64),
        "rotation",
    )
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    scale = np.asarray(moved.get("scale", node.get("scale", [1, 1, 1])), dtype=np.float64)
    M[:3, :3] = R * scale
    M[:3, 3] = moved.get("translation", node.get("translation", [0, 0, 0]))
    return M
