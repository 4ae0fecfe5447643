"""The skeleton: joints, their parents, and their positions in the rest pose (the a-pose).

The figure stands on y = 0 and looks along +z; its left side is +x. Heights are fractions of the
stature: ANSUR II's landmarks, and the joints inside the body of Drillis & Contini (1966).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Vector
from weft.plugins.garments.bodies.body_measures import HEIGHTS
from weft.plugins.garments.mannequin.measures import (
    CHEST_HEIGHT,
    FOOT_OVER_HEIGHT,
    INSEAM_OVER_HEIGHT,
    STATURE,
    Measures,
)

TRUNK = ("pelvis", "spine", "chest", "neck", "head")
LIMBS = ("clavicle", "shoulder", "elbow", "wrist", "hip", "knee", "ankle", "ball")
NAMES = (*TRUNK, *(f"left_{n}" for n in LIMBS), *(f"right_{n}" for n in LIMBS))
NUMBER: Mapping[str, int] = {name: k for k, name in enumerate(NAMES)}
_ABOVE = {
    "clavicle": "chest",
    "shoulder": "clavicle",
    "elbow": "shoulder",
    "wrist": "elbow",
    "hip": "pelvis",
    "knee": "hip",
    "ankle": "knee",
    "ball": "ankle",
}

ABDUCTION = np.radians(42.0)  # of the arms in the a-pose, from the vertical
TOE_OUT = np.radians(5.0)

BALL_OVER_FOOT = 194.75 / 263.03
HAND_OVER_HEIGHT = 189.29 / 1714.41
UPPER_ARM = 327.37 / (327.37 + 259.19)  # upper arm (acromion to radiale) over the arm
HEEL = 0.24  # part of the foot's length that lies behind the ankle
DROP = 0.026  # distance from acromion to shoulder joint, over the stature
CHIN = 1.03  # distance from a child's seventh vertebra to the top, over that from its chin (drawn)
GAP = 0.0075  # distance between a thigh and the plane of symmetry, over the stature


def parents() -> tuple[int, ...]:
    """Return the number of every joint's parent; -1 for the pelvis."""
    above = [-1, 0, 1, 2, 3]
    for side in ("left_", "right_"):
        for name in LIMBS:
            parent = _ABOVE[name]
            above.append(NUMBER[parent if parent in NUMBER else side + parent])
    return tuple(above)


@dataclass(frozen=True, eq=False)
class Levels:
    """Heights [m] of a figure's landmarks; those between crotch and shoulders follow its inseam."""

    measures: Measures

    def __getitem__(self, name: str) -> float:
        adult = "man" if self.measures.figure == "child" else self.measures.figure
        fullest = CHEST_HEIGHT[adult] / STATURE[adult]
        return self.at(fullest if name == "chest" else HEIGHTS[name])

    def at(self, part: float) -> float:
        """Return the height [m] of a fraction ``part`` of an adult's stature.

        Heights below the crotch are scaled with the inseam, heights above it with the rest of the
        stature; a child's with the trunk and with neck and head, which grow in other proportions.
        """
        h, leg = self.measures.height, self.measures.inseam
        if part <= INSEAM_OVER_HEIGHT:
            return part / INSEAM_OVER_HEIGHT * leg
        if self.measures.figure == "child":
            knots = (INSEAM_OVER_HEIGHT, HEIGHTS["neck"], 1.0)
            neck = h - CHIN * self.measures.head
            return float(np.interp(part, knots, (leg, neck, h)))
        rest = (part - INSEAM_OVER_HEIGHT) / (1 - INSEAM_OVER_HEIGHT)
        return leg + rest * (h - leg)


def rest_joints(measures: Measures, thigh_width: float) -> Floats:
    """Return the positions (J,3) [m] of the joints in the rest pose.

    Args:
        measures: of the figure.
        thigh_width: [m] half the breadth of a thigh at the crotch.
    """
    h, at = measures.height, Levels(measures)
    place: dict[str, Vector] = {
        "pelvis": (0, at.at(0.545), 0.0),
        "spine": (0, at.at(0.600), -0.012 * h),
        "chest": (0, at.at(0.680), -0.016 * h),
        "neck": (0, at.at(0.850), -0.016 * h),
        "head": (0, at.at(0.895), 0.002 * h),
    }
    hip = thigh_width + GAP * h
    spread = 0.013 * h  # distance of an ankle outwards from its hip
    acromion = 0.5 * measures.shoulders
    shoulder = np.array([acromion - 0.014 * h, at["shoulder"] - DROP * h, -0.012 * h])
    down = np.array([np.sin(ABDUCTION), -np.cos(ABDUCTION), 0.0])
    reach = measures.arm - DROP * h
    upper = UPPER_ARM * measures.arm - DROP * h
    elbow, wrist = shoulder + upper * down, shoulder + reach * down
    foot = FOOT_OVER_HEIGHT * h * measures.inseam / (INSEAM_OVER_HEIGHT * h) * measures.foot_growth
    top = np.array([hip, at["hip"], 0.0])
    ankle = np.array([hip + spread, at["ankle"], -0.004 * h])
    knee = top + (at["hip"] - at["knee"]) / (at["hip"] - at["ankle"]) * (ankle - top)
    ahead = (BALL_OVER_FOOT - HEEL) * foot
    ball = ankle + [ahead * np.sin(TOE_OUT), 0.016 * h - at["ankle"], ahead * np.cos(TOE_OUT)]
    limb = {
        "clavicle": (0.012 * h, at.at(0.815), -0.004 * h),
        "shoulder": shoulder,
        "elbow": elbow,
        "wrist": wrist,
        "hip": top,
        "knee": knee,
        "ankle": ankle,
        "ball": ball,
    }
    left = np.array([limb[n] for n in LIMBS], dtype=np.float64)
    trunk = np.array([place[n] for n in TRUNK], dtype=np.float64)
    return np.concatenate([trunk, left, left * (-1.0, 1.0, 1.0)])
