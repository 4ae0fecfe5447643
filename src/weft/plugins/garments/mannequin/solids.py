"""Solids of a body as signed distances (to first order), and their smooth union.

``Tube`` is a rounded tube whose elliptic cross section varies along a straight axis. Distances are
(rho - 1)/|grad rho| of an implicit function rho that is 1 on the surface (Taubin 1994). The smooth
minimum is the quadratic one, which changes nothing where two distances differ by more than k.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weft.base.arrays import Floats, Positions

SAMPLES = 241  # number of a tube's cross sections along its axis
STEP = 2e-4  # [m] step of finite differences
TETRAHEDRON = np.array([[1.0, -1, -1], [-1, -1, 1], [-1, 1, -1], [1, 1, 1]])
FAR = 1.0  # [m] distance that is returned for points near no solid


@dataclass(frozen=True, eq=False)
class Tube:
    """Cross sections along a straight axis, with ends rounded by half ellipsoids.

    Args:
        start: (3,) [m] beginning of the axis.
        axis: (3,) unit vector along it.
        side: (3,) unit vector of the first direction across.
        front: (3,) unit vector of the second direction across.
        length: [m] of the axis.
        rows: (k,6): position along the axis from 0 to 1; extents [m] to both sides, to the front,
            to the back; shift of the middle [m] sidewards and to the front.
        ends: [m] lengths of the rounded ends.
        power: exponent of the cross section: 2 for ellipses, larger for rounder boxes.
        blend: [m] width of the blend with the solids before it.
        part: name, by which a union can leave the solid out.
        fair: width of the smoothing of the rows, over the length.
    """

    start: Floats
    axis: Floats
    side: Floats
    front: Floats
    length: float
    rows: Floats
    ends: tuple[float, float]
    power: float = 2.0
    blend: float = 0.03
    part: str = ""
    fair: float = 0.017
    table: Floats = field(init=False)  # (SAMPLES,5) interpolated and smoothed rows

    def __post_init__(self) -> None:
        from scipy.interpolate import PchipInterpolator
        from scipy.ndimage import gaussian_filter1d

        rows = np.asarray(self.rows, dtype=np.float64)
        at = np.linspace(0, 1, SAMPLES)
        curve = PchipInterpolator(rows[:, 0], rows[:, 1:], axis=0)(at)
        smooth = gaussian_filter1d(curve, SAMPLES * self.fair, axis=0, mode="nearest")
        object.__setattr__(self, "table", smooth)

    def distance(self, p: Positions) -> Floats:
        """Return the signed distances (n,) [m] of points (n,3) [m], to first order."""
        q = p - self.start
        s, x, z = q @ self.axis, q @ self.side, q @ self.front
        inside = np.clip(s, 0, self.length)
        place = inside * ((SAMPLES - 1) / self.length)
        k = np.minimum(place.astype(np.int64), SAMPLES - 2)
        w = (place - k)[:, None]
        low, high = self.table[k], self.table[k + 1]
        now, slope = (1 - w) * low + w * high, (high - low) * ((SAMPLES - 1) / self.length)
        wide, dwide = now[:, 0], slope[:, 0]
        x, z = x - now[:, 3], z - now[:, 4]
        ahead = z >= 0
        deep = np.where(ahead, now[:, 1], now[:, 2])
        ddeep = np.where(ahead, slope[:, 1], slope[:, 2])
        end = np.where(s < 0, self.ends[0], self.ends[1])
        ratios = np.stack([x / wide, z / deep, (s - inside) / end])
        n = self.power
        size = np.abs(ratios)
        rho = np.maximum((size**n).sum(0) ** (1 / n), 1e-6)
        pull = np.sign(ratios) * (size / rho) ** (n - 1)
        along = -pull[0] * (ratios[0] * dwide + slope[:, 3]) / wide
        along -= pull[1] * (ratios[1] * ddeep + slope[:, 4]) / deep
        # At the ends the cross section stops changing: fade its slope out, so that the distance is
        # continuous there.
        along *= np.clip(8 * np.minimum(s, self.length - s) / self.length, 0.0, 1.0)
        gradient = (pull[0] / wide) ** 2 + (pull[1] / deep) ** 2 + (pull[2] / end + along) ** 2
        return np.asarray((rho - 1) / np.sqrt(np.maximum(gradient, 1.0)))

    def box(self) -> tuple[Floats, Floats]:
        """Return the lowest (3,) and the highest (3,) coordinates [m]."""
        wide = float((self.table[:, 0] + np.abs(self.table[:, 3])).max())
        deep = float((self.table[:, 1:3].max(1) + np.abs(self.table[:, 4])).max())
        a = self.start - self.ends[0] * self.axis
        b = self.start + (self.length + self.ends[1]) * self.axis
        reach = wide * np.abs(self.side) + deep * np.abs(self.front)
        return np.minimum(a, b) - reach, np.maximum(a, b) + reach


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An ellipsoid with axes along those of space, or rotated.

    Args:
        center: (3,) [m].
        radii: (3,) [m].
        blend: [m] width of the blend with the solids before it.
        part: name, by which a union can leave the solid out.
        turn: (3,3) its axes as rows; None: those of space.
    """

    center: Floats
    radii: Floats
    blend: float = 0.03
    part: str = ""
    turn: Floats | None = None

    def distance(self, p: Positions) -> Floats:
        """Return the signed distances (n,) [m] of points (n,3) [m], to first order."""
        q = p - self.center
        if self.turn is not None:
            q = q @ self.turn.T
        q = q / self.radii
        rho = np.sqrt((q**2).sum(1))
        slope = np.sqrt(((q / self.radii) ** 2).sum(1))
        reach = np.where(slope > 1e-9, rho / np.maximum(slope, 1e-9), np.min(self.radii))
        return np.asarray((rho - 1) * reach)

    def box(self) -> tuple[Floats, Floats]:
        """Return the lowest (3,) and the highest (3,) coordinates [m]."""
        turn = np.eye(3) if self.turn is None else self.turn
        reach = np.sqrt(((turn * np.asarray(self.radii)[:, None]) ** 2).sum(0))
        return self.center - reach, self.center + reach


@dataclass(frozen=True, eq=False)
class Cone:
    """A cone between two spheres (Quilez's rounded cone, with exact distances).

    Args:
        a: (3,) [m] center of the first sphere.
        b: (3,) [m] center of the second sphere.
        radii: [m] of both spheres.
        blend: [m] width of the blend with the solids before it.
        part: name, by which a union can leave the solid out.
    """

    a: Floats
    b: Floats
    radii: tuple[float, float]
    blend: float = 0.03
    part: str = ""

    def distance(self, p: Positions) -> Floats:
        """Return the signed distances (n,) [m] of points (n,3) [m]."""
        ba = self.b - self.a
        length = float(np.linalg.norm(ba))
        q = p - self.a
        along = q @ ba / length
        across = np.sqrt(np.maximum((q**2).sum(1) - along**2, 0.0))
        lean = (self.radii[0] - self.radii[1]) / length
        rise = np.sqrt(1 - lean**2)
        side = along * rise - across * lean  # along the cone's side, from its first circle
        first = np.hypot(across, along) - self.radii[0]
        second = np.hypot(across, along - length) - self.radii[1]
        body = across * rise + along * lean - self.radii[0]
        far = side > length * rise
        return np.asarray(np.where(side < 0, first, np.where(far, second, body)))

    def box(self) -> tuple[Floats, Floats]:
        """Return the lowest (3,) and the highest (3,) coordinates [m]."""
        r = max(self.radii)
        return np.minimum(self.a, self.b) - r, np.maximum(self.a, self.b) + r


Solid = Tube | Ellipsoid | Cone


def section_rows(
    place: Floats, extents: Floats, shift: Floats | float = 0.0, ahead: Floats | float = 0.0
) -> Floats:
    """Return the rows (k,6) of a tube.

    Args:
        place: (k,) position along the axis, from 0 to 1.
        extents: (k,3) [m] to both sides, to the front, to the back.
        shift, ahead: (k,) [m] of the middle, sidewards and to the front.
    """
    rows = np.zeros((len(place), 6))
    rows[:, 0], rows[:, 1:4], rows[:, 4], rows[:, 5] = place, extents, shift, ahead
    return rows


Ids = NDArray[np.int64]  # any shape
Near = Sequence[Ids]  # for every solid, the numbers of the points near it


@dataclass(frozen=True, eq=False)
class Union:
    """Solids that are smoothly united in their order."""

    solids: Sequence[Solid]

    @property
    def reach(self) -> float:
        """Return the distance [m] within which a solid matters: the widest blend, and a little
        more.
        """
        return max(s.blend for s in self.solids) + 0.01

    def near(self, p: Positions, further: float = 0.0) -> Near:
        """Return the numbers of the points near every solid.

        Args:
            p: (n,3) [m] points.
            further: [m] distance by which points may move before they are used.
        """
        x, y, z = (np.ascontiguousarray(p[:, i]) for i in range(3))
        found, margin = [], self.reach + further
        for solid in self.solids:
            low, high = solid.box()
            low, high = low - margin, high + margin
            close = (x > low[0]) & (x < high[0]) & (y > low[1]) & (y < high[1])
            found.append(np.flatnonzero(close & (z > low[2]) & (z < high[2])))
        return found

    def distance(self, p: Positions, near: Near | None = None) -> Floats:
        """Return the approximate signed distances (n,) [m] of points, accurate near the surface.

        Args:
            p: (n,3) [m] points.
            near: the points near every solid, of ``Union.near``; None: computed.

        Returns:
            The distances; ``FAR`` for points near no solid.
        """
        out = np.full(len(p), FAR)
        for solid, ids in zip(self.solids, self.near(p) if near is None else near):
            if len(ids):
                out[ids] = smooth_minimum(out[ids], solid.distance(p[ids]), solid.blend)
        return out

    def with_gradient(self, p: Positions, near: Near | None = None) -> tuple[Floats, Floats]:
        """Return distances (n,) [m] and their gradients (n,3), by differences on small
        tetrahedra.
        """
        near = self.near(p, STEP) if near is None else near
        total, gradient = np.zeros(len(p)), np.zeros((len(p), 3))
        for corner in TETRAHEDRON:
            d = self.distance(p + STEP * corner, near)
            total += d / 4
            gradient += d[:, None] * corner / (4 * STEP)
        return total, gradient

    def box(self) -> tuple[Floats, Floats]:
        """Return the lowest (3,) and the highest (3,) coordinates [m]."""
        boxes = [solid.box() for solid in self.solids]
        return np.min([b[0] for b in boxes], 0), np.max([b[1] for b in boxes], 0)

    def without(self, *parts: str) -> "Union":
        """Return the union without the solids of these parts."""
        return Union([s for s in self.solids if s.part not in parts])


def smooth_minimum(a: Floats, b: Floats, k: float) -> Floats:
    """Return (n,) the quadratic smooth minimum; it is the minimum if a and b differ by k or more.

    Args:
        a, b: (n,) [m] distances.
        k: [m] width of the blend.
    """
    if k <= 0:
        return np.minimum(a, b)
    over = np.maximum(k - np.abs(a - b), 0.0)
    return np.minimum(a, b) - over**2 / (4 * k)
