"""Edges of panels as curves: points by arc length, lengths, cuts and reversed edges.

The arc length of a Bézier curve is integrated by Gauss-Legendre quadrature over ``PARTS`` parts of
the parameter and inverted by Newton's method; straight edges, polylines and arcs are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import (
    arc_lengths,
    cross,
    interpolate_points,
    turn_angles,
    unit_vectors,
)
from weft.plugins.garments.patterns.pattern import BorderCurve, Edge, Panel

KINK = np.radians(30.0)  # a point where a polyline turns by more is kept as a corner
PARTS = 128  # quadrature intervals of a Bézier curve's parameter
_GAUSS = np.polynomial.legendre.leggauss(5)
STRAIGHT = 1e-9  # an arc whose height over its chord is below this is a line
SAMPLES = 32  # points of a curved edge of a drawing, for areas and tests of side


@dataclass(frozen=True, eq=False)
class EdgeCurve:
    """An edge with its two ends, as a curve.

    Args:
        kind: its kind.
        control_points: (2+c,2) [m] its start, control points and end.
        name: of the edge.
        seam: word that it has in common with the edges to which a drawing sews it.
    """

    kind: BorderCurve
    control_points: Floats
    name: str = ""
    seam: str = ""

    @property
    def start(self) -> Floats:
        """Return the beginning (2,) [m]."""
        return np.asarray(self.control_points[0])

    @property
    def end(self) -> Floats:
        """Return the end (2,) [m]."""
        return np.asarray(self.control_points[-1])

    @property
    def edge(self) -> Edge:
        """Return the edge of a panel, without its ends."""
        return Edge(self.kind, self.control_points[1:-1].copy(), self.name)

    def reverse(self) -> "EdgeCurve":
        """Return the curve from its end to its beginning."""
        return replace(self, control_points=self.control_points[::-1].copy())

    def transform(
        self, linear: Floats, offset: Floats | Sequence[float] = (0.0, 0.0)
    ) -> "EdgeCurve":
        """Return the curve with every point p mapped to ``linear`` p + ``offset``.

        Args:
            linear: (2,2); for an arc, a similarity.
            offset: (2,) [m].
        """
        return replace(self, control_points=self.control_points @ linear.T + np.asarray(offset))

    def sample(self, samples: int = SAMPLES) -> Floats:
        """Return points (s,2) [m] along the curve, with its beginning and without its end."""
        if self.kind in (BorderCurve.LINE, BorderCurve.POLYLINE):
            return self.control_points[:-1]
        return self.at(np.arange(samples) / samples)

    @cached_property
    def controls(self) -> Floats:
        """Return (c+2,2) [m] start, control points and end; only the two ends of a flat arc."""
        if self.kind is BorderCurve.ARC:
            chord = self.end - self.start
            height = cross(chord, self.control_points[1] - self.start)
            if abs(height) <= STRAIGHT * float(chord @ chord):
                return self.control_points[[0, -1]]
        return self.control_points

    @cached_property
    def is_straight(self) -> bool:
        """Return whether the edge is one straight line."""
        return len(self.controls) == 2

    @cached_property
    def arc(self) -> tuple[Floats, float, float, float] | None:
        """Return center, radius, first angle and signed sweep of an arc; None for other edges."""
        if self.kind is not BorderCurve.ARC or self.is_straight:
            return None
        a, b, c = self.controls
        u, w = b - a, c - a
        d = 2 * cross(u, w)
        offset = np.array([w[1] * (u @ u) - u[1] * (w @ w), u[0] * (w @ w) - w[0] * (u @ u)]) / d
        center, radius = a + offset, float(np.hypot(*offset))
        first = float(np.arctan2(*(a - center)[::-1]))
        last = float(np.arctan2(*(c - center)[::-1]))
        sweep = (last - first) % (2 * np.pi)
        return center, radius, first, sweep if d > 0 else sweep - 2 * np.pi

    @cached_property
    def polyline(self) -> Floats | None:
        """Return (l,) the fractions of the length of a polyline's points; None for other edges."""
        if self.kind is not BorderCurve.POLYLINE or self.is_straight:
            return None
        along = arc_lengths(self.controls)
        return np.asarray(along / max(along[-1], 1e-300))

    @cached_property
    def _turns(self) -> Floats:
        """Return (l-2,) the angles [rad] by which a polyline turns at its inner points."""
        d = np.diff(self.controls, axis=0)
        return np.abs(turn_angles(d[:-1], d[1:]))

    @property
    def kinks(self) -> Floats:
        """Return the fractions of the length at which the edge has corners."""
        if self.polyline is None:
            return np.zeros(0)
        return np.asarray(self.polyline[1:-1][self._turns > KINK])

    def at(self, t: Floats) -> Floats:
        """Return the points (k,2) [m] at parameters t.

        Args:
            t: (k,) in [0, 1]; except for Bézier curves, t is the fraction of the length.
        """
        t = np.asarray(t, dtype=np.float64)
        if self.polyline is not None:
            points = interpolate_points(t, self.polyline, self.controls)
        elif self.arc is not None:
            center, radius, first, sweep = self.arc
            angle = first + t * sweep
            points = center + radius * unit_vectors(angle)
        else:
            points = _bezier(self.controls, t)
        points[t == 0], points[t == 1] = self.start, self.end  # exact, so that panels stay closed
        return points

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        """Return parameters of a Bézier curve and the arc lengths [m] up to them."""
        t = np.linspace(0, 1, PARTS + 1)
        nodes, weights = _GAUSS
        inner = t[:-1, None] + (nodes + 1) / (2 * PARTS)
        speed = self._speed(inner.ravel()).reshape(inner.shape)
        return t, np.concatenate([[0.0], np.cumsum(speed @ weights / (2 * PARTS))])

    def _speed(self, t: Floats) -> Floats:
        slope = (len(self.controls) - 1) * np.diff(self.controls, axis=0)
        return np.asarray(np.linalg.norm(_bezier(slope, t), axis=1))

    @cached_property
    def length(self) -> float:
        """Return the length [m] of the edge."""
        if self.arc is not None:
            return float(self.arc[1] * abs(self.arc[3]))
        if self.is_straight or self.polyline is not None:
            return float(np.linalg.norm(np.diff(self.controls, axis=0), axis=1).sum())
        return float(self._table[1][-1])

    def parameters(self, fractions: Floats) -> Floats:
        """Return (k,) the parameters of points at fractions of the length."""
        s = np.asarray(fractions, dtype=np.float64)
        if (
            self.arc is not None
            or self.polyline is not None
            or self.is_straight
            or self.length == 0
        ):
            return s
        t, lengths = self._table
        wanted = s * lengths[-1]
        part = np.clip(np.searchsorted(lengths, wanted, side="right") - 1, 0, PARTS - 1)
        low, high = t[part], t[part + 1]
        x = np.interp(wanted, lengths, t)
        nodes, weights = _GAUSS
        for _ in range(3):
            half = (x - low) / 2
            inner = low[:, None] + half[:, None] * (nodes + 1)
            speed = self._speed(inner.ravel()).reshape(inner.shape)
            excess = lengths[part] + half * (speed @ weights) - wanted
            x = np.clip(x - excess / np.maximum(self._speed(x), 1e-300), low, high)
        return np.where((s == 0) | (s == 1), s, x)

    def points(self, fractions: Floats) -> Floats:
        """Return the points (k,2) [m] at fractions of the length; 0 and 1 give the corners
        exactly.
        """
        return self.at(self.parameters(fractions))

    def turning(self, fractions: Floats) -> Floats:
        """Return (k,) the absolute curvature [1/m] at fractions of the length."""
        s = np.asarray(fractions, dtype=np.float64)
        if self.arc is not None:
            return np.full(len(s), 1 / self.arc[1])
        if self.is_straight or self.length == 0:
            return np.zeros(len(s))
        if self.polyline is not None:
            gaps = np.diff(self.polyline) * self.length
            bent = np.where(self._turns > KINK, 0.0, self._turns) / (gaps[:-1] + gaps[1:]) * 2
            return np.interp(s, self.polyline[1:-1], bent)
        t, n = self.parameters(s), len(self.controls) - 1
        first = _bezier(n * np.diff(self.controls, axis=0), t)
        second = _bezier(n * (n - 1) * np.diff(self.controls, 2, axis=0), t)
        speed = np.linalg.norm(first, axis=1)
        size = max(self.length, 1e-300)
        return np.asarray(np.abs(cross(first, second)) / np.maximum(speed, 1e-6 * size) ** 3)

    def cut(self, first: float, last: float) -> "EdgeCurve":
        """Return a part of the curve.

        Args:
            first, last: fractions of the length at which it begins and ends.
        """
        t0, t1 = self.parameters(np.array([first, last])).tolist()
        start, end = self.at(np.array([t0, t1]))
        kind = self.kind
        if self.arc is not None:
            controls = self.at(np.array([(t0 + t1) / 2]))
        elif self.is_straight:
            kind, controls = BorderCurve.LINE, np.zeros((0, 2))
        elif self.polyline is not None:
            inside = (self.polyline > first) & (self.polyline < last)
            controls = self.controls[inside]
        else:
            right = _split(self.controls, t0)[1]
            controls = _split(right, (t1 - t0) / (1 - t0))[0][1:-1] if t0 < 1 else right[1:-1]
        return replace(self, kind=kind, control_points=np.array([start, *controls, end]))


def edge_curve(panel: Panel, edge: int) -> EdgeCurve:
    """Return an edge of a panel, or the inner line of this number, as a curve with its ends."""
    k = len(panel.corners)
    if edge >= k:
        return EdgeCurve(BorderCurve.POLYLINE, panel.inner[edge - k], panel.edge_names[edge])
    own = panel.edges[edge]
    points = [panel.corners[edge], *own.controls, panel.corners[(edge + 1) % k]]
    return EdgeCurve(own.curve, np.array(points, dtype=np.float64), own.name)


def edge_length(panel: Panel, edge: int) -> float:
    """Return the length [m] of an edge."""
    return edge_curve(panel, edge).length


def outline_polygon(panel: Panel, most_turn: float = np.radians(6.0)) -> tuple[Floats, Floats]:
    """Return the outline of a panel as a polygon.

    Args:
        panel: with finite corners and controls.
        most_turn: [rad] between two segments on a curve.

    Returns:
        (n,2) [m] points, every corner among them; (n,) the edge that begins at each point or on
        which the point lies.
    """
    points, edges = [], []
    for i in range(len(panel.corners)):
        curve = edge_curve(panel, i)
        s = np.zeros(1)
        if curve.polyline is not None:
            s = curve.polyline[:-1]
        elif len(curve.controls) > 2:
            turned = float(np.mean(curve.turning(np.linspace(0, 1, 65)))) * curve.length
            n = int(np.clip(np.ceil(turned / most_turn), 2, 256))
            s = np.arange(n) / n
        points.append(curve.points(s))
        edges.append(np.full(len(s), i))
    return np.concatenate(points), np.concatenate(edges)


def sharp_corners(panel: Panel) -> Floats:
    """Return the corners (k,2) [m] at which the outline turns by more than ``KINK``; all, if none
    does. Others divide a smooth curve into edges.
    """
    points, edges = outline_polygon(panel)
    after = np.roll(points, -1, axis=0) - points
    before = np.roll(after, 1, axis=0)
    first = np.unique(edges, return_index=True)[1]
    sharp = first[np.abs(turn_angles(before, after)[first]) > KINK]
    return points[sharp] if len(sharp) else np.asarray(panel.corners)


def reverse_edge(edge: Edge) -> Edge:
    """Return the edge from its end to its beginning."""
    return replace(edge, controls=np.asarray(edge.controls, dtype=np.float64).reshape(-1, 2)[::-1])


def _bezier(controls: Floats, t: Floats) -> Floats:
    """Return the points (k,2) of a Bézier curve by de Casteljau's algorithm."""
    points = np.broadcast_to(controls[:, None], (len(controls), len(t), 2))
    while len(points) > 1:
        points = points[:-1] + t[:, None] * (points[1:] - points[:-1])
    return np.array(points[0])


def _split(controls: Floats, t: float) -> tuple[Floats, Floats]:
    """Return the control points of the parts of a Bézier curve before and after t, by de
    Casteljau's algorithm.
    """
    left, right, row = [controls[0]], [controls[-1]], controls
    while len(row) > 1:
        row = row[:-1] + t * (row[1:] - row[:-1])
        left.append(row[0])
        right.append(row[-1])
    return np.array(left), np.array(right[::-1])
