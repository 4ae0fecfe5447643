"""A stress-strain curve from measured data points, and its energy.

Between points the curve is the monotone cubic of Fritsch & Carlson (1980; with the slopes of
Fritsch & Butland 1984, as in SciPy's PCHIP): C1, through every point, and increasing where the
points increase. The energy is therefore C2 and convex. Beyond the last point the curve continues as
a straight line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import FabricError
from weft.base.runtime_types import checked

MOST_POINTS = 24  # of a curve, including the origin


@checked(FabricError, "curve", unchecked=("force", "pad"))
@dataclass(frozen=True)
class Curve:
    """Force per width as a function of strain, in tension.

    Args:
        points: (strain [1], force per width [N/m]) of each measurement; strains increase from above
            0, forces do not decrease. The point (0, 0) is added before them.

    Raises:
        FabricError: there are no points or too many, strains do not increase, forces decrease or
            are not > 0 at the end, or numbers are not finite.
    """

    points: Sequence[tuple[float, float]]

    def __post_init__(self) -> None:
        given = np.array(self.points, dtype=np.float64).reshape(-1, 2)
        if not np.isfinite(given).all():
            raise FabricError("curve", got="numbers that are not finite", expected="finite numbers")
        if len(given) and (given[0] == 0).all():
            given = given[1:]
        if not 1 <= len(given) < MOST_POINTS:
            raise FabricError(
                "curve", got=f"{len(given)} points", expected=f"1 to {MOST_POINTS - 1}"
            )
        object.__setattr__(self, "points", tuple((float(e), float(s)) for e, s in given))
        e, s = self.knots
        falls, back = np.flatnonzero(np.diff(s) < 0), np.flatnonzero(np.diff(e) <= 0)
        if len(back):
            k = int(back[0])
            raise FabricError(
                "curve strains", got=f"{e[k]:g}, then {e[k + 1]:g}", expected="must rise from 0"
            )
        if len(falls):
            k = int(falls[0])
            raise FabricError(
                "curve",
                got=f"{s[k]:g} N/m, then {s[k + 1]:g} N/m at a strain of {e[k + 1]:g}",
                expected="forces that do not fall",
                hint="use the loading branch up to the yield of the cloth",
            )
        if not s[-1] > 0:
            raise FabricError("curve", got="no force", expected="must be > 0 [N/m] at its end")

    @cached_property
    def knots(self) -> tuple[Floats, Floats]:
        """Strains (p,) [1] and forces per width (p,) [N/m], including the origin."""
        e, s = np.array([(0.0, 0.0), *self.points]).T
        return e, s

    @cached_property
    def slopes(self) -> Floats:
        """(p,) [N/m] slopes of the curve at the knots."""
        e, s = self.knots
        if len(e) == 2:
            return np.full(2, s[1] / e[1])
        from scipy.interpolate import PchipInterpolator

        return np.asarray(PchipInterpolator(e, s).derivative()(e))

    @cached_property
    def work(self) -> Floats:
        """(p,) [J/m^2] energy density at the knots: integrals of the cubics."""
        (e, s), d = self.knots, self.slopes
        h = np.diff(e)
        parts = h * (s[1:] + s[:-1]) / 2 + h * h * (d[:-1] - d[1:]) / 12
        return np.concatenate([[0.0], np.cumsum(parts)])

    def force(self, strain: Floats) -> Floats:
        """Return the force per width [N/m] at strains >= 0 (array of any shape)."""
        (e, s), d = self.knots, self.slopes
        strain = np.asarray(strain, dtype=np.float64)
        k = np.clip(np.searchsorted(e, strain, "right") - 1, 0, len(e) - 2)
        h = e[k + 1] - e[k]
        t = (strain - e[k]) / h
        inside = (
            s[k] * (1 + 2 * t) * (1 - t) ** 2
            + s[k + 1] * t * t * (3 - 2 * t)
            + h * t * (1 - t) * (d[k] * (1 - t) - d[k + 1] * t)
        )
        return np.where(strain > e[-1], s[-1] + d[-1] * (strain - e[-1]), inside)

    def pad(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return strains, forces, slopes and work at the knots, (MOST_POINTS,) each.

        The last value fills the rest of each array, except that the rest of the strains is
        infinity.
        """
        (e, s), pad = self.knots, MOST_POINTS - len(self.points) - 1
        columns = (e, s, self.slopes, self.work)
        first, *rest = (np.pad(c, (0, pad), mode="edge") for c in columns)
        first[len(e) :] = np.inf
        return first, *rest  # type: ignore[return-value]
