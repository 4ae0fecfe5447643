"""Closed-form spectra and clamps of the laws, against LAPACK; decompositions against SciPy."""

import numpy as np
import pytest
from scipy.linalg import polar

from tests.checks import clamp
from tests.refusals import refused
from weft.base.errors import LawError
from weft.laws import (
    AngleShear,
    Arap,
    BaraffWitkin,
    DotShear,
    NeoHookean,
    Psd,
    StVK,
    StvkShear,
    StvkStretch,
)
from weft.laws.base import sampled_law

pytestmark = pytest.mark.quick

TINY = 1e-12  # stiffness of a term that is switched off, where it must be > 0


def skew(angle):
    return (np.cos(angle), np.sin(angle))


ANGLES = {
    "orthogonal": np.pi / 2,
    "acute": 0.8,
    "obtuse": 2.2,
    "nearly equal": 1e-5,
    "equal": 0.0,
    "nearly opposite": np.pi - 1e-5,
    "opposite": np.pi,
}


def gradients(rng):
    """Random F; also flat ones, F with I6 = 0, and collapsed ones."""
    F = rng.normal(size=(200, 3, 2)) * rng.uniform(0.2, 1.5, (200, 1, 1))
    F[:20, 2] = 0.0
    F[20:40, :, 1] -= (
        F[20:40, :, 0]
        * ((F[20:40, :, 0] * F[20:40, :, 1]).sum(1) / (F[20:40, :, 0] ** 2).sum(1))[:, None]
    )
    F[40:50, :, 1] = F[40:50, :, 0]
    F[50:55] = np.eye(3)[:, :2]
    return F


@pytest.mark.parametrize("name", ANGLES)
def test_general_shear_is_clamped_exactly(name, rng):
    """Eqs. 42, 45-52: any two directions, I6 - a.b of both signs and zero."""
    law = BaraffWitkin((TINY, TINY), 90.0, warp=skew(0.3), weft=skew(0.3 + ANGLES[name]))
    F = gradients(rng)
    exact = law.hessian(F, Psd.EXACT)
    error = np.abs(law.hessian(F, Psd.PROJECTED) - clamp(exact)).max()
    assert error < 1e-10 * np.abs(exact).max()


def shifted(rest):
    """Shear whose rest value is not zero: g g^T + c K with c unlike I6."""
    records = DotShear(90.0).parameter_array(190)
    records["rest"] = rest
    return sampled_law(DotShear(90.0), [records])


SINGLE = {
    "arap": Arap(300.0),
    "stvk": StVK(200.0, 150.0),
    "stvk_no_lame": StVK(200.0),
    "neo_hookean": NeoHookean(200.0, 150.0),
    "stvk_shear": StvkShear(90.0, warp=skew(0.1), weft=skew(1.9)),
    "dot_shear": DotShear(90.0),
    **{f"dot_shear from {rest}": shifted(rest) for rest in (0.3, -0.4, 1.5)},
    "quartic fiber": StvkStretch((300.0, TINY), (0.9, 1.0), warp=skew(0.4), weft=skew(1.2)),
    "fiber": BaraffWitkin((300.0, TINY), 0.0, warp=skew(0.4), weft=skew(1.2)),
}


@pytest.mark.parametrize("name", SINGLE)
def test_each_term_is_clamped_exactly(name, rng):
    law, F = SINGLE[name], gradients(rng)
    if "shear" not in name or "from" in name:
        F = np.delete(F, slice(40, 50), axis=0)  # collapsed: no normal, and 1/s is held
    exact = law.hessian(F, Psd.EXACT)
    error = np.abs(law.hessian(F, Psd.PROJECTED) - clamp(exact)).max()
    assert error < 1e-10 * np.abs(exact).max()


@pytest.mark.parametrize("name", [name for name in SINGLE if "from" not in name])
def test_collapsed_samples_are_finite(name):
    law = SINGLE[name]
    F = np.zeros((4, 3, 2))
    F[1, 0, 0] = 1.0
    F[2, :, :] = 1.0
    F[3, 0] = [1e-12, 1e-12]
    for psd in Psd:
        H = law.hessian(F, psd)
        assert np.isfinite(H).all()
        if psd is not Psd.EXACT:
            assert np.linalg.eigvalsh(H).min() >= -1e-10 * np.abs(H).max()
    assert np.isfinite(law.energy(F)).all() and np.isfinite(law.stress(F)).all()


@pytest.mark.parametrize("name", ANGLES)
def test_general_eigensystem(name, rng):
    """H q = lambda q for every term, orthonormal q, and H = sum lambda q q^T."""
    F = rng.normal(size=(100, 3, 2))
    a, b = skew(0.3), skew(0.3 + ANGLES[name])
    how = {"rest_stretch": (1.0, 0.9), "warp": a, "weft": b}
    system = BaraffWitkin((700.0, 300.0), 250.0, **how).eigensystem(F)
    terms = {
        "warp": ((700.0, TINY), 0.0),
        "weft": ((TINY, 300.0), 0.0),
        "shear": ((TINY, TINY), 250.0),
    }
    for term, constants in terms.items():
        law = BaraffWitkin(*constants, **how)
        values, q = getattr(system, term)
        np.testing.assert_allclose(
            q.transpose(0, 2, 1) @ q, np.broadcast_to(np.eye(6), q.shape), atol=1e-10
        )
        H = np.einsum("nij,nj,nkj->nik", q, values, q)
        np.testing.assert_allclose(H, law.hessian(F), atol=1e-9 * np.abs(H).max())


def test_eigenvalues_of_the_papers_case():
    """a = au, b = av: I6 twice, -I6 twice, and (I2 ± sqrt(I2^2 + 12 I6^2))/2 (eqs. 34-35)."""
    F = np.random.default_rng(0).normal(size=(50, 3, 2))
    values = np.sort(BaraffWitkin((1.0, 1.0), 2.0).eigensystem(F).shear.values, axis=1)
    I6, I2 = (F[:, :, 0] * F[:, :, 1]).sum(1), (F**2).sum((1, 2))
    root = np.sqrt(I2**2 + 12 * I6**2)
    expected = 2 * np.stack([(I2 + root) / 2, I6, I6, (I2 - root) / 2, -I6, -I6], axis=1)
    np.testing.assert_allclose(values, np.sort(expected, axis=1), atol=1e-10)


def test_directions_turn_with_the_material(rng):
    """Orthogonal directions turned by an angle are the aligned law of the turned F."""
    t = 0.7
    turn = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    F = rng.normal(size=(50, 3, 2))
    turned = BaraffWitkin((500.0, 300.0), 90.0, (0.9, 1.1), warp=turn[:, 0], weft=turn[:, 1])
    aligned = BaraffWitkin((500.0, 300.0), 90.0, (0.9, 1.1))
    np.testing.assert_allclose(turned.energy(F), aligned.energy(F @ turn), rtol=1e-12)
    np.testing.assert_allclose(turned.stress(F), aligned.stress(F @ turn) @ turn.T, atol=1e-9)
    T = np.kron(turn, np.eye(3))
    for psd in Psd:
        expected = T @ aligned.hessian(F @ turn, psd) @ T.T
        np.testing.assert_allclose(turned.hessian(F, psd), expected, atol=1e-8)


def test_a_field_of_directions(rng):
    """One direction for every sample."""
    F, t = rng.normal(size=(30, 3, 2)), rng.uniform(0, 3, 30)
    a, b = np.stack(skew(t), axis=1), np.stack(skew(t + 1.3), axis=1)
    field = BaraffWitkin((500.0, 300.0), 90.0, warp=a, weft=b)
    one = BaraffWitkin((500.0, 300.0), 90.0, warp=a[7], weft=b[7])
    assert one.energy(F[7:8])[0] == pytest.approx(field.energy(F)[7], rel=1e-13)
    with refused(LawError, "baraff_witkin_skewed.warp", got="60 values", expected="29 samples"):
        field.energy(F[:29])


def test_arap_is_the_distance_to_the_rotation(rng):
    """k/2 |F - R|^2 and P = k (F - R), with SciPy's polar decomposition."""
    F = rng.normal(size=(40, 3, 2))
    R = np.array([polar(f)[0] for f in F])
    law = Arap(7.0)
    np.testing.assert_allclose(law.energy(F), 3.5 * ((F - R) ** 2).sum((1, 2)), rtol=1e-11)
    np.testing.assert_allclose(law.stress(F), 7.0 * (F - R), atol=1e-11)


def test_eigenvalues_of_arap(rng):
    """Eqs. 27-28 with our 1/2."""
    F = rng.normal(size=(40, 3, 2))
    s = np.linalg.svd(F, compute_uv=False)
    k = 7.0
    one = np.ones(40)
    expected = k * np.stack(
        [1 - 1 / s[:, 0], 1 - 1 / s[:, 1], 1 - 2 / s.sum(1), one, one, one], axis=1
    )
    values = np.linalg.eigvalsh(Arap(k).hessian(F))
    np.testing.assert_allclose(values, np.sort(expected, axis=1), atol=1e-9)


def test_laws_by_their_definitions(rng):
    F = rng.normal(size=(40, 3, 2))
    C = F.transpose(0, 2, 1) @ F
    E, J = 0.5 * (C - np.eye(2)), np.sqrt(np.linalg.det(C))
    trace, dot = np.trace(E, axis1=1, axis2=2), C[:, 0, 1]
    length = np.linalg.norm(F, axis=1)
    for law, energy in (
        (StVK(3.0, 5.0), 3.0 * (E**2).sum((1, 2)) + 0.5 * 5.0 * trace**2),
        (
            NeoHookean(3.0, 5.0),
            1.5 * ((F**2).sum((1, 2)) - 2) - 3.0 * (J - 1) + 4.0 * (J - 1) ** 2,
        ),
        (DotShear(3.0), 1.5 * dot**2),
        (AngleShear(3.0), 1.5 * (dot / length.prod(1)) ** 2),
    ):
        np.testing.assert_allclose(law.energy(F), energy, rtol=1e-10, err_msg=law.name)


def test_small_strain_of_isotropic_laws_agrees():
    """StVK and stable neo-Hookean have one linearization; ARAP is that of mu = k/2, lambda = 0."""
    F = np.eye(3)[:, :2][None]
    np.testing.assert_allclose(
        StVK(3.0, 5.0).hessian(F), NeoHookean(3.0, 5.0).hessian(F), atol=1e-12
    )
    np.testing.assert_allclose(Arap(6.0).hessian(F), StVK(3.0).hessian(F), atol=1e-12)


def test_laws_add(rng):
    F = rng.normal(size=(20, 3, 2))
    parts = Arap(3.0), DotShear(5.0), StvkShear(2.0)
    total = parts[0] + (parts[1] + parts[2])
    assert total.name == "arap + dot_shear + stvk_shear" and len(total.parts) == 3
    np.testing.assert_allclose(total.energy(F), sum(law.energy(F) for law in parts))
    for psd in Psd:
        expected = sum(law.hessian(F, psd) for law in parts)
        np.testing.assert_allclose(total.hessian(F, psd), expected, atol=1e-11)
