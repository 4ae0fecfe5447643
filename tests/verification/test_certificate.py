"""The certificate (`weft validate`) as tests: a part in CI, all of it with `make test-all`."""

import sys
from pathlib import Path

import numpy as np
import pytest

from weft.solve.direct import have_pardiso
from weft.validate import elastica, hanging_strip, order
from weft.validate.check import Check, attempt
from weft.validate.runner import FAST, names, part_of, run

SECONDS = ("rigid-motion", "hanging-strip", "catenary", "bias", "tension-field")


@pytest.fixture
def no_extras(monkeypatch):
    """As after `pip install weft`: PARDISO cannot be imported."""
    monkeypatch.setitem(sys.modules, "pypardiso", None)
    assert not have_pardiso()


@pytest.mark.parametrize("name", names(FAST))
def test_fast_part_without_extras(name, no_extras):
    for check in run([name]):
        assert check.ok, check


@pytest.mark.parametrize("name", SECONDS)
def test_in_part_with_what_is_installed(name):
    for check in run([name]):
        assert check.ok, check


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in names() if n not in SECONDS])
def test_all_of_it_with_what_is_installed(name):
    for check in run([name]):
        assert check.ok, check


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in names() if part_of(n) != FAST])
def test_the_rest_without_extras(name, no_extras):
    for check in run([name]):
        assert check.ok, check


def test_an_error_costs_one_row(monkeypatch):
    """A case that raises is a failed row with its reason; the rows around it are there."""
    from weft.validate import catenary

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


def test_rows_before_an_error_are_kept():
    def rows():
        yield Check("a", 1.0, 1.0, 0.0, 0.1, True)
        raise RuntimeError("later")

    first, second = attempt("case", rows)
    assert first.ok and not second.ok and second.name == "case" and "later" in second.note
    assert np.isnan(second.expected)


def test_the_fast_part_is_the_default():
    rest = {"jointed", "fitting", "pillow", "adjoint", "capstan", "capstan-at-rest", "drape"}
    assert rest == set(names()) - set(names(FAST))


def test_elastica_in_part():
    assert elastica.drop(8) == pytest.approx(elastica.DROPS[8], rel=2e-2)


def test_hanging_strip_converges():
    """The error of a regular strip falls at least linearly with the element size."""
    expected = 0.2 * 9.81 / (2 * 100.0)
    errors = [abs(hanging_strip.extension(n, "regular") - expected) for n in (8, 16)]
    assert errors[1] < 0.6 * errors[0]


def test_order_of_the_integrator_in_part():
    """Cheaper than the certificate's: coarser steps, a wider margin."""
    from weft.integrators.backward_euler import BackwardEuler
    from weft.integrators.base import StepSettings

    integrator = BackwardEuler(StepSettings(tolerance=1e-9))
    assert order.measured_order(integrator) == pytest.approx(1.0, abs=0.1)


def test_every_experiment_is_documented():
    from importlib import import_module

    from weft.validate.runner import _EXPERIMENTS

    for experiment in _EXPERIMENTS.values():
        assert len(import_module(f"weft.validate.{experiment.module}").__doc__) > 60


FREECLOTH = sorted((Path(__file__).parents[2] / "examples" / "freecloth").glob("*.yaml"))


def many_steps(path, steps, adaptive):
    """Steps of a Freecloth scene on a small sheet, all of which must converge."""
    from weft.scene.build import load_scene

    small = ["cloth.sheet.nx=12", "cloth.sheet.ny=12"]
    scene = load_scene(path, small + ([] if adaptive else ["adaptive=null"])).scene
    model, stepper, state = scene.model(), scene.stepper(), scene.state()
    memory = stepper.init(model, state)
    for _ in range(steps):
        state, memory, report = stepper.step(model, state, memory, scene.step)
        assert report.outcome.ok, report.outcome
    assert np.isfinite(state.x).all() and np.abs(state.v).max() < 10


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("path", FREECLOTH, ids=lambda p: p.stem)
def test_freecloth_scenes(path, adaptive):
    many_steps(path, 150, adaptive)


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("path", FREECLOTH, ids=lambda p: p.stem)
def test_freecloth_scenes_for_10_000_steps(path, adaptive):
    many_steps(path, 10_000, adaptive)
