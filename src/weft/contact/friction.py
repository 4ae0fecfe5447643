"""Coulomb friction as a potential of a step. Li et al. 2020, section 5.

Frozen at the start of a step (lagged): the pairs in contact, their normal force, the weights of
their closest points and the plane in which they may slide. With u the displacement of the one
closest point against the other in that plane, since the origin of the step's velocity,

    E = lambda f(|u|),   f' = mu_s (2 |u|/e - |u|^2/e^2) for |u| < e = speed * span

so friction grows smoothly from rest to mu_s lambda: below ``speed`` it sticks. From e to 2 e the
coefficient falls from the static mu_s to the kinetic mu_k as a cubic without corners, and stays
there. The Hessian in the plane is f'' along u, clamped at 0 where friction falls, and f'/|u|
across.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.contact.barrier import Touch, barrier_gradient
from weft.contact.contact_set import ContactSet
from weft.contact.distance import closest, combination, other_side, vec4
from weft.kernel import Scalar, WarpArray, corners, mat33, vec3
from weft.solve.incidence import Incidence

_module = wp.get_module("weft.friction")


@wp.struct
class Slide:
    """A pair that may slide."""

    w: vec4  # weights of the closest points
    t0: vec3  # orthonormal directions of sliding
    t1: vec3
    load: Scalar  # [N] lambda
    mu_static: Scalar  # mu_s
    mu_kinetic: Scalar  # mu_k
    smooth: Scalar  # [m] e


@wp.func
def rise(y: Scalar, s: Slide):
    """f, f'/y and f'' at y >= 0."""
    e = s.smooth
    drop = s.mu_kinetic - s.mu_static
    value = Scalar(0.0)
    over = Scalar(0.0)
    second = Scalar(0.0)
    if y < e:
        value = s.mu_static * (y * y / e - y * y * y / (Scalar(3.0) * e * e) + e / Scalar(3.0))
        over = s.mu_static * (Scalar(2.0) / e - y / (e * e))
        second = s.mu_static * (Scalar(2.0) / e - Scalar(2.0) * y / (e * e))
    else:
        t = wp.min((y - e) / e, Scalar(1.0))
        beyond = wp.max(y - Scalar(2.0) * e, Scalar(0.0))
        fallen = drop * t * t * (Scalar(3.0) - Scalar(2.0) * t)
        value = s.mu_static * e + e * (
            s.mu_static * t + drop * t * t * t * (Scalar(1.0) - t / Scalar(2.0))
        )
        value += s.mu_kinetic * beyond
        over = (s.mu_static + fallen) / y
        second = drop * Scalar(6.0) * t * (Scalar(1.0) - t) / e
    return value, over, second


@wp.func
def sliding(
    i: int,
    x: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    s: Slide,
):
    """u along t0 and t1."""
    a, b, c, d = corners(i, x, stencil)
    a0, b0, c0, d0 = corners(i, origin, stencil)
    v = combination(s.w, a - a0, b - b0, c - c0, d - d0)
    return wp.dot(v, s.t0), wp.dot(v, s.t1)


@wp.kernel(module=_module)
def normal_loads(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    touch: wp.array(dtype=Touch),
    gradient: wp.array2d(dtype=vec3),
    load: wp.array(dtype=Scalar),
    weights: wp.array(dtype=vec4),
    normal: wp.array(dtype=vec3),
    pushes: wp.array(dtype=wp.int32),
):
    """Normal force of every pair, from its barrier's gradient: -lambda w n but for the mollifier's
    part, which is no normal force.
    """
    i = o + wp.tid()
    a, b, c, d = corners(i, x, stencil)
    p = closest(touch[i].kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    n = v / wp.max(wp.length(v), Scalar(1e-300))
    force = Scalar(0.0)
    for j in range(4):
        force -= p.w[j] * wp.dot(gradient[i, j], n)
    force = force / wp.max(wp.dot(p.w, p.w), Scalar(1e-300))
    load[i] = force
    weights[i] = p.w
    normal[i] = n
    pushes[i] = 0
    if force > Scalar(0.0):
        pushes[i] = 1


@wp.kernel(module=_module)
def freeze_slides(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    touch: wp.array(dtype=Touch),
    load: wp.array(dtype=Scalar),
    weights: wp.array(dtype=vec4),
    normal: wp.array(dtype=vec3),
    pushes: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    part: wp.array(dtype=wp.int32),
    mu_static: wp.array2d(dtype=Scalar),
    mu_kinetic: wp.array2d(dtype=Scalar),
    smooth: Scalar,
    out: wp.array2d(dtype=wp.int32),
    slide: wp.array(dtype=Slide),
):
    """The pairs that push, with the plane in which they slide."""
    i = o + wp.tid()
    if pushes[i] != 0:
        n = normal[i]
        axis = vec3(Scalar(1.0), Scalar(0.0), Scalar(0.0))
        if wp.abs(n[1]) < wp.abs(n[0]) and wp.abs(n[1]) <= wp.abs(n[2]):
            axis = vec3(Scalar(0.0), Scalar(1.0), Scalar(0.0))
        elif wp.abs(n[2]) < wp.abs(n[0]) and wp.abs(n[2]) < wp.abs(n[1]):
            axis = vec3(Scalar(0.0), Scalar(0.0), Scalar(1.0))
        s = Slide()
        s.t0 = wp.normalize(wp.cross(n, axis))
        s.t1 = wp.cross(n, s.t0)
        s.w = weights[i]
        s.load = load[i]
        a = part[wp.min(stencil[i, 0], part.shape[0] - 1)]
        b = part[wp.min(other_side(touch[i].kind, i, stencil), part.shape[0] - 1)]
        s.mu_static = mu_static[a, b]
        s.mu_kinetic = mu_kinetic[a, b]
        s.smooth = smooth
        at = place[i]
        slide[at] = s
        for j in range(4):
            out[at, j] = stencil[i, j]


@wp.kernel(module=_module)
def friction_energy(
    o: int,
    x: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    slide: wp.array(dtype=Slide),
    out: wp.array(dtype=Scalar),
):
    """E of every pair."""
    i = o + wp.tid()
    s = slide[i]
    u0, u1 = sliding(i, x, origin, stencil, s)
    value, _over, _second = rise(wp.sqrt(u0 * u0 + u1 * u1), s)
    out[i] = s.load * value


@wp.kernel(module=_module)
def friction_gradient(
    o: int,
    x: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    slide: wp.array(dtype=Slide),
    out: wp.array2d(dtype=vec3),
):
    """dE/dx of every pair."""
    i = o + wp.tid()
    s = slide[i]
    u0, u1 = sliding(i, x, origin, stencil, s)
    _value, over, _second = rise(wp.sqrt(u0 * u0 + u1 * u1), s)
    force = s.load * over * (u0 * s.t0 + u1 * s.t1)
    for j in range(4):
        out[i, j] = s.w[j] * force


@wp.kernel(module=_module)
def friction_hessians(
    o: int,
    x: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    slide: wp.array(dtype=Slide),
    out: wp.array3d(dtype=mat33),
):
    """The exact Hessian of every pair."""
    i = o + wp.tid()
    s = slide[i]
    u0, u1 = sliding(i, x, origin, stencil, s)
    y = wp.sqrt(u0 * u0 + u1 * u1)
    _value, over, second = rise(y, s)
    c0 = Scalar(1.0)
    c1 = Scalar(0.0)
    if y > Scalar(0.0):
        c0 = u0 / y
        c1 = u1 / y
    along = c0 * s.t0 + c1 * s.t1
    across = c0 * s.t1 - c1 * s.t0
    K = s.load * (second * wp.outer(along, along) + over * wp.outer(across, across))
    for a in range(4):
        for b in range(4):
            out[i, a, b] = (s.w[a] * s.w[b]) * K


@wp.kernel(module=_module)
def friction_factors(
    o: int,
    x: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    slide: wp.array(dtype=Slide),
    out: wp.array3d(dtype=vec3),
):
    """The projected Hessian as two outer products: along u and across it."""
    i = o + wp.tid()
    zero = Scalar(0.0)
    s = slide[i]
    u0, u1 = sliding(i, x, origin, stencil, s)
    y = wp.sqrt(u0 * u0 + u1 * u1)
    _value, over, second = rise(y, s)
    c0 = Scalar(1.0)
    c1 = zero
    if y > zero:
        c0 = u0 / y
        c1 = u1 / y
    along = wp.sqrt(s.load * wp.max(second, zero)) * (c0 * s.t0 + c1 * s.t1)
    across = wp.sqrt(s.load * over) * (c0 * s.t1 - c1 * s.t0)
    for j in range(4):
        out[i, 0, j] = s.w[j] * along
        out[i, 1, j] = s.w[j] * across
        out[i, 2, j] = vec3(zero, zero, zero)


@dataclass(frozen=True, eq=False)
class Table:
    """Coefficients of friction on the device, by what the two sides of a pair belong to."""

    part: WarpArray  # (n,) int32 number of a vertex's piece or body
    static: WarpArray  # (k,k)
    kinetic: WarpArray  # (k,k)

    @staticmethod
    def of(static: Floats, kinetic: Floats, part: Ints) -> "Table":
        """From NumPy arrays."""
        mu = (kernel.array(np.asarray(m, dtype=np.float64), Scalar) for m in (static, kinetic))
        return Table(kernel.array(np.asarray(part, np.int32), wp.int32), *mu)

    @staticmethod
    def uniform(static: float, kinetic: float | None = None) -> "Table":
        """The same for all pairs."""
        kinetic = static if kinetic is None else kinetic
        none = np.zeros(1, dtype=np.int32)
        return Table.of(np.full((1, 1), static), np.full((1, 1), kinetic), none)


@dataclass(frozen=True, eq=False)
class FrictionSet:
    """Pairs that may slide, frozen for a step."""

    pairs: WarpArray  # (m,4) int32
    slide: WarpArray  # (m,) Slide
    origin: WarpArray  # (n,) vec3 from which sliding is measured

    @staticmethod
    def of(
        contacts: ContactSet,
        x: Positions | WarpArray,
        origin: Positions | WarpArray,
        table: Table,
        smooth: float,
    ) -> "FrictionSet":
        """From the contacts at x.

        Args:
            contacts: pairs with their barrier.
            x: (n,3) [m] where normal forces and planes are taken.
            origin: (n,3) [m] from which sliding is measured.
            table: coefficients of friction.
            smooth: [m] of sliding below which pairs stick.
        """
        m, loads = len(contacts), _loads(contacts, kernel.points(x))
        place = kernel.empty(m, wp.int32)
        count = kernel.scan(loads[-1], place)
        pairs, slide = kernel.empty((count, 4), wp.int32), kernel.empty(count, Slide)
        mu = (table.part, table.static, table.kinetic, Scalar(smooth))
        kernel.launch(freeze_slides, m, *contacts.device, *loads, place, *mu, pairs, slide)
        return FrictionSet(pairs, slide, kernel.points(origin))

    def __len__(self) -> int:
        return int(self.pairs.shape[0])

    @property
    def stencil(self) -> Ints:
        """(m,4) on the host."""
        return kernel.numpy(self.pairs)

    def incidence(self, n: int) -> Incidence:
        """Pairs of each of the first n vertices; made once."""
        if "_incidence" not in self.__dict__:
            self.__dict__["_incidence"] = Incidence.on_device(self.pairs, n)
        found: Incidence = self.__dict__["_incidence"]
        return found

    def _launch(self, evaluate: Any, x: WarpArray, out: WarpArray) -> WarpArray:
        kernel.launch(evaluate, len(self), x, self.origin, self.pairs, self.slide, out)
        return out

    def value(self, x: WarpArray) -> float:
        """[J] of all pairs: less the constant that they have at rest."""
        return kernel.total(self._launch(friction_energy, x, kernel.empty(len(self))))

    def gradient(self, x: WarpArray) -> WarpArray:
        """(m,4) vec3 [N]."""
        return self._launch(friction_gradient, x, kernel.empty((len(self), 4), vec3))

    def work(self, x: WarpArray) -> float:
        """[J] that friction takes on the way from the origin to x (n,)."""
        u = kernel.numpy(x) - kernel.numpy(self.origin)
        return float((kernel.numpy(self.gradient(x)) * u[self.stencil]).sum())

    def factors(self, x: WarpArray) -> WarpArray:
        """(m,3,4) factors of the projected Hessian."""
        return self._launch(friction_factors, x, kernel.empty((len(self), 3, 4), vec3))

    def hessians(self, x: WarpArray) -> WarpArray:
        """(m,4,4) exact Hessians."""
        return self._launch(friction_hessians, x, kernel.empty((len(self), 4, 4), mat33))


def _loads(contacts: ContactSet, x: WarpArray) -> tuple[WarpArray, ...]:
    """Normal force, weights, normal and whether it pushes, of every pair."""
    m = len(contacts)
    gradient = kernel.empty((m, 4), vec3)
    kernel.launch(barrier_gradient, m, x, *contacts.device, gradient)
    out = (kernel.empty(m), kernel.empty(m, vec4), kernel.empty(m, vec3), kernel.empty(m, wp.int32))
    kernel.launch(normal_loads, m, x, *contacts.device, gradient, *out)
    return out


def normal_forces(
    contacts: ContactSet, x: Positions | WarpArray
) -> tuple[Ints, Floats, Floats, Floats]:
    """Numbers (m,) in the set, weights (m,4) of the closest points, unit normals (m,3), and normal
    forces (m,) [N] of the pairs that push; on the host.
    """
    force, w, normal, pushes = (kernel.numpy(a) for a in _loads(contacts, kernel.points(x)))
    push = np.flatnonzero(pushes).astype(np.int32)
    return push, w[push], normal[push], force[push]
