"""Added mass of a step in NumPy, without kernels: the formulas of examples/plugin_air."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.energies.air.expected_motion import extrapolate
from weft.laws import Psd


@dataclass(frozen=True, eq=False)
class FrozenAddedMass:
    """Potential of a step: E = (x - y).M (x - y)/2 + load.(x - origin), by vertex."""

    M: Any  # (n,3,3) [kg/s^2]
    y: Any  # (n,3) [m]
    load: Any  # (n,3) [N] minus the force
    origin: Any  # (n,3) [m]
    name: str = "added mass"

    @property
    def stencil(self):
        return np.arange(len(self.M), dtype=np.int32)[:, None]

    def value(self, x):
        d = x - self.y
        half = 0.5 * np.einsum("vi,vij,vj->v", d, self.M, d)
        return half + (self.load * (x - self.origin)).sum(1)

    def gradient(self, x):
        return (np.einsum("vij,vj->vi", self.M, x - self.y) + self.load)[:, None]

    def hessian(self, x, psd=Psd.EXACT):
        return self.M[:, None, None]


@dataclass(frozen=True, eq=False)
class AirFlow:
    """Flow of the air at samples, for cloth at x that moves with v."""

    normal: Any  # (q,3)
    area: Any  # (q,) ratio of deformed to rest area
    across: Any  # (q,) [m/s] w_n
    along: Any  # (q,3) [m/s] c
    way: Any  # (q,2) [1/s] c in material coordinates: c = F way
    turning: Any  # (q,3) [1/s] dn/dt
    shear: Any  # (q,) [m/s^2] n.dv/dc

    @property
    def stream(self):
        """w_n n + w_n^2/2 c/c^2, (q,3) [m^2/s], which times mu is carried along ``way``."""
        pressed = 0.5 * self.across**2 / np.maximum((self.along**2).sum(1), 1e-300)
        return self.across[:, None] * self.normal + pressed[:, None] * self.along


def air_flow(energy, s, x, v, t):
    """The flow at samples s of cloth at x that moves with v, in the wind of ``AddedMass``."""
    air = energy.wind.at(s.mean(x), t)
    F, rate = s.deformation_gradient(x), s.deformation_gradient(v)
    normal = np.cross(F[:, :, 0], F[:, :, 1])
    area = np.linalg.norm(normal, axis=1)
    n = normal / np.maximum(area, 1e-300)[:, None]
    w = s.mean(v) - air
    across = (n * w).sum(1)
    along = across[:, None] * n - w
    inverse = np.linalg.pinv(F)
    way = np.einsum("qji,qi->qj", inverse, along)
    tilt = np.einsum("qi,qij->qj", n, rate)  # n.dv/dX
    turning = -np.einsum("qj,qji->qi", tilt, inverse)
    return AirFlow(n, area, across, along, way, turning, (tilt * way).sum(1))


def added_mass_load(energy, x, v, t):
    """M (n,3,3) [kg], and minus the force that is not M a, (n,3) [N]."""
    mu, s, (rim, outward) = energy.mass, energy.samples, energy.rim
    flow = air_flow(energy, s, x, v, t)
    mass = mu * s.weight * flow.area
    share = (mass / 3)[:, None]
    turned = flow.shear[:, None] * flow.normal + flow.across[:, None] * flow.turning
    carried = np.einsum("qaj,qj->qa", s.gradient, mass[:, None] * flow.way)
    local = (share * turned)[:, None] - carried[:, :, None] * flow.stream[:, None]
    out = air_flow(energy, rim, x, v, t)
    leaving = mu * out.area * np.maximum((out.way * outward).sum(1), 0.0)
    local_edges = (rim.shares * leaving[:, None])[:, :, None] * out.stream[:, None]
    M, load = np.zeros((len(x), 3, 3)), np.zeros((len(x), 3))
    own = share[:, :, None] * flow.normal[:, :, None] * flow.normal[:, None, :]
    for a in range(3):
        np.add.at(M, s.stencil[:, a], own)
        np.add.at(load, s.stencil[:, a], local[:, a])
        np.add.at(load, rim.stencil[:, a], local_edges[:, a])
    return M, load


def frozen_added_mass(energy, step, at=None):
    """The potential of ``AddedMass`` in a step; ``at``: x and v of the flow, or those expected."""
    x, v = extrapolate(step) if at is None else at
    M, load = added_mass_load(energy, x, v, step.t)
    return FrozenAddedMass(M / step.scale, np.array(step.predicted), load, np.array(step.origin))
