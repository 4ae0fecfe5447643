"""Ways on which the two sides of seams come together, and what the seams close around.

A seam *encloses* if both of its panels lie on the same side of it, one over the other, as front and
back do at a shoulder: closing it, cloth goes around something. Panels at the two sides of other
seams lie beside each other, as at an armhole. Panels that enclosing seams join are a *tube*: trunk,
sleeve, leg, band. A panel whose own two edges a seam joins around something is a tube, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.discretization.polygon import normalize
from weft.plugins.garments.patterns.curves import sharp_corners
from weft.plugins.garments.patterns.edge_chains import EdgeChain, Match
from weft.plugins.garments.patterns.pattern import Panel
from weft.plugins.garments.patterns.placement import place_points, plane_axes

SPACING = 0.02  # [m] between the ways of one seam, about
MOST_WAYS = 40  # of one seam
CENTER = 0.04  # [m] distance from x = 0 of seams in the middle
UPWARD = 0.5  # cosine of the angle between up and outward from which a seam closes from above
INWARD = 0.5  # cosine of the angle to the plane of symmetry from which a seam closes towards it
INSIDE = 0.3  # distance of an inseam from the plane of symmetry at most, over the crotch's height
ASIDE = 0.2  # distance of panels from the plane of symmetry, over their width, of a leg or a sleeve
TIP = 0.25  # shortest way of a dart over its longest one, at most
FACE_TO_FACE = 0.3  # mean cosine of the outward directions of both sides from which a seam encloses


@dataclass(frozen=True, eq=False)
class SeamWays:
    """Straight ways between the two sides of a seam, from where the panels start.

    Args:
        match: the seam.
        first, second: (k,3) [m] points that meet.
        first_out, second_out: (k,3) unit directions away from the panels, across their edges.
    """

    match: Match
    first: Positions
    second: Positions
    first_out: Positions
    second_out: Positions

    @staticmethod
    def of(match: Match) -> "SeamWays":
        """Return the ways of a seam."""
        k = int(np.clip(match.first.length / SPACING, 3, MOST_WAYS))
        at = (np.arange(k) + 0.5) / k
        first, first_out = _place_chain(match.first, at)
        second, second_out = _place_chain(match.second, at)
        return SeamWays(match, first, second, first_out, second_out)

    def move(self, panels: Mapping[str, Panel]) -> "SeamWays":
        """Return the ways of the seam between panels that start elsewhere."""
        one, two = (replace(c, panels=panels) for c in self.match.chains)
        return SeamWays.of(replace(self.match, first=one, second=two))

    def edges(self, panel: str) -> list[Floats]:
        """Return points (k,2) [m] of the edges of a panel that the seam joins, in its plane."""
        return [
            curve.points(np.linspace(0, 1, 9))
            for chain in self.match.chains
            for side, curve in zip(chain.sides, chain.curves)
            if side.panel == panel
        ]

    @property
    def panels(self) -> tuple[str, str]:
        """Return the names of the panels at the middle of the seam, on both sides."""
        one, two = self.match.chains
        return one.sides[one.on_edge(0.5)[0]].panel, two.sides[two.on_edge(0.5)[0]].panel

    @cached_property
    def _sides(self) -> tuple[float, float]:
        """Return 1 for a panel to the left of the wearer's middle, -1 to the right, 0 across it."""
        found = []
        for panel in (self.match.first.panels[name] for name in self.panels):
            x = place_points(panel, panel.corners)[:, 0]
            aside = abs(x.mean()) > ASIDE * np.ptp(x)
            found.append(float(np.sign(x.mean())) if aside else 0.0)
        return found[0], found[1]

    @cached_property
    def is_central(self) -> bool:
        """Return whether the seam joins a left panel to a right one in the middle."""
        return self._sides[0] * self._sides[1] < 0 and abs(self.middle[0]) < CENTER

    @property
    def highest(self) -> float:
        """Return the height [m] of the highest of the ways' ends."""
        return float(max(self.first[:, 1].max(), self.second[:, 1].max()))

    @cached_property
    def encloses(self) -> bool:
        """Return whether the seam closes cloth around something."""
        cosine = np.einsum("ki,ki->k", self.first_out, self.second_out).mean()
        one, two = self.panels
        return one != two and bool(cosine > FACE_TO_FACE) and not self.is_central

    @cached_property
    def closes_panel(self) -> bool:
        """Return whether the seam closes one panel to a tube, as that of a sleeve of one panel.

        The sides of a dart, which is no tube, face each other and meet at its tip. Those of a
        circle skirt may face each other, but do not meet.
        """
        one, two = self.panels
        across = np.einsum("ki,ki->k", self.second - self.first, self.first_out - self.second_out)
        apart = np.linalg.norm(self.second - self.first, axis=1)
        open_ring = apart.min() > TIP * apart.max()
        return one == two and bool(across.mean() < 0 or open_ring)

    @cached_property
    def is_over(self) -> bool:
        """Return whether the seam closes from above, as over a shoulder: at the top of its panels,
        which do not lie beside the trunk, and upwards.
        """
        corners = [
            place_points(p, sharp_corners(p))
            for p in (self.match.first.panels[name] for name in self.panels)
        ]
        half = np.concatenate(corners)[:, 1].mean()
        low = min(self.first[:, 1].min(), self.second[:, 1].min())
        upward = bool(self.outward.mean(0)[1] > UPWARD and low > half)
        return self.encloses and upward and not self.is_aside

    @cached_property
    def is_aside(self) -> bool:
        """Return whether both panels lie beside the trunk, as those of a sleeve."""
        panels = (self.match.first.panels[name] for name in self.panels)
        x = np.concatenate([place_points(p, p.corners) for p in panels])[:, 0]
        return bool(x.min() > CENTER or x.max() < -CENTER)

    def is_inseam(self, crotch: float) -> bool:
        """Return whether the seam closes a leg towards the other leg.

        Args:
            crotch: [m] height of the crotch.
        """
        low = min(self.first[:, 1].min(), self.second[:, 1].min())
        medial = self.outward.mean(0)[0] * self._sides[0] < -INWARD
        between_legs = abs(self.middle[0]) < INSIDE * crotch  # sleeves of a small size are not
        return self.encloses and bool(medial and low < crotch and between_legs)

    @cached_property
    def outward(self) -> Positions:
        """Return (k,3) the mean outward direction of both sides; unit vectors, or zero."""
        mean = self.first_out + self.second_out
        size = np.linalg.norm(mean, axis=1, keepdims=True)
        return np.asarray(mean / np.maximum(size, 1e-12))

    @cached_property
    def middles(self) -> Positions:
        """Return the middle (k,3) [m] of each way."""
        return (self.first + self.second) / 2

    @cached_property
    def middle(self) -> Floats:
        """Return the middle (3,) [m] of all ways."""
        return np.asarray((self.first.mean(0) + self.second.mean(0)) / 2)

    @cached_property
    def longest(self) -> float:
        """Return the length [m] of the longest way."""
        return float(np.linalg.norm(self.second - self.first, axis=1).max())


def _place_chain(chain: EdgeChain, at: Floats) -> tuple[Positions, Positions]:
    """Return start positions (k,3) [m] at fractions of a chain, and unit directions away from its
    panels, where these face if they are bent.
    """
    edges, fractions = zip(*(chain.on_edge(a) for a in at.tolist()))
    points, directions = np.zeros((2, len(at), 3))
    for i in set(edges):
        own = np.array(edges) == i
        f = np.array(fractions)[own]
        curve, panel = chain.curves[i], chain.panels[chain.sides[i].panel]
        before, after = (curve.points(np.clip(f + d, 0, 1)) for d in (-1e-3, 1e-3))
        along = after - before
        # outlines run counter-clockwise
        out = normalize(np.column_stack([along[:, 1], -along[:, 0]]))
        points[own] = place_points(panel, curve.points(f))
        directions[own] = out @ plane_axes(panel.placement)[:, :2].T
    return points, directions


def closed_panels(ways: Iterable[SeamWays]) -> set[str]:
    """Return the panels that a seam closes to a tube by themselves."""
    return {w.panels[0] for w in ways if w.closes_panel}


def find_tubes(ways: Sequence[SeamWays], panels: Mapping[str, Panel]) -> dict[str, int]:
    """Return the number of the tube to which each panel belongs.

    Two tubes are one if most of the length of their seams encloses: of an armhole, a short part
    may. The seam between two halves of a back says neither. A panel without an enclosing seam
    belongs to the tube of a panel to which it is sewn, by its longest seam.
    """
    tube = {name: i for i, name in enumerate(panels)}

    def join(one: int, two: int) -> None:
        tube.update({name: two for name, t in tube.items() if t == one})

    longest_first = sorted(ways, key=lambda w: -w.match.first.length)
    closed = closed_panels(ways)
    joined = set(closed)
    for w in longest_first:
        one, two = (tube[name] for name in w.panels)
        between = [
            v for v in ways if {tube[name] for name in v.panels} == {one, two} and not v.is_central
        ]
        lengths = [v.match.first.length * (1 if v.encloses else -1) for v in between]
        apart = closed & set(w.panels)  # one seam of a raglan sleeve may enclose
        if w.encloses and not apart and one != two and sum(lengths) > 0:
            join(one, two)
            joined |= set(w.panels)
    for w in longest_first:
        for loose, other in (w.panels, w.panels[::-1]):
            if loose not in joined and loose != other:
                join(tube[loose], tube[other])
                joined |= {loose}
    return tube
