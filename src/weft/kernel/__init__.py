"""Execution of Warp kernels: devices, threads, launches and memory.

No other package knows about these. Read it in this order:

1. ``types``: the scalar, vector and matrix types of kernels.
2. ``context``: the device and the number of threads in use.
3. ``memory``: device arrays, copies, sums and sorting.
4. ``launching``: launches, shared by several CPU threads where that is faster.
5. ``recorded_launches``: sequences of launches that are replayed by one native call.
6. ``segments``: launches and sums for some of several worlds in one array.

``thread_pool`` holds the threads, ``warp_private`` everything that uses private parts of Warp, and
``bitmask`` functions on sets of bits.
"""

from weft.kernel.context import (
    COMPILING,
    Context,
    claim_compile_notice,
    configure,
    context,
    device,
    initialize,
    is_cpu,
    notify_compile,
    threads,
    use,
)
from weft.kernel.launching import (
    SLICE_ABOVE,
    TRIVIAL,
    Recorded,
    launch,
    launch_each,
    launch_in_order,
    launch_serial,
    load,
    slice_above,
)
from weft.kernel.memory import (
    GrowingArray,
    Scratch,
    Traffic,
    array,
    columns,
    copy,
    empty,
    largest,
    least,
    mean,
    numpy,
    points,
    scalar,
    scan,
    sort,
    sort_pairs,
    total,
    view,
    watched,
    zeros,
)
from weft.kernel.recorded_launches import RecordedLaunches
from weft.kernel.segments import shared, shares
from weft.kernel.types import Scalar, WarpArray, corners, mat22, mat32, mat33, vec2, vec3

__all__ = [
    "COMPILING",
    "SLICE_ABOVE",
    "TRIVIAL",
    "Context",
    "GrowingArray",
    "Recorded",
    "RecordedLaunches",
    "Scalar",
    "Scratch",
    "Traffic",
    "WarpArray",
    "array",
    "claim_compile_notice",
    "columns",
    "configure",
    "context",
    "copy",
    "corners",
    "device",
    "empty",
    "initialize",
    "is_cpu",
    "largest",
    "launch",
    "launch_each",
    "launch_in_order",
    "launch_serial",
    "least",
    "load",
    "mat22",
    "mat32",
    "mat33",
    "mean",
    "notify_compile",
    "numpy",
    "points",
    "scalar",
    "scan",
    "shared",
    "shares",
    "slice_above",
    "sort",
    "sort_pairs",
    "threads",
    "total",
    "use",
    "vec2",
    "vec3",
    "view",
    "watched",
    "zeros",
]
