"""Wind, differentiated by the start of a step, from which it takes |u|, normals, areas and the air.

Per sample F = K u with K = |u| p |N| I + c q N N^T/|N|, N the normal as long as the area has grown,
c = |u| or in crossflow |u.N|/|N|, and s = by . (K (d/span - w)) with d the motion of the middle.
"""

import numpy as np

from weft import kernel
from weft.adjoint.lagged import pulls
from weft.adjoint.pulled import Pulled
from weft.arrays import Floats
from weft.energies.wind import BoundAir, extrapolated
from weft.kernel import WarpArray
from weft.step import Step

DIFFERENCE = 1e-6  # [m] of places, for gusts and fields


@pulls(BoundAir)
def _wind(term: BoundAir, step: Step, x: WarpArray, by: Floats, into: Pulled) -> None:
    """What lagging passes back; and the origin of velocities."""
    s, w = term.energy.samples, term.energy.wind
    N, at, rate = s.shares, np.asarray(kernel.numpy(x)), 1.0 / step.span
    place_x, place_v = extrapolated(step) if into.at is None else (into.at, step.velocity(into.at))
    gusts = bool(np.isfinite(step.span))

    def mean(y: Floats) -> Floats:
        return np.asarray(np.einsum("qa,qai->qi", N, y[s.stencil]))

    middle, moved, along = mean(place_x), mean(at - step.origin), mean(by)

    def blown(places: Floats) -> Floats:
        return np.asarray(w.at(places, step.t, term.energy.carried, gusts=gusts))

    air = blown(middle)
    u, pull = air - mean(place_v), rate * moved - air
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
    shape = (q * lb * lp / size)[:, None]  # what of s is over c
    K_along = (speed * p * size)[:, None] * along + (across * q * lb / size)[:, None] * normal
    by_u = (p * size * bp)[:, None] * direction + shape * across_by_u
    by_normal = (speed * p * bp - across * q * lb * lp / size**2)[:, None] * n
    by_normal += (across * q / size)[:, None] * (lp[:, None] * along + lb[:, None] * pull)
    by_normal += shape * across_by_normal
    by_air = by_u - K_along
    by_F = np.stack([np.cross(f1, by_normal), np.cross(by_normal, f0)], axis=2)

    to_x, to_v = np.zeros_like(at), np.zeros_like(at)
    np.add.at(to_x, s.stencil, np.einsum("qij,qaj->qai", by_F, s.gradient))
    np.add.at(to_v, s.stencil, -N[:, :, None] * by_u[:, None])
    if w.gusts is not None or w.field is not None:
        for j in range(3):
            shift = DIFFERENCE * np.eye(3)[j]
            slope = (blown(middle + shift) - blown(middle - shift)) / DIFFERENCE / 2
            part = (slope * by_air).sum(1)
            np.add.at(to_x[:, j], s.stencil, N * part[:, None])
    np.add.at(into.origin, s.stencil, -rate * N[:, :, None] * K_along[:, None])
    expected_place(step, to_x, to_v, into)


def expected_place(step: Step, to_x: Floats, to_v: Floats, into: Pulled) -> None:
    """From derivatives by where cloth is expected and how fast (``extrapolated``) to those by the
    state, by what the step predicts, and by pins; or by where these were taken anew.
    """
    if into.at is not None:
        into.place += to_x + to_v / step.span
        into.origin -= to_v / step.span
        return
    if not np.isfinite(step.span):
        into.state_x += np.where(step.fixed[:, None], 0.0, to_x)
        into.target += np.where(step.fixed[:, None], to_x, 0.0)
        return
    pinned, free = step.fixed[:, None], step.free[:, None]
    into.state_x += np.where(free, to_x, 0.0)
    into.state_v += np.where(free, step.dt * to_x, 0.0)
    into.target += np.where(pinned, to_x + (to_v / step.dt if step.dt > 0 else 0.0), 0.0)
    if step.dt > 0:
        into.state_x -= np.where(pinned, to_v / step.dt, 0.0)
    to_v, a = np.where(free, to_v, 0.0), step.past_part
    part = 0.0
    if a > 0:
        part = (a + np.sqrt(a * a + a)) / a
        into.predicted += part * to_v / step.span
        into.origin -= part * to_v / step.span
    into.state_v += (1 - part) * to_v
