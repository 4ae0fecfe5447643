"""Ease of a garment on paper: girths of its panels at the levels of a body.

A girth is the length, on paper, of the panels' section by the plane of a level where they start. It
counts only where the section goes around the body: both ends of each part lie on seams between
panels of the trunk, of one leg or of one arm.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Bools, Faces, Floats, Ints, Positions
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import TriangleMesh, unique_edges
from weft.plugins.garments.bodies.landmarks import GIRTH_LEVELS, UP, Landmarks

NEAR = 0.02  # of the height: distance from a level in which girths are taken
DART = 0.85  # of the largest girth near a level: smaller ones lack what a dart takes in
# [rad] angle around a section without cloth, from which it does not go around the body; after its
# smaller extent is made equal to the larger one, up to this factor.
GAP, FLATTEST = 1.4, 0.3
SMALLER, LARGER = 0.95, 1.6  # ratios of girths of garment and body that are warned of
# Factors by which all lengths are wrong if a file's unit is taken for another one.
UNITS: Mapping[float, str] = {
    1 / 2.54: "inches taken for centimeters",
    2.54: "centimeters taken for inches",
    0.1: "centimeters taken for millimeters",
    10.0: "millimeters taken for centimeters",
}
FITS = (0.9, 1.7)  # ratio of girths that a garment has in its right unit


@dataclass(frozen=True)
class Ease:
    """A girth of a garment and of the body in it.

    Args:
        name: of the body's girth, as in ``Landmarks.girths``, or ``crotch_length``.
        garment: [m].
        body: [m].
    """

    name: str
    garment: float
    body: float

    @property
    def ratio(self) -> float:
        """Return the garment's girth over the body's."""
        return self.garment / self.body

    @property
    def what(self) -> str:
        """Return the name of the measure in words: ``chest girth``, ``crotch length``."""
        return self.name.replace("_", " ") + " girth" * ("length" not in self.name)

    def __str__(self) -> str:
        ease = 100 * (self.garment - self.body)
        return (
            f"{self.name.replace('_', ' '):<13} {100 * self.garment:>8.1f} {100 * self.body:>8.1f} "
            f"{ease:>+8.1f} {100 * (self.ratio - 1):>+6.0f} %"
        )


def measure_ease(
    mesh: TriangleMesh, parts: Sequence[Faces | slice], seams: Sequence[Ints], marks: Landmarks
) -> list[Ease]:
    """Return the ease at chest, waist, hips, thigh, crotch and upper arm, where garments have them.

    Of several garments, the widest counts. One that starts above the shoulders, to be let down, is
    measured lower by that height.

    Args:
        mesh: of the garments, where they start.
        parts: faces of every panel.
        seams: (k,2) vertices that every seam brings together.
        marks: landmarks of the body.
    """
    found = measure_garments(mesh, parts, seams, marks)[1]
    widest: dict[str, Ease] = {}
    for ease in (e for garment in found for e in garment):
        widest[ease.name] = max(widest.get(ease.name, ease), ease, key=lambda e: e.garment)
    return list(widest.values())


def measure_garments(
    mesh: TriangleMesh, parts: Sequence[Faces | slice], seams: Sequence[Ints], marks: Landmarks
) -> tuple[Ints, list[list[Ease]]]:
    """Return the number of the garment of every panel, and the ease of each garment.

    Args:
        mesh: of the garments, where they start.
        parts: faces of every panel.
        seams: (k,2) vertices that every seam brings together.
        marks: landmarks of the body.
    """
    x = (mesh.vertices - marks.points["crotch"] * [1.0, 0.0, 1.0]) @ marks.axes.T
    panel = np.zeros(len(x), dtype=np.int32)
    for k, own in enumerate(parts):
        panel[mesh.faces[own]] = k
    cut = _Sections(mesh, x, panel, seams)
    joined = np.concatenate([np.zeros((0, 2), np.int32), *(panel[pairs] for pairs in seams)])
    garment = component_labels(joined, len(parts))
    found = [_measure_girths(cut, garment == k, marks) for k in range(int(garment.max()) + 1)]
    body = {**marks.girths, "crotch_length": marks.crotch_length}
    return garment, [
        [Ease(name, girth, body[name]) for name, girth in girths.items() if np.isfinite(girth)]
        for girths in found
    ]


def _measure_girths(cut: "_Sections", own: Bools, marks: Landmarks) -> dict[str, float]:
    """Return the girths [m] of the panels ``own`` of a garment; infinite where it is open."""
    p, h, x = marks.points, marks.height, cut.x
    side, height = (np.bincount(cut.panel, x[:, k]) / np.bincount(cut.panel) for k in (0, 1))
    aside = 0.9 * abs(marks.axes[0] @ (p["shoulder_left"] - p["crotch"]))
    trunk = own & ((np.abs(side) <= aside) | (height <= p["hip"][1]))
    top = x[trunk[cut.panel], 1].max(initial=0.0)
    raised = top - p["neck_side_left"][1] if top > p["shoulder_left"][1] else 0.0

    def around(some: Bools, level: float) -> float:
        levels = np.linspace(level - NEAR * h, level + NEAR * h, 5) + max(raised, 0.0)
        girths = np.array([cut.girth(some, UP, float(y)) for y in levels])
        girths = girths[np.isfinite(girths)]
        if not len(girths):
            return np.inf
        return float(np.median(girths[girths > DART * girths.max()]))

    found = {name: around(trunk, p[at][1]) for at, name in reversed(GIRTH_LEVELS.items())}
    if not np.isfinite(found["chest"]) and top > p["bust"][1]:  # the armholes are deeper
        found["chest"] = around(trunk, p["bust"][1] - 2 * NEAR * h)
    legs = [trunk & (sign * side > 0.02 * h) for sign in (1, -1)]
    arms = [own & ~trunk & (sign * side > 0) for sign in (1, -1)]
    found["thigh"] = min(around(leg, p["crotch"][1] - 2 * NEAR * h) for leg in legs)
    has_legs = np.isfinite(found["thigh"])
    found["crotch_length"] = cut.crotch(legs, p["waist"][1] + raised) if has_legs else np.inf
    found["upper_arm"] = min(cut.sleeve(arm, trunk, 0.006 * h) for arm in arms)
    return found


@dataclass(frozen=True, eq=False)
class _Sections:
    """Sections of a garment's panels by planes, with lengths on paper.

    Args:
        mesh: the garment.
        x: (n,3) [m] where its vertices start: to the left of the body's middle, up, ahead.
        panel: (n,) number of the panel of each vertex.
        seams: (k,2) vertices that every seam brings together.
    """

    mesh: TriangleMesh
    x: Positions
    panel: Ints
    seams: Sequence[Ints]

    @cached_property
    def _edges(self) -> tuple[Ints, Ints]:
        """Return the edges (e,2), and those of every face (m,3)."""
        edges, of = unique_edges(self.mesh.faces)
        return edges, of.reshape(-1, 3)

    def _sewn_to(self, own: Bools) -> Bools:
        """Return the vertices (n,) that seams bring to panels; ``own`` marks these panels."""
        sewn = np.zeros(len(self.x), dtype=bool)
        for one, two in (side for pairs in self.seams for side in (pairs.T, pairs.T[::-1])):
            sewn[one[own[self.panel[two]]]] = True
        return sewn

    def girth(self, own: Bools, normal: Floats, level: float) -> float:
        """Return the girth [m] of panels at a level along a direction; infinite if it is open."""
        (edges, of), faces, height = self._edges, self.mesh.faces, self.x @ normal - level
        crossed = (height > 0)[edges].sum(axis=1) == 1
        mine = own[self.panel[faces[:, 0]]] & (crossed[of].sum(axis=1) == 2)
        if not mine.any():
            return np.inf
        ends = of[mine][crossed[of[mine]]].reshape(-1, 2)
        at, back, count = np.unique(ends, return_inverse=True, return_counts=True)
        if not self._sewn_to(own)[edges[at[count == 1]]].all():
            return np.inf
        i, j = edges[at].T
        share = height[i] / (height[i] - height[j])
        flat, place = (v[i] + share[:, None] * (v[j] - v[i]) for v in (self._paper, self.x))
        axes, size, _ = np.linalg.svd(place - place.mean(axis=0), full_matrices=False)
        around = axes * size / np.maximum(size, FLATTEST * size[0])
        angle = np.sort(np.arctan2(around[:, 0], around[:, 1]))
        if np.diff(angle, append=angle[0] + 2 * np.pi).max() > GAP:
            return np.inf
        one, two = back.reshape(-1, 2).T
        return float(np.linalg.norm(flat[one] - flat[two], axis=1).sum())

    @property
    def _paper(self) -> Floats:
        """Return the vertices (n,2) [m] on paper."""
        flat = self.mesh.vertex_uv
        assert flat is not None, "panels share no vertices"
        return flat

    def sleeve(self, arm: Bools, trunk: Bools, below: float) -> float:
        """Return the girth [m] of a sleeve, ``below`` [m] the lowest point of its armhole."""
        own = arm[self.panel]
        hole = own & self._sewn_to(trunk)
        if not hole.any():
            return np.inf
        along = self.x[own].mean(axis=0) - self.x[hole].mean(axis=0)
        along /= max(float(np.linalg.norm(along)), 1e-12)
        return self.girth(arm, along, float((self.x[hole] @ along).max()) + below)

    def crotch(self, legs: Sequence[Bools], waist: float) -> float:
        """Return the length [m] of the seams between both legs' panels below a height [m], in front
        and at the back; infinite if one of them is missing.

        Where a seam begins below that height, the way up to it is added, as the body's has it.
        """
        total = {True: 0.0, False: 0.0}
        tops = dict.fromkeys(total, -np.inf)
        for pairs in self.seams:
            one, two = (leg[self.panel[pairs]] for leg in legs)
            at = self.x[pairs].mean(axis=1)
            own = (one[:, 0] & two[:, 1] | one[:, 1] & two[:, 0]) & (at[:, 1] < waist)
            if own.any():
                ahead = bool(at[own, 2].mean() > 0)
                ways = np.linalg.norm(np.diff(self._paper[pairs], axis=0), axis=2).mean(axis=1)
                total[ahead] += float(ways[own[1:] & own[:-1]].sum())
                tops[ahead] = max(tops[ahead], float(at[own, 1].max()))
        return float(sum(total.values()) + sum(waist - top for top in tops.values()))


def ease_warnings(name: str, found: Sequence[Ease]) -> Iterator[str]:
    """Yield warnings about a garment that does not go with the body, with the likely cause.

    Args:
        name: of the garment.
        found: its ease.
    """
    if not found:
        return
    tightest = min(found, key=lambda e: e.ratio)
    text = (
        f"{name}: its {tightest.what} is {100 * tightest.garment:.1f} cm, "
        f"the body's {100 * tightest.body:.1f} cm"
    )
    ratio = tightest.ratio
    cause = next((w for f, w in UNITS.items() if FITS[0] <= ratio / f <= FITS[1]), None)
    if cause is not None and not 0.7 < ratio < LARGER:
        yield f"{text}: {cause}?"
    elif ratio < SMALLER:
        yield (
            f"{text}: smaller by {100 * (1 - ratio):.0f} %: another size, unless the fabric "
            "stretches enough"
        )
    elif ratio > LARGER:
        yield f"{text}: {ratio:.1f} times as much: check whether the garment has another size"
