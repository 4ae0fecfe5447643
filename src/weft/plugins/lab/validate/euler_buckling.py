"""The load under which a compressed strip buckles: Euler's column.

A flat strip of the length L and the flexural rigidity D per width, pushed by the force P per width,
buckles out of its plane at P = (n pi/L)^2 D: n = 1 where its ends are held in place and free to
turn, n = 2 where they are clamped (Timoshenko & Gere, *Theory of Elastic Stability*, sections 2.1
and 2.2). The membrane is so stiff (k L^2/D = 1e6) that the strip shortens by 4e-5 before.

The flat strip becomes unstable where the lowest eigenvalue of the exact Hessian crosses zero. The
eigenvalue is linear in the load, so two loads, 10 % below and above the closed form, tell where. A
clamp is in the middle of a pinned row of elements, as that of ``strip.clamped_strip``. A bent strip
of triangles twists a little (``docs/explanations/bending.md``); an end that is held along its
width keeps parallel diagonals from doing so, so the diagonals alternate here.
"""

from collections.abc import Callable

import numpy as np

from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import grid
from weft.integrators.model import Model
from weft.plugins.lab.validate.check import Rows, measure
from weft.plugins.lab.validate.modes import critical_load, normal_modes
from weft.plugins.lab.validate.strip import (
    NO_WEIGHT,
    Material,
    lengthwise_pins,
    spline_sheet,
    spline_strip_model,
    strip_model,
)

LENGTH, RIGIDITY, DENSITY = 1.0, 1e-4, 0.1  # [m], [N m], [kg/m^2]
STIFFNESS = 1e6 * RIGIDITY / LENGTH**2  # [N/m]
MATERIAL = Material(STIFFNESS, STIFFNESS / 4, RIGIDITY, DENSITY)
# elements of triangles and of splines along the strip; vertices across
SEGMENTS, SPANS, ROWS = 80, 40, 4
AROUND = 0.1  # the two loads are this part below and above the closed form
Build = Callable[[float], Model]  # of a strip that is shortened by a strain


def checks() -> Rows:
    """Compare the critical load of triangles to 2 %, of splines to 0.5 %."""
    for ends, waves in (("hinged", 1), ("clamped", 2)):
        for kind, build, tolerance in (("triangles", triangles, 2e-2), ("splines", splines, 5e-3)):
            name, expected = f"euler-buckling/{ends}, {kind}", euler_load(waves)
            strip = build(ends == "clamped")
            yield from measure(name, expected, tolerance, buckling_load, strip, expected)


def euler_load(waves: int) -> float:
    """Return the closed form [N/m] for the number of half waves."""
    return (waves * np.pi / LENGTH) ** 2 * RIGIDITY


def buckling_load(build: Build, about: float) -> float:
    """Return the load [N/m] under which a strip buckles, from two loads near ``about`` [N/m]."""
    below, above = (1 - AROUND) * about, (1 + AROUND) * about
    scale = about * (np.pi / LENGTH) ** 2 / DENSITY  # [1/s^2]
    squares = []
    for load in (below, above):
        model = build(load / STIFFNESS)
        assert model.start is not None
        squares.append(float(normal_modes(model, model.start, -scale)[0][0]))
    return critical_load(below, above, (squares[0], squares[1]))


def triangles(clamped: bool) -> Build:
    """Return a function that builds a strip of triangles, shortened by a strain."""
    cell = LENGTH / (SEGMENTS - clamped)
    mesh = grid(SEGMENTS + 1, ROWS, cell * SEGMENTS, cell * (ROWS - 1), "alternating")
    u = mesh.corner_uv[..., 0]
    ends = (u < 1.5 * cell) | (u > cell * (SEGMENTS - 1.5))
    pins = [Pin(mesh.faces[ends])] if clamped else lengthwise_pins(mesh, "left", "right")

    def build(strain: float) -> Model:
        short = mesh.with_vertices(np.array(mesh.vertices) * [1 - strain, 1.0, 1.0])
        return strip_model(short, MATERIAL, pins, NO_WEIGHT)

    return build


def splines(clamped: bool) -> Build:
    """Return a function that builds a strip of splines; a clamp fixes two columns of control
    points.
    """
    surface, flat, ids = spline_sheet((SPANS + 2, ROWS + 1), LENGTH, ROWS * LENGTH / SPANS)
    ends = [0, 1, -2, -1] if clamped else [0, -1]
    pins = [Pin(ids[ends].reshape(-1))]

    def build(strain: float) -> Model:
        x = flat * [1 - strain, 1.0, 1.0]
        return spline_strip_model(surface, x, MATERIAL, pins, NO_WEIGHT)

    return build
