"""Beams in axial flow: the theory against published numbers, and its motions against itself."""

import numpy as np
import pytest

from weft.plugins.lab.validate import flutter
from weft.plugins.lab.validate.axial_flow import Beam, shapes


@pytest.mark.parametrize(
    "beam, u, omega",
    [(Beam(0.00023, 61.1), 6.15, 21.3), (Beam(0.00203, 42.4), 5.62, 19.5)],
)
def test_hanging_pipes_of_the_book(beam, u, omega):
    """Paidoussis 1998, table 3.4, without damping: to all its digits."""
    got = beam.critical()
    assert got == pytest.approx((u, omega), abs=0.05) and abs(got[0] - u) < 0.0066


def test_without_a_fluid_it_is_a_beam():
    """The frequencies of a cantilever, 3.516 and 22.03, and with weight those of a heavier one."""
    rates = Beam(0.2).rates(0.0)[0]
    np.testing.assert_allclose(np.sort(np.abs(rates.imag))[::2][:2], [3.516, 22.03], rtol=1e-3)
    slack = Beam(0.2, 1e4).rates(0.0)[0]  # bending is little to weight: a chain, j_0 / 2 sqrt(g/L)
    assert np.abs(slack.imag).min() == pytest.approx(2.4048 / 2 * 1e2, rel=2e-2)


def test_a_motion_is_one():
    """Its deflection, put into the equation by finite differences along the beam."""
    beam, u, h = Beam(0.1, 20.0, 1e-3), 5.0, 2e-3
    rate, deflection = beam.motion(u)
    s = np.linspace(0.2, 0.8, 13)
    y = [deflection(s + k * h) for k in (-2, -1, 0, 1, 2)]
    first, second = (y[3] - y[1]) / (2 * h), (y[3] - 2 * y[2] + y[1]) / h**2
    fourth = (y[4] - 4 * y[3] + 6 * y[2] - 4 * y[1] + y[0]) / h**4
    pull = (u * u - beam.gamma * (1 - s)) * second + beam.gamma * first
    flow = 2 * np.sqrt(beam.beta) * u * rate * first
    left = (1 + beam.damping * rate) * fourth + pull + flow + rate**2 * y[2]
    assert np.abs(left).max() < 0.03 * np.abs(fourth).max()  # ten modes
    assert deflection(np.ones(1)) == pytest.approx(1.0) and np.abs(deflection(np.zeros(1))) < 1e-12
    np.testing.assert_allclose(shapes(np.zeros(1))[1], 0.0, atol=1e-9)


@pytest.mark.parametrize("beam, u", [(flutter.LEVEL, 5.4), (flutter.HUNG, 5.75)])
def test_wefts_strip_moves_as_the_theory_has_it(beam, u):
    """Rate and frequency at a speed."""
    rate = beam.motion(u)[0]
    got = flutter.root(beam, u, segments=20)
    assert got.imag == pytest.approx(rate.imag, rel=0.03)
    assert got.real == pytest.approx(rate.real, abs=0.02 * rate.imag)


def test_drag_across_leaves_the_onset_where_it_is():
    """In crossflow it is of second order; else it is a lift that slender strips do not have."""
    rate = flutter.root(flutter.LEVEL, 5.6, segments=16)
    drag = {"drag": 1.1, "lift": 1.1}
    same = flutter.root(flutter.LEVEL, 5.6, segments=16, **drag, crossflow=True)
    other = flutter.root(flutter.LEVEL, 5.6, segments=16, **drag)
    assert abs(same - rate) < 0.02 * abs(rate)
    assert abs(other - rate) > 0.2 * abs(rate)
