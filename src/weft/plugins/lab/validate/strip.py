"""Models of strips and sheets for several experiments, and two searches for their equilibrium.

The strips lie along x. ``rest`` takes proximal steps, and ``settle`` is weft's quasi-static solver.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.discretization.bspline import rectangle
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import Pattern, TriangleMesh, grid
from weft.discretization.polygon import unit_vectors
from weft.discretization.quadrature import Rule
from weft.discretization.spline_surface import Bending, SplineSurface
from weft.discretization.triangulate import triangulate_piece
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.fabric.fabric import Fabric
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.quasi_static import Equilibrium, QuasiStaticSettings
from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.base import Law
from weft.plugins.lab.laboratory.specimen import find_equilibrium
from weft.solve.linear.direct import direct_solver
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import minimize

GRAVITY = 9.81  # [m/s^2]
NO_WEIGHT = (0.0, 0.0, 0.0)


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
    bending: Energy | None = None,
    damping: float = 0.0,
) -> Model:
    """Build a model of membrane, bending and gravity; pinned vertices stay where the mesh has them.

    Args:
        mesh: of the strip.
        material: stiffness and density.
        pins: of vertices.
        gravity: [m/s^2].
        bending: energy in place of hinges with the material's rigidity.
        damping: [s] time constant of stiffness-proportional damping.
    """
    mass = material.density * mesh.vertex_area
    stretch = (material.stretch, material.stretch)
    membrane, hinges = elastic_energies(mesh, stretch, material.shear, material.bending, damping)
    energies = (membrane, hinges if bending is None else bending, Gravity(mass, gravity))
    return Model(mass, energies, tuple(pins), mesh.vertices)


def elastic_energies(
    mesh: TriangleMesh,
    stretch: tuple[float, float],
    shear: float,
    bending: float | tuple[float, float],
    damping: float = 0.0,
) -> tuple[Membrane, HingeBending]:
    """Build membrane and hinges of a mesh.

    Args:
        mesh: at rest.
        stretch: [N/m] of warp and weft.
        shear: [N/m].
        bending: [N m] of warp and weft; one number stands for both.
        damping: [s] time constant of stiffness-proportional damping.
    """
    membrane = Membrane(linear_triangle(mesh), BaraffWitkin(stretch, shear), damping=damping)
    rigidity = bending if isinstance(bending, tuple) else (bending, bending)
    return membrane, HingeBending.of(mesh, rigidity, damping=damping)


def fabric_energies(mesh: TriangleMesh, fabric: Fabric) -> tuple[Membrane, HingeBending]:
    """Build membrane and hinges of a mesh with the stiffness of a fabric."""
    stretch = (fabric.stretch_warp, fabric.stretch_weft)
    bending = (fabric.bending_warp, fabric.bending_weft)
    return elastic_energies(mesh, stretch, fabric.shear, bending)


def membrane_model(
    mesh: TriangleMesh, law: Law, density: float, pins: Sequence[Pin] = (), *more: Energy
) -> Model:
    """Build a model of a membrane and ``more`` energies; pinned vertices stay where the mesh has
    them.

    Args:
        mesh: at the start; its material coordinates are at rest.
        law: of the membrane.
        density: [kg/m^2].
        pins: of vertices.
        more: energies after the membrane.
    """
    energies = (Membrane(linear_triangle(mesh), law), *more)
    return Model(density * mesh.vertex_area, energies, tuple(pins), mesh.vertices)


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


def spline_sheet(
    points: tuple[int, int],
    length: float,
    width: float,
    rule: Rule = Rule.REDUCED,
    bending: Bending = Bending.PLATE,
) -> tuple[SplineSurface, Positions, Ints]:
    """Return a flat rectangle of splines, its control points (n,3) [m], and their indices
    (along, across).

    It lies on y = 0 about the origin, with its length along x; ``points`` along and across.
    """
    patch = rectangle(*points, length, width)
    surface = SplineSurface.of([patch], rule=rule, bending=bending)
    u, v = patch.rest.reshape(-1, 2).T
    return surface, np.stack([u - length / 2, 0 * u, width / 2 - v], axis=1), surface.ids[0]


def clamped_strip(
    length: float, segments: int, rows: int = 3, pattern: Pattern = "regular"
) -> tuple[TriangleMesh, Pin]:
    """Return a strip of square elements, ``rows`` of them wide, and the pin that clamps its left
    end.

    The clamp is in the middle of the pinned row of elements: the hinge at its edge then stands for
    the curvature of one whole element, as the others do. ``length`` [m] is the free one.
    """
    cell = length / (segments - 0.5)
    mesh = grid(segments + 1, rows + 1, cell * segments, rows * cell, pattern)
    return mesh, Pin(mesh.faces[mesh.corner_uv[..., 0] < 1.5 * cell], name="clamp")


def round_sheet(radius: float, corners: int) -> TriangleMesh:
    """Return a disc on y = 0 about the origin, whose border is a regular polygon.

    Elements are as long as the polygon's sides.
    """
    angle = 2 * np.pi * np.arange(corners) / corners
    border = radius * unit_vectors(angle)
    return triangulate_piece(border, (), 2 * np.pi * radius / corners)


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


def direct() -> str:
    """Return the name of a direct solver: PARDISO if it is installed, else SuperLU (of SciPy).

    Cloth that resists tension only is nearly singular where it is slack. Iterative solvers stop in
    the energy norm, which does not see motion that costs no energy, and Newton directions with a
    relative error of 1e-3 then make no progress (multigrid: 3000 iterations, and no equilibrium).
    On meshes of a few thousand vertices a factorization is exact, and faster too.
    """
    return direct_solver().name


def settle(
    model: Model, x: Positions, tolerance: float = 1e-9, force_tolerance: float = 1e-8
) -> Equilibrium:
    """Return the equilibrium near x (n,3) [m].

    Args:
        model: energies and pins.
        x: (n,3) [m] start.
        tolerance: [m] largest vertex displacement of the last Newton increment.
        force_tolerance: largest force on a free vertex over the largest one of a pin or a load.

    Raises:
        SimulationError: none was found.
    """
    settings = QuasiStaticSettings(tolerance, force_tolerance, 3000, linear=direct())
    return find_equilibrium(model, x, settings, "equilibrium")


def rest(model: Model, x: Positions, tolerance: float = 1e-9, most: int = 400) -> Potential:
    """Find the minimum of the energy near x.

    The method takes proximal steps, which add |x - x_k|_M^2/(2s); s [s^2] grows tenfold each time,
    so that the last steps are those of the energy alone.

    Args:
        model: energies and pins.
        x: (n,3) start.
        tolerance: largest vertex displacement of the last Newton increment [m].
        most: Newton iterations of a step.

    Returns:
        The potential of the last step, with its minimizer as ``start``: forces can be read from it.

    Raises:
        SimulationError: a step that does not converge.
    """
    solver, newton, prepared = direct_solver(), Newton(tolerance, max_iterations=most), None
    for s in 10.0 ** np.arange(-3.0, 7.0):
        phi = Potential(model, model.step(State.at_rest(x), 0.0, scale=float(s)))
        result = minimize(phi, kernel.points(phi.start), solver, newton, previous=prepared)
        if not result.outcome.ok:
            raise SimulationError("rest", got=result.outcome.name, hint=result.outcome.advice)
        x, prepared = np.array(kernel.numpy(result.x)), result.prepared
    return Potential(model, model.step(State.at_rest(x), 0.0, scale=float(s)))
