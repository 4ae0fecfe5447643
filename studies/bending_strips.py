"""Large deflections of a cantilever strip with a stiff membrane, by every bending energy."""

import time
from typing import NamedTuple

import numpy as np

from studies.bending_meshes import cells, sheet, turned_strip
from studies.bending_models import Model, clamp_of, plane
from weft.base.arrays import Bools, Positions
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.discretization.quadrature import Rule
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.integrators.model import Model as Mechanics
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.laws import BaraffWitkin, ImmediateBuckling, Law
from weft.plugins.lab.validate.elastica import DROPS, LENGTH, material, spline_strip
from weft.plugins.lab.validate.strip import GRAVITY, direct

GAMMA = 8  # rho g L^3/D
RATIO = 1e4  # k L^2/D: stretching is negligible, and triangles lock less than with more
WIDTH = 0.2  # over the length
TINY = 1e-9  # [kg] of points that are no vertices


class Drop(NamedTuple):
    """What a strip does."""

    ratio: float  # drop of the tip over that of the inextensible elastica
    iterations: int  # of Newton's method, from flat
    seconds: float  # of processor time for them
    blocks: float  # blocks of bending's matrix, over the number of vertices


def heavy_strip(model: Model, kind: str, segments: int) -> Drop:
    """Return how far a strip drops; kinds are those of ``sheet``, or "turned 30" [deg].

    Raises:
        SimulationError: no equilibrium was found.
    """
    mesh, size = _mesh(kind, segments, clamp_of(model))
    form, uv = model(mesh, 0.0), plane(mesh)
    start = form.complete(np.column_stack([uv[:, 0], np.zeros(len(uv)), -uv[:, 1]]))
    cloth, K = material(GAMMA, RATIO), form.matrix()
    law = BaraffWitkin((cloth.stretch, cloth.stretch), cloth.shear)
    held = form.fixed(uv[:, 0] < 2.01 * size)
    drop = _drop(mesh, law, form.energy(cloth.bending), start, held)
    return drop._replace(blocks=K.nnz / len(uv))


def strip_of_pairs(kind: str, segments: int) -> Drop:
    """Return how far a strip drops with Choi & Ko's pairs and law of tension only.

    Raises:
        SimulationError: no equilibrium was found.
    """
    mesh, size = _mesh(kind, segments, 0.5)
    uv, cloth = plane(mesh), material(GAMMA, RATIO)
    law = ImmediateBuckling((cloth.stretch, cloth.stretch), (4 * cloth.shear, 4 * cloth.shear))
    pairs = BucklingBending.of(mesh, (cloth.bending, cloth.bending), cloth.stretch)
    start = np.column_stack([uv[:, 0], np.zeros(len(uv)), -uv[:, 1]])
    return _drop(mesh, law, pairs, start, uv[:, 0] < 2.01 * size)


def strip_of_splines(segments: int) -> float:
    """Return the drop of a strip of quadratic B-splines over the exact one."""
    x, _ = spline_strip(GAMMA, RATIO, segments, Rule.REDUCED)
    return float(-x[-1, :, 1].mean() / LENGTH / DROPS[GAMMA])


def _mesh(kind: str, segments: int, clamp: float) -> tuple[TriangleMesh, float]:
    """Return the mesh of a strip with two columns of fixed cells, and the length of its cells."""
    nx, ny = cells(kind, segments, round(segments * WIDTH))
    size = LENGTH / (nx + clamp)
    shape = nx + 2, ny, size * (nx + 2), WIDTH
    if kind.startswith("turned"):
        return turned_strip(float(kind.split()[1]), *shape), size
    return sheet(kind, *shape, straight=(3, 1)), size


def _drop(mesh: TriangleMesh, law: Law, bending: Energy, start: Positions, held: Bools) -> Drop:
    """Find the equilibrium of a strip from points (n,3), of which ``held`` ones are fixed."""
    uv, cloth = plane(mesh), material(GAMMA, RATIO)
    mass = np.full(len(start), TINY)
    mass[: len(uv)] = cloth.density * mesh.vertex_area
    weight = Gravity(mass, (0.0, -GRAVITY, 0.0))
    energies = Membrane(linear_triangle(mesh), law), bending, weight
    clamp = Pin(np.flatnonzero(held).astype(np.int32), name="clamp")
    settings = QuasiStaticSettings(1e-6, 1e-4, 2000, linear=direct(), imperfection=0.0)
    clock = time.process_time()
    found = QuasiStatic(settings).solve(Mechanics(mass, energies, (clamp,), start), start)
    seconds = time.process_time() - clock
    if not found.outcome.ok:
        raise SimulationError("strip", got=found.outcome.name, hint=found.outcome.advice)
    tip = np.flatnonzero(uv[:, 0] > uv[:, 0].max() - 1e-6)
    ratio = -float(found.x[tip, 1].mean()) / LENGTH / DROPS[GAMMA]
    return Drop(ratio, found.counts.iterations, seconds, np.nan)
