"""Derivatives beside and by numbers that change in time, against differences of runs."""

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import compared, hung, landing, noise
from weft.adjoint import Adjoint

BESIDE = ["fabric.density", "fabric.stretch_warp", "fabric.bending_warp", "pins.pin.keyframes"]


def keys(*values, between="linear"):
    """Spread over 30 ms, more than the runs take."""
    return weft.Keys(list(zip(np.linspace(0, 0.03, len(values)), values)), between)


@pytest.mark.parametrize(
    "integrator, between",
    [
        ("backward_euler", "linear"),
        ("bdf2", "smooth"),
        pytest.param("backward_euler", "hold", marks=pytest.mark.slow),
    ],
)
def test_gravity(integrator, between):
    scene = hung(integrator, keyed={"gravity.1": keys(-9.81, -3.0, -6.0, between=between)})
    got, expected, found = compared(scene, ["gravity.1.keys", "gravity", *BESIDE])
    assert got == pytest.approx(expected, rel=1e-5)
    assert found.gradient["gravity"][1] == 0  # its keys say what it is
    assert found.gradient["gravity.1.keys"].shape == (3,)


def test_a_number_that_has_keys_is_known_by_them():
    scene = hung(wind=weft.Wind((1.0, 0.2, 0.5)), keyed={"wind.drag": keys(1.3, 1.5)})
    names = Adjoint(scene, noise(16), frames=1, fps=100).names
    assert "wind.drag.keys" in names and "wind.drag" not in names


def test_a_key_beyond_the_run_counts_by_what_is_between():
    """With a step that ends at t, numbers are (1 - s) of the first key and s of the last."""
    scene = hung(keyed={"gravity.1": weft.Keys([(0.0, -9.81), (1.0, -9.0)])})
    scene = scene.with_(settings=weft.StepSettings(tolerance=1e-6))  # no halves
    by = Adjoint(scene, noise(16), ["gravity.1.keys"], frames=1, fps=100)().gradient
    first, last = by["gravity.1.keys"]
    assert last / first == pytest.approx(0.01 / 0.99, rel=1e-7)


def test_friction_that_changes():
    scene = landing(keyed={"contact.friction": weft.Keys([(0, 0.1), (0.02, 0.6)])})
    names = ["contact.friction.keys", "contact.gap", "fabric.density", "bodies.table.translation"]
    got, expected, _ = compared(scene, names, frames=2, fps=200, h=1e-4)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_wind_with_gusts():
    wind = weft.Wind((1.0, 0.2, 0.5), gusts=weft.Gusts(0.3, 0.2))
    numbers = {
        "wind.velocity.0": keys(1.0, 3.0),
        "wind.drag": keys(1.3, 1.5),
    }
    scene = hung(wind=wind, keyed=numbers)
    names = [*(f"{n}.keys" for n in numbers), "wind.density", "fabric.density"]
    got, expected, _ = compared(scene, names)
    assert got == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_tangents_say_the_same():
    scene = hung("bdf2", keyed={"gravity.1": keys(-9.81, -3.0)})
    adjoint = Adjoint(scene, noise(16), ["gravity.1.keys"], frames=2, fps=100)
    back = adjoint().gradient["gravity.1.keys"]
    dx, dv = adjoint.tangent("gravity.1.keys")
    _, by_x, by_v = noise(16)(np.zeros(dx.shape[:3]), np.zeros(dx.shape[:3]), None)
    ahead = np.einsum("fni,fnik->k", by_x, dx) + np.einsum("fni,fnik->k", by_v, dv)
    np.testing.assert_allclose(ahead, back, rtol=1e-5)


def test_recomputed_steps_have_their_own_numbers():
    scene = hung(keyed={"gravity.0": keys(0.0, 2.0), "gravity.1": keys(-9.81, -3.0)})
    names = ["gravity.0.keys", "gravity.1.keys", "positions"]
    whole, little = (
        Adjoint(scene, noise(16), names, frames=4, fps=100, memory=m)() for m in (1e9, 0)
    )
    assert little.report.recomputed == 4
    for name in names:
        assert np.array_equal(whole.gradient[name], little.gradient[name])
