"""Simulated drape that a fit follows: from scratch, continued from a similar fabric, and its
derivatives.

The specimen is that of Cusick's test. ``fresh`` lowers the shelf as that test does, from seeded
bumps of a tenth of a millimeter. ``followed`` continues from the drape of a similar fabric and
stays on its branch of equilibria until the branch ends. ``rates`` are exact derivatives of the
equilibrium: H dx/da = -dg/da, with the exact Hessian H at the end.

Fresh drapes do not start from the folds of a picture: from waves of 5 mm like those of its outline,
wool drapes 1.4 points lower than from bumps, in less even folds, and a fit would find it stiffer by
as much (``docs/photographs.md``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft import kernel
from weft.adjoint.hessian import Hessian
from weft.base.arrays import Floats, Ints, Positions
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import TriangleMesh
from weft.energies.state import State
from weft.fabric.fabric import Fabric
from weft.fitting.measurement import scale_field
from weft.fitting.outline import RadialOutline, radial_outline
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.laboratory.cusick import DISK, drape, specimen
from weft.laboratory.plate import plate_hinges
from weft.laboratory.specimen import find_equilibrium, specimen_model
from weft.solve.linear.direct import direct_solver
from weft.solve.linear.select import DIRECT_UP_TO, linear_solver
from weft.solve.linear.solver import LinearSolver

FIELDS = ("density", "stretch_warp", "stretch_weft", "shear", "bending_warp", "bending_weft")
CLOSE = QuasiStaticSettings(1e-5, 1e-4, max_iterations=3000)  # tight: derivatives need it
NEAR = 1e-3  # of a logarithm, step of differences of forces
MOVED = 1e-5  # [m] largest displacement in differences of outlines


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
    def of(size: float, seed: int = 0) -> "DrapeTester":
        """Return a specimen with edges about ``size`` [m] long."""
        mesh, held, _ = specimen(size, seed)
        return DrapeTester(mesh, held)

    def model(self, fabric: Fabric, weight: float = 1.0) -> Model:
        """Return the model of the specimen of a fabric under a fraction of its weight."""
        bending = plate_hinges(self.mesh, (fabric.bending_warp, fabric.bending_weft))
        return specimen_model(self.mesh, fabric, [Pin(self.held)], [bending], weight=weight)

    def fresh(self, fabric: Fabric, seed: int = 0) -> DrapedSpecimen:
        """Return the drape after the shelf has gone down, from seeded bumps, as in Cusick's test.

        Raises:
            SimulationError: no equilibrium was found.
        """
        made = drape(fabric, self.mesh, self.held, seed)
        rest = self.follow(fabric, DrapedSpecimen(fabric, self.mesh, made.x, 0))
        return replace(rest, iterations=rest.iterations + made.iterations)

    def follow(self, fabric: Fabric, start: DrapedSpecimen) -> DrapedSpecimen:
        """Return the equilibrium of a fabric, continued from the drape of a similar fabric.

        Raises:
            SimulationError: no equilibrium was found.
        """
        what = f"drape of {fabric.name}, on from a fabric nearby"
        found = find_equilibrium(self.model(fabric), start.x, self.settings, what)
        return DrapedSpecimen(fabric, self.mesh, found.x, found.counts.iterations)

    def rates(self, drape: DrapedSpecimen, fields: Sequence[str]) -> Floats:
        """Return the derivative of the equilibrium by the logarithm of each field.

        Returns:
            (len(fields),n,3) [m]; zero for fields that are not in ``FIELDS``.
        """
        phi = _potential(self.model(drape.fabric), drape.x)
        H = Hessian(phi, kernel.points(drape.x), _solver(self.mesh.n_vertices, phi))
        found = []
        for field in fields:
            if field not in FIELDS:
                found.append(np.zeros_like(drape.x))
                continue
            up, down = (
                self.force(scale_field(drape.fabric, field, np.exp(s)), drape.x)
                for s in (NEAR, -NEAR)
            )
            found.append(H.solve(-(up - down) / (2 * NEAR)))
        return np.array(found)

    def force(self, fabric: Fabric, x: Positions) -> Floats:
        """Return the gradient of the energy of a fabric at x (n,3), (n,3) [N]; zero at pinned
        vertices.
        """
        return _potential(self.model(fabric), x).gradient(x)


def _potential(model: Model, x: Positions) -> Potential:
    """Return the static potential of a model, with no velocity and no time step."""
    return Potential(model, model.step(State(x, np.zeros_like(x), 0.0), 0.0))


def _solver(n: int, phi: Potential) -> LinearSolver:
    """Return the linear solver for the Hessian: direct for small meshes, with Pardiso if
    installed.
    """
    if n <= DIRECT_UP_TO:
        return direct_solver()
    return linear_solver("auto", n, pattern=phi._matrix.pattern)
