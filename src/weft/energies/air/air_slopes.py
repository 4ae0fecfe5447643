"""Derivatives of wind by the start of a step, from which it takes |u|, normals, areas and the air.

Per sample F = K u with K = |u| p |N| I + c q N N^T/|N|. N is the normal, as long as the area has
grown; c = |u|, or in crossflow |u.N|/|N|. Then s = by . (K (d/span - w)), with d the displacement
of the sample's middle.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.energies.air.expected_motion import extrapolate
from weft.energies.by_constants import damping_rate
from weft.energies.step import Step

if TYPE_CHECKING:
    from weft.energies.air.lift_and_drag import AirForce

DIFFERENCE = 1e-6  # [m] step of positions, for gusts and wind fields


@dataclass(frozen=True, eq=False)
class AirSlopes:
    """Value of s at every sample, and its derivatives."""

    s: Floats  # (q,)
    straight: Floats  # (q,) by C_D - C_L
    bent: Floats  # (q,) by C_L, at the same C_D - C_L
    by_F: Floats  # (q,3,2) by the deformation gradient at ``place_x``
    by_u: Floats  # (q,3) by u alone
    K_along: Floats  # (q,3) K by: derivative by the relative velocity
    K_pull: Floats  # (q,3) K pull: derivative by the mean of ``by``
    by_place: Floats  # (q,3) by the position in the air; zero in uniform wind
    place_x: Floats  # (n,3) [m]
    place_v: Floats  # (n,3) [m/s]
    rate: float  # [1/s]


def air_slopes(
    energy: "AirForce", step: Step, x: Positions, along: Floats, place: Floats | None = None
) -> AirSlopes:
    """Compute the derivatives of s at the samples of a wind.

    Args:
        energy: lift and drag.
        step: the step it is frozen for.
        x: (n,3) [m] end of the step.
        along: (q,3) what forces at the samples are multiplied with: the mean of ``by``.
        place: (n,3) [m] positions at which wind was evaluated; None: those expected at the
            beginning of the step.
    """
    s, w = energy.samples, energy.wind
    rate = damping_rate(step)
    place_x, place_v = extrapolate(step) if place is None else (place, step.velocity(place))
    gusts = bool(np.isfinite(step.span))

    def blown(places: Floats) -> Floats:
        return np.asarray(w.at(places, step.t, energy.carried, gusts=gusts))

    middle, moved = s.mean(place_x), s.mean(np.asarray(x) - step.origin)
    air = blown(middle)
    u, pull = air - s.mean(place_v), rate * moved - air
    F = s.deformation_gradient(place_x)
    f0, f1 = F[:, :, 0], F[:, :, 1]
    normal = np.cross(f0, f1)
    size, speed = np.linalg.norm(normal, axis=1), np.linalg.norm(u, axis=1)
    p, q = 0.5 * w.density * (w.drag - w.lift) * s.weight, 0.5 * w.density * w.lift * s.weight
    lb, lp, bp = (normal * along).sum(1), (normal * pull).sum(1), (along * pull).sum(1)
    n, direction = normal / size[:, None], u / np.maximum(speed, 1e-300)[:, None]
    across, across_by_u, across_by_normal = speed, direction, np.zeros_like(u)  # c, dc/du, dc/dN
    if w.crossflow:
        through = (u * n).sum(1)
        side = np.sign(through)[:, None]
        across, across_by_u = np.abs(through), side * n
        across_by_normal = side * (u - through[:, None] * n) / size[:, None]
    straight, bent = p * size * bp, q * lb * lp / size  # s = |u| straight + c bent
    K_along, K_pull = (
        (speed * p * size)[:, None] * y + (across * q * part / size)[:, None] * normal
        for y, part in ((along, lb), (pull, lp))
    )
    by_u = straight[:, None] * direction + bent[:, None] * across_by_u
    by_normal = (speed * p * bp - across * q * lb * lp / size**2)[:, None] * n
    by_normal += (across * q / size)[:, None] * (lp[:, None] * along + lb[:, None] * pull)
    by_normal += bent[:, None] * across_by_normal
    by_F = np.stack([np.cross(f1, by_normal), np.cross(by_normal, f0)], axis=2)
    by_place = np.zeros_like(middle)
    if w.gusts is not None or w.field is not None:
        for j in range(3):
            shift = DIFFERENCE * np.eye(3)[j]
            slope = (blown(middle + shift) - blown(middle - shift)) / DIFFERENCE / 2
            by_place[:, j] = (slope * (by_u - K_along)).sum(1)
    value, unit = speed * straight + across * bent, 0.5 * w.density * s.weight
    both = unit * speed * size * bp, unit * across * lb * lp / size
    return AirSlopes(value, *both, by_F, by_u, K_along, K_pull, by_place, place_x, place_v, rate)
