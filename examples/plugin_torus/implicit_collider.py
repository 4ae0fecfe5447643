"""Implicit colliders: round bodies that are given by a formula, in place of a triangle mesh.

A collider is the set of all points within a radius r of its core: of a point (a ball), a segment
(a capsule), a circle (a torus). A ``ColliderShape`` states the core by two functions: the point
c(x) of the core that is nearest to x, and its derivative dc/dx. All else is written here, once.

Each vertex of the cloth has the barrier of contact in its distance d = |x - c(x)| from the core:

    E = k b(d^2 - K^2),   K^2 = r^2 + rho^2

with b of ``contact.barrier`` and rho the radius of the smallest circle around a triangle at the
vertex. No point of a triangle comes nearer to the core than r: for weights w with the sum 1, a
point p = sum_i w_i x_i and any point c,

    |p - c|^2 = sum_i w_i |x_i - c|^2 - sum_(i<j) w_i w_j |x_i - x_j|^2 >= min_i |x_i - c|^2 - rho^2

The derivatives of the energy are, with v = x - c(x), dE/dx = 2 k b' v and

    d2E/dx2 = k (4 b'' v v^T + 2 b' (I - dc/dx))

Steps end before a vertex comes nearer than K: d changes by at most the length of a displacement,
so conservative advancement is exact. The end of each step is checked by the inequality above, with
the triangles as they are, and without K. Friction is that of ``contact.friction.law``, lagged.

A collider does not move, and friction remembers no elastic slip from step to step: cloth that
friction holds creeps with a speed below ``stick``.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Faces, Floats, Ints, Point, Positions
from weft.base.errors import SceneError
from weft.contact.barrier.barrier import barrier
from weft.contact.contact import GRAVITY, HALF_FORCE, LOAD
from weft.contact.friction.kernels import in_space
from weft.contact.friction.law import COULOMB, FrictionLaw, SlidingPair
from weft.contact.settings import Friction
from weft.discretization.mesh import TriangleMesh
from weft.energies.barrier import Barrier
from weft.energies.by_constants import ByName
from weft.energies.element_energy import ElementEnergy, ElementKernels, ElementTerm
from weft.energies.gather import FULL
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import (
    IntArray,
    IntArray2d,
    Kernel,
    Mat33Array3d,
    Scalar,
    ScalarArray,
    Vec3Array,
    Vec3Array2d,
    WarpArray,
    WarpFunction,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern

FRACTION = 0.1  # of its room that a vertex keeps in a step, as pairs of contact do
SETTLED = 0.5  # of the room of a vertex: largest change by the last increment of a minimization
STRETCH = 1.1  # by which triangles may be longer than at rest without an increase of rho
PARTS = 4  # into which the check divides every edge of a triangle
ADVANCES = 200  # steps of conservative advancement, at most
STICK = 1e-3  # [m/s] speed below which friction sticks


@wp.struct
class ColliderPoint:
    """The collider as one vertex of the cloth meets it, and its friction in the step."""

    place: vec3  # [m] of the core
    axis: vec3  # [m] direction of the core; only shapes with a length read its length
    size: Scalar  # [m] of the core, if it has one
    radius: Scalar  # [m] r
    sag: Scalar  # [m] rho
    gap: Scalar  # [m] beyond K, in which the collider pushes
    stiffness: Scalar  # [J/m^4] k
    mu_static: Scalar
    mu_kinetic: Scalar
    # frozen in a step
    origin: vec3  # [m] place from which sliding is measured
    t0: vec3  # directions of sliding
    t1: vec3
    load: Scalar  # [N] normal force; 0: no friction
    smooth: Scalar  # [m] slip below which the vertex sticks


ColliderPoints = wp.array(dtype=ColliderPoint)


@dataclass(frozen=True)
class ColliderShape:
    """The core of a kind of collider.

    Attributes:
        name: part of the name of the kernels' module, one for each shape.
        nearest: a ``wp.func`` of x, vec3 [m], and p, ``ColliderPoint``; returns the point c of the
            core, vec3 [m], that is nearest to x. It reads ``place``, ``axis`` and ``size`` of p.
        turning: a ``wp.func`` of the same; returns dc/dx, a symmetric mat33.
    """

    name: str
    nearest: WarpFunction
    turning: WarpFunction


@wp.func
def room_beyond(v: vec3, p: ColliderPoint):
    """Return d^2 - K^2 [m^2] of a vertex at v from the core."""
    return wp.dot(v, v) - p.radius * p.radius - p.sag * p.sag


@wp.func
def least_distance(p: ColliderPoint):
    """Return K [m]."""
    return wp.sqrt(p.radius * p.radius + p.sag * p.sag)


@wp.func
def barrier_of_point(v: vec3, p: ColliderPoint):
    """Return b, b' and b'' of a vertex at v from the core; finite at or below K, too."""
    y = wp.max(room_beyond(v, p), Scalar(1e-300))
    value, slope, second = barrier(y, p.gap * (p.gap + Scalar(2.0) * least_distance(p)))
    return value, slope, second


@wp.func
def sliding(p: ColliderPoint):
    """Return the pair of friction."""
    s = SlidingPair()
    s.t0 = p.t0
    s.t1 = p.t1
    s.load = p.load
    s.mu_static = p.mu_static
    s.mu_kinetic = p.mu_kinetic
    s.smooth = p.smooth
    return s


@wp.func
def slip_of_point(x: vec3, p: ColliderPoint):
    """Return the slip u in a step that led to x, vec2 [m]."""
    return vec2(wp.dot(x - p.origin, p.t0), wp.dot(x - p.origin, p.t1))


@wp.func
def squared_circle(e: vec3, f: vec3):
    """Return the squared radius [m^2] of the smallest circle around a triangle with these sides:
    around its corners, or around its longest side if it is obtuse.
    """
    g = f - e
    ee = wp.dot(e, e)
    ff = wp.dot(f, f)
    gg = wp.dot(g, g)
    longest = wp.max(ee, wp.max(ff, gg))
    area = wp.length_sq(wp.cross(e, f))
    out = longest / Scalar(4.0)
    if ee + ff + gg > Scalar(2.0) * longest and area > Scalar(0.0):
        out = ee * ff * gg / (Scalar(4.0) * area)
    return out


@dataclass(frozen=True)
class ColliderKernels:
    """Kernels of a shape.

    Attributes:
        elements: energy, gradient, Hessian and freezing of friction.
        reaches: writes the part of a displacement that each vertex may go.
        distances: writes the distance [m] of each vertex from the surface.
        rates: writes the part of its room that each vertex would use in a displacement.
        mark_uncertified: writes 1 for each triangle that may come nearer to the core than r.
    """

    elements: ElementKernels
    reaches: Kernel
    distances: Kernel
    rates: Kernel
    mark_uncertified: Kernel


@cache
def collider_kernels(shape: ColliderShape, law: FrictionLaw = COULOMB) -> ColliderKernels:
    """Build the kernels of a shape with a law of friction, once per process."""
    module = wp.get_module(f"weft.implicit_collider.{shape.name}.{law.name}")
    nearest, turning = shape.nearest, shape.turning
    energy_of, slope_of, curvature_of = law.energy, law.slope, law.curvature

    @wp.kernel(module=module)
    def energy(
        o: int,
        x: Vec3Array,
        stencil: IntArray2d,
        points: ColliderPoints,
        out: wp.array(dtype=vec2),
    ):
        i = o + wp.tid()
        p = points[i]
        a = x[stencil[i, 0]]
        v = a - nearest(a, p)
        value, _slope, _second = barrier_of_point(v, p)
        pushed = p.stiffness * value
        if room_beyond(v, p) <= Scalar(0.0):
            pushed = Scalar(wp.inf)
        rubbed = Scalar(0.0)
        if p.load > Scalar(0.0):
            s = sliding(p)
            rubbed = p.load * energy_of(slip_of_point(a, p), s)
        out[i] = vec2(pushed, rubbed)

    @wp.kernel(module=module)
    def gradient(
        o: int, x: Vec3Array, stencil: IntArray2d, points: ColliderPoints, out: Vec3Array2d
    ):
        i = o + wp.tid()
        p = points[i]
        a = x[stencil[i, 0]]
        v = a - nearest(a, p)
        _value, slope, _second = barrier_of_point(v, p)
        g = (Scalar(2.0) * p.stiffness * slope) * v
        if p.load > Scalar(0.0):
            s = sliding(p)
            g = g + p.load * in_space(slope_of(slip_of_point(a, p), s), s)
        out[i, 0] = g

    @wp.kernel(module=module)
    def hessian(
        o: int, x: Vec3Array, stencil: IntArray2d, points: ColliderPoints, out: Mat33Array3d
    ):
        i = o + wp.tid()
        p = points[i]
        a = x[stencil[i, 0]]
        v = a - nearest(a, p)
        _value, slope, second = barrier_of_point(v, p)
        across = wp.identity(n=3, dtype=Scalar) - turning(a, p)
        H = p.stiffness * (Scalar(4.0) * second * wp.outer(v, v) + Scalar(2.0) * slope * across)
        if p.load > Scalar(0.0):
            s = sliding(p)
            k = curvature_of(slip_of_point(a, p), s)
            one = in_space(k.a, s)
            other = in_space(k.c, s)
            H = H + p.load * (k.second * wp.outer(one, one) + k.over * wp.outer(other, other))
        out[i, 0, 0] = H

    @wp.kernel(module=module)
    def freeze(
        o: int,
        at: Vec3Array,
        start: Vec3Array,
        stencil: IntArray2d,
        smooth: Scalar,
        points: ColliderPoints,
    ):
        # Friction is evaluated at ``at``; sliding is measured from ``start``.
        i = o + wp.tid()
        p = points[i]
        a = at[stencil[i, 0]]
        v = a - nearest(a, p)
        _value, slope, _second = barrier_of_point(v, p)
        distance = wp.max(wp.length(v), Scalar(1e-300))
        n = v / distance
        # The axis along which n is shortest: its cross product with n is far from zero.
        axis = vec3(Scalar(1.0), Scalar(0.0), Scalar(0.0))
        if wp.abs(n[1]) < wp.abs(n[0]) and wp.abs(n[1]) <= wp.abs(n[2]):
            axis = vec3(Scalar(0.0), Scalar(1.0), Scalar(0.0))
        elif wp.abs(n[2]) < wp.abs(n[0]) and wp.abs(n[2]) < wp.abs(n[1]):
            axis = vec3(Scalar(0.0), Scalar(0.0), Scalar(1.0))
        p.t0 = wp.normalize(wp.cross(n, axis))
        p.t1 = wp.cross(n, p.t0)
        p.load = Scalar(-2.0) * p.stiffness * slope * distance
        p.origin = start[stencil[i, 0]]
        p.smooth = smooth
        points[i] = p

    @wp.kernel(module=module)
    def reaches(
        o: int,
        x: Vec3Array,
        d: Vec3Array,
        stencil: IntArray2d,
        points: ColliderPoints,
        fraction: Scalar,
        most: int,
        out: ScalarArray,
    ):
        i = o + wp.tid()
        p = points[i]
        a = x[stencil[i, 0]]
        w = d[stencil[i, 0]]
        speed = wp.length(w)
        kept = least_distance(p)
        first = wp.length(a - nearest(a, p)) - kept
        t = Scalar(1.0)
        if speed >= first * (Scalar(1.0) - fraction):  # else too short to use up the room
            t = Scalar(0.0)
            left = most
            while left > 0:
                b = a + t * w
                room = wp.length(b - nearest(b, p)) - kept - fraction * first
                if room > Scalar(0.0):
                    t = wp.min(t + room / speed, Scalar(1.0))
                left -= 1
                if room <= Scalar(1e-3) * first or t >= Scalar(1.0):
                    left = 0
        out[i] = t

    @wp.kernel(module=module)
    def distances(
        o: int, x: Vec3Array, stencil: IntArray2d, points: ColliderPoints, out: ScalarArray
    ):
        i = o + wp.tid()
        p = points[i]
        a = x[stencil[i, 0]]
        out[i] = wp.length(a - nearest(a, p)) - p.radius

    @wp.kernel(module=module)
    def rates(
        o: int,
        x: Vec3Array,
        d: Vec3Array,
        stencil: IntArray2d,
        points: ColliderPoints,
        out: ScalarArray,
    ):
        i = o + wp.tid()
        p = points[i]
        a = x[stencil[i, 0]]
        v = a - nearest(a, p)
        distance = wp.max(wp.length(v), Scalar(1e-300))
        kept = least_distance(p)
        change = wp.abs(wp.dot(d[stencil[i, 0]], v)) / distance
        out[i] = Scalar(0.0)
        if distance < kept + p.gap:
            out[i] = change / wp.max(distance - kept, Scalar(1e-300))

    @wp.kernel(module=module)
    def mark_uncertified(
        o: int, x: Vec3Array, faces: IntArray2d, points: ColliderPoints, parts: int, out: IntArray
    ):
        i = o + wp.tid()
        p = points[0]
        a = x[faces[i, 0]]
        e = (x[faces[i, 1]] - a) / Scalar(parts)
        f = (x[faces[i, 2]] - a) / Scalar(parts)
        limit = p.radius * p.radius + squared_circle(e, f)
        out[i] = 0
        # The parts of the triangle are similar to it, with corners at a + j e + k f.
        for j in range(parts + 1):
            for k in range(parts + 1 - j):
                b = a + Scalar(j) * e + Scalar(k) * f
                v = b - nearest(b, p)
                if not wp.dot(v, v) > limit:  # also where x is not a number
                    out[i] = 1

    elements = ElementKernels(energy, gradient, {Psd.EXACT: (hessian, FULL)}, freeze)
    return ColliderKernels(elements, reaches, distances, rates, mark_uncertified)


@dataclass(frozen=True, eq=False)
class ImplicitCollider(ElementEnergy):
    """A collider that the vertices of a cloth meet.

    ``of`` builds one from a scene's numbers and checks where the cloth starts.

    Args:
        shape: of the core.
        n_vertices: n, vertices of the cloth.
        faces: (f,3) triangles of the cloth.
        sag: (n,) [m] rho of each vertex.
        place: (3,) [m] of the core.
        axis: (3,) [m] direction of the core; a shape may read its length.
        size: [m] of the core; 0 if it has none.
        radius: [m] r, around the core.
        gap: [m] beyond K, in which the collider pushes.
        stiffness: [J/m^4] k.
        friction: coefficients with the cloth.
        stick: [m/s] speed below which friction sticks.
        law: the law of friction.
        name: for messages and metrics.
        damping: [s] none.
    """

    shape: ColliderShape
    n_vertices: int
    faces: Faces
    sag: Floats
    place: Point
    axis: Point
    size: float
    radius: float
    gap: float
    stiffness: float
    friction: Friction = field(default_factory=lambda: Friction(0.0))
    stick: float = STICK
    law: FrictionLaw = COULOMB
    name: str = "collider"
    damping: float = 0.0

    @staticmethod
    def of(
        shape: ColliderShape,
        mesh: TriangleMesh,
        mass: Floats,
        *,
        place: Point,
        axis: Point = (0.0, 1.0, 0.0),
        size: float = 0.0,
        radius: float,
        gap: float = 1e-3,
        friction: Friction | float = 0.0,
        stick: float = STICK,
        name: str = "collider",
    ) -> "ImplicitCollider":
        """Build a collider for a cloth.

        The stiffness holds ``LOAD`` times a vertex's weight at half the gap, as that of contact.

        Args:
            shape: of the core.
            mesh: the cloth, with its vertices at the start.
            mass: (n,) [kg] of the vertices.
            place: (3,) [m] of the core.
            axis: (3,) [m] of the core.
            size: [m] of the core.
            radius: [m] around the core.
            gap: [m] in which the collider pushes.
            friction: coefficient, or coefficients.
            stick: [m/s] speed below which friction sticks.
            name: for messages and metrics.

        Raises:
            SceneError: the cloth starts inside the collider, or too near to it; or its points are
                not its vertices.
        """
        x, faces = np.asarray(mesh.vertices), mesh.faces
        if len(mass) != len(x):
            raise SceneError(name, got="a cloth of splines", expected="a cloth of triangles")
        rubs = friction if isinstance(friction, Friction) else Friction(friction)
        stiffness = LOAD * GRAVITY * float(np.mean(mass)) / (HALF_FORCE * gap**3)
        about = (np.asarray(place, float), np.asarray(axis, float), size, radius, gap, stiffness)
        sag = STRETCH * sag_of(faces, mesh.corner_uv, len(x))
        found = ImplicitCollider(shape, len(x), faces, sag, *about, rubs, stick, name=name)
        value = found.value(x)
        if not np.isfinite(value).all():
            v = int(np.argmax(~np.isfinite(value)))
            a, b, c = x[v].tolist()
            raise SceneError(
                f"{name} and cloth at the start",
                got=f"vertex {v} at ({a:.4g}, {b:.4g}, {c:.4g}) inside, or less than "
                f"{1e3 * (np.hypot(radius, sag[v]) - radius):.3g} mm outside",
                expected="cloth outside of the collider",
                hint="move one of them",
            )
        return found

    @property
    def kernels(self) -> ElementKernels:  # type: ignore[override]
        """The kernels of the shape."""
        return collider_kernels(self.shape, self.law).elements

    @cached_property
    def stencil(self) -> Ints:
        """Every vertex is an element, (n,1)."""
        return np.arange(self.n_vertices, dtype=np.int32)[:, None]

    @property
    def has_friction(self) -> bool:
        """Whether the collider has friction with the cloth."""
        return self.friction.static > 0

    @property
    def constants(self) -> ByName:
        """Numbers by name, a row for each vertex."""
        n = self.n_vertices
        names = ("place", "axis", "size", "radius", "sag", "gap", "stiffness")
        rows: dict[str, object] = {name: getattr(self, name) for name in names}
        rows |= {"mu_static": self.friction.static, "mu_kinetic": self.friction.sliding}
        shapes = {name: (n, 3) if name in ("place", "axis") else (n,) for name in rows}
        return {name: np.broadcast_to(np.asarray(v), shapes[name]) for name, v in rows.items()}

    @property
    def structure(self) -> object:
        """Data besides the constants: the shape, the law, the triangles, and the speed that
        sticks.
        """
        return self.shape.name, self.law.name, self.faces, self.stick

    def parameters(self) -> WarpArray:
        """Return (n,) ``ColliderPoint`` on the device, without friction."""
        records = kernel.records(ColliderPoint, self.n_vertices, **self.constants)
        return kernel.array(records, ColliderPoint)

    def elastic_slip(self, step: Step | None) -> float:
        """Return the slip [m] below which friction sticks in a step; 0 if there is none."""
        if step is None or not self.has_friction:
            return 0.0
        if step.scale is None or step.slip is not None:
            return step.slip or 0.0
        return self.stick * step.dt if np.isfinite(step.span) else 0.0

    def parameters_in(self, step: Step | None) -> WarpArray:
        """Return new parameters with the friction of a step, as it is evaluated there."""
        p, smooth = self.parameters(), self.elastic_slip(step)
        if step is not None and smooth > 0:
            at = step.device_state if step.lag_point is None else kernel.points(step.lag_point)
            self.freeze_friction(at, step.device_state, smooth, p)
        return p

    def freeze_friction(
        self, at: WarpArray, start: WarpArray, smooth: float, parameters: WarpArray
    ) -> None:
        """Freeze friction from the normal forces at ``at`` (n,), with slip from ``start`` (n,)."""
        about = (at, start, self.device_stencil, Scalar(smooth), parameters)
        kernel.launch(self.kernels.freeze, self.n_vertices, *about)

    def pull_back_friction(
        self, step: Step, smooth: float, parameters: WarpArray
    ) -> tuple[Floats, Floats]:
        """Return derivatives by ``at`` and ``start`` (n,3) of ``freeze_friction``, from those by
        frozen parameters.

        Derivatives by the constants are added to those that the parameters have.
        """
        state = np.array(step.state.x)
        places = state if step.lag_point is None else np.array(step.lag_point), state
        at, start = (kernel.track(kernel.points(np.array(x))) for x in places)
        about = (at, start, self.device_stencil, Scalar(smooth), parameters)
        kernel.pull_back(self.kernels.freeze, self.n_vertices, *about)
        return kernel.derivatives(at), kernel.derivatives(start)

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (n,...), for ``by`` (n,1,3) of each vertex."""
        p, smooth = self.track(self.parameters_in(step)), self.elastic_slip(step)
        self.pull_back_gradient(x, by, p)
        if step is not None and smooth > 0:
            self.pull_back_friction(step, smooth, p)
        found = self.derivatives(p)
        return {name: found[name] for name in self.constants}

    def distances(self, x: Positions) -> Floats:
        """Return the distances (n,) [m] of vertices at x (n,3) from the surface of the collider;
        negative inside.
        """
        out = kernel.empty(self.n_vertices)
        of = collider_kernels(self.shape, self.law).distances
        about = (kernel.points(x), self.device_stencil, self.parameters(), out)
        kernel.launch(of, self.n_vertices, *about)
        return np.array(kernel.numpy(out))

    def bind(self, pattern: BlockPattern) -> "ColliderTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return ColliderTerm(self, pattern)


class ColliderTerm(Barrier, ElementTerm):
    """A collider in the potential of one step after another: an energy that bounds steps."""

    energy: ImplicitCollider
    is_elastic = False
    smooth = 0.0  # [m] elastic slip of friction in the step; 0: no friction

    def __init__(self, energy: ImplicitCollider, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern)
        self._own = collider_kernels(energy.shape, energy.law)
        self._faces = kernel.array(np.ascontiguousarray(energy.faces, np.int32), wp.int32)

    def update_constants(self, energy: ElementEnergy) -> None:
        """Take the friction of another collider.

        Raises:
            SceneError: a collider at another place, or of another size: it would pass through
                cloth.
        """
        fixed = ("place", "axis", "size", "radius", "gap", "sag")
        if not all(np.array_equal(getattr(energy, k), getattr(self.energy, k)) for k in fixed):
            raise SceneError(
                f"energy {self.name}",
                got="keyframes of its place or size",
                expected="a collider that does not move; only its friction may change",
            )
        super().update_constants(energy)

    @property
    def _about(self) -> tuple[WarpArray, WarpArray]:
        """The elements and their parameters."""
        return self.energy.device_stencil, self.parameters

    def freeze(self, step: Step) -> None:
        """Begin a step: evaluate friction at its start."""
        self.step, self.smooth = step, self.energy.elastic_slip(step)
        self.parameters = self.energy.parameters_in(dataclasses.replace(step, lag_point=None))

    def lag(self, x: WarpArray) -> bool:
        """Evaluate friction again at x; return whether there is any."""
        if self.smooth > 0:
            about = (self.step.device_state, self.smooth, self.parameters)
            self.energy.freeze_friction(x, *about)
        return self.smooth > 0

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energies [J] of the collider and of its friction, by name."""
        pushed, rubbed = kernel.columns(self.energies(x))
        found = {self.name: pushed}
        return {**found, f"{self.name} friction": rubbed} if self.energy.has_friction else found

    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Return the part of the displacement d, in [0, 1], on which every vertex keeps a part of
        its room.
        """
        return min(1.0, kernel.least(self.reaches(x, d)))

    def reaches(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return the part of d (n,) vec3 in [0, 1] that each vertex may go from x, (n,)."""
        n, out = self.shape[0], self.scratch.take(self.shape[0])
        about = (*self._about, Scalar(FRACTION), ADVANCES, out)
        kernel.launch(self._own.reaches, n, x, d, *about)
        return out

    def truncate(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return d, cut at every vertex to the part that the vertex may go."""
        out = kernel.empty(d.shape[0], vec3)
        kernel.copy(d, out)
        kernel.launch(shorten_vertices, self.shape[0], self.reaches(x, d), out)
        return out

    def carry(self, goal: Positions, step: Step) -> Positions | None:
        """Return how far a step may go from its start towards ``goal`` (n,3) [m] on straight paths.

        Returns:
            (n,3) [m]; None if prescribed motion is in the way.
        """
        x = np.asarray(step.state.x)
        d = np.asarray(goal) - x
        part = self.max_step(kernel.points(x), kernel.points(d))
        if part == 1.0:
            return goal
        moves = step.moves_bodies or d[step.fixed].any()
        return None if moves else x + part * d

    def is_settled(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether d uses at most ``SETTLED`` of the room of every vertex in the gap."""
        out = self.scratch.take(self.shape[0])
        kernel.launch(self._own.rates, self.shape[0], x, d, *self._about, out)
        return kernel.largest(out) <= SETTLED

    def has_new_intersections(self, x: WarpArray) -> bool:
        """Return whether a triangle may be inside the collider at x that was not when the step
        began: the inequality of the module does not exclude it.
        """
        after = self._uncertified(x)
        return bool((after & ~self._uncertified(self.step.device_state)).any())

    def _uncertified(self, x: WarpArray) -> Bools:
        """Return which triangles may be inside the collider at x, (f,) bool."""
        out = kernel.empty(len(self.energy.faces), wp.int32)
        about = (x, self._faces, self.parameters, PARTS, out)
        kernel.launch(self._own.mark_uncertified, len(self.energy.faces), *about)
        return np.asarray(kernel.numpy(out) == 1)

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by the positions from which friction was evaluated."""
        e, smooth = self.energy, self.energy.elastic_slip(step)
        if smooth > 0:
            lagged = dataclasses.replace(step, lag_point=into.at)
            p = e.track(e.parameters_in(lagged))
            e.pull_back_gradient(np.array(kernel.numpy(x)), by[e.stencil], p)
            at, start = e.pull_back_friction(lagged, smooth, p)
            into.state_x += start
            if into.at is None:
                into.state_x += at
            else:
                into.place += at


@wp.kernel(module=wp.get_module("weft.implicit_collider"))
def shorten_vertices(o: int, part: ScalarArray, d: Vec3Array):
    """Multiply every displacement by its part."""
    v = o + wp.tid()
    d[v] = part[v] * d[v]


def sag_of(faces: Faces, corner_uv: Floats, n: int) -> Floats:
    """Return rho (n,) [m], the radius of the smallest circle around a triangle at rest, the largest
    of the triangles (f,3) at each vertex, from material coordinates (f,3,2) [m].
    """
    a, b, c = np.moveaxis(np.asarray(corner_uv, dtype=np.float64), 1, 0)
    e, f = b - a, c - a
    squares = np.stack([(s**2).sum(1) for s in (e, f, f - e)])
    area = (e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]) ** 2
    longest = squares.max(0)
    around = squares.prod(0) / (4 * np.maximum(area, 1e-300))
    square = np.where(squares.sum(0) > 2 * longest, around, longest / 4)
    out = np.zeros(n)
    np.maximum.at(out, faces, np.sqrt(square)[:, None])
    return out
