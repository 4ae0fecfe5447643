"""Baraff-Witkin as Kim (2020) writes it: closed forms, projections, and the collapsed fiber."""

import numpy as np
import pytest

from tests.checks import clamp
from weft.laws import BaraffWitkin, Psd

pytestmark = pytest.mark.quick

STRETCH_ONLY = BaraffWitkin((700.0, 300.0), 0.0, (1.0, 0.9))
SHEAR_ONLY = BaraffWitkin((1e-12, 1e-12), 250.0)
BOTH = BaraffWitkin((700.0, 300.0), 250.0)


@pytest.fixture
def F(rng):
    return rng.normal(size=(300, 3, 2)) * rng.uniform(0.2, 1.5, (300, 1, 1))


def test_energy_by_hand():
    """1/2 ku (|f0|-1)^2 + 1/2 kv (|f1|-1)^2 + 1/2 ks (f0.f1)^2 at f0 = (2,0,0), f1 = (1,1,1)."""
    F = np.array([[[2.0, 1.0], [0.0, 1.0], [0.0, 1.0]]])
    expected = 0.5 * 700 * 1 + 0.5 * 300 * (np.sqrt(3) - 1) ** 2 + 0.5 * 250 * 2.0**2
    np.testing.assert_allclose(BOTH.energy(F), [expected], rtol=1e-14)


@pytest.mark.parametrize("law", [STRETCH_ONLY, SHEAR_ONLY], ids=["stretch", "shear"])
def test_projection_of_each_term_is_its_eigenvalue_clamp(law, F):
    """Kim 2020, App. A, against LAPACK."""
    np.testing.assert_allclose(
        law.hessian(F, Psd.PROJECTED), clamp(law.hessian(F, Psd.EXACT)), atol=1e-9
    )


def test_projection_is_per_term(F):
    """The sum of the projected terms is what the paper uses; it is not the clamp of the sum."""
    stretch, shear = BaraffWitkin((700.0, 300.0), 0.0), SHEAR_ONLY
    both = BOTH.hessian(F, Psd.PROJECTED)
    np.testing.assert_allclose(
        both, stretch.hessian(F, Psd.PROJECTED) + shear.hessian(F, Psd.PROJECTED), atol=1e-8
    )
    of_sum = clamp(BOTH.hessian(F, Psd.EXACT))
    assert np.abs(both - of_sum).max() > 1.0
    # It never falls below the exact Hessian: the difference is positive semi-definite.
    assert np.linalg.eigvalsh(both - BOTH.hessian(F, Psd.EXACT)).min() > -1e-9


def test_gauss_newton_drops_second_derivatives(F):
    """Choi & Ko: H = sum k grad(c) grad(c)^T of the conditions c = |f| - b and f0.f1."""
    H = BOTH.hessian(F, Psd.GAUSS_NEWTON)
    expected = np.zeros_like(H)
    for c, k in ((0, 700.0), (1, 300.0)):
        n = F[:, :, c] / np.linalg.norm(F[:, :, c], axis=1, keepdims=True)
        expected[:, 3 * c : 3 * c + 3, 3 * c : 3 * c + 3] += k * n[:, :, None] * n[:, None, :]
    g = np.concatenate([F[:, :, 1], F[:, :, 0]], axis=1)
    expected += 250.0 * g[:, :, None] * g[:, None, :]
    np.testing.assert_allclose(H, expected, atol=1e-9)


def test_eq_41():
    """The paper's T lacks a factor 1/2: with it, T projects onto {(t, t)} and {(t, -t)}; without,
    not.

    For I6 > 0, App. A adds the part of I6 T that T q0 has not used; that T must be a projection.
    """
    eye = np.eye(3)
    T_paper = np.block([[eye, eye], [eye, eye]])
    assert not np.allclose(T_paper @ T_paper, T_paper)
    T = 0.5 * T_paper
    np.testing.assert_allclose(T @ T, T)
    F = np.array([[[1.0, 0.4], [0.1, 0.9], [0.0, 0.2]]])
    f0, f1 = F[0, :, 0], F[0, :, 1]
    I6, I2 = f0 @ f1, (F**2).sum()
    largest = 0.5 * (I2 + np.sqrt(I2**2 + 12 * I6**2))
    q0 = np.concatenate([I6 * f0 + largest * f1, I6 * f1 + largest * f0])
    q0 /= np.linalg.norm(q0)
    Tq = T @ q0
    H = largest * np.outer(q0, q0) + I6 * (T - np.outer(Tq, Tq) / (Tq @ Tq))
    np.testing.assert_allclose(250 * H, SHEAR_ONLY.hessian(F, Psd.PROJECTED)[0], atol=1e-9)


@pytest.mark.parametrize("psd", list(Psd))
def test_collapsed_fiber_is_finite_and_continuous(psd):
    """I5 -> 0: energy, stress and Hessian stay finite, and do not jump across the guard."""
    # With the projection, the stiffness along the fiber rises from 0 to k within 1e-6 of the guard.
    r = np.concatenate(
        [[0.0], np.logspace(-12, -3, 400), 1e-6 * (1 + np.linspace(-3e-6, 3e-6, 2001))]
    )
    r.sort()
    F = np.zeros((len(r), 3, 2))
    F[:, 0, 0], F[:, 1, 1] = r, 1.0
    values = [BOTH.energy(F), BOTH.stress(F), BOTH.hessian(F, psd)]
    for a in values:
        assert np.isfinite(a).all()
    near = np.abs(r - 1e-6) < 4e-12
    for a in values:
        jumps = np.abs(np.diff(a[near], axis=0)).reshape(near.sum() - 1, -1)
        total = np.abs(a[near][-1] - a[near][0]).max()
        assert jumps.max() <= 0.05 * total + 1e-9 * np.abs(a).max(), "a jump across the guard"
