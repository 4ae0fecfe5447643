"""Stress-strain curves and limits of strain: what they are, and what they refuse."""

import numpy as np
import pytest

from tests.checks import clamp, rotations
from weft.base.curve import Curve
from weft.laws import BaraffWitkin, Psd
from weft.laws.measured import Measured
from weft.laws.strain_limit import StrainLimit

pytestmark = pytest.mark.quick

POINTS = ((0.02, 3.0), (0.05, 12.0), (0.1, 40.0), (0.2, 160.0), (0.25, 260.0))
STIFF = ((0.01, 20.0), (0.03, 90.0))


def pulled(e0, e1, s=0.0):
    F = np.zeros((1, 3, 2))
    F[0, 0, 0], F[0, 1, 1], F[0, 0, 1] = 1 + e0, 1 + e1, s
    return F


def test_a_curve_goes_through_its_points_and_between():
    from scipy.interpolate import PchipInterpolator

    curve = Curve(POINTS)
    e, s = curve.knots
    np.testing.assert_allclose(curve.force(e), s, atol=1e-13)
    x = np.linspace(0, 0.25, 400)
    np.testing.assert_allclose(curve.force(x), PchipInterpolator(e, s)(x), atol=1e-11)
    beyond = curve.force(np.array([0.25, 0.35, 0.45]))
    assert np.diff(beyond, 2) == pytest.approx(0.0, abs=1e-10)  # straight
    assert (np.diff(curve.force(np.linspace(0, 0.4, 999))) >= 0).all()
    y = np.linspace(0, 0.1, 100001)
    assert curve.work[3] == pytest.approx(np.trapezoid(curve.force(y), y), rel=1e-8)


@pytest.mark.parametrize("e", [0.003, 0.02, 0.07, 0.19, 0.25, 0.4, -0.1])
def test_a_pull_gives_the_curve_back(e):
    """Along warp and weft, in tension; the stiffness given in compression."""
    law = Measured((POINTS, STIFF), 30.0, (100.0, 150.0))
    wanted = [
        Curve(POINTS).force(e) if e > 0 else 100 * e,
        Curve(STIFF).force(e) if e > 0 else 150 * e,
    ]
    P = law.stress(pulled(e, e))[0]
    assert P[0, 0] == pytest.approx(wanted[0], rel=1e-12)
    assert P[1, 1] == pytest.approx(wanted[1], rel=1e-12)


def test_straight_curves_are_baraff_witkin(rng):
    """With rest stretch and shear: the same energy, stress and Hessians."""
    law = Measured((((0.1, 50.0),), ((0.1, 80.0),)), 90.0, None, (0.95, 1.1))
    other = BaraffWitkin((500.0, 800.0), 90.0, (0.95, 1.1))
    F = rng.normal(size=(50, 3, 2))
    np.testing.assert_allclose(law.energy(F), other.energy(F), rtol=1e-12)
    np.testing.assert_allclose(law.stress(F), other.stress(F), atol=1e-10)
    for psd in Psd:
        np.testing.assert_allclose(law.hessian(F, psd), other.hessian(F, psd), atol=1e-9)


LIMIT = StrainLimit((1.2, 1.1), 0.6, (500.0, 300.0, 40.0), 0.3)
NEAR = {
    "both stretched": pulled(0.17, 0.08),
    "warp alone": pulled(0.19, -0.2),
    "sheared": pulled(0.023, 0.0, 0.45),
    "sheared and stretched": pulled(0.11, -0.08, 0.5),
    "sheared the other way, compressed": pulled(-0.3, -0.2, -0.4),
}


def test_projections_of_a_limit():
    """The sum of each term's clamp: the fibers' is exact, the shear's LAPACK's."""
    for F in NEAR.values():
        F = rotations(1)[0] @ F
        fibers = StrainLimit(LIMIT.stretch, None, LIMIT.stiffness, LIMIT.onset)
        shear = StrainLimit((None, None), LIMIT.shear, LIMIT.stiffness, LIMIT.onset)
        expected = fibers.hessian(F) + clamp(shear.hessian(F))
        np.testing.assert_allclose(LIMIT.hessian(F, Psd.PROJECTED), expected, atol=1e-9)
        for psd in (Psd.PROJECTED, Psd.GAUSS_NEWTON):
            H = LIMIT.hessian(F, psd)
            assert np.linalg.eigvalsh(H).min() >= -1e-12 * np.abs(H).max()


def test_a_limit_is_nothing_before_its_onset_and_infinite_beyond():
    assert LIMIT.energy(pulled(0.05, 0.02, 0.1))[0] == 0.0
    assert np.isfinite(LIMIT.energy(pulled(0.1999, 0.0)))[0]
    for F in (pulled(0.2, 0.0), pulled(0.0, 0.5), pulled(0.0, 0.0, 0.7)):
        assert LIMIT.energy(F)[0] == np.inf
    free = StrainLimit((None, 1.1), None)
    assert free.energy(pulled(9.0, 0.0, 5.0))[0] == np.inf  # the weft is long then, too
    assert free.energy(pulled(9.0, -0.5))[0] == 0.0
