"""Reverse mode of kernels: derivatives by what they read, from derivatives by what they write.

Warp generates the reverse code of a kernel. Simulations do not need it, so it is compiled only for
a copy of the kernel, in a module of its own, when it is first used. An array has its derivatives in
``grad``: those of arrays that a kernel writes are given, and those of arrays that it reads are
added. A kernel may read and overwrite an array; then ``grad`` has derivatives by the old entries
afterwards. Arrays without ``grad``, numbers and integers are constant.

Two kinds of code have no reverse: native functions, and loops with a count known only at run time
that do more than sum. Such a loop is not run again on the way back, so what is not linear in its
sums has to be in another function than the loop.
"""

from functools import cache

import numpy as np
import warp as wp

from weft.base.arrays import AnyArray
from weft.kernel import memory
from weft.kernel.context import device
from weft.kernel.memory import numpy, zeros
from weft.kernel.types import Kernel, WarpArray, WarpStruct


def track(array: WarpArray, by: AnyArray | None = None) -> WarpArray:
    """Return an array whose ``grad`` was set to a copy of ``by``; None: to zeros.

    The copy is needed because the derivatives by what a kernel writes are zero after it ran back.
    """
    if by is None:
        array.grad = zeros(array.shape, array.dtype)
    else:
        array.grad = memory.array(np.array(by), array.dtype)
    return array


def track_fields(parameters: WarpStruct, *names: str) -> WarpStruct:
    """Return a struct of arrays in which the derivatives of some arrays were set to zeros."""
    for name in names:
        setattr(parameters, name, track(getattr(parameters, name)))
    return parameters


def derivatives(array: WarpArray) -> AnyArray:
    """Return a copy of the ``grad`` of an array in NumPy."""
    return numpy(array.grad).copy()


def pull_back(kernel: Kernel, n: int, *args: object) -> None:
    """Run a kernel backwards for n indices.

    Args:
        kernel: a kernel as of ``launch``.
        n: number of indices.
        *args: its arguments after the offset; arrays that it writes have derivatives.
    """
    if n > 0:
        types = [a.type for a in kernel.adj.args[1:]]
        adjoint = [t() if hasattr(t, "numpy_dtype") else None for t in types]  # structs
        wp.launch(
            _reversible(kernel),
            n,
            inputs=[0, *args],
            adj_inputs=[None, *adjoint],
            adjoint=True,
            device=device(),
            record_tape=False,
        )


@cache
def _reversible(kernel: Kernel) -> Kernel:
    """Return a copy of a kernel with reverse code, in a module of its own."""
    module = wp.get_module(f"{kernel.module.name}.reverse.{kernel.key}")
    return wp.Kernel(kernel.func, module=module, options={"enable_backward": True})
