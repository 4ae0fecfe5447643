"""Laws, differentiated by their numbers: stress and frozen tangent, against differences of both."""

import numpy as np
import pytest

import weft.laws
from tests.engine.laws.test_laws import LAWS
from weft import kernel
from weft.kernel import mat32, mat33
from weft.laws import OwnLaw, Psd
from weft.laws import baraff_witkin as bw
from weft.laws import neo_hookean as nh
from weft.laws.base import SingleLaw
from weft.laws.mixed import hessian_by_parameters, stress_by_parameters

VALUES = {
    "stretch_warp": 500.0,
    "stretch_weft": 300.0,
    "shear": 80.0,
    "rest_warp": 1.0,
    "rest_weft": 0.97,
}
# One of every class, and of every function that a class has.
GIVEN = {x.functions.name: x for x in LAWS.values() if len(x.parts) == 1}.values()
GENERATED = [
    OwnLaw("mixed_psi", bw.BaraffWitkinParams, bw.psi, VALUES),
    OwnLaw("mixed_neo", nh.NeoHookeanParams, nh.psi, {"mu": 300.0, "area": 400.0}),
]
N = 16


def of(law, what, F, records):
    out = kernel.empty(N, mat32) if what == "pk1" else kernel.empty((N, 3), mat33)
    p = kernel.array(records, law.functions.Params)
    kernel.launch_each(N, *law.stages(what, kernel.array(F, mat32), (p,), out))
    return np.array(kernel.numpy(out))


def numbers(records):
    """Every number of Params that may change, and its size."""
    for name in records.dtype.names:
        if records.dtype[name].base.kind == "f":
            for index in np.ndindex(records.dtype[name].shape):
                size = abs(float(records[name][(0, *index)]))
                if size < 1e200:
                    yield name, (slice(None), *index), size


def compared(law, what, by, rng, tolerance):
    """d(what : by)/dp against four points, in every number of Params."""
    F = np.eye(3)[:, :2] * 1.2 + 0.12 * rng.normal(size=(N, 3, 2))
    records = law.parameter_array(N)
    p, by = kernel.array(records, law.functions.Params), by(rng)
    got = (stress_by_parameters if what == "pk1" else hessian_by_parameters)(law, F, p, by)
    for name, index, size in numbers(records):
        h = 1e-3 * max(size, 0.1)

        def along(s, name=name, index=index, h=h):
            other = np.array(records)
            other[name][index] += s * h
            return (of(law, what, F, other) * by).reshape(N, -1).sum(1)

        def quotient(k, along=along, h=h):
            change = 8 * (along(k) - along(-k)) - along(2 * k) + along(-2 * k)
            return change / (12 * k * h)

        expected = quotient(1)
        scale = max(np.abs(along(0)).max() / max(size, 0.1), np.abs(expected).max())
        smooth = np.abs(expected - quotient(0.5)) < tolerance * scale  # no kink in between
        assert smooth.mean() > 0.8
        np.testing.assert_allclose(
            got[name][index][smooth], expected[smooth], atol=tolerance * scale, err_msg=name
        )


def stresses(rng):
    return rng.normal(size=(N, 3, 2))


def tangents(rng):
    return rng.normal(size=(N, 3, 3, 3))


@pytest.mark.parametrize("law", GIVEN, ids=lambda law: law.name)
def test_stress_and_tangent(law, rng):
    compared(law, "pk1", stresses, rng, 1e-9)
    compared(law, Psd.GAUSS_NEWTON, tangents, rng, 1e-9)


@pytest.mark.parametrize("law", GENERATED, ids=lambda law: law.name)
def test_generated(law, rng):
    """The stress to 1e-9 (the quotient's own error); the Hessian's quotient is one of differences,
    to 1e-6, so the given one is the judge below.
    """
    compared(law, "pk1", stresses, rng, 1e-9)
    compared(law, Psd.GAUSS_NEWTON, tangents, rng, 1e-5)


def test_every_law_is_here():
    """All that ``weft.laws`` names, but for what adds them and what is abstract."""
    named = [getattr(weft.laws, name) for name in weft.laws.__all__]
    single = {x for x in named if isinstance(x, type) and issubclass(x, SingleLaw)}
    assert single - {SingleLaw} == {type(law) for law in (*GIVEN, *GENERATED)}
