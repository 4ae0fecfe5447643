"""Simulated drapes that a fit follows: from scratch, continued from a similar fabric, and their
derivatives.

The specimen is that of Cusick's test. ``fresh`` lowers the shelf as that test does, from seeded
bumps of a tenth of a millimeter. ``follow`` continues from the drape of a similar fabric and
stays on its branch of equilibria until the branch ends. ``rates`` are exact derivatives of the
equilibrium: H dx/da = -dg/da, with the exact Hessian H at the end.

Internal friction is left out: a drape that has slid has no branch to follow.

Fresh drapes do not start from the folds of a picture: from waves of 5 mm like those of its outline,
wool drapes 1.4 points lower than from bumps, in less even folds, and a fit would find it stiffer by
as much (``docs/explanations/fitting.md``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import cycle

import numpy as np

from weft import kernel
from weft.adjoint.hessian import Hessian
from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh
from weft.energies.state import State
from weft.fabric.fabric import Fabric
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.plugins.lab.fitting.measurement import directional_derivative, scale_field
from weft.plugins.lab.fitting.outline import RadialOutline, radial_outline
from weft.plugins.lab.laboratory.cusick import DISK, drape, specimen
from weft.plugins.lab.laboratory.plate import plate_hinges
from weft.plugins.lab.laboratory.specimen import find_equilibrium, specimen_model
from weft.solve.linear.direct import direct_solver

FIELDS = ("density", "stretch_warp", "stretch_weft", "shear", "bending_warp", "bending_weft")
CLOSE = QuasiStaticSettings(1e-5, 1e-4, max_iterations=3000)  # tight: derivatives need it
NEAR = 1e-3  # of a logarithm, step of differences of forces
FAR = 0.25  # change of the logarithm of a number beyond which drapes start from scratch
MOST_KEPT = 12  # fabrics in the cache


@dataclass(frozen=True)
class Eye:
    """Position of the camera above the disk's plane.

    Attributes:
        height: [m] of the lens above the disk; None: parallel light, or a very distant camera.
        x, y: [m] position of the lens relative to the disk's center.
    """

    height: float | None = None
    x: float = 0.0
    y: float = 0.0

    def rotate(self, angle: float) -> "Eye":
        """Return the position after a rotation by ``angle`` [rad], counter-clockwise about the
        disk's center.
        """
        c, s = np.cos(angle), np.sin(angle)
        return Eye(self.height, float(c * self.x - s * self.y), float(s * self.x + c * self.y))

    def flat(self, x: Positions) -> Floats:
        """Return the perspective projection of points onto the disk's plane, (n,2) [m]: warp right,
        weft up.
        """
        seen = np.stack([x[:, 0], -x[:, 2]], axis=1)
        if self.height is None:
            return seen
        lens = np.array([self.x, self.y])
        return np.asarray(lens + (seen - lens) * (self.height / (self.height - x[:, 1:2])))


@dataclass(frozen=True, eq=False)
class DrapedSpecimen:
    """An equilibrium of a draped specimen."""

    fabric: Fabric
    mesh: TriangleMesh
    x: Positions  # (n,3) [m]
    iterations: int

    def outline(self, eye: Eye, shift: Positions | float = 0.0) -> RadialOutline:
        """Return the outline as seen by an eye, with positions shifted by ``shift`` (n,3) [m]."""
        flat = eye.flat(self.x + shift)
        edges = self.mesh.edges
        return radial_outline(flat[edges[:, 0]], flat[edges[:, 1]], DISK)


@dataclass(frozen=True, eq=False)
class DrapeTester:
    """The mesh of Cusick's specimen, for any fabric; ``settings`` are the tolerances of
    equilibrium.
    """

    mesh: TriangleMesh
    held: Ints
    settings: QuasiStaticSettings = CLOSE

    @staticmethod
    @lru_cache(maxsize=4)
    def of(size: float) -> "DrapeTester":
        """Return a specimen with edges about ``size`` [m] long."""
        mesh, held, _ = specimen(size, 0)
        return DrapeTester(mesh, held)

    def model(self, fabric: Fabric) -> Model:
        """Return the model of the specimen of a fabric."""
        bending = plate_hinges(self.mesh, (fabric.bending_warp, fabric.bending_weft))
        return specimen_model(self.mesh, fabric.without_friction, [Pin(self.held)], [bending])

    def fresh(self, fabric: Fabric, seed: int = 0) -> DrapedSpecimen:
        """Return the drape after the shelf has gone down, from seeded bumps, as in Cusick's test.

        Raises:
            SimulationError: no equilibrium was found.
        """
        made = drape(fabric.without_friction, self.mesh, self.held, seed)
        rest = self.follow(fabric, DrapedSpecimen(fabric, self.mesh, made.x, 0))
        return replace(rest, iterations=rest.iterations + made.iterations)

    def follow(self, fabric: Fabric, start: DrapedSpecimen) -> DrapedSpecimen:
        """Return the equilibrium of a fabric, continued from the drape of a similar fabric.

        Raises:
            SimulationError: no equilibrium was found.
        """
        what = f"drape of {fabric.name}, continued from a similar fabric"
        found = find_equilibrium(self.model(fabric), start.x, self.settings, what)
        return DrapedSpecimen(fabric, self.mesh, found.x, found.counts.iterations)

    def rates(self, drape: DrapedSpecimen, fields: Sequence[str]) -> Floats:
        """Return the derivative of the equilibrium by the logarithm of each field.

        Args:
            drape: the equilibrium.
            fields: of ``FIELDS``.

        Returns:
            (len(fields),n,3) [m].
        """
        phi = _potential(self.model(drape.fabric), drape.x)
        H = Hessian(phi, kernel.points(drape.x), direct_solver())
        found = []
        for name in fields:
            moved = (scale_field(drape.fabric, name, np.exp(s)) for s in (NEAR, -NEAR))
            up, down = (_potential(self.model(f), drape.x).gradient(drape.x) for f in moved)
            found.append(H.solve(-(up - down) / (2 * NEAR)))
        return np.array(found)


View = Callable[[DrapedSpecimen, Positions | float], Floats]  # numbers of a drape that is shifted


@dataclass(frozen=True, eq=False)
class _CachedDrapes:
    """Cached drapes of one fabric."""

    at: Floats  # (6,) logarithms of FIELDS
    anchor: Floats  # (6,) those of the fabric for which the specimens were draped from scratch
    drapes: Sequence[DrapedSpecimen]


@dataclass(eq=False)
class DrapeContinuation:
    """Drapes of a sequence of similar fabrics.

    Draped cloth has many equilibria. If a fit draped from scratch for each trial fabric, its
    residuals would jump by a point or two of the drape coefficient. If it always continued from the
    last drape, it would keep folds that the final fabric would never have formed. So drapes are
    continued while no number of the fabric has changed by more than a quarter since they were
    draped from scratch, and are draped from scratch beyond that. Several drapes of one specimen,
    from different initial bumps, are followed.

    The object keeps a cache, and results depend on the drape from which they were continued, within
    one branch of equilibria.

    Args:
        tester: the specimen.
        count: number of drapes.
        seed: of the initial bumps of the first drape; the others follow it.
        far: change of the logarithm of a number beyond which specimens are draped from scratch.
    """

    tester: DrapeTester
    count: int = 3
    seed: int = 0
    far: float = FAR
    changed: int = 0  # number of times that a continued drape snapped to another number of folds
    restarts: int = 0  # number of times that the specimens were draped from scratch
    _cache: list[_CachedDrapes] = field(default_factory=list)

    def near(self, fabric: Fabric) -> "DrapeContinuation":
        """Return drapes of a fabric from scratch, from which those of all others continue.

        Raises:
            SimulationError: no equilibrium was found.
        """
        made = replace(self, far=np.inf, restarts=0, _cache=[])
        made.drapes(fabric)
        return made

    def drapes(self, fabric: Fabric) -> Sequence[DrapedSpecimen]:
        """Return the drapes of a fabric.

        Raises:
            SimulationError: no equilibrium was found.
        """
        at = np.log([getattr(fabric, name) for name in FIELDS])
        near = [k for k in self._cache if np.abs(at - k.anchor).max() <= self.far]
        if near:
            start = min(near, key=lambda k: float(np.abs(at - k.at).max()))
            if np.abs(at - start.at).max() < 1e-12:
                return start.drapes
            try:
                return self._keep(at, start.anchor, self._continue(fabric, start.drapes))
            except SimulationError:
                self.changed += 1  # the branch of equilibria has ended
        self.restarts += 1
        made = [self.tester.fresh(fabric, self.seed + k) for k in range(self.count)]
        return self._keep(at, at, made)

    def numbers(self, fabric: Fabric, views: Sequence[View]) -> Floats:
        """Return the mean of the numbers (k,) of the drapes, seen by the views in turn."""
        pairs = zip(self.drapes(fabric), cycle(views))
        return np.asarray(np.mean([view(drape, 0.0) for drape, view in pairs], axis=0))

    def rates(
        self, fabric: Fabric, views: Sequence[View], fields: Sequence[str]
    ) -> Mapping[str, Floats]:
        """Return the derivatives (k,) of ``numbers`` by the logarithms of fields.

        They are derivatives along the branches of equilibria on which the drapes are.
        """
        fields, found = [f for f in fields if f in FIELDS], []
        for rest, view in zip(self.drapes(fabric), cycle(views)):
            rates = self.tester.rates(rest, fields)
            found.append([directional_derivative(partial(view, rest), rate) for rate in rates])
        return dict(zip(fields, np.mean(found, axis=0)))

    def outlines(self, fabric: Fabric, eyes: Sequence[Eye]) -> Sequence[RadialOutline]:
        """Return the outline of each drape, seen from the camera positions in turn."""
        return [d.outline(eye) for d, eye in zip(self.drapes(fabric), cycle(eyes))]

    def _continue(
        self, fabric: Fabric, drapes: Sequence[DrapedSpecimen]
    ) -> Sequence[DrapedSpecimen]:
        """Return drapes of a fabric that continue from ``drapes``, and count those that snapped."""
        made = [self.tester.follow(fabric, drape) for drape in drapes]
        folds = ([d.outline(Eye()).nodes for d in of] for of in (made, drapes))
        self.changed += sum(after != before for after, before in zip(*folds))
        return made

    def _keep(
        self, at: Floats, anchor: Floats, drapes: Sequence[DrapedSpecimen]
    ) -> Sequence[DrapedSpecimen]:
        """Store drapes in the cache and return them."""
        self._cache = [*self._cache[-(MOST_KEPT - 1) :], _CachedDrapes(at, anchor, drapes)]
        return drapes


def _potential(model: Model, x: Positions) -> Potential:
    """Return the static potential of a model, with no velocity and no time step."""
    return Potential(model, model.step(State(x, np.zeros_like(x), 0.0), 0.0))
