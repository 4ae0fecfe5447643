"""Rods: the heavy elastica of a clamped rod, and the torque at which a twisted rod buckles.

A straight rod whose ends are clamped and turned against each other is stable up to the torque
8.987 EI/L (Greenhill 1883): there the least eigenvalue of the Hessian of its equilibrium is 0.
"""

import numpy as np
from scipy.optimize import brentq

from weft.base.arrays import Floats, Positions
from weft.bodies.motion.pins import Pin
from weft.bodies.rigid.rigidity import Rigidity
from weft.cloth.cloth import Cloth
from weft.cloth.rod import rod, rod_energies
from weft.discretization.rod import Rod
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.loads.gravity import Gravity
from weft.integrators.model import Model
from weft.plugins.lab.validate.check import Rows, measure
from weft.plugins.lab.validate.elastica import DROPS
from weft.plugins.lab.validate.strip import GRAVITY, rest
from weft.solve.newton.psd import Psd

BENDING, MASS = 0.05, 0.04  # [N m^2] EI and GJ, [kg/m]
TORQUE = 8.987  # [EI/L] of Greenhill, a rod with clamped ends
NEWTON = 6  # iterations to the straight equilibrium


def checks() -> Rows:
    """Compare drops of the elastica to 0.5 %, and the torque to 1 %."""
    for gamma, expected in DROPS.items():
        yield from measure(f"rods/gamma-{gamma}", expected, 5e-3, drop, gamma)
    yield from measure("rods/greenhill", TORQUE, 1e-2, buckling_torque)


def made_rod(bending: float, size: float) -> Cloth:
    """Return a straight rod of one meter that hardly stretches."""
    line = [[0, 0, 0], [1, 0, 0]]
    stretch = 1e6 * bending
    return rod(line, size, diameter=0.01, mass=MASS, stretch=stretch, bending=bending)


def drop(gamma: float) -> float:
    """Return the drop of the free end over the length, with rho g L^3/EI = ``gamma``."""
    cloth = made_rod(MASS * GRAVITY / gamma, 0.025)
    weight = Gravity(cloth.mass, (0.0, -GRAVITY, 0.0))
    clamp = Pin(cloth.surfaces.determined_by(cloth.group("start")))
    model = Model(cloth.mass, (*_energies(cloth), weight), (clamp,), cloth.points)
    x = rest(model, cloth.points, 1e-8).start
    return float(-cloth.surfaces.shown.embedding.of(x)[cloth.group("end"), 1].mean())


def buckling_torque() -> float:
    """Return the torque over EI/L at which the straight equilibrium becomes unstable."""
    cloth = made_rod(BENDING, 0.025)
    return float(brentq(lambda angle: _least(cloth, angle), 8.0, 10.0, xtol=1e-3))


def _energies(cloth: Cloth) -> tuple[QuadraticForm, Rigidity]:
    (surface,) = cloth.surfaces.pieces
    assert isinstance(surface, Rod)
    return rod_energies(cloth.fabric, surface)


def _least(cloth: Cloth, angle: float) -> float:
    """Return the least eigenvalue of the straight equilibrium, with the ends turned by an angle."""
    x, free = turn_evenly(cloth.points, angle), np.s_[12:-12]
    for _ in range(NEWTON):
        g, H = derivatives(_energies(cloth), x)
        x.reshape(-1)[free] -= np.linalg.solve(H[free, free], g[free])
    return float(np.linalg.eigvalsh(H[free, free])[0])


def turn_evenly(points: Positions, angle: float) -> Positions:
    """Return points of a straight rod of one meter along x, twisted evenly by an angle in all."""
    x = np.array(points).reshape(-1, 4, 3)
    center = x.mean(1, keepdims=True)
    along, y, z = np.moveaxis(x - center, -1, 0)
    turn = angle * center[..., 0]
    across = np.cos(turn) * y - np.sin(turn) * z, np.sin(turn) * y + np.cos(turn) * z
    return np.asarray((center + np.stack([along, *across], -1)).reshape(-1, 3))


def derivatives(energies: tuple[QuadraticForm, Rigidity], x: Positions) -> tuple[Floats, Floats]:
    """Return gradient (3 n,) and Hessian (3 n, 3 n) of energies at x (n,3) [m]."""
    g, H = np.zeros_like(x), np.zeros((len(x), 3, len(x), 3))
    for e in energies:
        for ids, force, block in zip(e.stencil, e.gradient(x), e.hessian(x, Psd.EXACT)):
            g[ids] += force
            H[np.ix_(ids, range(3), ids, range(3))] += block.transpose(0, 2, 1, 3)
    return g.reshape(-1), H.reshape(x.size, x.size)
