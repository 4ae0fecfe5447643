"""Girths of a sewn garment: closed paths around the body at a level.

A level is a curve of equal height on the sewn surface. Heights follow from two rules. On panels
that reach above the bust, height is that of the panel where it starts. Panels below hang from their
upper edge, so that height is the distance from this edge along the cloth. On a skirt of two half
circles, a level is therefore an arc. One Poisson equation joins the panels: heights are equal on
both sides of a seam, and their gradient on paper is as near to the direction of each face as it can
be (step III of the heat method: Crane, Weischedel & Wardetzky 2013, Geodesics in heat).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from weft.base.arrays import AnyArray, Bools, Floats, Ints, Positions
from weft.discretization.connectivity import component_labels
from weft.discretization.linear_triangle import triangle_gradients
from weft.discretization.mesh import TriangleMesh, unique_edges
from weft.discretization.polygon import normalize

# Vertical part of a seam's outward directions from which it lies across, and over a shoulder.
RING, OVER = 0.3, 0.6
# A facing and its panel are on the same side of the body, or closer to its middle than this [m];
# at their seam, they lie on the same side: the cosine between their outward directions.
ASIDE, FACED = 0.03, 0.7
WINDINGS = 2  # turns around the axis that a path may reach on its way, either way
# Edges meet that start less than this ahead of each other and beside each other [m], and point in
# opposite directions: the cosine.
MEETING, STACKED, FACING = 0.01, 0.1, 0.5
SHORTEST = 1e-12  # [m] length of a step from one side of a seam to the other side


def outward_directions(mesh: TriangleMesh) -> Floats:
    """Return (n,3) the unit direction in which the mesh ends at each vertex, across its border and
    along its faces; NaN inside.
    """
    edges, of = unique_edges(mesh.faces)
    face = np.flatnonzero(np.bincount(of)[of] == 1)
    ends, x = edges[of[face]], mesh.vertices
    along = normalize(x[ends[:, 1]] - x[ends[:, 0]])
    out = x[ends[:, 0]] - x[mesh.faces[face // 3]].mean(axis=1)
    out -= (out * along).sum(axis=1, keepdims=True) * along
    total = np.zeros((len(x), 3))
    np.add.at(total, ends, normalize(out)[:, None])
    total[np.bincount(ends.ravel(), minlength=len(x)) == 0] = np.nan
    return normalize(total)


@dataclass(frozen=True, eq=False)
class SewnPanels:
    """The panels of garments with the seams that close them.

    Args:
        mesh: of the panels where they start; every panel has vertices of its own.
        x: (n,3) [m] where its vertices start: to the left of the body's middle, up, ahead.
        panel: (n,) number of the panel of each vertex.
        seams: (k,2) vertices that every seam brings together.
        folded: faces that a pressed pleat folds behind; the path runs back along them.
    """

    mesh: TriangleMesh
    x: Positions
    panel: Ints
    seams: Sequence[Ints]
    folded: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    @cached_property
    def of_face(self) -> Ints:
        """Return the number of the panel of each face (m,)."""
        return self.panel[self.mesh.faces[:, 0]]

    @cached_property
    def paper(self) -> Floats:
        """Return the vertices (n,2) [m] on paper."""
        flat = self.mesh.vertex_uv
        assert flat is not None, "panels share no vertices"
        return flat

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        """Return the edges (e,2), and those of every face (m,3)."""
        edges, of = unique_edges(self.mesh.faces)
        return edges, of.reshape(-1, 3)

    @cached_property
    def outward(self) -> Floats:
        """Return (n,3) the unit direction out of the panel at its border; NaN inside panels."""
        return outward_directions(self.mesh.with_vertices(self.x))

    @cached_property
    def joining(self) -> list[Ints]:
        """Return the seams without those that sew a panel on another one: on an inner line, or to
        its edge so that both lie on the same side of the seam and of the body, as a facing does.
        """
        return [p for p in self.seams if not (self._is_on_line(p) or self._is_facing(p))]

    def _is_on_line(self, pairs: Ints) -> bool:
        one, two = np.isnan(self.outward[pairs, 0]).any(axis=0)
        return bool(one != two)

    def _is_facing(self, pairs: Ints) -> bool:
        one, two = np.moveaxis(self.outward[pairs], 1, 0)
        panels = self.panel[pairs[0]]
        side, _, ahead = self._middle[panels].prod(axis=0)
        beside = ahead > 0 and side > -(ASIDE**2) and panels[0] != panels[1]
        return bool(beside and (one * two).sum(axis=1).mean() > FACED)

    @cached_property
    def _middle(self) -> Positions:
        """Return the mean vertex (p,3) [m] of every panel."""
        count = np.bincount(self.panel)
        return np.stack([np.bincount(self.panel, x) / count for x in self.x.T], axis=1)

    @cached_property
    def garments(self) -> list[Bools]:
        """Return the panels (p,) of every garment, without pockets and facings: of two parts that
        are sewn on each other, without the smaller one.
        """
        n = int(self.panel.max()) + 1
        part = component_labels(self._links(self.joining), n)
        area = np.bincount(part[self.of_face], self.mesh.rest_area)
        every = component_labels(self._links(self.seams), n)
        dropped = np.zeros(n, dtype=bool)
        for pairs in self.seams:
            one, two = part[self.panel[pairs[0]]].tolist()
            if one != two:
                dropped |= part == (one if area[one] < area[two] else two)
        return [(every == k) & ~dropped for k in range(int(every.max()) + 1)]

    def _links(self, seams: Sequence[Ints]) -> Ints:
        return np.concatenate([np.zeros((0, 2), np.int32), *(self.panel[p] for p in seams)])

    def rises(self, pairs: Ints) -> Floats:
        """Return (2,) the mean vertical part of the outward directions of both sides of a seam."""
        return np.asarray(np.nan_to_num(self.outward[pairs, 1]).mean(axis=0))

    def is_over(self, pairs: Ints, bust: float) -> bool:
        """Return whether a seam closes over a shoulder: above a height [m], at the top of both of
        its panels, which are on the same side of the body.
        """
        x = self.x[pairs]
        above = (self.rises(pairs) > OVER).all() and x[:, :, 1].mean() > bust
        return bool(above and x[:, :, 0].mean(axis=0).prod() > 0)

    def tube(self, own: Bools, up: Floats, bust: float = -np.inf) -> "SewnTube":
        """Return panels that seams close around a limb or the trunk.

        Args:
            own: (p,) its panels.
            up: (3,) direction along its axis.
            bust: [m] height above which a piece has to reach, or it hangs from its upper edge.
        """
        seams = [p for p in self.joining if own[self.panel[p]].all() and not self.is_over(p, bust)]
        faces = np.flatnonzero(own[self.of_face]).astype(np.int32)
        target = triangle_gradients(self.mesh.corner_uv[faces])
        slope = np.einsum("mia,mi->ma", target, (self.x @ up)[self.mesh.faces[faces]])
        level: list[Ints] = []
        for piece in self._pieces(own, seams):
            some = piece[self.of_face[faces]]
            if some.any() and self.x[self.mesh.faces[faces[some]], 1].max() < bust:
                within = [p for p in seams if piece[self.panel[p]].all()]
                top = self._upper_edge(faces[some], within)
                if len(top):
                    level.append(np.column_stack([top[:-1], top[1:]]))
                    slope[some] = self._hanging(faces[some], within, top)
        slope /= np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-12)
        height = self._solve(faces, [*seams, *level], np.einsum("mia,ma->mi", target, slope))
        used = np.unique(self.mesh.faces[faces])
        # Parts that only a shoulder joins have heights of their own.
        part = component_labels(self._links(seams), len(own))[self.panel[used]]
        away = np.bincount(part, self.x[used] @ up - height[used]) / np.maximum(
            np.bincount(part), 1
        )
        height[used] += away[part]
        return SewnTube(self, faces, seams, height)

    def _pieces(self, own: Bools, seams: Sequence[Ints]) -> Iterator[Bools]:
        """Yield the panels (p,) of every part of a tube between seams that lie across it."""
        along = []
        for pairs in seams:
            low, high = sorted(self.rises(pairs).tolist())
            same = self.panel[pairs[0, 0]] == self.panel[pairs[0, 1]]
            along += [] if low < -RING and high > RING and not same else [pairs]
        part = component_labels(self._links(along), len(own))
        for k in np.unique(part[own]).tolist():
            yield own & (part == k)

    def weld(self, seams: Sequence[Ints]) -> Ints:
        """Return (n,) numbers of the vertices; those that seams bring together share one."""
        pairs = np.concatenate([np.zeros((0, 2), np.int32), *seams])
        return component_labels(pairs, len(self.x))

    def _solve(
        self, faces: Ints, seams: Sequence[Ints], load: Floats, fixed: Ints | None = None
    ) -> Floats:
        """Return the vertex values (n,) whose gradient on paper is nearest to a target.

        Args:
            faces: of a tube.
            seams: on which both sides have one value.
            load: (m,3) products of the target with the gradients of each corner's hat function.
            fixed: vertices where the value is 0.
        """
        from scipy.sparse import coo_matrix
        from scipy.sparse.linalg import spsolve

        corners, area = self.mesh.faces[faces], self.mesh.rest_area[faces]
        number = self.weld(seams)
        used, own = np.unique(number[corners], return_inverse=True)
        own, n = own.reshape(-1, 3), len(used)
        hat = triangle_gradients(self.mesh.corner_uv[faces])
        blocks = area[:, None, None] * np.einsum("mia,mja->mij", hat, hat)
        rows, columns = np.repeat(own, 3, axis=1).ravel(), np.tile(own, 3).ravel()
        matrix = coo_matrix((blocks.ravel(), (rows, columns)), shape=(n, n)).tocsr()
        right = np.bincount(own.ravel(), (area[:, None] * load).ravel(), n)
        if fixed is None:  # one vertex of every connected part
            part = component_labels(own[:, [0, 1, 1, 2]].reshape(-1, 2), n)
            held = np.isin(np.arange(n), np.unique(part, return_index=True)[1])
        else:
            held = np.isin(used, number[fixed])
        values = np.zeros(n)
        values[~held] = spsolve(matrix[~held][:, ~held].tocsc(), right[~held])
        found = np.zeros(len(self.x))
        found[corners] = values[own]
        return found

    def _upper_edge(self, faces: Ints, seams: Sequence[Ints]) -> Ints:
        """Return the vertices (k,) of the border that starts highest, of faces that are joined by
        seams.
        """
        number, (edges, of) = self.weld(seams), self.edges
        sides = np.sort(number[edges[of[faces].ravel()]], axis=1)
        every, count = np.unique(sides, axis=0, return_counts=True)
        border = every[count == 1]
        loop = component_labels(border, len(self.x))[number]
        inside = np.isin(number, border)
        inside[np.setdiff1d(np.arange(len(self.x)), self.mesh.faces[faces])] = False
        total = np.bincount(loop[inside], self.x[inside, 1])
        mean = total / np.maximum(np.bincount(loop[inside]), 1)
        at = np.unique(loop[inside])
        if not len(at):
            return np.zeros(0, np.int32)
        top = np.flatnonzero(inside & (loop == at[np.argmax(mean[at])])).astype(np.int32)
        rise = self.outward[top, 1]
        # The border of an open front goes all around: only its upper part holds the panels.
        return np.asarray(top[rise > RING] if rise.min() < -RING else top)

    def _hanging(self, faces: Ints, seams: Sequence[Ints], top: Ints) -> Floats:
        """Return the upward directions (m,2) on paper of faces that hang from their upper edge.

        They are those in which the solution of the Poisson equation with a load of 1, which is 0 on
        that edge, falls.
        """
        u = self._solve(faces, seams, np.full((len(faces), 3), 1 / 3), top)
        hat = triangle_gradients(self.mesh.corner_uv[faces])
        return np.asarray(-np.einsum("mia,mi->ma", hat, u[self.mesh.faces[faces]]))


@dataclass(frozen=True)
class Girth:
    """A closed path around a garment.

    Args:
        length: [m]; infinite if there is no closed path.
        meets: whether it is closed where two edges that are not sewn lie edge to edge or overlap.
        gathered: [m] girth on the longer side of a gathered seam at this level; 0: there is none.
    """

    length: float = np.inf
    meets: bool = False
    gathered: float = 0.0


@dataclass(frozen=True, eq=False)
class SewnTube:
    """Panels that seams close around an axis, with heights along it.

    Args:
        panels: all panels.
        faces: (m,) of the tube.
        seams: inside it.
        height: (n,) [m] of the vertices; equal on both sides of seams.
    """

    panels: SewnPanels
    faces: Ints
    seams: Sequence[Ints]
    height: Floats

    def within(self, own: Bools) -> "SewnTube":
        """Return the tube of some of its panels (p,), with the same heights."""
        return replace(self, faces=self.faces[own[self.panels.of_face[self.faces]]])

    @cached_property
    def span(self) -> tuple[float, float]:
        """Return the lowest and the highest height [m]."""
        own = self.height[self.panels.mesh.faces[self.faces]]
        return float(own.min()), float(own.max())

    @cached_property
    def _joined(self) -> Ints:
        """Return (e,) numbers of the edges; those that seams bring together share one."""
        number, edges = self.panels.weld(self.seams), self.panels.edges[0]
        sides = np.sort(number[edges], axis=1)
        return np.unique(sides, axis=0, return_inverse=True)[1].ravel().astype(np.int32)

    @cached_property
    def _free(self) -> Bools:
        """Return (e,) whether an edge is in no seam of the tube."""
        return np.asarray(np.bincount(self._joined)[self._joined] == 1)

    def girth(self, level: float, around: tuple[Floats, Floats]) -> Girth:
        """Return the length of the shortest closed path around an axis at a level.

        Args:
            level: [m].
            around: points (n,2) [m] of the vertices across the axis, and the axis (2,) [m].
        """
        (edges, of), height = self.panels.edges, self.height - level
        above = height > 0
        corners = above[self.panels.mesh.faces[self.faces]]
        cut = self.faces[corners.any(axis=1) & ~corners.all(axis=1)]
        crossed = above[edges[of[cut]]].sum(axis=2) == 1
        at, ways = np.unique(of[cut][crossed], return_inverse=True)
        i, j = edges[at].T
        share = (height[i] / (height[i] - height[j]))[:, None]
        paper, x = self.panels.paper, around[0] - around[1]
        flat, place = (v[i] + share * (v[j] - v[i]) for v in (paper, x))
        ways = ways.reshape(-1, 2)
        order = np.argsort(self._joined[at], kind="stable")
        same = np.diff(self._joined[at][order]) == 0
        links = np.stack([order[:-1][same], order[1:][same]], axis=1)
        free = self._free[at]
        meeting, overlap = _meeting_ends(ways, np.concatenate([ways, links]), place, free)
        every = np.concatenate([ways, links, meeting])
        length = np.linalg.norm(flat[ways[:, 0]] - flat[ways[:, 1]], axis=1)
        lengths = np.concatenate([length, np.zeros(len(links) + len(meeting))])
        turns = _turns(place[every[:, 0]], place[every[:, 1]])
        # Along a fold of a pleat, the tape does not follow the cloth that lies behind.
        signs = np.where(np.isin(cut, self.panels.folded), -1.0, 1.0)
        tape = np.concatenate([signs * length, np.zeros(len(links)), -overlap])
        found = [
            Girth(float(tape[path].sum()), bool((path >= len(every) - len(meeting)).any()))
            for path in _closed_paths(every, lengths, turns, len(at))
        ]
        return max(found, key=lambda g: g.length, default=Girth())


def _meeting_ends(
    ways: AnyArray, links: AnyArray, place: Floats, free: Bools
) -> tuple[AnyArray, Floats]:
    """Return the pairs of ends (k,2) of open paths that lie edge to edge or overlap, as the fronts
    of a shirt do, and the overlaps (k,) [m].

    Args:
        ways: (w,2) nodes across faces.
        links: (e,2) all links of the paths.
        place: (n,2) [m] where the nodes start.
        free: (n,) whether a node lies on no seam.
    """
    degree, part = (
        np.bincount(links.ravel(), minlength=len(place)),
        component_labels(links, len(place)),
    )
    found, overlap = [], []
    for k in np.unique(part[degree == 1]):
        ends = np.flatnonzero((degree == 1) & (part == k) & free)
        if len(ends) != 2:
            continue
        rows = [ways[(ways == end).any(axis=1)][0] for end in ends]
        ahead = [place[end] - place[row[row != end][0]] for end, row in zip(ends, rows)]
        one, two = (d / max(float(np.linalg.norm(d)), 1e-12) for d in ahead)
        apart = place[ends[1]] - place[ends[0]]
        gap = float(apart @ one)
        beside = float(np.linalg.norm(apart - gap * one))
        if one @ two < -FACING and gap < MEETING and beside < STACKED:
            found.append(ends)
            overlap.append(max(-gap, 0.0))
    return np.array(found, dtype=np.int64).reshape(-1, 2), np.array(overlap)


def _closed_paths(links: AnyArray, lengths: Floats, turns: AnyArray, n: int) -> Iterator[AnyArray]:
    """Yield for each connected part of a graph the links (k,) of its shortest path that goes once
    around an axis.

    Args:
        links: (e,2) nodes.
        lengths: (e,) [m].
        turns: (e,) turns around the axis along each link.
        n: number of nodes.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    # Nodes have a copy for every turn, and links lead from one copy to another.
    copies = np.arange(2 * WINDINGS + 1)[:, None]
    a, b = links[:, 0] + n * copies, links[:, 1] + n * (copies + turns)
    fits = (b >= 0) & (b < n * len(copies))
    size, weights = n * len(copies), np.broadcast_to(lengths + SHORTEST, a.shape)
    graph = coo_matrix((weights[fits], (a[fits], b[fits])), shape=(size, size)).tocsr()
    link = {}
    for k, (i, j) in enumerate(links.tolist()):
        link[i, j] = link[j, i] = k
    starts = np.unique(links[turns != 0, 0])
    part = component_labels(links, n)
    for own in (starts[part[starts] == k] for k in np.unique(part[starts])):
        first = own + n * WINDINGS
        far, before = dijkstra(graph, False, first, return_predecessors=True)
        ends = far[np.arange(len(own)), first + n]
        k = int(np.argmin(ends))
        if np.isfinite(ends[k]):
            path, node = list[int](), int(first[k] + n)
            while node != first[k]:
                last = int(before[k, node])
                path.append(link[last % n, node % n])
                node = last
            yield np.array(path)


def _turns(a: Floats, b: Floats) -> AnyArray:
    """Return (k,) the turns around the origin by which ways from points (k,2) to others cross the
    half line below it: 1, -1 or 0.
    """
    cross = (a[:, 0] < 0) != (b[:, 0] < 0)
    step = np.where(cross, b[:, 0] - a[:, 0], 1.0)
    height = a[:, 1] - a[:, 0] * (b[:, 1] - a[:, 1]) / step
    return np.where(cross & (height < 0), np.sign(b[:, 0] - a[:, 0]), 0).astype(np.int64)
