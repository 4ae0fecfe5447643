"""Tension only along four directions: by hand, at its kinks, and where the directions overlap."""

import numpy as np
import pytest

from tests.checks import rotations
from weft.laws import BaraffWitkin, ImmediateBuckling, Psd

pytestmark = pytest.mark.quick

LAW = ImmediateBuckling((500.0, 300.0), (80.0, 60.0))
H = np.sqrt(0.5)
DIRECTIONS = np.array([[1, 0], [0, 1], [H, H], [H, -H]])
STIFFNESS = np.array([500.0, 300.0, 80.0, 60.0])


def flat(a, b, c, d):
    return np.array([[[a, b], [c, d], [0.0, 0.0]]])


def by_hand(F):
    """Choi & Ko 2003, eqs. 2-4, of what is stretched."""
    stretch = np.linalg.norm(F @ DIRECTIONS.T, axis=1) - 1
    return 0.5 * (STIFFNESS * np.maximum(stretch, 0) ** 2).sum(-1)


def test_energy_by_hand(rng):
    F = rng.normal(size=(200, 3, 2))
    np.testing.assert_allclose(LAW.energy(F), by_hand(F), rtol=1e-12)


def test_slack_cloth_carries_nothing():
    F = rotations(1)[0] @ flat(0.8, 0.02, -0.03, 0.7)
    assert LAW.energy(F) == 0 and not LAW.stress(F).any()
    for psd in Psd:
        assert not LAW.hessian(F, psd).any()


@pytest.mark.parametrize("d", DIRECTIONS)
def test_stress_is_continuous_and_the_hessian_jumps(d):
    """Across |F d| = 1 of one fiber, all others slack."""
    other = np.array([-d[1], d[0]])
    R = rotations(1)[0]

    def at(stretch):
        return (R @ np.array([[stretch, 0], [0, 0.6], [0, 0]]) @ np.stack([d, other]))[None]

    k = STIFFNESS[np.flatnonzero((d == DIRECTIONS).all(1))[0]]
    assert np.abs(LAW.stress(at(1 + 1e-9))).max() < 2e-9 * k
    assert not LAW.stress(at(1 - 1e-9)).any()
    assert np.abs(LAW.hessian(at(1 + 1e-9))).max() > 0.1 * k
    assert not LAW.hessian(at(1 - 1e-9)).any()


def test_axes_and_diagonals_overlap():
    """Pulled alike in all directions: ku + (k+ + k-)/2 along the warp; a strip that narrows: ku."""
    e = 1e-3
    alike = LAW.stress(flat(1 + e, 0, 0, 1 + e))[0]
    assert alike[0, 0] == pytest.approx((500 + 70) * e, rel=1e-9)
    assert alike[1, 1] == pytest.approx((300 + 70) * e, rel=1e-9)
    strip = LAW.stress(flat(1 + e, 0, 0, 1 - 1.01 * e))[0]
    assert strip[0, 0] == pytest.approx(500 * e, rel=1e-9)
    assert np.abs(strip).sum() == pytest.approx(500 * e, rel=1e-9)


def test_four_times_the_shear_stiffness_is_the_same_shear_modulus():
    g = 1e-4
    F = flat(1, g / 2, g / 2, 1) / np.sqrt(1 + g * g / 4)  # warp and weft keep their length
    law = ImmediateBuckling((500.0, 300.0), (4 * 40.0, 4 * 40.0))
    assert law.energy(F)[0] == pytest.approx(
        BaraffWitkin((500.0, 300.0), 40.0).energy(F)[0], rel=1e-3
    )


def test_rest_stretch():
    law = ImmediateBuckling((500.0, 300.0), (80.0, 60.0), (0.9, 1.1))
    assert not law.stress(flat(0.9, 0, 0, 1.1)).any()
    assert law.rest_diagonal == pytest.approx(np.hypot(0.9, 1.1) * H)
    assert law.stress(flat(0.95, 0, 0, 0.5))[0, 0, 0] == pytest.approx(500 * 0.05)
