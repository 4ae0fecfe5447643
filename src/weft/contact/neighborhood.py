"""Candidates of ways that stay near one another, looked for again only where something has left.

Every vertex has the box of the way that its candidates were found for. While all stay near theirs,
the candidates hold (Verlet 1967); where a few leave, only these look for others again, in the same
hierarchies. Of every pair a lower bound of its distance is known, from when it was last computed
and how far its vertices have been from where they were: most pairs need not be looked at.

Where cloth moves as a whole, boxes are those of its ways beside its mean: what flies together is
not near everything that flies past the same place.
"""

from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.contact.boxes import Boxes, Primitives
from weft.contact.broad_phase import Moved, Others, Overlaps, Tree
from weft.contact.candidates import UNKNOWN, Candidates
from weft.contact.collision_mesh import CollisionMesh, Excluded, Trees
from weft.kernel import Scalar, WarpArray, vec3

_module = wp.get_module("weft.neighborhood")
SPARE = 0.25  # of the reach: how far anything may leave a way before candidates are found anew
FAR = 0.5  # of the reach, on average: how far from there distances are bounded anew
FEW = 0.3  # of the vertices: where more have left, everything is looked for


@wp.func
def leaves(a: vec3, b: vec3, low: vec3, high: vec3, spare: Scalar):
    """1 where the way from a to b leaves a box by more than ``spare``."""
    out = int(0)
    for k in range(3):
        if wp.min(a[k], b[k]) < low[k] - spare or wp.max(a[k], b[k]) > high[k] + spare:
            out = 1
    return out


@wp.kernel(module=_module)
def leave(
    o: int,
    y: wp.array(dtype=vec3),
    end: wp.array(dtype=vec3),
    low: wp.array(dtype=vec3),
    high: wp.array(dtype=vec3),
    here: vec3,
    there: vec3,
    spare: Scalar,
    left: wp.array(dtype=wp.int32),
):
    """Which ways leave their boxes."""
    v = o + wp.tid()
    left[v] = leaves(y[v] - here, end[v] - there, low[v], high[v], spare)


@wp.kernel(module=_module)
def measure(
    o: int,
    y: wp.array(dtype=vec3),
    end: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    away: wp.array(dtype=Scalar),
):
    """How far a way leads at most from where distances are bounded from."""
    v = o + wp.tid()
    away[v] = wp.max(wp.length(y[v] - origin[v]), wp.length(end[v] - origin[v]))


@wp.kernel(module=_module)
def enclose(
    o: int,
    y: wp.array(dtype=vec3),
    end: wp.array(dtype=vec3),
    here: vec3,
    there: vec3,
    left: wp.array(dtype=wp.int32),
    low: wp.array(dtype=vec3),
    high: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
):
    """Boxes of the ways that have left theirs."""
    v = o + wp.tid()
    if left[v] != 0:
        a = y[v] - here
        b = end[v] - there
        low[v] = wp.min(a, b)
        high[v] = wp.max(a, b)
        origin[v] = y[v]


@wp.kernel(module=_module)
def mark_moved(
    o: int,
    ids: wp.array2d(dtype=wp.int32),
    left: wp.array(dtype=wp.int32),
    out: wp.array(dtype=wp.int32),
):
    """1 for primitives with a vertex that has left its box."""
    i = o + wp.tid()
    found = int(0)
    for a in range(ids.shape[1]):
        if left[ids[i, a]] != 0:
            found = 1
    out[i] = found


@wp.kernel(module=_module)
def mark_kept(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    left: wp.array(dtype=wp.int32),
    out: wp.array(dtype=wp.int32),
):
    """1 for pairs without such a vertex."""
    i = o + wp.tid()
    kept = int(1)
    for a in range(4):
        if left[stencil[i, a]] != 0:
            kept = 0
    out[i] = kept


@wp.kernel(module=_module)
def keep(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    bound: wp.array(dtype=Scalar),
    kept: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    points: int,
    shift: int,
    out: wp.array2d(dtype=wp.int32),
    out_bound: wp.array(dtype=Scalar),
):
    """The pairs that are kept, those of edges ``shift`` further on."""
    i = o + wp.tid()
    if kept[i] != 0:
        at = place[i]
        if i >= points:
            at += shift
        for a in range(4):
            out[at, a] = stencil[i, a]
        out_bound[at] = bound[i]


class Neighborhood:
    """Candidates of a collision mesh along one way after another.

    Args:
        mesh: what must not pass through itself.
        reach: [m] how near pairs have to come to count.
    """

    def __init__(self, mesh: CollisionMesh, reach: float) -> None:
        self.mesh, self.reach, self.trees = mesh, reach, Trees()
        n = len(mesh.rest)
        self._low, self._high, self.origin = (kernel.empty(n, vec3) for _ in range(3))
        self._left, self.away = kernel.empty(n, wp.int32), kernel.empty(n)
        self._moves = False  # whether boxes are those of ways beside the cloth's mean
        self.begin(mesh.unheld)

    def begin(self, excluded: Excluded) -> None:
        """Nothing is known of ways yet; some pairs are left out."""
        self.excluded = excluded
        self.found: Candidates | None = None  # those of the last way

    def along(self, y: WarpArray, end: WarpArray) -> Candidates:
        """Pairs that may come within reach on the way from y to ``end``."""
        n, boxes = y.shape[0], (self._low, self._high)
        found = self.found
        if found is not None:
            frame, spare = self._frame(y, end), Scalar(SPARE * self.reach * (1 - 1e-9))
            kernel.launch(leave, n, y, end, *boxes, *frame, spare, self._left)
            count = kernel.total(self._left)
            if count > FEW * n:
                found = None
            elif count:
                kernel.launch(enclose, n, y, end, *frame, self._left, *boxes, self.origin)
                found = self._renewed(found)
        self.found = self._whole(y, end) if found is None else found
        self._measure(y, end, self.found)
        return self.found

    @property
    def bounds(self) -> tuple[WarpArray, WarpArray]:
        """(n,) vec3 where bounds of distances hold, and (n,) [m] how far the last way leads from
        there at most.
        """
        return self.origin, self.away

    def _measure(self, y: WarpArray, end: WarpArray, found: Candidates) -> None:
        kernel.launch(measure, y.shape[0], y, end, self.origin, self.away)
        if end is y and kernel.total(self.away) > FAR * self.reach * y.shape[0]:
            wp.copy(self.origin, y)
            self.away.zero_()
            found.bound.fill_(UNKNOWN)

    def _frame(self, y: WarpArray, end: WarpArray) -> tuple[Any, Any]:
        """Where the frame of the boxes is at y and at ``end``."""
        if not self._moves:
            return vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
        return self._means(y, end)

    def _means(self, y: WarpArray, end: WarpArray) -> tuple[Any, Any]:
        """The cloth's mean at y and at ``end``."""
        m = self.mesh.sides.first_body
        here = kernel.mean(y, m)
        return vec3(*here), vec3(*(here if end is y else kernel.mean(end, m)))

    @property
    def _margin(self) -> float:
        return (1 + 2 * SPARE) * self.reach

    def _whole(self, y: WarpArray, end: WarpArray) -> Candidates:
        here, there = self._means(y, end)
        self._moves = bool(np.linalg.norm(np.subtract(there, here)) > SPARE * self.reach)
        boxes = (self._low, self._high)
        self._left.fill_(1)
        frame = self._frame(y, end)
        kernel.launch(enclose, y.shape[0], y, end, *frame, self._left, *boxes, self.origin)
        self._points: Tree | None = None
        low, high = boxes
        return self.mesh.candidates(low, self._margin, high, self.excluded, self.trees)

    def _renewed(self, found: Candidates) -> Candidates:
        """The candidates, those of vertices that have left their boxes anew."""
        faces, edges = self.trees.faces, self.trees.edges
        assert faces is not None and edges is not None
        if self._points is None:
            self._points = Tree(self._boxes(self.mesh.primitives[2], self.excluded.points))
        moved = [self._moved(tree) for tree in (faces, edges, self._points)]
        asked = (
            faces.stencils_of_moved(self._points.boxes, Moved(moved[2], moved[0], Others.ANY)),
            self._points.stencils_of_moved(faces.boxes, Moved(moved[0], moved[2], Others.STILL)),
            edges.stencils_of_moved(None, Moved(moved[1], moved[1], Others.LATER)),
        )
        return self._joined(found, asked)

    def _boxes(self, inside: Primitives, marks: WarpArray | None) -> Boxes:
        sewn = self.mesh.device_sewn
        return Boxes.of(self._low, inside, self._margin / 2, self._high, marks, sewn)

    def _moved(self, tree: Tree) -> WarpArray:
        """Which primitives of a tree have moved; they get new boxes."""
        ids = tree.boxes.ids
        moved = kernel.empty(ids.shape[0], wp.int32)
        kernel.launch(mark_moved, ids.shape[0], ids, self._left, moved)
        tree.rebound(moved, self._low, self._high, self._margin / 2)
        return moved

    def _joined(self, found: Candidates, asked: tuple[Overlaps, Overlaps, Overlaps]) -> Candidates:
        """What is kept of the candidates, and new ones: points of triangles first."""
        m, (points, faces, edges) = len(found), asked
        kept, place = (kernel.empty(m, wp.int32) for _ in range(2))
        stencil = found.device[0]
        kernel.launch(mark_kept, m, stencil, self._left, kept)
        total = kernel.scan(kept, place)
        before = total if found.points == m else int(kernel.scalar(place, found.points))
        new = len(points) + len(faces)
        out = kernel.empty((total + new + len(edges), 4), wp.int32)
        bound = kernel.empty(out.shape[0])
        bound.fill_(UNKNOWN)
        kernel.launch(keep, m, stencil, found.bound, kept, place, found.points, new, out, bound)
        points.write(out, before)
        faces.write(out, before + len(points))
        edges.write(out, total + new)
        return Candidates(out, before + new, bound)
