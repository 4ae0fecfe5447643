"""Measures of a body in centimeters, as the drafts of garments take them."""

from dataclasses import dataclass

import numpy as np

from weft.plugins.garments.bodies.landmarks import Landmarks
from weft.plugins.garments.mannequin.figure import Mannequin
from weft.plugins.garments.mannequin.joints import NUMBER

CENTIMETERS = 100.0


@dataclass(frozen=True)
class BodyMeasures:
    """Girths, heights above the floor and lengths of a standing body [cm]; ``arm_angle``
    [degrees] is how far its arms point down.
    """

    height: float
    chest: float
    waist: float
    hips: float
    neck_half: float  # from the middle to the side of the neck
    shoulder_half: float  # from the middle to the shoulder point
    neck_height: float
    shoulder_height: float
    chest_height: float
    waist_height: float
    hips_height: float
    crotch_height: float
    knee_height: float
    ankle_height: float
    arm_length: float
    upper_arm: float
    wrist: float
    thigh: float
    back_length: float  # from the nape to the waist, along the back
    arm_angle: float

    @staticmethod
    def of(mannequin: Mannequin) -> "BodyMeasures":
        """Return the measures of a mannequin in its a-pose."""
        m = mannequin.measurements
        shoulder, wrist = (mannequin.joints[NUMBER[f"left_{n}"]] for n in ("shoulder", "wrist"))
        along = wrist - shoulder
        lengths = {
            "height": m.height,
            "chest": m.chest,
            "waist": m.waist,
            "hips": m.hips,
            "neck_half": m.neck_side[0],
            "shoulder_half": m.left_shoulder[0],
            "neck_height": m.neck_height,
            "shoulder_height": m.shoulder_height,
            "chest_height": m.chest_height,
            "waist_height": m.waist_height,
            "hips_height": m.hips_height,
            "crotch_height": m.crotch_height,
            "knee_height": m.knee_height,
            "ankle_height": m.ankle_height,
            "arm_length": m.arm_length,
            "upper_arm": m.upper_arm,
            "wrist": m.wrist,
            "thigh": m.thigh,
            "back_length": m.back_waist_length,
        }
        return BodyMeasures(
            **{name: CENTIMETERS * value for name, value in lengths.items()},
            arm_angle=float(np.degrees(np.arctan2(-along[1], along[0]))),
        )

    @staticmethod
    def of_landmarks(found: Landmarks) -> "BodyMeasures":
        """Return the measures of any body in an a-pose, which looks along +z and stands at x = 0.

        Args:
            found: landmarks of the body.
        """
        points, girths = found.points, found.girths
        tip, elbow, wrist = (points[f"{n}_left"] for n in ("shoulder", "elbow", "wrist"))
        along = (wrist - tip) / np.linalg.norm(wrist - tip)
        arm = np.linalg.norm(elbow - tip) + np.linalg.norm(wrist - elbow)
        back = points["neck_back"][1] - points["waist"][1]
        lengths = {
            "height": found.height,
            **{n: girths[n] for n in ("chest", "waist", "hips", "upper_arm", "wrist", "thigh")},
            "neck_half": points["neck_side_left"][0],
            "shoulder_half": tip[0],
            "neck_height": points["neck_back"][1],
            "shoulder_height": tip[1],
            "chest_height": points["bust"][1],
            "waist_height": points["waist"][1],
            "hips_height": points["hip"][1],
            "crotch_height": points["crotch"][1],
            "knee_height": points["knee_left"][1],
            "ankle_height": points["ankle_left"][1],
            "arm_length": arm,
            "back_length": back,
        }
        return BodyMeasures(
            **{name: CENTIMETERS * float(value) for name, value in lengths.items()},
            arm_angle=float(np.degrees(np.arctan2(-along[1], along[0]))),
        )
