"""Ease of a garment before it is sewn: girths of its panels at the levels of a body.

A girth is the length, on paper, of the panels' section by the plane of a level where they start. It
counts only where the section goes around the body: both ends of each part lie on seams between
panels of the trunk, of one leg or of one arm.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.bodies.landmarks import GIRTH_LEVELS, UP, Landmarks
from weft.discretization.mesh import unique_edges
from weft.garment.garment import Garment

NEAR = 0.02  # of the height: distance from a level in which girths are taken
GAP = 2.2  # [rad] angle around a section without cloth, from which it does not go around the body
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
        name: of the body's girth, as in ``Landmarks.girths``.
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

    def __str__(self) -> str:
        ease = 100 * (self.garment - self.body)
        return (
            f"{self.name.replace('_', ' '):<10} {100 * self.garment:>8.1f} {100 * self.body:>8.1f} "
            f"{ease:>+8.1f} {100 * (self.ratio - 1):>+6.0f} %"
        )


def measure_ease(garment: Garment, marks: Landmarks) -> list[Ease]:
    """Return the ease at chest, waist, hips, thigh and upper arm, where the garment has girths.

    A garment that starts above the shoulders, to be let down, is measured lower by that height.

    Args:
        garment: where it starts.
        marks: landmarks of the body.
    """
    p, h = marks.points, marks.height
    x = garment.mesh.vertices - p["crotch"] * [1.0, 0.0, 1.0]
    left = marks.axes[0]
    side = x @ left
    middle = {n: (side[list(r)].mean(), x[list(r), 1].mean()) for n, r in garment.vertices.items()}
    aside = 0.9 * abs(left @ (p["shoulder_left"] - p["crotch"]))
    sleeves = {n for n, (s, y) in middle.items() if abs(s) > aside and y > p["hip"][1]}
    trunk = [n for n in middle if n not in sleeves]
    top = max((x[list(garment.vertices[n]), 1].max() for n in trunk), default=0.0)
    raised = top - p["neck_side_left"][1] if top > p["shoulder_left"][1] else 0.0
    x = x - max(raised, 0.0) * UP
    cut = _Sections(garment, x)

    def around(panels: Sequence[str], level: float) -> float:
        levels = np.linspace(level - NEAR * h, level + NEAR * h, 5)
        girths = [g for y in levels if np.isfinite(g := cut.girth(panels, UP, float(y)))]
        # A side dart takes from some of the girths.
        return float(np.median(girths)) if girths else np.inf

    found = {name: around(trunk, p[at][1]) for at, name in reversed(GIRTH_LEVELS.items())}
    if not np.isfinite(found["chest"]):  # the armholes are deeper
        found["chest"] = around(trunk, p["bust"][1] - 2 * NEAR * h)
    legs = [[n for n in trunk if s * middle[n][0] > 0.02 * h] for s in (1, -1)]
    arms = [[n for n in sleeves if s * middle[n][0] > 0] for s in (1, -1)]
    found["thigh"] = min(around(leg, p["crotch"][1] - 2 * NEAR * h) for leg in legs)
    found["upper_arm"] = min(cut.sleeve(arm, trunk, 0.006 * h) for arm in arms)
    return [Ease(n, g, marks.girths[n]) for n, g in found.items() if np.isfinite(g)]


class _Sections:
    """Sections of a garment's panels by planes, with lengths on paper.

    Args:
        garment: the garment.
        x: (n,3) [m] where its vertices start.
    """

    def __init__(self, garment: Garment, x: Positions) -> None:
        self.garment, self.x, self.faces = garment, x, garment.mesh.faces
        self.edges, of = unique_edges(self.faces)
        self.of = of.reshape(-1, 3)
        self.border = np.bincount(of, minlength=len(self.edges)) == 1
        self.panel = np.empty(len(x), dtype=object)
        for name, ids in garment.vertices.items():
            self.panel[list(ids)] = name
        self.partners: dict[int, set[str]] = {}
        for line in garment.seams:
            for a, b in line.pairs.tolist():
                self.partners.setdefault(a, set()).add(self.panel[b])
                self.partners.setdefault(b, set()).add(self.panel[a])

    def girth(self, panels: Iterable[str], normal: Floats, level: float) -> float:
        """Return the girth [m] of panels at a level along a direction; infinite if it is open."""
        own, above = set(panels), self.x @ normal > level
        crossed = above[self.edges[:, 0]] != above[self.edges[:, 1]]
        mine = np.isin(self.panel[self.faces[:, 0]], list(own)) & (crossed[self.of].sum(1) == 2)
        if not mine.any():
            return np.inf
        for a, b in self.edges[np.unique(self.of[mine])][self._open_ends(mine, crossed)].tolist():
            if not (self.partners.get(a, set()) & own and self.partners.get(b, set()) & own):
                return np.inf
        height = self.x @ normal - level
        i, j = self.edges.T
        share = np.where(crossed, height[i] / np.where(crossed, height[i] - height[j], 1.0), 0.0)
        flat = self.garment.flat
        points = flat[i] + share[:, None] * (flat[j] - flat[i])
        ends = self.of[mine][crossed[self.of[mine]]].reshape(-1, 2)
        place = self.x[i[ends]].reshape(-1, 3)
        place -= place.mean(0)
        across = np.linalg.svd(np.eye(3) - np.outer(normal, normal))[0][:, :2]
        angle = np.sort(np.arctan2(*(place @ across).T))
        if np.diff(angle, append=angle[0] + 2 * np.pi).max() > GAP:
            return np.inf
        return float(np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1).sum())

    def _open_ends(self, mine: Bools, crossed: Bools) -> Ints:
        """Return which edges of the faces are crossed and on the border of their panel."""
        return np.flatnonzero((self.border & crossed)[np.unique(self.of[mine])]).astype(np.int32)

    def sleeve(self, arm: Sequence[str], trunk: Sequence[str], below: float) -> float:
        """Return the girth [m] of a sleeve, ``below`` [m] the lowest point of its armhole."""
        ids = [v for n in arm for v in self.garment.vertices[n]]
        hole = [v for v in ids if self.partners.get(v, set()) & set(trunk)]
        if not hole:
            return np.inf
        along = self.x[ids].mean(0) - self.x[hole].mean(0)
        along /= max(float(np.linalg.norm(along)), 1e-12)
        return self.girth(arm, along, float((self.x[hole] @ along).max()) + below)


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
        f"{name}: its {tightest.name.replace('_', ' ')} girth is {100 * tightest.garment:.1f} cm, "
        f"the body's {100 * tightest.body:.1f} cm"
    )
    ratio = tightest.ratio
    cause = next((w for f, w in UNITS.items() if FITS[0] <= ratio / f <= FITS[1]), None)
    if cause is not None and not 0.7 < ratio < LARGER:
        yield f"{text}: {cause}?"
    elif ratio < SMALLER:
        yield (
            f"{text}: smaller by {100 * (1 - ratio):.0f} %, a garment of another size, unless its "
            "fabric stretches as much"
        )
    elif ratio > LARGER:
        yield f"{text}: {ratio:.1f} times as much, a garment of another size?"
