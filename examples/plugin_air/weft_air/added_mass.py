"""Added mass: the reactive force of air that slender cloth carries with it, Lighthill 1960, 1971.

A strip of width H along the wind sets a mass m = pi/4 rho H^2 of air per length in motion across
it, here spread evenly over its area: mu = pi/4 rho H per area. With w the velocity of the cloth
relative to the air, w_n = n.w its part across and c = w_n n - w that of the air along the cloth,
the momentum mu w_n n is carried along with c and leaves at the edges where air leaves (Lighthill
1971, eq. 6, as a balance at each place: Candelier, Boyer & Leroyer 2011):

    f = -d(mu w_n n)/dt - div(c mu w_n n) - div(t t^T mu w_n^2/2),     t = c/|c|

In small motion f = -mu (d/dt + U d/ds)^2 y. In general it is normal to an inextensible sheet: minus
mu n times n.a + 2 n.dv/dc + n.d2x/dc2 - w_n^2/2 n.d2x/dt2. The inertia n.a is implicit, with a = (x
- y)/s of the step. All other terms, and n, are evaluated at positions extrapolated to the end of
the step, as those of wind are (``weft.energies.air.lift_and_drag``), and are a load. See README.md.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions, Velocities
from weft.base.errors import SceneError
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh, unique_edges
from weft.discretization.samples import Samples
from weft.energies.air.expected_motion import extrapolate, pull_back_extrapolated
from weft.energies.air.lift_and_drag import place, sheet_of
from weft.energies.air.wind import Wind
from weft.energies.by_constants import ByName, repeat_per_element
from weft.energies.derivative import DifferentiableTerm
from weft.energies.gather import GatherMap
from weft.energies.point_masses import StepEnergy
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import SummedTerm
from weft.kernel import Scalar, Scratch, WarpArray, WarpStruct, mat33, vec2, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern
from weft_air.added_mass_kernels import (
    add_blocks,
    add_gradients,
    edges,
    energies,
    faces,
    gather_masses,
)


@dataclass(frozen=True, eq=False)
class AddedMass(StepEnergy):
    """Added mass of a mesh of triangles in a wind.

    Local arrays are those without a step, zeros.
    """

    mesh: TriangleMesh
    wind: Wind
    span: float  # [m] of the strip across the wind
    name: str = "added mass"

    @property
    def mass(self) -> float:
        """Mass of air per area, mu [kg/m^2]."""
        return 0.25 * np.pi * self.wind.density * self.span

    @property
    def stencil(self) -> Ints:
        """The vertex of each local energy, (n,1)."""
        return np.arange(self.mesh.n_vertices, dtype=np.int32)[:, None]

    @cached_property
    def samples(self) -> Samples:
        """Samples, one per face."""
        return linear_triangle(self.mesh)

    @cached_property
    def rim(self) -> tuple[Samples, Floats]:
        """Samples in the middle of border edges, and the edges' material normals, (e,2) [m].

        The normals point outward and are as long as their edges. A border edge has one face.
        """
        m, (_, edge) = self.mesh, unique_edges(self.mesh.faces)
        half = np.flatnonzero(np.bincount(edge)[edge] == 1)  # face-major, corner c to c + 1
        face, a = half // 3, half % 3
        b, rows = (a + 1) % 3, np.arange(len(half))
        value = np.zeros((len(half), 3))
        value[rows, a] = value[rows, b] = 0.5
        uv = m.corner_uv[face]
        along = uv[rows, b] - uv[rows, a]
        inward = uv[rows, (a + 2) % 3] - uv[rows, a]
        outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
        outward *= -np.sign((outward * inward).sum(1))[:, None]
        s = self.samples
        rim = Samples(s.stencil[face], s.gradient[face], np.ones(len(half)), m.n_vertices, value)
        return rim, outward

    def load(self, x: Positions, v: Velocities, t: float) -> tuple[Floats, Floats]:
        """Return M (n,3,3) [kg], and minus the force that is not M a, (n,3) [N].

        Args:
            x: (n,3) [m] positions.
            v: (n,3) [m/s] velocities.
            t: [s] time of the wind.
        """
        made = AddedMassLoad(self, len(x), Scratch())
        made.evaluate(self, kernel.points(x), kernel.points(v), t)
        return np.array(kernel.numpy(made.M)), np.array(kernel.numpy(made.load))

    @property
    def constants(self) -> ByName:
        """Constants by name: density of the air [kg/m^3], and the span [m]."""
        n = self.mesh.n_vertices
        values = {"density": self.wind.density, "span": self.span}
        return {name: repeat_per_element(value, n) for name, value in values.items()}

    @property
    def structure(self) -> object:
        """Data besides the constants: the mesh, and the velocities of the air."""
        w = self.wind
        return self.mesh, w.velocity, w.gusts, w.field, w.gust_offset

    def mixed_derivatives(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (n,1,3); zero without a step.

        Forces are proportional to both constants.
        """
        if step is None or step.scale is None:
            zero = np.zeros((self.mesh.n_vertices, 1, 3))
            return {"density": zero, "span": zero}
        M, load = self.load(*extrapolate(step), step.t)
        g = (np.einsum("vij,vj->vi", M / step.scale, x - step.predicted) + load)[:, None]
        return {"density": g / self.wind.density, "span": g / self.span}

    def bind(self, pattern: BlockPattern) -> "AddedMassTerm":
        """Return the term for simulations."""
        return AddedMassTerm(self, pattern)


class AddedMassLoad:
    """Masses and loads of the air at vertices, on the device.

    Args:
        energy: added mass; its samples stay.
        n: number of vertices.
        scratch: memory for what lasts during a launch.
    """

    def __init__(self, energy: AddedMass, n: int, scratch: Scratch) -> None:
        self.scratch, self.n = scratch, n
        s, (rim, outward) = energy.samples, energy.rim
        self.faces, self.edges = sheet_of(s), sheet_of(rim)
        self.outward = kernel.array(outward, vec2)
        self.around = [GatherMap.of_gradient(one.stencil, n) for one in (s, rim)]
        self.own = kernel.empty(len(s.stencil), mat33)
        self.M, self.load = kernel.empty(n, mat33), kernel.empty(n, vec3)

    def evaluate(
        self, energy: AddedMass, x: WarpArray, v: WarpArray, t: float, scale: float = 1.0
    ) -> None:
        """Compute ``load`` and ``scale`` times M, for x and v (n,) vec3 and the air at time t."""
        around, rim = self.around
        on, own, mu = self.scratch.take, self.own, Scalar(energy.mass)
        self.load.zero_()
        air = self._air(energy, x, self.faces, t)
        local = on((len(own), 3), vec3)
        kernel.launch(faces, len(own), x, v, air, self.faces, mu, own, local)
        around.add_gradient(local, self.load)
        i = around.incidence
        kernel.launch(gather_masses, self.n, i.start, i.element, own, Scalar(scale), self.M)
        air = self._air(energy, x, self.edges, t)
        q = len(self.outward)
        local = on((q, 3), vec3)
        kernel.launch(edges, q, x, v, air, self.edges, self.outward, mu, local)
        rim.add_gradient(local, self.load)

    def pull_back(
        self,
        energy: AddedMass,
        x: Positions,
        v: Velocities,
        t: float,
        by_M: Floats,
        by_load: Floats,
    ) -> tuple[Floats, Floats]:
        """Return derivatives by x and v, (n,3), from those by M (n,3,3) and by ``load`` (n,3)."""
        at, speed = (kernel.track(kernel.points(np.array(a))) for a in (x, v))
        s, (rim, _), mu = energy.samples, energy.rim, Scalar(energy.mass)
        own = kernel.track(self.own, by_M[s.stencil].sum(1))
        air = kernel.track(self._air(energy, at, self.faces, t))
        local = kernel.track(kernel.empty((len(s.stencil), 3), vec3), by_load[s.stencil])
        kernel.pull_back(faces, len(s.stencil), at, speed, air, self.faces, mu, own, local)
        self._pull_back_air(energy, at, air, self.faces, t)
        air = kernel.track(self._air(energy, at, self.edges, t))
        local = kernel.track(kernel.empty((len(rim.stencil), 3), vec3), by_load[rim.stencil])
        arguments = at, speed, air, self.edges, self.outward, mu, local
        kernel.pull_back(edges, len(rim.stencil), *arguments)
        self._pull_back_air(energy, at, air, self.edges, t)
        return kernel.derivatives(at), kernel.derivatives(speed)

    def _pull_back_air(
        self, energy: AddedMass, x: WarpArray, air: WarpArray, s: WarpStruct, t: float
    ) -> None:
        """Add derivatives by x from those by the velocity of the air at samples."""
        q = s.stencil.shape[0]
        at = kernel.empty(q, vec3)
        kernel.launch(place, q, x, s, at)
        by, places = kernel.derivatives(air), np.array(kernel.numpy(at))
        by_place = energy.wind.pull_back(places, t, by)
        kernel.pull_back(place, q, x, s, kernel.track(at, by_place))

    def _air(self, energy: AddedMass, x: WarpArray, s: WarpStruct, t: float) -> WarpArray:
        """Return the velocity of the air at samples, (q,) vec3 [m/s]."""
        q = s.stencil.shape[0]
        at, air = self.scratch.take(q, vec3), kernel.empty(q, vec3)
        kernel.launch(place, q, x, s, at)
        energy.wind.blow(at, t, air)
        return air


class AddedMassTerm(SummedTerm, DifferentiableTerm):
    """Added mass bound to a block pattern; it is zero before the first ``freeze``."""

    is_load = True

    acts = False

    def __init__(self, energy: AddedMass, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern)
        self.air = AddedMassLoad(energy, pattern.n, pattern.scratch)

    def update_constants(self, energy: AddedMass) -> None:
        """Take the wind of another energy."""
        self.energy = energy

    def freeze(self, step: Step) -> None:
        """Lag flow and normals at positions extrapolated to the end of the step.

        Raises:
            SceneError: an equilibrium.
        """
        if step.scale is None:
            raise SceneError(
                "added_mass",
                got="in an equilibrium",
                expected="none",
                hint="strips that flutter have none; one that stays straight along the wind rests "
                "as it does without added mass",
            )
        self._step, self.acts = step, True
        self._y, self._origin = kernel.points(np.array(step.predicted)), step.device_origin
        x, v = extrapolate(step)
        self._take(kernel.points(x), kernel.points(v), step)

    def lag(self, x: WarpArray) -> bool:
        """Lag them again at x."""
        if self.acts:
            v = self._step.velocity(np.array(kernel.numpy(x)))
            self._take(x, kernel.points(v), self._step)
        return self.acts

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by the prediction, and by expected positions and velocities."""
        assert step.scale is not None
        at = extrapolate(step) if into.at is None else (into.at, step.velocity(into.at))
        off = (np.array(kernel.numpy(x)) - step.predicted) / step.scale
        into.predicted -= np.einsum("vij,vj->vi", kernel.numpy(self.air.M), by)
        by_M, load = (
            np.einsum("vi,vj->vij", by, off),
            AddedMassLoad(self.energy, len(by), Scratch()),
        )
        pull_back_extrapolated(step, *load.pull_back(self.energy, *at, step.t, by_M, by), into)

    def _take(self, x: WarpArray, v: WarpArray, step: Step) -> None:
        """Compute masses and loads at x and v, in the air at the end of the step."""
        assert step.scale is not None
        self.air.evaluate(self.energy, x, v, step.t, 1 / step.scale)

    def energies(self, x: WarpArray) -> WarpArray:
        """Return the lagged potential [J] of every vertex."""
        out = self.scratch.take(x.shape[0])
        arrays = (x, self.air.M, self._y, self.air.load, self._origin, out)
        kernel.launch(energies, x.shape[0], *arrays, work=kernel.TRIVIAL)
        return out

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        if self.acts:
            arrays = (x, self.air.M, self._y, self.air.load, g)
            kernel.launch(add_gradients, x.shape[0], *arrays, work=kernel.TRIVIAL)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add M, which is the same for every x and psd, to the diagonal of A and return A."""
        if self.acts:
            A.finish()
            p = A.pattern
            kernel.launch(add_blocks, p.n, p.device_diagonal, self.air.M, A.values)
        return A
