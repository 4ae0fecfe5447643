"""Types of kernel variables; ``Scalar`` sets their precision (double) in one place."""

from typing import Any

import warp as wp

wp.config.log_level = wp.LOG_ERROR
wp.config.enable_backward = False

Scalar = wp.float64
vec2 = wp.types.vector(length=2, dtype=Scalar)
vec3 = wp.types.vector(length=3, dtype=Scalar)
vec4 = wp.types.vector(length=4, dtype=Scalar)
mat22 = wp.types.matrix(shape=(2, 2), dtype=Scalar)
mat32 = wp.types.matrix(shape=(3, 2), dtype=Scalar)
mat33 = wp.types.matrix(shape=(3, 3), dtype=Scalar)

# Arrays in the signatures of kernels and in structs.
ScalarArray = wp.array(dtype=Scalar)
ScalarArray2d = wp.array2d(dtype=Scalar)
ScalarArray3d = wp.array3d(dtype=Scalar)
Vec2Array = wp.array(dtype=vec2)
Vec2Array2d = wp.array2d(dtype=vec2)
Vec3Array = wp.array(dtype=vec3)
Vec3Array2d = wp.array2d(dtype=vec3)
Vec3Array3d = wp.array3d(dtype=vec3)
Mat32Array = wp.array(dtype=mat32)
Mat33Array = wp.array(dtype=mat33)
Mat33Array2d = wp.array2d(dtype=mat33)
Mat33Array3d = wp.array3d(dtype=mat33)
FloatArray = wp.array(dtype=wp.float32)
FloatArray2d = wp.array2d(dtype=wp.float32)
Vec3fArray = wp.array(dtype=wp.vec3f)
Vec3fArray2d = wp.array2d(dtype=wp.vec3f)
Vec4fArray = wp.array(dtype=wp.vec4f)
IntArray = wp.array(dtype=wp.int32)
IntArray2d = wp.array2d(dtype=wp.int32)
LongArray = wp.array(dtype=wp.int64)
ByteArray = wp.array(dtype=wp.uint8)
BitsArray = wp.array(dtype=wp.uint32)

# Types of weft's annotations. mypy does not read Warp, because Warp's own annotations do not
# survive it, so that these names tell a reader what a value is.
WarpArray = wp.array
Kernel = wp.Kernel  # result of ``wp.kernel``
WarpFunction = wp.Function  # result of ``wp.func``
WarpStruct = Any  # result of ``wp.struct``, or an instance: Warp has no public name for them
DataType = Any  # type of an array's entries: a number, vector, matrix or struct of Warp
Stage = tuple[Kernel, *tuple[object, ...]]  # a kernel and its arguments after the offset


@wp.func
def corners(i: int, x: Vec3Array, stencil: IntArray2d):
    """Return the four vertices of element i."""
    return x[stencil[i, 0]], x[stencil[i, 1]], x[stencil[i, 2]], x[stencil[i, 3]]
