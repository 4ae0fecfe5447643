"""Garments: one mesh of panels that start apart in space, with their seams, folds and elastics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import check_known
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import contains
from weft.discretization.weld import merge_vertices
from weft.plugins.garments.patterns.edge_chains import Match
from weft.plugins.garments.patterns.pattern import (
    Closing,
    Elastic,
    Panel,
    Pattern,
    PatternFold,
    Seam,
)
from weft.plugins.garments.patterns.sampling import corner_angles

if TYPE_CHECKING:
    pass

ROUND = 4  # least number of points at which an elastic is sewn to a closed line
# The turn at which a spline patch has a corner (docs/explanations/splines.md).
PATCH_TURN = np.radians(20.0)


@dataclass(frozen=True, eq=False)
class SeamLine:
    """The vertices of a seam.

    Args:
        match: the seam, its chains and their orientation.
        pairs: (k,2) vertices of the first and the second chain that meet, from the beginning of the
            first chain on. Where an edge of one chain ends between two panels, two pairs share a
            vertex.
        fractions: (k,) positions of the pairs, as fractions of the first chain's length.
        segments: (m,2) rows of ``pairs`` between which both sides have an edge of the mesh.
    """

    match: Match
    pairs: Ints
    fractions: Floats
    segments: Ints

    @property
    def seam(self) -> Seam:
        """Return the seam as the pattern defines it."""
        return self.match.seam

    @property
    def lengths(self) -> tuple[float, float]:
        """Return the lengths [m] of the two chains on paper."""
        return self.match.first.length, self.match.second.length

    @property
    def edges(self) -> Ints:
        """Return the vertices (m,2,2) of the segments on the first and second chain, in seam
        direction.
        """
        return np.ascontiguousarray(self.pairs[self.segments].transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class FoldLine:
    """The vertices (k,) of a fold in their order, along edges of the mesh."""

    panel: str
    fold: PatternFold
    vertices: Ints


@dataclass(frozen=True, eq=False)
class ElasticLine:
    """The edges (k,2) of the mesh along the chain of an elastic, in their order.

    Args:
        elastic: the elastic as the pattern defines it.
        edges: (k,2) vertices.
        length: [m] of the chain on paper.
        fold: [m] length of the folds into which it gathers the cloth.
    """

    elastic: Elastic
    edges: Ints
    length: float
    fold: float

    def stitches(self, lengths: Floats) -> list[slice]:
        """Return the runs of edges between the points at which the elastic is sewn to the cloth.

        Between two of them the cloth makes one fold: the elastic pulls points together that are
        ``fold`` apart on paper, and compresses no edge of the mesh.

        Args:
            lengths: (k,) [m] of the edges.
        """
        apart = np.flatnonzero(self.edges[1:, 0] != self.edges[:-1, 1]) + 1  # to the next panel
        found = []
        for run in np.split(np.arange(len(self.edges)), apart):
            along = np.cumsum(lengths[run])
            closed = self.edges[run[0], 0] == self.edges[run[-1], 1]
            n = max(ROUND if closed else 1, round(float(along[-1]) / self.fold))
            ends = np.searchsorted(along, np.arange(1, n) * along[-1] / n - along[0] / 2) + 1
            marks = np.unique([0, *ends.tolist(), len(run)])
            found += [slice(run[0] + a, run[0] + b) for a, b in pairwise(marks.tolist())]
        return found


@dataclass(frozen=True, eq=False)
class Garment:
    """Panels as one mesh at their start positions; every panel has vertices of its own.

    Args:
        pattern: the pattern from which the garment was cut.
        mesh: all panels. Material coordinates are those of the panels, with the warp along u, one
            panel beside the other; groups are the panels and their named edges (``front.hem``).
        flat: (n,2) [m] vertices in the planes of their panels.
        vertices, faces: ranges of ids by panel.
        outline: vertices of every edge and inner line of every panel, both ends included, in the
            edge's direction, by panel and edge number.
        seams: in the pattern's order.
        folds, elastics: in the pattern's order.
        warnings: messages about the pattern that are no errors.
        fitted: whether its panels start where the body says.
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
    fitted: bool = False

    def panel(self, name: str) -> Panel:
        """Return a panel by name.

        Raises:
            PatternError: there is no panel of this name.
        """
        check_known(name, self.vertices, "panel")
        return self.pattern.panel(name)

    def panel_mesh(self, name: str) -> TriangleMesh:
        """Return the mesh of one panel at its start position, with its named edges as groups."""
        ids, faces, mesh = self.vertices[name], self.faces[name], self.mesh
        own = slice(faces.start, faces.stop)
        groups = {
            group.removeprefix(f"{name}."): members - ids.start
            for group, members in mesh.groups.items()
            if group.startswith(f"{name}.")
        }
        x, corners = mesh.vertices[ids.start : ids.stop], mesh.faces[own] - ids.start
        weights = {name: w[ids.start : ids.stop] for name, w in mesh.weights.items()}
        return TriangleMesh(x, corners, mesh.corner_uv[own], groups, mesh.source, weights)

    def edge_vertices(self, panel: str, edge: int | str) -> Ints:
        """Return the vertices of an edge, from its corner to the next one.

        Args:
            panel: name of the panel.
            edge: number of the edge or inner line; or a name, for the vertices of all its edges in
                turn.
        """
        if isinstance(edge, int):
            return self.outline[panel, edge % len(self.panel(panel).edge_names)]
        edges = named_edges(self.panel(panel), edge)
        every = np.concatenate([self.outline[panel, e] for e in edges])
        repeated = np.concatenate([[False], every[1:] == every[:-1]])
        return np.asarray(every[~repeated])

    @cached_property
    def folded(self) -> Ints:
        """Return the faces that lie behind others, between the two pressed folds of a pleat.

        Folds that follow each other in a panel are those of a pleat if one is a mountain and the
        other one a valley, and both turn by more than 90 degrees.
        """
        found: list[Ints] = [np.zeros(0, dtype=np.int32)]
        for panel in self.pattern.panels:
            own = np.array(self.faces[panel.name], dtype=np.int32)
            middle = self.flat[self.mesh.faces[own]].mean(axis=1)
            folds = [f for f in panel.folds if abs(f.angle) > np.pi / 2]
            while len(folds) > 1:
                one, two = folds[:2]
                is_pleat = one.angle * two.angle < 0
                folds = folds[2 if is_pleat else 1 :]
                if is_pleat:
                    found.append(own[contains([_strip(one.points, two.points)], middle)])
        return np.concatenate(found)

    def patch_corners(self) -> list[Ints]:
        """Return the vertices of every panel's corners at which its outline turns sharply.

        For a panel with four of them, ``as_splines`` fits a patch with these ``corners``.
        """
        found = []
        for panel in self.pattern.panels:
            turns = np.abs(np.pi - corner_angles(panel)) > PATCH_TURN
            ids = [self.outline[panel.name, e][0] for e in np.flatnonzero(turns).tolist()]
            found.append(np.array(ids, dtype=np.int32))
        return found

    def seam(self, name: str) -> SeamLine:
        """Return the vertices of a seam by its name."""
        check_known(name, [s.seam.name for s in self.seams], "seam")
        return next(s for s in self.seams if s.seam.name == name)

    @cached_property
    def weld_ids(self) -> Ints:
        """Return (n,) for every vertex the smallest id of the vertices that are sewn to it.

        Only seams of kind ``SEWN`` count.
        """
        sewn = [s.pairs for s in self.seams if s.seam.closing is Closing.SEWN]
        return representatives(self.mesh.n_vertices, sewn)

    def weld(self, x: Positions) -> tuple[TriangleMesh, Ints]:
        """Return the mesh with its sewn seams closed, and (n,) the new id of every vertex.

        Args:
            x: (n,3) [m] positions; vertices that become one are put at their mean.

        Raises:
            MeshError: positions that are not finite.
        """
        x, new = merge_vertices(self.weld_ids, np.asarray(x, dtype=np.float64))
        groups = {k: np.unique(new[v]).astype(np.int32) for k, v in self.mesh.groups.items()}
        faces = new[self.mesh.faces]
        source = f"{self.mesh.source}, sewn"
        mesh = TriangleMesh(x, faces, self.mesh.corner_uv, groups, source)
        return mesh, new


def _strip(one: Floats, two: Floats) -> Floats:
    """Return the polygon (n,2) [m] between two lines (k,2)."""
    apart, crossed = (np.linalg.norm(one[-1] - end) for end in (two[-1], two[0]))
    return np.concatenate([one, two[::-1] if apart < crossed else two])


def named_edges(panel: Panel, name: str) -> list[int]:
    """Return the numbers of the edges with a name, in turn along the outline.

    Args:
        panel: the panel.
        name: of edges or inner lines; or the number of one, as text.

    Raises:
        WeftError: the panel has no such edge.
    """
    found = [i for i, n in enumerate(panel.edge_names) if n == name]
    k, every = len(panel.edges), range(len(panel.edge_names))
    if not found and name.isdecimal() and int(name) in every:
        return [int(name)]
    known = list(dict.fromkeys(panel.edge_name(i) for i in every))
    check_known(name, known, f"edge or line of panel {panel.name}")
    if found[-1] >= k:  # inner lines do not go around
        return found
    # The list begins after the largest gap, because edges of one name may go past the last corner.
    gaps = [(b - a) % k or k for a, b in zip([found[-1], *found], found)]
    first = gaps.index(max(gaps))
    return found[first:] + found[:first]


def representatives(n: int, pairs: Sequence[Ints]) -> Ints:
    """Return (n,) for every vertex the smallest id of its class.

    Args:
        n: number of vertices.
        pairs: arrays (k,2) of vertices that belong to the same class.
    """
    label = component_labels(np.concatenate([np.zeros((0, 2), dtype=np.int32), *pairs]), n)
    least = np.full(label.max() + 1, n)
    np.minimum.at(least, label, np.arange(n))
    return np.asarray(least[label], dtype=np.int32)
