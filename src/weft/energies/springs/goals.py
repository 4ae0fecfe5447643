"""Goals: points that are drawn to places that move, with damping of the motion relative to them.

With the point A = sum_a c_a x_a, its place g at the end of the step, and the position r where A
would be if it had moved with its place during the step,

    E = k a |A - g|^2 / 2 + k a b |A - r|^2 / (2 span)

so the force is -k a (A - g) - k a b (dA/dt - dg/dt), with the stiffness k per area, the area a and
the time constant b. As the areas of all points sum to that of the cloth, the motion does not depend
on the resolution. Attachments of length
zero (``point_springs``) damp the distance alone; goals damp motion in all directions.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.base.trees import Json
from weft.energies.by_constants import ByName, damping_rate, repeat_per_element
from weft.energies.gather import FULL
from weft.energies.rest_mesh import RestMesh
from weft.energies.springs.point_springs import MovedPlaces
from weft.energies.springs.spring import SpringEnergy, SpringKernels, SpringLaw, SteppedSpring
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import (
    IntArray2d,
    Mat33Array3d,
    Scalar,
    ScalarArray2d,
    Vec2Array,
    Vec3Array,
    Vec3Array2d,
    WarpArray,
    WarpStruct,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern

_module = wp.get_module("weft.goals")


@wp.struct
class GoalNumbers:
    """Numbers of a goal in the step that is solved."""

    stiffness: Scalar  # [N/m^3] k
    area: Scalar  # [m^2] a
    damping: Scalar  # [s] b
    rate: Scalar  # [1/s] 1/span; 0 if nothing is damped
    place: vec3  # [m] g
    carried: vec3  # [m] r


@wp.struct
class GoalPoints:
    """Parameters of m points that are drawn to places."""

    c: ScalarArray2d  # (m,k) weights of the points of the stencil
    law: wp.array(dtype=GoalNumbers)


@wp.func
def drawn_point(i: int, x: Vec3Array, stencil: IntArray2d, p: GoalPoints):
    """Return A. Reverse mode needs a function of its own for the sum (``kernel.reverse``)."""
    A = vec3(Scalar(0.0))
    for a in range(p.c.shape[1]):
        A += p.c[i, a] * x[stencil[i, a]]
    return A


@wp.kernel(module=_module)
def energy(o: int, x: Vec3Array, stencil: IntArray2d, p: GoalPoints, out: Vec2Array):
    """Compute the elastic and the dissipated energy."""
    i = o + wp.tid()
    n = p.law[i]
    A = drawn_point(i, x, stencil, p)
    half = Scalar(0.5) * n.stiffness * n.area
    lost = half * n.damping * n.rate * wp.length_sq(A - n.carried)
    out[i] = vec2(half * wp.length_sq(A - n.place), lost)


@wp.kernel(module=_module)
def gradient(o: int, x: Vec3Array, stencil: IntArray2d, p: GoalPoints, out: Vec3Array2d):
    """Compute the gradient of both energies."""
    i = o + wp.tid()
    n = p.law[i]
    A = drawn_point(i, x, stencil, p)
    pull = n.stiffness * n.area * (A - n.place + n.damping * n.rate * (A - n.carried))
    for a in range(stencil.shape[1]):
        out[i, a] = p.c[i, a] * pull


@wp.kernel(module=_module)
def hessian(o: int, x: Vec3Array, stencil: IntArray2d, p: GoalPoints, out: Mat33Array3d):
    """Compute the Hessian of both energies, which is positive semi-definite."""
    i = o + wp.tid()
    n = p.law[i]
    k = n.stiffness * n.area * (Scalar(1.0) + n.damping * n.rate)
    for a in range(stencil.shape[1]):
        for b in range(stencil.shape[1]):
            out[i, a, b] = k * p.c[i, a] * p.c[i, b] * wp.identity(n=3, dtype=Scalar)


@dataclass(frozen=True, eq=False)
class Goals(SpringEnergy):
    """m points that are drawn to places.

    Args:
        points: (m,k) points that move each drawn point.
        c: (m,k) their weights, which sum to one.
        stiffness: [N/m^3] per area.
        area: (m,) [m^2] of cloth that each point stands for, times its weight.
        place: the places, which may move.
        damping: [s] over the stiffness.
        name: of the energy, and in metrics.
    """

    points: Ints
    c: Floats
    stiffness: float
    area: Floats
    place: MovedPlaces
    damping: float = 0.0
    name: str = "goals"

    kernels = SpringKernels(
        energy,
        gradient,
        dict.fromkeys(Psd, (hessian, FULL)),
        law=SpringLaw(GoalNumbers, None, None, None),
        Elements=GoalPoints,
    )
    rest_tables = ("area",)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def stencil(self) -> Ints:
        """Points of each goal, (m,k)."""
        return self.points

    def places(self, bodies: Positions | None, t: float) -> Positions:
        """Return the places (m,3) [m] at time t [s]; without bodies, those of the start."""
        return self.place.start if bodies is None else self.place.at(bodies, t)

    def drawn(self, x: Positions) -> Positions:
        """Return the drawn points (m,3) [m] for points x (n,3)."""
        return np.asarray(np.einsum("mk,mki->mi", self.c, x[self.points]))

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return new parameters on the device, at the end of a step, or at the start without it."""
        p, rate = GoalPoints(), damping_rate(step)
        numbers: Json = {"place": self.places(None, 0.0)}
        if step is not None:
            numbers["place"] = self.places(step.bodies[1], step.t)
        if step is not None and rate > 0:
            way = numbers["place"] - self.places(step.bodies[0], step.state.t)
            numbers["carried"] = self.drawn(step.origin) + step.span / step.dt * way
        p.c = self._weights
        p.law = self.records(**{**self.constants, **numbers}, rate=rate)
        return p

    @cached_property
    def _weights(self) -> WarpArray:
        """The weights on the device, (m,k)."""
        return kernel.array(self.c, Scalar)

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N/m^3], time constant of damping [s], areas [m^2]."""
        m = len(self)
        found = {n: repeat_per_element(getattr(self, n), m) for n in ("stiffness", "damping")}
        return {**found, "area": self.area}

    @property
    def structure(self) -> object:
        """Data besides the constants: points, and what moves the places."""
        return self.points, self.c, self.place

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by areas around vertices.

        Raises:
            NotImplementedError: goals of points between vertices.
        """
        if self.points.shape[1] > 1:
            raise NotImplementedError
        relative = np.bincount(self.points[:, 0], by["area"] * self.area, rest.mesh.n_vertices)
        return rest.by_vertex_areas(relative / rest.mesh.vertex_area)

    def bind(self, pattern: BlockPattern) -> "GoalsTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return GoalsTerm(self, pattern)


class GoalsTerm(SteppedSpring):
    """Goals bound to a block pattern, in a step."""

    energy: Goals

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by places, and by the positions that damping is measured from."""
        e, p = self.energy, self.energy.track(self.parameters)
        e.pull_back_gradient(x, by[e.stencil], p)
        found = e.derivatives(p)
        share = step.span / step.dt if damping_rate(step) > 0 else 0.0
        np.add.at(into.origin, e.points, e.c[..., None] * found["carried"][:, None])
        now, before = found["place"] + share * found["carried"], -share * found["carried"]
        e.place.pull_back(step.bodies[1], step.t, now, into.after)
        e.place.pull_back(step.bodies[0], step.state.t, before, into.before)

    def forces(self, x: WarpArray) -> Json:
        """Return the force on the cloth, and the largest distance of a point from its place."""
        e, y = self.energy, self._host(x)
        pull = -e.gradient(y, self.parameters).sum(axis=(0, 1))  # weights of points sum to one
        off = np.linalg.norm(e.drawn(y) - self.law_numbers["place"], axis=1)
        return {self.name: {"force": pull.tolist(), "farthest": float(off.max())}}
