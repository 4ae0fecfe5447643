"""Faults of triangle meshes: mixed winding, vertices that coincide, edges that bend freely.

Faces of an orientable surface are turned so that neighbors agree (``turned_faces``). What remains
is described with its consequence for the simulation (``mesh_faults``).
"""

import dataclasses
import warnings
from collections.abc import Iterator

import numpy as np

from weft.base.arrays import AnyArray, Bools, Ints
from weft.base.errors import point_text
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import TriangleMesh, half_edges, unique_edges
from weft.discretization.weld import join_vertices, round_off, weld_vertices

ON_EDGE = 1e-3  # distance of a T-junction's vertex from the edge, over the length of the edge
SHOWN = 3  # places in a message


def turned_faces(faces: Ints) -> Bools:
    """Return which faces (m,3) are to be turned so that neighbors have the same orientation.

    Edges with two faces join neighbors. Of every connected part of the surface the larger number of
    faces stays as it is. A part with one side only (a Möbius band) is oriented along a tree of
    neighbors, so that faces disagree along a line alone.
    """
    m = len(faces)
    if not _disagree(faces).any():
        return np.zeros(m, dtype=bool)
    first, second, other = _neighbors(faces)
    # Every face is a node twice: as it is, and turned. Neighbors join nodes that agree.
    one = np.concatenate([first, first + m])
    two = np.concatenate([np.where(other, second + m, second), np.where(other, second, second + m)])
    label = component_labels(np.stack([one, two], axis=1), 2 * m)
    low, high = np.minimum(label[:m], label[m:]), np.maximum(label[:m], label[m:])
    side = label[:m] == high
    turned, stay = np.bincount(low, side, 2 * m), np.bincount(low, ~side, 2 * m)
    turn = np.where((turned > stay)[low], ~side, side)
    for part in np.unique(low[low == high]):
        ids = np.flatnonzero(low == part)
        own = low[first] == part
        edges = np.searchsorted(ids, np.stack([first[own], second[own]])).astype(np.int32)
        turn[ids] = _along_a_tree(len(ids), edges, other[own])
    return np.asarray(turn)


def _disagree(faces: Ints) -> Bools:
    """Return which half-edges of faces come a second time in the same direction."""
    start, end = half_edges(faces).astype(np.int64).T
    key = start * (int(faces.max(initial=0)) + 1) + end
    return np.asarray(np.bincount(np.unique(key, return_inverse=True)[1]) > 1)


def _neighbors(faces: Ints) -> tuple[Ints, Ints, Bools]:
    """Return pairs of faces that share an edge with no third one, (k,) and (k,), and whether they
    run along it in the same direction, so that their orientations differ.
    """
    edges, edge_of = unique_edges(faces)
    order = np.argsort(edge_of, kind="stable")
    start = np.searchsorted(edge_of[order], np.arange(len(edges)))
    start = start[np.bincount(edge_of, minlength=len(edges)) == 2]
    a, b = order[start], order[start + 1]
    corner = faces.reshape(-1)
    return a // 3, b // 3, corner[a] == corner[b]


def _along_a_tree(n: int, pairs: Ints, other: Bools) -> Bools:
    """Return which of n faces to turn so that those along a tree of neighbors agree."""
    import scipy.sparse as sp

    weight = np.where(other, 2, 1)  # 0 would be no edge
    graph = sp.coo_matrix((weight, (pairs[0], pairs[1])), shape=(n, n)).tocsr()
    order, before = sp.csgraph.breadth_first_order(graph, 0, directed=False)
    graph = graph + graph.T
    turn = np.zeros(n, dtype=bool)
    for k in order[1:]:
        turn[k] = turn[before[k]] != (graph[k, before[k]] == 2)
    return turn


def orient(mesh: TriangleMesh) -> TriangleMesh:
    """Return a mesh whose faces agree in orientation; a warning says how many are turned."""
    turn = turned_faces(mesh.faces)
    if not turn.any():
        return mesh
    warn_of_turned(turn, mesh.source)
    faces, uv = turn_corners(mesh.faces, turn), turn_corners(mesh.corner_uv, turn)
    return dataclasses.replace(mesh, faces=faces, corner_uv=uv)


def turn_corners(values: AnyArray, turn: Bools) -> AnyArray:
    """Return values (m,3,...) at the corners of faces, some of which are turned."""
    return np.where(turn.reshape(-1, *[1] * (values.ndim - 1)), values[:, ::-1], values)


def warn_of_turned(turn: Bools, source: str) -> None:
    """Warn of faces that are turned, where there are any."""
    if turn.any():
        warnings.warn(
            f"{source}: {turn.sum()} of {len(turn)} faces (first {turn.argmax()}) had the "
            "opposite orientation of their neighbors; weft turned them",
            stacklevel=3,
        )


def mesh_faults(mesh: TriangleMesh, tied: Ints | None = None) -> Iterator[str]:
    """Yield a text for each kind of fault of a mesh, with count, places and consequence.

    Args:
        mesh: faces whose orientations agree as far as they can.
        tied: (k,2) vertices that something else connects; None: none.
    """
    yield from _coinciding(mesh, tied)
    junctions = list(_junctions(mesh))
    yield from junctions
    yield from _several_faces(mesh)
    edges = mesh.one_sided_edges
    if len(edges):
        yield (
            f"{mesh.source}: the surface has only one side (non-orientable, like a Möbius band). "
            f"Its front meets its back at {len(edges)} edges ({_edges_text(mesh, edges)}). The "
            "cloth bends there normally, but pressure needs two sides, and pictures change color "
            "there"
        )
    if not junctions:  # whose edges connect pieces at their ends alone
        yield from _pinched(mesh)


def coinciding_vertices(mesh: TriangleMesh, tied: Ints | None = None) -> Ints:
    """Return (k,2) vertices of the border that coincide and are not connected, the lower one first.

    Args:
        mesh: the mesh.
        tied: (k,2) vertices that something else connects; None: none.
    """
    x, border = mesh.vertices, mesh.boundary
    if not len(border):
        return np.zeros((0, 2), dtype=np.int32)
    lowest = border[join_vertices(x[border], round_off(x))]
    pairs = np.stack([lowest, border], axis=1)[border != lowest]
    if tied is not None and len(tied) and len(pairs):
        label = component_labels(tied, len(x))[pairs]
        pairs = pairs[label[:, 0] != label[:, 1]]
    return np.asarray(pairs, dtype=np.int32)


def _coinciding(mesh: TriangleMesh, tied: Ints | None) -> Iterator[str]:
    """Yield texts about vertices that coincide and are not connected, and what lies on what."""
    pairs = coinciding_vertices(mesh, tied)
    if not len(pairs):
        return
    places, first = np.unique(pairs[:, 0], return_index=True)
    shown = ", ".join(
        f"{a} and {b} near ({point_text(mesh.vertices[a])})"
        for a, b in pairs[first[:SHOWN]].tolist()
    )
    yield (
        f"{mesh.source}: {len(places) + len(pairs)} vertices coincide at {len(places)} places "
        f"and are not connected (first {shown}): the cloth separates there. Texture coordinates "
        "or flat shading may have split them. `weld: true` of the mesh (weft.load(..., "
        "weld=True)) joins them; `weld: 1 mm` also joins vertices within 1 mm"
    )
    joined = np.sort(weld_vertices(mesh.vertices, mesh.faces, True, mesh.source).faces, axis=1)
    doubled = len(joined) - len(np.unique(joined, axis=0))
    if doubled:
        yield (
            f"{mesh.source}: {doubled} of {len(mesh.faces)} faces lie on others (double-sided): "
            "the cloth has twice its mass there. Remove one side"
        )


def _junctions(mesh: TriangleMesh) -> Iterator[str]:
    """Yield a text about vertices of the border that lie on an edge of the border, between its
    ends.
    """
    from scipy.spatial import cKDTree

    x, edges, border = mesh.vertices, mesh.boundary_edges, mesh.boundary
    if not len(edges):
        return
    a, way = x[edges[:, 0]], x[edges[:, 1]] - x[edges[:, 0]]
    length = np.linalg.norm(way, axis=1)
    reach = length * (0.5 + ON_EDGE)
    near = cKDTree(x[border]).query_ball_point(a + way / 2, reach)
    row = np.repeat(np.arange(len(edges)), [len(ids) for ids in near])
    vertex = border[np.concatenate([np.zeros(0), *near]).astype(np.int64)]
    along = x[vertex] - a[row]
    share = np.einsum("ki,ki->k", along, way[row]) / np.maximum(length[row] ** 2, 1e-300)
    off = np.linalg.norm(along - share[:, None] * way[row], axis=1)
    inside = (share > 2 * ON_EDGE) & (share < 1 - 2 * ON_EDGE) & (off < ON_EDGE * length[row])
    found, first = np.unique(vertex[inside], return_index=True)
    if len(found):
        rows = np.flatnonzero(inside)[first[:SHOWN]]
        shown = ", ".join(
            f"{v} on {i}-{j} near ({point_text(x[v])})"
            for v, (i, j) in zip(vertex[rows].tolist(), edges[row[rows]].tolist())
        )
        yield (
            f"{mesh.source}: {len(found)} vertices lie in the middle of edges of other faces "
            f"(T-junctions; first {shown}): the cloth is open along these edges. Divide the "
            "edges there"
        )


def _several_faces(mesh: TriangleMesh) -> Iterator[str]:
    """Yield texts about faces that lie on others, and about edges with more than two faces."""
    many = mesh.non_manifold_edges
    if not len(many):  # faces on others share an edge with them, and with neighbors
        return
    key = np.sort(mesh.faces, axis=1)
    _, first, count = np.unique(key, axis=0, return_index=True, return_counts=True)
    fins = many
    if (count > 1).any():
        doubled = first[count > 1]
        once = dataclasses.replace(
            mesh,
            faces=mesh.faces[np.sort(first)],
            corner_uv=mesh.corner_uv[np.sort(first)],
            regions={},
        )
        fins = once.non_manifold_edges
        place = point_text(mesh.vertices[mesh.faces[doubled[0]]].mean(axis=0))
        yield (
            f"{mesh.source}: {len(doubled)} of {len(mesh.faces)} faces lie on others with the same "
            f"vertices (double-sided; first {doubled[0]} near ({place})): the cloth has twice its "
            f"mass and stiffness there, and bends freely at {len(many) - len(fins)} edges. Remove "
            "one side"
        )
    if len(fins):
        yield (
            f"{mesh.source}: {len(fins)} non-manifold edges ({_edges_text(mesh, fins)}) have more "
            "than two faces: the cloth bends freely there"
        )


def _pinched(mesh: TriangleMesh) -> Iterator[str]:
    """Yield a text about vertices that connect pieces of cloth which share no edge there."""
    n = mesh.n_vertices
    # Around a vertex every fan of faces that is open has one edge more than faces.
    fans = np.bincount(mesh.edges.ravel(), minlength=n) - np.bincount(mesh.faces.ravel(), None, n)
    found = np.flatnonzero(fans > 1)
    if len(found):
        shown = ", ".join(f"{v} near ({point_text(mesh.vertices[v])})" for v in found[:SHOWN])
        yield (
            f"{mesh.source}: {len(found)} vertices connect pieces that share no edge there (first "
            f"{shown}): the cloth turns freely about them"
        )


def _edges_text(mesh: TriangleMesh, edges: Ints) -> str:
    """Return the first edges (k,2), with the places of their middles."""
    shown = (
        f"{a}-{b} near ({point_text(mesh.vertices[[a, b]].mean(axis=0))})"
        for a, b in edges[:SHOWN].tolist()
    )
    return f"first {', '.join(shown)}"
