"""The heavy elastica: exact bending of a strip under its own weight, clamped level at one end.

With lengths in units of c = (D/(rho g))^(1/3), t the distance from the tip along the strip and
theta the slope below the horizontal (Bickley 1934; Peirce 1930),

    theta'' = -t cos(theta),   theta'(0) = 0 at the tip,   theta(l) = 0 at the clamp,

so the shape of a strip of overhang L depends on l = L/c alone. The angle of the chord from the
clamp to the tip is the angle that ASTM D1388's and ISO 9073-7's plane of 41.5 degrees measures.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

PLANE = np.radians(41.5)  # [rad] plane of ASTM D1388, option A
PRECISION = 1e-11  # relative and absolute tolerance of the integration


@dataclass(frozen=True)
class Elastica:
    """A strip at rest, with lengths in units of c."""

    length: float  # l = L/c
    reach: float  # horizontal distance of the tip
    drop: float  # vertical distance of the tip

    @property
    def chord(self) -> float:
        """The angle [rad] of the line from the clamp to the tip, below the horizontal."""
        return float(np.arctan2(self.drop, self.reach))


def elastica_from_tip(slope: float) -> Elastica:
    """Integrate the strip whose tip has this slope [rad], in (0, pi/2), from the tip to the
    clamp.
    """
    from scipy.integrate import solve_ivp

    def rate(t: float, y: list[float]) -> list[float]:
        return [y[1], -t * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

    def level(t: float, y: list[float]) -> float:
        return y[0]

    level.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(
        rate, (0.0, 100.0), [slope, 0.0, 0.0, 0.0], rtol=PRECISION, atol=PRECISION, events=level
    )
    return Elastica(float(found.t[-1]), float(found.y[2, -1]), float(found.y[3, -1]))


def elastica_of_length(length: float) -> Elastica:
    """Return the strip of overhang l = L/c > 0."""
    from scipy.optimize import brentq

    def off(slope: float) -> float:
        return elastica_from_tip(slope).length - length

    slope = brentq(off, 1e-9, np.pi / 2 - 1e-9, xtol=1e-13)
    return elastica_from_tip(float(slope))


@lru_cache(maxsize=16)
def elastica_of_chord(angle: float = PLANE) -> Elastica:
    """Return the strip whose chord has this angle [rad], in (0, pi/2)."""
    from scipy.optimize import brentq

    def off(slope: float) -> float:
        return elastica_from_tip(slope).chord - angle

    return elastica_from_tip(float(brentq(off, angle, np.pi / 2 - 1e-6, xtol=1e-13)))
