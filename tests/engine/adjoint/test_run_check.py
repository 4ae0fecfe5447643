"""``Adjoint(...)(check=True)``: a gradient beside one run with other parameters."""

import warnings

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import hung, landing, noise
from tests.refusals import refused
from weft.adjoint import Mean, Sum, run_check
from weft.base.errors import SceneError, SimulationError


@pytest.mark.parametrize(
    "scene, names",
    [
        (hung("bdf2"), ["velocities", "rest", "gravity", "pins.pin.keyframes"]),
        (landing(), ["positions", "contact.friction"]),
    ],
    ids=["hung", "landing"],
)
def test_smooth_runs_are_confirmed(scene, names):
    adjoint = weft.Adjoint(scene, noise(16), names, frames=2, fps=200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = adjoint(check=True)
    check = found.report.check
    assert check.tells and check.agrees
    assert check.measured == pytest.approx(check.predicted, rel=1e-2) and check.predicted > 0
    assert "checked: a run" in str(found.report)


def test_loose_steps_cannot_tell():
    scene = hung().with_(settings=weft.StepSettings(tolerance=1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = weft.Adjoint(scene, noise(16), ["positions"], frames=2, fps=100)(check=True)
    assert not found.report.check.tells and "smaller settings.tolerance" in str(found.report)


def test_the_noise_of_a_loss_is_proportional_to_it():
    scene, loss = hung().with_(settings=weft.StepSettings(tolerance=1.0)), noise(16)
    one, many = (
        weft.Adjoint(scene, made, ["positions"], frames=2, fps=100)(check=True).report.check.noise
        for made in (loss, Sum([(1000.0, loss)]))
    )
    assert many == pytest.approx(1000 * one, rel=1e-6) and one > 0


def test_a_run_nearby_that_fails():
    def fails(change):
        raise SimulationError("step 3", got="BLOCKED")

    found = run_check.check_run({"p": np.array(2.0)}, {"p": 1.0}, 1.0, 0.0, fails)
    assert found.tells and not found.agrees and "fails: step 3" in str(found)


def test_the_change_is_along_the_gradient_in_units_of_sizes():
    """f = 3 p + 4 q with sizes 1 and 10: q is changed by 1e-6 of 10 and most of the change."""
    changes = {}

    def value_at(change):
        changes.update(change)
        return 3 * float(change["p"]) + 4 * float(change["q"])

    gradient = {"p": np.array(3.0), "q": np.array(4.0)}
    found = run_check.check_run(gradient, {"p": 1.0, "q": 10.0}, 0.0, 0.0, value_at)
    assert changes["q"] / changes["p"] == pytest.approx(400 / 3)
    assert found.predicted == pytest.approx(1e-6 * np.hypot(3, 40))
    assert found.measured == pytest.approx(found.predicted) and found.agrees


def test_a_jump_is_not_confirmed():
    """A scene whose gravity jumps at the value that it has, though its slope is known."""
    gravity = np.array([0.0, -9.81, 0.0])

    def with_jump(scene, g):
        jump = 1e-3 if 0 < g - 9.81 < 1e-4 else 0.0
        return scene.with_(gravity=gravity * (g + jump) / 9.81)

    mine = weft.Parameter("g", 9.81, with_jump, linear=True)
    adjoint = weft.Adjoint(hung(), Mean((0, -1, 0)), [mine], frames=1, fps=100)
    with pytest.warns(UserWarning, match="another branch"):
        check = adjoint(check=True).report.check
    assert check.measured > 10 * check.predicted > 0


def test_targets_alone_cannot_be_checked():
    adjoint = weft.Adjoint(hung(), noise(16), ["pins.pin.targets"], frames=1, fps=100)
    with refused(SceneError, "check", got="pins.pin.targets"):
        adjoint(check=True)
