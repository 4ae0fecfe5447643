"""Measurements from which patterns are drafted, taken from the mesh with a virtual tape.

The tape lies in a plane that cuts the mesh.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.base.arrays import Faces, Floats, Positions, Vector
from weft.plugins.garments.bodies.sections import cut_loop, girth
from weft.plugins.garments.mannequin.joints import NUMBER, Levels
from weft.plugins.garments.mannequin.measures import Measures

Y = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Measurements:
    """Measurements of a mannequin in its rest pose, in meters; points are (x, y, z) with y up.

    Args:
        height: of the figure.
        chest: girth at ``chest_height``, over the fullest part.
        underbust: girth just below the bust.
        waist: girth at ``waist_height``.
        high_hip: girth halfway from waist to hips.
        hips: girth at ``hips_height``.
        neck: girth at its thinnest place.
        upper_arm: girth of the left upper arm, at right angles to it.
        elbow: girth of the left elbow.
        wrist: girth of the left wrist at its thinnest place.
        thigh: girth of the left thigh, just below the crotch.
        knee: girth of the left knee.
        calf: girth of the left calf at its fullest place.
        ankle: girth of the left ankle at its thinnest place.
        chest_height: height of the fullest part of the chest above the floor.
        underbust_height: height of the underbust girth above the floor.
        waist_height: height of the waist above the floor.
        hips_height: height of the hips girth above the floor.
        crotch_height: height of the crotch above the floor: the inseam.
        knee_height: height of the knee above the floor.
        ankle_height: height of the ankle above the floor.
        shoulder_height: height of the shoulder points above the floor.
        neck_height: height of the seventh vertebra above the floor.
        arm_length: from the shoulder point to the wrist.
        upper_arm_length: from the shoulder point to the elbow.
        shoulder_breadth: between the shoulder points.
        back_waist_length: from the seventh vertebra to the waist, along the back.
        crotch_depth: from the waist down to the crotch.
        neck_back: point of the seventh vertebra on the skin.
        neck_side: point where neck and left shoulder meet.
        left_shoulder: left shoulder point on the skin.
        right_shoulder: right shoulder point on the skin.
    """

    height: float
    chest: float
    underbust: float
    waist: float
    high_hip: float
    hips: float
    neck: float
    upper_arm: float
    elbow: float
    wrist: float
    thigh: float
    knee: float
    calf: float
    ankle: float
    chest_height: float
    underbust_height: float
    waist_height: float
    hips_height: float
    crotch_height: float
    knee_height: float
    ankle_height: float
    shoulder_height: float
    neck_height: float
    arm_length: float
    upper_arm_length: float
    shoulder_breadth: float
    back_waist_length: float
    crotch_depth: float
    neck_back: Vector
    neck_side: Vector
    left_shoulder: Vector
    right_shoulder: Vector


def measure_mesh(
    m: Measures, x: Positions, faces: Faces, joints: Floats, trunk: Faces
) -> Measurements:
    """Return the measurements of a mesh.

    Args:
        m: the requested measures, from which heights of girths follow.
        x: (b,3) [m] vertices in the rest pose.
        faces: (m,3).
        joints: (J,3) [m].
        trunk: (t,3) faces that do not belong to an arm.
    """
    at = Levels(m)
    under = at["chest"] - 0.028 * m.height
    joint = {n: joints[NUMBER[f"left_{n}"]] for n in ("shoulder", "elbow", "wrist", "hip", "ankle")}

    def level(y: float) -> float:
        return girth(x, trunk, np.array([0.0, y, 0.0]), Y, whole=True)

    def along(a: str, b: str, share: float) -> float:
        p, q = joint[a], joint[b]
        return girth(x, faces, p + share * (q - p), q - p)

    def leg(y: float) -> float:
        p, q = joint["hip"], joint["ankle"]
        return girth(x, faces, p + (p[1] - y) / (p[1] - q[1]) * (q - p), Y)

    crotch = crotch_height(x, faces)
    calves = [leg(at.at(p)) for p in np.linspace(0.17, 0.23, 7)]
    wrists = [along("elbow", "wrist", share) for share in np.linspace(0.76, 1.0, 9)]
    ankles = [leg(at.at(p)) for p in np.linspace(0.06, 0.10, 5)]
    left = _top(x, 0.495 * m.shoulders)
    collar = cut_loop(x, faces, np.array([0.0, at["neck"], 0.0]), Y)
    nape, waist = _back(x, faces, at["neck"]), _back(x, faces, at["waist"])
    heights = np.linspace(at["waist"], at["neck"], 13)
    spine = np.array([_back(x, faces, y) for y in heights])
    return Measurements(
        height=float(np.ptp(x[:, 1])),
        chest=level(at["chest"]),
        underbust=level(under),
        waist=level(at["waist"]),
        high_hip=level(0.5 * (at["waist"] + at["hips"])),
        hips=level(at["hips"]),
        neck=level(at["throat"]),
        upper_arm=along("shoulder", "elbow", 0.5),
        elbow=along("elbow", "wrist", 0.0),
        wrist=min(wrists),
        thigh=leg(crotch - 0.015 * m.height),
        knee=leg(at["knee"]),
        calf=max(calves),
        ankle=min(ankles),
        chest_height=at["chest"],
        underbust_height=under,
        waist_height=at["waist"],
        hips_height=at["hips"],
        crotch_height=crotch,
        knee_height=at["knee"],
        ankle_height=at["ankle"],
        shoulder_height=float(left[1]),
        neck_height=at["neck"],
        arm_length=float(np.linalg.norm(joint["wrist"] - left)),
        upper_arm_length=float(np.linalg.norm(joint["elbow"] - left)),
        shoulder_breadth=float(2 * left[0]),
        back_waist_length=_convex_length(spine),
        crotch_depth=float(waist[1] - crotch),
        neck_back=_point(nape),
        neck_side=_point(collar[np.argmax(collar[:, 0])]),
        left_shoulder=_point(left),
        right_shoulder=_point(left * (-1, 1, 1)),
    )


def crotch_height(x: Positions, faces: Faces) -> float:
    """Return the height [m] of the lowest point of the trunk in the plane of symmetry."""
    middle = 0.55 * float(np.ptp(x[:, 1]))  # a height inside the trunk
    return float(
        cut_loop(x, faces, np.array([1e-6, middle, 0.0]), np.array([1.0, 0, 0]))[:, 1].min()
    )


def _top(x: Positions, aside: float) -> Floats:
    """Return the highest vertex (3,) [m] at about the distance ``aside`` [m] to the left."""
    near = np.flatnonzero(np.abs(x[:, 0] - aside) < 0.012)
    return np.asarray(x[near[np.argmax(x[near, 1])]])


def _back(x: Positions, faces: Faces, y: float) -> Floats:
    """Return the point (3,) [m] of the back in the plane of symmetry, at height y [m]."""
    points = cut_loop(x, faces, np.array([0.0, y, 0.0]), Y)
    near = points[np.abs(points[:, 0]) < 0.03]
    return np.array([0.0, y, float(near[:, 2].min())])


def _convex_length(points: Floats) -> float:
    """Return the length [m] of a tape along points of the back, which spans hollows."""
    kept: list[Floats] = []
    for p in points:
        while len(kept) > 1 and _is_convex(kept[-2], kept[-1], p):
            kept.pop()
        kept.append(p)
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(kept)))


def _is_convex(a: Floats, b: Floats, c: Floats) -> bool:
    """Return whether b lies in front of the line from a to c (y up, z ahead)."""
    return bool((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]) < 0)


def _point(p: Floats) -> Vector:
    return float(p[0]), float(p[1]), float(p[2])
