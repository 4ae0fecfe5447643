"""Damping is Rayleigh's for small motions, and nothing for rigid ones of any size."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

from tests.checks import assert_derivative, dense, rotations, still
from tests.energies.test_energies import MESH, bending, crumple, membrane
from weft import kernel
from weft.kernel import vec3
from weft.laws import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick

BETA, DT = 0.03, 0.01
PATTERN = BlockPattern.of(MESH.n_vertices, [membrane(MESH).stencil, bending(MESH).stencil])
START = crumple(MESH.vertices, 1, 0.02)


@dataclass
class Term:
    """An energy with damping in a step from START, and the same without."""

    source: object
    damped: object
    elastic: object

    def value(self, x):
        (value,) = (v for k, v in self.damped.terms(x).items() if k.endswith("damping"))
        return value


@pytest.fixture(params=[membrane, bending])
def term(request):
    source = request.param(MESH)
    damped = dataclasses.replace(source, damping=BETA)
    made = Term(source, damped.bind(PATTERN), source.bind(PATTERN))
    for bound in (made.damped, made.elastic):
        bound.freeze(still(START, dt=DT, span=DT))
    return made


def gradient(term, x):
    """Of damping alone."""
    g = [kernel.zeros(len(x), vec3) for _ in range(2)]
    for bound, out in zip((term.damped, term.elastic), g):
        bound.add_gradient(kernel.points(x), out)
    return np.array(kernel.numpy(g[0])) - kernel.numpy(g[1])


def hessian(term, x, psd):
    """Of damping alone."""
    A = [BlockCsr.zeros(PATTERN) for _ in range(2)]
    for bound, out in zip((term.damped, term.elastic), A):
        bound.add_hessian(kernel.points(x), psd, out.begin())
    return A[0].to_scipy().toarray() - A[1].to_scipy().toarray()


def test_derivatives(term, rng):
    x, d = crumple(START, 2, 0.01), rng.normal(size=START.shape) * 0.02
    slope = (gradient(term, x) * d).sum()
    assert_derivative(lambda y: term.value(kernel.array(y, vec3)), slope, x, d, 1e-6)
    exact = (hessian(term, x, Psd.EXACT) @ d.reshape(-1)).reshape(-1, 3)
    assert_derivative(lambda y: gradient(term, y), exact, x, d, 1e-6)


def test_is_rayleigh_at_the_start_of_the_step(term):
    """beta/h times the Gauss-Newton stiffness of the elastic energy, so F = -beta K v."""
    source = term.source
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


def test_with_two_steps_of_the_past(term, rng):
    """What is measured is measured at both: their rigid motion is not damped, derivatives hold, and
    nothing is where theta goes on as it went.
    """
    before, now, after = (START @ R.T for R in rotations(3, 3))
    term.damped.freeze(still(now, dt=DT, span=DT, past=(before, 1 / 3)))
    scale = np.abs(gradient(term, crumple(now, 2, 0.01))).max()
    assert np.abs(gradient(term, after)).max() < 1e-10 * scale
    d = 1e-4 * rng.normal(size=START.shape)
    term.damped.freeze(still(now, dt=DT, span=DT, past=(now - d, 1 / 3)))
    on, back = (np.abs(gradient(term, now + s * d)).max() for s in (1 / 3, -1 / 3))
    assert 0 < on < 0.05 * back  # to first order in d
    x, d = crumple(now, 2, 0.01), rng.normal(size=START.shape) * 0.02
    slope = (gradient(term, x) * d).sum()
    assert_derivative(lambda y: term.value(kernel.array(y, vec3)), slope, x, d, 1e-6)


def test_keeps_momentum(term):
    x = crumple(START, 2, 0.01)
    g = gradient(term, x)
    np.testing.assert_allclose(g.sum(0), 0, atol=1e-11 * np.abs(g).max())
    np.testing.assert_allclose(np.cross(x, g).sum(0), 0, atol=1e-11 * np.abs(g).max())


def test_takes_energy_out(term):
    """The dissipation potential of the step is positive for any deformation."""
    for seed in range(5):
        assert term.value(kernel.array(crumple(START, seed + 10, 0.01), vec3)) > 0
