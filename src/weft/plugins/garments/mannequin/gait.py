"""Walking: one cycle of ankles, feet and pelvis, from published joint angles.

Angles of thigh, knee and ankle at the ends of the eight phases of gait are Perry's (Perry &
Burnfield, Gait Analysis: Normal and Pathological Function, 2nd ed. 2010; the table of phases in
Götz-Neumann, Gehen verstehen, 2003). They are joined by periodic cubic splines. With exactly these
angles, the feet of a figure of other proportions would slide. Therefore the foot on the floor is
planted (heel, then sole, then ball and toes), the foot in the air follows the published angles, and
the knee is solved for.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Floats
from weft.plugins.garments.mannequin.joints import NUMBER

# Fraction of the cycle; thigh flexion, knee flexion, ankle dorsiflexion [degrees].
PERRY = np.array(
    [
        (0.00, 20, 5, 0),  # initial contact
        (0.12, 20, 20, -5),  # loading response
        (0.31, 0, 5, 5),  # mid stance
        (0.50, -20, 5, 10),  # terminal stance
        (0.62, -10, 40, -15),  # pre-swing
        (0.75, 15, 60, -5),  # initial swing
        (0.87, 25, 25, 0),  # mid swing
        (1.00, 20, 5, 0),  # terminal swing
    ]
)
STANCE = 0.62  # part of the cycle in which a foot is on the floor
STRIDE = 0.69  # stride length over the stature, at the free speed
CADENCE = 113 / 60  # [1/s] steps per second, at the free speed (Perry 1992)
TOES = (0.20, 0.52, 0.80)  # fractions of the cycle: toes lie flat from the first to the second one
RISE = 0.007  # amplitude of the pelvis over the stature, up and down twice per cycle
BEHIND = 0.012  # distance over the stature by which steps lie behind those of the published angles
LONGEST = 0.998  # largest distance from hip to ankle, over the leg's length
CLEARANCE = 0.012  # [m] height of the foot in the air above the floor, halfway
GRID = 240


@dataclass(frozen=True, eq=False)
class FootPoints:
    """Points of a foot in the plane of walking, from the ankle: (ahead, up) [m].

    Args:
        heel: the point that meets the floor.
        ball: the joint of the toes.
        tip: the end of the toes.
    """

    heel: Floats
    ball: Floats
    tip: Floats


@dataclass(frozen=True, eq=False)
class Cycle:
    """The cycle of a leg on a treadmill, periodic in the phase.

    The other leg is half a cycle later.

    Args:
        phase: (GRID,) from 0 on.
        ankle: (GRID,2) [m] ahead of the hips, above the floor.
        pitch: (GRID,2) [rad] of foot and toes.
        pelvis: (GRID,) [m] height of the hips above the floor.
        stride: [m] length of a stride.
    """

    phase: Floats
    ankle: Floats
    pitch: Floats
    pelvis: Floats
    stride: float


def published_angles(phase: Floats) -> Floats:
    """Return the published angles (k,3) [rad] of thigh, knee and ankle at fractions of the cycle
    (k,).
    """
    from scipy.interpolate import CubicSpline

    angles = CubicSpline(PERRY[:, 0], np.radians(PERRY[:, 1:]), bc_type="periodic")
    return np.asarray(angles(np.asarray(phase) % 1.0))


def foot_pitch(phase: Floats) -> Floats:
    """Return the pitch (k,2) [rad] of the foot, toes up, and of the toes.

    The pitch of the foot is thigh minus knee plus ankle, and zero between loading and mid stance,
    when the foot is flat on the floor.

    Args:
        phase: (k,) fractions of the cycle.
    """
    from scipy.interpolate import PchipInterpolator

    angle = np.radians(PERRY[:, 1] - PERRY[:, 2] + PERRY[:, 3])
    angle[1:3] = 0.0
    knots = np.concatenate([PERRY[-3:-1, 0] - 1, PERRY[:, 0], PERRY[1:3, 0] + 1])
    values = np.concatenate([angle[-3:-1], angle, angle[1:3]])
    phase = np.asarray(phase) % 1.0
    foot = PchipInterpolator(knots, values)(phase)
    s = np.clip((phase - TOES[1]) / (TOES[2] - TOES[1]), 0, 1)
    share = np.where(phase < TOES[0], 1.0, s * s * (3 - 2 * s))
    return np.stack([foot, np.where(foot > 0, foot, share * foot)], axis=1)


def walking_cycle(rest: Floats, foot: FootPoints, height: float, stride: float) -> Cycle:
    """Return the cycle of a figure.

    Args:
        rest: (J,3) [m] joints at rest.
        foot: its foot.
        height: [m] of the figure.
        stride: [m] length of a stride.
    """
    hip, knee, ankle = (rest[NUMBER[f"left_{n}"]] for n in ("hip", "knee", "ankle"))
    bones = float(np.linalg.norm(knee - hip)), float(np.linalg.norm(ankle - knee))
    phase = np.arange(GRID) / GRID
    size = stride / (STRIDE * height)  # angles are scaled with the length of the stride
    wide = published_angles(phase) * [size, 0.5 + 0.5 * size, 1.0]
    pitch = foot_pitch(phase) * min(size, 1.15)
    leg = ankle_position(wide, bones)
    ahead = _plant_ankle(phase, pitch, foot, stride)
    on = phase <= STANCE
    ahead[:, 0] += (leg[on, 0] - ahead[on, 0]).mean() - BEHIND * height
    lift = RISE * height * size * np.cos(4 * np.pi * (phase - 0.31))
    level = float((ahead[on, 1] - leg[on, 1] - lift[on]).mean())
    air = leg + np.stack([np.zeros(GRID), level + lift], axis=1)
    path = np.where(on[:, None], ahead, 0.0)
    path[~on] = _join_paths(phase, air, ahead, ~on)
    path[~on] += _floor_clearance(phase[~on], path[~on], pitch[~on], foot)
    # The greatest height of the pelvis from which the leg reaches the floor in every phase.
    aside = hip[0] - ankle[0]
    length = LONGEST * sum(bones)
    room = path[:, 1] + np.sqrt(np.maximum(length**2 - path[:, 0] ** 2 - aside**2, 0.0))
    top = float((room - lift).min())
    return Cycle(phase, path, pitch, top + lift, stride)


def ankle_position(angles: Floats, bones: tuple[float, float]) -> Floats:
    """Return the ankle (k,2) [m] relative to the hip, ahead and up.

    Args:
        angles: (k,2+) [rad] of thigh and knee.
        bones: [m] lengths of thigh and shank.
    """
    thigh, shank = angles[:, 0], angles[:, 0] - angles[:, 1]
    return np.stack(
        [
            bones[0] * np.sin(thigh) + bones[1] * np.sin(shank),
            -bones[0] * np.cos(thigh) - bones[1] * np.cos(shank),
        ],
        axis=1,
    )


def _rotate(angle: Floats, v: Floats) -> Floats:
    """Return a vector (2,) of the plane rotated by angles (k,) [rad], as (k,2); positive angles
    rotate ahead to up.
    """
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * v[0] - s * v[1], s * v[0] + c * v[1]], axis=1)


def _plant_ankle(phase: Floats, pitch: Floats, foot: FootPoints, stride: float) -> Floats:
    """Return the ankle (k,2) [m] of a foot on the moving floor: the heel is fixed to the floor
    while the toes are up, and the toes while the heel is up.
    """
    floor = -stride * phase
    heel = -_rotate(pitch[:, 0], foot.heel)
    heel[:, 0] += foot.heel[0]
    toes = -_rotate(pitch[:, 0], foot.ball) - _rotate(pitch[:, 1], foot.tip - foot.ball)
    toes[:, 0] += foot.tip[0]
    ankle = np.where(pitch[:, :1] > 0, heel, toes)
    ankle[:, 0] += floor
    return ankle


def _join_paths(phase: Floats, air: Floats, floor: Floats, part: Bools) -> Floats:
    """Return the path in the air, moved by a cubic such that position and velocity at both ends are
    those of the foot on the floor.
    """
    n = len(phase)
    first, last = int(np.flatnonzero(part)[0]), int(np.flatnonzero(part)[-1])
    step = 1.0 / n

    def gap(i: int) -> Floats:
        """Return floor minus air at an index, periodic in the cycle."""
        wrapped = i % n
        return np.asarray(floor[wrapped] - air[wrapped])

    a, b = gap(first - 1), gap(last + 1)
    da = (gap(first - 1) - gap(first - 2)) / step
    db = (gap(last + 2) - gap(last + 1)) / step
    long = (last + 1 - (first - 1)) * step
    s = ((np.arange(first, last + 1) - (first - 1)) * step / long)[:, None]
    bend = (2 * s**3 - 3 * s**2 + 1) * a + (s**3 - 2 * s**2 + s) * long * da
    bend += (3 * s**2 - 2 * s**3) * b + (s**3 - s**2) * long * db
    return np.asarray(air[first : last + 1] + bend)


def _floor_clearance(phase: Floats, path: Floats, pitch: Floats, foot: FootPoints) -> Floats:
    """Return the lift (k,2) [m] that the foot in the air needs to clear the floor."""
    s = (phase - STANCE) / (1 - STANCE)
    hump = 16 * s**2 * (1 - s) ** 2
    heel = path[:, 1] + _rotate(pitch[:, 0], foot.heel)[:, 1]
    ball = path[:, 1] + _rotate(pitch[:, 0], foot.ball)[:, 1]
    tip = ball + _rotate(pitch[:, 1], foot.tip - foot.ball)[:, 1]
    low = np.minimum(np.minimum(heel, ball), tip)
    wanted = CLEARANCE * hump - low
    inner = hump > 0.05
    lift = max(0.0, float((wanted[inner] / hump[inner]).max()))
    return np.stack([np.zeros(len(s)), lift * hump], axis=1)
