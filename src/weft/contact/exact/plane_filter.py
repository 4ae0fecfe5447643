"""Discard pairs of triangles that a plane separates by more than round-off.

These are nearly all neighbors in a sheet, whose coplanar corners would need exact arithmetic.
"""

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Faces, Ints, Positions
from weft.kernel import ByteArray, IntArray2d, Scalar, Vec3Array, vec3

CLEAR = 1e-12  # of the largest coordinate: a plane this far from both faces separates them exactly
_module = wp.get_module("weft.separated")


@wp.func
def toward(center: vec3, corners: vec3):
    """Return the unit vector from ``center`` to the centroid of a triangle whose corners have the
    sum ``corners``.
    """
    d = corners / Scalar(3.0) - center
    return d / wp.max(wp.length(d), Scalar(1e-300))


@wp.kernel(module=_module)
def mark_separated(
    o: int,
    x: Vec3Array,
    faces: IntArray2d,
    pairs: IntArray2d,
    size: Scalar,
    clear: Scalar,
    out: ByteArray,
):
    """Write 1 if a plane strictly separates the faces of a pair, except for the vertices that they
    share.

    The plane is orthogonal to the difference of the directions from the shared vertices (or,
    without such, from the common center) to the centroids of both faces. ``size`` is the largest
    coordinate.
    """
    i = o + wp.tid()
    f = pairs[i, 0]
    g = pairs[i, 1]
    in_f = wp.vec3i(0, 0, 0)
    in_g = wp.vec3i(0, 0, 0)
    count = int(0)
    both = vec3()
    sum_f = vec3()
    sum_g = vec3()
    for a in range(3):
        p = x[faces[f, a]]
        sum_f += p
        sum_g += x[faces[g, a]]
        for b in range(3):
            if faces[f, a] == faces[g, b]:
                in_f[a] = 1
                in_g[b] = 1
        if in_f[a] == 1:
            count += 1
            both += p
    center = (sum_f + sum_g) / Scalar(6.0)
    if count > 0:
        center = both / Scalar(count)
    n = toward(center, sum_f) - toward(center, sum_g)
    least = Scalar(wp.inf)
    most = -Scalar(wp.inf)
    flat = Scalar(0.0)
    for a in range(3):
        above = wp.dot(x[faces[f, a]] - center, n)
        if in_f[a] == 1:
            flat = wp.max(flat, wp.abs(above))
        else:
            least = wp.min(least, above)
        if in_g[a] == 0:
            most = wp.max(most, wp.dot(x[faces[g, a]] - center, n))
    # Shared vertices lie in the plane up to round-off; they must not reach far to either side.
    sure = clear * size * (wp.abs(n[0]) + wp.abs(n[1]) + wp.abs(n[2]))
    far = least - most > sure and least > sure and most < -sure
    out[i] = wp.uint8(0)
    if count < 3 and far and (count == 0 or flat <= Scalar(0.25) * sure):
        out[i] = wp.uint8(1)


def clearly_separated(x: Positions, faces: Faces, pairs: Ints) -> Bools:
    """Return which pairs of faces a plane clearly separates, (p,).

    Args:
        x: (n,3) [m] positions.
        faces: (m,3) vertices.
        pairs: (p,2) faces.
    """
    with kernel.use(device="cpu"):
        out = kernel.empty(len(pairs), wp.uint8)
        kernel.launch(
            mark_separated,
            len(pairs),
            kernel.points(x),
            kernel.array(faces.astype(np.int32), wp.int32),
            kernel.array(pairs.astype(np.int32), wp.int32),
            Scalar(np.abs(x).max()),
            Scalar(CLEAR),
            out,
        )
        return np.asarray(kernel.numpy(out) == 1)
