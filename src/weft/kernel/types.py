"""Types of kernel variables; ``Scalar`` sets their precision (double) in one place."""

from typing import Any

import warp as wp

wp.config.log_level = wp.LOG_ERROR
wp.config.enable_backward = False

Scalar = wp.float64
vec2 = wp.types.vector(length=2, dtype=Scalar)
vec3 = wp.types.vector(length=3, dtype=Scalar)
mat22 = wp.types.matrix(shape=(2, 2), dtype=Scalar)
mat32 = wp.types.matrix(shape=(3, 2), dtype=Scalar)
mat33 = wp.types.matrix(shape=(3, 3), dtype=Scalar)

WarpArray = Any  # wp.array: Warp's own annotations do not survive mypy


@wp.func
def corners(i: int, x: wp.array(dtype=vec3), stencil: wp.array2d(dtype=wp.int32)):
    """Return the four vertices of element i."""
    return x[stencil[i, 0]], x[stencil[i, 1]], x[stencil[i, 2]], x[stencil[i, 3]]
