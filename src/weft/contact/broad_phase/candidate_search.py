"""The search for candidate pairs (``find_candidates``), and the use of its results for one search
direction after another (``CandidateCache``).

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

from dataclasses import dataclass
from functools import partial

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Positions
from weft.contact.broad_phase.aabb import NONE, Boxes, MovingPoints, corners_of
from weft.contact.broad_phase.bvh import BoundingVolumeHierarchy, Moved, Overlaps
from weft.contact.broad_phase.candidates import Candidates, mark_stayed, select_pairs
from weft.contact.broad_phase.overlap_query import QueryScope
from weft.contact.broad_phase.tree_order import LEAF
from weft.contact.collision_mesh import CollisionMesh, Excluded
from weft.contact.narrow_phase.adjacent_pairs import AdjacentPairGap
from weft.contact.narrow_phase.distance_bounds import DisplacementBound
from weft.kernel import (
    BitsArray,
    IntArray,
    Scalar,
    ScalarArray,
    Vec3Array,
    WarpArray,
    vec3,
)
from weft.solve.sparse.vectors import combine

_module = wp.get_module("weft.neighborhood")
SPARE = 0.25  # of the reach: how far a path may leave its box before it needs a new search
FAR = 0.5  # of the reach: mean displacement at which the bounds of distances get a new origin
FINE = 0.4  # of the height of triangles: with a larger reach boxes move on all but short paths;
LONG = 2.0  # with a smaller one only on paths longer than this many heights of triangles
WHOLE_PATH = wp.constant(2)  # of boxes: the frame in which they were made
SAMPLES = 256  # number of vertices from which the times on the boxes' paths are estimated
ZERO = np.zeros(3)
FEW = 0.3  # of the vertices: if more have left their boxes, all candidates are found anew


@dataclass(eq=False)
class Trees:
    """Hierarchies over faces and edges, which are refitted from search to search, and the boxes of
    vertices.
    """

    faces: BoundingVolumeHierarchy | None = None
    edges: BoundingVolumeHierarchy | None = None
    points: Boxes | None = None

    def refit(
        self, mesh: CollisionMesh, places: MovingPoints, grow: float, out: Excluded, lines: bool
    ) -> tuple[BoundingVolumeHierarchy, BoundingVolumeHierarchy, Boxes]:
        """Give all primitives of a mesh boxes around their places, enlarged by ``grow`` [m]; return
        faces, edges and vertices.
        """
        faces, edges, vertices = mesh.primitives
        about, refitted = (mesh.joined, lines), BoundingVolumeHierarchy.refitted
        self.faces = refitted(self.faces, places, grow, faces, out.triangles, *about)
        self.edges = refitted(self.edges, places, grow, edges, out.edges, *about)
        self.points = Boxes.renewed(self.points, places, grow, vertices, out.points, *about)
        return self.faces, self.edges, self.points


def find_candidates(
    mesh: CollisionMesh,
    x: Positions | WarpArray | MovingPoints,
    reach: float,
    end: Positions | WarpArray | None = None,
    excluded: Excluded | None = None,
    trees: Trees | None = None,
    closer: AdjacentPairGap | None = None,
    lines: bool = False,
) -> Candidates:
    """Return the pairs whose boxes are at most ``reach`` [m] apart.

    Pairs are left out if they share a vertex, if a vertex of one primitive is sewn or tied to a
    vertex of the other, or if they are excluded.

    Args:
        mesh: the surfaces.
        x: (n,3) [m] positions, or regions of the vertices.
        reach: [m] search distance.
        end: (n,3) [m] positions at the end of straight paths: two boxes are a pair if they are
            near at the same time of their paths. None: vertices do not move.
        excluded: pairs that are left out.
        trees: hierarchies of an earlier search, which are refitted; None: new ones.
        closer: reduces the search distance of adjacent pairs; None: all pairs are alike.
        lines: whether pairs are left out that a separating axis keeps ``reach`` apart all the
            time.
    """
    if excluded is None:
        excluded = mesh.excluded_without_pins
    places = x if isinstance(x, MovingPoints) else MovingPoints.of(x, end, mesh.core_radius)
    faces, edges, vertices = (trees or Trees()).refit(mesh, places, reach / 2, excluded, lines)
    find = partial(
        Overlaps,
        stencils=True,
        closer=closer,
        wanted=reach if lines else 0.0,
    )
    points, pairs = find(faces, vertices), find(edges, query_mask=excluded.free)
    stencil = kernel.empty((len(points) + len(pairs), 4), wp.int32)
    points.write(stencil, 0)
    pairs.write(stencil, len(points))
    return Candidates(stencil, len(points))


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
    frame: wp.array(dtype=BoxFrame),
    spare: Scalar,
    left: IntArray,
):
    """Mark the vertices whose path from y to ``end`` leaves their box by more than ``spare``.

    A path to infinity is not marked: it ends the search before its candidates matter.
    """
    v = o + wp.tid()
    f = frame[0]
    far = outside(y[v] - f.here * way[v] - f.by, low[v], high[v])
    far = wp.max(far, outside(end[v] - f.there * way[v] - f.then, low[v], high[v]))
    left[v] = wp.where(far > spare and wp.isfinite(far), 1, 0)


@wp.kernel(module=_module)
def enclose(
    o: int,
    y: Vec3Array,
    end: Vec3Array,
    way: Vec3Array,
    frame: wp.array(dtype=BoxFrame),
    left: IntArray,
    low: Vec3Array,
    high: Vec3Array,
    origin: Vec3Array,
):
    """Give each marked vertex a new box, around its path in the frame of the boxes, and note where
    it is.
    """
    v = o + wp.tid()
    f = frame[0]
    if left[v] != 0:
        a = y[v] - f.here * way[v] - f.by
        b = end[v] - f.there * way[v] - f.then
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


@wp.kernel(module=_module)
def fit_frame(
    o: int, sums: Vec3Array, last: int, count: Scalar, moves: int, frame: wp.array(dtype=BoxFrame)
):
    """Write the frame of boxes that move together, from the sums of ``count`` vertices at both ends
    of a path (at the places 0 and ``last``); or, with ``moves``, of boxes that follow paths, from
    the sum of ``progress``, or for their own ``WHOLE_PATH``.
    """
    f = BoxFrame()
    if moves == WHOLE_PATH:
        f.there = Scalar(1.0)
    elif moves == 0:
        f.by = sums[0] / count
        f.then = sums[last] / count
    else:
        mean = sums[0] / count
        if mean[2] > Scalar(0.0):
            f.here = wp.clamp(mean[0] / mean[2], Scalar(0.0), Scalar(1.0))
            f.there = wp.clamp(mean[1] / mean[2], Scalar(0.0), Scalar(1.0))
    frame[0] = f


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
        self._frame, self._sums = kernel.zeros(1, BoxFrame), kernel.empty(2, vec3)
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
        vec3 [m] each; ``end`` is the same array if the path has no length.
        """
        if self.found is None:
            self.found = self._whole(y, end)
            return self.found
        leaving = self._mark_leaving(y, end)
        if leaving > FEW * y.shape[0]:
            self.found = self._whole(y, end)
        elif leaving:
            self._enclose(y, end)
            self.since.measure(y, end)
            self.found = self._renew_candidates(self.found)
        elif end is y and kernel.total(self.since.motion.away) > FAR * self.reach * y.shape[0]:
            # A path of length zero: y is where the bounds get their new origin.
            self.since.begin(y, self.found.struct)
        return self.found

    def _mark_leaving(self, y: WarpArray, end: WarpArray) -> int:
        """Mark the vertices whose path from y to ``end`` leaves their boxes, and measure the
        displacements of the path; return the number of the vertices.
        """
        self._fit_frame(y, end)
        # A bit less than the margin that the search had, as a reserve for round-off.
        spare = Scalar(SPARE * self.reach * (1 - 1e-9))
        boxes = (self._low, self._high, self._way, self._frame, spare)
        kernel.launch(leave, y.shape[0], y, end, *boxes, self._left)
        self.since.measure(y, end)
        return kernel.count(self._left)

    def _fit_frame(self, y: WarpArray, end: WarpArray) -> None:
        """Compute the frame in which the boxes are nearest to y and to ``end``: times on their
        paths if boxes move, else the mean positions if they move together.
        """
        n = self.mesh.sides.first_body
        if self._moves:
            n = len(self._samples)
            ways = (self._low, self._way, y.shape[0] // n)
            kernel.launch(progress, n, y, end, *ways, self._samples)
            kernel.sum_into(self._samples, n, self._sums, 0)
        elif self._flies:
            for place, a in enumerate((y,) if end is y else (y, end)):
                kernel.sum_into(a, n, self._sums, place)
        else:
            return
        last = 0 if end is y else 1
        kernel.launch(fit_frame, 1, self._sums, last, Scalar(n), int(self._moves), self._frame)

    def _enclose(self, y: WarpArray, end: WarpArray) -> None:
        """Give the vertices that have left their boxes new ones."""
        out = (self._left, self._low, self._high, self.since.motion.origin)
        kernel.launch(enclose, y.shape[0], y, end, self._way, self._frame, *out)

    @property
    def _margin(self) -> float:
        """Return the search distance [m]: both vertices of a pair may leave their boxes by
        ``SPARE`` times the reach.
        """
        return (1 + 2 * SPARE) * self.reach

    @property
    def _places(self) -> MovingPoints:
        """Return the boxes of the vertices, which move if each follows its path."""
        way = self._way if self._moves else None
        return MovingPoints(self._low, self._high, way, self.mesh.core_radius)

    def _whole(self, y: WarpArray, end: WarpArray) -> Candidates:
        """Find all candidates again, in new boxes around the paths from y to ``end``."""
        self._choose(y, end)
        self._left.fill_(1)
        self._enclose(y, end)
        self.since.measure(y, end)
        self._points: BoundingVolumeHierarchy | None = None
        about = (self._margin, None, self.excluded, self.trees, self.closer, True)
        return find_candidates(self.mesh, self._places, *about)

    def _choose(self, y: WarpArray, end: WarpArray) -> None:
        """Choose whether boxes move along the path of each vertex, or all together with the cloth's
        mean, or stay, and compute their frame.
        """
        moved, self._moves, self._flies = self._moves, False, False
        self._frame.zero_()
        if end is not y:
            least, n = SPARE * self.reach, self.mesh.sides.first_body
            for place, a in enumerate((y, end)):
                kernel.sum_into(a, n, self._sums, place)
            here, there = np.array(kernel.scalars(self._sums)) / n
            by = there - here
            self._flies = float(by @ by) > least * least
            mean = vec3(*(by if self._flies else ZERO))
            kernel.launch(beside, self._beside.shape[0], y, end, mean, self._beside)
            is_fine = self.reach > FINE * self.mesh.height
            most = least if is_fine else LONG * self.mesh.height
            self._moves = kernel.largest(self._beside) > most
        if self._moves:
            combine(end, -1.0, y, self._way)
            kernel.launch(fit_frame, 1, self._sums, 0, Scalar(1.0), WHOLE_PATH, self._frame)
        elif self._flies:
            kernel.launch(fit_frame, 1, self._sums, 1, Scalar(n), 0, self._frame)
        if moved and not self._moves:
            self._way.zero_()

    def _renew_candidates(self, found: Candidates) -> Candidates:
        """Return the candidates after the pairs of vertices that have left their boxes are replaced
        by new ones.
        """
        faces, edges = self.trees.faces, self.trees.edges
        assert faces is not None and edges is not None
        if self._points is None:
            about = (self._margin / 2, self.excluded.points, self.mesh.joined, True)
            self._points = BoundingVolumeHierarchy(
                Boxes(self._places, self.mesh.primitives[2], *about)
            )
        points, places = self._points, self._places
        left_faces, left_edges, left_points = (
            self._mark_moved(tree, places) for tree in (faces, edges, points)
        )
        find = partial(Overlaps, stencils=True, closer=self.closer, wanted=self._margin)
        every, still, later = QueryScope.ANY, QueryScope.STILL, QueryScope.LATER
        new_points = find(faces, points.boxes, moved=Moved(left_points, left_faces, every))
        new_faces = find(points, faces.boxes, moved=Moved(left_faces, left_points, still))
        new_edges = find(edges, moved=Moved(left_edges, left_edges, later))
        kept = select_pairs(found, mark_stayed, found.stencil, self._left)
        new, before, total = len(new_points) + len(new_faces), kept.points, len(kept)
        out = kept.compact_moved(new, len(new_edges))
        stencil, adjacent = out.stencil, out.adjacent
        new_points.write(stencil, before)
        new_faces.write(stencil, before + len(new_points))
        new_edges.write(stencil, total + new)
        if adjacent is not None:
            for begin, end in ((before, before + new), (total + new, len(out))):
                self.mesh.adjacency.mark(stencil, out.points, begin, end, adjacent)
        return out

    def _mark_moved(self, tree: BoundingVolumeHierarchy, places: MovingPoints) -> WarpArray:
        """Return the moved primitives of a tree as bits of leaves, after their boxes are
        renewed.
        """
        inside = tree.boxes.inside
        moved = kernel.empty(len(inside.layout), wp.uint32)
        kernel.launch(mark_moved, len(inside.layout), inside.corners, self._left, moved)
        tree.rebound(moved, places, self._margin / 2)
        return moved
