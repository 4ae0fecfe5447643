"""Damping of a spline's bending: Rayleigh's where it only bends, nothing where it is rigid."""

import numpy as np
import pytest

from tests.checks import assert_derivative, dense, rotations, still
from tests.discretization.test_bspline import cylinder, skewed
from weft import kernel
from weft.discretization.spline_surface import SplineSurface
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.kernel import vec3
from weft.laws import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick

BETA, DT = 0.03, 0.01
PATCH = skewed(8, "greville")
AT = SplineSurface.of([PATCH]).laplacians(2e-2, 1e-2)
BEND = QuadraticForm(AT.stencil, AT.coefficient, AT.weight)
PATTERN = BlockPattern.of(48, [BEND.stencil])
FLAT = np.column_stack([PATCH.rest.reshape(-1, 2), np.zeros(48)])


@pytest.fixture
def term():
    bound = CurvatureDamping(BEND, AT.gradient, BETA, 48).bind(PATTERN)
    bound.freeze(still(cylinder(PATCH, 0.5), dt=DT, span=DT))
    return bound


def gradient(term, x):
    g = kernel.zeros(len(x), vec3)
    term.add_gradient(kernel.array(x, vec3), g)
    return np.array(kernel.numpy(g))


def hessian(term, x):
    A = BlockCsr.zeros(PATTERN)
    term.add_hessian(kernel.array(x, vec3), Psd.PROJECTED, A.begin())
    return A.to_scipy().toarray()


def test_gradient(term, rng):
    x = cylinder(PATCH, 0.45) + 0.01 * rng.normal(size=FLAT.shape)
    d = 0.02 * rng.normal(size=x.shape)
    slope = (gradient(term, x) * d).sum()
    assert_derivative(lambda y: term.value(kernel.array(y, vec3)), slope, x, d, 1e-6)


def test_hessian_where_the_step_began(term, rng):
    """There the Gauss-Newton Hessian is the exact one."""
    x, d = cylinder(PATCH, 0.5), 0.02 * rng.normal(size=FLAT.shape)
    exact = (hessian(term, x) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda y: gradient(term, y), exact, x, d, 1e-6)
    assert np.abs(gradient(term, x)).max() < 1e-10


def test_with_two_steps_of_the_past(term):
    """A rigid motion of the past costs nothing; a bend that goes on as it went neither."""
    x = cylinder(PATCH, 0.5)
    before, now, after = (x @ R.T for R in rotations(3, 3))
    scale = np.abs(gradient(term, cylinder(PATCH, 0.45))).max()
    term.freeze(still(now, dt=DT, span=DT, past=(before, 1 / 3)))
    assert np.abs(gradient(term, after)).max() < 1e-9 * scale
    term.freeze(still(x, dt=DT, span=DT, past=(cylinder(PATCH, 0.503), 1 / 3)))
    on, back = (np.abs(gradient(term, cylinder(PATCH, r))).max() for r in (0.499, 0.501))
    assert on < 0.05 * back


def test_is_rayleigh_out_of_the_plane(term):
    term.freeze(still(FLAT, dt=DT, span=DT))
    out = np.arange(2, 144, 3)
    K = dense(BEND, FLAT)[np.ix_(out, out)]
    ours = hessian(term, FLAT)[np.ix_(out, out)]
    np.testing.assert_allclose(ours, BETA / DT * K, atol=1e-9 * np.abs(K).max())


def test_rigid_motion_is_not_damped(term):
    R = rotations(1, 4)[0]
    moved = cylinder(PATCH, 0.5) @ R.T + [0.1, 2.0, -1.0]
    assert term.value(kernel.array(moved, vec3)) < 1e-18
    assert np.abs(gradient(term, moved)).max() < 1e-9
