"""Laws of one's own: generated derivatives against a shipped law, and what is refused."""

import numpy as np
import pytest
import warp as wp

from tests.checks import clamp
from tests.refusals import refused
from weft.base.errors import LawError
from weft.laws import BaraffWitkin, OwnLaw, Psd, Scalar, mat32, vec3
from weft.laws import baraff_witkin as bw

pytestmark = pytest.mark.quick

VALUES = {
    "stretch_warp": 500.0,
    "stretch_weft": 300.0,
    "shear": 80.0,
    "rest_warp": 1.0,
    "rest_weft": 0.9,
}
SHIPPED = BaraffWitkin((500.0, 300.0), 80.0, (1.0, 0.9))
FROM_PSI = OwnLaw("same_psi", bw.BaraffWitkinParams, bw.psi, VALUES)
FROM_STRESS = OwnLaw("same_stress", bw.BaraffWitkinParams, bw.psi, VALUES, pk1=bw.pk1)
BY_HAND = OwnLaw(
    "same_by_hand", bw.BaraffWitkinParams, bw.psi, VALUES, pk1=bw.pk1, hessian=bw.hessian
)


@pytest.mark.parametrize("law", [FROM_PSI, FROM_STRESS, BY_HAND], ids=lambda law: law.name)
def test_generated_derivatives(law, rng):
    F = rng.normal(size=(100, 3, 2))
    exact = SHIPPED.hessian(F)
    np.testing.assert_allclose(law.energy(F), SHIPPED.energy(F), rtol=1e-13)
    np.testing.assert_allclose(law.stress(F), SHIPPED.stress(F), atol=1e-10)
    error = np.abs(law.hessian(F) - exact).max() / np.abs(exact).max()
    assert error < 1e-8


@pytest.mark.parametrize("law", [FROM_PSI, FROM_STRESS], ids=lambda law: law.name)
def test_numeric_clamp(law, rng):
    """Jacobi's method in the kernel against LAPACK, on the whole Hessian (not term by term)."""
    F = np.concatenate([rng.normal(size=(200, 3, 2)), np.eye(3)[None, :, :2]])
    for psd in (Psd.PROJECTED, Psd.GAUSS_NEWTON):
        H = law.hessian(F, psd)
        expected = clamp(law.hessian(F, Psd.EXACT))
        assert np.abs(H - expected).max() < 1e-12 * np.abs(expected).max()
        assert np.linalg.eigvalsh(H).min() > -1e-12 * np.abs(H).max()


@wp.struct
class One:
    k: Scalar


@wp.func
def of_height(F: mat32, p: One):
    return p.k * F[2, 0]


@wp.func
def twice_the_stress(F: mat32, p: bw.BaraffWitkinParams):
    return Scalar(2.0) * bw.pk1(F, p)


@wp.func
def broken(F: mat32, p: One):
    return p.k * wp.log(-wp.length(vec3(F[0, 0], F[1, 0], F[2, 0])))


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: OwnLaw("height", One, of_height, {"k": 1.0}), "own_height: psi"),
        (
            lambda: OwnLaw("wrong", bw.BaraffWitkinParams, bw.psi, VALUES, pk1=twice_the_stress),
            "own_wrong: stress",
        ),
        (lambda: OwnLaw("broken", One, broken, {"k": 1.0}), "own_broken: psi"),
        (lambda: OwnLaw("bad name", One, of_height, {"k": 1.0}), ("OwnLaw.name", "'bad name'")),
        (
            lambda: OwnLaw("fields", One, of_height, {"stiffness": 1.0}),
            ("OwnLaw 'fields': values", "stiffness"),
        ),
    ],
)
def test_refused(make, match):
    with refused(LawError, match):
        make()
