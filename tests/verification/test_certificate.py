"""The certificate (`weft validate`) as tests: a part in CI, all of it with `make test-all`."""

from pathlib import Path

import numpy as np
import pytest

from weft.validate import elastica, hanging_strip, order
from weft.validate.runner import names, run

QUICK = ("free-fall", "rigid-motion", "hanging-strip", "catenary", "derivatives", "spectra", "bias")


@pytest.mark.parametrize("name", QUICK)
def test_quick(name):
    for check in run([name]):
        assert check.ok, check


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in names() if n not in QUICK])
def test_slow(name):
    for check in run([name]):
        assert check.ok, check


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

    for module in _EXPERIMENTS.values():
        assert len(import_module(f"weft.validate.{module}").__doc__) > 60


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
