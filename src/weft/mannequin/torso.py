"""Torso, neck and head: cross sections by height, and solids that round them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.mannequin.joints import Levels
from weft.mannequin.measures import NECK, SIZES, STATURE, Measures, child_mean
from weft.mannequin.solids import Cone, Ellipsoid, Solid, Tube, section_rows

X, Y, Z = np.eye(3)

CHIN_TO_TOP = 0.131  # of a drawn head, over its size
# Snyder et al. 1977: a head over the stature at 17.5 to 19 years; the breadth of a child's skull
# over its head's height goes about as this power of its head's height over the stature.
GROWN_HEAD, SKULL = 21.4 / 170.9, 0.25

# Cross sections of the default figures: height over the stature; half breadth, depth to the front
# and to the back of the ankles' plane [m]. They are drawn by eye after ANSUR II's mean breadths and
# depths (chest 283 x 252 mm, waist 318 x 230, hips 348 x 242), a child's with a belly and without
# a waist; the girths then scale them.
SECTIONS: Mapping[str, Sequence[tuple[float, float, float, float]]] = {
    "woman": (
        (0.512, 0.105, 0.078, 0.080),
        (0.526, 0.138, 0.090, 0.088),
        (0.545, 0.160, 0.098, 0.092),
        (0.575, 0.157, 0.100, 0.086),
        (0.602, 0.135, 0.096, 0.076),
        (0.624, 0.121, 0.092, 0.072),
        (0.650, 0.121, 0.091, 0.080),
        (0.680, 0.130, 0.092, 0.094),
        (0.705, 0.137, 0.093, 0.104),
        (0.7234, 0.141, 0.090, 0.109),
        (0.758, 0.141, 0.076, 0.112),
        (0.785, 0.126, 0.060, 0.108),
        (0.806, 0.098, 0.044, 0.099),
        (0.826, 0.069, 0.032, 0.085),
        (0.845, 0.042, 0.022, 0.066),
    ),
    "man": (
        (0.512, 0.105, 0.082, 0.080),
        (0.526, 0.138, 0.096, 0.090),
        (0.545, 0.158, 0.104, 0.094),
        (0.575, 0.160, 0.109, 0.090),
        (0.602, 0.155, 0.110, 0.088),
        (0.624, 0.150, 0.110, 0.088),
        (0.650, 0.149, 0.110, 0.094),
        (0.680, 0.153, 0.110, 0.106),
        (0.705, 0.160, 0.111, 0.116),
        (0.7334, 0.166, 0.107, 0.124),
        (0.758, 0.166, 0.095, 0.127),
        (0.785, 0.148, 0.074, 0.122),
        (0.806, 0.116, 0.054, 0.112),
        (0.826, 0.082, 0.040, 0.097),
        (0.845, 0.050, 0.030, 0.078),
    ),
    "child": (
        (0.512, 0.066, 0.048, 0.052),
        (0.526, 0.086, 0.053, 0.058),
        (0.545, 0.089, 0.057, 0.058),
        (0.575, 0.087, 0.066, 0.057),
        (0.602, 0.087, 0.075, 0.058),
        (0.624, 0.088, 0.079, 0.060),
        (0.650, 0.089, 0.078, 0.063),
        (0.680, 0.092, 0.075, 0.067),
        (0.705, 0.094, 0.071, 0.070),
        (0.7334, 0.096, 0.067, 0.072),
        (0.758, 0.096, 0.058, 0.072),
        (0.785, 0.085, 0.045, 0.068),
        (0.806, 0.066, 0.034, 0.060),
        (0.826, 0.047, 0.026, 0.050),
        (0.845, 0.034, 0.020, 0.042),
    ),
}
# Centers and radii [m] of the default figures' bust and buttocks, on the left: the center's height
# is measured from the chest and from the hips.
BUST = {
    "woman": ((0.074, -0.006, 0.066), (0.060, 0.064, 0.060), 0.05),
    "man": ((0.080, 0.012, 0.066), (0.078, 0.058, 0.048), 0.06),
}
SEAT = {
    "woman": ((0.071, -0.058), (0.077, 0.088, 0.066)),
    "man": ((0.070, -0.056), (0.074, 0.084, 0.062)),
    "child": ((0.042, -0.033), (0.047, 0.046, 0.038)),
}
THICK = {"woman": 0.040, "man": 0.048, "child": 0.027}  # [m] half the thickness of their shoulders


@dataclass(frozen=True)
class Factors:
    """Factors by which the drawn cross sections are scaled; ``fit`` solves for them."""

    chest: float = 1.0
    waist: float = 1.0
    hips: float = 1.0
    neck: float = 1.0


def torso(m: Measures, factors: Factors) -> list[Solid]:
    """Return the solids of the trunk, neck and head, without legs and arms.

    Args:
        m: measures of the figure.
        factors: that scale the drawn cross sections.
    """
    at, grow = Levels(m), m.height / SIZES[m.figure][0]
    solids: list[Solid] = [_trunk(m, factors), *_buttocks(m, factors)]
    y, s = at["chest"], factors.chest * grow
    for side in (1.0, -1.0):
        for (aside, above, ahead), radii, blend in [BUST[m.figure]] if m.figure in BUST else []:
            center = np.array([aside * side * s, y + above * s, ahead * s])
            solids.append(Ellipsoid(center, s * np.array(radii), blend, "bust"))
    return solids + _shoulders(m, grow) + _head(m, factors)


def _trunk(m: Measures, factors: Factors) -> Tube:
    """Return the trunk from the crotch to the base of the neck."""
    from scipy.interpolate import PchipInterpolator

    at, grow = Levels(m), m.height / SIZES[m.figure][0]
    rows = np.array(SECTIONS[m.figure])
    if m.figure == "child":
        usual = child_mean("neck", m.height)
    else:
        usual = NECK[m.figure] / STATURE[m.figure] * m.height
    neck = factors.neck * m.neck / usual
    knots = [at.at(p) for p in (0.4, 0.545)] + [at["waist"], at["chest"], at.at(0.77), at.at(0.85)]
    values = [factors.hips, factors.hips, factors.waist, factors.chest, factors.chest, neck]
    heights = np.array([at.at(p) for p in rows[:, 0]])
    scale = PchipInterpolator(knots, values)(heights)[:, None] * grow
    start, length = heights[0], heights[-1] - heights[0]
    table = section_rows((heights - start) / length, scale * rows[:, 1:])
    ends = (start - at["crotch"] - 0.009 * m.height, 0.05 * m.unit)
    return Tube(np.array([0.0, start, 0.0]), Y, X, Z, length, table, ends, 2.2, 0.03, "trunk", 0.03)


def _buttocks(m: Measures, factors: Factors) -> list[Solid]:
    at, s = Levels(m), factors.hips * m.height / SIZES[m.figure][0]
    center, radii = SEAT[m.figure]
    y = at["hips"] + 0.012 * m.height
    return [
        Ellipsoid(
            np.array([side * center[0] * s, y, center[1] * s]), s * np.array(radii), 0.04, "seat"
        )
        for side in (1.0, -1.0)
    ]


def _shoulders(m: Measures, grow: float) -> list[Solid]:
    """Return the collar bones and the slopes from the neck."""
    at, h = Levels(m), m.height
    end = 0.5 * m.shoulders
    thick = THICK[m.figure] * grow
    solids: list[Solid] = []
    for side in (1.0, -1.0):
        inner = np.array([0.012 * h * side, at.at(0.822), -0.020 * h])
        outer = np.array([(end - 0.016 * h) * side, at["shoulder"] - thick, -0.012 * h])
        solids.append(Cone(inner, outer, (1.12 * thick, thick), 0.05, "shoulder"))
        high = np.array([0.010 * h * side, at.at(0.838), -0.022 * h])
        low = np.array([(end - 0.045 * h) * side, at["shoulder"] - 0.020 * h, -0.018 * h])
        solids.append(Cone(high, low, (0.72 * thick, 0.6 * thick), 0.05, "shoulder"))
    return solids


def _head(m: Measures, factors: Factors) -> list[Solid]:
    """Return neck, skull, jaw, chin and nose."""
    h, at = m.height, Levels(m)
    # ANSUR II: head breadth 152, length 196 mm; the chin about 0.13 of the stature below the top.
    s = 0.5 * h + 0.5 * SIZES[m.figure][0]  # head size varies half as much as stature
    large = s  # of the skull, which in children is ahead of the face
    if m.figure == "child":
        s = m.head / CHIN_TO_TOP
        large = s * (m.head / (GROWN_HEAD * h)) ** SKULL
    radius = factors.neck * m.neck / (2 * np.pi)
    low, high = np.array([0.0, at.at(0.835), -0.022 * h]), np.array([0.0, at.at(0.915), -0.002 * h])
    axis = (high - low) / np.linalg.norm(high - low)
    front = np.cross(X, axis)
    rows = np.array([[0, 1.05, 1.05, 1.05], [0.35, 0.94, 0.98, 0.96], [1, 0.94, 1.0, 1.0]])
    table = section_rows(rows[:, 0], radius * rows[:, 1:])
    long = float(np.linalg.norm(high - low))
    front = -front if front[2] < 0 else front
    neck = Tube(low, axis, X, front, long, table, (0.05 * m.unit,) * 2, 2.0, 0.035, "neck")
    skull = np.array([0.0445, 0.0590, 0.0560]) * large
    top = np.array([0.0, h - skull[1], 0.004 * large])
    jaw = np.array([0.0, h - 0.0905 * s, 0.0215 * s])
    chin = np.array([0.0, h - 0.119 * s, 0.0375 * s])
    nose = np.array([0.0, h - 0.083 * s, 0.0560 * large])
    return [
        neck,
        Ellipsoid(top, skull, 0.03, "head"),
        Ellipsoid(jaw, np.array([0.0375, 0.0400, 0.0375]) * s, 0.03, "head"),
        Ellipsoid(chin, np.array([0.0170, 0.0120, 0.0140]) * s, 0.035, "head"),
        Cone(nose + [0, 0.016 * s, -0.004 * s], nose, (0.004 * s, 0.0062 * s), 0.022, "head"),
    ]
