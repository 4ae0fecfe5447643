"""Operations on (n,) vec3 arrays whose results do not depend on the number of threads."""

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats
from weft.kernel import Scalar, WarpArray, vec3

_module = wp.get_module("weft.vectors")


@wp.kernel(module=_module)
def combine_kernel(
    o: int,
    x: wp.array(dtype=vec3),
    a: Scalar,
    d: wp.array(dtype=vec3),
    out: wp.array(dtype=vec3),
):
    """out = x + a d."""
    i = o + wp.tid()
    out[i] = x[i] + a * d[i]


def combine(x: WarpArray, a: float, d: WarpArray, out: WarpArray) -> None:
    """out = x + a d; out may be x."""
    kernel.launch(combine_kernel, x.shape[0], x, a, d, out)


def dot(a: WarpArray, b: WarpArray) -> float:
    """a . b."""
    return float(np.einsum("ni,ni->", kernel.numpy(a), kernel.numpy(b)))


def norm(a: Floats) -> float:
    """The 2-norm of a host array (n,3).

    Not ``np.linalg.norm``: that calls BLAS, whose idle threads then spin beside those of the direct
    solver (3 ms a call instead of 10 us, and factorizations half as fast).
    """
    return float(np.sqrt(np.einsum("ni,ni->", a, a)))


def max_norm(a: WarpArray) -> float:
    """The largest length of a vector in a; NaN if any component is."""
    values = kernel.numpy(a)
    return float(np.sqrt(np.einsum("ni,ni->n", values, values).max(initial=0.0)))
