"""Predicted buckled shapes: the arc to machine precision, its limits, cylinders, and pairs."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from tests.checks import clamp
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.elastic.buckled_arc import arc_energy, inverse_sinc
from weft.energies.elastic.buckling_bending import (
    BucklingBending,
    strip_factor,
)
from weft.laws import Psd

pytestmark = pytest.mark.quick

D = 2e-3  # [N m]


def decimal_half_angle_sq(r):
    """w with sinc(sqrt w) = r by bisection in 60 digits: another way, in other arithmetic."""
    getcontext().prec = 60

    def sinc(w):
        term = total = Decimal(1)
        for k in range(1, 60):
            term *= -w / (2 * k * (2 * k + 1))
            total += term
        return total

    low, high = Decimal(0), Decimal(10)
    for _ in range(190):
        w = (low + high) / 2
        low, high = (w, high) if sinc(w) > Decimal(r) else (low, w)
    return float(low)


@pytest.mark.parametrize(
    "r", [0.0, 1e-9, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 2.0**-52]
)
def test_inverse_sinc_to_machine_precision(r):
    w = arc_energy(np.array([r]))[0, 0] / 2
    assert w == pytest.approx(decimal_half_angle_sq(r), rel=4e-16 * 4)
    assert inverse_sinc(np.array([r]))[0] == np.sqrt(w)


def test_arc_everywhere():
    r = np.linspace(0, 1, 5001)
    np.testing.assert_allclose(np.sinc(inverse_sinc(r) / np.pi), r, atol=1e-15)
    energy, force, stiffness = arc_energy(r).T
    assert (np.diff(energy) < 0).all() and (np.diff(force) > 0).all() and (stiffness > 0).all()
    assert arc_energy(np.array([1.0]))[0] == pytest.approx([0, -12, 7.2], abs=1e-14)
    closed = arc_energy(np.array([0.0]))[0]
    assert closed[:2] == pytest.approx(np.pi**2 * np.array([2, -4]), rel=1e-13)
    assert closed[2] == pytest.approx(12 * np.pi**2, rel=1e-8)
    # differences of energy and force: w between 0 and pi^2, on both sides of 1
    h, inside = 1e-5, r[5:-5]
    before, after = arc_energy(inside - h).T, arc_energy(inside + h).T
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), force[5:-5], rtol=1e-9)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), stiffness[5:-5], rtol=1e-7)


def test_force_is_that_of_choi_and_ko_2002():
    """f = k kappa^2/(cos u - sinc u) per L of E = 1/2 k L kappa^2, written with the area here."""
    r = np.linspace(0.05, 0.95, 19)
    u = inverse_sinc(r)
    np.testing.assert_allclose(arc_energy(r)[:, 1], (2 * u) ** 2 / (np.cos(u) - np.sinc(u / np.pi)))


def two_triangles(d):
    """Two triangles about the x axis whose tips are a distance d apart; at rest 0.8."""
    uv = np.array([[0, 0], [1, 0], [0.5, 0.3], [0.5, -0.5]])
    faces = np.array([[0, 1, 2], [1, 0, 3]])
    x = np.array([[0, 0, 0], [1, 0, 0], [0.5, d / 2, 0], [0.5, -d / 2, 0.0]])
    return TriangleMesh(x, faces, uv[faces]), x


@pytest.mark.parametrize("d", [1e-12, 1e-3, 0.4, 0.79, 0.8 - 1e-10])
def test_pair_by_hand(d):
    """Eqs. 6 and 7; L = 0.8, A_i + A_l = 0.4, the pair along v."""
    mesh, x = two_triangles(d)
    bending = BucklingBending.of(mesh, (7.0, 2.0), calibrate=False)
    kappa = 2 / 0.8 * decimal_half_angle_sq(d / 0.8) ** 0.5
    assert bending.value(x)[0] == pytest.approx(0.5 * 0.4 * 2.0 * kappa**2, rel=1e-5)
    assert bending.curvature(x)[0] == pytest.approx(kappa, rel=1e-5)
    push = bending.gradient(x)[0, 1, 1]  # of the lower tip, away from the upper one
    limits = 2.0 * 0.4 / 0.8**3 * np.array([12, 4 * np.pi**2])
    if d > 1e-6:
        assert limits[0] * (1 - 1e-9) <= push <= limits[1]
    assert np.isfinite(bending.hessian(x)).all()


@pytest.mark.parametrize("compression", [0.5, 3.0, 50.0, 1e4])
def test_the_spring_comes_first_and_is_continuous(compression):
    """c_b (|x| - L) as long as it pushes less; energy and force are continuous where it ends."""
    mesh, _ = two_triangles(0.4)
    bending = BucklingBending.of(mesh, (D, D), compression, calibrate=False)
    start = bending.start[0]

    def push(r):
        return bending.gradient(two_triangles(0.8 * r)[1])[0, 1, 1]

    def energy(r):
        return bending.value(two_triangles(0.8 * r)[1])[0]

    spring = compression * 0.4 / 0.8 * (1 - 0.9999999)
    assert push(0.9999999) == pytest.approx(spring, rel=1e-6)
    assert push(1.0) == pytest.approx(0, abs=1e-12)
    assert push(start + 1e-9) == pytest.approx(push(start - 1e-9), rel=1e-3)
    assert energy(start + 1e-9) == pytest.approx(energy(start - 1e-9), rel=1e-2)
    assert push(0.5 * start) < compression * 0.4 / 0.8 * (1 - 0.5 * start)


def test_anisotropy_is_elliptic():
    """Eq. 8, on the three directions of a grid's pairs."""
    mesh = grid(5, 5, 1, 1)
    bending = BucklingBending.of(mesh, (3.0, 1.0), calibrate=False)
    uv = mesh.vertex_uv
    p = uv[bending.pairs[:, 1]] - uv[bending.pairs[:, 0]]
    k = np.sqrt((9 * p[:, 0] ** 2 + p[:, 1] ** 2) / (p**2).sum(1))
    np.testing.assert_allclose(bending.stiffness, k, rtol=1e-12)
    np.testing.assert_allclose(bending.length, np.linalg.norm(p, axis=1), rtol=1e-12)


def test_cylinder():
    """Vertices on a cylinder of radius R: the pairs across it see 1/R, those along it nothing."""
    R = 0.5
    mesh = grid(41, 5, 1.0, 0.1, "alternating")
    uv = mesh.vertex_uv
    x = np.stack([R * np.sin(uv[:, 0] / R), R * np.cos(uv[:, 0] / R), uv[:, 1]], axis=1)
    bending = BucklingBending.of(mesh, (D, D))
    p = uv[bending.pairs[:, 1]] - uv[bending.pairs[:, 0]]
    cosine_sq = p[:, 0] ** 2 / (p**2).sum(1)
    np.testing.assert_allclose(bending.curvature(x), cosine_sq / R, atol=2e-4 / R)
    exact = bending.curvature(x)[cosine_sq > 1 - 1e-12]
    np.testing.assert_allclose(exact, 1 / R, rtol=1e-8)


def test_strip_factor():
    """Closed forms: parallel diagonals 2.0304/1.1664 (docs/explanations/bending.md), equilateral
    triangles 1."""
    h = np.sqrt(0.5)
    diagonals = np.array([[1, 2] / np.sqrt(5), [2, 1] / np.sqrt(5), [h, -h]])
    angle = np.radians([10.0, 70.0, 130.0])
    equilateral = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for directions, factor in ((diagonals, 2.0304 / 1.1664), (equilateral, 1.0)):
        c, s = directions.T
        found = strip_factor(np.stack([c * c, s * s, c * s], axis=1), np.ones(3))
        assert found == pytest.approx((factor, factor), rel=1e-6)


@pytest.mark.parametrize("psd", [Psd.PROJECTED, Psd.GAUSS_NEWTON])
def test_what_is_dropped(psd, rng):
    """Compressed pairs lose the eigenvalue across, twice, and keep the one along: the exact clamp
    of a pair.
    """
    mesh = grid(6, 5, 1, 0.8, "random", 4)
    bending = BucklingBending.of(mesh, (D, D), 30.0)
    x = 0.6 * np.array(mesh.vertices) + 0.05 * rng.normal(size=mesh.vertices.shape)
    exact, kept = (
        bending.hessian(x, which).transpose(0, 1, 3, 2, 4).reshape(-1, 6, 6)
        for which in (Psd.EXACT, psd)
    )
    np.testing.assert_allclose(kept, clamp(exact), atol=1e-12 * np.abs(exact).max())
    assert (np.sum(np.linalg.eigvalsh(exact) < -1e-9, axis=1) == 2).any()
