"""Division of triangles that would coincide with others once seams are closed.

A triangle with two edges on the outline (an ear) and its counterpart on the panel that is sewn to
it would share all three vertices; a triangle whose two outline edges are sewn to each other would
have no area. Inner edges of panels that would coincide with another edge get a vertex in their
middle.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from weft.base.arrays import Faces, Ints
from weft.discretization.mesh import are_among, unique_edges
from weft.plugins.garments.patterns.garment import representatives
from weft.plugins.garments.patterns.panel_mesh import PanelMesh

ROUNDS = 4  # of dividing: a divided edge may coincide with another one again


def split_ears(
    meshes: Mapping[str, PanelMesh], pairs: Callable[[Mapping[str, PanelMesh]], Sequence[Ints]]
) -> dict[str, PanelMesh]:
    """Return the meshes of panels such that no inner edges coincide when seams are closed.

    Args:
        meshes: by panel.
        pairs: returns, for such meshes, the (k,2) vertices that each seam makes one, with all
            panels numbered in turn.
    """
    now = dict(meshes)
    for _ in range(ROUNDS):
        n = sum(len(m.points) for m in now.values())
        welded = representatives(n, pairs(now))
        found = _find_coinciding_edges(now, welded)
        if not any(len(e) for e in found.values()):
            break
        now = {name: _split_edges(m, found[name]) for name, m in now.items()}
    return now


def _find_coinciding_edges(meshes: Mapping[str, PanelMesh], welded: Ints) -> dict[str, Ints]:
    """Return (k,2) the inner edges of every panel that coincide with another edge, or whose two
    ends become one vertex.
    """
    keys, own, start = [], [], 0
    for m in meshes.values():
        edges, of_half_edge = unique_edges(m.faces)
        inner = np.bincount(of_half_edge) == 2
        for line in m.sewn:  # these edges coincide with those of the panel that is sewn on them
            ids = m.lines[line]
            inner &= ~are_among(edges, np.stack([ids[:-1], ids[1:]], axis=1))
        own.append((edges, inner))
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


def _split_edges(mesh: PanelMesh, edges: Ints) -> PanelMesh:
    """Return the mesh with a vertex in the middle of edges; inner lines get these vertices, too."""
    points, faces = mesh.points, mesh.faces
    lines = list(mesh.lines)
    for a, b in edges.tolist():
        middle = len(points)
        points = np.concatenate([points, [(points[a] + points[b]) / 2]])
        faces = _split_faces(faces, a, b, middle)
        lines = [_insert_vertex(line, a, b, middle) for line in lines]
    return replace(mesh, points=points, faces=faces, lines=lines) if len(edges) else mesh


def _split_faces(faces: Faces, a: int, b: int, middle: int) -> Faces:
    """Return the faces with each of the two triangles at an edge divided in two."""
    at = (faces == a).any(axis=1) & (faces == b).any(axis=1)
    both = faces[at]
    one, two = np.where(both == a, middle, both), np.where(both == b, middle, both)
    return np.concatenate([faces[~at], one, two]).astype(np.int32)


def _insert_vertex(line: Ints, a: int, b: int, middle: int) -> Ints:
    """Return a line with a vertex added between two neighboring vertices, if it has these."""
    for i in range(len(line) - 1):
        if {int(line[i]), int(line[i + 1])} == {a, b}:
            return np.insert(line, i + 1, middle).astype(np.int32)
    return line
