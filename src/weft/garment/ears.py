"""Triangles that would fold onto others once seams are closed, divided before.

A triangle with two edges on the outline (an ear) and its like on the panel it is sewn to would
share all three vertices; one whose two outline edges are sewn to each other would have no area. The
edges inside panels that would coincide with another edge get a vertex in their middle.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Faces, Ints
from weft.garment.garment import representatives
from weft.garment.panel_mesh import PanelMesh

ROUNDS = 4


def without_ears(
    meshes: Mapping[str, PanelMesh], pairs: Callable[[Mapping[str, PanelMesh]], Sequence[Ints]]
) -> dict[str, PanelMesh]:
    """Panels whose inner edges stay apart when seams are closed.

    Args:
        meshes: by panel.
        pairs: (k,2) vertices that seams make one, by seam, of panels numbered in turn.
    """
    now = dict(meshes)
    for _ in range(ROUNDS):
        n = sum(len(m.points) for m in now.values())
        welded = representatives(n, pairs(now))
        found = _coinciding(now, welded)
        if not any(len(e) for e in found.values()):
            break
        now = {name: _divided(m, found[name]) for name, m in now.items()}
    return now


def _coinciding(meshes: Mapping[str, PanelMesh], welded: Ints) -> dict[str, Ints]:
    """(k,2) inner edges of every panel that coincide with another edge, or close on themselves."""
    keys, own, start = [], [], 0
    for m in meshes.values():
        half = np.stack([m.faces, np.roll(m.faces, -1, axis=1)], axis=-1).reshape(-1, 2)
        edges, count = np.unique(np.sort(half, axis=1), axis=0, return_counts=True)
        own.append((edges, count == 2))
        keys.append(np.sort(welded[edges + start], axis=1).astype(np.int64))
        start += len(m.points)
    every = np.concatenate(keys)
    flat = every[:, 0] * start + every[:, 1]
    _, inverse, times = np.unique(flat, return_inverse=True, return_counts=True)
    bad = (times[inverse.reshape(-1)] > 1) | (every[:, 0] == every[:, 1])
    found, at = {}, 0
    for (name, _), (edges, inner) in zip(meshes.items(), own):
        found[name] = edges[bad[at : at + len(edges)] & inner]
        at += len(edges)
    return found


def _divided(mesh: PanelMesh, edges: Ints) -> PanelMesh:
    """The mesh with a vertex in the middle of edges; lines keep to them."""
    points, faces = mesh.points, mesh.faces
    lines = list(mesh.lines)
    for a, b in edges.tolist():
        middle = len(points)
        points = np.concatenate([points, [(points[a] + points[b]) / 2]])
        faces = _split(faces, a, b, middle)
        lines = [_with_point(line, a, b, middle) for line in lines]
    return replace(mesh, points=points, faces=faces, lines=lines) if len(edges) else mesh


def _split(faces: Faces, a: int, b: int, middle: int) -> Faces:
    """The two triangles at an edge as four."""
    at = (faces == a).any(axis=1) & (faces == b).any(axis=1)
    both = faces[at]
    one, two = np.where(both == a, middle, both), np.where(both == b, middle, both)
    return np.concatenate([faces[~at], one, two]).astype(np.int32)


def _with_point(line: Ints, a: int, b: int, middle: int) -> Ints:
    """A line with a vertex added between two of its neighbors."""
    for i in range(len(line) - 1):
        if {int(line[i]), int(line[i + 1])} == {a, b}:
            return np.insert(line, i + 1, middle).astype(np.int32)
    return line
