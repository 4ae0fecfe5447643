"""A step is divided where what is prescribed does not move nearly straight in it."""

import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import SimulationError
from weft.base.keyframes import Keys
from weft.bodies.body import Body
from weft.bodies.joints.arm import Arm, ArmJoint, ArmLink
from weft.bodies.motion.pins import Keyframe, Path
from weft.bodies.motion.point_sequence import BodyFrames
from weft.bodies.motion.prescribed import (
    ArmMotion,
    DriveMotion,
    FramesMotion,
    HandMotion,
    motion_along,
)
from weft.bodies.motion.step_division import MOST_TURN, divide_step
from weft.bodies.shapes.primitives import box
from weft.energies.springs.hand import Hand, Hands

pytestmark = pytest.mark.quick
GAP = 2e-3
ROD = np.array([[-0.1, 0.0, 0.0], [0.1, 0.0, 0.0]])


def path(*keys, start=ROD, **how):
    frames = [
        Keyframe(t, tuple(map(float, way)), float(np.radians(angle))) for t, way, angle in keys
    ]
    return motion_along(
        "rod", Path(frames, **{"interpolation": "linear", "hold": True, **how}), start
    )


def parts(motion, begin=0.0, dt=0.01, gap=GAP):
    division = divide_step([motion], begin, dt, gap)
    assert sum(division.parts) == pytest.approx(dt)
    return division.parts


@pytest.mark.parametrize("turn", [360, -270])
def test_no_part_turns_by_more_than_30_degrees_or_leaves_the_chord_by_more_than_the_gap(turn):
    """Whole turns too, after which every vertex is where it was."""
    motion = path((0, (0, 0, 0), 0), (0.01, (0, 0, 0), turn))
    found = parts(motion)
    sagitta = 0.1 * (1 - np.cos(np.radians(abs(turn)) / len(found) / 2))
    assert np.radians(abs(turn)) / len(found) <= MOST_TURN and sagitta <= GAP
    assert found == pytest.approx([0.01 / len(found)] * len(found))
    fewer = len(found) - 1
    turned = np.radians(abs(turn)) / fewer
    assert turned > MOST_TURN or 0.1 * (1 - np.cos(turned / 2)) > 0.9 * GAP


@pytest.mark.parametrize("between", ["linear", "smooth"])
def test_there_and_back_inside_a_step_ends_a_part_at_the_keyframe(between):
    keys = (0, (0, 0, 0), 0), (0.013, (0, 0.05, 0), 0), (0.02, (0, 0, 0), 0)
    motion = path(*keys, interpolation=between)
    assert parts(motion) == [0.01]
    assert np.cumsum(parts(motion, 0.01)) == pytest.approx([0.003, 0.01])


@pytest.mark.parametrize(
    "keys",
    [
        ((0, (0, 0, 0), 0), (0.1, (1, 0, 0), 0)),  # straight
        ((0, (0, 0, 0), 0), (0.004, (0.2, 0, 0), 0), (0.007, (0.5, 0, 0), 0)),  # faster
        ((0, (0, 0, 0), 0), (0.01, (0.05, 0, 0), 0), (0.02, (0, 0, 0), 0)),  # back at a step's end
        ((0, (0, 0, 0), 0), (0.1, (0, 0, 0), 50)),  # 5 degrees in a step
    ],
)
def test_what_is_nearly_straight_stays_in_one_piece(keys):
    motion = path(*keys)
    for k in range(10):
        assert divide_step([motion], k * 0.01, 0.01, GAP).parts == [0.01]


def test_frames_divide_a_step_only_where_vertices_leave_the_chord():
    body = box((0.1, 0.1, 0.1), 0.1)
    x = body.vertices
    up = np.array([0.0, 1.0, 0.0])
    hop = [x, x + 0.03 * up, x, x + 1e-4 * up, x]
    times = np.array([0.0, 0.003, 0.006, 0.013, 0.02])
    moving = Body(x, body.faces, frames=BodyFrames(times, np.stack(hop), hold=True))
    motion = FramesMotion(moving)
    assert np.cumsum(parts(motion)) == pytest.approx([0.003, 0.006, 0.01])
    assert parts(motion, 0.01) == [0.01] and parts(motion, 0.02) == [0.01]


def arm_motion(targets):
    """Return the motion of two links of 0.4 m with hinges, and the arm."""
    axis, zero = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    joints = [
        ArmJoint(f"hinge {k}", k, False, axis, zero, -np.inf, np.inf, 0.0, k - 1) for k in (1, 2)
    ]
    place = np.eye(4)
    place[0, 3] = 0.4
    keys = {f"hinge {k}": v for k, v in zip((1, 2), targets)}
    arm = Arm(
        "arm", ["base", "upper", "lower"], np.array([-1, 0, 1]), np.stack([place] * 3), joints, keys
    )
    shape = np.array(box((0.4, 0.02, 0.02), 0.1).move((0.2, 0.0, 0.0)).vertices)
    return ArmMotion(arm, [ArmLink(arm, k, shape) for k in (1, 2)])


def test_an_arm_is_divided_by_the_turning_of_its_links():
    still = Keys([(0.0, 0.3)])
    fast, slow = (Keys([(0.0, 0.0), (1.0, speed)]) for speed in (100.0, 1.0))
    assert parts(arm_motion([still, still])) == [0.01]
    assert parts(arm_motion([slow, still])) == [0.01]
    one, both = len(parts(arm_motion([fast, still]))), len(parts(arm_motion([fast, fast])))
    sagitta = 0.8 * (1 - np.cos(0.5 / one))
    assert both > one > 1 and sagitta <= GAP * 1.01
    back = Keys([(0.0, 0.0), (0.004, 0.1), (0.01, 0.0)])
    assert 0.004 in np.cumsum(parts(arm_motion([back, still]))).round(12)


def test_hands_and_drives_are_seen_between_the_ends_of_steps():
    places = [(0.0, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.1)]
    hands = HandMotion(Hands([Hand([0], [1.0], [0.0, 0.003, 0.006, 0.01], places)]))
    assert np.cumsum(parts(hands)) == pytest.approx([0.003, 0.006, 0.01])
    assert parts(hands, 0.01) == [0.01]
    angle = DriveMotion("wheel", Keys([(0.0, 0.0), (0.01, np.pi)]), True, False)
    speed = DriveMotion("wheel", Keys([(0.0, 100 * np.pi)]), True, True)
    assert len(parts(angle)) == len(parts(speed)) == 6


def test_a_step_that_needs_too_many_parts_is_refused_by_name():
    motion = path((0, (0, 0, 0), 0), (0.01, (0, 0, 0), 36000))
    with refused(SimulationError, "step of 0.01 s", got="rod, which turns by 3.6e+04 degrees"):
        parts(motion)
