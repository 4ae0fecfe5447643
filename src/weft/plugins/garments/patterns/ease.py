"""Ease of a garment on paper: girths of its panels at the levels of a body.

A girth is the length, on paper, of the panels' section by the plane of a level where they start. It
counts only where the section goes around the body: both ends of each part lie on seams between
panels of the trunk, of one leg or of one arm.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weft.base.arrays import Bools, Faces, Floats, Ints
from weft.base.errors import abbreviate
from weft.discretization.mesh import TriangleMesh
from weft.plugins.garments.bodies.landmarks import GIRTH_LEVELS, Landmarks
from weft.plugins.garments.bodies.skin import UP
from weft.plugins.garments.patterns.girths import Girth, SewnPanels, SewnTube

NEAR, DEEPER = 0.02, 0.04  # of the height: distance of the nearest closed level; below an armhole
WINDOW = 0.045  # of the height: distance from the body's waist in which a garment's is searched
STEP, STRIDE = 0.002, 0.005  # [m] between the levels where a waist, and a closed level is searched
HALVINGS = 6  # of a step, to find the edge of a garment
BESIDE, FULL = 0.01, 1.25  # [m] from a gathered seam; ratio of girths at a seam that is gathered
SAME, WIDER = 2e-4, 6e-3  # parts by which girths differ that are the same, and that are wider
SNUG = 1.1  # girth of a garment's waist over that of the body, up to which it is worn at the waist
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
        meets: whether the garment is open there, and measured as if its edges were closed where
            they lie edge to edge or overlap.
        gathered: [m] girth of the garment on the longer side of a gathered seam at this level; 0:
            there is none.
        garment_name: of the garment if there are several; otherwise empty.
    """

    name: str
    garment: float
    body: float
    meets: bool = False
    gathered: float = 0.0
    garment_name: str = ""

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
        ) + "".join(f"  {note}" for note in (self.garment_name, *self.notes) if note)

    @property
    def notes(self) -> list[str]:
        """Return remarks about the garment's girth."""
        seam = f"at a gathered seam, {100 * self.gathered:.1f} on its longer side"
        return ["edges closed"] * self.meets + [seam] * (self.gathered > 0)


def measure_ease(
    mesh: TriangleMesh,
    parts: Sequence[Faces | slice],
    seams: Sequence[Ints],
    marks: Landmarks,
    folded: Ints | None = None,
    names: Sequence[str] = (),
) -> list[Ease]:
    """Return the ease at chest, waist, hips, thigh, crotch and upper arm, where garments have them.

    Args:
        mesh: of the garments, where they start.
        parts: faces of every panel.
        seams: (k,2) vertices that every seam brings together.
        marks: landmarks of the body.
        folded: faces that pressed pleats fold behind.
        names: of the panels; none: numbers.
    """
    names = names or [str(k) for k in range(len(parts))]
    measured = measure_garments(mesh, parts, seams, marks, folded)
    found = [(panels, eases) for panels, eases in measured if eases]
    if len(found) == 1:
        return found[0][1]
    return [
        replace(
            ease, garment_name=_garment_name([names[k] for k in np.flatnonzero(panels).tolist()])
        )
        for panels, eases in found
        for ease in eases
    ]


def _garment_name(panels: Sequence[str]) -> str:
    """Return the words with which the names of all panels of a garment begin: in a scene with
    several garments, the name of the cloth. Without such words, return the names of the panels.
    """
    words = [name.split()[:-1] for name in panels]
    common = [some[0] for some in zip(*words) if len(set(some)) == 1]
    return " ".join(common) or abbreviate(panels, 2)


def measure_garments(
    mesh: TriangleMesh,
    parts: Sequence[Faces | slice],
    seams: Sequence[Ints],
    marks: Landmarks,
    folded: Ints | None = None,
) -> list[tuple[Bools, list[Ease]]]:
    """Return the panels (p,) of every garment, without pockets and facings, and its ease.

    Args:
        mesh: of the garments, where they start.
        parts: faces of every panel.
        seams: (k,2) vertices that every seam brings together.
        marks: landmarks of the body.
        folded: faces that pressed pleats fold behind.
    """
    x = (mesh.vertices - marks.points["crotch"] * [1.0, 0.0, 1.0]) @ marks.axes.T
    panel = np.zeros(len(x), dtype=np.int32)
    for k, own in enumerate(parts):
        panel[mesh.faces[own]] = k
    panels = SewnPanels(mesh, x, panel, seams, np.zeros(0, np.int32) if folded is None else folded)
    body = {**marks.girths, "crotch_length": marks.crotch_length}
    found = []
    for among in (some for some in panels.garments if some.any()):
        girths = _measure_girths(panels, among, marks).items()
        closed = [(name, girth) for name, girth in girths if np.isfinite(girth.length)]
        found.append((among, [Ease(n, g.length, body[n], g.meets, g.gathered) for n, g in closed]))
    return found


def _measure_girths(panels: SewnPanels, own: Bools, marks: Landmarks) -> dict[str, Girth]:
    """Return the girths of the panels ``own`` of a garment."""
    p, h, x = marks.points, marks.height, panels.x
    side, height = (np.bincount(panels.panel, x[:, k]) / np.bincount(panels.panel) for k in (0, 1))
    aside = 0.9 * abs(marks.axes[0] @ (p["shoulder_left"] - p["crotch"]))
    trunk = own & ((np.abs(side) <= aside) | (height <= p["hip"][1]))
    names = (*reversed(GIRTH_LEVELS.values()), "thigh", "crotch_length", "upper_arm")
    found = dict.fromkeys(names, Girth())
    if trunk.any():
        tube = panels.tube(trunk, UP, p["bust"][1])
        body = _Levels(tube, marks, trunk)
        for at, name in reversed(GIRTH_LEVELS.items()):
            found[name] = body.girth(p[at][1], DEEPER if name == "chest" else NEAR)
        legs = [trunk & (sign * side > 0.02 * h) for sign in (1, -1)]
        below, thighs = p["crotch"][1] - 2 * NEAR * h - body.shift, []
        for leg in (leg for leg in legs if leg.any()):
            middle = x[leg[panels.panel]][:, [0, 2]].mean(axis=0)
            thighs.append(_highest(tube.within(leg), below, (x[:, [0, 2]], middle), NEAR * h))
        found["thigh"] = _least(thighs)
        if np.isfinite(found["thigh"].length):
            found["crotch_length"] = Girth(_crotch(tube, legs, p["waist"][1], body.hung))
    arms = [own & ~trunk & (sign * side > 0) for sign in (1, -1)]
    found["upper_arm"] = _least([_sleeve(panels, arm, trunk, 0.006 * h) for arm in arms])
    return found


def _highest(tube: SewnTube, level: float, around: tuple[Floats, Floats], reach: float) -> Girth:
    """Return the girth of a limb at a level [m]; where it is open there, at the first closed level
    below, at most ``reach`` [m] away.
    """
    steps = np.arange(0.0, reach, STRIDE).tolist()
    girths = (tube.girth(level - step, around) for step in steps)
    return next((g for g in girths if np.isfinite(g.length)), Girth())


def _least(girths: Iterable[Girth]) -> Girth:
    return min(girths, key=lambda g: g.length, default=Girth())


@dataclass(frozen=True, eq=False)
class _Levels:
    """Levels of a body on the trunk of a garment.

    Args:
        tube: the panels of the trunk.
        marks: landmarks of the body.
        own: (p,) the panels.
    """

    tube: SewnTube
    marks: Landmarks
    own: Bools

    def at(self, level: float) -> Girth:
        """Return the girth at a height [m] of the tube."""
        return self.tube.girth(level, (self.tube.panels.x[:, [0, 2]], np.zeros(2)))

    @cached_property
    def hung(self) -> float:
        """The height [m] by which the garment moves up until its shoulder seams lie on the
        shoulders; 0 for one that does not hang there.
        """
        panels, p = self.tube.panels, self.marks.points
        over = [
            pairs
            for pairs in panels.joining
            if self.own[panels.panel[pairs]].all() and panels.is_over(pairs, p["bust"][1])
        ]
        if not over:
            top = self.tube.span[1]
            return p["neck_side_left"][1] - top if top > p["shoulder_left"][1] else 0.0
        ids = np.concatenate(over).ravel()
        ends = [p[f"{n}_left"] - p["crotch"] for n in ("neck_side", "shoulder")]
        places = [abs(float(self.marks.axes[0] @ e)) for e in ends]
        heights = [float(p[f"{n}_left"][1]) for n in ("neck_side", "shoulder")]
        ridge = np.interp(np.abs(panels.x[ids, 0]), places, heights)
        return float((ridge - self.tube.height[ids]).mean())

    @cached_property
    def shift(self) -> float:
        """The height [m] by which the garment moves up until it is worn: where it hangs on the
        shoulders, or where it starts; if it has a narrow waist near that of the body, there.
        """
        about, half = self.hung, WINDOW * self.marks.height
        waist = float(self.marks.points["waist"][1])
        levels = np.arange(waist - about - half, waist - about + half, STEP)
        girths = np.array([self.at(y).length for y in levels.tolist()])
        if not np.isfinite(girths).any():
            return about
        narrow = np.flatnonzero(girths < girths.min() * (1 + SAME))
        wider = all(g > girths.min() * (1 + WIDER) for g in girths[[0, -1]])
        if wider and girths.min() < SNUG * self.marks.girths["waist"]:
            low = float(levels[narrow[0]])
            top = self._end(low, low + STEP)
            widest = girths.min() * (1 + SAME)
            return waist - (top if top > low else self._end(low, low - STEP, widest))
        return about

    def _end(self, closed: float, other: float, widest: float = np.inf) -> float:
        """Return the last level [m] at which the garment is closed and at most ``widest`` [m], from
        one level to another.
        """
        for _ in range(HALVINGS if not self._is_closed(other, widest) else 0):
            middle = (closed + other) / 2
            if self._is_closed(middle, widest):
                closed = middle
            else:
                other = middle
        return closed

    def _is_closed(self, level: float, widest: float) -> bool:
        length = self.at(level).length
        return bool(np.isfinite(length) and length <= widest)

    def girth(self, level: float, reach: float) -> Girth:
        """Return the girth at a height [m] of the body; where the garment is open there, at the
        nearest level, at most ``reach`` body heights away, at which it is closed.

        At a gathered seam, the girth is that of the seam, and not of the cloth on its longer side.
        """
        about = level - self.shift
        for step in np.arange(0.0, reach * self.marks.height, STRIDE).tolist():
            for sign in (-1.0, 1.0):
                if np.isfinite(self.at(about + sign * step).length):
                    near = self._end(about + sign * step, about + sign * (step - STRIDE))
                    return self._beside_gathers(near if step else about)
        return Girth()

    def _beside_gathers(self, level: float) -> Girth:
        """Return the girth at a height [m] of the tube: beside a gathered seam, that of the seam.

        A girth on paper jumps there from the shorter to the longer side, so that a level a little
        higher or lower would give another number.
        """
        near = [self.at(level + step) for step in (0.0, -BESIDE, BESIDE)]
        closed = [g for g in near if np.isfinite(g.length)]
        least, most = (f(closed, key=lambda g: g.length) for f in (min, max))
        if most.length < FULL * least.length:
            return near[0]
        return replace(least, gathered=most.length)


def _sleeve(panels: SewnPanels, arm: Bools, trunk: Bools, below: float) -> Girth:
    """Return the girth of a sleeve, ``below`` [m] the lowest point of its armhole."""
    own, joined = arm[panels.panel], np.zeros(len(panels.x), dtype=bool)
    for one, two in (side for pairs in panels.joining for side in (pairs.T, pairs.T[::-1])):
        joined[one[trunk[panels.panel[two]]]] = True
    hole = own & joined
    if not hole.any():
        return Girth()
    x = panels.x
    along = x[own].mean(axis=0) - x[hole].mean(axis=0)
    along /= max(float(np.linalg.norm(along)), 1e-12)
    across = np.linalg.svd(np.eye(3) - np.outer(along, along))[0][:, :2]
    tube = panels.tube(arm, along)
    level = float(tube.height[hole].max()) + below
    return tube.girth(level, (x @ across, x[own].mean(axis=0) @ across))


def _crotch(tube: SewnTube, legs: Sequence[Bools], waist: float, hung: float) -> float:
    """Return the length [m] of the seams between both legs' panels below a height [m], in front
    and at the back; infinite if one of them is missing.

    Where a seam begins below that height, the way up to it is added, as the body's has it: from
    where trousers start, or from where a garment hangs if it is ``hung`` [m] higher.
    """
    total = {True: 0.0, False: 0.0}
    tops = dict.fromkeys(total, -np.inf)
    panels = tube.panels
    height = tube.height + hung if hung else panels.x[:, 1]
    for pairs in tube.seams:
        one, two = (leg[panels.panel[pairs]] for leg in legs)
        level = height[pairs].mean(axis=1)
        own = (one[:, 0] & two[:, 1] | one[:, 1] & two[:, 0]) & (level < waist)
        if own.any():
            ahead = bool(panels.x[pairs[own], 2].mean() > 0)
            ways = np.linalg.norm(np.diff(panels.paper[pairs], axis=0), axis=2).mean(axis=1)
            total[ahead] += float(ways[own[1:] & own[:-1]].sum())
            tops[ahead] = max(tops[ahead], float(level[own].max()))
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
