"""What every law and every energy is tested for. STYLE: a test states mathematics."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from weft import kernel
from weft.contact.contact_term import ContactTerm
from weft.energies.state import State
from weft.energies.step import Step
from weft.kernel import vec3
from weft.laws import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

STEPS = 10.0 ** -np.arange(3, 8)


def derivative_error(f, df, x, direction, scale=None):
    """Least relative error of df against central differences of f along a direction, and its slope.

    The error of a right derivative falls as h^2 until round-off; a wrong one stays. ``scale``
    stands for the size of df where that is zero.
    """
    exact = df
    scale = scale or max(np.abs(exact).max(), 1e-300)
    errors = []
    for h in STEPS:
        difference = (f(x + h * direction) - f(x - h * direction)) / (2 * h)
        errors.append(np.abs(difference - exact).max() / scale)
    return min(errors), np.log10(max(errors[0], 1e-300) / max(errors[1], 1e-300))


def assert_derivative(f, df, x, direction, tolerance=1e-7, scale=None):
    """df is the derivative of f along the direction, to second order in h."""
    error, slope = derivative_error(f, df, x, direction, scale)
    assert error < tolerance, f"derivative is off by {error:.1e}"
    # Quadratic decay, unless the first difference is at round-off already.
    assert slope > 1.8 or error < 1e-9, f"error falls with slope {slope:.2f} only"


def clamp(H):
    """Eigenvalue clamp of symmetric matrices (n,k,k) by LAPACK."""
    values, vectors = np.linalg.eigh(H)
    return np.einsum("nij,nj,nkj->nik", vectors, np.maximum(values, 0), vectors)


def rotations(n, seed=3):
    """(n,3,3) random rotations."""
    return Rotation.random(n, random_state=np.random.RandomState(seed)).as_matrix()


def dense(energy, x, psd=Psd.EXACT):
    """The (3n,3n) Hessian of an energy or of pairs in contact, added up from its local blocks with
    NumPy.
    """
    n, stencil = len(x), np.asarray(energy.stencil)
    H = np.zeros((n, n, 3, 3))
    np.add.at(H, (stencil[:, :, None], stencil[:, None]), energy.hessian(x, psd))
    return H.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)


def scatter(energy, x):
    """(n,3) gradient of an energy or of pairs in contact, added up from its local values."""
    g = np.zeros_like(x)
    np.add.at(g, energy.stencil.reshape(-1), energy.gradient(x).reshape(-1, 3))
    return g


class InStep:
    """The production face of an energy in a step: value, gradient (n,3) and matrix (3n,3n)."""

    def __init__(self, energy, n, step=None):
        self.pattern = BlockPattern.of(n, [energy.stencil])
        self.bound = energy.bind(self.pattern)
        if step is not None:
            self.bound.freeze(step)

    def value(self, x):
        return self.bound.value(kernel.points(x))

    def gradient(self, x):
        g = kernel.zeros(len(x), vec3)
        self.bound.add_gradient(kernel.points(x), g)
        return np.array(kernel.numpy(g))

    def matrix(self, x, psd=Psd.EXACT):
        A = BlockCsr.zeros(self.pattern)
        self.bound.add_hessian(kernel.points(x), psd, A.begin())
        return A.finish().to_scipy().toarray()

    def assert_equals(self, energy, x, atol=1e-12):
        """All three are those of an energy in NumPy."""
        assert self.value(x) == pytest.approx(energy.value(x).sum(), rel=1e-12)
        np.testing.assert_allclose(self.gradient(x), scatter(energy, x), atol=atol)
        for psd in Psd:
            np.testing.assert_allclose(self.matrix(x, psd), dense(energy, x, psd), atol=atol)

    def assert_derivatives(self, x, d, tolerance=1e-7, second=None):
        """Gradient and exact matrix are derivatives of the value along d."""
        slope = np.array([(self.gradient(x) * d).sum()])
        assert_derivative(lambda y: np.array([self.value(y)]), slope, x, d, tolerance)
        exact = (self.matrix(x) @ d.reshape(-1)).reshape(-1, 3)
        assert_derivative(self.gradient, exact, x, d, second or tolerance)


class DampingInStep(InStep):
    """Damping of an energy in a step, without the energy itself."""

    def __init__(self, damped, elastic, n, step):
        super().__init__(damped, n, step)
        self.elastic = InStep(elastic, n, step)

    def value(self, x):
        elastic, damping = self.bound.terms(kernel.points(x)).values()
        assert elastic == pytest.approx(self.elastic.value(x), rel=1e-13)
        assert elastic + damping == pytest.approx(super().value(x), rel=1e-13)
        return damping

    def gradient(self, x):
        return super().gradient(x) - self.elastic.gradient(x)

    def matrix(self, x, psd=Psd.EXACT):
        return super().matrix(x, psd) - self.elastic.matrix(x, psd)


def still(x, fixed=None, dt=0.0, span=np.inf, v=None, past=None):
    """A step of dt from rest at x, without inertia, pins at their places and no bodies; ``past`` as
    in ``Step``.
    """
    x = np.asarray(x, dtype=np.float64)
    fixed = np.zeros(len(x), dtype=bool) if fixed is None else fixed
    state = State(x, np.zeros_like(x) if v is None else v)
    none = np.zeros((0, 3))
    origin = x if past is None else x + past[1] * (x - past[0])
    return Step(state, dt, x, None, origin, span, fixed, x, (none, none), past)


def touching(contact, x, fixed=None):
    """The contact term of a step from rest at points x (N,3), without bodies."""
    term = ContactTerm(contact)
    term.freeze(still(x, fixed))
    return term
