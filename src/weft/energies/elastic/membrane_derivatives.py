"""Derivatives of membranes by the start of a step (damping) and by the samples' slopes and areas.

With e Green's strain, s = by . dE/dx has the damped part, per sample,

    w e'(F)[L] . C_n (e(F) - e_r),   e_r = (1 + a) e_n - a e_(n-1),   L = d by/dX

which depends on x_n by e_n and by the tangent C_n. The dependence by e_n is differentiated in
closed form. The dependence by C_n is a third derivative of the law, and is differentiated by
central differences of F_n, sample by sample.

The rest shape enters by slopes G = dN/dX and areas w. With F = x G, L = by G and s = w P(F) : L,

    ds/dG_a = w (Q^T x_a + P^T by_a),   Q = d(P : L)/dF,   ds/dw = P : L

and the frozen strains add their own derivatives by G.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.energies.by_constants import ByName
from weft.energies.elastic.damping import frozen_tangent, green_strain, strain_slope
from weft.energies.step import Step
from weft.kernel import WarpArray, mat32, mat33
from weft.solve.newton.psd import Psd

if TYPE_CHECKING:
    from weft.energies.elastic.membrane import BoundMembrane

DIFFERENCE = 1e-5  # step in F (no unit): relative errors of the tangent of 1e-10 and 1e-11


@dataclass(frozen=True, eq=False)
class StartOfMembrane:
    """Deformation gradients of the past, (q,3,2) each, and the derivatives of s by them."""

    now: Floats  # F_n
    by_now: Floats
    past: Floats  # F_(n-1)
    by_past: Floats


def by_start(term: "BoundMembrane", step: Step, x: WarpArray, by: Floats) -> StartOfMembrane | None:
    """Return ds/dF_n and ds/dF_(n-1); None if nothing is damped."""
    beta = term.energy.damping
    if beta == 0 or not np.isfinite(step.span):
        return None
    s, a = term.energy.samples, step.past_part
    F, L = s.deformation_gradient(kernel.numpy(x)), s.deformation_gradient(by)
    now = s.deformation_gradient(np.asarray(step.state.x))
    past = now if step.past is None else s.deformation_gradient(np.asarray(step.past[0]))
    frozen = kernel.numpy(term._viscous)
    C, since = np.array(frozen["tangent"]), green_strain(F) - np.array(frozen["start"])
    rate = strain_slope(F, L)
    by_start = -s.weight[:, None] * np.einsum("qij,qj->qi", C, rate)
    by_now = (1 + a) * strain_pull(now, by_start)
    by_now += s.weight[:, None, None] * _tangent_slope(term, now, rate, since, beta / step.span)
    return StartOfMembrane(now, by_now, past, -a * strain_pull(past, by_start))


def by_samples(term: "BoundMembrane", step: Step, x: WarpArray, by: Floats) -> ByName:
    """Return the derivatives of s by ``gradient`` (q,k,2) and ``weight`` (q,) of the samples."""
    s, at = term.energy.samples, np.asarray(kernel.numpy(x))
    L = s.deformation_gradient(by)
    P, Q = _stress_and_slope(term, s.deformation_gradient(at), L)
    w = s.weight[:, None, None]
    parts = [(w * Q, at), (w * P, by)]
    start = by_start(term, step, x, by)
    if start is not None:
        parts.append((start.by_now, np.asarray(step.state.x)))
        if step.past is not None:
            parts.append((start.by_past, np.asarray(step.past[0])))
    slopes = sum(np.einsum("qij,qai->qaj", by_F, y[s.stencil]) for by_F, y in parts)
    return {"gradient": np.asarray(slopes), "weight": np.einsum("qij,qij->q", P, L)}


def _stress_and_slope(term: "BoundMembrane", F: Floats, L: Floats) -> tuple[Floats, Floats]:
    """Return P(F) and d(P : L)/dF, (q,3,2) each, with damping included."""
    q, (law, parameters) = len(F), term._now
    at, P, H = kernel.array(F, mat32), kernel.empty(q, mat32), kernel.empty((q, 3), mat33)
    kernel.launch_each(q, *law.stages("pk1", at, parameters, P))
    kernel.launch_each(q, *law.stages(Psd.EXACT, at, parameters, H))
    uu, uv, vv = np.moveaxis(np.array(kernel.numpy(H)), 1, 0)
    l0, l1 = L[:, :, 0], L[:, :, 1]
    q0 = np.einsum("qij,qj->qi", uu, l0) + np.einsum("qij,qj->qi", uv, l1)
    q1 = np.einsum("qji,qj->qi", uv, l0) + np.einsum("qij,qj->qi", vv, l1)
    return np.array(kernel.numpy(P)), np.stack([q0, q1], axis=2)


def strain_pull(F: Floats, c: Floats) -> Floats:
    """Return (q,3,2) d(c . e)/dF for c (q,3), with e Green's strain of F (q,3,2)."""
    f0, f1 = F[:, :, 0], F[:, :, 1]
    c0, c1, c2 = (c[:, k, None] for k in range(3))
    return np.stack([c0 * f0 + c2 * f1, c1 * f1 + c2 * f0], axis=2)


def _tangent_slope(
    term: "BoundMembrane", now: Floats, rate: Floats, since: Floats, scale: float
) -> Floats:
    """Return (q,3,2) d(rate . C_n . since)/dF_n."""
    out = np.zeros_like(now)
    for i in range(3):
        for j in range(2):
            values = []
            for sign in (1, -1):
                F = np.array(now)
                F[:, i, j] += sign * DIFFERENCE
                C = frozen_tangent(*term._elastic, F, scale)
                values.append(np.einsum("qi,qij,qj->q", rate, C, since))
            out[:, i, j] = (values[0] - values[1]) / (2 * DIFFERENCE)
    return out
