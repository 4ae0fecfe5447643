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
from weft.contact.contact_set import ContactSet, closest_of
from weft.contact.distance import combination, corners, vec4
from weft.kernel import Scalar, WarpArray, vec3

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
def friction_factors(
    o: int,
    x: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    slide: wp.array(dtype=Slide),
    out: wp.array3d(dtype=vec3),
):
    """The Hessian as two outer products: along u and across it."""
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
class FrictionSet:
    """Pairs that may slide, frozen for a step."""

    stencil: Ints  # (m,4)
    slide: "np.ndarray[tuple[int], np.dtype[np.void]]"  # (m,) records of ``Slide``
    device: tuple[WarpArray, WarpArray, WarpArray]  # origin, stencil, slide

    @staticmethod
    def of(
        contacts: ContactSet,
        x: Positions,
        origin: Positions,
        static: float | Floats,
        kinetic: float | Floats,
        smooth: float,
    ) -> "FrictionSet":
        """From the contacts at x.

        Args:
            contacts: pairs with their barrier.
            x: (n,3) [m] where normal forces and planes are taken.
            origin: (n,3) [m] from which sliding is measured.
            static: coefficient of pairs that stick, of all or (m,).
            kinetic: of pairs that slide.
            smooth: [m] of sliding below which pairs stick.
        """
        push, w, normal, force = normal_forces(contacts, x)
        stencil = contacts.stencil[push]
        slide: np.ndarray[Any, Any] = np.zeros(len(stencil), Slide.numpy_dtype())
        axis = np.eye(3)[np.argmin(np.abs(normal), axis=1)]
        t0 = np.cross(normal, axis)
        t0 /= np.linalg.norm(t0, axis=1, keepdims=True)
        slide["w"], slide["t0"], slide["t1"] = w, t0, np.cross(normal, t0)
        slide["load"], slide["smooth"] = force, smooth
        for name, mu in (("mu_static", static), ("mu_kinetic", kinetic)):
            slide[name] = np.broadcast_to(mu, len(contacts))[push]
        device = (
            kernel.array(np.array(origin), vec3),
            kernel.array(stencil, wp.int32),
            kernel.array(slide, Slide),
        )
        return FrictionSet(stencil, slide, device)

    def __len__(self) -> int:
        return len(self.stencil)

    def value(self, x: WarpArray) -> float:
        """[J] of all pairs: less the constant that they have at rest."""
        out = kernel.empty(len(self))
        kernel.launch(friction_energy, len(self), x, *self.device, out)
        return kernel.total(out)

    def gradient(self, x: WarpArray, out: WarpArray) -> None:
        """(m,4) [N] into out."""
        kernel.launch(friction_gradient, len(self), x, *self.device, out)

    def work(self, x: Positions) -> float:
        """[J] that friction takes on the way from the origin to x (n,3)."""
        local = kernel.empty((len(self), 4), vec3)
        self.gradient(kernel.array(x, vec3), local)
        u = x - kernel.numpy(self.device[0])
        return float((kernel.numpy(local) * u[self.stencil]).sum())

    def factors(self, x: WarpArray, out: WarpArray) -> None:
        """(m,3,4) factors of the Hessian into out."""
        kernel.launch(friction_factors, len(self), x, *self.device, out)


def normal_forces(contacts: ContactSet, x: Positions) -> tuple[Ints, Floats, Floats, Floats]:
    """Numbers (m,) in the set, weights (m,4) of the closest points, unit normals (m,3), and normal
    forces (m,) [N] of the pairs that push.
    """
    distance, w, *_ = closest_of(x, contacts.stencil, contacts.touch["kind"])
    g = contacts.gradient(x)
    v = np.einsum("ma,mai->mi", w, x[contacts.stencil])
    normal = v / np.maximum(distance, 1e-300)[:, None]
    # The barrier's gradient is -lambda w n, but for the mollifier's part: no normal force.
    force = -np.einsum("mai,ma,mi->m", g, w, normal) / np.maximum((w * w).sum(1), 1e-300)
    push = np.flatnonzero(force > 0).astype(np.int32)
    return push, w[push], normal[push], force[push]
