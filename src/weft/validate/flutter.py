"""A slender strip along the wind flutters at the speed and frequency of Lighthill's theory: at the
dimensionless speed 5.6 for a fifth of added mass, as cantilevered pipes that convey fluid do.

Small motion y of a strip clamped at its front, of mass m and added mass m_a a length and rigidity
B, has B y'''' + m y_tt + m_a (d/dt + U d/ds)^2 y = 0, free at its end (Datta & Gottenberg 1975). It
is the equation of a pipe that conveys fluid; with u = U L sqrt(m_a/B) and beta = m_a/(m + m_a),
Gregory & Paidoussis (1966) found flutter from u = 5.6 on for beta = 0.2 (as Paidoussis 1998,
*Fluid-Structure Interactions* vol. 1, p. 112, quotes them: two figures).

``critical`` solves it with modes of the clamped beam (Galerkin), which share nothing with weft but
NumPy. weft's strip of triangles, with ``wind.span`` and without drag, is bent a little and let go
at a speed below and one above: growth and frequency are those of the two roots that fit its tip.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from weft.arrays import Floats
from weft.energies.added_mass import AddedMass
from weft.energies.air import Wind
from weft.errors import SimulationError
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2, SemiImplicitSettings
from weft.mesh import TriangleMesh, grid
from weft.model import Model
from weft.pins import Pin
from weft.state import State
from weft.validate.check import Check, attempt, compare
from weft.validate.solver import direct
from weft.validate.strip import Material, strip_model

BETA, PUBLISHED = 0.2, 5.6
MODES, POINTS = 10, 200  # of the beam; of Gauss on it
LENGTH, RIGIDITY, DENSITY = 1.0, 0.1, 0.1  # [m], [N m], [kg/m^2]
ADDED = BETA / (1 - BETA) * DENSITY  # [kg/m^2]
TIME = LENGTH**2 * np.sqrt((DENSITY + ADDED) / RIGIDITY)  # [s] unit of the theory's time
SEGMENTS, STEP, SECONDS = 24, 0.006, 1.5  # of the free length; in units of TIME
AROUND = (5.4, 5.8)  # u below and above
BENT = 0.01  # [m] the tip at first


def checks() -> Iterator[Check]:
    """The theory against the published speed, to its digits; weft against the theory: the speed to
    2 %, the frequency there to 3 %.
    """
    yield from attempt("flutter", _compared)


def _compared() -> Iterator[Check]:
    speed, frequency = critical(BETA)
    yield compare("flutter/theory", PUBLISHED, speed, 0.05 / PUBLISHED)
    below, above = (root(u) for u in AROUND)
    part = below.real / (below.real - above.real)
    found = AROUND[0] + part * (AROUND[1] - AROUND[0])
    yield compare("flutter/speed", speed, found, 2e-2)
    yield compare("flutter/frequency", frequency, below.imag + part * (above - below).imag, 3e-2)


def critical(beta: float, least: float = 3.0, most: float = 20.0) -> tuple[float, float]:
    """(u, omega): the lowest speed at which the strip flutters, and the angular frequency there, in
    units of sqrt(B/(m + m_a))/L^2.
    """

    def growth(u: float) -> float:
        return float(roots(u, beta).real.max())

    speeds = np.linspace(least, most, 171)
    low, high = next((a, b) for a, b in pairwise(speeds) if growth(b) > 0)
    u = float(brentq(growth, low, high))
    found = roots(u, beta)
    return u, float(abs(found[found.real.argmax()].imag))


def roots(u: float, beta: float) -> Floats:
    """Complex rates of the strip's motions, by modes: q'' + 2 sqrt(beta) u G q' + (l^4 + u^2 C) q =
    0 with G = int p p', C = int p p''.
    """
    wave, G, C = _modes()
    K = np.diag(wave**4) + u * u * C
    none, one = np.zeros_like(G), np.eye(len(wave))
    return np.asarray(np.linalg.eigvals(np.block([[none, one], [-K, -2 * np.sqrt(beta) * u * G]])))


@cache
def _modes() -> tuple[Floats, Floats, Floats]:
    """Wave numbers of a clamped beam with a free end, int p_i p_j' and int p_i p_j''."""
    about = np.pi * (np.arange(MODES) + 0.5)
    wave = np.array([brentq(_clamped_free, a - 0.5, a + 0.5) for a in about])
    s, weight = np.polynomial.legendre.leggauss(POINTS)
    s, weight = (s + 1) / 2, weight / 2
    t, k = np.outer(wave, s), wave[:, None]
    part = (np.sinh(k) - np.sin(k)) / (np.cosh(k) + np.cos(k))
    p = np.cosh(t) - np.cos(t) - part * (np.sinh(t) - np.sin(t))
    slope = k * (np.sinh(t) + np.sin(t) - part * (np.cosh(t) - np.cos(t)))
    bend = k**2 * (np.cosh(t) + np.cos(t) - part * (np.sinh(t) + np.sin(t)))
    return wave, (p * weight) @ slope.T, (p * weight) @ bend.T


def _clamped_free(t: float) -> float:
    return float(np.cos(t) + 1 / np.cosh(t))


def root(u: float, segments: int = SEGMENTS, step: float = STEP) -> complex:
    """Rate of growth and angular frequency of weft's strip at a speed u, in the theory's units."""
    model, mesh = strip(u, segments)
    stepper = SemiImplicitBdf2(SemiImplicitSettings(linear=direct()))
    x, end = np.array(mesh.vertices), mesh.groups["right"]
    s = x[:, 0] - x[end[0], 0] + LENGTH
    x[:, 1] += BENT * np.where(s > 0.6 * LENGTH / segments, s / LENGTH, 0.0) ** 2
    state, tip = State.at_rest(x), []
    memory = stepper.init(model, state)
    for _ in range(round(SECONDS / step)):
        state, memory, report = stepper.step(model, state, memory, step * TIME)
        if not report.outcome.ok:
            raise SimulationError("flutter", got=report.outcome.name, hint=report.outcome.advice)
        tip.append(state.x[end, 1].mean())
    return fitted(np.array(tip[len(tip) // 3 :]), step)


def strip(u: float, segments: int = SEGMENTS) -> tuple[Model, TriangleMesh]:
    """Of triangles, two squares wide, clamped in the middle of its first row as ``elastica``'s."""
    cell = LENGTH / (segments - 0.5)
    width = 2 * cell
    mesh = grid(segments + 1, 3, cell * segments, width)
    clamped = mesh.corner_uv[..., 0] < 1.5 * cell
    stiff = 1e4 * RIGIDITY / LENGTH**2
    material = Material(stiff, stiff / 4, RIGIDITY, DENSITY)
    pins = [Pin(mesh.faces[clamped], name="clamp")]
    bare = strip_model(mesh, material, pins, gravity=(0.0, 0.0, 0.0))
    speed = u * np.sqrt(RIGIDITY / ADDED) / LENGTH
    density = ADDED / (np.pi / 4 * width)
    wind = Wind((float(speed), 0.0, 0.0), density, drag=0.0, lift=0.0, span=width)
    return Model(bare.mass, (*bare.energies, AddedMass(mesh, wind)), bare.pins, bare.start), mesh


def fitted(y: Floats, step: float) -> complex:
    """The rate r, with the larger imaginary part, of y = Re(a e^(r t)): by the line that three
    values 0.03 apart lie on.
    """
    k = max(1, round(0.03 / step))
    known = np.stack([y[k:-k], y[: -2 * k]], axis=1)
    a, b = np.linalg.lstsq(known, y[2 * k :], rcond=None)[0]
    rates = np.log(np.roots([1.0, -a, -b]).astype(complex)) / (k * step)
    return complex(rates[rates.imag.argmax()])
