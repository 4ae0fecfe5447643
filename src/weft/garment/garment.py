"""A garment cut from its pattern: one mesh of panels that start apart, and how they are sewn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import check_known
from weft.discretization.mesh import TriangleMesh
from weft.garment.check import Match
from weft.garment.pattern import Closing, Elastic, Panel, Pattern, PatternFold, Seam
from weft.garment.sampling import corner_angles

PATCH_TURN = np.radians(20.0)  # as where corners of patches are looked for (docs/splines.md)


@dataclass(frozen=True, eq=False)
class SeamLine:
    """A seam's vertices.

    Args:
        match: the seam, its chains and which way round they are.
        pairs: (k,2) vertices of the first and second chain that meet, from the first's beginning
            on. Where an edge of one chain ends between two panels, two pairs share a vertex.
        fractions: (k,) of the first chain's length at which they stand.
        segments: (m,2) rows of ``pairs`` between which both sides have an edge of the mesh.
    """

    match: Match
    pairs: Ints
    fractions: Floats
    segments: Ints

    @property
    def seam(self) -> Seam:
        """What the pattern says."""
        return self.match.seam

    @property
    def lengths(self) -> tuple[float, float]:
        """[m] of the two chains on paper."""
        return self.match.first.length, self.match.second.length

    @property
    def edges(self) -> Ints:
        """(m,2,2) vertices of the segments: of the first and second chain, in seam direction."""
        return np.ascontiguousarray(self.pairs[self.segments].transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class FoldLine:
    """A fold's vertices in turn, (k,), along edges of the mesh."""

    panel: str
    fold: PatternFold
    vertices: Ints


@dataclass(frozen=True, eq=False)
class ElasticLine:
    """An elastic's vertices in turn: (k,2) edges of the mesh along its chain."""

    elastic: Elastic
    edges: Ints
    length: float  # [m] of the chain on paper


@dataclass(frozen=True, eq=False)
class Garment:
    """Panels as one mesh, where they start; every panel has vertices of its own.

    Args:
        pattern: what it was cut from.
        mesh: all panels. Material coordinates are those of the panels, with the warp along u, one
            panel beside the other; groups are the panels and their named edges (``front.hem``).
        flat: (n,2) [m] in the panels' planes.
        vertices, faces: ranges of ids by panel.
        outline: vertices of every edge of every panel, both corners included, in its direction.
        seams: in the pattern's order.
        folds, elastics: likewise.
        warnings: worth knowing.
    """

    pattern: Pattern
    mesh: TriangleMesh
    flat: Floats
    vertices: Mapping[str, range]
    faces: Mapping[str, range]
    outline: Mapping[tuple[str, int], Ints]
    seams: Sequence[SeamLine]
    folds: Sequence[FoldLine]
    elastics: Sequence[ElasticLine]
    warnings: Sequence[str]

    def panel(self, name: str) -> Panel:
        """A panel by name; PatternError where there is none."""
        check_known(name, self.vertices, "panel")
        return self.pattern.panel(name)

    def fabric_of(self, panel: str) -> Any:
        """What a panel is made of, as the pattern says it."""
        own = self.panel(panel).fabric
        return self.pattern.fabric if own is None else own

    def panel_mesh(self, name: str) -> TriangleMesh:
        """One panel alone, where it starts, with its named edges as groups."""
        ids, faces, mesh = self.vertices[name], self.faces[name], self.mesh
        own = slice(faces.start, faces.stop)
        groups = {
            group.removeprefix(f"{name}."): members - ids.start
            for group, members in mesh.groups.items()
            if group.startswith(f"{name}.")
        }
        x, corners = mesh.vertices[ids.start : ids.stop], mesh.faces[own] - ids.start
        return TriangleMesh(x, corners, mesh.corner_uv[own], groups, mesh.source)

    def edge_vertices(self, panel: str, edge: int | str) -> Ints:
        """Vertices of an edge from its corner to the next one; of a name's edges in turn."""
        if isinstance(edge, int):
            return self.outline[panel, edge % len(self.panel(panel).corners)]
        edges = edges_named(self.panel(panel), edge)
        every = np.concatenate([self.outline[panel, e] for e in edges])
        repeated = np.concatenate([[False], every[1:] == every[:-1]])
        return np.asarray(every[~repeated])

    def patch_corners(self, least_turn: float = PATCH_TURN) -> list[Ints]:
        """Vertices of every panel's corners at which its outline turns by more than ``least_turn``
        [rad]: where there are four, ``as_splines`` fits a patch with these ``corners``.
        """
        found = []
        for panel in self.pattern.panels:
            turns = np.abs(np.pi - corner_angles(panel)) > least_turn
            ids = [self.outline[panel.name, e][0] for e in np.flatnonzero(turns).tolist()]
            found.append(np.array(ids, dtype=np.int32))
        return found

    def seam(self, name: str) -> SeamLine:
        """A seam by name."""
        check_known(name, [s.seam.name for s in self.seams], "seam")
        return next(s for s in self.seams if s.seam.name == name)

    @cached_property
    def welded(self) -> Ints:
        """(n,) the least id of the vertices that every vertex is one with once all seams that are
        sewn for good are closed.
        """
        sewn = [s.pairs for s in self.seams if s.seam.closing is Closing.SEWN]
        return representatives(self.mesh.n_vertices, sewn)

    def weld(self, x: Positions) -> tuple[TriangleMesh, Ints]:
        """The mesh with sewn seams closed, and (n,) where each vertex went.

        Args:
            x: (n,3) [m] positions; vertices that become one meet in their middle.

        Raises:
            MeshError: positions that are not finite.
        """
        x, new = merged(self.welded, np.asarray(x, dtype=np.float64))
        groups = {k: np.unique(new[v]).astype(np.int32) for k, v in self.mesh.groups.items()}
        faces = new[self.mesh.faces]
        source = f"{self.mesh.source}, sewn"
        mesh = TriangleMesh(x, faces, self.mesh.corner_uv, groups, source)
        return mesh, new


def edges_named(panel: Panel, name: str) -> list[int]:
    """Numbers of the edges of a name, in turn along the outline; or of the edge of a number.

    Raises:
        WeftError: there is none.
    """
    found = [i for i, e in enumerate(panel.edges) if e.name == name]
    k = len(panel.edges)
    if not found and name.isdecimal() and int(name) < k:
        return [int(name)]
    known = list(dict.fromkeys(e.name or str(i) for i, e in enumerate(panel.edges)))
    check_known(name, known, f"edge of panel {panel.name}")
    # They begin after the largest gap: a name may go over the last corner.
    gaps = [(b - a) % k or k for a, b in zip([found[-1], *found], found)]
    first = gaps.index(max(gaps))
    return found[first:] + found[:first]


def merged(sewn: Ints, x: Positions) -> tuple[Positions, Ints]:
    """(m,3) [m] vertices, what is sewn together in its middle; and (n,) where each one went.

    Args:
        sewn: (n,) one number for what becomes one.
        x: (n,3) [m].
    """
    old, new = np.unique(sewn, return_inverse=True)
    total = np.zeros((len(old), 3))
    np.add.at(total, new, x)
    return total / np.bincount(new)[:, None], new.astype(np.int32)


def representatives(n: int, pairs: Sequence[Ints]) -> Ints:
    """(n,) the least id of the vertices that pairs (k,2) make one with each."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    every = np.concatenate([np.zeros((0, 2), dtype=np.int32), *pairs])
    graph = coo_matrix((np.ones(len(every)), (every[:, 0], every[:, 1])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    least = np.full(label.max() + 1, n)
    np.minimum.at(least, label, np.arange(n))
    return np.asarray(least[label], dtype=np.int32)
