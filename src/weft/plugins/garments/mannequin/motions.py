"""Motions: stances over time that blend in from the pose in which clothes are draped.

A motion holds the a-pose, blends into its cycles, and blends out into standing with arms down. The
share of the cycles is a polynomial of degree five in time, so that positions, velocities and
accelerations are continuous.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import MannequinError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.plugins.garments.mannequin.gait import (
    CADENCE,
    GRID,
    STRIDE,
    Cycle,
    FootPoints,
    walking_cycle,
)
from weft.plugins.garments.mannequin.joints import NUMBER
from weft.plugins.garments.mannequin.stance import Stance, a_pose

MOTIONS = ("a_pose", "arms_down", "seated", "walk", "turn", "sit")
ENDS = ("arms_down", "seated")  # motions into a pose that is kept
POSES = ("a_pose", "t_pose", "arms_down", "sit")
SLOWEST, FASTEST = 0.4, 2.0  # [m/s] bounds of the walking speed

# Hanging arms: abduction, flexion, elbow; away from the hips, so that clothes have room.
DOWN = np.radians([13.0, 2.0, 10.0])
MIDWAY = 0.31  # phase in which a walk begins: the left foot is below the hips
TURN_TIME, SIT_TIME = 4.0, 4.4  # [s] duration of a cycle
LEAN = np.radians(34.0)  # lean of the trunk, halfway down to a seat
# Arms while walking (Perry & Burnfield 2010, chapter 8, after Murray et al. 1967): from 24 degrees
# behind the trunk, when the heel of the same side meets the floor, to 8 degrees in front of it.
ARM_SWING = np.radians([-8.0, 16.0])  # middle, amplitude
ELBOW = np.radians([24.0, 10.0])
# Pelvis (Perry & Burnfield 2010, chapter 6): yaw of 5 degrees to either side about the vertical,
# list of 4 degrees down to the side whose foot is in the air.
YAW, LIST = np.radians([5.0, 4.0])
SWAY = 0.010  # sway of the pelvis over the stature, to the side of the foot on the floor


@checked(MannequinError, "mannequin")
@documented
@dataclass(frozen=True)
class MotionSettings:
    """The motion of a figure, and its duration.

    Raises:
        MannequinError: an unknown motion, or values out of range.
    """

    motion: str = setting("a_pose", "name of the motion", choices=MOTIONS)
    hold: float = setting(0.5, "time in the a-pose at the start", "s", least=0, most=600)
    blend: float = setting(
        1.0,
        "time of the transition from the a-pose into the motion, and back at the end",
        "s",
        least=0.2,
        most=60,
    )
    cycles: float = setting(2, "number of repetitions", above=0, most=1000)
    speed: float | None = setting(
        None,
        "walking speed; none: the usual speed for the height",
        "m/s",
        least=SLOWEST,
        most=FASTEST,
    )
    forward: bool = setting(False, "true: walk forward; false: walk in place, like on a treadmill")


@dataclass(frozen=True, eq=False)
class FigureBody:
    """The properties of a figure that motions need.

    Args:
        rest: (J,3) [m] joints at rest.
        height: [m].
        foot: the left foot.
        room: [rad] abduction at which hanging arms clear the body.
    """

    rest: Floats
    height: float
    foot: FootPoints
    room: float = 0.0

    @property
    def down(self) -> Floats:
        """Return the angles (3,) [rad] of hanging arms: abduction, flexion, flexion of the
        elbow.
        """
        return np.array([max(DOWN[0], self.room), *DOWN[1:]])


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion of a figure.

    Args:
        body: the figure.
        settings: the motion and its times.
    """

    body: FigureBody
    settings: MotionSettings

    @property
    def period(self) -> float:
        """Return the duration [s] of one cycle."""
        if self.settings.motion == "walk":
            return self.stride / self.speed
        if self.settings.motion in ENDS:
            return self.settings.blend
        return {"turn": TURN_TIME, "sit": SIT_TIME}.get(self.settings.motion, 1.0)

    @property
    def speed(self) -> float:
        """Return the speed [m/s] of walking."""
        return self.settings.speed or 0.5 * CADENCE * STRIDE * self.body.height

    @property
    def stride(self) -> float:
        """Return the length [m] of a stride.

        Stride and cadence grow alike with the speed (Grieve & Gear 1966).
        """
        free = STRIDE * self.body.height
        return free * float(np.sqrt(self.speed / (0.5 * CADENCE * free)))

    @property
    def duration(self) -> float:
        """Return the time [s] until the figure stands still again."""
        s = self.settings
        if s.motion == "a_pose":
            return s.hold
        if s.motion in ENDS:
            return s.hold + s.blend
        return s.hold + s.blend + s.cycles * self.period + s.blend

    def shares(self, t: Floats) -> tuple[Floats, Floats]:
        """Return the weights (k,) of the two blends at times t (k,) [s].

        The first goes from the a-pose to the motion, the second from the motion to standing.
        """
        s = self.settings
        start = smoothstep((t - s.hold) / s.blend)
        end = smoothstep((t - (self.duration - s.blend)) / s.blend)
        return start, end * (s.motion not in ("a_pose", *ENDS))

    def at(self, t: Floats) -> tuple[Stance, Floats, Floats]:
        """Return the motion at times t (k,) [s].

        Returns:
            The stances; (k,) [rad] rotations of the whole figure to its left; (k,3) [m] its
            translations after the rotation.
        """
        t = np.asarray(t, dtype=np.float64)
        first, name = a_pose(self.body.rest), self.settings.motion
        still = np.zeros(len(t)), np.zeros((len(t), 3))
        if name == "a_pose":
            return first.mix(first, np.zeros(len(t))), *still
        begin, end = self.shares(t)
        down = arms_down(self.body)
        # The cycles run from the start of the blend on; the blend at the end leads out of them.
        run = np.maximum(t - self.settings.hold, 0.0) / self.period
        moving = _CYCLES[name](self, run)
        stance = first.mix(moving, begin).mix(down, end)
        if name == "turn":
            return stance, 2 * np.pi * self._travel(t) / self.period, still[1]
        if name == "walk" and self.settings.forward:
            return stance, still[0], self._travel(t)[:, None] * self.speed * np.eye(3)[2]
        return stance, *still

    def _travel(self, t: Floats) -> Floats:
        """Return (k,) [s] the integral of the share of the cycles, which gives the distance or
        rotation of the figure.
        """
        s = self.settings
        up = s.blend * smoothstep_integral((t - s.hold) / s.blend)
        down = s.blend * smoothstep_integral((t - (self.duration - s.blend)) / s.blend)
        return up - down


def smoothstep(s: Floats) -> Floats:
    """Return the polynomial from 0 to 1 for s from 0 to 1, with two continuous derivatives."""
    s = np.clip(s, 0, 1)
    return s**3 * (10 - 15 * s + 6 * s**2)


def smoothstep_integral(s: Floats) -> Floats:
    """Return the integral of ``smoothstep`` from 0 to s."""
    inside = np.clip(s, 0, 1)
    return inside**4 * (2.5 - 3 * inside + inside**2) + np.maximum(s - 1, 0.0)


def arms_down(body: FigureBody) -> Stance:
    """Return the stance of standing with arms at the sides."""
    return replace(a_pose(body.rest), arms=np.broadcast_to(body.down, (1, 2, 3)))


def t_pose(body: FigureBody) -> Stance:
    """Return the stance of standing with level arms."""
    arms = np.broadcast_to([np.radians(88.0), 0.0, 0.0], (1, 2, 3))
    return replace(a_pose(body.rest), arms=arms)


def sit_down(body: FigureBody, share: Floats) -> Stance:
    """Return stances on the way down to a seat, on which the thighs are level.

    Args:
        body: the figure.
        share: (k,) of the way: 0 standing, 1 on the seat.
    """
    first, h = a_pose(body.rest), body.height
    n = len(share)
    hip, knee = body.rest[NUMBER["left_hip"]], body.rest[NUMBER["left_knee"]]
    thigh = float(np.linalg.norm(knee - hip))
    low = np.array([0.0, knee[1] + 0.012 * h - hip[1], -thigh + 0.004 * h])
    root = share[:, None] * low
    trunk = np.zeros((n, 5, 3))
    lean = LEAN * np.sin(np.pi * share) ** 2
    trunk[:, 0, 0], trunk[:, 1, 0] = 0.5 * lean, 0.3 * lean
    trunk[:, 2, 0], trunk[:, 3, 0] = 0.2 * lean, -0.4 * lean
    lap = np.array([body.down[0] + np.radians(2.0), *np.radians([16.0, 52.0])])
    arms = np.broadcast_to(body.down + share[:, None, None] * (lap - body.down), (n, 2, 3))
    ankles, feet = np.repeat(first.ankles, n, 0), np.repeat(first.feet, n, 0)
    return Stance(root, trunk, arms, ankles, feet)


def _sitting(motion: Motion, run: Floats) -> Stance:
    """Return stances of sitting down, staying on the seat, rising and standing, at cycles ``run``
    (k,).
    """
    s = run % 1.0
    share = smoothstep(s / 0.34) - smoothstep((s - 0.58) / 0.34)
    return sit_down(motion.body, np.where(run > motion.settings.cycles, 0.0, share))


def _sitting_down(motion: Motion, run: Floats) -> Stance:
    return sit_down(motion.body, smoothstep(run))


def _standing(motion: Motion, run: Floats) -> Stance:
    down = arms_down(motion.body)
    return down.mix(down, np.zeros(len(run)))


def _walking(motion: Motion, run: Floats) -> Stance:
    body = motion.body
    cycle = walking_cycle(body.rest, body.foot, body.height, motion.stride)
    return walk_in_place(body, cycle, run + MIDWAY)


def walk_in_place(body: FigureBody, cycle: Cycle, phase: Floats) -> Stance:
    """Return stances (k of them) of a walk in place.

    Args:
        body: the figure.
        cycle: of its legs.
        phase: (k,) phases of the left leg, in cycles.
    """
    from scipy.interpolate import CubicSpline

    rest, h = body.rest, body.height
    table = np.concatenate([cycle.ankle, cycle.pitch, cycle.pelvis[:, None]], axis=1)
    knots = np.arange(GRID + 1) / GRID
    curve = CubicSpline(knots, np.concatenate([table, table[:1]]), bc_type="periodic")
    legs = np.stack([curve(phase % 1.0), curve((phase + 0.5) % 1.0)], axis=1)  # (k,2,5)
    size, turn = cycle.stride / (STRIDE * h), 2 * np.pi * phase
    n = len(phase)
    ankles = np.empty((n, 2, 3))
    side = np.array([1.0, -1.0])
    ankles[:, :, 0] = side * (rest[NUMBER["left_hip"], 0] + 0.008 * h)
    ankles[:, :, 1], ankles[:, :, 2] = legs[:, :, 1], legs[:, :, 0]
    root = np.zeros((n, 3))
    root[:, 0] = SWAY * h * np.cos(turn - 2 * np.pi * MIDWAY)
    root[:, 1] = legs[:, 0, 4] - rest[NUMBER["left_hip"], 1]
    yaw, drop = size * YAW * np.cos(turn), size * LIST * np.sin(turn)
    trunk = np.zeros((n, 5, 3))
    # The left side is ahead when its heel meets the floor, and high while its leg carries.
    trunk[:, 0, 1], trunk[:, 0, 2] = -yaw, drop
    trunk[:, 1, 1], trunk[:, 1, 2] = 0.9 * yaw, -0.5 * drop
    trunk[:, 2, 1], trunk[:, 2, 2] = 0.9 * yaw, -0.5 * drop
    trunk[:, 4, 1] = -0.8 * yaw
    arms = np.empty((n, 2, 3))
    for k, a in enumerate((turn, turn + np.pi)):
        arms[:, k, 0] = body.down[0]
        arms[:, k, 1] = ARM_SWING[0] - size * ARM_SWING[1] * np.cos(a)
        arms[:, k, 2] = ELBOW[0] - size * ELBOW[1] * np.cos(a)
    return Stance(root, trunk, arms, ankles, legs[:, :, 2:4])


_CYCLES: Mapping[str, Callable[[Motion, Floats], Stance]] = {
    "arms_down": _standing,
    "seated": _sitting_down,
    "turn": _standing,
    "walk": _walking,
    "sit": _sitting,
}


def pose(body: FigureBody, name: str) -> Stance:
    """Return the stance of one of ``POSES``, a single pose."""
    if name == "sit":
        return sit_down(body, np.ones(1))
    return {"a_pose": a_pose(body.rest), "t_pose": t_pose(body), "arms_down": arms_down(body)}[name]
