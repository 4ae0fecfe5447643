"""Torso, neck and head: cross sections by height, and solids that round them."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from weft.base.errors import MannequinError
from weft.base.trees import YamlMapping
from weft.base.yaml_lines import read_yaml
from weft.plugins.garments.mannequin.joints import Levels
from weft.plugins.garments.mannequin.measures import NECK, SIZES, STATURE, Measures, child_mean
from weft.plugins.garments.mannequin.solids import Cone, Ellipsoid, Solid, Tube, section_rows

X, Y, Z = np.eye(3)

TRUNKS = Path(__file__).with_name("trunks.yaml")
CHIN_TO_TOP = 0.131  # of a drawn head, over its size
# Snyder et al. 1977: a head over the stature at 17.5 to 19 years; the breadth of a child's skull
# over its head's height goes about as this power of its head's height over the stature.
GROWN_HEAD, SKULL = 21.4 / 170.9, 0.25


@dataclass(frozen=True)
class Factors:
    """Factors by which the drawn cross sections are scaled; ``fit`` solves for them."""

    chest: float = 1.0
    waist: float = 1.0
    hips: float = 1.0
    neck: float = 1.0


@cache
def drawn_trunks() -> YamlMapping:
    """Return the drawn trunks of the default figures by name, as ``trunks.yaml`` has them."""
    drawn: YamlMapping = read_yaml(TRUNKS, "table of trunks", MannequinError).value
    return drawn


def torso(m: Measures, factors: Factors) -> list[Solid]:
    """Return the solids of the trunk, neck and head, without legs and arms.

    Args:
        m: measures of the figure.
        factors: that scale the drawn cross sections.
    """
    at, grow = Levels(m), m.height / SIZES[m.figure][0]
    solids: list[Solid] = [_trunk(m, factors), *_buttocks(m, factors)]
    y, s, bust = at["chest"], factors.chest * grow, drawn_trunks()[m.figure].get("bust")
    for side in (1.0, -1.0) if bust else ():
        aside, above, ahead = bust["center"]
        center = np.array([aside * side * s, y + above * s, ahead * s])
        solids.append(Ellipsoid(center, s * np.array(bust["radii"]), bust["blend"], "bust"))
    return solids + _shoulders(m, grow) + _head(m, factors)


def _trunk(m: Measures, factors: Factors) -> Tube:
    """Return the trunk from the crotch to the base of the neck."""
    from scipy.interpolate import PchipInterpolator

    at, grow = Levels(m), m.height / SIZES[m.figure][0]
    rows = np.array(drawn_trunks()[m.figure]["sections"])
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
    seat = drawn_trunks()[m.figure]["seat"]
    y, (aside, ahead) = at["hips"] + 0.012 * m.height, seat["center"]
    return [
        Ellipsoid(
            np.array([side * aside * s, y, ahead * s]), s * np.array(seat["radii"]), 0.04, "seat"
        )
        for side in (1.0, -1.0)
    ]


def _shoulders(m: Measures, grow: float) -> list[Solid]:
    """Return the collar bones and the slopes from the neck."""
    at, h = Levels(m), m.height
    end = 0.5 * m.shoulders
    thick = drawn_trunks()[m.figure]["shoulders"] * grow
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
