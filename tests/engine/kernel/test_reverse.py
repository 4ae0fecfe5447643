"""Reverse mode of kernels: derivatives by arrays, structs and what is overwritten."""

import numpy as np
import pytest
import warp as wp

from weft import kernel
from weft.kernel import Scalar, ScalarArray, ScalarArray2d

pytestmark = pytest.mark.quick
_module = wp.get_module("weft.test_reverse")


@wp.struct
class Numbers:
    factor: Scalar
    power: Scalar
    count: int


@wp.struct
class Tables:
    weight: ScalarArray
    numbers: wp.array(dtype=Numbers)


@wp.func
def total(i: int, x: ScalarArray2d):
    sum = Scalar(0.0)
    for a in range(x.shape[1]):
        sum += x[i, a]
    return sum


@wp.kernel(module=_module)
def raise_power(o: int, x: ScalarArray2d, tables: Tables, half: Scalar, out: ScalarArray):
    """Compute half w f (sum_a x_a)^p."""
    i = o + wp.tid()
    n = tables.numbers[i]
    out[i] = half * tables.weight[i] * n.factor * wp.pow(total(i, x), n.power)


@wp.kernel(module=_module)
def overwrite(o: int, x: ScalarArray, numbers: wp.array(dtype=Numbers)):
    """Multiply every factor by itself and by x, and set the power."""
    i = o + wp.tid()
    n = numbers[i]
    n.factor = n.factor * n.factor * x[i]
    n.power = x[i]
    numbers[i] = n


def test_derivatives_by_arrays_of_structs_and_sums(rng):
    x, w, f, p, by = (rng.uniform(1.0, 2.0, size=s) for s in ((4, 3), 4, 4, 4, 4))
    tables = Tables()
    tables.weight = kernel.array(w, Scalar)
    records = kernel.records(Numbers, 4, factor=f, power=p, count=2)
    tables.numbers = kernel.array(records, Numbers)
    kernel.track_fields(tables, "weight", "numbers")
    at, out = kernel.track(kernel.array(x, Scalar)), kernel.track(kernel.empty(4), by)
    for k in (1, 2):  # derivatives are added
        kernel.pull_back(raise_power, 4, at, tables, Scalar(0.5), out)
        kernel.track(out, by)
        s = x.sum(1)
        value, found = 0.5 * w * f * s**p * by, kernel.derivatives(tables.numbers)
        np.testing.assert_allclose(kernel.derivatives(tables.weight), k * value / w, rtol=1e-13)
        np.testing.assert_allclose(found["factor"], k * value / f, rtol=1e-13)
        np.testing.assert_allclose(found["power"], k * value * np.log(s), rtol=1e-13)
        slopes = np.repeat(k * (value * p / s)[:, None], 3, axis=1)
        np.testing.assert_allclose(kernel.derivatives(at), slopes, rtol=1e-13)


def test_what_is_overwritten_has_derivatives_by_its_old_numbers(rng):
    x, f, by = rng.uniform(1.0, 2.0, size=(3, 4))
    numbers = kernel.array(kernel.records(Numbers, 4, factor=f), Numbers)
    given = kernel.records(Numbers, 4, factor=by, power=0.5 * by)
    at = kernel.track(kernel.array(x, Scalar))
    kernel.pull_back(overwrite, 4, at, kernel.track(numbers, given))
    found = kernel.derivatives(numbers)
    np.testing.assert_allclose(found["factor"], by * 2 * f * x, rtol=1e-13)
    assert not found["power"].any()
    np.testing.assert_allclose(kernel.derivatives(at), by * f * f + 0.5 * by, rtol=1e-13)
    np.testing.assert_array_equal(given["factor"], by)  # what is given stays
