"""Arms, hands, legs and feet: tubes along straight bones."""

import numpy as np

from weft.base.arrays import Floats
from weft.plugins.garments.mannequin.joints import (
    HAND_OVER_HEIGHT,
    HEEL,
    NUMBER,
    TOE_OUT,
)
from weft.plugins.garments.mannequin.measures import FOOT_OVER_HEIGHT, INSEAM_OVER_HEIGHT, Measures
from weft.plugins.garments.mannequin.solids import Cone, Solid, Tube, section_rows

X, Y, Z = np.eye(3)

# Rows: position from hip (0) to ankle (1); half breadth, depth to the front, depth to the back,
# each over the radius of a circle with the girth of the thigh or calf; shift outwards [m].
KNEE = 0.502
THIGH = (
    (0.00, 0.84, 0.90, 0.90, 0.000),
    (0.09, 0.90, 1.06, 1.02, 0.002),
    (0.20, 0.86, 1.01, 0.97, 0.002),
    (0.32, 0.76, 0.88, 0.87, 0.001),
    (0.43, 0.65, 0.73, 0.72, 0.000),
)
CALF = (
    (0.50, 0.97, 1.00, 0.98, 0.000),
    (0.56, 0.93, 0.90, 1.02, 0.000),
    (0.67, 0.98, 0.83, 1.16, 0.002),
    (0.78, 0.80, 0.70, 0.96, 0.001),
    (0.90, 0.60, 0.62, 0.72, 0.000),
    (1.00, 0.58, 0.66, 0.72, 0.000),
)
# Rows: position from shoulder (0) to wrist (1); half thickness, half breadth to the front and to
# the back, over the radius of the upper arm.
ARM = (
    (0.00, 1.10, 1.16, 1.10),
    (0.12, 1.10, 1.14, 1.10),
    (0.28, 0.97, 1.03, 0.99),
    (0.42, 0.88, 0.92, 0.90),
    (0.52, 0.82, 0.84, 0.84),
    (0.62, 0.84, 0.92, 0.90),
    (0.78, 0.70, 0.78, 0.76),
    (0.92, 0.49, 0.58, 0.57),
    (1.00, 0.46, 0.57, 0.57),
)
# Rows: position from wrist (0) to the tip of the hand (1); half thickness, half breadth, over those
# of the hand.
PALM = (
    (0.00, 1.10, 0.62),
    (0.12, 1.30, 0.78),
    (0.30, 1.55, 1.02),
    (0.50, 1.30, 1.00),
    (0.75, 1.05, 0.88),
    (0.92, 0.90, 0.70),
    (1.00, 0.75, 0.52),
)
# Rows: position along the foot from heel to toes; half breadth, height above and depth below the
# axis, and shift outwards, all over the foot's length.
FOOT = (
    (0.00, 0.100, 0.120, 0.060, 0.000),
    (0.12, 0.130, 0.200, 0.068, 0.000),
    (0.28, 0.130, 0.200, 0.068, 0.000),
    (0.45, 0.140, 0.135, 0.068, -0.010),
    (0.62, 0.168, 0.088, 0.068, -0.018),
    (0.74, 0.180, 0.062, 0.068, -0.016),
    (0.86, 0.170, 0.044, 0.067, -0.012),
    (0.96, 0.140, 0.034, 0.066, -0.006),
)


def thigh_width(m: Measures) -> float:
    """Return half the breadth [m] of a thigh at the crotch."""
    return 0.90 * m.thigh / (2 * np.pi)


def limbs(m: Measures, joints: Floats, size: float) -> list[Solid]:
    """Return the solids of both arms and legs.

    Args:
        m: measures of the figure.
        joints: (J,3) [m] in the rest pose.
        size: [m] edge length of the later mesh; thumbs are not thinner than it can show.
    """
    solids: list[Solid] = []
    for name, side in (("left", 1.0), ("right", -1.0)):
        shoulder, wrist, hip, ankle = (
            joints[NUMBER[f"{name}_{n}"]] for n in ("shoulder", "wrist", "hip", "ankle")
        )
        solids += [_leg(m, hip, ankle, side), _foot(m, ankle, side)]
        solids += _arm(m, shoulder, wrist, side, size)
    return solids


def _leg(m: Measures, hip: Floats, ankle: Floats, side: float) -> Tube:
    thigh, calf = m.thigh / (2 * np.pi), m.calf / (2 * np.pi)
    length = float(np.linalg.norm(ankle - hip))
    axis = (ankle - hip) / length
    out = np.cross(axis, Z) * side
    out *= np.sign(out[0] * side) / np.linalg.norm(out)
    rows = np.array([*THIGH, *CALF])
    radius = np.where(rows[:, :1] < 0.46, thigh, calf)
    ahead = -0.004 * m.unit * np.sin(np.pi * rows[:, 0])
    table = section_rows(rows[:, 0], radius * rows[:, 1:4], m.unit * rows[:, 4], ahead)
    front = np.cross(out, axis) * side
    front *= np.sign(front[2])
    ends = (0.06 * m.unit, 0.03 * m.unit)
    return Tube(hip, axis, out, front, length, table, ends, 2.0, 0.034, "leg")


def _foot(m: Measures, ankle: Floats, side: float) -> Tube:
    long = FOOT_OVER_HEIGHT / INSEAM_OVER_HEIGHT * m.inseam * m.foot_growth
    axis = _foot_direction(side)
    out = np.array([np.cos(TOE_OUT) * side, 0.0, -np.sin(TOE_OUT)])
    ends = (0.06 * long, 0.08 * long)
    base = np.array([ankle[0], 0.068 * long, ankle[2]]) - (HEEL * long - ends[0]) * axis
    length = long - ends[0] - ends[1]
    rows = np.array(FOOT)
    extents = long * rows[:, 1:4] * [1.02, 1.0, 1.0]
    table = section_rows(rows[:, 0] / 0.96, extents, long * rows[:, 4])
    return Tube(base, axis, out, Y, length, table, ends, 2.5, 0.035, "foot")


def _arm(m: Measures, shoulder: Floats, wrist: Floats, side: float, size: float) -> list[Solid]:
    h, r = m.height, m.upper_arm / (2 * np.pi)
    length = float(np.linalg.norm(wrist - shoulder))
    axis = (wrist - shoulder) / length
    out = np.array([-axis[1] * side, axis[0] * side, 0.0])  # away from the body
    rows = np.array(ARM)
    table = section_rows(rows[:, 0], r * rows[:, 1:])
    arm = Tube(shoulder, axis, out, Z, length, table, (1.0 * r, 0.03 * m.unit), 2.0, 0.045, "arm")
    hand = HAND_OVER_HEIGHT * h
    thick, wide = 0.080 * hand, 0.205 * hand
    rows = np.array(PALM)
    extents = rows[:, [1, 2, 2]] * [thick, wide, wide]
    flat = section_rows(rows[:, 0], extents, ahead=0.02 * hand * rows[:, 0])
    ends = (0.03 * m.unit, 0.08 * hand)
    palm = Tube(wrist, axis, out, Z, 0.91 * hand, flat, ends, 2.2, 0.02, "hand")
    root = wrist + 0.16 * hand * axis + 0.12 * hand * Z
    tip = wrist + 0.50 * hand * axis + 0.30 * hand * Z - 0.03 * hand * out
    thick = max(0.052 * hand, 0.65 * size)
    thumb = Cone(root, tip, (max(0.075 * hand, thick), thick), 0.018, "hand")
    return [arm, palm, thumb]


def hand_tip(m: Measures, wrist: Floats, elbow: Floats) -> Floats:
    """Return the end (3,) [m] of a hand."""
    axis = (wrist - elbow) / np.linalg.norm(wrist - elbow)
    return wrist + HAND_OVER_HEIGHT * m.height * axis


def toe_tip(m: Measures, ankle: Floats, side: float) -> Floats:
    """Return the end (3,) [m] of the toes, on the floor."""
    return _sole(m, ankle, side, 1 - HEEL)


def heel(m: Measures, ankle: Floats, side: float) -> Floats:
    """Return the point (3,) [m] where the heel meets the floor, a little before the foot's end."""
    return _sole(m, ankle, side, 0.06 - HEEL)


def _sole(m: Measures, ankle: Floats, side: float, ahead: float) -> Floats:
    """Return the point (3,) [m] of the floor ahead of an ankle by a part of the foot's length."""
    long = FOOT_OVER_HEIGHT / INSEAM_OVER_HEIGHT * m.inseam * m.foot_growth * ahead
    return ankle * (1, 0, 1) + long * _foot_direction(side)


def _foot_direction(side: float) -> Floats:
    """Return the unit vector (3,) from heel to toes of the left foot (1) or the right one (-1)."""
    return np.array([np.sin(TOE_OUT) * side, 0.0, np.cos(TOE_OUT)])
