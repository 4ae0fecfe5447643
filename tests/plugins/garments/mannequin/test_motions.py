"""Walking, sitting and turning: periodic, smooth, feet on the floor, no limb through another."""

import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import MannequinError
from weft.contact.exact.intersections import intersections
from weft.plugins.garments.mannequin import MOTIONS, MotionSettings, mannequin
from weft.plugins.garments.mannequin.gait import STRIDE, published_angles, walking_cycle
from weft.plugins.garments.mannequin.joints import NUMBER
from weft.plugins.garments.mannequin.motions import DOWN, Motion, walk_in_place
from weft.plugins.garments.mannequin.stance import solve_joints

FLOOR = 0.006  # [m] below which a vertex of the sole is on the floor


def steady(woman, n=120):
    """Times [s] of a cycle of the walk from the left heel's contact on, and the motion."""
    motion = Motion(woman.body, MotionSettings("walk", cycles=3, forward=True))
    start = motion.settings.hold + (2 - 0.31) * motion.period
    assert start > motion.settings.hold + motion.settings.blend
    return start + np.arange(n + 1) / n * motion.period, motion


def test_walk_is_periodic(woman):
    """After a cycle everything is a stride farther, exactly; half a cycle mirrors the joints."""
    t, motion = steady(woman)
    x = woman.apply_stance(*motion.at(t[[0, -1]]))
    np.testing.assert_allclose(
        x[1] - x[0], np.broadcast_to([0, 0, motion.stride], x[0].shape), atol=1e-9
    )
    stance, _, shift = motion.at(t[[0, 60]])
    _, places = solve_joints(stance, woman.joints)
    for name in ("hip", "knee", "ankle", "shoulder", "wrist"):
        one, two = places[0, NUMBER["left_" + name]], places[1, NUMBER["right_" + name]]
        np.testing.assert_allclose(one * (-1, 1, 1), two, atol=1e-9)
    assert shift[1, 2] - shift[0, 2] == pytest.approx(motion.stride / 2)


def test_feet_do_not_slide(woman):
    """A point of the sole moves less than 2 cm along the floor while it is on it, and none goes
    more than 5 mm below.
    """
    t, motion = steady(woman)
    x = woman.apply_stance(*motion.at(t))
    sole = np.flatnonzero((woman.vertices[:, 0] > 0) & (woman.vertices[:, 1] < 0.05))
    foot = x[:, sole]
    assert x[:, :, 1].min() > -0.005
    on = foot[:, :, 1] < FLOOR
    touching = np.flatnonzero(on.any(0))
    assert len(touching) > 40
    for v in touching:
        ids = np.flatnonzero(on[:, v])
        for run in np.split(ids, np.flatnonzero(np.diff(ids) > 1) + 1):
            assert np.ptp(foot[run, v][:, [0, 2]], axis=0).max() < 0.02
    lowest = x[:, :, 1].min(1)  # some foot is always on the floor
    assert lowest.max() < 0.02


def test_joint_angles_are_near_the_published_ones(woman):
    """The thigh within 7 degrees of Perry's, knee and ankle within 13, in the mean square."""
    body = woman.body
    cycle = walking_cycle(body.rest, body.foot, body.height, STRIDE * body.height)
    _, places = solve_joints(walk_in_place(body, cycle, cycle.phase), body.rest)
    hip, knee, ankle = (places[:, NUMBER["left_" + n]] for n in ("hip", "knee", "ankle"))

    def lean(v):
        return np.degrees(np.arctan2(v[:, 2], -v[:, 1]))

    thigh, shank = lean(knee - hip), lean(ankle - knee)
    foot = np.degrees(cycle.pitch[:, 0])
    found = np.stack([thigh, thigh - shank, foot - shank], axis=1)
    error = np.sqrt(((found - np.degrees(published_angles(cycle.phase))) ** 2).mean(0))
    assert (error < [7, 13, 9]).all(), error


@pytest.mark.parametrize("name", MOTIONS)
def test_motions_begin_at_rest_and_are_smooth(woman, name):
    """The a-pose during the hold; continuous velocities: differences of second order shrink with
    the step to a power above one (a kink would leave them proportional to the step; a knee that
    begins to bend goes with the power 1.5).
    """
    settings = MotionSettings(name, hold=0.2, blend=0.5, cycles=1)
    motion = Motion(woman.body, settings)
    rest = woman.apply_stance(*motion.at(np.array([0.0, 0.19])))
    assert np.abs(rest - woman.vertices).max() < 1e-6
    last = motion.duration
    corners = np.array([0.2, 0.7, last - 0.5, last])

    def jump(h):
        t = (corners[:, None] + h * np.array([-1.0, 0.0, 1.0])).ravel()
        stance, turn, _ = motion.at(t)
        _, places = solve_joints(stance, woman.joints)
        places = places.reshape(len(corners), 3, -1)
        return (
            np.abs(places[:, 0] - 2 * places[:, 1] + places[:, 2]).max()
            + np.abs(turn.reshape(-1, 3) @ [1, -2, 1]).max()
        )

    coarse, fine = jump(4e-3), jump(1e-3)
    assert fine < 0.18 * coarse + 1e-9


@pytest.mark.parametrize(
    "name", ["arms_down", "seated", "walk", "sit"]
)  # `turn` is arms_down, turned
def test_no_limb_goes_through_another(woman, name):
    frames = woman.motion(name, hold=0, blend=0.6, cycles=1, fps=4)
    for x in frames.positions:
        assert len(intersections(x, woman.faces)) == 0


def test_arms_of_a_stout_figure_clear_it():
    """Arms hang farther out the broader the trunk is."""
    stout = mannequin("woman", height=1.75, chest=1.17, waist=1.15, hips=1.06, size=0.0212)
    assert np.degrees(stout.body.down[0]) > 15 > np.degrees(DOWN[0])
    assert len(intersections(stout.pose_vertices("arms_down"), stout.faces)) == 0


def test_turn_comes_round_and_the_walk_stays_in_place(woman):
    motion = Motion(woman.body, MotionSettings("turn", hold=0.1, blend=0.4, cycles=1))
    _, turn, _ = motion.at(np.array([0.0, motion.duration]))
    # cycles at full speed, and half of each blend
    assert turn[1] == pytest.approx(2 * np.pi * (1 + 0.4 / motion.period))
    stance, turn, shift = Motion(woman.body, MotionSettings("walk")).at(np.linspace(0, 9, 99))
    assert (turn == 0).all() and (shift == 0).all() and (stance.root[:, 2] == 0).all()


def test_speed_and_stride(woman):
    free = Motion(woman.body, MotionSettings("walk"))
    assert free.stride == pytest.approx(STRIDE * 1.68)
    fast = Motion(woman.body, MotionSettings("walk", speed=1.5))
    assert fast.stride / fast.period == pytest.approx(1.5)
    assert fast.stride > free.stride and fast.period < free.period


@pytest.mark.parametrize(
    "given, text",
    [
        ({"motion": "jump"}, ("mannequin.motion", "'jump'", "a_pose")),
        ({"speed": 9.0}, ("mannequin.speed", "9.0")),
        ({"fps": -1}, "mannequin.motion.fps"),
        ({"seconds": float("inf")}, "mannequin.motion.seconds"),
    ],
)
def test_what_it_cannot_do_is_named(woman, given, text):
    with refused(MannequinError, text):
        woman.motion(**given)
