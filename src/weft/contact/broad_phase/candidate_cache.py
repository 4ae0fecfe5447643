"""Candidate pairs that are reused from one search direction to the next.

Every vertex has a bounding box of the path for which its candidates were found. While all paths
stay near their boxes, the candidates stay complete (Verlet 1967); if a few leave, only the
primitives of these vertices search again, in the same trees. Every pair has a lower bound of its
distance, from its last computed distance and the displacements of its vertices since then
(``distance_bounds``); most pairs need no other test.

Where paths are long, the boxes move along with them, because cloth that moves as a whole is not
near everything that passes the same place at another time. A later path stays near an earlier one
if every vertex does so *at the same time* of it: the times at which the later path begins and ends
are the same for all vertices.
"""

from collections.abc import Sequence

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats
from weft.contact.broad_phase.aabb import NONE, Boxes, MovingPoints, Primitives, corners_of
from weft.contact.broad_phase.bvh import BoundingVolumeHierarchy, Moved, Overlaps
from weft.contact.broad_phase.candidates import Candidates, chosen, mark_stayed
from weft.contact.broad_phase.overlap_query import QueryScope
from weft.contact.broad_phase.tree_order import LEAF
from weft.contact.collision_mesh import CollisionMesh, Excluded, Trees
from weft.contact.narrow_phase.adjacent_pairs import AdjacentPairGap
from weft.contact.narrow_phase.distance_bounds import DisplacementBound
from weft.kernel import BitsArray, IntArray, Scalar, ScalarArray, Vec3Array, WarpArray, vec3
from weft.solve.sparse.vectors import combine

_module = wp.get_module("weft.neighborhood")
SPARE = 0.25  # of the reach: how far a path may leave its box before it needs a new search
FAR = 0.5  # of the reach: mean displacement at which the bounds of distances get a new origin
FINE = 0.4  # of the height of triangles: with a larger reach boxes move on all but short paths;
LONG = 2.0  # with a smaller one only on paths longer than this many heights of triangles
SAMPLES = 256  # number of vertices from which the times on the boxes' paths are estimated
ZERO = np.zeros(3)
FEW = 0.3  # of the vertices: if more have left their boxes, all candidates are found anew


@wp.kernel(module=_module)
def beside(o: int, y: Vec3Array, end: Vec3Array, mean: vec3, out: ScalarArray):
    """Write the length of each path after the mean displacement is subtracted."""
    v = o + wp.tid()
    out[v] = wp.length(end[v] - y[v] - mean)


@wp.kernel(module=_module)
def progress(
    o: int,
    y: Vec3Array,
    end: Vec3Array,
    low: Vec3Array,
    way: Vec3Array,
    stride: int,
    out: Vec3Array,
):
    """Write the terms of a least squares fit of the times at which y and ``end`` lie on the boxes'
    paths.

    For every ``stride``-th vertex, with the path w from ``low``: (y - low) . w, (end - low) . w and
    w . w. The sums of the first two, divided by the sum of the third, are the times.
    """
    i = o + wp.tid()
    v = i * stride
    w = way[v]
    out[i] = vec3(wp.dot(y[v] - low[v], w), wp.dot(end[v] - low[v], w), wp.dot(w, w))


@wp.func
def outside(x: vec3, low: vec3, high: vec3):
    """Return the distance of the point x from the box [low, high]."""
    return wp.length(wp.max(wp.max(low - x, x - high), vec3(0.0)))


@wp.struct
class BoxFrame:
    """The displacement of the boxes when a path begins and when it ends."""

    here: Scalar  # time on the boxes' own paths when the path begins
    there: Scalar  # and when it ends
    by: vec3  # [m] common displacement of all boxes when the path begins
    then: vec3  # and when it ends


@wp.kernel(module=_module)
def leave(
    o: int,
    y: Vec3Array,
    end: Vec3Array,
    low: Vec3Array,
    high: Vec3Array,
    way: Vec3Array,
    frame: BoxFrame,
    spare: Scalar,
    left: IntArray,
):
    """Mark the vertices whose path from y to ``end`` leaves their box by more than ``spare``."""
    v = o + wp.tid()
    far = outside(y[v] - frame.here * way[v] - frame.by, low[v], high[v])
    far = wp.max(far, outside(end[v] - frame.there * way[v] - frame.then, low[v], high[v]))
    left[v] = wp.where(far > spare, 1, 0)


@wp.kernel(module=_module)
def enclose(
    o: int,
    y: Vec3Array,
    end: Vec3Array,
    way: Vec3Array,
    frame: BoxFrame,
    left: IntArray,
    low: Vec3Array,
    high: Vec3Array,
    origin: Vec3Array,
):
    """Give each marked vertex a new box, around its path in the frame of the boxes, and note where
    it is.
    """
    v = o + wp.tid()
    if left[v] != 0:
        a = y[v] - frame.here * way[v] - frame.by
        b = end[v] - frame.there * way[v] - frame.then
        low[v] = wp.min(a, b)
        high[v] = wp.max(a, b)
        origin[v] = y[v]


@wp.kernel(module=_module)
def mark_moved(o: int, corners: IntArray, left: IntArray, out: BitsArray):
    """Mark the primitives of each leaf with a vertex that has left its box."""
    c = o + wp.tid()
    bits = wp.uint32(0)
    for k in range(LEAF):
        ids = corners_of(corners, c, k)
        if ids[0] != NONE:  # noqa: SIM102 (kernels evaluate both sides of `and`)
            if left[ids[0]] + left[ids[1]] + left[ids[2]] != 0:
                bits = bits | (wp.uint32(1) << wp.uint32(k))
    out[c] = bits


def box_frame(
    times: Sequence[float] = (0.0, 0.0), shifts: Sequence[Floats] = (ZERO, ZERO)
) -> BoxFrame:
    """Return a frame from the times on the boxes' paths, or from displacements of all boxes [m], at
    both ends of a path.
    """
    out = BoxFrame()
    (out.here, out.there), (out.by, out.then) = times, (vec3(*s) for s in shifts)
    return out


class CandidateCache:
    """Candidate pairs of a collision mesh along one path after another.

    Args:
        mesh: the surfaces that must not pass through themselves or each other.
        reach: [m] distance below which pairs count as near.
        closer: reduces the reach of adjacent pairs; None: all pairs are alike.
    """

    def __init__(
        self, mesh: CollisionMesh, reach: float, closer: AdjacentPairGap | None = None
    ) -> None:
        self.mesh, self.reach, self.trees, self.closer = mesh, reach, Trees(), closer
        n = len(mesh.rest)
        self._low, self._high, self._way = (kernel.empty(n, vec3) for _ in range(3))
        self._moves = self._flies = False  # boxes move each for itself, or together
        self._way.zero_()
        self._still = box_frame()
        self._beside = kernel.empty(mesh.sides.first_body)
        self._samples = kernel.empty(min(n, SAMPLES), vec3)
        self._left, self.since = kernel.empty(n, wp.int32), DisplacementBound(n)
        self.begin(mesh.excluded_without_pins)

    def begin(self, excluded: Excluded) -> None:
        """Forget all candidates; ``excluded`` pairs are left out from now on."""
        self.excluded = excluded
        self.found: Candidates | None = None  # candidates of the last path

    def along(self, y: WarpArray, end: WarpArray) -> Candidates:
        """Return the pairs that may come within reach on the straight path from y to ``end``, (n,)
        vec3 [m] each.
        """
        found = self.found
        if found is not None:
            # A bit less than the margin that the search had, as a reserve for round-off.
            frame, spare = self._frame(y, end), Scalar(SPARE * self.reach * (1 - 1e-9))
            boxes = (self._low, self._high, self._way, frame, spare)
            kernel.launch(leave, y.shape[0], y, end, *boxes, self._left)
            count = kernel.total(self._left)
            if count > FEW * y.shape[0]:
                found = None
            elif count:
                self._enclose(y, end, frame)
                found = self._renewed(found)
        if found is None:
            found = self._whole(y, end)
        else:
            self._measure(y, end, found)
        self.found = found
        return found

    def _measure(self, y: WarpArray, end: WarpArray, found: Candidates) -> None:
        """Measure the displacements since the bounds of the distances were computed, and move that
        origin to y if vertices are far from it on average.
        """
        since = self.since
        since.measure(y, end)
        # A path of length zero: y is where the bounds get their new origin.
        if end is y and kernel.total(since.motion.away) > FAR * self.reach * y.shape[0]:
            since.begin(y, found)

    def _frame(self, y: WarpArray, end: WarpArray) -> BoxFrame:
        """Return the frame in which the boxes are nearest to y and to ``end``: times on their paths
        if boxes move, else the mean positions if they move together.
        """
        if self._flies:
            return box_frame(shifts=self._means(y, end))
        if not self._moves:
            return self._still
        n = len(self._samples)
        ways = (self._low, self._way, y.shape[0] // n)
        kernel.launch(progress, n, y, end, *ways, self._samples)
        *parts, whole = kernel.mean(self._samples, n)
        if not whole > 0:
            return self._still
        return box_frame([min(max(float(p / whole), 0.0), 1.0) for p in parts])

    def _means(self, y: WarpArray, end: WarpArray) -> tuple[Floats, Floats]:
        """Return the mean position of the cloth at y and at ``end``, (3,) [m] each."""
        m = self.mesh.sides.first_body
        here = kernel.mean(y, m)
        return here, here if end is y else kernel.mean(end, m)

    def _enclose(self, y: WarpArray, end: WarpArray, frame: BoxFrame) -> None:
        """Give the vertices that have left their boxes new ones."""
        out = (self._left, self._low, self._high, self.since.motion.origin)
        kernel.launch(enclose, y.shape[0], y, end, self._way, frame, *out)

    @property
    def _fine(self) -> bool:
        """Return whether the reach is large compared with the height of triangles."""
        return self.reach > FINE * self.mesh.height

    @property
    def _margin(self) -> float:
        """Return the search distance [m]: both vertices of a pair may leave their boxes by
        ``SPARE`` times the reach.
        """
        return (1 + 2 * SPARE) * self.reach

    @property
    def _places(self) -> MovingPoints:
        """Return the boxes of the vertices, which move if each follows its path."""
        return MovingPoints(self._low, self._high, self._way if self._moves else None)

    def _whole(self, y: WarpArray, end: WarpArray) -> Candidates:
        """Find all candidates anew."""
        frame = self._choose(y, end)
        self._left.fill_(1)
        self._enclose(y, end, frame)
        self.since.measure(y, end)
        self._points: BoundingVolumeHierarchy | None = None
        about = (self._margin, None, self.excluded, self.trees, self.closer, True)
        return self.mesh.candidates(self._places, *about)

    def _choose(self, y: WarpArray, end: WarpArray) -> BoxFrame:
        """Choose whether boxes move along the path of each vertex, or all together with the cloth's
        mean, or stay, and return their frame.
        """
        moved, self._moves, self._flies = self._moves, False, False
        least, mean, frame = SPARE * self.reach, vec3(*ZERO), self._still
        if end is not y:
            here, there = self._means(y, end)
            by = there - here
            if float(by @ by) > least * least:
                self._flies, mean = True, vec3(*by)
                frame = box_frame(shifts=(here, there))
            kernel.launch(beside, self._beside.shape[0], y, end, mean, self._beside)
            most = least if self._fine else LONG * self.mesh.height
            self._moves = kernel.largest(self._beside) > most
        if self._moves:
            self._flies, frame = False, box_frame((0.0, 1.0))
            combine(end, -1.0, y, self._way)
        elif moved:
            self._way.zero_()
        return frame

    def _renewed(self, found: Candidates) -> Candidates:
        """Return the candidates after the pairs of vertices that have left their boxes are replaced
        by new ones.
        """
        faces, edges = self.trees.faces, self.trees.edges
        assert faces is not None and edges is not None
        if self._points is None:
            self._points = BoundingVolumeHierarchy(
                self._boxes(self.mesh.primitives[2], self.excluded.points)
            )
        points, how = self._points, (self.closer, self._margin)
        places = self._places
        moved = [self._moved(tree, places) for tree in (faces, edges, points)]
        asked = (
            faces.stencils_of_moved(points.boxes, Moved(moved[2], moved[0], QueryScope.ANY), *how),
            points.stencils_of_moved(
                faces.boxes, Moved(moved[0], moved[2], QueryScope.STILL), *how
            ),
            edges.stencils_of_moved(None, Moved(moved[1], moved[1], QueryScope.LATER), *how),
        )
        return self._joined(found, asked)

    def _boxes(self, inside: Primitives, marks: WarpArray | None) -> Boxes:
        """Return boxes of primitives, enlarged by half of the search distance."""
        sewn = self.mesh.device_sewn
        return Boxes(self._places, inside, self._margin / 2, marks, sewn, True)

    def _moved(self, tree: BoundingVolumeHierarchy, places: MovingPoints) -> WarpArray:
        """Return the moved primitives of a tree as bits of leaves, after their boxes are
        renewed.
        """
        inside = tree.boxes.inside
        moved = kernel.empty(len(inside.layout), wp.uint32)
        kernel.launch(mark_moved, len(inside.layout), inside.corners, self._left, moved)
        tree.rebound(moved, places, self._margin / 2)
        return moved

    def _joined(self, found: Candidates, asked: tuple[Overlaps, Overlaps, Overlaps]) -> Candidates:
        """Return the candidates that stayed, joined with new ones: vertex-face pairs first."""
        points, faces, edges = asked
        kept = chosen(found, mark_stayed, found.device_stencil, self._left)
        new, before, total = len(points) + len(faces), kept.points, len(kept)
        out = kept.moved(new, len(edges))
        stencil, adjacent = out.device_stencil, out.adjacent
        points.write(stencil, before)
        faces.write(stencil, before + len(points))
        edges.write(stencil, total + new)
        if adjacent is not None:
            for begin, end in ((before, before + new), (total + new, len(out))):
                self.mesh.adjacency.mark(stencil, out.points, begin, end, adjacent)
        return out
