"""Damping is Rayleigh's for small motions, and nothing for rigid ones of any size."""

import numpy as np
import pytest

from tests.checks import DampingInStep, dense, rotations, still
from tests.engine.energies import builders as made
from tests.engine.energies.builders import ENERGIES, MESH, crumple, numbers
from tests.engine.energies.test_energies import EXTERNAL
from weft.laws import Psd

pytestmark = pytest.mark.quick

BETA, DT = 0.03, 0.01
START = crumple(MESH.vertices, 1, 0.02)
X = crumple(START, 2, 0.01)
OTHERS = {made.spline_bending, made.of_seams, made.motors}  # of form K v; where closed; of speeds
DAMPED = [m for m in ENERGIES if "damping" in numbers(m) and m not in EXTERNAL | OTHERS]
NOT_OF_CONDITIONS = {made.several_laws, made.own_damped, made.measured_bending, made.springs}
NOT_OF_CONDITIONS |= {made.spline_damping}


@pytest.fixture(params=DAMPED, ids=lambda make: make.__name__)
def make(request):
    return request.param


@pytest.fixture
def term(make):
    damped, elastic = make(MESH, damping=BETA), make(MESH, damping=0.0)
    return DampingInStep(damped, elastic, len(START), still(START, dt=DT, span=DT))


def test_is_rayleigh_at_the_start_of_the_step(term, make):
    """beta/h times the Gauss-Newton stiffness of the elastic energy, so F = -beta K v."""
    assert np.abs(term.gradient(START)).max() < 1e-12
    if make not in NOT_OF_CONDITIONS:
        K = BETA / DT * dense(make(MESH), START, Psd.GAUSS_NEWTON)
        ours = term.matrix(START, Psd.PROJECTED)
        np.testing.assert_allclose(ours, K, atol=1e-7 * np.abs(K).max())


def test_rigid_motion_is_not_damped(term):
    scale = np.abs(term.gradient(X)).max()
    for R in rotations(5, 2):
        moved = START @ R.T + [1.0, 2.0, 3.0]
        assert np.abs(term.gradient(moved)).max() < 1e-10 * scale
        assert term.value(moved) < 1e-18


def test_with_two_steps_of_the_past(term, rng):
    """What is measured is measured at both: their rigid motion is not damped, and nothing is where
    theta goes on as it went.
    """
    before, now, after = (START @ R.T for R in rotations(3, 3))
    term.bound.freeze(still(now, dt=DT, span=DT, past=(before, 1 / 3)))
    scale = np.abs(term.gradient(crumple(now, 2, 0.01))).max()
    assert np.abs(term.gradient(after)).max() < 1e-10 * scale
    d = 1e-4 * rng.normal(size=START.shape)
    term.bound.freeze(still(now, dt=DT, span=DT, past=(now - d, 1 / 3)))
    on, back = (np.abs(term.gradient(now + s * d)).max() for s in (1 / 3, -1 / 3))
    assert 0 < on < 0.05 * back  # to first order in d


def test_keeps_momentum_and_takes_energy_out(term):
    """The dissipation potential of the step is positive for any deformation."""
    g = term.gradient(X)
    np.testing.assert_allclose(g.sum(0), 0, atol=1e-11 * np.abs(g).max())
    np.testing.assert_allclose(np.cross(X, g).sum(0), 0, atol=1e-11 * np.abs(g).max())
    assert all(term.value(crumple(START, seed, 0.01)) > 0 for seed in range(10, 15))
