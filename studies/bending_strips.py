"""Large deflections of a cantilever strip with a stiff membrane, by every bending energy."""

import time
from typing import NamedTuple

import numpy as np

from studies.bending_meshes import cells, sheet, turned_strip
from studies.bending_models import Model, clamp_of, plane
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.discretization.linear_triangle import linear_triangle
from weft.energies.elastic.membrane import Membrane
from weft.energies.loads.gravity import Gravity
from weft.integrators.model import Model as Mechanics
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.laws.baraff_witkin import BaraffWitkin
from weft.validate.elastica import DROPS, material
from weft.validate.strip import GRAVITY, direct

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
    nx, ny = cells(kind, segments, round(segments * WIDTH))
    size = 1 / (nx + clamp_of(model))
    shape = nx + 2, ny, size * (nx + 2), WIDTH
    if kind.startswith("turned"):
        mesh = turned_strip(float(kind.split()[1]), *shape)
    else:
        mesh = sheet(kind, *shape, straight=(3, 1))
    form = model(mesh, 0.0)
    uv, cloth = plane(mesh), material(GAMMA, RATIO)
    start = form.complete(np.column_stack([uv[:, 0], np.zeros(len(uv)), -uv[:, 1]]))
    clamp = Pin(np.flatnonzero(form.fixed(uv[:, 0] < 2.01 * size)).astype(np.int32), name="clamp")
    mass = np.full(len(start), TINY)
    mass[: len(uv)] = cloth.density * mesh.vertex_area
    law = BaraffWitkin((cloth.stretch, cloth.stretch), cloth.shear)
    weight = Gravity(mass, (0.0, -GRAVITY, 0.0))
    energies = Membrane(linear_triangle(mesh), law), form.energy(cloth.bending), weight
    settings = QuasiStaticSettings(1e-6, 1e-4, 2000, linear=direct(), imperfection=0.0)
    clock = time.process_time()
    found = QuasiStatic(settings).solve(Mechanics(mass, energies, (clamp,), start), start)
    seconds = time.process_time() - clock
    if not found.outcome.ok:
        raise SimulationError("strip", got=found.outcome.name, hint=found.outcome.advice)
    tip = np.flatnonzero(uv[:, 0] > uv[:, 0].max() - size / 100)
    drop = -float(found.x[tip, 1].mean())
    K = form.matrix()
    return Drop(drop / DROPS[GAMMA], found.counts.iterations, seconds, K.nnz / len(uv))
