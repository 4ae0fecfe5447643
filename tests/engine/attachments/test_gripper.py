"""Grippers: their paths, and that cloth comes along."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import SceneError


def opening(hand, t):
    lower, upper = hand.bodies
    k = "xyz".index(hand.axis)
    return upper.at(t)[:, k].min() - lower.at(t)[:, k].max()


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("interpolation", ["smooth", "linear"])
def test_commands_are_motions(axis, interpolation):
    """Times are ways over speeds; pads are where they were sent, as far apart as they were told."""
    hand = weft.Gripper((0.1, 0.2, 0.3), 0.04, axis=axis, interpolation=interpolation)
    hand = hand.close("1 cm", speed=0.1).wait("0.2 s").move_to((0.1, 0.5, 0.7), speed="50 cm/s")
    end = hand.now.time
    assert end == pytest.approx(0.3 + 0.2 + 0.5 / 0.5)
    hand = hand.open(speed=0.3)
    assert hand.now.time == pytest.approx(end + 0.1) and hand.now.opening == 0.04
    for t, wide in [(0, 0.04), (0.15, 0.025), (0.3, 0.01), (0.45, 0.01), (end, 0.01), (9, 0.04)]:
        assert opening(hand, t) == pytest.approx(wide, abs=1e-12)
    for t, place in [(0.5, (0.1, 0.2, 0.3)), (1.0, (0.1, 0.35, 0.5)), (9, (0.1, 0.5, 0.7))]:
        both = np.concatenate([b.at(t) for b in hand.bodies])
        np.testing.assert_allclose((both.min(0) + both.max(0)) / 2, place, atol=1e-12)


def test_smooth_commands_start_and_end_gently():
    hand = weft.Gripper((0, 0, 0)).move_to((0, 1, 0), speed=1.0)
    body, t = hand.bodies[0], np.linspace(0, 1, 51)
    y = np.array([body.at(s)[0, 1] for s in t])
    np.testing.assert_allclose(y - y[0], t**2 * (3 - 2 * t), atol=3e-3)


@pytest.mark.parametrize(
    "command, match",
    [
        (lambda g: g.close(0.1), ("gripper.close", "0.1", "0.05")),
        (lambda g: g.close(0.01, speed=0), ("gripper.close.speed", "0")),
        (lambda g: g.move_to((0, 0, 0)), ("gripper.move_to", "0")),
        (lambda g: g.wait(-1), "gripper.wait"),
        (lambda g: weft.Gripper((0, 1, 0), axis="w"), "gripper.axis"),
    ],
)
def test_bad_commands(command, match):
    with refused(SceneError, match):
        command(weft.Gripper((0.0, 0.0, 0.0)))
