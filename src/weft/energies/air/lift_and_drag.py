"""Lift and drag on cloth, from the velocity of the air relative to it.

An element of area A and unit normal n, past which air flows with u = w - v', feels

    F = rho A |u|/2 [(C_D - C_L) u + C_L (u.n) n]

drag C_D - C_L cos^2 a along u and lift C_L sin a cos a across it, at the incidence a; both faces
alike. This is the resistance of a slender body to flow along and across it (Taylor 1952), used for
cloth since Wejchert & Haumann (1991, C_D = C_L) and Ling, Damodaran & Gay (1996).

If the wind is ``crossflow``, the last term has |u.n| in place of |u|: F is of second order in small
incidences, as across slender bodies (Taylor 1952), which have lift by their added mass.

F is no gradient with respect to positions. A step lags |u|, n and A, as friction lags its normal
forces. Then F = K u with K symmetric and, because 0 <= C_L <= C_D, positive semi-definite, and F is
the derivative of Rayleigh's dissipation potential. With d = x' - origin at the middle of the
element, v' = d/span,

    E = -(K w).d + d.K d/(2 span)

whose Hessian is K/span, exact and projected alike. Lagged quantities are evaluated at x_n + h v_n
and at the velocity extrapolated from v_n and v_(n-1), so that methods of order 2 keep their order.
In an equilibrium nothing moves, span is infinite, and the mean wind is a load: gusts, which pass,
are left out. See ``docs/explanations/air.md``.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.discretization.samples import Samples
from weft.energies.air.expected_motion import extrapolate, pull_back_extrapolated
from weft.energies.air.wind import Wind
from weft.energies.by_constants import ByName, ContractedEnergy, damping_rate, repeat_per_element
from weft.energies.derivative import DifferentiableTerm
from weft.energies.gather import SHARED, GatherMap, Shared
from weft.energies.point_masses import StepEnergy
from weft.energies.rest_mesh import RestMesh
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import SummedTerm
from weft.kernel import (
    IntArray2d,
    Mat33Array,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Scratch,
    Vec2Array2d,
    Vec3Array,
    Vec3Array2d,
    WarpArray,
    WarpStruct,
    mat33,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

_module = wp.get_module("weft.wind")


@wp.struct
class ClothSamples:
    """Samples of the cloth on the device."""

    stencil: IntArray2d  # (q,k)
    N: ScalarArray2d  # (q,k)
    dN: Vec2Array2d  # (q,k) [1/m]
    weight: ScalarArray  # (q,) [m^2]


@wp.struct
class Frozen:
    """Lagged quantities of a step."""

    K: Mat33Array  # (q,) [N s/m] of which F = K u
    push: Vec3Array  # (q,) [N] K w, the force on cloth that does not move
    origin: Vec3Array  # (n,) [m] velocities are (x - origin) rate
    rate: Scalar  # [1/s] 1/span; 0 in an equilibrium


@wp.kernel(module=_module)
def place(o: int, x: Vec3Array, s: ClothSamples, out: Vec3Array):
    """Compute the place sum_a N_a x_a of every sample."""
    q = o + wp.tid()
    sum = vec3(Scalar(0.0))
    for a in range(s.stencil.shape[1]):
        sum += s.N[q, a] * x[s.stencil[q, a]]
    out[q] = sum


@wp.func
def tangents(q: int, x: Vec3Array, s: ClothSamples):
    """Return the columns of dx/dX at sample q."""
    f0 = vec3(Scalar(0.0))
    f1 = vec3(Scalar(0.0))
    for a in range(s.stencil.shape[1]):
        i = s.stencil[q, a]
        f0 += s.dN[q, a][0] * x[i]
        f1 += s.dN[q, a][1] * x[i]
    return f0, f1


@wp.func
def relative_velocity(q: int, v: Vec3Array, air: Vec3Array, s: ClothSamples):
    """Return the velocity of the cloth relative to the air at sample q."""
    w = -air[q]
    for a in range(s.stencil.shape[1]):
        w += s.N[q, a] * v[s.stencil[q, a]]
    return w


@wp.kernel(module=_module)
def resist(
    o: int,
    x: Vec3Array,
    v: Vec3Array,
    s: ClothSamples,
    wind: Vec3Array,
    along: Scalar,
    across: Scalar,
    crossflow: int,
    frozen: Frozen,
):
    """Compute K = rho A |u|/2 [(C_D - C_L) I + C_L n n^T], and K w.

    ``along`` and ``across`` are rho (C_D - C_L)/2 and rho C_L/2; in crossflow the second |u| is
    |u.n|.
    """
    q = o + wp.tid()
    f0, f1 = tangents(q, x, s)
    u = -relative_velocity(q, v, wind, s)
    normal = wp.cross(f0, f1)  # its length is the ratio of deformed to rest area
    size = wp.length(normal)
    K = mat33(Scalar(0.0))
    if size > Scalar(0.0):
        scale = s.weight[q] * wp.length(u)
        K = (scale * along * size) * wp.identity(n=3, dtype=Scalar)
        if crossflow != 0:
            scale = s.weight[q] * wp.abs(wp.dot(u, normal)) / size
        K += (scale * across / size) * wp.outer(normal, normal)
    frozen.K[q] = K
    frozen.push[q] = K * wind[q]


@wp.func
def sample_displacement(x: Vec3Array, s: ClothSamples, frozen: Frozen, q: int):
    """Return d = sum_a N_a (x - origin)_a at sample q."""
    d = vec3(Scalar(0.0))
    for a in range(s.stencil.shape[1]):
        i = s.stencil[q, a]
        d += s.N[q, a] * (x[i] - frozen.origin[i])
    return d


@wp.kernel(module=_module)
def energies(o: int, x: Vec3Array, s: ClothSamples, frozen: Frozen, out: ScalarArray):
    """Compute -(K w).d + d.K d rate/2 of every sample."""
    q = o + wp.tid()
    d = sample_displacement(x, s, frozen, q)
    half = Scalar(0.5) * frozen.rate
    out[q] = wp.dot(half * (frozen.K[q] * d) - frozen.push[q], d)


@wp.kernel(module=_module)
def gradients(o: int, x: Vec3Array, s: ClothSamples, frozen: Frozen, out: Vec3Array2d):
    """Compute N_a (K d rate - K w) of every sample and vertex."""
    q = o + wp.tid()
    g = frozen.rate * (frozen.K[q] * sample_displacement(x, s, frozen, q)) - frozen.push[q]
    for a in range(s.stencil.shape[1]):
        out[q, a] = s.N[q, a] * g


@dataclass(frozen=True, eq=False)
class AirForce(ContractedEnergy, StepEnergy):
    """Lift and drag of a wind on cloth, at its samples.

    Local arrays are those without a step, zeros.
    """

    samples: Samples
    wind: Wind
    name: str = "wind"

    @property
    def stencil(self) -> Ints:
        """Vertices of each sample, (q,k)."""
        return self.samples.stencil

    @property
    def constants(self) -> ByName:
        """Constants by name: density, coefficients, and the velocity of a wind without gusts."""
        q, w = len(self.stencil), self.wind
        names = ("density", "drag", "lift", *(() if w.gusts else ("velocity",)))
        return {name: repeat_per_element(getattr(w, name), q) for name in names}

    @property
    def structure(self) -> object:
        """Data besides the constants: the samples, and the rest of the wind's settings."""
        w = self.wind
        return (
            self.samples,
            w.gusts,
            w.field,
            w.gust_offset,
            w.crossflow,
            w.velocity if w.gusts else None,
        )

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (q,...), for ``by`` (q,k,3); zero without a step.

        K is linear in the coefficients of its two parts, ``straight`` and ``bent``.
        """
        if step is None:
            return {name: np.zeros(c.shape) for name, c in self.constants.items()}
        w, found = self.wind, AirReverse(self, step, x, by)
        straight, bent = (0.5 * found.by_coefficient(*c) for c in ((1.0, 0.0), (0.0, 1.0)))
        values = {
            "density": straight * (w.drag - w.lift) + bent * w.lift,
            "drag": w.density * straight,
            "lift": w.density * (bent - straight),
            "velocity": kernel.derivatives(found.air),
        }
        return {name: values[name] for name in self.constants}

    @property
    def coefficients(self) -> tuple[Scalar, Scalar, int]:
        """Arguments of ``resist``: rho (C_D - C_L)/2, rho C_L/2, and whether in crossflow."""
        w, half = self.wind, 0.5 * self.wind.density
        return Scalar(half * (w.drag - w.lift)), Scalar(half * w.lift), int(w.crossflow)

    def blow(
        self, x: WarpArray, t: float, sheet: WarpStruct, scratch: Scratch, gusts: bool
    ) -> WarpArray:
        """Return the velocity of the air at samples, (q,) vec3 [m/s], for x (n,) vec3."""
        q = len(self.stencil)
        at, air = scratch.take(q, vec3), kernel.empty(q, vec3)
        kernel.launch(place, q, x, sheet, at)
        self.wind.blow(at, t, air, gusts=gusts)
        return air

    def bind(self, pattern: BlockPattern) -> "AirTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return AirTerm(self, pattern)


class AirTerm(SummedTerm, DifferentiableTerm):
    """Lift and drag bound to a block pattern; they are zero before the first ``freeze``."""

    is_load = True

    def __init__(self, energy: AirForce, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern)
        self.rows, self.shape = GatherMap.of(energy.stencil, pattern), energy.stencil.shape
        self._step: Step | None = None
        self._frozen = frozen_flow(self.shape[0], kernel.zeros(pattern.n, vec3), 0.0)

    def update_constants(self, energy: AirForce) -> None:
        """Take the wind of another energy."""
        self.energy = energy

    @cached_property
    def _sheet(self) -> WarpStruct:
        return sheet_of(self.energy.samples)

    def freeze(self, step: Step) -> None:
        """Lag |u|, normals, areas and the air at positions extrapolated to the end of the step."""
        self._step = step
        self._frozen.origin = step.device_origin
        self._frozen.rate = Scalar(1.0 / step.span)
        x, v = extrapolate(step)
        self._lag(kernel.points(x), kernel.points(v), step.t)

    def lag(self, x: WarpArray) -> bool:
        """Lag them again at x."""
        step = self._step
        if step is None:
            return False
        v = step.velocity(np.array(kernel.numpy(x)))
        self._lag(x, kernel.points(v), step.t)
        return True

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by lagged positions and velocities, and by the origin of
        velocities.
        """
        found = AirReverse(self.energy, step, x, by[self.energy.stencil], into.at)
        into.origin += kernel.derivatives(found.frozen.origin)
        by_flow = kernel.derivatives(found.x), kernel.derivatives(found.v)
        pull_back_extrapolated(step, *by_flow, into)

    def zero_tables(self) -> dict[str, Floats]:
        """Return zeros for slopes, areas and values of the samples."""
        s = self.energy.samples
        zeros = {"gradient": np.zeros_like(s.gradient), "shares": np.zeros(s.stencil.shape)}
        return {**zeros, "weight": np.zeros(len(s.weight))}

    def by_tables(self, step: Step, x: WarpArray, by: Floats, at: Positions | None) -> ByName:
        """Return the derivatives of s by slopes, areas and values of the samples."""
        sheet = AirReverse(self.energy, step, x, by[self.energy.stencil], at).sheet
        fields = {"gradient": sheet.dN, "shares": sheet.N, "weight": sheet.weight}
        return {name: kernel.derivatives(field) for name, field in fields.items()}

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by samples."""
        return rest.by_samples(self.energy.samples, by)

    def _lag(self, x: WarpArray, v: WarpArray, t: float) -> None:
        """Compute K and K w with normals at x, velocities v and the air at time t."""
        e, gusts = self.energy, self._frozen.rate > 0.0
        air = e.blow(x, t, self._sheet, self.scratch, gusts)
        kernel.launch(resist, self.shape[0], x, v, self._sheet, air, *e.coefficients, self._frozen)

    def energies(self, x: WarpArray) -> WarpArray:
        """Return the lagged potential [J]: half of the dissipated energy minus the wind's work."""
        out = self.scratch.take(self.shape[0])
        kernel.launch(energies, self.shape[0], x, self._sheet, self._frozen, out)
        return out

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx, which is minus lift and drag, to g."""
        local = self.scratch.take(self.shape, vec3)
        kernel.launch(gradients, self.shape[0], x, self._sheet, self._frozen, local)
        self.rows.add_gradient(local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add N N^T K/span, which is the same for every x and psd, to A and return A."""
        if self._frozen.rate > 0.0:
            local = Shared()
            local.N, local.K, local.scale = self._sheet.N, self._frozen.K, self._frozen.rate
            self.rows.add_rows(SHARED, local, A)
        return A


def sheet_of(s: Samples) -> WarpStruct:
    """Return samples as ``ClothSamples`` on the device."""
    out = ClothSamples()
    out.stencil = kernel.array(s.stencil, wp.int32)
    out.N = kernel.array(s.shares, Scalar)
    out.dN = kernel.array(s.gradient, vec2)
    out.weight = kernel.array(s.weight, Scalar)
    return out


def frozen_flow(q: int, origin: WarpArray, rate: float) -> WarpStruct:
    """Return ``Frozen`` without forces at q samples."""
    out = Frozen()
    out.K, out.push = kernel.zeros(q, mat33), kernel.zeros(q, vec3)
    out.origin, out.rate = origin, Scalar(rate)
    return out


class AirReverse:
    """Derivatives of by . gradient by what lift and drag take from a step and from samples.

    They are in ``grad`` of the arrays (``kernel.reverse``).

    Args:
        energy: lift and drag.
        step: the step that it is frozen for.
        x: (n,3) [m] end of the step.
        by: (q,k,3).
        at: (n,3) [m] positions at which it was lagged; None: those expected at the beginning of the
            step.
    """

    def __init__(
        self,
        energy: AirForce,
        step: Step,
        x: Positions | WarpArray,
        by: Floats,
        at: Positions | None = None,
    ) -> None:
        (q, k), s, self.energy = energy.stencil.shape, energy.samples, energy
        lagged = extrapolate(step) if at is None else (at, step.velocity(at))
        self.x, self.v = (kernel.track(kernel.points(np.array(a))) for a in lagged)
        self.sheet = kernel.track_fields(sheet_of(s), "N", "dN", "weight")
        origin, rate = kernel.points(np.array(step.origin)), damping_rate(step)
        self.frozen = frozen_flow(q, origin, rate)
        air = energy.blow(self.x, step.t, self.sheet, Scratch(), rate > 0)
        self.air = kernel.track(air)
        flow = (self.x, self.v, self.sheet, self.air, *energy.coefficients, self.frozen)
        kernel.launch(resist, q, *flow)
        kernel.track_fields(self.frozen, "K", "push", "origin")
        out = kernel.track(kernel.empty((q, k), vec3), by)
        kernel.pull_back(gradients, q, kernel.points(x), self.sheet, self.frozen, out)
        self._by_K = kernel.derivatives(self.frozen.K)
        self._by_push = kernel.derivatives(self.frozen.push)
        kernel.pull_back(resist, q, *flow)
        places, by_air = s.mean(lagged[0]), kernel.derivatives(self.air)
        by_place = energy.wind.pull_back(places, step.t, by_air, gusts=rate > 0)
        middle = kernel.track(kernel.points(places), by_place)
        kernel.pull_back(place, q, self.x, self.sheet, middle)

    def by_coefficient(self, straight: float, bent: float) -> Floats:
        """Return the part of by . gradient of each sample, (q,), with other ``coefficients``."""
        q, e = len(self._by_K), self.energy
        frozen = frozen_flow(q, self.frozen.origin, 0.0)
        numbers = Scalar(straight), Scalar(bent), e.coefficients[2]
        kernel.launch(resist, q, self.x, self.v, self.sheet, self.air, *numbers, frozen)
        parts = np.einsum("qij,qij->q", self._by_K, kernel.numpy(frozen.K))
        return np.asarray(parts + (self._by_push * kernel.numpy(frozen.push)).sum(1))
