"""A simulated drape that a fit can follow: from the shelf, on from a neighbor, and how it changes.

The specimen is that of Cusick's test. ``fresh`` lets the shelf go down from waves that are given:
those of a picture, so that as many folds form as it has, if the cloth can hold them. ``followed``
goes on from the drape of a fabric nearby, and stays on its branch until that ends. ``rates`` are
exact derivatives of the equilibrium: H dx/da = -dg/da, with the exact Hessian at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.adjoint.solving import Hessian
from weft.arrays import Floats, Ints, Positions
from weft.fabric import Fabric
from weft.fitting.measurement import scaled
from weft.fitting.outline import Outline, outline_of
from weft.integrators.potential import Potential
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.laboratory.cusick import DISK, LOADS, ON_THE_WAY, SPECIMEN, specimen
from weft.laboratory.plate import plate_hinges
from weft.laboratory.specimen import at_rest, specimen_model
from weft.mesh import TriangleMesh
from weft.model import Model
from weft.pins import Pin
from weft.solve.base import LinearSolver
from weft.solve.choose import DIRECT_UP_TO, linear_solver
from weft.solve.direct import have_pardiso
from weft.state import State

FIELDS = ("density", "stretch_warp", "stretch_weft", "shear", "bending_warp", "bending_weft")
CLOSE = QuasiStaticSettings(1e-5, 1e-4, max_iterations=3000)  # where derivatives are taken
WAVE = 5e-3  # [m] root mean square of the waves that the shelf lets go of, at the border
NEAR = 1e-3  # of a logarithm, in differences of forces
MOVED = 1e-5  # [m] by which outlines are moved in differences


@dataclass(frozen=True)
class Eye:
    """Where the specimen is seen from, above the disk's plane.

    Attributes:
        height: [m] of the lens above the disk; None: parallel light, or from far away.
        x, y: [m] where the lens is, from the disk's middle.
    """

    height: float | None = None
    x: float = 0.0
    y: float = 0.0

    def flat(self, x: Positions) -> Floats:
        """(n,2) [m] where points are seen in the disk's plane: warp to the right, weft up."""
        seen = np.stack([x[:, 0], -x[:, 2]], axis=1)
        if self.height is None:
            return seen
        lens = np.array([self.x, self.y])
        return np.asarray(lens + (seen - lens) * (self.height / (self.height - x[:, 1:2])))


@dataclass(frozen=True, eq=False)
class Drape:
    """An equilibrium of a specimen."""

    fabric: Fabric
    mesh: TriangleMesh
    x: Positions  # (n,3) [m]
    iterations: int

    def outline(self, eye: Eye, shift: Positions | float = 0.0) -> Outline:
        """As seen by an eye, of the positions and a small shift of them."""
        flat = eye.flat(self.x + shift)
        edges = self.mesh.edges
        return outline_of(flat[edges[:, 0]], flat[edges[:, 1]], DISK)


@dataclass(frozen=True, eq=False)
class Tester:
    """A specimen's mesh, for any fabric; ``settings`` say when it is at rest."""

    mesh: TriangleMesh
    held: Ints
    settings: QuasiStaticSettings = CLOSE

    @staticmethod
    def of(size: float, seed: int = 0) -> "Tester":
        """Edges about ``size`` [m] long."""
        mesh, held, _ = specimen(size, seed)
        return Tester(mesh, held)

    def model(self, fabric: Fabric, weight: float = 1.0) -> Model:
        """Of a fabric under a part of its weight."""
        bending = plate_hinges(self.mesh, (fabric.bending_warp, fabric.bending_weft))
        return specimen_model(self.mesh, fabric, [Pin(self.held)], [bending], weight=weight)

    def fresh(self, fabric: Fabric, radius: Floats, turn: float = 0.0) -> Drape:
        """The shelf goes down from waves of a few millimeters, like those of an outline's radius
        (k,), turned by an angle [rad].

        Raises:
            SimulationError: no equilibrium was found.
        """
        x, iterations = self.mesh.vertices + self._waves(radius, turn), 0
        for load in LOADS:
            last = load == LOADS[-1]
            what = f"drape of {fabric.name} under {load:.0%} of its weight"
            found = at_rest(
                self.model(fabric, load), x, self.settings if last else ON_THE_WAY, what
            )
            x, iterations = found.x, iterations + found.counts.iterations
        return Drape(fabric, self.mesh, x, iterations)

    def followed(self, fabric: Fabric, start: Drape) -> Drape:
        """The equilibrium near another fabric's.

        Raises:
            SimulationError: none was found.
        """
        what = f"drape of {fabric.name}, on from a fabric nearby"
        found = at_rest(self.model(fabric), start.x, self.settings, what)
        return Drape(fabric, self.mesh, found.x, found.counts.iterations)

    def rates(self, drape: Drape, fields: Sequence[str]) -> Floats:
        """(len(fields),n,3) [m] how the equilibrium moves with the logarithm of each number."""
        phi = _potential(self.model(drape.fabric), drape.x)
        H = Hessian(phi, kernel.points(drape.x), _solver(self.mesh.n_vertices, phi))
        found = []
        for field in fields:
            if field not in FIELDS:
                found.append(np.zeros_like(drape.x))
                continue
            up, down = (
                self.force(scaled(drape.fabric, field, np.exp(s)), drape.x) for s in (NEAR, -NEAR)
            )
            found.append(H.solve(-(up - down) / (2 * NEAR)))
        return np.array(found)

    def force(self, fabric: Fabric, x: Positions) -> Floats:
        """(n,3) [N] gradient of a fabric's energy at x (n,3), zero where it is held."""
        return _potential(self.model(fabric), x).gradient(x)

    def _waves(self, radius: Floats, turn: float) -> Positions:
        u, v = self.mesh.vertices[:, 0], -self.mesh.vertices[:, 2]
        out, angle = np.hypot(u, v), np.arctan2(v, u)
        k = np.arange(2, 17)
        c = np.fft.rfft(radius)[k] / len(radius)
        size = np.sqrt(2 * (np.abs(c) ** 2).sum())
        if size < 1e-9:  # of a circle: six even waves, as most cloth has
            c, size = np.where(k == 6, 0.5, 0.0), np.sqrt(0.5)
        wave = 2 * np.real(np.exp(1j * np.outer(angle - turn, k)) @ c) / size
        rise = np.zeros_like(self.mesh.vertices)
        part = np.clip((out - DISK) / (SPECIMEN - DISK), 0.0, 1.0) ** 2
        rise[:, 1] = WAVE * wave * part
        return rise


def _potential(model: Model, x: Positions) -> Potential:
    return Potential(model, model.step(State(x, np.zeros_like(x), 0.0), 0.0))


def _solver(n: int, phi: Potential) -> LinearSolver:
    name = "auto"
    if n <= DIRECT_UP_TO:
        name = "pardiso" if have_pardiso() else "splu"
    return linear_solver(name, n, pattern=phi._matrix.pattern)
