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
from weft.contact.adjacent import Closer
from weft.contact.boxes import Boxes, Primitives
from weft.contact.broad_phase import Moved, Overlaps, Tree
from weft.contact.candidates import UNKNOWN, Candidates
from weft.contact.collision_mesh import CollisionMesh, Excluded, Trees
from weft.contact.eights import NONE, corners_of
from weft.contact.known import Since
from weft.contact.layout import LEAF
from weft.contact.questions import Others
from weft.contact.words import lowest, together
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
    corners: wp.array(dtype=wp.int32),
    left: wp.array(dtype=wp.int32),
    out: wp.array(dtype=wp.uint32),
):
    """Bits of primitives of a leaf with a vertex that has left its box."""
    c = o + wp.tid()
    bits = wp.uint32(0)
    for k in range(LEAF):
        ids = corners_of(corners, c, k)
        if ids[0] != NONE:  # noqa: SIM102 (kernels evaluate both sides of `and`)
            if left[ids[0]] + left[ids[1]] + left[ids[2]] != 0:
                bits = bits | (wp.uint32(1) << wp.uint32(k))
    out[c] = bits


_STAYED = """
    unsigned int out = 0;
    for (int k = 0; k < count; ++k) {
        const int* v = stencil.data + 4 * ((size_t)first + k);
        const int moved = left.data[v[0]] | left.data[v[1]] | left.data[v[2]] | left.data[v[3]];
        out |= (unsigned int)(moved == 0) << k;
    }
    return out;
"""


@wp.func_native(_STAYED)
def stayed(
    stencil: wp.array2d(dtype=wp.int32), first: int, count: int, left: wp.array(dtype=wp.int32)
) -> wp.uint32:
    """Bits of those of ``count`` pairs without a vertex that has left its box."""


@wp.kernel(module=_module)
def mark_kept(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    left: wp.array(dtype=wp.int32),
    width: int,
    bits: wp.array(dtype=wp.uint32),
    count: wp.array(dtype=wp.int32),
):
    """Bits of pairs without such a vertex among the next ``width``, and how many they are."""
    w = o + wp.tid()
    found = stayed(stencil, w * width, wp.min(width, stencil.shape[0] - w * width), left)
    bits[w] = found
    count[w] = wp.bit_count(found)


@wp.kernel(module=_module)
def keep(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    bound: wp.array(dtype=Scalar),
    kept: wp.array(dtype=wp.uint32),
    place: wp.array(dtype=wp.int32),
    width: int,
    points: int,
    shift: int,
    adjacent: wp.array(dtype=wp.uint8),
    out: wp.array2d(dtype=wp.int32),
    out_bound: wp.array(dtype=Scalar),
    out_adjacent: wp.array(dtype=wp.uint8),
):
    """The pairs that are kept, those of edges ``shift`` further on."""
    w = o + wp.tid()
    bits = kept[w]
    at = int(place[w])
    while bits != wp.uint32(0):
        i = w * width + lowest(bits)
        bits = bits & (bits - wp.uint32(1))
        to = wp.where(i < points, at, at + shift)
        for a in range(4):
            out[to, a] = stencil[i, a]
        out_bound[to] = bound[i]
        if adjacent.shape[0] > 0:
            out_adjacent[to] = adjacent[i]
        at += 1


class Neighborhood:
    """Candidates of a collision mesh along one way after another.

    Args:
        mesh: what must not pass through itself.
        reach: [m] how near pairs have to come to count.
        closer: how much nearer those have to come that edges connect; None: all alike.
    """

    def __init__(self, mesh: CollisionMesh, reach: float, closer: Closer | None = None) -> None:
        self.mesh, self.reach, self.trees, self._closer = mesh, reach, Trees(), closer
        n = len(mesh.rest)
        self._low, self._high = (kernel.empty(n, vec3) for _ in range(2))
        self._left, self.since = kernel.empty(n, wp.int32), Since.made(n)
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
                kernel.launch(enclose, n, y, end, *frame, self._left, *boxes, self.since.origin)
                found = self._renewed(found)
        self.found = self._whole(y, end) if found is None else found
        self._measure(y, end, self.found)
        return self.found

    def _measure(self, y: WarpArray, end: WarpArray, found: Candidates) -> None:
        since = self.since
        since.measure(y, end)
        if end is y and kernel.total(since.away) > FAR * self.reach * y.shape[0]:
            since.begin(y)
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
        kernel.launch(enclose, y.shape[0], y, end, *frame, self._left, *boxes, self.since.origin)
        self._points: Tree | None = None
        low, high = boxes
        return self.mesh.candidates(
            low, self._margin, high, self.excluded, self.trees, self._closer
        )

    def _renewed(self, found: Candidates) -> Candidates:
        """The candidates, those of vertices that have left their boxes anew."""
        faces, edges = self.trees.faces, self.trees.edges
        assert faces is not None and edges is not None
        if self._points is None:
            self._points = Tree(self._boxes(self.mesh.primitives[2], self.excluded.points))
        points, closer = self._points, self._closer
        moved = [self._moved(tree) for tree in (faces, edges, points)]
        asked = (
            faces.stencils_of_moved(points.boxes, Moved(moved[2], moved[0], Others.ANY), closer),
            points.stencils_of_moved(faces.boxes, Moved(moved[0], moved[2], Others.STILL), closer),
            edges.stencils_of_moved(None, Moved(moved[1], moved[1], Others.LATER), closer),
        )
        return self._joined(found, asked)

    def _boxes(self, inside: Primitives, marks: WarpArray | None) -> Boxes:
        sewn = self.mesh.device_sewn
        return Boxes.of(self._low, inside, self._margin / 2, self._high, marks, sewn)

    def _moved(self, tree: Tree) -> WarpArray:
        """Which primitives of a tree have moved, bits of leaves; they get new boxes."""
        inside = tree.boxes.inside
        moved = kernel.empty(len(inside.layout), wp.uint32)
        kernel.launch(mark_moved, len(inside.layout), inside.corners, self._left, moved)
        tree.rebound(moved, self._low, self._high, self._margin / 2)
        return moved

    def _joined(self, found: Candidates, asked: tuple[Overlaps, Overlaps, Overlaps]) -> Candidates:
        """What is kept of the candidates, and new ones: points of triangles first."""
        m, (points, faces, edges) = len(found), asked
        width = together()
        words = -(-m // width)
        kept = kernel.empty(words, wp.uint32)
        count, place = (kernel.empty(words, wp.int32) for _ in range(2))
        stencil = found.device_stencil
        above = kernel.slice_above(4 * width)
        asked_of = (stencil, self._left, width, kept, count)
        kernel.launch(mark_kept, words, *asked_of, slice_above=above)
        total = before = kernel.scan(count, place)
        if found.points < m:
            w, rest = divmod(found.points, width)
            first = int(kernel.scalar(kept, w)) & (1 << rest) - 1
            before = int(kernel.scalar(place, w)) + first.bit_count()
        new = len(points) + len(faces)
        out = kernel.empty((total + new + len(edges), 4), wp.int32)
        bound = kernel.empty(out.shape[0])
        bound.fill_(UNKNOWN)
        known = found.adjacent is not None
        adjacent = kernel.empty(out.shape[0] if known else 0, wp.uint8)
        pairs = (stencil, found.bound, kept, place, width, found.points, new)
        marks = found.adjacent if known else adjacent
        kernel.launch(keep, words, *pairs, marks, out, bound, adjacent, slice_above=above)
        points.write(out, before)
        faces.write(out, before + len(points))
        edges.write(out, total + new)
        if not known:
            return Candidates(out, before + new, bound)
        for begin, end in ((before, before + new), (total + new, out.shape[0])):
            self.mesh.adjacency.mark(out, before + new, begin, end, adjacent)
        return Candidates(out, before + new, bound, adjacent)
