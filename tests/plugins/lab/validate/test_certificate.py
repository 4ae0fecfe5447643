"""The certificate (`weft validate`) as tests: a part in CI, all of it with `make test-all`."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.stepping import stepped
from weft.plugins.lab.validate import elastica, hanging_strip, order
from weft.plugins.lab.validate.check import RowBasis, attempt, compare
from weft.plugins.lab.validate.runner import FAST, names, run
from weft.scene.build import load_scene
from weft.solve.linear.direct import have_pardiso

SECONDS = ("rigid-motion", "hanging-strip", "catenary", "bias", "tension-field")


@pytest.fixture
def no_extras(monkeypatch):
    """As after `pip install weft`: PARDISO cannot be imported."""
    monkeypatch.setitem(sys.modules, "pypardiso", None)
    assert not have_pardiso()


@pytest.mark.parametrize("name", SECONDS)
def test_in_part_with_what_is_installed(name):
    for check in run([name]):
        assert not check.failed, check


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in names() if n not in SECONDS])
def test_all_of_it_with_what_is_installed(name):
    for check in run([name]):
        assert not check.failed, check


@pytest.mark.slow  # `make package` runs a part, where nothing but the wheel is installed
@pytest.mark.parametrize("name", names())
def test_all_of_it_without_extras(name, no_extras):
    for check in run([name]):
        assert not check.failed, check


def test_an_error_costs_one_row(monkeypatch):
    """A case that raises is a failed row with its reason; the rows around it are there."""
    from weft.plugins.lab.validate import catenary

    usual = hanging_strip.extension

    def breaks(n, pattern):
        if n == 16:
            raise ZeroDivisionError("no luck")
        return usual(n, pattern)

    monkeypatch.setattr(hanging_strip, "extension", breaks)
    monkeypatch.setattr(catenary, "rest", lambda *_, **__: 1 / 0)
    checks = run(["hanging-strip", "catenary", "rigid-motion"])
    failed = {c.name: c.note for c in checks if not c.ok}
    assert failed.keys() == {"hanging-strip/regular-16", "catenary"}
    assert "ZeroDivisionError: no luck" in failed["hanging-strip/regular-16"]
    assert sum(c.ok for c in checks) == 4 + 4
    assert {c.part for c in checks} == {FAST}


@pytest.mark.parametrize("basis", RowBasis)
@pytest.mark.parametrize("got", [1.0, 2.0])
def test_rows_before_an_error_are_kept_and_only_indicative_ones_may_be_missed(basis, got):
    def rows():
        yield compare("a", 1.0, got, 0.1, basis)
        raise RuntimeError("later")

    first, second = attempt("case", rows)
    assert first.ok == (got == 1.0) and first.basis is basis
    assert first.failed == (got == 2.0 and basis is not RowBasis.INDICATIVE)
    assert second.failed and second.name == "case" and "later" in second.note


def test_weak_rows_are_indicative():
    """A row that allows a twentieth or more is indicative, or says nothing of weft's accuracy."""
    checks = run(["quadratic-bending"])
    weak = {c.name for c in checks if c.basis is RowBasis.INDICATIVE}
    assert weak == {
        "quadratic-bending/cantilever-random",
        "quadratic-bending/fitted-alternating",
    }
    assert max(c.tolerance for c in checks if c.basis is not RowBasis.INDICATIVE) <= 0.02


def test_round_drum_converges_with_the_mesh(monkeypatch):
    """Second order: half the element size, a quarter of the error."""
    from weft.plugins.lab.validate import drum

    def errors(corners):
        monkeypatch.setattr(drum, "CORNERS", corners)
        return np.array([c.error for c in drum._round()])

    coarse, fine = errors(30), errors(60)
    assert (fine < 0.4 * coarse).all() and coarse.max() > 5e-3


def test_euler_load_is_that_of_the_rigidity(monkeypatch):
    """A strip whose rigidity is a tenth more than it should be misses the load by a tenth."""
    from weft.plugins.lab.validate import euler_buckling

    stiff = dataclasses.replace(euler_buckling.MATERIAL, bending=1.1 * euler_buckling.RIGIDITY)
    monkeypatch.setattr(euler_buckling, "MATERIAL", stiff)
    monkeypatch.setattr(euler_buckling, "SEGMENTS", 40)
    build = euler_buckling.triangles(clamped=False)
    expected = euler_buckling.euler_load(1)
    got = euler_buckling.buckling_load(build, expected)
    assert got / expected == pytest.approx(1.1, abs=5e-3)


def test_henckys_series_obeys_its_equations():
    """The balance and the condition at the border, by differences of the sum of the series."""
    from weft.plugins.lab.validate import hencky

    for poisson in (0.0, 0.3):
        b = hencky.border_series(poisson)
        N = np.polynomial.Polynomial(np.stack([b, 0 * b], 1).reshape(-1)[:-1])  # in powers of rho
        rho = np.linspace(0.1, 0.95, 18)
        twice = 2 * N + np.polynomial.Polynomial([0.0, 1.0]) * N.deriv()
        np.testing.assert_allclose(rho * twice.deriv()(rho), -8 * rho**2 / N(rho) ** 2, rtol=1e-8)
        assert N(1.0) + N.deriv()(1.0) == pytest.approx(poisson * N(1.0), abs=1e-9)


def test_numerical_damping_is_of_third_order():
    """The closed form itself, against the leading term of its expansion."""
    for x in (0.02, 0.05):
        z = np.abs(np.roots([1.5 - 1j * x, -2.0, 0.5])).max()
        assert 1 - z**2 == pytest.approx(x**4 / 2, rel=5 * x**2)


def test_half_waves_and_wavelengths():
    from weft.fabric.folds import fold_length
    from weft.plugins.lab.validate.wrinkles import half_waves

    y = np.linspace(0, np.pi, 200)
    assert [half_waves(np.sin(n * y)) for n in (1, 4, 7)] == [1, 4, 7]
    # the wave number of the least load of B k^4 + T (pi/L)^2 = b k^2
    B, T, L = 3e-5, 20.0, 0.7
    k = np.linspace(5, 200, 200_000)
    least = k[np.argmin(B * k**2 + T * (np.pi / L) ** 2 / k**2)]
    assert fold_length(B, T, L) == pytest.approx(2 * np.pi / least, rel=1e-4)


def test_elastica_in_part():
    assert elastica.drop(8) == pytest.approx(elastica.DROPS[8], rel=2e-2)


def test_order_of_the_integrator_in_part():
    """Cheaper than the certificate's: coarser steps, a wider margin."""
    from weft.integrators.backward_euler import BackwardEuler
    from weft.integrators.base import StepSettings

    integrator = BackwardEuler(StepSettings(tolerance=1e-9))
    assert order.measured_order(integrator) == pytest.approx(1.0, abs=0.1)


FREECLOTH = sorted((Path(__file__).parents[4] / "examples" / "freecloth").glob("*.yaml"))


@pytest.mark.parametrize("steps", [60, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("more", [[], ["adaptive=null"]], ids=["adaptive", "steady"])
@pytest.mark.parametrize("path", FREECLOTH, ids=lambda p: p.stem)
def test_freecloth_scenes(path, more, steps):
    """On a small sheet every step converges."""
    scene = load_scene(path, ["cloth.sheet.nx=12", "cloth.sheet.ny=12", *more]).scene
    _, state, _ = stepped(scene, steps)
    assert np.isfinite(state.x).all() and np.abs(state.v).max() < 10
