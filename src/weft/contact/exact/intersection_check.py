"""Check after every step that no surfaces intersect.

Collision detection has followed the path of every step, so this check never finds anything unless
there is a mistake. It shares only the hierarchy of bounding boxes with that detection, so that a
mistake there does not pass in silence. Pairs of triangles whose boxes overlap are tested in two
stages:

1. A kernel computes on which side of one triangle's plane the corners of the other one lie, with a
   bound of the round-off (Shewchuk 1997, the first stage of his filter). All but a few pairs are
   certainly apart.
2. The others are decided by exact predicates (``intersections``).

Triangles that share a vertex are left out: if two such triangles intersect, an edge that they do
not share meets the other triangle, and so does the other triangle of that edge, unless the edge
lies on a border.
"""

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Ints
from weft.contact.broad_phase.aabb import MovingPoints
from weft.contact.broad_phase.bvh import BoundingVolumeHierarchy, Overlaps
from weft.contact.collision_mesh import CollisionMesh, Excluded
from weft.contact.exact.intersections import triangles_meet
from weft.kernel import IntArray, IntArray2d, Scalar, Vec3Array, WarpArray, vec3

ROUND_OFF = 2e-15  # of the sum of absolute products of a determinant: twice Shewchuk's bound
_module = wp.get_module("weft.intersection_check")


@wp.func
def side_of(a: vec3, b: vec3, c: vec3, d: vec3):
    """Return 1 or -1 if d certainly lies on this side of the plane of a, b, c; 0 if round-off
    leaves that open.
    """
    p = a - d
    q = b - d
    r = c - d
    det = Scalar(0.0)
    size = Scalar(0.0)
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        det += p[i] * (q[j] * r[k] - q[k] * r[j])
        size += wp.abs(p[i]) * (wp.abs(q[j] * r[k]) + wp.abs(q[k] * r[j]))
    side = int(0)
    if wp.abs(det) > Scalar(ROUND_OFF) * size:
        side = wp.where(det > Scalar(0.0), 1, -1)
    return side


@wp.func
def crosses_plane(a: vec3, b: vec3, c: vec3, p: vec3, q: vec3, r: vec3):
    """Return whether the triangle p, q, r may meet the plane of a, b, c."""
    return wp.abs(side_of(a, b, c, p) + side_of(a, b, c, q) + side_of(a, b, c, r)) < 3


@wp.func
def may_meet(a: vec3, b: vec3, c: vec3, p: vec3, q: vec3):
    """Return 1 if the segment p q may meet the triangle a, b, c, else 0."""
    meets = int(0)
    if side_of(a, b, c, p) * side_of(a, b, c, q) < 1:
        ab = side_of(p, q, a, b)
        bc = side_of(p, q, b, c)
        ca = side_of(p, q, c, a)
        if wp.min(wp.min(ab, bc), ca) > -1 or wp.max(wp.max(ab, bc), ca) < 1:
            meets = int(1)
    return meets


@wp.kernel(module=_module)
def mark_meeting(o: int, x: Vec3Array, pairs: IntArray2d, out: IntArray):
    """Write 1 for pairs of triangles that are not certainly apart, else 0."""
    i = o + wp.tid()
    a = x[pairs[i, 0]]
    b = x[pairs[i, 1]]
    c = x[pairs[i, 2]]
    p = x[pairs[i, 3]]
    q = x[pairs[i, 4]]
    r = x[pairs[i, 5]]
    meets = int(0)
    if crosses_plane(a, b, c, p, q, r):  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if crosses_plane(p, q, r, a, b, c):
            meets = may_meet(a, b, c, p, q) + may_meet(a, b, c, q, r) + may_meet(a, b, c, r, p)
            if meets == 0:
                meets = may_meet(p, q, r, a, b) + may_meet(p, q, r, b, c) + may_meet(p, q, r, c, a)
    out[i] = wp.min(meets, 1)


class IntersectionCheck:
    """The search for intersecting triangles of a collision mesh after each step.

    Args:
        mesh: the surfaces that must not pass through themselves or each other.
    """

    def __init__(self, mesh: CollisionMesh) -> None:
        self.mesh = mesh
        self._tree: BoundingVolumeHierarchy | None = None

    def pairs(self, y: WarpArray, excluded: Excluded) -> Ints:
        """Return the pairs of triangles that intersect, but do not share a vertex.

        Args:
            y: (n+b,) vec3 [m] vertices of cloth and bodies.
            excluded: pairs that are left out.

        Returns:
            (k,6) vertices of both triangles.
        """
        about = (self.mesh.primitives[0], excluded.triangles, self.mesh.joined, False)
        self._tree = BoundingVolumeHierarchy.refitted(self._tree, MovingPoints(y, y), 0.0, *about)
        near = Overlaps(self._tree, stencils=True)
        pairs, meets = kernel.empty((len(near), 6), wp.int32), kernel.empty(len(near), wp.int32)
        near.write(pairs, 0)
        kernel.launch(mark_meeting, len(near), y, pairs, meets)
        if kernel.total(meets) == 0:
            return np.zeros((0, 6), dtype=np.int32)
        found = np.array(kernel.numpy(pairs))[kernel.numpy(meets) == 1]
        corners = np.array(kernel.numpy(y))[found]
        return np.asarray(found[triangles_meet(corners[:, :3], corners[:, 3:])])
