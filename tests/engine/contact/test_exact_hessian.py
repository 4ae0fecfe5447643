"""The exact Hessian of a step with contact and friction: that of its gradient, negative where that
falls; the projected one is neither.
"""

import numpy as np
import pytest

import weft
from tests.checks import derivative_error
from weft.contact import Friction, sphere
from weft.contact.settings import SelfContact
from weft.integrators.potential import Potential
from weft.laws import Psd
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

DT = 0.02
TERMS = {"all": slice(None), "contact and friction alone": slice(-1, None)}


def potential(make, friction=0.3, part="all", seed=0):
    """Of a step with which crumpled cloth slides over a ball and another cloth; and where it is."""
    lower = make(6, 6, 0.2, 0.2).move((0.003, 0.108, 0.002))
    upper = make(5, 5, 0.15, 0.15).move((0.0, 0.119, 0.004), (0, 20, 0))
    cloth = weft.join([lower, upper], ["lower", "upper"])
    contact = SelfContact(0.02, friction=friction, stick=5e-3)
    scene = Scene(cloth, bodies=[sphere(0.1, 0.05)], contact=contact)
    ready = prepare(scene)
    model, state = ready.model, ready.state
    rng = np.random.default_rng(seed)
    x = state.x + 1e-3 * rng.normal(size=state.x.shape)
    state = type(state)(x, state.v)
    step = model.step(state, DT, x, DT * DT, (x, DT))
    phi = Potential(model, step, terms=model.assembly.terms[TERMS[part]])
    y = x + 2e-4 * rng.normal(size=x.shape) + [3e-4, 0, 1e-4]
    terms = phi.terms(y)
    assert terms["contact"] > 0 and terms["friction"] > 0
    return phi, y


def least(H):
    """Least eigenvalue, its vector (n,3), and the largest in size."""
    values, vectors = np.linalg.eigh(H.toarray())
    return values[0], vectors[:, 0].reshape(-1, 3), np.abs(values).max()


FRICTIONS = {"one coefficient": 0.3, "falling": Friction(0.5, 0.1)}


@pytest.mark.parametrize("friction", FRICTIONS.values(), ids=FRICTIONS)
@pytest.mark.parametrize("make", [weft.sheet, weft.spline_sheet])
def test_is_the_derivative_of_the_gradient(make, friction, rng, device):
    """H d is (g(x + h d) - g(x - h d))/2h, and g.d is Phi's, to round-off at the best of h, 1 um
    to 0.1 nm: second derivatives jump where a pair changes its kind. H is symmetric.
    """
    phi, x = potential(make, friction, seed=1)
    H = phi.hessian(x, Psd.EXACT)
    assert abs(H - H.T).max() < 1e-12 * abs(H).max()
    for _ in range(3):
        d = 1e-3 * rng.normal(size=x.shape)
        Hd = (H @ d.reshape(-1)).reshape(-1, 3)
        assert derivative_error(phi.value, (phi.gradient(x) * d).sum(), x, d)[0] < 1e-7
        assert derivative_error(phi.gradient, Hd, x, d)[0] < 1e-7


@pytest.mark.parametrize("part", TERMS)
@pytest.mark.parametrize("make", [weft.sheet, weft.spline_sheet])
def test_is_negative_where_forces_fall(make, part, device):
    """Closest points that turn under pressure make the force fall: along the eigenvector v of the
    least eigenvalue the gradient does fall, at that rate. PROJECTED is definite, and not below.
    """
    phi, x = potential(make, part=part)
    value, v, size = least(phi.hessian(x, Psd.EXACT))
    h = 1e-7 / np.abs(v).max()
    rate = (v * (phi.gradient(x + h * v) - phi.gradient(x - h * v))).sum() / (2 * h)
    assert value < -1e-4 * size
    assert rate == pytest.approx(value, rel=1e-3)
    lowest, _, most = least(phi.hessian(x, Psd.PROJECTED))
    assert lowest >= -1e-12 * most
