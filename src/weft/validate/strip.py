"""A strip of cloth along x, and the search for its equilibrium under gravity, for several
experiments.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import Pattern, TriangleMesh, grid
from weft.discretization.spline_surface import SplineSurface
from weft.energies.base import Energy
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.base import Law
from weft.solve.linear.direct import direct_solver
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import minimize

GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True)
class Material:
    """Stiffness and density of a strip."""

    stretch: float  # [N/m]
    shear: float  # [N/m]
    bending: float  # [N m]
    density: float  # [kg/m^2]


def strip_model(
    mesh: TriangleMesh,
    material: Material,
    pins: Sequence[Pin],
    gravity: tuple[float, float, float] = (0.0, -GRAVITY, 0.0),
    bending: Sequence[Energy] | None = None,
    damping: float = 0.0,
) -> Model:
    """Build a model of membrane, bending and gravity; pinned vertices stay where the mesh has them.

    Args:
        mesh: of the strip.
        material: stiffness and density.
        pins: of vertices.
        gravity: [m/s^2].
        bending: energies in place of hinges with the material's rigidity.
        damping: [s] time constant of stiffness-proportional damping.
    """
    mass = material.density * mesh.vertex_area
    stretch = (material.stretch, material.stretch)
    membrane, hinges = elastic_energies(mesh, stretch, material.shear, material.bending, damping)
    bending = (hinges,) if bending is None else bending
    return Model(mass, (membrane, *bending, Gravity(mass, gravity)), tuple(pins), mesh.vertices)


def elastic_energies(
    mesh: TriangleMesh,
    stretch: tuple[float, float],
    shear: float,
    bending: float,
    damping: float = 0.0,
) -> tuple[Membrane, HingeBending]:
    """Build membrane and hinges of a mesh.

    Args:
        mesh: at rest.
        stretch: [N/m] of warp and weft.
        shear: [N/m].
        bending: [N m] of warp and weft.
        damping: [s] time constant of stiffness-proportional damping.
    """
    membrane = Membrane(linear_triangle(mesh), BaraffWitkin(stretch, shear), damping=damping)
    return membrane, HingeBending.of(mesh, (bending, bending), damping=damping)


def spline_strip_model(
    surface: SplineSurface,
    x: Positions,
    material: Material,
    pins: Sequence[Pin],
    gravity: tuple[float, float, float] = (0.0, -GRAVITY, 0.0),
    law: Law | None = None,
) -> Model:
    """Build the model of a strip of splines with control points at x (n,3) [m].

    Pins fix control points. ``law`` takes the place of Baraff-Witkin's with the material's
    stiffnesses.
    """
    mass = material.density * surface.area
    law = law or BaraffWitkin((material.stretch, material.stretch), material.shear)
    at = surface.laplacians(material.bending, material.bending)
    bending = QuadraticForm(at.stencil, at.coefficient, at.weight, "bending")
    energies = (Membrane(surface.samples(), law), bending, Gravity(mass, gravity))
    return Model(mass, energies, tuple(pins), x)


def rest(
    model: Model, x: Positions, first: float = 1e-3, tolerance: float = 1e-9, most: int = 400
) -> Potential:
    """Find the minimum of the energy near x.

    The method takes proximal steps, which add |x - x_k|_M^2/(2s); s grows tenfold each time, so
    that the last steps are those of the energy alone.

    Args:
        model: energies and pins.
        x: (n,3) start.
        first: s of the first step [s^2].
        tolerance: largest vertex displacement of the last Newton increment [m].
        most: Newton iterations of a step.

    Returns:
        The potential of the last step, with its minimizer as ``start``: forces can be read from it.

    Raises:
        SimulationError: a step that does not converge.
    """
    solver = direct_solver()
    s, prepared = first, None
    last = 1e9 * first
    while True:
        phi = Potential(model, model.step(State.at_rest(x), 0.0, scale=s))
        newton = Newton(tolerance, max_iterations=most)
        result = minimize(phi, kernel.points(phi.start), solver, newton, previous=prepared)
        if not result.outcome.ok:
            raise SimulationError("rest", got=result.outcome.name, hint=result.outcome.advice)
        new, prepared = np.array(kernel.numpy(result.x)), result.prepared
        if s >= last:
            return Potential(model, model.step(State.at_rest(new), 0.0, scale=s))
        x, s = new, 10 * s


def upright_grid(
    nx: int, ny: int, width: float, height: float, pattern: Pattern = "regular"
) -> TriangleMesh:
    """Return a grid in the plane of x and y, with the weft upwards; arguments are those of
    ``grid``.
    """
    mesh = grid(nx, ny, width, height, pattern)
    x, z = mesh.vertices[:, 0], mesh.vertices[:, 2]
    return mesh.with_vertices(np.stack([x, -z, np.zeros(mesh.n_vertices)], 1))


def lengthwise_pins(mesh: TriangleMesh, *sides: str) -> list[Pin]:
    """Return pins on whole borders of a grid: ``left``, ``right``, ``top``, ``bottom``."""
    return [Pin(mesh.groups[side], name=side) for side in sides]


def tip(x: Positions, mesh: TriangleMesh, side: str = "right") -> Floats:
    """Return the mean position (3,) [m] of a border."""
    return np.asarray(x[mesh.groups[side]].mean(axis=0))
