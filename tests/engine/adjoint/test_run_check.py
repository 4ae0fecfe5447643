"""``Adjoint(...)(check=True)``: a gradient beside one run with other parameters."""

import warnings

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import hung, landing, noise
from tests.refusals import refused
from weft.adjoint import Mean, run_check
from weft.base.errors import SceneError, SimulationError
from weft.scene.prepare import prepare


def pushed(bump):
    """A flat strip that is pushed together by a tenth, with a bump of its middle [m]."""
    cloth = weft.sheet(9, 3, 0.2, 0.04, fabric="cotton")
    x = np.array(cloth.points)
    x[:, 1] += bump * np.sin(np.pi * (x[:, 0] / 0.2 + 0.5))
    path = weft.Path([weft.Keyframe(0.0), weft.Keyframe(0.1, (-0.02, 0.0, 0.0))], hold=True)
    ends = [weft.Pin(cloth.border("left")), weft.Pin(cloth.border("right"), path=path)]
    return weft.Scene(
        cloth.with_points(x),
        ends,
        gravity=(0, 0, 0),
        step=0.01,
        settings=weft.StepSettings(tolerance=1e-8),
    )


@pytest.mark.parametrize(
    "scene, names, loss, fps",
    [
        (hung(), ["positions", "fabric.shear", "gravity"], noise(16), 100),
        (hung("bdf2"), ["velocities", "rest", "pins.pin.keyframes"], noise(16), 100),
        (landing(), ["positions", "contact.friction"], noise(16), 200),
    ],
    ids=["hung", "arrays", "landing"],
)
def test_smooth_runs_are_confirmed(scene, names, loss, fps):
    adjoint = weft.Adjoint(scene, loss, names, frames=2, fps=fps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = adjoint(check=True)
    check = found.report.check
    assert check.tells and check.agrees
    assert check.measured == pytest.approx(check.predicted, rel=1e-2) and check.predicted > 0
    assert "checked: a run" in str(found.report)


def test_without_a_check_the_report_says_so():
    found = weft.Adjoint(hung(), noise(16), ["gravity"], frames=1, fps=100)()
    assert found.report.check is None and "not checked" in str(found.report)


@pytest.mark.slow
def test_buckling_is_not_confirmed():
    """The bump grows by orders of magnitude: what is linear in it says nothing of a run nearby."""
    adjoint = weft.Adjoint(pushed(1e-8), Mean((0, 1, 0)), ["positions"], frames=8, fps=100)
    with pytest.warns(UserWarning, match="another branch"):
        found = adjoint(check=True)
    check = found.report.check
    assert check.tells and not check.agrees and "NOT CONFIRMED" in str(found.report)


def test_loose_steps_cannot_tell():
    scene = hung().with_(settings=weft.StepSettings(tolerance=1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = weft.Adjoint(scene, noise(16), ["positions"], frames=2, fps=100)(check=True)
    assert not found.report.check.tells and "smaller settings.tolerance" in str(found.report)


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


def test_nothing_to_see_where_the_gradient_is_zero():
    found = weft.Adjoint(hung(), noise(16), ["fabric.thickness"], frames=1, fps=100)(check=True)
    assert "the gradient is zero" in str(found.report)


def test_targets_alone_cannot_be_checked():
    adjoint = weft.Adjoint(hung(), noise(16), ["pins.pin.targets"], frames=1, fps=100)
    with refused(SceneError, "check", got="pins.pin.targets"):
        adjoint(check=True)


def test_other_values_of_arrays():
    """``with_values`` takes whole arrays as their gradients have them."""
    scene = hung()
    adjoint = weft.Adjoint(scene, Mean((0, 1, 0), frame=0), ["positions"], frames=1, fps=100)
    moved = adjoint.with_values({"positions": np.array(scene.cloth.points) + [0, 0.5, 0]})
    assert moved.value() == pytest.approx(adjoint.value() + 0.5)
    fast = adjoint.with_values({"velocities": np.ones((16, 3))})
    assert np.array_equal(prepare(fast.scene).state.v, np.ones((16, 3)))
