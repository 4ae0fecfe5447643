"""Damping of a spline's bending: Rayleigh's where it only bends, nothing where it is rigid."""

import numpy as np
import pytest

from tests.checks import InStep, assert_derivative, dense, rotations, still
from tests.engine.discretization.test_bspline import cylinder, skewed
from weft.discretization.spline_surface import SplineSurface
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.quadratic_form import QuadraticForm

pytestmark = pytest.mark.quick

BETA, DT = 0.03, 0.01
PATCH = skewed(8, "greville")
AT = SplineSurface.of([PATCH]).laplacians(2e-2, 1e-2)
BEND = QuadraticForm(AT.stencil, AT.coefficient, AT.weight)
FLAT = np.column_stack([PATCH.rest.reshape(-1, 2), np.zeros(48)])


@pytest.fixture
def term():
    energy = CurvatureDamping(BEND, AT.gradient, BETA, 48)
    return InStep(energy, 48, still(cylinder(PATCH, 0.5), dt=DT, span=DT))


def test_gradient(term, rng):
    x = cylinder(PATCH, 0.45) + 0.01 * rng.normal(size=FLAT.shape)
    d = 0.02 * rng.normal(size=x.shape)
    slope = (term.gradient(x) * d).sum()
    assert_derivative(lambda y: term.value(y), slope, x, d, 1e-6)


def test_hessian_where_the_step_began(term, rng):
    """There the Gauss-Newton Hessian is the exact one."""
    x, d = cylinder(PATCH, 0.5), 0.02 * rng.normal(size=FLAT.shape)
    exact = (term.matrix(x) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda y: term.gradient(y), exact, x, d, 1e-6)
    assert np.abs(term.gradient(x)).max() < 1e-10


def test_with_two_steps_of_the_past(term):
    """A rigid motion of the past costs nothing; a bend that goes on as it went neither."""
    x = cylinder(PATCH, 0.5)
    before, now, after = (x @ R.T for R in rotations(3, 3))
    scale = np.abs(term.gradient(cylinder(PATCH, 0.45))).max()
    term.bound.freeze(still(now, dt=DT, span=DT, past=(before, 1 / 3)))
    assert np.abs(term.gradient(after)).max() < 1e-9 * scale
    term.bound.freeze(still(x, dt=DT, span=DT, past=(cylinder(PATCH, 0.503), 1 / 3)))
    on, back = (np.abs(term.gradient(cylinder(PATCH, r))).max() for r in (0.499, 0.501))
    assert on < 0.05 * back


def test_is_rayleigh_out_of_the_plane(term):
    term.bound.freeze(still(FLAT, dt=DT, span=DT))
    out = np.arange(2, 144, 3)
    K = dense(BEND, FLAT)[np.ix_(out, out)]
    ours = term.matrix(FLAT)[np.ix_(out, out)]
    np.testing.assert_allclose(ours, BETA / DT * K, atol=1e-9 * np.abs(K).max())


def test_rigid_motion_is_not_damped(term):
    R = rotations(1, 4)[0]
    moved = cylinder(PATCH, 0.5) @ R.T + [0.1, 2.0, -1.0]
    assert term.value(moved) < 1e-18
    assert np.abs(term.gradient(moved)).max() < 1e-9
