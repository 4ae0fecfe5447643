"""Damping is Rayleigh's for small motions, and nothing for rigid ones of any size."""

import numpy as np
import pytest

from tests.checks import assert_derivative, dense, rotations
from tests.energies.test_energies import MESH, bending, crumple, membrane
from weft import kernel
from weft.energies.damping import HingeDamping, MembraneDamping
from weft.kernel import vec3
from weft.laws import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern

BETA, DT = 0.03, 0.01
PATTERN = BlockPattern.of(MESH.n_vertices, [membrane(MESH).stencil, bending(MESH).stencil])
START = crumple(MESH.vertices, 1, 0.02)


@pytest.fixture(params=["membrane", "bending"])
def term(request):
    """A bound damping term, frozen at START."""
    if request.param == "membrane":
        bound = MembraneDamping(membrane(MESH), BETA).bind(PATTERN)
    else:
        bound = HingeDamping(bending(MESH), BETA).bind(PATTERN)
    bound.freeze(kernel.array(START, vec3), DT)
    return bound


def gradient(term, x):
    g = kernel.zeros(len(x), vec3)
    term.add_gradient(kernel.array(x, vec3), g)
    return np.array(kernel.numpy(g))


def hessian(term, x, psd):
    A = BlockCsr.zeros(PATTERN)
    term.add_hessian(kernel.array(x, vec3), psd, A, clear=True)
    return A.to_scipy().toarray()


def test_derivatives(term, rng):
    x, d = crumple(START, 2, 0.01), rng.normal(size=START.shape) * 0.02
    slope = (gradient(term, x) * d).sum()
    assert_derivative(lambda y: term.value(kernel.array(y, vec3)), slope, x, d, 1e-6)
    exact = (hessian(term, x, Psd.EXACT) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda y: gradient(term, y), exact, x, d, 1e-6)


def test_is_rayleigh_at_the_start_of_the_step(term):
    """beta/h times the Gauss-Newton stiffness of the elastic energy, so F = -beta K v."""
    source = term.damping.source
    K = dense(source, START, Psd.GAUSS_NEWTON)
    np.testing.assert_allclose(
        hessian(term, START, Psd.PROJECTED), BETA / DT * K, atol=1e-6 * BETA / DT * np.abs(K).max()
    )
    assert np.abs(gradient(term, START)).max() < 1e-12


def test_rigid_motion_is_not_damped(term):
    scale = np.abs(gradient(term, crumple(START, 2, 0.01))).max()
    for R in rotations(5, 2):
        moved = START @ R.T + [1.0, 2.0, 3.0]
        assert np.abs(gradient(term, moved)).max() < 1e-10 * scale
        assert term.value(kernel.array(moved, vec3)) < 1e-18


def test_keeps_momentum(term):
    x = crumple(START, 2, 0.01)
    g = gradient(term, x)
    np.testing.assert_allclose(g.sum(0), 0, atol=1e-11 * np.abs(g).max())
    np.testing.assert_allclose(np.cross(x, g).sum(0), 0, atol=1e-11 * np.abs(g).max())


def test_takes_energy_out(term):
    """The dissipation potential of the step is positive for any deformation."""
    for seed in range(5):
        assert term.value(kernel.array(crumple(START, seed + 10, 0.01), vec3)) > 0
