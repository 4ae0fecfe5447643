"""Damping is Rayleigh's for small motions, and nothing for rigid ones of any size."""

import dataclasses

import numpy as np
import pytest

from tests.checks import DampingInStep, dense, rotations, still
from tests.engine.energies.test_energies import MESH, bending, crumple, membrane
from weft.laws import Psd

pytestmark = pytest.mark.quick

BETA, DT = 0.03, 0.01
START = crumple(MESH.vertices, 1, 0.02)


@pytest.fixture(params=[membrane, bending])
def source(request):
    return request.param(MESH)


@pytest.fixture
def term(source):
    damped = dataclasses.replace(source, damping=BETA)
    return DampingInStep(damped, source, len(START), still(START, dt=DT, span=DT))


def test_derivatives(term, rng):
    x, d = crumple(START, 2, 0.01), rng.normal(size=START.shape) * 0.02
    term.assert_derivatives(x, d, 1e-6)


def test_is_rayleigh_at_the_start_of_the_step(term, source):
    """beta/h times the Gauss-Newton stiffness of the elastic energy, so F = -beta K v."""
    K = dense(source, START, Psd.GAUSS_NEWTON)
    np.testing.assert_allclose(
        term.matrix(START, Psd.PROJECTED), BETA / DT * K, atol=1e-6 * BETA / DT * np.abs(K).max()
    )
    assert np.abs(term.gradient(START)).max() < 1e-12


def test_rigid_motion_is_not_damped(term):
    scale = np.abs(term.gradient(crumple(START, 2, 0.01))).max()
    for R in rotations(5, 2):
        moved = START @ R.T + [1.0, 2.0, 3.0]
        assert np.abs(term.gradient(moved)).max() < 1e-10 * scale
        assert term.value(moved) < 1e-18


def test_with_two_steps_of_the_past(term, rng):
    """What is measured is measured at both: their rigid motion is not damped, derivatives hold, and
    nothing is where theta goes on as it went.
    """
    before, now, after = (START @ R.T for R in rotations(3, 3))
    term.bound.freeze(still(now, dt=DT, span=DT, past=(before, 1 / 3)))
    scale = np.abs(term.gradient(crumple(now, 2, 0.01))).max()
    assert np.abs(term.gradient(after)).max() < 1e-10 * scale
    d = 1e-4 * rng.normal(size=START.shape)
    term.bound.freeze(still(now, dt=DT, span=DT, past=(now - d, 1 / 3)))
    on, back = (np.abs(term.gradient(now + s * d)).max() for s in (1 / 3, -1 / 3))
    assert 0 < on < 0.05 * back  # to first order in d
    x, d = crumple(now, 2, 0.01), rng.normal(size=START.shape) * 0.02
    term.assert_derivatives(x, d, 1e-6)


def test_keeps_momentum(term):
    x = crumple(START, 2, 0.01)
    g = term.gradient(x)
    np.testing.assert_allclose(g.sum(0), 0, atol=1e-11 * np.abs(g).max())
    np.testing.assert_allclose(np.cross(x, g).sum(0), 0, atol=1e-11 * np.abs(g).max())


def test_takes_energy_out(term):
    """The dissipation potential of the step is positive for any deformation."""
    for seed in range(5):
        assert term.value(crumple(START, seed + 10, 0.01)) > 0
