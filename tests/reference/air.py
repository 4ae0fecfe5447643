"""Lift and drag of a step in NumPy: the formulas of docs/explanations/air.md, without kernels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.energies.air.expected_motion import extrapolate
from weft.laws import Psd


def blown(waves, x, carried):
    """The velocities of waves at places x (m,3) [m], which the wind has carried so far, (m,3)."""
    angle = (np.asarray(x) - carried) @ waves.wave.T + waves.phase
    return np.cos(angle) @ waves.amplitude


def along_spectrum(f, sigma, length, speed):
    """The one-sided spectrum [m^2/s] of the component of gusts along the wind at f [Hz]."""
    ratio = length / speed
    return 4 * sigma**2 * ratio / (1 + 70.8 * (np.asarray(f) * ratio) ** 2) ** (5 / 6)


@dataclass(frozen=True, eq=False)
class FrozenAir:
    """Potential of lift and drag in a step: -(K w).d + d.K d/(2 span)."""

    samples: Any
    K: Any  # (q,3,3) [N s/m]
    air: Any  # (q,3) [m/s] w
    origin: Any  # (n,3) [m]
    span: float  # [s]
    name: str = "wind"

    @property
    def stencil(self):
        return self.samples.stencil

    def move(self, x):
        """d at the samples, (q,3) [m]."""
        return self.samples.mean(x - self.origin)

    def value(self, x):
        d = self.move(x)
        pull = np.einsum("qij,qj->qi", self.K, 0.5 * d / self.span - self.air)
        return (pull * d).sum(1)

    def gradient(self, x):
        g = np.einsum("qij,qj->qi", self.K, self.move(x) / self.span - self.air)
        return self.samples.shares[:, :, None] * g[:, None]

    def hessian(self, x, psd=Psd.EXACT):
        N = self.samples.shares
        return np.einsum("qa,qb,qij->qabij", N, N, self.K / self.span)


def frozen_air(energy, step):
    """The potential of an ``AirForce`` in a step."""
    x, v = extrapolate(step)
    s, w = energy.samples, energy.wind
    air = w.at(s.mean(x), step.t, gusts=bool(np.isfinite(step.span)))
    u = air - s.mean(v)
    F = s.deformation_gradient(x)
    normal = np.cross(F[:, :, 0], F[:, :, 1])
    size = np.linalg.norm(normal, axis=1)
    n = normal / size[:, None]
    speed = np.linalg.norm(u, axis=1)
    normal_speed = np.abs((u * n).sum(1)) if w.crossflow else speed
    along, across = (w.drag - w.lift) * speed, w.lift * normal_speed
    shape = along[:, None, None] * np.eye(3)
    shape += across[:, None, None] * n[:, :, None] * n[:, None, :]
    scale = 0.5 * w.density * s.weight * size
    return FrozenAir(s, scale[:, None, None] * shape, air, np.array(step.origin), step.span)
