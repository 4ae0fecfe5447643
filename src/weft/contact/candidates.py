"""Candidates: pairs of vertices and faces, and of edges, whose boxes come near each other."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Bools, Faces, Floats, Ints, Positions
from weft.contact.barrier import PARALLEL_PART
from weft.contact.broad_phase import WORTH_SLICING, Boxes, Tree
from weft.contact.contact_set import ContactSet, distances_of, parallel_threshold
from weft.contact.distance import (
    EDGE_EDGE,
    POINT_EDGE,
    POINT_POINT,
    POINT_TRIANGLE,
    closest,
    combination,
    corners,
    mollifier,
    vec4,
)
from weft.contact.sides import Marks, Sides
from weft.kernel import Scalar, vec3
from weft.mesh import edges_of

_module = wp.get_module("weft.contact")


FAR, WHOLE, PARALLEL, REDUCED = range(4)  # what ``narrow`` finds


@wp.func
def reduced(w: vec4, ids: wp.vec4i, n: int):
    """A pair whose closest points are at a vertex, as one number: vertex and edge, or two vertices
    in order. All faces around a vertex that is nearest have the same one.
    """
    zero = Scalar(0.0)
    ones = int(0)
    for a in range(4):
        if w[a] > zero:
            ones += 1
    sign = Scalar(1.0)  # of the weights on the side that is a vertex
    if ones != 1:
        sign = -sign
    p = int(0)
    low = int(0)
    high = int(0)
    count = int(0)
    for a in range(4):
        s = sign * w[a]
        if s > zero:
            p = ids[a]
        if s < zero:
            if count == 0:
                low = ids[a]
            high = ids[a]
            count += 1
    if count == 1:
        first = wp.min(p, low)
        low = wp.max(p, low)
        high = low
        p = first
    elif low > high:
        swap = low
        low = high
        high = swap
    size = wp.int64(n)
    return (wp.int64(p) * size + wp.int64(low)) * size + wp.int64(high)


@wp.kernel(module=_module)
def narrow(
    o: int,
    x: wp.array(dtype=vec3),
    rest: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    kind: wp.array(dtype=wp.int32),
    offset: wp.array(dtype=Scalar),
    gap: Scalar,
    n: int,
    code: wp.array(dtype=wp.uint8),
    key: wp.array(dtype=wp.int64),
):
    """Which candidates are closer than their offset and ``gap``, and which of these reduce to
    fewer vertices.

    Edges that the mollifier acts on stay whole, as it depends on all four vertices.
    """
    i = o + wp.tid()
    ids = wp.vec4i(stencil[i, 0], stencil[i, 1], stencil[i, 2], stencil[i, 3])
    a, b, c, d = corners(i, x, stencil)
    p = closest(kind[i], a, b, c, d)
    v = combination(p.w, a, b, c, d)
    found = wp.uint8(0)
    reach = offset[wp.min(i, offset.shape[0] - 1)] + gap
    if wp.dot(v, v) < reach * reach:
        found = wp.uint8(3)
        if p.free == 2:
            found = wp.uint8(1)
        if kind[i] == 1:
            e = rest[ids[1]] - rest[ids[0]]
            f = rest[ids[3]] - rest[ids[2]]
            m, _dm = mollifier(b - a, d - c, PARALLEL_PART * wp.dot(e, e) * wp.dot(f, f))
            if m < Scalar(1.0):
                found = wp.uint8(2)
        if found == wp.uint8(3):
            key[i] = reduced(p.w, ids, n)
    code[i] = found


@dataclass(frozen=True)
class Candidates:
    """Pairs that may touch."""

    stencil: Ints  # (p+e,4): vertex, face; and then edge, edge
    points: int  # p

    @property
    def point_triangle(self) -> Ints:
        """(p,4)."""
        return self.stencil[: self.points]

    @property
    def edge_edge(self) -> Ints:
        """(e,4)."""
        return self.stencil[self.points :]

    @cached_property
    def kind(self) -> Ints:
        """(p+e,) of every pair."""
        kinds = np.array([POINT_TRIANGLE, EDGE_EDGE], dtype=np.int32)
        return np.repeat(kinds, [self.points, len(self) - self.points])

    def __len__(self) -> int:
        return len(self.stencil)


@dataclass
class Surface:
    """Triangles that must not pass through one another, and the trees over them."""

    faces: Faces  # (m,3)
    rest: Positions  # (n,3) at rest, for what counts as parallel
    sides: Sides | None = None  # None: one piece of cloth without thickness or friction
    _held: Bools | None = field(default=None, repr=False)
    _marks: dict[str, Marks] = field(default_factory=dict, repr=False)
    _trees: dict[str, Tree] = field(default_factory=dict, repr=False)

    @cached_property
    def edges(self) -> Ints:
        """(k,2) each once, lower id first."""
        return edges_of(self.faces)[0]

    @cached_property
    def vertices(self) -> Ints:
        """(v,1) ids of the vertices in faces."""
        return np.unique(self.faces).astype(np.int32)[:, None]

    @cached_property
    def who(self) -> Sides:
        """Pieces and bodies."""
        return self.sides or Sides.one(len(self.rest))

    def hold(self, fixed: Bools) -> None:
        """From now on vertices ``fixed`` (n,) of the cloth are prescribed, as bodies are: pairs of
        such vertices alone are left out.
        """
        held = np.ones(len(self.rest), dtype=bool)
        held[: self.who.first_body] = False
        held[: len(fixed)] |= fixed
        if self._held is not None and np.array_equal(held, self._held):
            return
        self._held = held
        for name, ids in (("faces", self.faces), ("edges", self.edges), ("all", self.vertices)):
            self._marks[name] = self.who.marks(ids, held)

    @property
    def face_marks(self) -> Marks:
        """(m,2) bits of what every face is, and of what it does not meet."""
        if self._held is None:
            self.hold(np.zeros(0, dtype=bool))
        return self._marks["faces"]

    def candidates(self, x: Positions, reach: float, end: Positions | None = None) -> Candidates:
        """Pairs whose boxes are no more than ``reach`` [m] apart at x, or on the way to ``end``.

        Pairs that share a vertex, or are not to meet, are left out.
        """
        if self._held is None:
            self.hold(np.zeros(0, dtype=bool))

        def boxes(name: str, ids: Ints) -> Boxes:
            return Boxes.of(x, ids, reach / 2, end, self._marks[name])

        faces = self._tree("faces", boxes("faces", self.faces))
        edges = self._tree("edges", boxes("edges", self.edges))
        points, pairs = faces.stencils(boxes("all", self.vertices)), edges.stencils()
        out = kernel.empty((len(points) + len(pairs), 4), wp.int32)
        points.write(out, 0)
        pairs.write(out, len(points))
        stencil: Ints = kernel.numpy(out)
        return Candidates(stencil, len(points))

    def thickness(self, candidates: Candidates, thin: float = 1.0) -> Floats:
        """[m] that every candidate keeps, times ``thin``: (p+e,), or (1,) where all are alike."""
        return thin * self.who.thickness_of(candidates.stencil, candidates.kind)

    def near(self, x: Positions, candidates: Candidates, reach: float) -> Ints:
        """(k,4) the candidates that are closer than ``reach`` [m] at x, as they are."""
        stencil = candidates.stencil
        return stencil[distances_of(x, stencil, candidates.kind) < reach]

    def contacts(
        self,
        x: Positions,
        candidates: Candidates,
        stiffness: float,
        gap: float,
        thin: float = 1.0,
    ) -> ContactSet:
        """The candidates that are closer than their thickness (times ``thin``) and gap at x, with
        their barrier.
        """
        m, n = len(candidates), len(x)
        stencil, kind = candidates.stencil, candidates.kind
        code, key = kernel.empty(m, wp.uint8), kernel.empty(m, wp.int64)
        points = (kernel.array(x, vec3), kernel.array(self.rest, vec3))
        pairs = (kernel.array(stencil, wp.int32), kernel.array(kind, wp.int32))
        offset = kernel.array(self.thickness(candidates, thin), Scalar)
        asked = (*points, *pairs, offset, Scalar(gap), n, code, key)
        kernel.launch(narrow, m, *asked, slice_above=WORTH_SLICING)
        found = kernel.numpy(code)
        whole = np.flatnonzero((found == WHOLE) | (found == PARALLEL))
        # In an order that does not depend on the trees' past, so that runs resume bitwise.
        whole = whole[np.lexsort((*stencil[whole].T[::-1], kind[whole]))]
        parallel = found[whole] == PARALLEL
        threshold = np.zeros(len(whole))
        threshold[parallel] = parallel_threshold(self.rest, stencil[whole[parallel]])
        reduced, kinds, times = _decoded(kernel.numpy(key)[found == REDUCED], n)
        stencil = np.concatenate([stencil[whole], reduced])
        kind = np.concatenate([kind[whole], kinds])
        return ContactSet.of(
            stencil,
            kind,
            stiffness * np.concatenate([np.ones(len(whole)), times]),
            gap,
            thin * self.who.thickness_of(stencil, kind),
            np.concatenate([threshold, np.zeros(len(reduced))]),
        )

    def _tree(self, name: str, boxes: Boxes) -> Tree:
        if name in self._trees:
            self._trees[name].update(boxes)
        else:
            self._trees[name] = Tree(boxes)
        return self._trees[name]


def _decoded(keys: Ints, n: int) -> tuple[Ints, Ints, Floats]:
    """(k,4) stencils (p, a, b, p) and (p, a, p, p), (k,) kinds, and (k,) how often each stands in
    the keys of ``narrow``.
    """
    key, times = np.unique(keys, return_counts=True)
    rest, high = np.divmod(key, n)
    p, low = np.divmod(rest, n)
    two = low == high
    stencil = np.stack([p, low, np.where(two, p, high), p], axis=1).astype(np.int32)
    kind = np.where(two, POINT_POINT, POINT_EDGE).astype(np.int32)
    return stencil, kind, times.astype(np.float64)


def least_distance(x: Positions, candidates: Candidates) -> float:
    """[m] of the nearest pair; infinite without candidates."""
    if len(candidates) == 0:
        return np.inf
    return float(distances_of(x, candidates.stencil, candidates.kind).min())
