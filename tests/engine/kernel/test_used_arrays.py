"""Arrays that nobody refers to are given out again, and no others."""

import numpy as np
import pytest
import warp as wp

from weft import kernel
from weft.kernel.cpu.used_arrays import UsedArrays

pytestmark = pytest.mark.quick


@wp.struct
class Holder:
    numbers: kernel.ScalarArray


def holder(a):
    out = Holder()
    out.numbers = a
    return out


def test_an_unused_array_is_given_out_again():
    arrays = UsedArrays()
    place = arrays.take(7, kernel.Scalar).ptr
    assert arrays.take(7, kernel.Scalar).ptr == place
    assert arrays.take(7, wp.int64).ptr != place


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a,
        lambda a: a[2:4],
        lambda a: a.reshape((7, 1)),
        kernel.numpy,
        np.asarray,
        holder,
    ],
    ids=["itself", "a part", "another shape", "numpy", "asarray", "a structure"],
)
def test_an_array_in_use_is_not(use):
    arrays = UsedArrays()
    first = arrays.take(7, kernel.Scalar)
    used, place = use(first), first.ptr
    del first
    assert arrays.take(7, kernel.Scalar).ptr != place
    del used
    assert arrays.take(7, kernel.Scalar).ptr == place


def test_few_and_small_arrays_are_kept():
    arrays = UsedArrays()
    for n in range(1, arrays.MOST + 3):
        arrays.take(n, wp.uint8)
    assert len(arrays._known) == 2
    arrays.take(arrays.LARGEST, kernel.Scalar)
    assert len(arrays._known) == 2
