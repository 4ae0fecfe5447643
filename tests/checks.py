"""What every law and every energy is tested for. STYLE: a test states mathematics."""

import numpy as np
from scipy.spatial.transform import Rotation

from weft.contact.contact_energy import ContactEnergy
from weft.energies.state import State
from weft.energies.step import Step
from weft.laws import Psd

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
    """The (3n,3n) Hessian of an energy, added up from its local blocks with NumPy."""
    n = len(x)
    H = np.zeros((n, 3, n, 3))
    blocks = energy.hessian(x, psd)
    for stencil, local in zip(energy.stencil, blocks):
        for a, i in enumerate(stencil):
            for b, j in enumerate(stencil):
                H[i, :, j, :] += local[a, b]
    return H.reshape(3 * n, 3 * n)


def scatter(energy, x):
    """(n,3) gradient of an energy, added up from its local values with NumPy."""
    g = np.zeros_like(x)
    np.add.at(g, energy.stencil.reshape(-1), energy.gradient(x).reshape(-1, 3))
    return g


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
    term = ContactEnergy(contact)
    term.freeze(still(x, fixed))
    return term
