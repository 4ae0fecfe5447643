"""Damping of a spline's bending: Rayleigh's where it only bends, nothing where it is rigid."""

import numpy as np
import pytest

from tests.checks import InStep, assert_derivative, dense, still
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


def test_hessian_where_the_step_began(term, rng):
    """There the Gauss-Newton Hessian is the exact one."""
    x, d = cylinder(PATCH, 0.5), 0.02 * rng.normal(size=FLAT.shape)
    exact = (term.matrix(x) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda y: term.gradient(y), exact, x, d, 1e-6)
    assert np.abs(term.gradient(x)).max() < 1e-10


def test_is_rayleigh_out_of_the_plane(term):
    term.bound.freeze(still(FLAT, dt=DT, span=DT))
    out = np.arange(2, 144, 3)
    K = dense(BEND, FLAT)[np.ix_(out, out)]
    ours = term.matrix(FLAT)[np.ix_(out, out)]
    np.testing.assert_allclose(ours, BETA / DT * K, atol=1e-9 * np.abs(K).max())
