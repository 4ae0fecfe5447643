"""Small motion of a slender beam along which a fluid flows, by modes of the clamped beam.

    y'''' + a y''''_t + (u^2 - gamma (1 - s)) y'' + gamma y' + 2 sqrt(beta) u y'_t + y_tt = 0

clamped at s = 0 and free at 1: of a pipe that conveys fluid and hangs, of mass m a length, m_a of
fluid, rigidity B and length L; and of a strip in wind, whose m_a is its added mass. u = U L
sqrt(m_a/B), beta = m_a/(m + m_a), gamma the weight of a length times L^3/B, a the time constant of
bending's damping, times in units of sqrt((m + m_a)/B) L^2. It shares nothing with weft but NumPy.
Its critical speeds and frequencies are those of Paidoussis (1998), *Fluid-Structure Interactions*
vol. 1, table 3.4, to the digits that are there: weft's ``tests/test_plugin_air.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from weft.base.arrays import Floats

MODES, POINTS = 10, 200  # modes of the beam; Gauss points along it


@dataclass(frozen=True)
class Beam:
    """A beam in axial flow, by dimensionless numbers: mass ratio, weight and damping of bending.

    Args:
        beta: share of the fluid in the moving mass.
        gamma: weight.
        damping: time constant of the damping of bending.
    """

    beta: float
    gamma: float = 0.0
    damping: float = 0.0

    def rates(self, u: float) -> tuple[Floats, Floats]:
        """Return the complex rates (2k,) of its motions at a speed u, and mode amplitudes
        (k,2k).
        """
        wave, G, C, H = _modes()
        stiff = np.diag(wave**4)
        K = stiff + u * u * C + self.gamma * H
        damped = -2 * np.sqrt(self.beta) * u * G - self.damping * stiff
        none, one = np.zeros_like(G), np.eye(len(wave))
        rates, vectors = np.linalg.eig(np.block([[none, one], [-K, damped]]))
        return rates, vectors[: len(wave)]

    def growth(self, u: float) -> float:
        """Return the growth rate of the motion that grows fastest, at a speed u."""
        return float(self.rates(u)[0].real.max())

    def motion(self, u: float) -> tuple[complex, Callable[[Floats], Floats]]:
        """Return the rate and the deflection of the motion that grows fastest, at a speed u.

        The deflection is a function of places s (n,); it is complex, and 1 at the free end.
        """
        rates, amplitudes = self.rates(u)
        most = np.where(rates.imag > 0, rates.real, -np.inf).argmax()
        amplitude = amplitudes[:, most]
        end = amplitude @ shapes(np.ones(1))[0]

        def deflection(s: Floats) -> Floats:
            return amplitude @ shapes(s)[0] / end

        return complex(rates[most]), deflection

    def critical(self) -> tuple[float, float]:
        """Return (u, omega): the lowest speed of flutter between 3 and 20, and the angular
        frequency there.
        """
        speeds = np.linspace(3.0, 20.0, 171)
        low, high = next((a, b) for a, b in pairwise(speeds) if self.growth(b) > 0)
        u = float(brentq(self.growth, low, high))
        return u, self.motion(u)[0].imag


def shapes(s: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (k,n) modes of a clamped beam with a free end at places s (n,), and two
    derivatives.
    """
    wave = _waves()
    t, k = np.outer(wave, s), wave[:, None]
    left = (np.exp(-k) + np.cos(k) + np.sin(k)) / (np.cosh(k) + np.cos(k))
    # part = (sinh k - sin k)/(cosh k + cos k). The difference cosh t - part sinh t is written with
    # exp(-t), because both terms are large and nearly equal.
    part = 1 - left
    even, odd = np.exp(-t) + left * np.sinh(t), left * np.cosh(t) - np.exp(-t)
    p = even - np.cos(t) + part * np.sin(t)
    slope = k * (odd + np.sin(t) + part * np.cos(t))
    bend = k**2 * (even + np.cos(t) - part * np.sin(t))
    return p, slope, bend


@cache
def _modes() -> tuple[Floats, Floats, Floats, Floats]:
    """Return wave numbers, int p_i p_j', int p_i p_j'' and int (1 - s) p_i' p_j'."""
    s, weight = np.polynomial.legendre.leggauss(POINTS)
    s, weight = (s + 1) / 2, weight / 2
    p, slope, bend = shapes(s)
    hung = (slope * weight * (1 - s)) @ slope.T
    return _waves(), (p * weight) @ slope.T, (p * weight) @ bend.T, hung


@cache
def _waves() -> Floats:
    about = np.pi * (np.arange(MODES) + 0.5)
    return np.array([brentq(_clamped_free, a - 0.5, a + 0.5) for a in about])


def _clamped_free(t: float) -> float:
    return float(np.cos(t) + 1 / np.cosh(t))
