"""Tables by which terms of the potential depend on the rest shape, and derivatives by them.

The tables are weights, slopes of shape functions, and coefficients. The derivatives of s = by .
dE/dx by them are added up step by step. With G = dN/dX, F = x G, L = by G and w the area of a
sample, s = w P(F):L of a membrane has

    ds/dG_a = w (Q^T x_a + P^T by_a),   Q = d(P:L)/dF,   ds/dw = P:L.

``rest_triangles`` and ``rest_splines`` take derivatives by tables to derivatives by material
points.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft import kernel
from weft.adjoint.rest_buckling_pairs import ByPairs
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.energies.air.air_slopes import air_slopes
from weft.energies.air.lift_and_drag import BoundAir
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.hinge_bending import dihedral_angles
from weft.energies.elastic.membrane import BoundMembrane
from weft.energies.elastic.membrane_by_start import by_start
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.element_energy import BoundElementEnergy
from weft.energies.springs.bonds import BoundBonds
from weft.energies.step import Step
from weft.kernel import mat32, mat33, vec3
from weft.solve.newton.psd import Psd


@dataclass(eq=False)
class SampleTables:
    """Derivatives by the sample table of a membrane or of the air."""

    term: BoundMembrane | BoundAir
    G: Floats = field(init=False)  # (q,k,2) by dN/dX
    w: Floats = field(init=False)  # (q,) by areas
    N: Floats = field(init=False)  # (q,k) by N: of the air

    def __post_init__(self) -> None:
        self.samples = (
            self.term.membrane if isinstance(self.term, BoundMembrane) else self.term.energy
        ).samples
        s = self.samples
        self.G, self.w = np.zeros_like(s.gradient), np.zeros(len(s.weight))
        self.N = np.zeros(s.stencil.shape)

    def add(self, back: ReverseStep, by: Floats) -> None:
        """Add the contribution of one step."""
        if isinstance(self.term, BoundAir):
            self._air(self.term, back, by)
        else:
            self._membrane(self.term, back, by)

    def _membrane(self, term: BoundMembrane, back: ReverseStep, by: Floats) -> None:
        s, step = self.samples, back.phi.step
        x = np.asarray(kernel.numpy(back.x))
        F, L = s.deformation_gradient(x), s.deformation_gradient(by)
        P, Q = stress_and_slope(term, F, L, len(s.weight))
        self.w += np.einsum("qij,qij->q", P, L)
        w = s.weight[:, None, None]
        self._slopes(w * Q, x)
        self._slopes(w * P, by)
        start = by_start(term, step, back.x, by)
        if start is not None:
            self._slopes(start.by_now, np.asarray(step.state.x))
            if step.past is not None:
                self._slopes(start.by_past, np.asarray(step.past[0]))

    def _air(self, term: BoundAir, back: ReverseStep, by: Floats) -> None:
        s, step = self.samples, back.phi.step
        found = air_slopes(term, step, back.x, by, back.pulled.at)
        self.w += found.s / s.weight
        self._slopes(found.by_F, found.place_x)
        moved = np.asarray(kernel.numpy(back.x)) - step.origin
        for slope, y in (
            (found.K_pull, by),
            (found.rate * found.K_along, moved),
            (found.by_place, found.place_x),
            (-found.by_u, found.place_v),
        ):
            self.N += np.einsum("qi,qai->qa", slope, y[s.stencil])

    def _slopes(self, by_F: Floats, y: Floats) -> None:
        """Add derivatives by G, from those by F = y G."""
        self.G += np.einsum("qij,qai->qaj", by_F, y[self.samples.stencil])


@dataclass(eq=False)
class HingeWeights:
    """Derivatives by the weights of hinges."""

    term: BoundElementEnergy
    weight: Floats = field(init=False)  # (h,)

    def __post_init__(self) -> None:
        self.weight = np.zeros(self.term.shape[0])

    def add(self, back: ReverseStep, by: Floats) -> None:
        """Add the contribution of one step; s is linear in the weights."""
        e: Any = self.term.energy
        if not getattr(self.term, "acts", True):
            return
        local = kernel.empty(self.term.shape, vec3)
        self.term._launch(self.term.kernels.gradient, back.x, local)
        s = np.einsum("mai,mai->m", kernel.numpy(local), by[e.stencil])
        slope = np.divide(s, e.weight, out=np.zeros_like(s), where=e.weight > 0)
        if (e.weight == 0).any():  # a hinge of weight zero has no damping either
            bare = np.einsum("mai,mai->m", self.term.measure_gradient(back.x), by[e.stencil])
            angle = dihedral_angles(np.array(kernel.numpy(back.x)), e.stencil) - e.rest_angle
            slope = np.where(e.weight > 0, slope, bare * angle)
        self.weight += slope


@dataclass(eq=False)
class FormTables:
    """Derivatives by coefficients and weights of a quadratic form, and by frames of its damping."""

    form: QuadraticForm
    damping: CurvatureDamping | None = None
    c: Floats = field(init=False)  # (q,k)
    w: Floats = field(init=False)  # (q,)
    G: Floats = field(init=False)  # (q,k,2) by dN/dX where curvature is damped

    def __post_init__(self) -> None:
        self.c, self.w = np.zeros_like(self.form.coefficient), np.zeros(len(self.form.weight))
        self.G = np.zeros((*self.c.shape, 2))

    def add(self, back: ReverseStep, by: Floats) -> None:
        """Add the contribution of one step: s = w Y(x).Y(by), with Y = sum_a c_a x_a."""
        f, x = self.form, np.asarray(kernel.numpy(back.x))
        X, B = f.amount(x), f.amount(by)
        self.w += (X * B).sum(1)
        for y, other in ((x, B), (by, X)):
            self.c += f.weight[:, None] * np.einsum("qi,qai->qa", other, y[f.stencil])
        if self.damping is not None and np.isfinite(back.phi.step.span):
            self._damped(self.damping, back.phi.step, x, by)

    def _damped(self, e: CurvatureDamping, step: Step, x: Floats, by: Floats) -> None:
        """Add the contribution of damping.

        It is s = rate w (h(x) - h_r) dh(x)[by], with h_r = (1 + a) h_n - a h_(n-1).
        """
        rate, a, w = e.damping / step.span, step.past_part, self.form.weight
        now, way, before = (self._frames(e, y) for y in (x, by, np.asarray(step.state.x)))
        h, slope, turned = curvature(now, way, e.least_normal)
        h_n, slope_n, _ = curvature(before, way, e.least_normal)
        on, since = (slope * way).sum((1, 2)), h - (1 + a) * h_n
        past = None if step.past is None or a == 0 else self._frames(e, np.asarray(step.past[0]))
        slope_past = slope
        if past is not None:
            h_past, slope_past, _ = curvature(past, way, e.least_normal)
            since = since + a * h_past
        self.w += rate * since * on
        scale = (rate * w)[:, None, None]
        self._pull(scale * (on[:, None, None] * slope + since[:, None, None] * turned), x)
        self._pull(scale * since[:, None, None] * slope, by)
        self._pull(-(1 + a) * scale * on[:, None, None] * slope_n, np.asarray(step.state.x))
        if past is not None:
            assert step.past is not None
            self._pull(a * scale * on[:, None, None] * slope_past, np.asarray(step.past[0]))

    def _frames(self, e: CurvatureDamping, y: Floats) -> Floats:
        """Return (q,3,3) frames at points y (n,3), with rows t_0, t_1 and the Laplacian."""
        at, G = y[e.stencil], e.gradient_of_points
        rows = [
            np.einsum("qa,qai->qi", c, at) for c in (G[:, :, 0], G[:, :, 1], self.form.coefficient)
        ]
        return np.stack(rows, axis=1)

    def _pull(self, by_frame: Floats, y: Floats) -> None:
        found = np.einsum("qri,qai->qar", by_frame, y[self.form.stencil])
        self.G += found[:, :, :2]
        self.c += found[:, :, 2]


def curvature(frame: Floats, way: Floats, least: float) -> tuple[Floats, Floats, Floats]:
    """Return the curvature h = n.L of frames, its derivative, and that derivative's change.

    n = N/sqrt(N^2 + least^2) with N = t_0 x t_1.

    Args:
        frame: (q,3,3) rows t_0, t_1 and L.
        way: (q,3,3) direction along which the derivative changes.
        least: length of N below which n gets shorter than 1.

    Returns:
        (q,), (q,3,3) and (q,3,3).
    """
    t0, t1, L = np.moveaxis(frame, 1, 0)
    z0, z1, zL = np.moveaxis(way, 1, 0)
    N = np.cross(t0, t1)
    size = np.sqrt((N * N).sum(1) + least**2)[:, None]
    n = N / size
    h = (n * L).sum(1)[:, None]
    s = (L - h * n) / size
    slope = np.stack([np.cross(t1, s), np.cross(s, t0), n], axis=1)
    dN = np.cross(z0, t1) + np.cross(t0, z1)
    d_size = (n * dN).sum(1)[:, None]
    dn = (dN - n * d_size) / size
    dh = (slope * way).sum((1, 2))[:, None]
    ds = (zL - dh * n - h * dn - s * d_size) / size
    turned = [np.cross(z1, s) + np.cross(t1, ds), np.cross(ds, t0) + np.cross(s, z0), dn]
    return h[:, 0], slope, np.stack(turned, axis=1)


@dataclass(eq=False)
class ByBonds:
    """Derivatives by the length of cloth along bonds.

    The rest length g of a bond is proportional to it, and the stiffness k is inversely
    proportional: s = k (1 - g/|d|) d.by.
    """

    term: BoundBonds
    along: Floats = field(init=False)  # (m,)

    def __post_init__(self) -> None:
        self.along = np.zeros(len(self.term.energy.pairs))

    def add(self, back: ReverseStep, by: Floats) -> None:
        """Add the contribution of one step."""
        e, x = self.term.energy, np.asarray(kernel.numpy(back.x))
        if e.along is None:
            return
        records: Any = kernel.numpy(self.term.parameters)
        d, moved = (y[e.pairs[:, 1]] - y[e.pairs[:, 0]] for y in (x, by))
        size = np.linalg.norm(d, axis=1)
        held = (size > records["length"]) & ~np.isnan(e.along)
        on = records["stiffness"] * (d * moved).sum(1) / np.where(held, e.along, 1.0)
        self.along -= np.where(held, on, 0.0)  # (by g) g/l = -k g/r d.by/l; (by k) k/l the rest


Handled = SampleTables | HingeWeights | FormTables | ByPairs | ByBonds


def stress_and_slope(term: BoundMembrane, F: Floats, L: Floats, q: int) -> tuple[Floats, Floats]:
    """Return P(F) and d(P : L)/dF, (q,3,2) each, with damping included."""
    law, parameters = term._now
    at, P, H = kernel.array(F, mat32), kernel.empty(q, mat32), kernel.empty((q, 3), mat33)
    kernel.launch_each(q, *law.stages("pk1", at, parameters, P))
    kernel.launch_each(q, *law.stages(Psd.EXACT, at, parameters, H))
    uu, uv, vv = np.moveaxis(np.array(kernel.numpy(H)), 1, 0)
    l0, l1 = L[:, :, 0], L[:, :, 1]
    q0 = np.einsum("qij,qj->qi", uu, l0) + np.einsum("qij,qj->qi", uv, l1)
    q1 = np.einsum("qji,qj->qi", uv, l0) + np.einsum("qij,qj->qi", vv, l1)
    return np.array(kernel.numpy(P)), np.stack([q0, q1], axis=2)
